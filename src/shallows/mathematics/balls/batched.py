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
        """Values and Jacobians at the boxes x: ∂ⱼx^e is eⱼ xⱼ^(eⱼ−1) between the products of the factors around it."""
        powers, n = self._powers(x), self.n
        factors = [powers[self.exponents[:, j], :, j].T for j in range(n)]
        before, after = list(factors), list(factors)
        for j in range(1, n):
            before[j] = before[j - 1] * factors[j]
            after[n - 1 - j] = factors[n - 1 - j] * after[n - j]
        columns = []
        for j in range(n):
            rows = np.flatnonzero(self.exponents[:, j])
            times = self.exponents[rows, j]
            slope = powers[times - 1, :, j].T * Ball.exact(times.astype(np.float64))
            if j > 0:
                slope = before[j - 1][:, rows] * slope
            if j < n - 1:
                slope = slope * after[j + 1][:, rows]
            columns.append(slope @ self.coefficients[rows])
        return before[-1] @ self.coefficients, stacked([column[:, :, None] for column in columns], axis=2)

    def values(self, x: Ball) -> Ball:
        """The values alone."""
        powers = self._powers(x)
        product = powers[self.exponents[:, 0], :, 0].T
        for j in range(1, self.n):
            product = product * powers[self.exponents[:, j], :, j].T
        return product @ self.coefficients

    def _powers(self, x: Ball) -> Ball:
        """1, x, x², …, one after the other."""
        powers = [Ball.exact(np.ones(x.mid.shape, x.mid.dtype))]
        for k in range(int(self.exponents.max(initial=0))):
            powers.append(powers[-1] * x if k else x)
        return stacked([power[None] for power in powers])
