"""Charts on disk: a JSON file for what a person reads, an NPZ file for the arrays; no pickle."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.questions.charts.points.family import CriticalFamily
from shallows.questions.charts.points.point import Certificate, Points, PointTable, Stored
from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.model.problem import Problem
    from shallows.questions.charts.result import Chart

FORMAT = "shallows-chart"
VERSION = 1


def save_chart(chart: Chart, path: str | Path) -> Path:
    """Write the chart beside itself: `path`.json and `path`.npz (a suffix .json in `path` is understood)."""
    base = Path(path)
    base = base.with_suffix("") if base.suffix == ".json" else base
    points = list(chart.points)
    table = chart.points.table
    first = points[0] if points else None
    arrays: dict[str, Any] = {"loss": table.loss, "rank": table.rank, "signature": table.signature}
    arrays["tensor"] = np.array([point.tensor.entries for point in points])
    arrays["W"] = np.array([point.network.W for point in points])
    arrays["a"] = np.array([point.network.a for point in points])
    none = np.full(arrays["tensor"].shape[-1], np.nan)
    arrays["escape"] = np.array([none if p.escape is None else p.escape.entries for p in points])
    for i, family in enumerate(chart.families):
        arrays[f"family{i}"] = np.array([sample.entries for sample in family.samples])
    np.savez_compressed(base.with_suffix(".npz"), **arrays)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "title": chart.title,
        "problem": repr(chart.problem) if chart.problem is not None else "",
        "n": None if first is None else first.tensor.n,
        "degree": None if first is None else first.tensor.degree,
        "completeness": chart.completeness,
        "method": chart.method,
        "seed": chart.seed,
        "notes": list(chart.notes),
        "kind": table.kind.tolist(),
        "certificates": [None if p.certificate is None else asdict(p.certificate) for p in points],
        "counts": {
            str(rank): {
                "complex": chart.complex_count.get(rank),
                "real": chart.real_count[rank],
                "expected": chart.expected_count.get(rank),
                "source": chart.expected_source.get(rank, ""),
            }
            for rank in chart.real_count
        },
        "families": [
            {"rank": f.rank, "dimension": f.dimension, "loss": f.loss, "description": f.description}
            for f in chart.families
        ],
    }
    target = base.with_suffix(".json")
    target.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")
    return target


def read_chart(path: str | Path, problem: Problem | None = None) -> dict[str, Any]:
    """The fields of a chart that `save_chart` wrote; `problem` is whose chart it is."""
    base = Path(path)
    base = base.with_suffix("") if base.suffix in (".json", ".npz") else base
    try:
        document = json.loads(base.with_suffix(".json").read_text(encoding="utf-8"))
        with np.load(base.with_suffix(".npz"), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        raise InvalidProblem(f"Cannot read a chart from {base}.json and {base}.npz: {error}.") from None
    if document.get("format") != FORMAT or document.get("version", 0) > VERSION:
        raise InvalidProblem(
            f"{base}.json has format {document.get('format')!r}, version {document.get('version')}; this version of "
            f"shallows reads {FORMAT!r} up to version {VERSION}."
        )
    table = PointTable(
        arrays["loss"], arrays["rank"], arrays["signature"], np.array(document["kind"], dtype=str)
    )
    counts = {int(rank): entry for rank, entry in document["counts"].items()}
    return {
        "points": Points(table, _stored(document, arrays), problem),
        "completeness": document["completeness"],
        "method": document["method"],
        "complex_count": {r: entry["complex"] for r, entry in counts.items() if entry["complex"] is not None},
        "real_count": {r: entry["real"] for r, entry in counts.items()},
        "expected_count": {r: entry["expected"] for r, entry in counts.items()},
        "expected_source": {r: entry["source"] for r, entry in counts.items()},
        "families": tuple(_family(document, arrays, i) for i in range(len(document["families"]))),
        "notes": tuple(document["notes"]),
        "seed": document["seed"],
        "title": document["title"],
        "problem": problem,
    }


def _stored(document: dict[str, Any], arrays: dict[str, Any]) -> Stored:
    n, degree = document["n"], document["degree"]
    return Stored(
        [SymmetricTensor(entries, n, degree) for entries in arrays["tensor"]],
        [Network(W, a, Power(degree)) for W, a in zip(arrays["W"], arrays["a"], strict=True)],
        [None if given is None else Certificate(**given) for given in document["certificates"]],
        [
            None if np.isnan(entries).any() else SymmetricTensor(entries, n, degree)
            for entries in arrays["escape"]
        ],
    )


def _family(document: dict[str, Any], arrays: dict[str, Any], i: int) -> CriticalFamily:
    samples = [
        SymmetricTensor(entries, document["n"], document["degree"]) for entries in arrays[f"family{i}"]
    ]
    return CriticalFamily(**document["families"][i], samples=tuple(samples))
