"""Paper 000, Figure 2: focal curves of an ellipse, and focal surfaces of the cone of rank-one matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.questions.discriminants.envelope import focal_curve
from shallows.questions.discriminants.figures import (
    figure2_centre,
    figure2_left,
    figure2_right,
    focal_rays,
)
from shallows.questions.discriminants.known import ellipse, rank_one
from shallows.questions.discriminants.students import critical_students
from shallows.support.theme import CLEAR, FONT, INK, LEGEND_BELOW
from shallows.uses.papers.experiments.experiment import (
    Comparison,
    Experiment,
    Plan,
    Presentation,
    Row,
    Settings,
)
from shallows.uses.report.page import Picture

TEACHERS = ((0.45, 0.5, 4), (1.9, 1.3, 2))
STRETCHES, SHEARS, MOMENTS = (0.4, 0.7, 1.0, 1.6, 2.5), (-0.6, -0.3, 0.0, 0.3, 0.6), (1, 2, 4)
#: Terms and bidegree in (teacher, metric): Examples 27 and 28. Of the i.i.d. case the number of printed terms.
TERMS = {
    "ellipse": (152, (6, 6)),
    "rank one, 2×2": (5938, (6, 12)),
    "rank one, m0011 = m0101": (2060, None),
    "rank one, symmetric i.i.d.": (68, None),
}


def cells(plan: Plan) -> list[Settings]:
    """A cell a panel, and one for the polynomials."""
    return [
        {"part": part, "points": plan.pick(400, 2000)} for part in ("left", "centre", "right", "polynomials")
    ]


def curves(settings: Settings) -> list[Row]:
    """Points of the curves (for the surfaces: unit rays), counts of critical points, terms of polynomials."""
    return {"left": _left, "centre": _centre, "right": _right, "polynomials": _polynomials}[settings["part"]](
        settings["points"]
    )


def _left(points: int) -> list[Row]:
    P = ellipse(4, 1).specialize(m11=1, m12=0, m22=1)
    rows: list[Row] = [
        {"part": "teacher", "x": x, "y": y, "critical_points": len(critical_students(P, x=x, y=y))}
        for x, y, _ in TEACHERS
    ]
    return rows + _points("left", "m11=1 m12=0 m22=1", focal_curve(P))


def _centre(points: int) -> list[Row]:
    rows: list[Row] = []
    for name, values in (("m11", STRETCHES), ("m12", SHEARS)):
        for value in values:
            metric: dict[str, Any] = {"m11": 1.0, "m12": 0.0, "m22": 1.0, name: value}
            rows += _points("centre", f"{name}={value:g}", focal_curve(ellipse(4, 1), **metric))
    return rows


def _points(part: str, name: str, curve: Any) -> list[Row]:
    finite = np.isfinite(curve.x) & np.isfinite(curve.y)
    return [
        {"part": part, "curve": name, "x": float(x), "y": float(y)}
        for x, y in zip(curve.x[finite], curve.y[finite], strict=True)
    ]


def _right(points: int) -> list[Row]:
    rows: list[Row] = []
    for moment in MOMENTS:
        rays = focal_rays(moment, np.linspace(0, np.pi, points))
        directions = rays / np.linalg.norm(rays, axis=1, keepdims=True)
        rows += [
            {"part": "right", "curve": f"m0101={moment}", "x": float(x), "y": float(y), "z": float(z)}
            for x, y, z in directions
        ]
    return rows


def _polynomials(points: int) -> list[Row]:
    general = rank_one(2)
    equal = general.specialize(m0011="m0101")
    symmetric = equal.specialize(m0001=0, m0111=0, m1111="m0000")
    found = zip(TERMS, (ellipse(4, 1), general, equal, symmetric), strict=True)
    return [
        {"part": "polynomial", "curve": name, "terms": P.n_terms, "bidegree": ",".join(map(str, P.bidegree))}
        for name, P in found
    ]


def present(rows: list[Row], plan: Plan) -> Presentation:
    """The three panels."""
    left, centre, right = (
        figure2_left(tuple(t[:2] for t in TEACHERS)),
        figure2_centre(STRETCHES, SHEARS),
        figure2_right(MOMENTS),
    )
    left.update_xaxes(range=[-4, 4])
    left.update_yaxes(range=[-3.3, 3.3])
    return Presentation(
        (
            "Where the number of real critical points changes. A teacher inside the focal curve of the ellipse has "
            "four critical points, one outside has two; the curve moves with the metric, and one polynomial P(teacher, "
            "metric), the discriminant, describes all of them.",
        ),
        [
            Picture("Left: the ellipse, its focal curve, two teachers", _plain(left, 480), (
                "x²/4 + y² = 1 with its focal curve under the Euclidean metric. Stars are teachers, discs minima and "
                "circles maxima of the distance to them; dotted: the normals."
            )),
            Picture("Centre: focal curves as the metric varies", _plain(centre, 820, aside=True), (
                "Focal curves of the ellipse encoded by P(x, y, m11, m12, m22): above m11 varies, below m12 varies."
            )),
            Picture("Right: the cone of rank-one matrices and its focal surfaces", _plain(right, 560), (
                "t00 t11 = t01² with the focal surfaces for m0000 = m1111 = 1, m0101 = 1, 2, 4 and other moments 0, "
                "cut off at a sphere."
            )),
        ],
        _compare(rows),
    )  # fmt: skip


def _plain(figure: Any, height: int, aside: bool = False) -> Any:
    """The house's fonts and a transparent background; the heading takes the place of the title."""
    legend = {"x": 1.02, "y": 1} if aside else LEGEND_BELOW
    figure.update_layout(
        title=None, template="none", height=height, paper_bgcolor=CLEAR, plot_bgcolor=CLEAR,
        font={"family": FONT, "size": 13, "color": None}, margin={"l": 56, "r": 20, "t": 32, "b": 48},
        legend={**legend, "bgcolor": CLEAR},
    )  # fmt: skip
    figure.update_traces(meta=INK, selector={"name": "ellipse"})
    figure.update_xaxes(
        constrain="domain", zeroline=False, automargin=True
    )  # the legend stands below its title
    figure.update_yaxes(constrain="domain", zeroline=False)
    if aside:
        figure.update_xaxes(title_text="", row=1, col=1)
    return figure


def _compare(rows: list[Row]) -> list[Comparison]:
    teachers = [row for row in rows if row["part"] == "teacher"]
    found = [
        Comparison(
            f"critical points of the teacher ({x:g}, {y:g})", str(count), str(row["critical_points"]),
            row["critical_points"] == count,
        )
        for (x, y, count), row in zip(TEACHERS, teachers, strict=True)
    ]  # fmt: skip
    for row in rows:
        if row["part"] == "polynomial":
            terms, bidegree = TERMS[str(row["curve"])]
            ours = f"{row['terms']} terms, bidegree ({row['bidegree']})"
            degree = "" if bidegree is None else f", bidegree ({bidegree[0]},{bidegree[1]})"
            same = row["terms"] == terms and (
                bidegree is None or row["bidegree"] == f"{bidegree[0]},{bidegree[1]}"
            )
            found.append(Comparison(f"discriminant: {row['curve']}", f"{terms} terms{degree}", ours, same))
    return found


EXPERIMENTS = (
    Experiment(
        "000-figure-2", "Figure 2", "Focal curves of an ellipse under varying metrics, focal surfaces of a cone.",
        cells, curves, present,
    ),
)  # fmt: skip
