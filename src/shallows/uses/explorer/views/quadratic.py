"""One quadratic neuron, three inputs, Gaussian to heavy-tailed data: 3 to 13 points (paper 000, Theorem 36)."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.model.data.iid import IID
from shallows.model.problem import Problem
from shallows.questions.charts.chart import chart as make_chart
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import CriticalFamily, CriticalPoint
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.theme import KIND_COLOURS, plain_scene, styled
from shallows.support.tolerances import TINY
from shallows.uses.explorer.costs import SEED, TRAIN, constant, quick_descent, report_of
from shallows.uses.explorer.fields import Field, State
from shallows.uses.explorer.scene import Scene, View
from shallows.uses.explorer.sketch import Sketch
from shallows.uses.report.drawings import REACH, level_surface
from shallows.uses.report.entries import chart_entries, listed_kind
from shallows.uses.report.figures import draw_landscape
from shallows.uses.report.recipe import python_of

#: Points a side of the cube in which the teacher's surface is drawn: enough for a quadric, and quick to draw again.
POINTS = 15


def problem_of(state: State) -> Problem:
    """The problem of a state."""
    a, b, c = state["t11"], state["t22"], state["t33"]
    e, f, g = state["t12"], state["t13"], state["t23"]
    return Problem(
        np.array([[a, e, f], [e, b, g], [f, g, c]]), IID(3, [1, 0, 1, 0, state["kurtosis"]]), width=1
    )


def draw(state: State) -> Scene:
    """The certified chart and the neurons in space."""
    problem = problem_of(state)
    chart = make_chart(problem)
    minima = sum("minimum" in kind for kind in chart.critical.table.kind)
    rank_one = chart.real_count.get(1, 0)
    proved = sum(p.certificate is not None and p.certificate.signature_certified for p in chart.critical)
    return Scene(
        figures=[_landscape(chart), _neurons(problem, chart)],
        facts=[
            (str(rank_one), "critical points of rank one"),
            (str(minima), "minimum" if minima == 1 else "minima"),
            (f"{proved}/{len(chart.critical)}", "certified"),
            (chart.completeness, "completeness"),
        ],
        headings=("loss", "kind", "signature", "neuron"),
        rows=[
            [f"{p.loss:.6g}", listed_kind(p), "({}, {}, {})".format(*p.signature), _neuron(p)]
            for p in chart.critical
        ],
        code=python_of(problem),
        problem=problem,
    )


def _neuron(point: Any) -> str:
    if not point.rank:
        return "zero"
    sign = "" if point.network.a[0] > 0 else "−, "
    return sign + ", ".join(f"{x:.3g}" for x in point.network.W[0])


def _drawn(point: CriticalPoint, size: float) -> list[Array]:
    """The neuron of a point, or those of some points of a family, in units of the teacher's size."""
    tensors = point.samples if isinstance(point, CriticalFamily) else (point.tensor,)
    terms = [spectral_terms(tensor.to_matrix(), 1)[0][0] for tensor in tensors]
    return [vector / np.sqrt(size) for vector in terms]


def _landscape(chart: Chart) -> Any:
    entries = chart_entries(chart, None, eigenvalues=False)
    figure = draw_landscape(Sketch(), entries, (), "the rank stratum")
    figure.update_xaxes(range=[-0.6, 2.6])
    figure.update_layout(height=440)
    return figure


def _neurons(problem: Problem, chart: Chart) -> Any:
    """The neurons ±w√|a| of all rank-one points around the teacher's level surface."""
    target = problem.target_tensor()
    size = max(float(np.abs(target.entries).max()), TINY)
    figure = Sketch()
    figure.add_trace({**level_surface(target, size, POINTS), "opacity": 0.25})
    for kind in chart.kinds():
        vectors = [w for p in chart.critical if p.kind == kind and p.rank for w in _drawn(p, size)]
        if not vectors:
            continue
        ends = np.concatenate([[s * v, [0, 0, 0], [np.nan] * 3] for v in vectors for s in (1, -1)])
        figure.add_scatter3d(
            x=ends[:, 0], y=ends[:, 1], z=ends[:, 2], mode="lines+markers", name=f"{kind} ({len(vectors)})",
            line={"color": KIND_COLOURS[kind], "width": 4}, marker={"size": 3.5, "color": KIND_COLOURS[kind]},
            hoverinfo="skip",
        )  # fmt: skip
    styled(figure, height=480)
    figure.update_layout(
        scene=plain_scene(REACH, x="x₁", y="x₂", z="x₃"),
        margin={"l": 0, "r": 0, "t": 24, "b": 0},
        uirevision="q",
    )
    return figure


VIEW = View(
    name="quadratic",
    title="Quadratic, n = 3",
    lead="One quadratic neuron learns a 3×3 matrix from data with independent coordinates. With Gaussian data (fourth "
    "moment 3) there are 3 critical points of rank one; heavier tails add more, up to 13.",
    fields=(
        Field("kurtosis", "data’s fourth moment (Gauss: 3)", 1.1, 60, 0.1, 30),
        Field("t11", "teacher t₁₁", -3, 3, 0.01, 2),
        Field("t22", "teacher t₂₂", -3, 3, 0.01, 1.5),
        Field("t33", "teacher t₃₃", -3, 3, 0.01, 1),
        Field("t12", "teacher t₁₂", -2, 2, 0.01, 0),
        Field("t13", "teacher t₁₃", -2, 2, 0.01, 0),
        Field("t23", "teacher t₂₃", -2, 2, 0.01, 0),
        TRAIN,
        SEED,
    ),
    captions=(
        "Every critical point by index and loss: stars are global minima, circles local ones, diamonds saddles.",
        "The critical neurons as vectors ±w√|a|, scaled to the teacher, around a level surface of the teacher’s form.",
    ),
    draw=draw,
    seconds=constant(0.02),
    report=report_of("Quadratic, n = 3", problem_of, 0.25, quick_descent),
)
