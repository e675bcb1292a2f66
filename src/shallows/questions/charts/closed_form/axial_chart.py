"""Charts of quadratic networks under axial metrics: Gaussian data with a mean, with biases, or polynomial activations.

Eckart and Young's theorem for them: every critical matrix keeps some eigenvectors of K(δ) = T + δ eeᵀ, e the axis, and
δ is a root of one equation in one variable for each set that is kept (`axial_roots`), or K(δ) has a repeated eigenvalue
(`axial_crossings`). All real critical points of every rank are found, and the list is proved to be complete, for
generic targets and special ones.

A generic target has C(n, r) + 2(n−1) C(n−2, r−1) complex points of rank r: F_I is a function on the curve of sets of r
eigenvalues over the line of δ, and has as many poles, one on each sheet at δ = ∞ and one at each ramification point,
where two eigenvectors become one that is isotropic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, product
from math import comb, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from shallows.mathematics.exact.rational_arrays import rational_matrix
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.questions.charts.chart_of_strata import chart_of_strata
from shallows.questions.charts.closed_form.axial_blind import BlindEquation, far_bound
from shallows.questions.charts.closed_form.axial_crossings import Crossing, Mixed, crossings, mixed_choices
from shallows.questions.charts.closed_form.axial_lower import has_lower_rank
from shallows.questions.charts.closed_form.axial_metric import AxialMetric, axial_metric
from shallows.questions.charts.closed_form.axial_pencil import Pencil, pencil_of
from shallows.questions.charts.closed_form.axial_roots import Equation, Root, isolated_roots, masks_of
from shallows.questions.charts.closed_form.full_rank import full_rank_stratum
from shallows.questions.charts.closed_form.spectrum import exact_matrix
from shallows.questions.charts.closure.closure import Closure
from shallows.questions.charts.matrices.balls import LowRankSystem
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.questions.charts.matrices.rank_r import point_of_family, points_at
from shallows.questions.charts.points.stratum import Counts, RealFamily, RealPoint, Stratum
from shallows.questions.charts.result import Chart
from shallows.questions.charts.singular_ends import End, examine
from shallows.questions.charts.units import Units
from shallows.support.checks import Array
from shallows.support.progress import status_line
from shallows.support.tolerances import EPSILON

#: Rounding of the bound on |δ|, from a square root of a fraction: far more than that.
ROUNDED_UP = 1 + 2.0**-40
#: Sets of eigenvectors of one rank at most: each is a point to certify, some ten milliseconds.
MOST_SETS = 5_000
#: Matrices of a family that a chart keeps.
SAMPLES = 3
#: Roots are known to fifteen digits, and matrices to ten of their largest entry: refining changes no more.
REFINED = 1e-6
#: A kept eigenvalue below this share of the largest is zero: S has lower rank.
VANISHES = 1e-9
THEOREM = "C(n,r) + 2(n−1)C(n−2,r−1) for generic targets: sets of eigenvalues of T + δ eeᵀ"
BLIND_THEOREM = "C(n−1,r) − 2C(n−1,r−1) + 2(n−1)C(n−2,r−1), generic targets: sets of eigenvalues of T + δ eeᵀ"


def axial_chart(problem: Problem, certify: bool, progress: bool = False) -> Chart | None:
    """The chart of a problem with an axial metric; None for others, and where something is not decided."""
    top = min(problem.width, problem.n)
    if problem.degree != 2 or max(comb(problem.n, rank) for rank in range(1, top + 1)) > MOST_SETS:
        return None
    units = Units.of(problem)
    metric = axial_metric(units.problem)
    setting = None if metric is None else AxialSetting.of(units.problem, metric, certify)
    if setting is None:
        return None
    strata: dict[int, Stratum] = {}
    for rank in range(1, top + 1):
        with status_line(f"rank {rank} of {top}", progress):
            full = rank == problem.n
            stratum = full_rank_stratum(units.problem, certify) if full else setting.stratum(rank)
        if stratum is None:
            return None
        strata[rank] = units.restored_part(stratum)
    return chart_of_strata(problem, strata, Closure(), method="closed-form")


class _Undecided(Exception):
    """Interval arithmetic left something open."""


@dataclass(frozen=True, eq=False)
class AxialSetting:
    """A problem, its metric, pencil and crossings, and a bound on |δ|; None where S is not seen on the axis."""

    problem: Problem
    metric: AxialMetric
    pencil: Pencil
    crossings: list[Crossing]
    bound: float | None
    zeros: int
    certify: bool
    system: LowRankSystem

    @classmethod
    def of(
        cls, problem: Problem, metric: AxialMetric, certify: bool, equations: LowRankEquations | None = None
    ) -> AxialSetting | None:
        """None where crossings are not decided, or the target is zero. `equations` are those that proofs are about."""
        T = exact_matrix(problem)
        if not T.any():
            return None
        pencil = pencil_of(metric, T)
        met = None if pencil is None else crossings(pencil)
        if pencil is None or met is None:
            return None
        equations = LowRankEquations(problem.n, 1) if equations is None else equations
        system = LowRankSystem.of(problem, equations, np.eye(problem.n))
        zeros = problem.n - int(rational_matrix(T).rank())
        bound = None if metric.is_blind() else _bound(metric, T)
        return cls(problem, metric, pencil, met, bound, zeros, certify, system)

    def stratum(self, rank: int) -> Stratum | None:
        """All critical matrices of one rank below n."""
        mixed = mixed_choices(self.metric, self.pencil, self.crossings, rank)
        if mixed is None:
            return None
        system = replace(self.system, equations=replace(self.system.equations, r=rank))
        isolated: list[Array] = []
        families: list[RealFamily] = []
        try:
            for matrices, dimension, text in chain(self._plain(rank), *map(self._between, mixed)):
                if dimension:
                    families.append(self._family(system, matrices, dimension, text))
                else:
                    isolated.append(matrices[0])
        except _Undecided:
            return None
        source = BLIND_THEOREM if self.bound is None else THEOREM
        counts = Counts(self._complex(rank), self._count(self.problem.n, rank), source)
        return Stratum(self._points(system, isolated), counts, families, [], "proved")

    def _count(self, m: int, rank: int) -> int:
        """How many sets of `rank` of m active eigenvalues are critical over C, with their multiplicities.

        F_I has a simple pole at each ramification point and, on each sheet, at δ = ∞; where S is not seen on the axis,
        it has a double zero there on sheets with the eigenvalue that is far away.
        """
        if not 0 <= rank <= m or (self.bound is None and rank == m):
            return 0
        branched = 2 * (m - 1) * comb(m - 2, rank - 1) if 0 < rank < m else 0
        if self.bound is not None:
            return comb(m, rank) + branched
        return comb(m - 1, rank) - (2 * comb(m - 1, rank - 1) if rank else 0) + branched

    def _complex(self, rank: int) -> int:
        """How many isolated points there are over C, with multiplicities: sets, and two a crossing beside them."""
        size, sizes = self.pencil.size, [p.size for p in self.pencil.passive]
        total = sum(
            self._count(size, rank - sum(counts)) for counts in product(*((0, count) for count in sizes))
        )
        for crossing in self.crossings:
            if sizes[crossing.place] == 1:
                others = [(0, count) for i, count in enumerate(sizes) if i != crossing.place]
                total += sum(2 * _choose(size - 1, rank - 1 - sum(counts)) for counts in product(*others))
        return total

    def _points(self, system: LowRankSystem, matrices: list[Array]) -> list[RealPoint]:
        """The points, refined and proved; as they are where Newton's method goes elsewhere, as at degenerate ones."""
        found = []
        for S, point in zip(matrices, points_at(system, matrices, self.certify), strict=True):
            gap = np.abs((point.vectors.T * point.signs) @ point.vectors - S).max()
            found.append(point if gap <= REFINED * np.abs(S).max() else point_of_family(system, S))
        return found

    def _family(self, system: LowRankSystem, matrices: list[Array], dimension: int, text: str) -> RealFamily:
        """A family; proved where it is an orbit of exact symmetries, as other families are."""
        point, equations = point_of_family(system, matrices[0]), system.equations
        if point.signature[1] < dimension:
            raise _Undecided
        end = End.of_matrix(matrices[0].astype(np.complex128), equations.r)
        inputs = None if equations.definite else self.problem.n - 1
        proved = examine(self.problem, equations.r, [end], True, inputs).families if self.certify else []
        if len(proved) == 1 and proved[0].dimension == dimension:
            point = proved[0].point
        return RealFamily(point, dimension, text, tuple(map(SymmetricTensor.from_matrix, matrices)))

    def _plain(self, rank: int) -> Iterator[tuple[list[Array], int, str]]:
        """Sets of eigenvectors of K(δ) at the roots of their equations."""
        sizes = [p.size for p in self.pencil.passive]
        for counts in product(*(range(size + 1) for size in sizes)):
            kept = rank - sum(counts)
            if not 0 <= kept <= self.pencil.size:
                continue
            masks = masks_of(self.pencil.size, kept)
            if self.bound is None and kept == self.pencil.size:
                continue  # e is kept, and so is a square that is not seen: a matrix of lower rank
            made = BlindEquation if self.bound is None else Equation
            equation = made(self.metric, self.pencil, masks, counts)
            bound = far_bound(equation) if self.bound is None else self.bound
            roots = None if bound is None else isolated_roots(equation, bound)
            if roots is None:
                raise _Undecided
            dimension = sum(q * (size - q) for q, size in zip(counts, sizes, strict=True))
            for root in roots:
                matrices = self._matrices(equation, root)
                if matrices:
                    yield matrices, dimension, _text(counts, self.pencil, "any of their eigenvectors")

    def _matrices(self, equation: Equation, root: Root) -> list[Array]:
        """Σ (μ_i − ρ) u_i u_iᵀ with the vectors of passive eigenvalues turned at random; none where S = T."""
        shift = float(
            brentq(lambda at: equation.in_doubles(at)[0][root.choice], root.low, root.high, xtol=EPSILON)
        )
        values, vectors = self.pencil.eigenpairs(shift)
        rho = float(equation.in_doubles(shift)[1][root.choice])
        mask, passive = equation.masks[root.choice], self.pencil.passive
        eigenvalues = [
            *values[mask],
            *(p.value for p, q in zip(passive, equation.counts, strict=True) for _ in range(q)),
        ]
        if self._falls(np.array(eigenvalues) - rho, equation, root, shift):
            return []
        found = []
        for turn in range(SAMPLES):
            kept = [p.turned(turn)[:, :q] for p, q in zip(passive, equation.counts, strict=True)]
            found.append(self._matrix(np.hstack([vectors[:, mask], *kept]), np.array(eigenvalues) - rho))
        return found

    def _falls(self, kept: Array, equation: Equation, root: Root, shift: float) -> bool:
        """Whether a kept eigenvalue is zero, so that S has lower rank and is listed there: decided exactly.

        S = T is one case: at δ = 0, when all that are left out are zeros of T.
        """
        values = [abs(p.value) for p in self.pencil.passive]
        size = max([float(np.abs(self.pencil.jacobi.mid).max()), *values])
        if np.abs(kept).min() > VANISHES * size:
            return False
        lower = has_lower_rank(equation, root, shift)
        if lower is not None:
            return lower
        at_zero, left = self.pencil.at(np.zeros(1)), ~equation.masks[root.choice]
        zero = (at_zero.lower[0] <= 0) & (at_zero.upper[0] >= 0)
        passive = list(zip(self.pencil.passive, equation.counts, strict=True))
        total = int(zero.sum()) + sum(p.size for p, _ in passive if p.ball.contains(0))
        others = bool(np.any(left & ~zero)) or any(q < p.size for p, q in passive if not p.ball.contains(0))
        if others or total != self.zeros or not root.low < 0 < root.high:
            raise _Undecided
        return True

    def _between(self, mixed: Mixed) -> Iterator[tuple[list[Array], int, str]]:
        """√x u_i ± √(1−x) v₁ and v₂, …, v_q at a crossing: the two signs are apart where there is only one v."""
        place, passive = mixed.crossing.place, self.pencil.passive
        met, q = passive[place], mixed.counts[place]
        others = [(p, k) for i, (p, k) in enumerate(zip(passive, mixed.counts, strict=True)) if i != place]
        dimension = q * (met.size + 1 - q) - 1 + sum(k * (p.size - k) for p, k in others)
        values, vectors = self.pencil.eigenpairs(float(mixed.crossing.shift.mid))
        kept = [*values[mixed.kept], *[met.value] * q, *(p.value for p, k in others for _ in range(k))]
        for sign in (1.0, -1.0) if met.size == 1 else (1.0,):
            found = []
            for turn in range(SAMPLES):
                V = met.turned(turn)[:, :q].copy()
                V[:, 0] = (
                    sqrt(mixed.share) * vectors[:, mixed.crossing.branch]
                    + sign * sqrt(1 - mixed.share) * V[:, 0]
                )
                U = np.hstack([vectors[:, mixed.kept], V, *(p.turned(turn)[:, :k] for p, k in others)])
                found.append(self._matrix(U, np.array(kept) - mixed.rho))
            yield found, dimension, _text(mixed.counts, self.pencil, "eigenvectors at one angle to the axis")

    def _matrix(self, vectors: Array, values: Array) -> Array:
        """Σ λ u uᵀ in the problem's coordinates, S = R⁻ᵀS′R⁻¹."""
        U = np.linalg.solve(self.pencil.root.T, vectors)
        return np.asarray((U * values) @ U.T)


def _choose(n: int, k: int) -> int:
    return comb(n, k) if k >= 0 else 0


def _text(counts: tuple[int, ...], pencil: Pencil, which: str) -> str:
    parts = [f"{q} of {p.size} at {p.value:.6g}" for p, q in zip(pencil.passive, counts, strict=True) if q]
    return f"repeated eigenvalues across the axis, {', '.join(parts)} kept: {which}"


def _bound(metric: AxialMetric, T: NDArray[Any]) -> float:
    """|δ| at most: (h/α)|q₁₂τ + q₂₂d|, for ⟨D, D⟩ ≤ ⟨T, T⟩ at critical points."""
    product_ = metric.second @ T
    tau, along = Fraction(np.trace(product_)), Fraction(metric.axis @ T @ metric.axis)
    energy = (
        metric.alpha * Fraction(np.trace(product_ @ product_))
        + metric.trace * tau**2
        + 2 * metric.mixed * tau * along
        + metric.along * along**2
    )
    return float(metric.height / metric.alpha) * sqrt(float(metric.reach(energy))) * ROUNDED_UP
