"""The critical equations of limits at many boxes at once, in float64 ball arithmetic.

s is a sum of terms c ∏ x_p^e in the parameters of merged neurons; with e = G s − b and D = ∂s the values are D e, and
the Jacobians D G Dᵀ plus the second derivatives of the terms weighted by e.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.balls.arrays import Ball, stacked
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closure.parameterization import Parameterization


class MergedBatch:
    """Values and Jacobians at discs (m, unknowns); the Jacobian is half the Hessian of ℓ at a solution."""

    is_real = True

    def __init__(self, map_: Parameterization, exact: ExactLoss) -> None:
        self.n, self.degree = map_.unknowns, map_.degree
        terms = list(map_.terms)
        self.exponents = np.zeros((len(terms), self.n), dtype=np.intp)
        for k, term in enumerate(terms):
            for p, exponent in term.factors:
                self.exponents[k, p] = exponent
        self.entry = np.array([term.entry for term in terms])
        self.coefficients = Ball.of_fractions([[term.coefficient for term in terms]])
        chosen = np.zeros((len(terms), map_.entries))
        chosen[np.arange(len(terms)), self.entry] = 1.0
        self.chosen = Ball.exact(chosen)
        self.gram = Ball.of_fractions(exact.gram.tolist())
        self.right = Ball.of_fractions([exact.right.tolist()])

    def _powers(self, x: Ball) -> Ball:
        """x_p^e for e = 0 … d, (m, unknowns, d + 1)."""
        table = [Ball.exact(np.ones(x.mid.shape, x.mid.dtype))]
        for _ in range(self.degree):
            table.append(table[-1] * x)
        return stacked([Ball(power.mid[:, :, None], power.rad[:, :, None]) for power in table], axis=2)

    def _terms(self, powers: Ball, down: tuple[int, ...] = ()) -> Ball:
        """∂ of all terms in the parameters `down`, coefficients and all, (m, terms)."""
        exponents, factor = self.exponents.copy(), np.ones(len(self.exponents))
        for p in down:
            factor *= exponents[:, p]
            exponents[:, p] = np.maximum(exponents[:, p] - 1, 0)
        product = self.coefficients * Ball.exact(factor)  # a coefficient times an integer
        for p in range(self.n):
            product = product * powers[:, p, exponents[:, p]]
        return product

    def _student(self, powers: Ball) -> tuple[Ball, Ball]:
        """D, (m, unknowns, N), and e = G s − b, (m, N)."""
        e = (self._terms(powers) @ self.chosen) @ self.gram - self.right
        rows = [self._terms(powers, (p,)) @ self.chosen for p in range(self.n)]
        return stacked([Ball(row.mid[:, None], row.rad[:, None]) for row in rows], axis=1), e

    def values(self, x: Ball) -> Ball:
        """The values alone."""
        D, e = self._student(self._powers(x))
        return (D @ e[:, :, None])[:, :, 0]

    def __call__(self, x: Ball) -> tuple[Ball, Ball]:
        """Values and Jacobians at the boxes x."""
        powers = self._powers(x)
        D, e = self._student(powers)
        jacobian = (D @ self.gram) @ Ball(D.mid.swapaxes(1, 2), D.rad.swapaxes(1, 2))
        weight = e[:, self.entry]
        for p in range(self.n):
            for q in range(p + 1):
                added = jacobian[:, p, q] + (self._terms(powers, (p, q)) * weight).sum(axis=1)
                for row, column in {(p, q), (q, p)}:
                    jacobian.mid[:, row, column], jacobian.rad[:, row, column] = added.mid, added.rad
        return (D @ e[:, :, None])[:, :, 0], jacobian
