"""The family of rank-r critical equations at degree 2, over all symmetric G and all g = Gt.

In a frame, S = U A Uᵀ with U = (I; Z): A symmetric r×r, Z (n−r)×r. S is critical on the rank-r matrices when M U = 0,
M the matrix of G(s − t) (paper 000, Prop. 29); the lower block of MU and the upper triangle of its top block are as
many equations as unknowns. Their number of solutions for generic (G, g) is the generic ED degree
(`ed_degree`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.ed_degree import low_rank_degree
from shallows.mathematics.homotopy.paths import Homotopy
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.continuation.equations import CommonEquations, segment_numbers
from shallows.questions.charts.continuation.metrics import Complex, Pair, rounding
from shallows.support.checks import Array
from shallows.support.ready_code import ReadyCode
from shallows.support.seeds import complex_normal

#: The compiled evaluator.
LOW_RANK = ReadyCode("shallows.questions.charts.matrices._loop", "low_rank")


@dataclass(frozen=True)
class LowRankEquations(CommonEquations):
    """The equations of n×n matrices of rank r."""

    n: int
    r: int

    @property
    def entries(self) -> int:
        """N = n(n+1)/2."""
        return self.n * (self.n + 1) // 2

    @property
    def ends_well(self) -> bool:
        """Matrices of a rank and less are a closed set: nothing creeps."""
        return True

    @property
    def definite(self) -> bool:
        """Metrics see all entries, so that singular ends can be examined in coordinates of the stratum."""
        return True

    @property
    def unknowns(self) -> int:
        """The dimension r(2n−r+1)/2 of the stratum."""
        return self.r * (2 * self.n - self.r + 1) // 2

    @property
    def count(self) -> int | None:
        """The generic ED degree."""
        return low_rank_degree(self.n, self.r)

    @property
    def source(self) -> str:
        """Where `count` comes from."""
        return "generic ED degree: the sum of the algebraic degrees of semidefinite programming"

    def split(self, x: Complex) -> tuple[Complex, Complex]:
        """A and U from the unknowns."""
        r, heads = self.r, self.r * (self.r + 1) // 2
        A = coordinates.symmetric_matrices(x[:heads])
        return A, np.concatenate([np.eye(r, dtype=x.dtype), x[heads:].reshape(self.n - r, r)])

    def matrix(self, x: Complex) -> Complex:
        """S = U A Uᵀ."""
        return np.asarray(self.matrices(x[None, :])[0])

    def matrices(self, points: Complex) -> Complex:
        """S = U A Uᵀ for every row of unknowns."""
        count, r, heads = len(points), self.r, self.r * (self.r + 1) // 2
        A = coordinates.symmetric_matrices(points[:, :heads])
        top = np.broadcast_to(np.eye(r, dtype=points.dtype), (count, r, r))
        U = np.concatenate([top, points[:, heads:].reshape(count, self.n - r, r)], axis=1)
        return np.asarray(U @ A @ U.transpose(0, 2, 1))

    def unknowns_in(self, frame: Array, matrices: Complex) -> Complex:
        """The unknowns, a row a matrix, with Rᵀ S R = (I; Z) A (I; Z)ᵀ in an orthogonal frame R."""
        r, S = self.r, frame.T @ matrices @ frame
        A = S[:, :r, :r]
        rest = S[:, r:, :r].transpose(0, 2, 1)
        try:
            Z = np.linalg.solve(A, rest).transpose(0, 2, 1)
        except np.linalg.LinAlgError:  # a singular end of lower rank, exactly: zero
            Z = (np.linalg.pinv(A) @ rest).transpose(0, 2, 1)
        return np.concatenate([coordinates.matrix_entries(A), Z.reshape(len(S), (self.n - r) * r)], axis=1)

    def frame(self, rng: np.random.Generator) -> Array:
        """A random orthogonal frame R in which to write S = R U A Uᵀ Rᵀ."""
        return np.asarray(np.linalg.qr(rng.standard_normal((self.n, self.n)))[0])

    def action(self, frame: Array) -> Array:
        """The matrix P with entries(R S Rᵀ) = P entries(S)."""
        return frame_action(frame)

    def tensors(self, points: Complex) -> Complex:
        """The upper triangles of S, a row a point."""
        return coordinates.matrix_entries(self.matrices(points))

    def orbit(self, x: Complex) -> Complex:
        """S determines A and Z: no symmetry."""
        return x[None, :]

    def homotopy(self, start: tuple[Pair, Complex], target: tuple[Pair, Complex]) -> Homotopy:
        """The compiled equations along a segment of (G, g), in double precision."""
        size, n = self.entries, self.n
        return Homotopy(
            evaluate=LOW_RANK,
            complexes=segment_numbers(start, target),
            reals=np.zeros(1),
            program=np.array([n, self.r], np.int64),
            work=2 * n * self.r + 5 * size + size * size + 2 * n * n,
            scratch=1,
            unknowns=self.unknowns,
            noise=rounding(size),
        )

    def first(self, gram: Complex, rng: np.random.Generator) -> tuple[Complex, Complex]:
        """A random S of rank r, a random M with M U = 0, and g = G s − e(M)."""
        x = complex_normal(rng, self.unknowns)
        _, U = self.split(x)
        kernel = np.concatenate([-U[self.r :].T, np.eye(self.n - self.r)])
        M = kernel @ self._core(rng) @ kernel.T
        rows, columns = (part[: len(gram)] for part in coordinates.indices(self.n, 2).T)
        e = M[rows, columns] * np.where(rows == columns, 1.0, 2.0)
        return x, gram @ self.matrix(x)[rows, columns] - e

    def _core(self, rng: np.random.Generator) -> Complex:
        core = complex_normal(rng, self.n - self.r, self.n - self.r)
        return np.asarray(core + core.T)


def frame_action(R: Array) -> Array:
    """The matrix P with entries(R S Rᵀ) = P entries(S)."""
    n = len(R)
    rows, columns = coordinates.indices(n, 2).T
    basis = np.zeros((len(rows), n, n))
    basis[np.arange(len(rows)), rows, columns] = 1.0
    basis[np.arange(len(rows)), columns, rows] = 1.0
    moved = R @ basis @ R.T
    return np.asarray(moved[:, rows, columns].T)
