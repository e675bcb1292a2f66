"""A binary cubic or quartic against one neuron of its degree: the whole landscape is a curve over the circle."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from shallows.mathematics.tensors.coordinates import monomials
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.data.base import Distribution
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.iid import IID
from shallows.model.problem import Problem
from shallows.questions.discriminants.known import rank_one
from shallows.questions.discriminants.polynomial import Discriminant
from shallows.questions.discriminants.students import critical_students
from shallows.support.errors import InvalidProblem
from shallows.support.theme import INK, KIND_COLOURS, styled
from shallows.uses.explorer.costs import SEED, TRAIN, constant, report_of
from shallows.uses.explorer.fields import Field, State, choice
from shallows.uses.explorer.scene import Scene, View
from shallows.uses.explorer.sketch import Sketch
from shallows.uses.explorer.views.marks import (
    GRIP,
    HEADINGS,
    add_students,
    counts,
    kind_of,
    rows_of,
    unit_circle,
)
from shallows.uses.report.recipe import python_of

OWN = "moments"
#: Processor seconds of a descent, measured under the Gaussian, uniform and Laplace laws; a quartic's is longer.
CUBIC_SECONDS, QUARTIC_SECONDS = 3e-4, 1e-3
LAWS = ("gaussian", "uniform", "laplace", OWN)
DEGREES = ("3", "4")
#: Names of the fields with the law's own moments.
MOMENTS = ("m4", "m6", "m8")


def moments_of(fourth: float, sixth: float, eighth: float) -> list[float]:
    """[1, 0, 1, 0, μ4, 0, μ6, 0, μ8] of a symmetric law of variance one, from μ4 and two ratios to the least possible.

    The moments of x² make positive semidefinite Hankel matrices, so μ6 ≥ μ4² and μ8 ≥ bᵀA⁻¹b with A = [[1, 1], [1, μ4]]
    and b = (μ4, μ6): every μ4 > 1 and ratios > 1 are the moments of a law (Hamburger's problem).
    """
    m6 = sixth * fourth**2
    least = (fourth * (fourth**2 - m6) + m6 * (m6 - fourth)) / (fourth - 1)
    return [float(f"{m:.6g}") for m in (1, 0, 1, 0, fourth, 0, m6, 0, eighth * least)]


def data_of(state: State) -> Distribution:
    """The data of a state: a named law, or the one with the given moments up to twice the degree."""
    law = LAWS[int(state["law"])]
    if law == OWN:
        moments = moments_of(*(state[name] for name in MOMENTS))
        return IID(2, moments[: 2 * degree_of(state) + 1])
    if law == "gaussian":
        return Gaussian(2)
    return IID.uniform(2) if law == "uniform" else IID.laplace(2)


def degree_of(state: State) -> int:
    """The degree of the teacher."""
    return int(DEGREES[int(state["degree"])])


def problem_of(state: State) -> Problem:
    """The problem of a state: one neuron against a binary form."""
    entries = np.array([state[f"c{i}"] for i in range(degree_of(state) + 1)])
    if not entries.any():
        raise InvalidProblem("The teacher is zero, and so is every critical point. Move one of its entries.")
    return Problem(SymmetricTensor(entries, 2, degree_of(state)), data_of(state), width=1)


@lru_cache(maxsize=32)
def _discriminant(*law: tuple[str, float]) -> Discriminant:
    """The discriminant under the data of a state, of which only degree, law and moments matter."""
    state = dict(law)
    return rank_one(degree_of(state)).specialize(data=data_of(state))


def draw(state: State) -> Scene:
    """The form, its critical neurons, and the loss of the best neuron in each direction."""
    problem = problem_of(state)
    P = _discriminant(*((name, state[name]) for name in ("degree", "law", *MOMENTS)))
    entries = [Fraction(str(state[f"c{i}"])) for i in range(problem.degree + 1)]
    students = critical_students(P, **dict(zip(P.curve.teacher, entries, strict=True)))
    return Scene(
        figures=[_losses(problem, students), _forms(problem, students)],
        facts=[*counts(students), (f"{students[0].loss:.4g}", "lowest loss")],
        headings=HEADINGS,
        rows=rows_of(students),
        code=python_of(problem),
        problem=problem,
    )


def _losses(problem: Problem, students: Any) -> Any:
    """min over s of ‖T − s w^⊗d‖² = ‖T‖² − ⟨T, w^⊗d⟩²/‖w^⊗d‖² as a function of the direction of w."""
    phi, directions = unit_circle(721, np.pi)
    gram, target = problem.gram(), problem.target_tensor().entries
    powers = monomials(directions, problem.degree)
    along, size = powers @ gram @ target, np.einsum("ij,ij->i", powers, powers @ gram)
    figure = Sketch()
    figure.add_scatter(
        x=np.degrees(phi), y=float(target @ gram @ target) - along**2 / size, mode="lines", meta=INK, name="loss",
        line={"width": 2.5}, hoverinfo="skip",
    )  # fmt: skip
    angles = [float(np.degrees(s.angle) % 180) for s in students]
    add_students(figure, students, angles, [s.loss for s in students])
    styled(figure, height=420)
    figure.update_xaxes(title_text="direction of the neuron φ", range=[0, 180], dtick=30, ticksuffix="°")
    figure.update_yaxes(title_text="loss of the best neuron")
    return figure


def _forms(problem: Problem, students: Any) -> Any:
    phi, directions = unit_circle()
    figure = Sketch()
    figure.add_scatter(
        x=np.degrees(phi), y=problem.target_tensor()(directions), mode="lines", meta=INK, name="teacher",
        line={"width": 4}, hoverinfo="skip",
    )  # fmt: skip
    lowest = students[0].loss
    for student in students:
        kind = kind_of(student, lowest)
        values = SymmetricTensor(student.entries, 2, problem.degree)(directions)
        figure.add_scatter(
            x=np.degrees(phi), y=values, mode="lines", name=f"{kind}, {student.loss:.4g}",
            line={"color": KIND_COLOURS[kind], "width": 2,
                  "dash": "dot" if kind == "saddle" else "solid"}, hoverinfo="skip",
        )  # fmt: skip
    _add_grips(figure, problem.target_tensor())
    styled(figure, height=420)
    figure.update_xaxes(title_text="direction φ", range=[0, 360], dtick=45, ticksuffix="°")
    figure.update_yaxes(title_text="value on the unit circle", zeroline=True)
    return figure


def _add_grips(figure: Sketch, target: SymmetricTensor) -> None:
    """Places to drag the teacher's curve by: its values in d + 1 directions φⱼ, which determine a form of degree d.

    Pulling one by Δ changes the entries by Δ times column j of the inverse of (binomial(d, i) cos^(d−i)φⱼ sin^iφⱼ), so
    that the values in the other directions stay.
    """
    count = len(target.entries)
    phi = np.pi * (np.arange(count) + 0.5) / count
    directions = np.stack([np.cos(phi), np.sin(phi)], axis=1)
    values = target(directions)
    basis = np.stack([SymmetricTensor(row, 2, count - 1)(directions) for row in np.eye(count)], axis=1)
    pulls = np.linalg.inv(basis)
    figure.add_scatter(x=np.degrees(phi), y=values, name="drag up or down", **GRIP)
    for j in range(count):
        moves = {f"c{i}": (float(target.entries[i]), 0.0, float(pulls[i, j])) for i in range(count)}
        figure.add_handle(float(np.degrees(phi[j])), float(values[j]), moves)


def _descent_seconds(state: State) -> float:
    return CUBIC_SECONDS if degree_of(state) == 3 else QUARTIC_SECONDS


VIEW = View(
    name="binary",
    title="Cubic, quartic",
    lead="A form of degree 3 or 4 in two variables against one neuron of the same degree. For a fixed direction the "
    "best strength is known, so the landscape is a curve: its dips and humps are the critical points.",
    fields=(
        choice("degree", "degree", DEGREES, "3"),
        choice("law", "data", LAWS, "gaussian"),
        Field("c0", "teacher at x₁ᵈ", -3, 3, 0.01, 1),
        Field("c1", "teacher at x₁ᵈ⁻¹x₂", -3, 3, 0.01, 0.1),
        Field("c2", "teacher at x₁ᵈ⁻²x₂²", -3, 3, 0.01, -0.9),
        Field("c3", "teacher at x₁ᵈ⁻³x₂³", -3, 3, 0.01, 0.2),
        Field("c4", "teacher at x₂⁴", -3, 3, 0.01, -0.5, needs=("degree", "4")),
        Field("m4", "fourth moment μ₄ (Gauss: 3)", 1.05, 12, 0.05, 3, selects=("law", OWN)),
        Field("m6", "sixth moment, over its least μ₄²", 1.02, 4, 0.01, 1.67, selects=("law", OWN)),
        Field(
            "m8", "eighth, over its least", 1.02, 4, 0.01, 1.3, selects=("law", OWN), needs=("degree", "4")
        ),
        TRAIN,
        SEED,
    ),
    captions=(
        "The loss of the best neuron in each direction; every dip is a local minimum, every hump a saddle or a "
        "direction in which the best neuron is zero.",
        "The teacher and its critical students on the unit circle. Drag the teacher’s curve up or down by its rings; "
        "its values at the other rings stay.",
    ),
    draw=draw,
    seconds=constant(0.012),
    report=report_of("Cubic, quartic", problem_of, 0.2, _descent_seconds),
)
