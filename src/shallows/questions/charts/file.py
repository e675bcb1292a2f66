"""Charts on disk: a JSON file for what a person reads, an NPZ file for the arrays; no pickle."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.stored_problem import problem_with, stored_with
from shallows.questions.charts.comparison import require_same
from shallows.questions.charts.completeness import COMPLETENESS
from shallows.questions.charts.points.kinds import KINDS
from shallows.questions.charts.points.point import Certificate, Points, PointTable, Stored
from shallows.questions.learn.deep.layers import Shape
from shallows.questions.learn.deep.network import DeepNetwork
from shallows.support.errors import InvalidProblem
from shallows.support.files import Arrays, Contents, Format
from shallows.support.npz import Archive

if TYPE_CHECKING:
    from shallows.model.problem import Problem
    from shallows.questions.charts.result import Chart

FORMAT = Format("shallows-chart", 2)
#: What a chart says that was loaded without a problem to compare it with.
UNKNOWN = ["loaded: losses were not compared, since the file has no problem"]


def save_chart(chart: Chart, path: str | Path) -> Path:
    """Write the chart: `path`.json and `path`.npz; the path of the first."""
    return FORMAT.save(path, *chart_contents(chart))


def chart_contents(chart: Chart) -> tuple[dict[str, Any], Arrays]:
    """What a file keeps of a chart: words and numbers, and arrays."""
    table = chart.critical.table
    about, arrays = stored_with(chart.problem)
    document = about | {
        "title": chart.title,
        "n": None,
        "degree": None,
        "completeness": chart.completeness,
        "method": chart.method,
        "seed": chart.seed,
        "notes": list(chart.notes),
        "attained": chart.attained,
        "scope": chart.scope,
        "kind": table.kind.tolist(),
        "certificates": [None if p.certificate is None else asdict(p.certificate) for p in chart.critical],
        "counts": {
            str(rank): {
                "complex": chart.complex_count.get(rank),
                "real": chart.real_count[rank],
                "expected": chart.expected_count.get(rank),
                "source": chart.expected_source.get(rank, ""),
            }
            for rank in chart.real_count
        },
        "families": [family.description for family in chart.families],
    }
    arrays |= {
        "loss": table.loss,
        "rank": table.rank,
        "signature": table.signature,
        "dimension": table.dimension,
        "limit": table.limit,
    }
    networks: list[Any] = [item.network for item in chart.critical]
    if any(isinstance(net, DeepNetwork) for net in networks):
        document["deep"] = {"sizes": list(networks[0].shape.sizes), "affine": networks[0].affine}
        return document, arrays | {"theta": np.array([net.theta for net in networks])}
    biased = chart.problem is not None and chart.problem.bias
    for name in ("W", "a", "norm", *(["bias"] if biased else [])):
        arrays[name] = np.array([getattr(net, name) for net in networks])
    tensors = _tensors(chart)
    if tensors:
        document |= {"n": tensors[0].n, "degree": tensors[0].degree}
        arrays |= _tensor_arrays(chart, tensors)
    return document, arrays


def _tensors(chart: Chart) -> list[SymmetricTensor]:
    """The points and samples as tensors; none where the activation is no power."""
    try:
        return [item.tensor for item in chart.critical]
    except InvalidProblem:
        return []


def _tensor_arrays(chart: Chart, tensors: list[SymmetricTensor]) -> Arrays:
    none = np.full(len(tensors[0].entries), np.nan)
    arrays = {"tensor": np.array([tensor.entries for tensor in tensors])}
    arrays["escape"] = np.array([none if p.escape is None else p.escape.entries for p in chart.critical])
    for i, family in enumerate(chart.families):
        arrays[f"family{i}"] = np.array([sample.entries for sample in family.samples])
    return arrays


def read_chart(path: str | Path, problem: Problem | None = None) -> dict[str, Any]:
    """The fields of a chart that `save_chart` wrote; `problem`, if it is given, stands for the one in the file."""
    return chart_fields(FORMAT.load(path), problem)


def chart_fields(contents: Contents, problem: Problem | None = None) -> dict[str, Any]:
    """The fields of the chart that a file's contents hold (`chart_contents`)."""
    document, arrays = contents.document, contents.arrays
    with contents.reading():
        problem = problem_with(contents, problem)
        table = _table(document, arrays)
        counts = {int(rank): entry for rank, entry in document["counts"].items()}
        critical = Points(table, _stored(document, arrays, problem), problem)
        compared = UNKNOWN if problem is None else require_same(contents.path, critical, problem)
        return {
            "critical": critical,
            "completeness": _completeness(document),
            "method": document["method"],
            "complex_count": {
                r: entry["complex"] for r, entry in counts.items() if entry["complex"] is not None
            },
            "real_count": {r: entry["real"] for r, entry in counts.items()},
            "expected_count": {r: entry["expected"] for r, entry in counts.items()},
            "expected_source": {r: entry["source"] for r, entry in counts.items()},
            "notes": (*document["notes"], *_earlier_families(document), *compared),
            "seed": document["seed"],
            "title": document["title"],
            "attained": document.get("attained"),
            "scope": document.get("scope", ""),
            "problem": problem,
        }


def _table(document: dict[str, Any], arrays: Archive) -> PointTable:
    """The numbers of all points; columns of another kind or length are damage."""
    loss, kind = arrays["loss"], np.array(document["kind"], dtype=str)
    count = len(loss)
    dimension = arrays.get("dimension", np.zeros(count, dtype=np.intp))  # the first version had none
    limit = arrays.get("limit", np.zeros(count, dtype=bool))  # charts of closed sets only
    shapes = {"rank": (count,), "signature": (count, 3)}
    wrong = [
        name
        for name, shape in shapes.items()
        if arrays[name].shape != shape or arrays[name].dtype.kind != "i"
    ]
    if loss.dtype.kind != "f" or loss.ndim != 1:
        wrong.append("loss")
    if kind.shape != (count,) or not set(kind.tolist()) <= set(KINDS):
        wrong.append("kind")
    if dimension.shape != (count,) or dimension.dtype.kind != "i":
        wrong.append("dimension")
    if limit.shape != (count,) or limit.dtype.kind != "b":
        wrong.append("limit")
    if wrong:
        raise ValueError(f"its points have no numbers, or not as many as others, in {', '.join(wrong)}")
    return PointTable(loss, arrays["rank"], arrays["signature"], kind, dimension, limit)


def _stored(document: dict[str, Any], arrays: Archive, problem: Problem | None) -> Stored:
    n, degree, count = document["n"], document["degree"], len(arrays["loss"])
    certificates = [None if given is None else _certificate(given) for given in document["certificates"]]
    if "deep" in document:
        return Stored([None] * count, _deep_networks(document, arrays), certificates, [None] * count)
    activation = Power(degree) if problem is None else problem.activation
    norms, biases = arrays.get("norm", np.zeros(count)), arrays.get("bias", [None] * count)
    networks = zip(arrays["W"], arrays["a"], norms, biases, strict=True)
    tensors = arrays.get("tensor", [None] * count)
    escapes = arrays.get("escape", [None] * count)
    return Stored(
        [None if entries is None else SymmetricTensor(entries, n, degree) for entries in tensors],
        [Network(W, a, activation, norm, bias) for W, a, norm, bias in networks],
        certificates,
        [
            None if entries is None or np.isnan(entries).any() else SymmetricTensor(entries, n, degree)
            for entries in escapes
        ],
        _families(document, arrays),
    )


def _deep_networks(document: dict[str, Any], arrays: Archive) -> list[DeepNetwork]:
    """The networks of a tree of deep ones (`sh.connect`)."""
    shape = Shape(tuple(int(size) for size in document["deep"]["sizes"]))
    thetas = arrays["theta"]
    if thetas.shape != (len(arrays["loss"]), shape.size):
        raise ValueError(f"its networks have sizes {shape.sizes}, but not as many parameters")
    return [DeepNetwork(shape, theta, bool(document["deep"]["affine"])) for theta in thetas]


def _completeness(document: dict[str, Any]) -> str:
    known: str = document["completeness"]
    if known not in COMPLETENESS:
        raise ValueError(f"completeness is {known!r}")
    return known


def _certificate(given: dict[str, Any]) -> Certificate:
    """What was proved, if it is said in numbers and words."""
    made = Certificate(**given)
    if not (isinstance(made.radius, int | float) and made.radius >= 0 and isinstance(made.method, str)):
        raise ValueError(f"a certificate says {given}")
    return made


def _families(
    document: dict[str, Any], arrays: Archive
) -> dict[int, tuple[str, tuple[SymmetricTensor, ...]]]:
    """What the rows that are families are, in words, and their samples."""
    rows = np.flatnonzero(arrays.get("dimension", np.zeros(0)))
    found = {}
    for i, row in enumerate(rows.tolist()):
        samples = [
            SymmetricTensor(entries, document["n"], document["degree"])
            for entries in arrays.get(f"family{i}", ())
        ]
        found[row] = (document["families"][i], tuple(samples))
    return found


def _earlier_families(document: dict[str, Any]) -> list[str]:
    """Files of version 1 describe families beside the points, without kind and network: they become notes."""
    return [
        f"family of rank {f['rank']}, dimension {f['dimension']}, loss {f['loss']:.8g}: {f['description']} (an "
        "earlier version's file; chart again for its kind and networks)"
        for f in document["families"]
        if isinstance(f, dict)
    ]
