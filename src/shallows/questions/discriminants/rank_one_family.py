"""All rank-one critical points of any (teacher, metric), n inputs and degree d, from one solved member of the family.

Over C, λ w^⊗d = v^⊗d, and the critical v ≠ 0 of ‖v^⊗d − t‖² solve ∇q(v) = 2 ∇p(v) with q(v) = ⟨v^⊗d, v^⊗d⟩ and
p(v) = ⟨v^⊗d, t⟩. There are ((2d−1)ⁿ − (d−1)ⁿ)/d of them up to d-th roots of unity. A generic complex member is solved
once; a parameter homotopy carries its solutions to every other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.families import PolynomialFamily
from shallows.mathematics.homotopy.parameter import random_parameters, solve_member
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.mathematics.same_points import classes
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.questions.geometry.manifolds.rank_manifolds import SumsOfPowers
from shallows.support.checks import Array
from shallows.support.errors import IncompleteChart
from shallows.support.tolerances import TINY

#: A tensor is real when its imaginary part is below this share of the largest tensor: end points are polished to about
#: 1e-12, and a conjugate pair is as close to its real part as this only where two real points are about to meet.
REAL_TOLERANCE = 1e-8
#: Two tensors are one below this share of the largest: a double one is found twice, each time to about √ε.
_SAME = 1e-7
#: v = 0 is a solution of multiplicity (d−1)ⁿ, no critical point, and found to about √ε when it is not a simple one; the
#: coefficients have size 1, and so have the others.
_ZERO = 1e-7
#: How far from rank one, relatively, the real part of a tracked tensor may be: what √ε does to it at a double point,
#: and enough to start from.
_RANK_ONE = 1e-4
#: So many generic members are tried: a member is generic with probability one, and paths are lost by chance.
_MEMBERS = 3
Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class RankOnePoints:
    """The critical points of one member: complex tensors (one a row), which are real, and their index if so."""

    tensors: Complex
    real: NDArray[np.bool_]
    indices: NDArray[np.int64]
    neurons: Array
    signs: Array

    @property
    def real_count(self) -> int:
        """The number of real critical points."""
        return int(np.sum(self.real))

    @property
    def local_minima(self) -> int:
        """How many of them have index 0 on the cone of rank-one tensors."""
        return int(np.sum(self.indices[self.real] == 0))


class RankOneFamily:
    """The family for n inputs and degree d; `RankOneFamily.of(n, d)` is solved once and kept."""

    def __init__(self, n: int, degree: int) -> None:
        self.n, self.degree = n, degree
        self.family = cast(Any, PolynomialFamily(_system(n, degree)))
        self.expected = ((2 * degree - 1) ** n - (degree - 1) ** n) // degree
        for seed in range(_MEMBERS):
            self.base = random_parameters(self.family, np.random.default_rng(seed))
            found = solve(
                self.family.member(self.base.tolist()), rng=seed, on_incomplete="return"
            ).finite.points
            self.solutions = found[np.max(np.abs(found), axis=1) > _ZERO]
            if len(self.solutions) == self.expected * degree:
                return
        raise IncompleteChart(
            f"{len(self.solutions)} of {self.expected * degree} solutions of a generic member were found, in the last "
            f"of {_MEMBERS} attempts. Fix: fewer inputs or a lower degree; sh.chart solves one problem of this size."
        )

    @staticmethod
    @lru_cache(maxsize=8)
    def of(n: int, degree: int) -> RankOneFamily:
        """The family, solved at a generic member."""
        return RankOneFamily(n, degree)

    def parameters(self, gram: Array, target: Array) -> Array:
        """The coefficients of q and of p."""
        places = coordinates.product_table(self.n, self.degree, self.degree)
        norm = np.zeros(coordinates.dimension(self.n, 2 * self.degree))
        np.add.at(norm, places, gram)
        return np.concatenate([norm, gram @ target])

    def at(self, gram: Array, target: Array, rng: int = 0) -> RankOnePoints:
        """All critical points for this metric and teacher; tensors that coincide (to `_SAME`) are listed as often."""
        values = self.parameters(gram, target)
        size = float(np.max(np.abs(values)))
        found = solve_member(
            self.family,
            self.solutions,
            self.base.tolist(),
            (values / size).tolist(),
            rng,
            detour=False,
            on_incomplete="return",
        )
        points = np.concatenate([found.finite.points, found.singular.points])
        points = points[np.max(np.abs(points), axis=1, initial=0.0) > _ZERO]
        tensors = self._distinct(points)
        return self._classify(tensors, gram, target)

    def _distinct(self, points: Complex) -> Complex:
        """The tensors v^⊗d, one an orbit v ↦ ζv."""
        powers = _powers(points, self.degree)
        scale = float(np.max(np.abs(powers), initial=TINY))
        return powers[[rows[0] for rows in classes(powers, _SAME * scale)]]

    def _classify(self, tensors: Complex, gram: Array, target: Array) -> RankOnePoints:
        scale = float(np.max(np.abs(tensors), initial=TINY))
        real = np.max(np.abs(tensors.imag), axis=1, initial=0.0) <= REAL_TOLERANCE * scale
        indices = np.full(len(tensors), -1, dtype=np.int64)
        neurons, signs = np.zeros((len(tensors), self.n)), np.ones(len(tensors))
        for k in np.flatnonzero(real):
            neurons[k], signs[k] = real_neuron(tensors[k].real, self.n, self.degree)
            curvatures = np.linalg.eigvalsh(self.hessian(neurons[k], float(signs[k]), gram, target))
            indices[k] = signature(curvatures)[2]
        return RankOnePoints(tensors, real, indices, neurons, signs)

    def gradient(self, u: Array, sign: float, gram: Array, target: Array) -> Array:
        """Half the gradient of ‖ε u^⊗d − t‖² in u."""
        slopes = coordinates.monomials_jvp(u, np.eye(self.n), self.degree)
        return np.asarray(slopes @ gram @ (coordinates.monomials(u, self.degree) - sign * target))

    def hessian(self, u: Array, sign: float, gram: Array, target: Array) -> Array:
        """Half the Hessian: ⟨∂ᵢx, ∂ⱼx⟩ + ⟨x − εt, ∂ᵢ∂ⱼx⟩ with x = u^⊗d."""
        slopes = coordinates.monomials_jvp(u, np.eye(self.n), self.degree)
        covector = gram @ (coordinates.monomials(u, self.degree) - sign * target)
        first = coordinates.gradient_matrix(covector, self.n, self.degree)
        twice = coordinates.gradient_matrix(first.T, self.n, self.degree - 1)
        return np.asarray(slopes @ gram @ slopes.T + coordinates.monomials(u, self.degree - 2) @ twice)


def real_neuron(entries: Array, n: int, degree: int) -> tuple[Array, float]:
    """u and ε with ε u^⊗d = the real rank-one tensor."""
    chart = SumsOfPowers.rank_one(SymmetricTensor(entries, n, degree), tolerance=_RANK_ONE)
    return chart.neurons[0], float(chart.signs[0])


def _powers(points: Complex, degree: int) -> Complex:
    table = coordinates.exponents(points.shape[1], degree)
    return np.asarray(np.prod(points[:, None, :] ** table[None], axis=2))


def _system(n: int, degree: int) -> PolynomialSystem:
    """∂ᵢq − 2∂ᵢp = 0, the coefficients of q and p being parameters."""
    norm, pairing = coordinates.exponents(n, 2 * degree), coordinates.exponents(n, degree)
    count = len(norm) + len(pairing)
    rows: list[dict[tuple[int, ...], int]] = []
    for i in range(n):
        row: dict[tuple[int, ...], int] = {}
        for table, offset, factor in ((norm, 0, 1), (pairing, len(norm), -2)):
            for k, powers in enumerate(table.tolist()):
                if powers[i]:
                    lowered = [e - (j == i) for j, e in enumerate(powers)]
                    parameter = [int(j == offset + k) for j in range(count)]
                    row[tuple(lowered + parameter)] = factor * powers[i]
        rows.append(row)
    return PolynomialSystem.read(rows, [f"v{i}" for i in range(n)], [f"c{k}" for k in range(count)])
