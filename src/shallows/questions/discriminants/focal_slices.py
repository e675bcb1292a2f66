"""Focal loci in a plane of teachers, for any rank, degree and number of inputs: curves, followed numerically.

The unknowns are the student's parameters u, a null vector ν of the Hessian and the two free entries of the teacher; the
equations ∇L = 0, ∇²L ν = 0, ‖ν‖ = 1 leave a curve, which passes cusps of the focal locus smoothly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shallows.mathematics.newton import gauss_newton
from shallows.mathematics.tensors import coordinates
from shallows.model.problem import Problem
from shallows.questions.discriminants.loci import (
    FocalCloud,
    Row,
    entry_names,
    focal_row,
    make_cloud,
    student_chart,
)
from shallows.questions.discriminants.setting import require_power
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.rank_manifolds import ManifoldChart, MatricesOfRank, SumsOfPowers
from shallows.support.arguments import typed
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator
from shallows.support.tolerances import TINY

#: A point counts as focal below this defect; the equations also hold at the zero tensor, where it is about 1.
_FOCAL = 1e-6
#: The equations are solved to this share of the teacher's norm: far below `_FOCAL`, and a few hundred thousand ε, so
#: that sums over all entries reach it.
_SOLVED = 1e-10
#: The step of forward differences, a few √ε: their truncation (the step) and rounding (ε over it) are both small there.
_DIFFERENCE = 1e-7
#: Singular values of the Jacobian below this share of the largest are noise of the differences.
_NOISE = 1e-10
#: Steps along a curve, as a share of the window; one that fails is halved until it is 2⁻⁸ of that.
_STEP, _SHORTEST = 0.02, 1e-4
#: A chart of matrices is made anew when its parameters have moved this far from the base, where they are zero.
_FAR = 0.5
#: A curve is closed when it is back within this share of a step of its beginning, once it has had time to leave it.
CLOSED, AWAY = 0.7, 5


@typed
def focal_slice(
    problem: Problem,
    horizontal: tuple[str, float, float],
    vertical: tuple[str, float, float],
    starts: int = 20,
    steps: int = 400,
    rng: int | np.random.Generator = 0,
) -> FocalCloud:
    """Focal points with all entries of the teacher but two equal to the problem's, within a window.

    The unknowns are the student's parameters u, a null vector ν and the two entries; ∇L = 0, ∇²L ν = 0, ‖ν‖ = 1
    leave curves (paper 000, section 3.2). The rank is the problem's width. From `starts` random students the
    equations are solved by Gauss-Newton steps of least length; from each new solution the curve is followed both
    ways for up to `steps` steps. A picture of the locus, with no promise to be all of it.

    With two inputs and width 1 there is the exact discriminant to compare with:

    >>> problem = sh.Problem(np.diag([1.0, 1.0]), sh.IID.laplace(2), width=1)
    >>> cloud = sh.focal_slice(problem, ("t00", 0.5, 3.0), ("t11", 0.5, 3.0), starts=4, steps=4)
    >>> sorted(set((cloud.teachers[:, 2] / cloud.teachers[:, 0]).round(4).tolist()))
    [2.75]
    >>> sh.discriminants.rank_one(2).specialize(data=sh.IID.laplace(2), t01=0).factor()
    (11*t00 - 4*t11)^3 * (4*t00 - 11*t11)^3
    """
    require_power(problem)
    names = entry_names(problem.n, problem.degree)
    places = [_place(axis[0], names) for axis in (horizontal, vertical)]
    if places[0] == places[1]:
        raise InvalidProblem(
            f"Both axes are {horizontal[0]}; expected two different entries of {', '.join(names)}."
        )
    window = np.array([horizontal[1:], vertical[1:]], dtype=np.float64).T
    if not np.all(window[0] < window[1]):
        raise InvalidProblem(f"The window {horizontal}, {vertical} is empty; expected low < high.")
    draw = student_chart(problem.n, problem.width, problem.degree)
    source = generator(rng)
    target = np.array(problem.target_tensor().entries)
    rows: list[Row] = []
    branches: list[int] = []
    for _ in range(positive_integer("starts", starts)):
        target[places] = source.uniform(window[0], window[1])
        system = _System(_scaled(draw, source, target), problem.gram(), target.copy(), places)
        curve = _curve(system, window, rows, steps)
        branches += [max(branches, default=-1) + 1] * len(curve)
        rows += curve
    title = f"rank {problem.width}, degree {problem.degree}, {problem.data!r}, {horizontal[0]} and {vertical[0]} free"
    return make_cloud(title, problem.n, problem.degree, rows, branches)


def _place(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise InvalidProblem(f"unknown variable {name}: the teacher's entries are {', '.join(names)}.")
    return names.index(name)


@dataclass(frozen=True, eq=False)
class _System:
    """The equations in z = (u, ν, free entries) around one chart of students."""

    chart: ManifoldChart
    gram: Array
    target: Array
    places: list[int]

    @property
    def k(self) -> int:
        return self.chart.dimension

    def teacher(self, z: Array) -> Array:
        moved = self.target.copy()
        moved[self.places] = z[2 * self.k :]
        return moved

    def start(self) -> Array:
        """The chart's base point with the softest direction of the Hessian there."""
        z = np.concatenate([self.chart.base, np.zeros(self.k), self.target[self.places]])
        values, vectors = np.linalg.eigh(self._hessian(z)[0])
        z[self.k : 2 * self.k] = vectors[:, int(np.argmin(np.abs(values)))]
        return z

    def _hessian(self, z: Array) -> tuple[Array, Array]:
        u = z[: self.k]
        residual = self.gram @ (self.chart.value(u) - self.teacher(z))
        jacobian = self.chart.jacobian(u)
        return jacobian.T @ self.gram @ jacobian + self.chart.second(u, residual), jacobian.T @ residual

    def __call__(self, z: Array) -> Array:
        hessian, gradient = self._hessian(z)
        null = z[self.k : 2 * self.k]
        return np.concatenate([gradient, hessian @ null, [null @ null - 1]])

    def slopes(self, z: Array, value: Array) -> Array:
        """The Jacobian, by forward differences."""
        return np.array([(self(z + e) - value) / _DIFFERENCE for e in _DIFFERENCE * np.eye(len(z))]).T

    def solve(self, z: Array, steps: int) -> tuple[Array, Array] | None:
        """Gauss-Newton with steps of least length: the solution and the Jacobian there, or None."""
        scale = float(np.sqrt(max(float(self.target @ self.gram @ self.target), TINY)))

        def system(at: Array) -> tuple[Array, Array]:
            value = self(at)
            return value, self.slopes(at, value)

        def share(step: Array) -> float:
            return min(1.0, 1.0 / max(float(np.linalg.norm(step[: 2 * self.k])), TINY))

        for here in gauss_newton(system, z, steps, flat=_NOISE, share=share):
            if np.max(np.abs(here.value)) < _SOLVED * scale:
                return here.x, here.jacobian
        return None

    def row(self, z: Array) -> Row | None:
        """The focal point, unless the student has left the stratum or is the zero tensor."""
        try:
            geometry = LocalGeometry(self.chart, self.gram, z[: self.k])
        except InvalidProblem:
            return None
        row = focal_row(geometry, self.teacher(z))
        return row if row[3] < _FOCAL else None

    def rebased(self, z: Array) -> tuple[_System, Array]:
        """A chart around the current student, for charts of matrices that have turned far from their base."""
        if not isinstance(self.chart, MatricesOfRank) or np.linalg.norm(z[: self.k]) < _FAR:
            return self, z
        chart = MatricesOfRank(coordinates.symmetric_matrices(self.chart.value(z[: self.k])), self.chart.rank)
        system = _System(chart, self.gram, self.teacher(z), self.places)
        return system, system.start()


def _curve(system: _System, window: Array, known: list[Row], steps: int) -> list[Row]:
    """The curve through a random start, both ways, in order; empty when it is outside the window or known already."""
    found = system.solve(system.start(), 25)
    if found is None:
        return []
    row = system.row(found[0])
    if row is None or not _inside(row, system.places, window) or _near(row, known, system.places, window):
        return []
    ways = [_walk(system, *found, sign, window, steps) for sign in (-1.0, 1.0)]
    return [*reversed(ways[0]), row, *ways[1]]


def _walk(system: _System, z: Array, slopes: Array, sign: float, window: Array, steps: int) -> list[Row]:
    """Predict along the tangent, correct, stop at the window's edge or back at the start."""
    rows: list[Row] = []
    begin, size = z[2 * system.k :].copy(), float(np.min(window[1] - window[0]))
    tangent = sign * np.linalg.svd(slopes)[2][-1]
    length = _STEP * size
    student = system.chart.value(z[: system.k])
    while len(rows) < steps and length > _SHORTEST * size:
        pace = length / max(
            float(np.linalg.norm(tangent[2 * system.k :])), 0.1 * float(np.linalg.norm(tangent))
        )
        moved = system.solve(z + pace * tangent, 4)
        if moved is None or np.linalg.norm(moved[0] - z) > 3 * pace:
            length /= 2
            continue
        row = system.row(moved[0])
        if row is None or not _inside(row, system.places, window):
            break
        rows.append(row)
        try:
            fresh, at = system.rebased(moved[0])
        except InvalidProblem:  # the rank drops: the curve ends at the edge of the stratum
            break
        slopes = moved[1] if fresh is system else fresh.slopes(at, fresh(at))
        ahead = np.linalg.svd(slopes)[2][-1]
        heading = tangent[2 * system.k :]
        along = ahead @ tangent if fresh is system else ahead[2 * fresh.k :] @ heading
        tangent, system, z = (ahead if along > 0 else -ahead), fresh, at
        length = min(1.5 * length, _STEP * size)
        back = np.linalg.norm(z[2 * system.k :] - begin) + np.linalg.norm(row[1] - student)
        if len(rows) > AWAY and back < CLOSED * length:
            break
    return rows


def _inside(row: Row, places: list[int], window: Array) -> bool:
    point = row[0][places]
    return bool(np.all(point >= window[0]) and np.all(point <= window[1]))


def _near(row: Row, known: list[Row], places: list[int], window: Array) -> bool:
    """Whether a known point is as close as a step, student included."""
    size = 1.5 * _STEP * float(np.max(window[1] - window[0]))
    return any(
        np.linalg.norm(row[0][places] - other[0][places]) + np.linalg.norm(row[1] - other[1]) < size
        for other in known
    )


def _scaled(
    draw: Callable[[np.random.Generator], ManifoldChart], source: np.random.Generator, teacher: Array
) -> ManifoldChart:
    """A random student about as large as the teacher."""
    chart = draw(source)
    point = chart.value(chart.base)
    factor = float(np.linalg.norm(teacher)) / max(float(np.linalg.norm(point)), TINY)
    if isinstance(chart, MatricesOfRank):
        return MatricesOfRank(coordinates.symmetric_matrices(factor * point), chart.rank)
    assert isinstance(chart, SumsOfPowers)
    return SumsOfPowers(chart.neurons, factor * chart.signs, chart.degree)
