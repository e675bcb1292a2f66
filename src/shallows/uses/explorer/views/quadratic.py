"""The landscape of one quadratic neuron, three inputs, Gaussian to heavy-tailed data (paper 000, Theorem 36)."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.model.data.iid import IID
from shallows.model.problem import Problem
from shallows.questions.charts.chart import chart as make_chart
from shallows.questions.charts.result import Chart
from shallows.uses.explorer.costs import SEED, TRAIN, constant, quick_descent, report_of
from shallows.uses.explorer.fields import Field, State
from shallows.uses.explorer.scene import Preset, Scene, Step, View
from shallows.uses.explorer.sketch import Sketch
from shallows.uses.landscape.picture import landscape
from shallows.uses.report.entries import chart_entries, listed_kind
from shallows.uses.report.figures import draw_landscape
from shallows.uses.report.recipe import python_of


def problem_of(state: State) -> Problem:
    """The problem of a state."""
    a, b, c = state["t11"], state["t22"], state["t33"]
    e, f, g = state["t12"], state["t13"], state["t23"]
    return Problem(
        np.array([[a, e, f], [e, b, g], [f, g, c]]), IID(3, [1, 0, 1, 0, state["kurtosis"]]), width=1
    )


def draw(state: State) -> Scene:
    """The certified chart on its landscape, and every point by index and loss."""
    problem = problem_of(state)
    chart = make_chart(problem)
    kinds = chart.critical.table.kind
    minima = sum("minimum" in kind for kind in kinds)
    proved = sum(p.certificate is not None and p.certificate.signature_certified for p in chart.critical)
    return Scene(
        figures=[by_index(chart)],
        facts=[
            (str(chart.real_count.get(1, 0)), "critical points of rank one"),
            (str(minima), "minimum" if minima == 1 else "minima"),
            (f"{proved}/{len(chart.critical)}", "certified, with the zero network"),
            (chart.completeness, "completeness"),
        ],
        headings=("loss", "kind", "index", "signature", "neuron"),
        rows=[[f"{p.loss:.6g}", listed_kind(p), *_curvature(p), _neuron(p)] for p in chart.critical],
        code=python_of(problem),
        problem=problem,
        landscape=landscape(chart),
    )


def _curvature(point: Any) -> tuple[str, str]:
    """Index and signature on the rank stratum; that of the zero network is a point and would say nothing."""
    return (str(point.index), "({}, {}, {})".format(*point.signature)) if point.rank else ("–", "–")


def _neuron(point: Any) -> str:
    if not point.rank:
        return "zero"
    sign = "" if point.network.a[0] > 0 else "−, "
    return sign + ", ".join(f"{x:.3g}" for x in point.network.W[0])


def by_index(chart: Chart) -> Any:
    """Every point of rank one by index and loss."""
    entries = [entry for entry in chart_entries(chart, None, eigenvalues=False) if entry.rank]
    figure = draw_landscape(Sketch(), entries, (), "the rank stratum")
    figure.update_xaxes(range=[-0.6, 2.6])
    figure.update_layout(height=440)
    return figure


FIELDS = (
    Field("kurtosis", "data’s fourth moment (Gauss: 3)", 1.1, 60, 0.1, 3),
    Field("t11", "teacher t₁₁", -3, 3, 0.01, 2),
    Field("t22", "teacher t₂₂", -3, 3, 0.01, 1.5),
    Field("t33", "teacher t₃₃", -3, 3, 0.01, 1),
    Field("t12", "teacher t₁₂", -2, 2, 0.01, 0),
    Field("t13", "teacher t₁₃", -2, 2, 0.01, 0),
    Field("t23", "teacher t₂₃", -2, 2, 0.01, 0),
)
#: The teacher of the front page, and its entries off the diagonal.
TEACHER = {"t11": "2", "t22": "1.5", "t33": "1", "t12": "0", "t13": "0", "t23": "0"}
TOUR = (
    Step(
        "One neuron, all its directions",
        "Each place on the disc is a direction of the neuron’s weights; dark blue is a low loss. Gaussian data: three "
        "critical points, one valley (star), one pass and one top (diamonds). Training rolls into the valley, "
        "or, from some starts of the wrong sign, dies at the zero network.",
        {**TEACHER, "kurtosis": "3"},
    ),
    Step(
        "Now heavier tails",
        "The same teacher, data with more outliers: the fourth moment goes from 3 (Gauss) to 30. Watch valleys split. "
        "Nothing else changes.",
        {**TEACHER, "kurtosis": "3"},
        ("kurtosis", 3, 30),
    ),
    Step(
        "Points meet and are gone",
        "Now the data stays and the teacher moves: its third entry goes from 1 to −1. Where critical points meet, the "
        "teacher crosses the discriminant, and their number drops.",
        {**TEACHER, "kurtosis": "30"},
        ("t33", 1, -1),
    ),
    Step(
        "Where does training end?",
        "Four valleys, equally deep here. Shaded are their basins, dashed the borders between them; the bold lines "
        "are the lowest ways from valley to valley. Press Train, then move anything you like.",
        {**TEACHER, "kurtosis": "30"},
    ),
)
PRESETS = (
    Preset("identity teacher", {**TEACHER, "t22": "1", "t11": "1", "kurtosis": "3"}),
    Preset("random teacher", {}),
    Preset("one neuron", {"t11": "1.44", "t22": "0.36", "t33": "0.25", "t12": "0.72", "t13": "-0.6", "t23": "-0.3",
                          "kurtosis": "9"}),
    Preset("on the discriminant", {**TEACHER, "t11": "2.25", "t22": "1.75", "kurtosis": "6"}),
    Preset("ReLU, k = 6", {"k": "6"}, view="relu"),
)  # fmt: skip

VIEW = View(
    name="quadratic",
    title="Landscape",
    lead="One neuron a(w·x)² learns a 3×3 matrix. Its loss is a landscape over the directions of w: training rolls "
    "down it and can only stop at critical points. How many there are depends on the data.",
    fields=(*FIELDS, TRAIN, SEED),
    pictured="The loss of the best neuron in each direction (w and −w are one). Dashed lines part each basin; bold "
    "lines are the joins of the merge tree. Balls are runs of gradient descent on w and a.",
    captions=(
        "The same points by index and loss: the more ways down, the farther right. Point at one, here, in the table or "
        "on the landscape. Three neurons would be thick and filling: every form, and a single valley of functions.",
    ),
    tour=TOUR,
    presets=PRESETS,
    draw=draw,
    seconds=constant(0.045),
    report=report_of("One quadratic neuron, n = 3", problem_of, 0.25, quick_descent),
)
