"""One neuron with a bias, or with a polynomial activation, on two inputs: how many minima it has."""

from __future__ import annotations

import numpy as np

from shallows.model.activations import Polynomial
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.iid import IID
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.chart import chart as make_chart
from shallows.support.errors import InvalidProblem
from shallows.uses.explorer.costs import SEED, TRAIN, constant, report_of
from shallows.uses.explorer.fields import Field, State, choice
from shallows.uses.explorer.scene import Preset, Scene, Step, View
from shallows.uses.explorer.views.quadratic import by_index
from shallows.uses.landscape.picture import landscape
from shallows.uses.report.recipe import python_of

#: Activations by name: coefficients of a polynomial without a bias, or None for z² with one.
ACTIVATIONS: dict[str, tuple[float, ...] | None] = {
    "(w·x + b)²": None,
    "1 + z + z²": (1.0, 1.0, 1.0),
    "2 + z + z²": (2.0, 1.0, 1.0),
    "1 + 3z + z²": (1.0, 3.0, 1.0),
}
CHOICES = tuple(ACTIVATIONS)
#: The fourth moment of the normal law, whose charts have proofs of their own.
GAUSS = 3.0
#: Processor seconds of a descent in three or four parameters, measured.
DESCENT_SECONDS = 1.5e-3


def problem_of(state: State) -> Problem:
    """The problem of a state: a quadratic polynomial of two inputs, the constant first."""
    t = [state[name] for name in ("c", "l1", "l2", "q11", "q12", "q22")]
    target = np.array([[t[0], t[1] / 2, t[2] / 2], [t[1] / 2, t[3], t[4]], [t[2] / 2, t[4], t[5]]])
    if not target.any():
        raise InvalidProblem("The teacher is zero. Move one of its coefficients.")
    data = Gaussian(2) if state["kurtosis"] == GAUSS else IID(2, [1, 0, 1, 0, state["kurtosis"]])
    coefficients = ACTIVATIONS[CHOICES[int(state["activation"])]]
    if coefficients is None:
        return Problem(target, data, width=1, bias=True)
    return Problem(target, data, width=1, activation=Polynomial(list(coefficients)))


def draw(state: State) -> Scene:
    """The chart on its landscape, and every point by index and loss."""
    problem = problem_of(state)
    chart = make_chart(problem)
    minima = sum("minimum" in kind for kind in chart.critical.table.kind)
    proved = sum(p.certificate is not None and p.certificate.signature_certified for p in chart.critical)
    return Scene(
        figures=[by_index(chart)],
        facts=[
            (str(minima), "minimum" if minima == 1 else "minima"),
            (str(sum(p.rank > 0 for p in chart.critical)), "critical points"),
            (f"{proved}/{len(chart.critical)}", "certified"),
            ("yes" if chart.attained else "no", "the lowest loss is attained"),
        ],
        headings=("loss", "kind", "index", "weights w", "bias" if problem.bias else "outer weight"),
        rows=[
            [
                f"{p.loss:.6g}",
                p.kind + (", a limit" if p.limit else ""),
                str(p.index),
                ", ".join(f"{x:.3g}" for x in p.network.W[0]),
                f"{_constant(p.network):.3g}" if p.rank else "–",
            ]
            for p in chart.critical
        ],
        code=python_of(problem, "chart = sh.chart(problem)\nprint(chart)"),
        problem=problem,
        landscape=landscape(chart),
    )


def _constant(net: Network) -> float:
    """The bias, or the outer weight of a network without one."""
    return float(np.ravel(net.a if net.bias is None else net.bias)[0])


START = {"c": "1", "l1": "1", "l2": "0.5", "q11": "1.5", "q12": "0", "q22": "-1", "kurtosis": "3"}
VIEW = View(
    name="affine",
    title="Bias and polynomials",
    lead="One neuron on two inputs, with a bias, or with a polynomial activation and no bias. Either adds a "
    "dimension, the constant, so its landscape is again over the directions of three numbers. Without a bias Gaussian "
    "data leaves two valleys at most; watch what the constant does.",
    fields=(
        choice("activation", "neuron", CHOICES, CHOICES[0]),
        Field("c", "teacher: constant", -3, 3, 0.01, 1),
        Field("l1", "teacher: x₁", -3, 3, 0.01, 1),
        Field("l2", "teacher: x₂", -3, 3, 0.01, 0.5),
        Field("q11", "teacher: x₁²", -3, 3, 0.01, 1.5),
        Field("q12", "teacher: x₁x₂, half", -3, 3, 0.01, 0),
        Field("q22", "teacher: x₂²", -3, 3, 0.01, -1),
        Field("kurtosis", "data’s fourth moment (Gauss: 3)", 1.1, 60, 0.1, 3),
        TRAIN,
        SEED,
    ),
    pictured="The loss of the best neuron by the direction of (bias, w), or of (1, w): the middle of the disc is w = "
    "0, its rim are neurons without a constant. Shaded is the basin of each minimum.",
    captions=("Every critical point by index and loss. Point at one, here, in the table or on the landscape.",),
    tour=(
        Step("A bias", "The neuron (w·x + b)² learns a polynomial of two inputs. Count the valleys: stars are the best "
             "minima, circles local ones.", {**START, "activation": CHOICES[0]}),
        Step("The teacher’s constant moves", "Play lowers the teacher’s constant from 3 to −3: valleys come and go "
             "while the rest of the teacher stays.", {**START, "activation": CHOICES[0]}, ("c", 3, -3)),
        Step("Another activation, no bias", "1 + z + z² has its constant built in. The disc is the plane of w: "
             "infinitely long neurons are at its rim.", {**START, "activation": CHOICES[1]}, ("c", 3, -3)),
    ),
    presets=(
        Preset("bias, heavy tails", {**START, "activation": CHOICES[0], "kurtosis": "30"}),
        Preset("1 + z + z²", {**START, "activation": CHOICES[1]}),
        Preset("1 + 3z + z²", {**START, "activation": CHOICES[3], "kurtosis": "12"}),
    ),
    draw=draw,
    seconds=constant(0.048),
    report=report_of("One neuron, two inputs", problem_of, 0.4, lambda state: DESCENT_SECONDS),
)  # fmt: skip
