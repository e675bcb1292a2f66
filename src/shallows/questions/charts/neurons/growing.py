"""Losses that are polynomials and grow on all sides: the places of their critical points, in boxes.

For L(u) of degree D whose highest part is positive in all directions, critical points are in a cube, or u = v/σ with v
on a face of one, v_face = 1, and σ of either sign. With the parts L_k of degree k they are zeros of

    u·∇L = Σ k L_k(v) σ^(D−k),    ∂_v Σ L_k(v) σ^(D−k),

the first of which does not vanish at σ = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.taped import Taped
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.neurons.polynomials import Polynomial, Sums, combination, product, slope
from shallows.support.checks import Array

#: The cube that is searched first, in sizes at which the highest part is as large as the target: nearly all critical
#: points are in it, the others beyond.
ROOM = 1.5
#: The faces' boxes overlap the cube by this share.
OVERLAP = 2.0**-20


def loss_of(functions: Sequence[Polynomial], exact: ExactLoss) -> Polynomial:
    """s·Gs − 2s·b, the coordinates of s being polynomials."""
    halves = [combination(list(row), functions) for row in exact.gram]
    products = [product(p, q) for p, q in zip(functions, halves, strict=True)]
    weights = [Fraction(1)] * len(functions) + [-2 * b for b in exact.right]
    return combination(weights, [*products, *functions])


def patches(loss: Polynomial, energy: float) -> Iterator[Patch]:
    """The cube, whose size goes with that of the target, and what lies beyond each of its faces."""
    M, degree = len(next(iter(loss))), max(map(sum, loss))
    least = min(c for row, c in loss.items() if max(row) == degree)
    reach = ROOM * max(1.0, float((energy / float(least)) ** (1 / degree)))
    side = np.full(M, reach)
    yield Patch(Gradient([slope(loss, j) for j in range(M)]), Intervals(-side, side))
    side = np.ones(M)
    side[0] = (1 + OVERLAP) / reach
    for face in range(M):
        yield Patch(Gradient(_beyond(loss, degree, face)), Intervals(-side, side), face)


def _beyond(loss: Polynomial, degree: int, face: int) -> list[Polynomial]:
    whole = {(degree - sum(row), *row[:face], *row[face + 1 :]): c for row, c in loss.items()}
    radial = {row: c * (degree - row[0]) for row, c in whole.items() if row[0] != degree}
    return [radial, *(slope(whole, j) for j in range(1, len(next(iter(loss)))))]


class Gradient(Taped):
    """Polynomial equations.

    >>> equations = Gradient([{(2, 0): Fraction(1), (0, 1): Fraction(-1)}, {(1, 1): Fraction(3)}])
    >>> equations(Intervals.exact(np.array([[2.0, 1.0]])), False)[0].mid
    array([[3., 6.]])
    """

    def __init__(self, equations: Sequence[Polynomial]) -> None:
        self.n = len(equations)
        self.equations = equations

    def values(self, box: Any) -> list[Intervals]:
        """Each."""
        return list(map(Sums(box, self.n), self.equations))

    def slopes(self, box: Any) -> list[Intervals]:
        """By each unknown."""
        return [Sums(box, self.n)(slope(p, j)) for p in self.equations for j in range(self.n)]


@dataclass(frozen=True, eq=False)
class Patch:
    """Equations in u, or on a face in (σ, v), v_face = 1, and the boxes they are asked about."""

    system: Gradient
    region: Intervals
    face: int | None = None

    def point(self, x: Array) -> Array:
        """u."""
        return x if self.face is None else np.insert(x[1:], self.face, 1.0) / x[0]

    def holds(self, u: Intervals, domain: Intervals) -> bool:
        """Whether a small box of u, (1, M), lies in a domain of the unknowns."""
        if self.face is not None:
            size = u[:, self.face : self.face + 1]
            if size.has_zero.any():
                return False
            lo, hi = 1 / size.hi, 1 / size.lo
            inverse = Intervals(np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf))
            columns = [u[:, j : j + 1] * inverse for j in range(u.lo.shape[1]) if j != self.face]
            parts = [inverse, *columns]
            u = Intervals(np.hstack([p.lo for p in parts]), np.hstack([p.hi for p in parts]))
        return bool(np.all(u.lo >= domain.lo) and np.all(u.hi <= domain.hi))
