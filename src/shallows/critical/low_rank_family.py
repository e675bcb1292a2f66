"""The family of rank-r critical equations at degree 2, over all symmetric G and all g = Gt, and one solved member.

In a frame, S = U A Uᵀ with U = (I; Z): A symmetric r×r, Z (n−r)×r. S is critical on the rank-r matrices when M U = 0,
M the matrix of G(s − t) (paper 000, Prop. 29); the lower block of MU and the upper triangle of its top block are as
many equations as unknowns. Their number of solutions for generic (G, g) is the ED degree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shallows import coordinates
from shallows._checks import Array
from shallows.homotopy import CompiledFamily, Homotopy, monodromy

Complex = NDArray[np.complex128]

#: Generic ED degrees of n×n symmetric matrices of rank ≤ r (Ottaviani, Spaenlehauer and Sturmfels, "Exact solutions in
#: structured low-rank approximation", SIAM J. Matrix Anal. Appl. 35, 2014).
ED_DEGREES = {(2, 1): 4, (3, 1): 13, (3, 2): 13, (4, 1): 40, (4, 2): 122, (4, 3): 40}
ED_DEGREES |= {(5, 1): 121, (5, 2): 1042, (5, 3): 1042, (5, 4): 121}


@dataclass(frozen=True)
class Shape:
    """n×n matrices of rank r."""

    n: int
    r: int

    @property
    def entries(self) -> int:
        """N = n(n+1)/2."""
        return self.n * (self.n + 1) // 2

    @property
    def unknowns(self) -> int:
        """The dimension r(2n−r+1)/2 of the stratum."""
        return self.r * (2 * self.n - self.r + 1) // 2

    @property
    def parameters(self) -> int:
        """Symmetric G and g."""
        return self.entries * (self.entries + 1) // 2 + self.entries

    @property
    def degree(self) -> int | None:
        """The generic ED degree where it is known: from duality r ↔ n−r and (3ⁿ−1)/2 at rank one."""
        if self.r in (1, self.n - 1):
            return int((3**self.n - 1) // 2)
        return ED_DEGREES.get((self.n, self.r))

    def split(self, x: Complex) -> tuple[Complex, Complex]:
        """A and U from the unknowns."""
        r, heads = self.r, self.r * (self.r + 1) // 2
        A = np.zeros((r, r), x.dtype)
        A[np.triu_indices(r)] = x[:heads]
        A = A + np.triu(A, 1).T
        return A, np.concatenate([np.eye(r, dtype=x.dtype), x[heads:].reshape(self.n - r, r)])

    def matrix(self, x: Complex) -> Complex:
        """S = U A Uᵀ."""
        A, U = self.split(x)
        return np.asarray(U @ A @ U.T)


def pack(gram: NDArray[np.generic], g: NDArray[np.generic]) -> Complex:
    """The parameters (upper triangle of G, g) as one vector."""
    return np.concatenate([gram[np.triu_indices(len(gram))], g]).astype(np.complex128)


def _unpack(shape: Shape, p: Complex) -> tuple[Complex, Complex]:
    size = shape.entries
    gram = np.zeros((size, size), np.complex128)
    gram[np.triu_indices(size)] = p[:-size]
    return gram + np.triu(gram, 1).T, p[-size:]


@lru_cache(maxsize=32)
def family(shape: Shape) -> CompiledFamily:
    """The family with its compiled evaluator."""

    def make(start: Complex, target: Complex) -> Homotopy:
        from shallows.critical._low_rank_loop import low_rank

        (G1, g1), (G0, g0) = _unpack(shape, start), _unpack(shape, target)
        size, n = shape.entries, shape.n
        return Homotopy(
            evaluate=low_rank,
            complexes=np.concatenate([G0.ravel(), (G1 - G0).ravel(), g0, g1 - g0]),
            reals=np.zeros(1),
            program=np.array([n, shape.r], np.int64),
            work=2 * n * shape.r + 5 * size + size * size + 2 * n * n,
            scratch=1,
            unknowns=shape.unknowns,
        )

    return CompiledFamily(shape.unknowns, shape.parameters, make)


@dataclass(frozen=True)
class SolvedMember:
    """All solutions at generic complex parameters, and how complete they are known to be."""

    parameters: Complex
    points: Complex
    completeness: str


@lru_cache(maxsize=32)
def solved_member(shape: Shape, seed: int = 0) -> SolvedMember:
    """A generic member solved by monodromy, once a process: every problem of this shape starts from it.

    The first solution is free: a random S of rank r, a random M with M U = 0, a random G, and g = G s − e(M).
    """
    rng = np.random.default_rng([seed, shape.n, shape.r])
    x, p = _seed(shape, rng)
    result = monodromy(family(shape), x[None, :], p, rng=seed, target=shape.degree, patience=6)
    return SolvedMember(p, result.points, result.completeness)


def _seed(shape: Shape, rng: np.random.Generator) -> tuple[Complex, Complex]:
    def draw(*size: int) -> Complex:
        return np.asarray(rng.standard_normal(size) + 1j * rng.standard_normal(size)) / np.sqrt(2)

    x = draw(shape.unknowns)
    _, U = shape.split(x)
    Z = U[shape.r :]
    kernel = np.concatenate([-Z.T, np.eye(shape.n - shape.r)])
    core = draw(shape.n - shape.r, shape.n - shape.r)
    M = kernel @ (core + core.T) @ kernel.T
    rows, columns = coordinates.indices(shape.n, 2).T
    e = M[rows, columns] * np.where(rows == columns, 1.0, 2.0)
    gram = draw(shape.entries, shape.entries)
    gram = gram + gram.T
    s = shape.matrix(x)[rows, columns]
    return x, pack(gram, gram @ s - e)


def frame_action(R: Array) -> Array:
    """The matrix P with entries(R S Rᵀ) = P entries(S)."""
    n = len(R)
    rows, columns = coordinates.indices(n, 2).T
    basis = np.zeros((len(rows), n, n))
    basis[np.arange(len(rows)), rows, columns] = 1.0
    basis[np.arange(len(rows)), columns, rows] = 1.0
    moved = R @ basis @ R.T
    return np.asarray(moved[:, rows, columns].T)
