"""A path of problems: one quadratic neuron, two inputs, the teacher goes from A to B; where critical points meet."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from shallows.model.data.iid import IID
from shallows.model.problem import Problem
from shallows.questions.charts.chart import chart as make_chart
from shallows.questions.discriminants.following.follow import follow
from shallows.questions.discriminants.following.result import Following
from shallows.support.checks import Array
from shallows.support.theme import GREY, KIND_COLOURS, VERMILLION, styled
from shallows.uses.explorer.costs import SEED, TRAIN, constant, quick_descent, report_of
from shallows.uses.explorer.fields import Field, State
from shallows.uses.explorer.scene import Preset, Scene, Step, View
from shallows.uses.explorer.sketch import Sketch
from shallows.uses.explorer.views.marks import unit_circle
from shallows.uses.landscape.direction_loss import DirectionLoss
from shallows.uses.landscape.picture import landscape
from shallows.uses.report.recipe import python_of

#: Positions at which `follow` lists points; its events, all that is shown of it, are exact whatever the number.
SAMPLES = 2
#: Places on the path at which losses are drawn, and directions among which their turning points are looked for.
PLACES, DIRECTIONS = 61, 240
ENDS = ("a11", "a22", "a12", "b11", "b22", "b12", "kurtosis")


def teacher_of(state: State, t: float) -> Any:
    """(1 − t)A + tB."""
    A, B = (np.array([[state[f"{e}11"], state[f"{e}12"]], [state[f"{e}12"], state[f"{e}22"]]]) for e in "ab")
    return (1 - t) * A + t * B


def problem_of(state: State) -> Problem:
    """The problem at the present place of the path."""
    return Problem(teacher_of(state, state["t"]), IID(2, [1, 0, 1, 0, state["kurtosis"]]), width=1)


@lru_cache(maxsize=32)
def _followed(*ends: float) -> Following:
    state = dict(zip(ENDS, ends, strict=True))
    data = IID(2, [1, 0, 1, 0, state["kurtosis"]])
    start, end = (Problem(teacher_of(state, t), data, width=1) for t in (0.0, 1.0))
    return follow(start, end, samples=SAMPLES)


def draw(state: State) -> Scene:
    """Losses of all real critical points along the path, and the landscape where the slider is."""
    problem = problem_of(state)
    chart = make_chart(problem)
    followed = _followed(*(state[name] for name in ENDS))
    minima = sum("minimum" in kind for kind in chart.critical.table.kind)
    coming = [event.position for event in followed.collisions if event.position > state["t"]]
    return Scene(
        figures=[_losses(state, followed)],
        facts=[
            (str(chart.real_count.get(1, 0)), "critical points of rank one"),
            (str(minima), "minimum" if minima == 1 else "minima"),
            (f"{min(coming):.4f}" if coming else "none", "next place where points meet"),
            (followed.completeness, "all meetings on the path"),
        ],
        headings=("what happens", "at", "critical points", "minima"),
        rows=[
            [event.kind, f"{event.position:.8f}", "{} → {}".format(*event.real_counts),
             "{} → {}".format(*event.local_minima)]
            for event in followed.events
        ] or [["nothing: no points meet on this path", "–", "–", "–"]],
        code=_code(state),
        problem=problem,
        landscape={**(landscape(chart) or {}), "listed": False},
    )  # fmt: skip


def _extrema(state: State) -> tuple[Array, Array, Array]:
    """Places on the path, losses and curvatures of the best neuron's turning points over directions, by sampling."""
    _, directions = unit_circle(DIRECTIONS + 1, np.pi)
    start, end = (problem_of({**state, "t": t}) for t in (0.0, 1.0))
    first, last, gram = DirectionLoss.of(start), DirectionLoss.of(end), start.gram()
    assert first is not None and last is not None
    found: list[tuple[float, float, float]] = []
    for t in np.linspace(0, 1, PLACES):
        target = (1 - t) * start.target_tensor().entries + t * end.target_tensor().entries
        loss = replace(first, p=(1 - t) * first.p + t * last.p, zero=float(target @ gram @ target))
        y = loss.values(directions[:-1])
        before, after = np.roll(y, 1), np.roll(y, -1)
        for i in np.flatnonzero((y - before) * (after - y) <= 0):
            bend = before[i] - 2 * y[i] + after[i]
            if bend:  # the vertex of the parabola through three neighbours
                found.append((float(t), float(y[i] - (after[i] - before[i]) ** 2 / (8 * bend)), float(bend)))
    t, losses, bends = np.array(found).reshape(-1, 3).T
    return t, losses, bends


def _losses(state: State, followed: Following) -> Any:
    """Losses of critical points along the path; dashed where points meet, and the slider's place."""
    t, losses, bends = _extrema(state)
    figure, top = Sketch(), 1.05 * float(losses.max(initial=1.0))
    for name, kind, chosen in (("valley", "global minimum", bends > 0), ("pass or top", "saddle", bends < 0)):
        figure.add_scatter(
            x=t[chosen], y=losses[chosen], mode="markers", name=name,
            marker={"color": KIND_COLOURS[kind], "size": 4.5, "symbol": "circle"},
            hovertemplate="loss %{y:.5g} at %{x:.3f}<extra>" + name + "</extra>",
        )  # fmt: skip
    for event in followed.collisions:
        figure.add_scatter(
            x=[event.position] * 2, y=[0, top], mode="lines", showlegend=False, name="points meet",
            line={"color": GREY, "width": 1.2, "dash": "dash"}, hovertemplate="two points meet<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=[state["t"]] * 2, y=[0, top], mode="lines", name="here (drag it)", line={"color": VERMILLION, "width": 3},
        hoverinfo="skip",
    )  # fmt: skip
    figure.add_handle(state["t"], top / 2, {"t": (state["t"], 1.0, 0.0)})
    styled(figure, height=420)
    figure.update_xaxes(title_text="place on the path from A (0) to B (1)", range=[-0.02, 1.02])
    figure.update_yaxes(title_text="loss E(f − y)²", range=[0, top])
    return figure


def _code(state: State) -> str:
    problem = problem_of({**state, "t": 0.0})
    A, B = teacher_of(state, 0.0).tolist(), teacher_of(state, 1.0).tolist()
    return python_of(
        problem,
        f"start = sh.Problem(np.array({A}), problem.data, width=1)\n"
        f"end = sh.Problem(np.array({B}), problem.data, width=1)\n"
        "print(sh.follow(start, end))",
    )


START = {"a11": "1", "a22": "1", "a12": "0.1", "b11": "3", "b22": "0.5", "b12": "0.3", "kurtosis": "9"}
VIEW = View(
    name="path",
    title="A path of problems",
    lead="The teacher walks from A to B, and its critical points are followed. Two of them meet where the path "
    "crosses the discriminant; with two inputs every meeting is found and proved.",
    fields=(
        Field("t", "place on the path", 0, 1, 0.001, 0),
        Field("a11", "A: t₁₁", -3, 3, 0.01, 1),
        Field("a22", "A: t₂₂", -3, 3, 0.01, 1),
        Field("a12", "A: t₁₂", -2, 2, 0.01, 0.1),
        Field("b11", "B: t₁₁", -3, 3, 0.01, 3),
        Field("b22", "B: t₂₂", -3, 3, 0.01, 0.5),
        Field("b12", "B: t₁₂", -2, 2, 0.01, 0.3),
        Field("kurtosis", "data’s fourth moment (Gauss: 3)", 1.1, 30, 0.1, 9),
        TRAIN,
        SEED,
    ),
    pictured="The landscape of the neuron itself, at the present place of the path: the middle of the disc is the zero "
    "network.",
    captions=(
        "The loss of each critical point along the path; at a dashed line two of them meet. Drag the upright line.",
    ),
    tour=(
        Step("From one teacher to another", "At A the data gives two valleys. Play walks to B: watch a valley and a "
             "pass come together on the landscape, and their curves end in a point.", {**START, "t": "0"}, ("t", 0, 1)),
        Step("And back", "From B to A two points are born where none were: the same place on the path, seen from the "
             "other side.", {**START, "t": "1"}, ("t", 1, 0)),
    ),
    presets=(
        Preset("through a change of sign", {**START, "b11": "-2", "b22": "-1", "t": "0"}),
        Preset("Gaussian data", {**START, "kurtosis": "3", "t": "0"}),
    ),
    draw=draw,
    seconds=constant(0.048),
    report=report_of("One quadratic neuron, n = 2", problem_of, 0.15, quick_descent),
)  # fmt: skip
