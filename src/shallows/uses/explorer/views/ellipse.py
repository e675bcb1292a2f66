"""The ellipse: a teacher, the critical points of its distance, and the focal curve (paper 000, Example 27)."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from shallows.questions.discriminants.counting import landscape_at
from shallows.questions.discriminants.envelope import FocalCurve, focal_curve
from shallows.questions.discriminants.known import ellipse
from shallows.questions.discriminants.polynomial import Discriminant
from shallows.questions.discriminants.students import CriticalStudent, critical_students
from shallows.support.errors import InvalidProblem
from shallows.support.theme import GREY, INK, VERMILLION, styled
from shallows.uses.explorer.costs import constant
from shallows.uses.explorer.fields import Field, State
from shallows.uses.explorer.scene import Scene, View
from shallows.uses.explorer.sketch import Sketch
from shallows.uses.explorer.views.marks import HEADINGS, STEADY, add_students, add_teacher, counts, rows_of

REACH = 3.2
ALL_CRITICAL = (
    "The teacher is at the centre of the circle: every point of it is critical, and has the same loss."
)
#: The facts where no critical points are listed.
UNKNOWN = (("–", "real critical points"), ("–", "minima"))
#: A focal curve of at most this extent is a point to the eye: a circle's is its centre.
ONE_POINT = 1e-3


def draw(state: State) -> Scene:
    """The picture at one teacher, ellipse and metric."""
    curve, students, remark = _found(state)
    lowest = f"{students[0].loss:.4g}" if students else "–"
    return Scene(
        figures=[_figure(curve, state, students)],
        facts=[*(counts(students) if students else UNKNOWN), (lowest, "lowest loss")],
        headings=HEADINGS,
        rows=rows_of(students),
        code=_code(state),
        remark=remark,
    )


def _found(state: State) -> tuple[FocalCurve | None, list[CriticalStudent], str]:
    """The focal curve, the critical points, and what is to be said where there are none to list."""
    metric = {name: state[name] for name in ("m11", "m12", "m22")}
    if metric["m12"] ** 2 >= metric["m11"] * metric["m22"]:
        return (
            None,
            [],
            "The metric is not positive definite: m12² must be below m11·m22. Move m12 towards 0.",
        )
    P, curve = _specialized(*(state[name] for name in ("p", "q", *metric)))
    at: dict[str, object] = {name: Fraction(str(state[name])) for name in ("x", "y")}
    try:
        return curve, critical_students(P, **at), ""
    except InvalidProblem as wall:
        return curve, [], ALL_CRITICAL if landscape_at(P, **at).infinite else str(wall)


@lru_cache(maxsize=64)
def _specialized(*values: float) -> tuple[Discriminant, FocalCurve]:
    """The discriminant and the focal curve of an ellipse and a metric, which stay when the teacher moves."""
    p, q, m11, m12, m22 = (Fraction(str(value)) for value in values)
    P = ellipse(p, q).specialize(m11=m11, m12=m12, m22=m22)
    return P, focal_curve(P, samples=800)


def _figure(curve: FocalCurve | None, state: State, students: Any) -> Any:
    theta = np.linspace(0, 2 * np.pi, 300)
    figure = Sketch()
    figure.add_scatter(
        x=np.sqrt(state["p"]) * np.cos(theta), y=np.sqrt(state["q"]) * np.sin(theta), mode="lines", name="students",
        meta=INK, line={"width": 2.5}, hoverinfo="skip",
    )  # fmt: skip
    if curve is not None:
        _add_focal(figure, curve)
    for student in students:
        figure.add_scatter(
            x=[state["x"], student.entries[0]], y=[state["y"], student.entries[1]], mode="lines", showlegend=False,
            line={"color": GREY, "width": 1, "dash": "dot"}, hoverinfo="skip",
        )  # fmt: skip
    add_students(figure, students, [s.entries[0] for s in students], [s.entries[1] for s in students])
    add_teacher(figure, state, ("x", "y"))
    styled(figure, height=560)
    figure.update_layout(margin=STEADY)
    figure.update_xaxes(range=[-REACH, REACH], title_text="x", constrain="domain")
    figure.update_yaxes(range=[-REACH, REACH], title_text="y", scaleanchor="x", constrain="domain")
    return figure


def _add_focal(figure: Sketch, curve: FocalCurve) -> None:
    """The focal curve as a line; a circle has a single focal point."""
    extent = max(float(np.nanmax(values) - np.nanmin(values)) for values in (curve.x, curve.y))
    if extent > ONE_POINT:
        line = {"color": VERMILLION, "width": 1.8}
        figure.add_scatter(
            x=curve.x, y=curve.y, mode="lines", name="focal curve", line=line, hoverinfo="skip"
        )
        return
    mark = {"color": VERMILLION, "symbol": "x", "size": 9}
    figure.add_scatter(
        x=curve.x[:1], y=curve.y[:1], mode="markers", name="focal point", marker=mark, hoverinfo="skip"
    )


def _code(state: State) -> str:
    return (
        "from shallows.discriminants import critical_students, ellipse, focal_curve\n\n"
        f"P = ellipse({state['p']:g}, {state['q']:g})\n"
        f"metric = dict(m11={state['m11']:g}, m12={state['m12']:g}, m22={state['m22']:g})\n"
        f"for student in critical_students(P, x={state['x']:g}, y={state['y']:g}, **metric):\n"
        "    print(student)\n"
        "curve = focal_curve(P, **metric)\n"
    )


VIEW = View(
    name="ellipse",
    title="Ellipse",
    lead="The students are the points of an ellipse, the loss is the squared distance to the teacher. Inside the focal "
    "curve there are four critical points, outside two: drag the teacher across it and watch two of them meet.",
    fields=(
        Field("x", "teacher x", -3, 3, 0.01, 0.45),
        Field("y", "teacher y", -3, 3, 0.01, 0.5),
        Field("p", "ellipse p (x²/p)", 0.25, 9, 0.25, 4),
        Field("q", "ellipse q (y²/q)", 0.25, 9, 0.25, 1),
        Field("m11", "metric m11", 0.2, 5, 0.05, 1),
        Field("m12", "metric m12", -1.5, 1.5, 0.05, 0),
        Field("m22", "metric m22", 0.2, 5, 0.05, 1),
    ),
    captions=(
        "The ellipse, its focal curve, and the teacher with dotted lines to its critical points: minima of the "
        "distance are circles (the nearest one a star), maxima triangles.",
    ),
    draw=draw,
    seconds=constant(0.01),
)
