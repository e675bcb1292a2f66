"""Gradient flow of two quadratic neurons and what it conserves: δᵢ = aᵢ² − ‖wᵢ‖²/2 (paper 000, Prop. 16, Cor. 17)."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.model.data.gaussian import Gaussian
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.descend import descend
from shallows.questions.descent.methods.flow import FlowOptions
from shallows.questions.descent.results.run import Trajectory
from shallows.questions.descent.traps import flow_invariants, is_trapped
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.theme import BLUE, GREEN, INK, ORANGE, SKY, VERMILLION, faint, styled
from shallows.uses.explorer.costs import SEED, TRAIN, constant, quick_descent, report_of
from shallows.uses.explorer.fields import Field, State
from shallows.uses.explorer.scene import Scene, View
from shallows.uses.explorer.sketch import Sketch
from shallows.uses.explorer.views.marks import GRIP, STEADY, add_teacher
from shallows.uses.report.recipe import python_of

COLOURS = (BLUE, ORANGE)
REACH = 3.4
#: For a picture: errors of 1e-6 are far below a pixel.
OPTIONS = FlowOptions(integrator="LSODA", rtol=1e-6, atol=1e-9, time=1e4)
#: The gradient norm below which the drawn flow does not move any more, at 1e4 units of time.
AT_REST = 1e-6
#: Where the logarithmic time axis begins: before it nothing has moved by a pixel.
FIRST_TIME = 1e-4


def problem_of(state: State) -> Problem:
    """The problem of a state: a diagonal teacher under Gaussian data."""
    return Problem(np.diag([state["t1"], state["t2"]]), Gaussian(2), width=2)


def start_of(state: State) -> Network:
    """The network the flow starts from."""
    angles = np.radians([state["angle1"], state["angle2"]])
    lengths = np.array([state["length1"], state["length2"]])
    W = lengths[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return Network(W, [state["a1"], state["a2"]])


def draw(state: State) -> Scene:
    """The trajectory in (‖wᵢ‖, aᵢ), and the loss over time."""
    problem = problem_of(state)
    start = start_of(state)
    if not start.W.any() and not start.a.any():
        raise InvalidProblem(
            "The flow starts at zero, where it does not move. Move a length or an outer weight."
        )
    run = descend(problem, start, "flow", tolerance=AT_REST, record=1, polish=False, flow=OPTIONS)
    assert run.trajectory is not None
    before, after = flow_invariants(start), flow_invariants(run.network)
    trapped = is_trapped(problem, start)
    return Scene(
        figures=[
            _phase(run.trajectory, before),
            _matrices(run.trajectory, before, state),
            _losses(problem, run.trajectory),
        ],
        facts=[
            (f"{run.loss:.4g}", "loss at the end"),
            (f"{before[0]:.3g}, {before[1]:.3g}", "conserved δ₁, δ₂"),
            (f"{float(np.max(np.abs(after - before))):.1e}", "drift of δ"),
            ("yes" if trapped else "not by Cor. 17", "trapped"),
        ],
        headings=("", "‖w₁‖", "a₁", "δ₁", "‖w₂‖", "a₂", "δ₂"),
        rows=[_row("start", start, before), _row("end", run.network, after)],
        code=_code(problem, start),
        problem=problem,
    )


def _row(name: str, net: Network, delta: Array) -> list[str]:
    cells = [name]
    for i in range(2):
        cells += [f"{np.linalg.norm(net.W[i]):.4g}", f"{net.a[i]:.4g}", f"{delta[i]:.6g}"]
    return cells


def _phase(path: Trajectory, delta: Array) -> Any:
    W = path.thetas[:, :4].reshape(-1, 2, 2)
    norms, a = np.linalg.norm(W, axis=2), path.thetas[:, 4:6]
    reach = 1.15 * max(float(norms.max()), 0.5)
    figure = Sketch()
    for i in range(2):
        for side in (1, -1):
            length = np.linspace(0, reach, 200)
            square = delta[i] + length**2 / 2
            figure.add_scatter(
                x=length, y=side * np.sqrt(np.where(square >= 0, square, np.nan)), mode="lines", hoverinfo="skip",
                line={"color": COLOURS[i], "width": 1, "dash": "dot"}, legendgroup=str(i), showlegend=side > 0,
                name=f"a² − ‖w‖²/2 = {delta[i]:.3g}",
            )  # fmt: skip
        figure.add_scatter(
            x=norms[:, i], y=a[:, i], mode="lines", line={"color": COLOURS[i], "width": 4}, name=f"neuron {i + 1}",
            hoverinfo="skip",
        )  # fmt: skip
        figure.add_scatter(
            x=norms[-1:, i], y=a[-1:, i], mode="markers+text", text=["end"], textposition="top center",
            showlegend=False, hoverinfo="skip", marker={"color": COLOURS[i], "size": 10},
        )  # fmt: skip
        _add_start(figure, i, float(norms[0, i]), float(a[0, i]))
    styled(figure, height=460)
    top = 1.15 * max(float(np.abs(a).max()), 0.5)
    figure.update_xaxes(title_text="‖w‖", range=[-0.02 * reach, reach])
    figure.update_yaxes(title_text="outer weight a", range=[-top, top], zeroline=True)
    return figure


def _add_start(figure: Sketch, i: int, length: float, a: float) -> None:
    """Where neuron i starts; dragging it sets its length and its outer weight."""
    name = "start (drag it)"
    figure.add_scatter(x=[length], y=[a], name=name, legendgroup="start", showlegend=i == 0, **GRIP)
    figure.add_handle(length, a, {f"length{i + 1}": (length, 1.0, 0.0), f"a{i + 1}": (a, 0.0, 1.0)})


def _matrices(path: Trajectory, delta: Array, state: State) -> Any:
    """The diagonal of the student's matrix Σ aᵢ wᵢwᵢᵀ on its way to the teacher's, diag(t₁, t₂)."""
    W, a = path.thetas[:, :4].reshape(-1, 2, 2), path.thetas[:, 4:6]
    diagonal = np.einsum("ti,tij->tj", a, W**2)
    reach = max(REACH, 1.1 * float(np.abs(diagonal).max()))
    figure = Sketch()
    figure.add_scatter(
        x=diagonal[:, 0],
        y=diagonal[:, 1],
        mode="lines",
        name="student",
        meta=INK,
        line={"width": 3},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=diagonal[-1:, 0], y=diagonal[-1:, 1], mode="markers", name="its end", hoverinfo="skip",
        marker={"color": GREEN, "size": 10},
    )  # fmt: skip
    add_teacher(figure, state, ("t1", "t2"))
    figure.data.insert(0, figure.data.pop())  # below, so that the end is seen on it
    side = _quadrant(delta, a[0])
    if side:
        figure.add_shape(type="rect", x0=0, x1=side * 1e3, y0=0, y1=side * 1e3, layer="below", line={"width": 0},
                         fillcolor=faint(SKY, 0.18))  # fmt: skip
    styled(figure, height=460)
    figure.update_layout(margin={**STEADY, "t": 56})
    figure.update_xaxes(title_text="entry 11", range=[-reach, reach], zeroline=True, constrain="domain")
    figure.update_yaxes(
        title_text="entry 22", range=[-reach, reach], zeroline=True, scaleanchor="x", constrain="domain"
    )
    return figure


def _quadrant(delta: Array, a: Array) -> int:
    """The sign that the student's matrix keeps for ever, 0 if none: every δᵢ > 0 and outer weights of one sign."""
    if not np.all(delta > 0) or abs(np.sign(a).sum()) < len(a):
        return 0
    return int(np.sign(a[0]))


def _losses(problem: Problem, path: Trajectory) -> Any:
    times = np.maximum(path.times, FIRST_TIME)
    figure = Sketch()
    figure.add_scatter(x=times, y=path.losses, mode="lines", meta=INK, line={"width": 2.5}, name="loss")
    zero = float(problem.value(np.zeros(problem.size)))
    for value, name, colour in (
        (zero, "loss of the zero function", VERMILLION),
        (0.0, "global minimum", GREEN),
    ):
        figure.add_scatter(
            x=[times[0], times[-1]], y=[value, value], mode="lines", name=name,
            line={"color": colour, "dash": "dot", "width": 1.5}, hoverinfo="skip",
        )  # fmt: skip
    styled(figure, height=380)
    figure.update_xaxes(title_text="time of the flow", type="log", exponentformat="power", dtick=1)
    figure.update_yaxes(title_text="loss E(f − y)²", rangemode="tozero")
    return figure


def _code(problem: Problem, start: Network) -> str:
    weights, outer = start.W.round(12).tolist(), start.a.round(12).tolist()
    call = (
        f"start = sh.Network({weights}, a={outer})\n"
        'run = sh.descend(problem, start, "flow", record=1)\n'
        "print(run)\nprint(sh.flow_invariants(start), sh.flow_invariants(run.network))"
    )
    return python_of(problem, call)


VIEW = View(
    name="flow",
    title="Gradient flow",
    lead="Two quadratic neurons follow the gradient flow. Each keeps δ = a² − ‖w‖²/2 for ever, so it moves on a "
    "hyperbola; with δ > 0 its outer weight can never change sign. Against a negative teacher that is a trap.",
    fields=(
        Field("t1", "teacher t₁", -3, 3, 0.01, 1.5),
        Field("t2", "teacher t₂", -3, 3, 0.01, -1),
        Field("a1", "outer weight a₁", -2, 2, 0.01, 0.8),
        Field("length1", "length ‖w₁‖", 0, 2, 0.01, 0.6),
        Field("angle1", "angle of w₁", 0, 180, 1, 30),
        Field("a2", "outer weight a₂", -2, 2, 0.01, 0.3),
        Field("length2", "length ‖w₂‖", 0, 2, 0.01, 0.9),
        Field("angle2", "angle of w₂", 0, 180, 1, 110),
        TRAIN,
        SEED,
    ),
    captions=(
        "Each neuron in the plane of its length and its outer weight; dotted are the hyperbolas it cannot leave. "
        "Drag a start.",
        "The diagonal of the student’s matrix Σ aᵢwᵢwᵢᵀ on its way to the teacher’s. Drag the teacher. Shaded, if no "
        "outer weight can change its sign: the quadrant the student cannot leave.",
        "The loss over the time of the flow.",
    ),
    draw=draw,
    seconds=constant(0.03),
    report=report_of("Two quadratic neurons", problem_of, 0.15, quick_descent),
)
