"""A binary cubic or quartic against one neuron of its degree: the whole landscape is a curve over the circle."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from shallows.coordinates import monomials
from shallows.data import IID, Distribution, Gaussian
from shallows.discriminants import Discriminant, critical_students, rank_one
from shallows.errors import InvalidProblem
from shallows.explorer.fields import Field, State, choice
from shallows.explorer.scene import Scene, View
from shallows.explorer.sketch import Sketch
from shallows.explorer.views.marks import HEADINGS, add_students, counts, kind_of, rows_of, unit_circle
from shallows.problem import Problem
from shallows.report.recipe import python_of
from shallows.report.theme import INK, KIND_COLOURS, SKY, styled
from shallows.tensors import SymmetricTensor

LAWS = ("gaussian", "uniform", "laplace")
DEGREES = ("3", "4")


def _data(law: str) -> Distribution:
    if law == "gaussian":
        return Gaussian(2)
    return IID.uniform(2) if law == "uniform" else IID.laplace(2)


@lru_cache(maxsize=8)
def _discriminant(degree: int, law: str) -> Discriminant:
    return rank_one(degree).specialize(data=_data(law))


def draw(state: State) -> Scene:
    """The form, its critical neurons, and the loss of the best neuron in each direction."""
    degree, law = int(DEGREES[int(state["degree"])]), LAWS[int(state["law"])]
    entries = np.array([state[f"c{i}"] for i in range(degree + 1)])
    if not entries.any():
        raise InvalidProblem("The teacher is zero, and so is every critical point. Move one of its entries.")
    P = _discriminant(degree, law)
    values = {name: Fraction(str(x)) for name, x in zip(P.curve.teacher, entries.tolist(), strict=True)}
    students = critical_students(P, **values)
    problem = Problem(SymmetricTensor(entries, 2, degree), _data(law), width=1)
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
            line={"color": SKY if kind == "local minimum" else KIND_COLOURS[kind], "width": 2,
                  "dash": "dot" if kind == "saddle" else "solid"}, hoverinfo="skip",
        )  # fmt: skip
    styled(figure, height=420)
    figure.update_xaxes(title_text="direction φ", range=[0, 360], dtick=45, ticksuffix="°")
    figure.update_yaxes(title_text="value on the unit circle", zeroline=True)
    return figure


VIEW = View(
    name="binary",
    title="Cubic, quartic",
    lead="A form of degree 3 or 4 in two variables against one neuron of the same degree. For a fixed direction the "
    "best strength is known, so the landscape is a curve: its dips and humps are the critical points.",
    fields=(
        choice("degree", "degree", DEGREES, "3"),
        choice("law", "data", LAWS, "gaussian"),
        Field("c0", "teacher entry 0 (x₁ᵈ)", -3, 3, 0.01, 1),
        Field("c1", "teacher entry 1", -3, 3, 0.01, 0.1),
        Field("c2", "teacher entry 2", -3, 3, 0.01, -0.9),
        Field("c3", "teacher entry 3", -3, 3, 0.01, 0.2),
        Field("c4", "teacher entry 4 (degree 4 only)", -3, 3, 0.01, -0.5),
    ),
    captions=(
        "The loss of the best neuron in each direction; every dip is a local minimum, every hump a saddle or a "
        "direction in which the best neuron is zero.",
        "The teacher and its critical students on the unit circle.",
    ),
    draw=draw,
)
