"""What the page draws: the landscape of a chart as numbers, and the script that draws them (`page/`)."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np

from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import CriticalFamily, CriticalPoint
from shallows.questions.charts.result import Chart
from shallows.questions.connections.merging import Meeting, merged
from shallows.support.checks import Array
from shallows.support.theme import KIND_COLOURS, KIND_SYMBOLS
from shallows.support.tolerances import TINY
from shallows.uses.landscape.direction_loss import DirectionLoss
from shallows.uses.landscape.disc import frame_of, from_disc
from shallows.uses.landscape.morse import Line, basins, saddle_lines
from shallows.uses.landscape.plane import circle_basins, radius_of, ridges
from shallows.uses.landscape.rolling import Neuron

#: What is to be seen, in two and in three dimensions.
CAPTIONS = {
    2: "Each place on the disc is a neuron, scaled by its outer weight; dark is a low loss, and the middle is the zero "
    "network. Shades are the basins of its directions, and balls are runs of gradient descent.",
    3: "The loss of the best neuron in each direction (a neuron and its negative are one): dark is low. Dashed lines "
    "part the basins of steepest descent over directions, bold lines are the lowest ways between valleys, balls are "
    "runs of gradient descent.",
}
#: Training runs that a picture shows.
RUNS = 24
#: Decimals of directions: a thousandth of a pixel.
DECIMALS = 5
#: Places a side on which the range of losses, and so of colours, is taken.
SAMPLED = 33
#: The files of `page/` in their order, in one scope.
SCRIPTS = ("forms", "terrain", "marks", "picture")


@dataclass(frozen=True, eq=False)
class Mark:
    """A critical point on the landscape: its row in the chart, its direction and, on a plane, its length."""

    row: int
    point: CriticalPoint
    u: Array
    length: float


def landscape(
    chart: Chart, runs: int = RUNS, seed: int | None = None, shaded: bool = True
) -> dict[str, Any] | None:
    """The picture of a chart as a dictionary for JSON; None unless its problem is one neuron in 2 or 3 dimensions.

    `shaded`: with basins, which take the longest.
    """
    problem = chart.problem
    loss = None if problem is None else DirectionLoss.of(problem)
    if problem is None or loss is None:
        return None
    neuron = Neuron(problem, loss)
    marks = _marks(chart, neuron)
    frame = frame_of(loss.lifted) if loss.n == 3 else np.eye(2)
    radius = radius_of([mark.length for mark in marks]) if loss.n == 2 else 1.0
    return {
        "n": loss.n,
        "degree": loss.degree,
        "p": loss.p.tolist(),
        "q": loss.q.tolist(),
        "zero": loss.zero,
        "sign": loss.sign,
        "radius": radius,
        "frame": _rounded(frame),
        "axes": _axes(loss),
        "range": _range(loss, frame, marks),
        "points": _points(chart, marks),
        **_flow(loss, frame, marks, radius, shaded),
        "runs": _runs(neuron, neuron.rolled(runs, chart.seed if seed is None else seed)),
        "styles": {kind: [KIND_COLOURS[kind], KIND_SYMBOLS[kind]] for kind in chart.kinds()},
    }


def _axes(loss: DirectionLoss) -> list[str]:
    if loss.lifted:
        return ["w = 0", *("x₁", "x₂")[: loss.n - 1]]
    return ["x₁", "x₂", "x₃"][: loss.n]


def _marks(chart: Chart, neuron: Neuron) -> list[Mark]:
    """The points that have a direction; of families a few members."""
    marks, problem, loss = [], neuron.problem, neuron.loss
    for row, point in enumerate(chart.critical):
        if not point.rank:
            continue
        if isinstance(point, CriticalFamily):
            marks += [Mark(row, point, u, length) for u, length in _members(point, loss)]
            continue
        u = neuron.direction(problem.lift(problem.pack(point.network))[None])[0]
        marks.append(Mark(row, point, u, _length(loss, u)))
    return marks


def _members(family: CriticalFamily, loss: DirectionLoss) -> list[tuple[Array, float]]:
    """Directions of a family's samples, where they are read from a matrix."""
    if loss.degree != 2 or loss.lifted:
        return []
    found = [spectral_terms(tensor.to_matrix(), 1)[0][0] for tensor in family.samples]
    units = [vector / max(float(np.linalg.norm(vector)), TINY) for vector in found]
    return [(u, _length(loss, u)) for u in units]


def _length(loss: DirectionLoss, u: Array) -> float:
    """|s|^(1/d) of the best s·u^⊗d: s = p/q."""
    p, q = loss.forms(u)
    return float(np.abs(p / q) ** (1 / loss.degree))


def _points(chart: Chart, marks: list[Mark]) -> list[dict[str, Any]]:
    """All points by number, as tables have them; those without a direction too, which only tables show."""
    placed = {mark.row for mark in marks}
    rows = [(mark.row, mark.point, _rounded(mark.u), mark.length) for mark in marks]
    rows += [(row, point, None, 0.0) for row, point in enumerate(chart.critical) if row not in placed]
    return [
        {
            "number": row + 1,
            "kind": point.kind,
            "index": point.index,
            "loss": point.loss,
            "u": u,
            "length": round(length, DECIMALS),
            "family": isinstance(point, CriticalFamily),
        }
        for row, point, u, length in rows
    ]


def _range(loss: DirectionLoss, frame: Array, marks: list[Mark]) -> list[float]:
    """The lowest and the highest loss on the picture."""
    if loss.n == 2:
        angle = np.linspace(0, np.pi, SAMPLED**2)
        values = loss.values(np.stack([np.cos(angle), np.sin(angle)], axis=-1))
        return [float(values.min()), max(loss.zero, float(values.max()))]
    grid = np.linspace(-1, 1, SAMPLED)
    places = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    places = places[np.sum(places**2, axis=1) <= 1]
    values = np.append(loss.values(from_disc(frame, places)), [mark.point.loss for mark in marks])
    return [float(values.min()), float(values.max())]


def _flow(
    loss: DirectionLoss, frame: Array, marks: list[Mark], radius: float, shaded: bool
) -> dict[str, Any]:
    """Saddle paths, the lines between basins, and the basins; none where critical points come in families."""
    single = [mark for mark in marks if mark.point.kind != "degenerate"]
    minima = [i for i, mark in enumerate(single) if mark.point.index == 0]
    if not minima or len(single) < len(marks) or any(isinstance(m.point, CriticalFamily) for m in marks):
        return {"paths": [], "borders": [], "basins": None}
    u = np.array([mark.u for mark in single])
    saddles = [i for i, mark in enumerate(single) if mark.point.index == 1]
    tops = [i for i, mark in enumerate(single) if mark.point.index == 2]
    down = saddle_lines(loss, u, saddles, minima, up=False)
    joins = _joins(single, minima, down)
    paths = [
        {
            "saddle": single[line.start].row + 1,
            "end": None if line.end is None else single[line.end].row + 1,
            "join": line.start in joins,
            "line": _rounded(line.places),
            "lengths": [round(_length(loss, place), DECIMALS) for place in line.places]
            if loss.n == 2
            else None,
        }
        for line in down
    ]
    if not shaded:
        return {"paths": paths, "borders": [], "basins": None}
    if loss.n == 3:
        borders = [_rounded(line.places) for line in saddle_lines(loss, u, saddles, tops, up=True)]
        labels = basins(loss, frame, u[minima]) if len(minima) > 1 else np.ones((2, 2), dtype=np.uint8)
    else:
        borders = [_rounded(line) for line in ridges(u[saddles], radius)]
        labels = circle_basins(loss, u[minima])
    text = base64.b64encode(np.ascontiguousarray(labels).tobytes()).decode("ascii")
    numbers = [single[i].row + 1 for i in minima]
    return {
        "paths": paths,
        "borders": borders,
        "basins": {"side": len(labels), "labels": text, "numbers": numbers},
    }


def _joins(marks: list[Mark], minima: list[int], lines: list[Line]) -> set[int]:
    """The saddles at which two valleys first become one, as the water rises: the joins of the merge tree."""
    ends: dict[int, list[int]] = {}
    for line in lines:
        if line.end is not None:
            ends.setdefault(line.start, []).append(line.end)
    meetings = [Meeting(marks[i].point.loss, i, tuple(reached)) for i, reached in ends.items()]
    return {merge.meeting.row for merge in merged(minima, meetings)[0]}


def _runs(neuron: Neuron, thetas: Array) -> list[dict[str, Any]]:
    """The ways of training runs: directions, and lengths on a plane."""
    flat = thetas.reshape(-1, thetas.shape[-1])
    shape = thetas.shape[:2]
    u = _rounded(neuron.direction(flat).reshape(*shape, neuron.loss.n).swapaxes(0, 1))
    died = neuron.died(thetas[-1]).tolist()
    lengths = _rounded(neuron.length(flat).reshape(shape).T) if neuron.loss.n == 2 else [None] * len(u)
    return [
        {"line": line, "lengths": length, "died": dead}
        for line, length, dead in zip(u, lengths, died, strict=True)
    ]


def _rounded(values: Array) -> Any:
    return np.round(values, DECIMALS).tolist()


@lru_cache(maxsize=1)
def script() -> str:
    """The JavaScript that draws landscapes: it defines `shallowsLandscape(element, picture)`."""
    folder = resources.files("shallows.uses.landscape") / "page"
    parts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return "const shallowsLandscape = (() => {\n" + "\n".join(parts) + "\nreturn landscape;\n})();\n"


@lru_cache(maxsize=1)
def style() -> str:
    """The style of landscapes."""
    folder = resources.files("shallows.uses.landscape") / "page"
    return (folder / "landscape.css").read_text(encoding="utf-8")


def safe_json(picture: dict[str, Any]) -> str:
    """The picture as JSON that may stand inside <script>: no text in it can end the element."""
    text = json.dumps(picture, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
