"""A discriminant tried at random teachers and metrics: does its sign say what another engine counts?

The sign of P allows certain numbers of real critical points (`Discriminant.real_counts`), and a slice claims one
number, and one of local minima, at every grid point. Both come from the zeros of one binary form. Here the critical
points are found again without it: by `chart(method="homotopy")`, which solves the equations of the rank-one tensors
themselves, or, on an ellipse, from its equation and the condition that G(s − t) is normal to it. Along a random line of
teachers P must also have the degree that it claims, in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.support.checks import Array
from shallows.support.errors import IncompleteChart, InvalidProblem, NotConverged

if TYPE_CHECKING:
    from shallows.questions.discriminants.curves import EllipseCurve
    from shallows.questions.discriminants.polynomial import Discriminant
    from shallows.questions.discriminants.regions import LandscapeRegions

#: Numbers are drawn with this denominator, teachers between ±REACH, the metric's diagonal in [1/2, 3], the rest in ±1.
DENOMINATOR = 997
REACH = 3
#: So often is a metric drawn before it is said that none is positive definite.
DRAWS = 10_000


@dataclass(frozen=True)
class Trials:
    """How many of `count` landscapes agreed; `degree` along a random line (None: P has no teacher left to vary)."""

    seed: int
    count: int
    agreed: int
    degree: int | None
    expected_degree: int | None
    disagreements: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether everything agreed."""
        return self.agreed == self.count and self.degree == self.expected_degree

    def __str__(self) -> str:
        lines = [f"tried with seed {self.seed}: {self.agreed} of {self.count} landscapes agree with homotopy"]
        if self.degree is not None:
            found = f"degree {self.degree} along a random line of teachers"
            lines[0] += f"; {found}" + (
                "" if self.degree == self.expected_degree else f", not {self.expected_degree}"
            )
        return "\n".join([*lines, *(f"  disagrees: {text}" for text in self.disagreements)])


def try_polynomial(P: Discriminant, count: int, seed: int) -> Trials:
    """Random teachers (and metrics, where P has them as variables): the sign of P against homotopy's count."""
    rng = np.random.default_rng(seed)
    P = _reduced_if_zero(P, rng)
    wrong = []
    for number in range(count):
        values = _drawn(P, rng)
        allowed = P.real_counts(**values)  # type: ignore[arg-type]
        real, _ = _counted(P, values, seed + number)
        if real not in allowed:
            wrong.append(_sentence(values, f"{real} real critical points", f"{allowed} by the sign of P"))
    degree, expected = _degrees(P, rng)
    return Trials(seed, count, count - len(wrong), degree, expected, tuple(wrong))


def try_slice(regions: LandscapeRegions, count: int, seed: int) -> Trials:
    """Random grid points of a slice: what the picture says there against homotopy's count, local minima too."""
    rng = np.random.default_rng(seed)
    places = np.argwhere(regions.labels > 0)
    wrong = []
    for number, (i, j) in enumerate(places[rng.integers(len(places), size=count)]):
        values: dict[str, object] = {
            regions.horizontal: float(regions.x[j]),
            regions.vertical: float(regions.y[i]),
        }
        claimed = int(regions.real_counts[i, j]), int(regions.local_minima[i, j])
        found = _counted(regions.discriminant, values, seed + number)
        if found != claimed:
            text = "{} real critical points, {} local minima"
            wrong.append(_sentence(values, text.format(*found), f"{text.format(*claimed)} in the picture"))
    return Trials(seed, count, count - len(wrong), None, None, tuple(wrong))


def _reduced_if_zero(P: Discriminant, rng: np.random.Generator) -> Discriminant:
    """P; without the complex critical points that always coincide, where they make P zero for every teacher."""
    zero = not P.metric and P.sign(**_drawn(P, rng)) == 0  # type: ignore[arg-type]
    return P.reduced() if zero else P


def _sentence(values: dict[str, object], found: str, claimed: str) -> str:
    place = ", ".join(f"{name} = {value}" for name, value in values.items())
    return f"{found} by homotopy, {claimed}, at {place}"


def _drawn(P: Discriminant, rng: np.random.Generator) -> dict[str, object]:
    """A teacher, and a positive definite metric where the metric is free."""
    teacher: dict[str, object] = {name: _number(rng, -REACH, REACH) for name in P.teacher}
    diagonal = {name for k in range(len(P.gram)) for name in P.metric if _has(P.gram[k][k], name)}
    for _ in range(DRAWS):
        metric = {name: _number(rng, *((0.5, 3.0) if name in diagonal else (-1.0, 1.0))) for name in P.metric}
        try:
            P.numbers(**teacher, **metric)  # type: ignore[arg-type]
        except InvalidProblem:
            continue
        return teacher | metric
    raise InvalidProblem(
        f"no positive definite metric was found in {DRAWS} draws. Fix: --trials 0, or --metric."
    )


def _has(entry: Any, name: str) -> bool:
    """Whether a variable is in a polynomial."""
    return name in entry.context().names() and entry.degrees()[entry.context().names().index(name)] > 0


def _number(rng: np.random.Generator, low: float, high: float) -> Fraction:
    return Fraction(int(rng.integers(int(low * DENOMINATOR), int(high * DENOMINATOR) + 1)), DENOMINATOR)


def _degrees(P: Discriminant, rng: np.random.Generator) -> tuple[int | None, int | None]:
    """The degree of P along a random line of teachers, by exact differences, and the one it must have."""
    if not P.teacher:
        return None, None
    expected = P.bidegree[0] if P.expanded else P.curve.bidegree[0]
    start, direction = _drawn(P, rng), {name: _number(rng, -REACH, REACH) for name in P.teacher}
    values = [
        P.evaluate(**{name: value + s * direction.get(name, 0) for name, value in start.items()})  # type: ignore[arg-type,operator]
        for s in range(expected + 3)
    ]
    return _degree(values), expected


def _degree(values: list[Fraction]) -> int:
    """The degree of the polynomial with these values at 0, 1, 2, …: the last difference that is not all zero."""
    degree = -1
    for order in _differences(values):
        degree += any(order)
    return degree


def _differences(values: list[Fraction]) -> Iterator[list[Fraction]]:
    while values:
        yield values
        values = [after - before for before, after in pairwise(values)]


def _counted(P: Discriminant, values: dict[str, object], seed: int) -> tuple[int | None, int | None]:
    """Real critical points and local minima by homotopy; None when it does not decide."""
    from shallows.questions.discriminants.curves import EllipseCurve

    gram, target = P.numbers(**values)  # type: ignore[arg-type]
    try:
        if isinstance(P.curve, EllipseCurve):
            return _on_ellipse(P.curve, gram, target, seed)
        return _of_rank_one(gram, target, seed)
    except (IncompleteChart, NotConverged):
        return None, None


def _of_rank_one(gram: list[list[Fraction]], target: list[Fraction], seed: int) -> tuple[int, int]:
    from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
    from shallows.model.data.metric import Metric
    from shallows.model.problem import Problem
    from shallows.questions.charts.chart import chart

    degree = len(target) - 1
    tensor = SymmetricTensor(np.array(target, dtype=np.float64), 2, degree)
    problem = Problem(tensor, Metric(2, degree, np.array(gram, dtype=np.float64)), width=1)
    found = chart(problem, method="homotopy", rng=seed)
    minima = sum(point.rank == 1 and point.index == 0 for point in found.points)
    return found.real_count.get(1, 0), minima


def _on_ellipse(
    curve: EllipseCurve, gram: list[list[Fraction]], target: list[Fraction], seed: int
) -> tuple[int | None, int | None]:
    """s = (x, y) is critical when G(s − t) and the normal (qx, py) of qx² + py² = pq are parallel."""
    from shallows.mathematics.homotopy.solve import solve

    u = f"(({gram[0][0]})*(x - ({target[0]})) + ({gram[0][1]})*(y - ({target[1]})))"
    v = f"(({gram[1][0]})*(x - ({target[0]})) + ({gram[1][1]})*(y - ({target[1]})))"
    p, q = f"({curve.p})", f"({curve.q})"
    found = solve([f"{q}*x^2 + {p}*y^2 - {p}*{q}", f"{u}*{p}*y - {v}*{q}*x"], rng=seed)
    if found.undecided.count or found.isolated.count != curve.degree:
        return None, None
    students = found.real.points
    return len(students), int(np.sum(_bends(curve, gram, target, students) > 0))


def _bends(curve: EllipseCurve, gram: list[list[Fraction]], target: list[Fraction], students: Array) -> Array:
    """Half the second derivative of the loss along s = (√p cos θ, √q sin θ): s′ᵀGs′ − (s − t)ᵀGs, since s″ = −s."""
    G, t = np.array(gram, dtype=np.float64), np.array(target, dtype=np.float64)
    a, b = curve.roots
    speed = students[:, ::-1] * np.array([-a / b, b / a])
    bends: Array = np.einsum("ki,ij,kj->k", speed, G, speed) - np.einsum(
        "ki,ij,kj->k", students - t, G, students
    )
    return bends
