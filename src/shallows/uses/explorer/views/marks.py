"""Marks that several views share: critical points by kind, and the teacher one can drag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shallows.questions.discriminants.students import CriticalStudent
from shallows.support.checks import noun_for
from shallows.support.theme import KIND_COLOURS, KIND_SYMBOLS, VERMILLION, faint
from shallows.support.tolerances import SAME_LOSS
from shallows.uses.explorer.fields import State
from shallows.uses.explorer.sketch import Sketch

HEADINGS = ("loss", "kind", "student")
#: Margins that do not follow the legend, so that a figure keeps its scale while something is dragged in it.
STEADY = {"l": 64, "r": 20, "t": 86, "b": 56, "autoexpand": False}
#: What can be dragged looks like this.
GRIP: dict[str, Any] = {
    "mode": "markers", "hoverinfo": "skip",
    "marker": {"color": faint(VERMILLION, 0.45), "size": 17, "line": {"color": VERMILLION, "width": 3}},
}  # fmt: skip


def kind_of(student: CriticalStudent, lowest: float) -> str:
    """The kind, with the lowest local minimum called what it is."""
    near = student.loss <= lowest + SAME_LOSS * abs(lowest)
    return "global minimum" if student.kind == "local minimum" and near else student.kind


def rows_of(students: Sequence[CriticalStudent]) -> list[list[str]]:
    """Table rows, by increasing loss."""
    lowest = students[0].loss if students else 0.0
    return [[f"{s.loss:.6g}", kind_of(s, lowest), ", ".join(f"{x:.4g}" for x in s.entries)] for s in students]


def add_students(
    figure: Any, students: Sequence[CriticalStudent], x: Sequence[float], y: Sequence[float]
) -> None:
    """The critical points at (x, y), one trace a kind."""
    lowest = students[0].loss if students else 0.0
    kinds = [kind_of(student, lowest) for student in students]
    for kind in dict.fromkeys(kinds):
        chosen = [i for i, k in enumerate(kinds) if k == kind]
        figure.add_scatter(
            x=[x[i] for i in chosen], y=[y[i] for i in chosen], mode="markers", name=f"{kind} ({len(chosen)})",
            marker={"color": KIND_COLOURS[kind], "symbol": KIND_SYMBOLS[kind], "size": 12},
            text=[f"loss {students[i].loss:.5g}" for i in chosen], hovertemplate="%{text}<extra>" + kind + "</extra>",
        )  # fmt: skip


def add_teacher(figure: Sketch, state: State, names: tuple[str, str]) -> None:
    """The teacher as a disc that can be dragged; the two fields are its coordinates."""
    x, y = (state[name] for name in names)
    figure.add_scatter(x=[x], y=[y], name="teacher (drag it)", **GRIP)
    figure.add_handle(x, y, {names[0]: (x, 1.0, 0.0), names[1]: (y, 0.0, 1.0)})


def counts(students: Sequence[CriticalStudent]) -> list[tuple[str, str]]:
    """The facts every view of rank-one students shows."""
    minima = sum(student.kind == "local minimum" for student in students)
    return [
        (str(len(students)), noun_for(len(students), "real critical point")),
        (str(minima), noun_for(minima, "minimum")),
    ]


def unit_circle(count: int = 361, period: float = 2 * np.pi) -> tuple[Any, Any]:
    """Angles and directions (cos φ, sin φ)."""
    phi = np.linspace(0, period, count)
    return phi, np.stack([np.cos(phi), np.sin(phi)], axis=1)
