"""The rank-r critical equations at many boxes at once, in float64 ball arithmetic: what `contraction` proves them with.

In the frame S = U A Uᵀ, U = (I; Z), with G and b in the entries of S, and M the matrix of e = G s − b. The unknowns are
x = (A_ab for a ≤ b, Z_ka row by row), the equations MU: its lower block, then the upper triangle of its top block.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.balls.arrays import Ball, stacked
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.support.checks import Array


class LowRankBatch:
    """Values, Jacobians and Hessians at discs (m, unknowns)."""

    is_real = True

    def __init__(self, equations: LowRankEquations, exact: ExactLoss) -> None:
        self.equations, self.n = equations, equations.unknowns
        n, r = equations.n, equations.r
        self.gram = Ball.of_fractions(exact.gram.tolist())
        self.right = Ball.of_fractions([exact.right.tolist()])
        self.rows, self.columns = coordinates.indices(n, 2).T
        self.place = np.zeros((n, n), dtype=np.intp)
        self.place[self.rows, self.columns] = self.place[self.columns, self.rows] = np.arange(len(self.rows))
        self.heads = np.triu_indices(r)
        lower = [(i, a) for i in range(r, n) for a in range(r)]
        self.equation = np.array(lower + list(zip(*map(list, self.heads), strict=True))).T
        # ∂S/∂Z_ka has entries only in row and column k
        self.in_row = (self.rows == np.arange(r, n)[:, None]).astype(float)
        self.in_column = (self.columns == np.arange(r, n)[:, None]).astype(float)

    def split(self, x: Ball) -> tuple[Ball, Ball]:
        """A (m, r, r) and U (m, n, r)."""
        n, r, heads = self.equations.n, self.equations.r, len(self.heads[0])
        place = np.zeros((r, r), dtype=np.intp)
        place[self.heads] = np.arange(heads)
        place = np.maximum(place, place.T)
        count = len(x.mid)
        top = Ball.exact(np.broadcast_to(np.eye(r), (count, r, r)))
        lower = Ball(*(part[:, heads:].reshape(count, n - r, r) for part in (x.mid, x.rad)))
        return x[:, place], stacked([top, lower], axis=1)

    def tensors(self, x: Ball, frame: Array) -> Ball:
        """The entries of R S Rᵀ, (m, N)."""
        A, U = self.split(x)
        RU = Ball.exact(frame) @ U
        return (RU @ A @ _turned(RU))[:, self.rows, self.columns]

    def _slope(self, e: Ball) -> Ball:
        """The matrices M of forms e (…, N)."""
        return e[..., self.place] * Ball.exact((1 + np.eye(self.equations.n)) / 2)

    def _tangents(self, A: Ball, U: Ball) -> Ball:
        """∂s by the unknowns, (m, unknowns, N)."""
        first, second = self.heads
        left = U[:, self.rows][:, :, first] * U[:, self.columns][:, :, second]
        right = U[:, self.rows][:, :, second] * U[:, self.columns][:, :, first]
        both = Ball.exact((first != second).astype(float))
        top = _turned(left + right * both)
        UA = U @ A
        by_row = _turned(UA[:, self.columns])[:, None] * Ball.exact(self.in_row[:, None, :])
        by_column = _turned(UA[:, self.rows])[:, None] * Ball.exact(self.in_column[:, None, :])
        lower = by_row + by_column
        shape = (len(U.mid), -1, len(self.rows))
        return stacked([top, Ball(lower.mid.reshape(shape), lower.rad.reshape(shape))], axis=1)

    def _parts(self, x: Ball) -> tuple[Ball, Ball, Ball]:
        """A, U and M."""
        A, U = self.split(x)
        s = (U @ A @ _turned(U))[:, self.rows, self.columns]
        return A, U, self._slope(s @ self.gram - self.right)

    def values(self, x: Ball) -> Ball:
        """MU alone."""
        _, U, M = self._parts(x)
        return (M @ U)[:, *self.equation]

    def __call__(self, x: Ball) -> tuple[Ball, Ball]:
        """Values and Jacobians at the boxes x: ∂(MU) = M(∂s)U + M ∂U."""
        n, r, heads = self.equations.n, self.equations.r, len(self.heads[0])
        A, U, M = self._parts(x)
        i, a = self.equation
        value = (M @ U)[:, i, a]
        # one product a point: the rows of all M(∂s) under each other
        slopes = self._slope(self._tangents(A, U) @ self.gram)
        shape = (len(x.mid), self.n, n, r)
        flat = Ball(*(part.reshape(shape[0], -1, n) for part in (slopes.mid, slopes.rad))) @ U
        moved = Ball(flat.mid.reshape(shape), flat.rad.reshape(shape))[:, :, i, a]
        jacobian = _turned(moved)
        for column in range(r):  # M ∂U: Z_ka moves only column a of U
            mine, ours = np.flatnonzero(a == column), heads + column + r * np.arange(n - r)
            added = jacobian[:, mine[:, None], ours] + M[:, i[mine][:, None], np.arange(r, n)]
            jacobian.mid[:, mine[:, None], ours] = added.mid
            jacobian.rad[:, mine[:, None], ours] = added.rad
        return value, jacobian

    def hessians(self, x: Ball) -> Ball:
        """Half the Hessians of ℓ in (A, Z) over real boxes: ⟨∂s, G ∂s⟩ + ⟨e, ∂²s⟩.

        ⟨e, ∂²s⟩ is 2(∂A UᵀM)_{l,k} at A and Z_kl, and 2 M_km A_lq at Z_kl and Z_mq.
        """
        n, r, heads = self.equations.n, self.equations.r, len(self.heads[0])
        A, U, M = self._parts(x)
        tangents = self._tangents(A, U)
        H = (tangents @ self.gram) @ _turned(tangents)
        MU = (M @ U)[:, r:]
        mixed = Ball.exact(np.zeros((len(x.mid), heads, n - r, r), dtype=x.mid.dtype))
        for h, (a, b) in enumerate(zip(*self.heads, strict=True)):
            for l, other in {(int(a), int(b)), (int(b), int(a))}:
                mixed.mid[:, h, :, l] = 2 * MU.mid[:, :, other]
                mixed.rad[:, h, :, l] = 2 * MU.rad[:, :, other]
        corner = M[:, r:, None, r:, None] * A[:, None, :, None, :] * Ball.exact(2.0)
        lower = (n - r) * r
        cross = Ball(*(part.reshape(-1, heads, lower) for part in (mixed.mid, mixed.rad)))
        square = Ball(*(part.reshape(-1, lower, lower) for part in (corner.mid, corner.rad)))
        zero = Ball.exact(np.zeros((len(x.mid), heads, heads)))
        top, bottom = stacked([zero, cross], axis=2), stacked([_turned(cross), square], axis=2)
        return H + stacked([top, bottom], axis=1)


def _turned(ball: Ball) -> Ball:
    """Each matrix of a batch transposed."""
    return Ball(ball.mid.swapaxes(-1, -2), ball.rad.swapaxes(-1, -2))
