"""A diagnosis on disk: numbers and words for people and scripts, and all of it for `Diagnosis.load`.

The chart and its tree are kept as in files of their own; points of the chart are its rows, a leaf is its number. The
loss along a path that is read back is the problem's.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.model.laws import made
from shallows.model.problem import Problem
from shallows.questions.certificates.minimum import CertifiedMinimum
from shallows.questions.charts.file import chart_contents, chart_fields
from shallows.questions.charts.points.point import Certificate, CriticalPoint
from shallows.questions.charts.result import Chart
from shallows.questions.connections.file import tree_document, tree_fields
from shallows.questions.connections.tree import tree_of
from shallows.questions.connections.valley import Valley
from shallows.questions.descent.nearest_critical import NearestCritical
from shallows.questions.diagnosis.spectrum import Spectrum
from shallows.questions.geometry.escape.dependent_neurons import Turn
from shallows.questions.geometry.escape.eigenpaths import EigenPath
from shallows.questions.geometry.escape.escape import Escape
from shallows.questions.geometry.escape.merging_descent import Merging, MergingLine
from shallows.questions.geometry.escape.pencils import Eigenpairs
from shallows.questions.geometry.fibers.motions import PlaneMotion, Rescale
from shallows.questions.geometry.paths import Backwards, Straight
from shallows.questions.geometry.paths import Path as Way
from shallows.support.files import Contents
from shallows.support.records import Kind

if TYPE_CHECKING:
    from shallows.questions.diagnosis.diagnosis import Diagnosis
#: What stands in the file as rows of the chart, or with it.
_ROWS = ("point", "listed")
#: The kinds of segments that paths are made of, and what these hold: what a file of a path may contain.
SEGMENTS = (Straight, Backwards, Rescale, PlaneMotion, EigenPath, Eigenpairs, MergingLine, Merging, Turn)


def parts(diagnosis: Diagnosis) -> dict[str, Any]:
    """What is written of a diagnosis."""
    found = {field.name: getattr(diagnosis, field.name) for field in fields(diagnosis)}
    chart, tree, valley = diagnosis.chart, diagnosis.tree, diagnosis.valley
    if chart is not None:
        document, arrays = chart_contents(chart)
        found["chart"] = {"document": _plain(document), "arrays": arrays}
        found |= {name: _row(chart, found[name]) for name in _ROWS}
    found["tree"] = None if tree is None else _plain(tree_document(tree))
    found["valley"] = (
        None
        if valley is None
        else {
            "leaf": valley.leaf.number,
            "leaves": valley.leaves,
            "loss": valley.loss,
            "barrier": valley.barrier,
        }
    )
    return found


def together(found: dict[str, Any], path: Path) -> dict[str, Any]:
    """The fields of the diagnosis of these parts."""
    problem: Problem = found["problem"]
    if found["chart"] is not None:
        kept = found["chart"]
        contents = Contents(path, 2, kept["document"], kept["arrays"])
        chart = Chart(**chart_fields(contents, problem))
        found["chart"] = chart
        found |= {name: None if found[name] is None else chart.critical[found[name]] for name in _ROWS}
        if found["tree"] is not None:
            tree = tree_of(chart, tree_fields(found["tree"], len(chart.critical)))
            found["tree"] = tree
            if found["valley"] is not None:
                kept = found["valley"]
                found["valley"] = Valley(**kept | {"leaf": tree.leaves[kept["leaf"]]})
    escape: Escape = found["escape"]
    if escape.path is not None:
        escape.path.loss = problem.homogeneous().loss if problem.bias else problem.loss
    return found


def _row(chart: Chart, point: CriticalPoint | None) -> int | None:
    """The row of the chart that a point of it is."""
    if point is None:
        return None
    rows = np.flatnonzero(chart.critical.table.loss == point.loss).tolist()
    return next(row for row in rows if np.array_equal(chart.critical[row].network.W, point.network.W))


def _plain(document: Any) -> Any:
    """The same without tuples: what JSON makes of it."""
    if isinstance(document, dict):
        return {key: _plain(part) for key, part in document.items()}
    return [_plain(part) for part in document] if isinstance(document, list | tuple) else document


def _way(given: dict[str, Any]) -> Way:
    return Way(given["segments"], given["activation"], given["norm"])


#: What a diagnosis is made of.
KINDS = (
    Spectrum,
    NearestCritical,
    Certificate,
    CertifiedMinimum,
    Escape,
    Kind(Way, lambda way: {name: getattr(way, name) for name in ("segments", "activation", "norm")}, _way),
    *SEGMENTS,
)
MAKE = made
