"""The Hessian of the loss on the rank-r matrices, in the unknowns (A, Z) of S = R U A Uᵀ Rᵀ."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from shallows.mathematics.newton import falling
from shallows.mathematics.semidefinite_root import semidefinite_root
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.matrices.balls import LowRankSystem
from shallows.support.checks import Array

#: Newton steps at most: they double the digits, of which there are sixteen.
STEPS = 50
#: Squares of tangent vectors that are shorter than this underflow: A is zero on some neuron, and S of lower rank.
SHORTEST = 1e-150


def curvatures(system: LowRankSystem, x: Array) -> Array:
    """Eigenvalues of half the Hessian in an orthonormal frame of the tangent space: 1 − (shape operator) of the gap.

    In (A, Z) alone a large Z would scale the Hessian so badly that signs drown in rounding. Where A is singular, as
    where all of a limit is linear, S is on no stratum of this rank, tangent vectors vanish, and zeros say so.
    """
    H, D = half_hessian(system, x)
    tangents = semidefinite_root(system.gram) @ D.T
    factor: Array = np.asarray(np.linalg.qr(tangents)[1], dtype=np.float64)
    if np.abs(np.diag(factor)).min() < SHORTEST:
        return np.zeros(len(H))
    half = np.linalg.solve(factor.T, H)
    whole = np.linalg.solve(factor.T, half.T)
    return np.asarray(np.linalg.eigvalsh((whole + whole.T) / 2))


def newton(system: LowRankSystem, x: Array) -> Array:
    """Newton's steps on half the loss from a point near a critical one, as long as they make its gradient smaller."""

    def step(at: Array, slope: Array) -> Array | None:
        try:
            return np.asarray(-np.linalg.solve(half_hessian(system, at)[0], slope))
        except np.linalg.LinAlgError:  # a degenerate point
            return None

    for place, _ in falling(lambda at: _half_gradient(system, at), step, x, STEPS):
        x = place
    return x


def _half_gradient(system: LowRankSystem, x: Array) -> Array:
    """⟨∂s, G(s − t)⟩."""
    tensor = np.linalg.multi_dot(
        [system.frame, system.equations.matrix(x.astype(np.complex128)).real, system.frame.T]
    )
    D = _tangents(system, *_split(system, x))
    return np.asarray(D @ system.gram @ (coordinates.matrix_entries(tensor) - system.target))


def _split(system: LowRankSystem, x: Array) -> tuple[Array, Array]:
    """A and U as they are at real unknowns."""
    A, U = system.equations.split(x.astype(np.complex128))
    return np.asarray(A.real), np.asarray(U.real)


@lru_cache(maxsize=16)
def _changes(r: int) -> Array:
    """∂A in each entry of A on and above the diagonal, (r(r+1)/2, r, r)."""
    rows, columns = coordinates.indices(r, 2).T
    changes, each = np.zeros((len(rows), r, r)), np.arange(len(rows))
    changes[each, rows, columns] = changes[each, columns, rows] = 1.0
    changes.setflags(write=False)
    return changes


def _tangents(system: LowRankSystem, A: Array, U: Array) -> Array:
    """D, whose rows are the tangent vectors ∂s: in the entries of A, then in Z_kl."""
    n, r, R = system.equations.n, system.equations.r, system.frame
    RU, UA = R @ U, R @ U @ A
    along = RU @ _changes(r) @ RU.T
    turned = R.T[r:, None, :, None] * UA.T[None, :, None, :]
    across = (turned + turned.swapaxes(2, 3)).reshape((n - r) * r, n, n)
    return np.ascontiguousarray(coordinates.matrix_entries(np.concatenate([along, across])))


def half_hessian(system: LowRankSystem, x: Array) -> tuple[Array, Array]:
    """DGDᵀ plus the curvature ⟨G(s − t), ∂²s⟩: at a critical point its signature is that on the stratum. And D.

    The rows of D are the tangent vectors ∂s.

    With P = RᵀMR, M the matrix of G(s − t): ∂²s in A and Z_kl gives 2(∂A UᵀP)_{l,r+k}, in Z_kl and Z_mn
    2 P_{r+k,r+m} A_ln.
    """
    n, r, R = system.equations.n, system.equations.r, system.frame
    A, U = _split(system, x)
    D, RU = _tangents(system, A, U), R @ U
    S = RU @ A @ RU.T
    e = system.gram @ (coordinates.matrix_entries(S) - system.target)
    P = R.T @ coordinates.slope_matrices(e, n) @ R
    H = D @ system.gram @ D.T
    size = len(_changes(r))
    H[:size, size:] += 2 * (_changes(r) @ U.T @ P)[:, :, r:].swapaxes(1, 2).reshape(size, -1)
    H[size:, :size] = H[:size, size:].T
    H[size:, size:] += 2 * np.kron(P[r:, r:], A)
    return np.asarray((H + H.T) / 2), D
