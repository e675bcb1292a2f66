"""Polynomial systems at many boxes at once, in float64 ball arithmetic: what `contraction` proves roots with.

An evaluator takes discs of shape (m, n), one box a row, and returns balls that contain the values (m, n) and the
Jacobians (m, n, n). Coefficients are rationals; their rounding to doubles is inside the radii.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from shallows.mathematics.balls.arrays import Ball, stacked

if TYPE_CHECKING:
    from shallows.mathematics.homotopy.rank_one import RankOneSystem
    from shallows.mathematics.homotopy.systems import PolynomialSystem


def batch_evaluator(system: Any) -> BatchEvaluator | None:
    """The evaluator a system brings by its own `ball_batch()`; None when it has none."""
    return system.ball_batch() if hasattr(system, "ball_batch") else None


class BatchEvaluator(Protocol):
    """Values and Jacobians of an exact system at many boxes."""

    n: int
    is_real: bool

    def __call__(self, x: Ball) -> tuple[Ball, Ball]:
        """Values (m, n) and Jacobians (m, n, n) at the boxes x, (m, n)."""
        ...

    def values(self, x: Ball) -> Ball:
        """The values alone."""
        ...


class RankOneBatch:
    """K(v,v,v) − Bv and 3K(v,v) − B: the products vₖvₗ times one N×N matrix."""

    is_real = True

    def __init__(self, system: RankOneSystem) -> None:
        self.n = system.n
        self.tensor = Ball.of_fractions(system.packed()).T
        self.linear = Ball.of_fractions(system.linear)
        self.rows, self.columns = np.array(system.pairs).T
        place = np.zeros((self.n, self.n), dtype=np.intp)
        place[self.rows, self.columns] = place[self.columns, self.rows] = np.arange(len(self.rows))
        self.place = place

    def mirrored(self) -> RankOneBatch:
        """The same for −B."""
        twin = copy(self)
        twin.linear = -self.linear
        return twin

    def __call__(self, x: Ball) -> tuple[Ball, Ball]:
        """Values and Jacobians at the boxes x."""
        form = self._form(x)
        return self._value(form, x), form * Ball.exact(3.0) - self.linear

    def values(self, x: Ball) -> Ball:
        """The values alone."""
        return self._value(self._form(x), x)

    def _form(self, x: Ball) -> Ball:
        """Q(v) = K(v, v, ·, ·)."""
        return ((x[:, self.rows] * x[:, self.columns]) @ self.tensor)[:, self.place]

    def _value(self, form: Ball, x: Ball) -> Ball:
        return (form @ x[:, :, None])[:, :, 0] - x @ self.linear


class PolynomialBatch:
    """A polynomial system: each distinct monomial once, and the matrix of its coefficients."""

    def __init__(self, system: PolynomialSystem) -> None:
        self.n, self.is_real = system.n, system.is_real
        keys = sorted({key for terms in system.equations for key in terms})
        self.exponents = np.array(keys, dtype=np.intp).reshape(len(keys), self.n)
        parts = [[terms.get(key) for terms in system.equations] for key in keys]
        real = Ball.of_fractions([[0 if c is None else c.real for c in row] for row in parts])
        self.coefficients = real
        if not self.is_real:
            imaginary = Ball.of_fractions([[0 if c is None else c.imag for c in row] for row in parts])
            self.coefficients = Ball(real.mid + 1j * imaginary.mid, real.rad + imaginary.rad)

    def __call__(self, x: Ball) -> tuple[Ball, Ball]:
        """Values and Jacobians at the boxes x."""
        powers = self._powers(x)
        value = self._monomials(powers, self.exponents) @ self.coefficients
        columns = []
        for j in range(self.n):
            lower = self.exponents.copy()
            lower[:, j] = np.maximum(lower[:, j] - 1, 0)
            factors = Ball.exact(self.exponents[:, j].astype(np.float64))
            columns.append((self._monomials(powers, lower) * factors) @ self.coefficients)
        return value, stacked([column[:, :, None] for column in columns], axis=2)

    def values(self, x: Ball) -> Ball:
        """The values alone."""
        return self._monomials(self._powers(x), self.exponents) @ self.coefficients

    def _powers(self, x: Ball) -> list[Ball]:
        """1, x, x², …"""
        powers = [Ball.exact(np.ones((*x.mid.shape, 1), x.mid.dtype))[..., 0]]
        for _ in range(int(self.exponents.max(initial=0))):
            powers.append(powers[-1] * x)
        return powers

    def _monomials(self, powers: list[Ball], exponents: Any) -> Ball:
        """x^e for each row of exponents, (m, M)."""
        table = stacked([power[None] for power in powers])
        product = table[exponents[:, 0], :, 0].T
        for j in range(1, self.n):
            product = product * table[exponents[:, j], :, j].T
        return product
