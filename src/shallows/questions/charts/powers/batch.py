"""The critical equations of Σ ε_j u_j^⊗d at many boxes at once, in float64 ball arithmetic.

With s = Σ_j ε_j u_j^⊗d, e = G s − b and D = ∂s by the unknowns, the values are D e, and the Jacobians D G Dᵀ plus ε_j
times the Hessian of the form e at u_j.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.powers.equations import PowerEquations


class PowerBatch:
    """Values and Jacobians at discs (m, r n); the Jacobian is half the Hessian of ℓ in u."""

    is_real = True

    def __init__(self, equations: PowerEquations, signs: tuple[float, ...], exact: ExactLoss) -> None:
        self.equations, self.n = equations, equations.unknowns
        self.signs = Ball.exact(np.array(signs)[:, None])
        self.gram = Ball.of_fractions(exact.gram.tolist())
        self.right = Ball.of_fractions([exact.right.tolist()])
        n, d = equations.n, equations.degree
        # ∂_x of the monomial at place once[q, x] is once_factor[q, x] times monomial q of degree d − 1; likewise ∂_a∂_b
        self.once = coordinates.product_table(n, d - 1, 1)
        self.once_factor = coordinates.exponents(n, d)[self.once, np.arange(n)].astype(float)
        below = coordinates.product_table(n, d - 2, 1)
        inner = coordinates.exponents(n, d - 1)[below, np.arange(n)]
        self.twice = self.once[below]
        self.twice_factor = inner[:, :, None] * self.once_factor[below]

    def _monomials(self, W: Ball, degree: int) -> Ball:
        """w^I for all I of a degree, (m, r, N)."""
        table = coordinates.indices(self.equations.n, degree)
        product = Ball.exact(np.ones((*W.mid.shape[:2], len(table)), W.mid.dtype))
        for column in table.T:
            product = product * W[:, :, column]
        return product

    def _neurons(self, x: Ball) -> Ball:
        shape = (len(x.mid), self.equations.r, self.equations.n)
        return Ball(x.mid.reshape(shape), x.rad.reshape(shape))

    def tensors(self, x: Ball) -> Ball:
        """Σ_j ε_j u_j^⊗d, (m, N)."""
        return (self._monomials(self._neurons(x), self.equations.degree) * self.signs).sum(axis=1)

    def tangents(self, x: Ball) -> Ball:
        """D = ∂s by the unknowns, (m, r n, N)."""
        W = self._neurons(x)
        n, r, d = self.equations.n, self.equations.r, self.equations.degree
        lower = self._monomials(W, d - 1) * self.signs
        shape = (len(W.mid), r, n, self.equations.entries)
        mid, rad = np.zeros(shape, W.mid.dtype), np.zeros(shape)
        for i in range(n):
            slope = lower * Ball.exact(self.once_factor[:, i])
            mid[:, :, i, self.once[:, i]], rad[:, :, i, self.once[:, i]] = slope.mid, slope.rad
        return Ball(mid.reshape(shape[0], r * n, -1), rad.reshape(shape[0], r * n, -1))

    def values(self, x: Ball) -> Ball:
        """The values alone."""
        return self._value(self.tangents(x), self._form(x))

    def _form(self, x: Ball) -> Ball:
        """e = G s − b."""
        return self.tensors(x) @ self.gram - self.right

    def _value(self, D: Ball, e: Ball) -> Ball:
        return (D @ e[:, :, None])[:, :, 0]

    def __call__(self, x: Ball) -> tuple[Ball, Ball]:
        """Values and Jacobians at the boxes x."""
        n, r = self.equations.n, self.equations.r
        W = self._neurons(x)
        D = self.tangents(x)
        e = self._form(x)
        value = self._value(D, e)
        jacobian = (D @ self.gram) @ Ball(D.mid.swapaxes(1, 2), D.rad.swapaxes(1, 2))
        lower = self._monomials(W, self.equations.degree - 2) * self.signs
        forms = e[:, self.twice] * Ball.exact(self.twice_factor)
        flat = Ball(*(part.reshape(len(x.mid), -1, n * n) for part in (forms.mid, forms.rad)))
        curved = lower @ flat
        for j in range(r):
            block = slice(j * n, (j + 1) * n)
            own = Ball(*(part[:, j].reshape(-1, n, n) for part in (curved.mid, curved.rad)))
            added = jacobian[:, block, block] + own
            jacobian.mid[:, block, block], jacobian.rad[:, block, block] = added.mid, added.rad
        return value, jacobian
