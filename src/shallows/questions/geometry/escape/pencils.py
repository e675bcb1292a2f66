"""Two symmetric matrices as sums over the same rank-one terms: the eigenpairs of the pencil (B, Δ), B non-singular.

With Δp = μBp, pᵀBp = ε and x = εBp the dual vectors,

    B = Σ_real ε x xᵀ + Σ_pairs 2 Re[x xᵀ],    Δ = Σ_real ε μ x xᵀ + Σ_pairs 2 Re[μ x xᵀ],

where ε = ±1 for a real eigenvalue and 1 for a complex one, of which one of each conjugate pair is kept. Such a basis
exists unless the pencil is defective. Sums are formed in real arithmetic, x = y + iz giving the rows y and z.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeev

from shallows.support.checks import Array

#: Eigenvalues closer than this share of the largest are one: a double eigenvalue is known to √ε only.
CLUSTER = 1e-7
#: Unit eigenvectors with a smaller |qᵀJq| are isotropic: the pencil is defective to the digits there are.
DEFECTIVE = 1e-6
#: The Newton step of the refinement must be small for its square (1e-8, and 1e-16 after it) not to count.
SMALL_STEP = 1e-4
#: Of LAPACK's dgeev, in columns: room for its blocked algorithms.
WORKSPACE = 36

Complex = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """Real eigenvalues with their signs ε and dual vectors, and one of each complex pair; vectors are rows."""

    mu_real: Array
    epsilon: Array
    x_real: Array
    mu_pair: Complex
    x_pair: Complex

    @property
    def size(self) -> int:
        """How many rank-one terms."""
        return len(self.mu_real) + 2 * len(self.mu_pair)

    def embedded(self, frame: Array) -> Eigenpairs:
        """Those of the matrices F B Fᵀ and F Δ Fᵀ, F an orthonormal `frame`."""
        return replace(self, x_real=self.x_real @ frame.T, x_pair=self.x_pair @ frame.T)


def eigenpairs(values: Array, vectors: Array, Delta: Array) -> tuple[float, Eigenpairs | None]:
    """max|μ| and the eigenpairs of (B, Δ), B = Σ values · vectors vectorsᵀ; None for a pencil that is nearly defective.

    In coordinates in which B is J = diag(±1) this is the eigenproblem of JΔ, symmetric where B is definite.
    """
    scale, J = np.sqrt(np.abs(values)), np.sign(values)
    frame, dual = vectors / scale, (J * scale)[:, None] * vectors.T
    inner = frame.T @ Delta @ frame
    if abs(J.sum()) == len(J):
        return _definite(J, dual, inner)
    along, heights, _, Q, info = dgeev(J[:, None] * inner, compute_vl=0, lwork=WORKSPACE * len(J))
    if info:
        return np.inf, None
    largest = float(np.sqrt((along**2 + heights**2).max()))
    mu_real, Q_real, mu_pair, Q_pair = _real_and_paired(along, heights, Q, largest)
    real, pair = _orthonormal(mu_real, Q_real, J, largest), _normalised(Q_pair, J)
    if real is None or pair is None:
        return largest, None
    Q_real, epsilon = real
    columns = np.concatenate([Q_real, pair.real, pair.imag], axis=1)
    rows = columns.T @ dual
    rows[: len(epsilon)] *= epsilon[:, None]
    B = (vectors * values) @ vectors.T
    return largest, _refined(mu_real, epsilon, mu_pair, rows, frame @ columns, B, Delta)


def _definite(J: Array, dual: Array, inner: Array) -> tuple[float, Eigenpairs]:
    """`eigenpairs` for B > 0 or B < 0: one congruence makes both matrices diagonal."""
    mu, Q = np.linalg.eigh((inner + inner.T) / 2)
    nothing = np.zeros((0, dual.shape[1]), dtype=complex)
    pairs = Eigenpairs(J * mu, J, J[:, None] * (Q.T @ dual), nothing[:, 0], nothing)
    return float(np.max(np.abs(mu), initial=0.0)), pairs


def _real_and_paired(
    along: Array, heights: Array, Q: Array, largest: float
) -> tuple[Array, Array, Complex, Complex]:
    """The real eigenpairs, and one of each complex pair, from LAPACK's form of them.

    μ = along ± i·heights; the eigenvector of a pair is q + i q′, q and q′ two neighbouring columns of Q. A repeated
    real eigenvalue that rounding split into a pair is real again, with q and q′ as eigenvectors.
    """
    far = np.abs(heights) > CLUSTER * largest
    pair = np.flatnonzero(far & (heights > 0.0))
    mu_pair = along[pair] + 1j * heights[pair]
    return along[~far], Q[:, ~far], mu_pair, Q[:, pair] + 1j * Q[:, pair + 1]


def _orthonormal(mu: Array, Q: Array, J: Array, largest: float) -> tuple[Array, Array] | None:
    """Real eigenvectors with qᵀJq = ε = ±1, and ε; None if one is isotropic: the matrix is defective.

    Eigenvectors of different eigenvalues are J-orthogonal; within a cluster of equal ones they are made so.
    """
    squares = J @ (Q * Q)
    order = np.argsort(mu)
    apart = np.diff(mu[order]) > CLUSTER * largest
    if not np.all(apart):
        Q = Q.copy()
        for cluster in np.split(order, np.flatnonzero(apart) + 1):
            if len(cluster) > 1:
                block = Q[:, cluster]
                squares[cluster], vectors = np.linalg.eigh(block.T @ (J[:, None] * block))
                Q[:, cluster] = block @ vectors
    if np.any(np.abs(squares) < DEFECTIVE):
        return None
    return Q / np.sqrt(np.abs(squares)), np.sign(squares)


def _normalised(Q: Complex, J: Array) -> Complex | None:
    """Complex eigenvectors with qᵀJq = 1; None if one is isotropic."""
    squares = J @ (Q * Q)
    return None if np.any(np.abs(squares) < DEFECTIVE) else Q / np.sqrt(squares.astype(complex))


def _refined(
    mu_real: Array, epsilon: Array, mu_pair: Complex, rows: Array, primal: Array, B: Array, Delta: Array
) -> Eigenpairs | None:
    """One Newton step for the two sums: x → (I + F) x. It makes up for eigenvalues that are close together; None
    when they are too close for that.

    `rows` are x of the real eigenvalues, then y, then z; `primal` has the eigenvectors p as columns in that order. With
    the defects δ, η of the two sums in the basis of the eigenvectors,
    ε_i F_ij = (μ_j δ_ij − η_ij)/(μ_j − μ_i) off the diagonal and away from clusters, δ_ij/2 elsewhere. The defects are
    made exactly symmetric, and conjugate rows are exactly conjugate: that brings the sums down to rounding.
    """
    count, half = len(mu_real), len(mu_real) + len(mu_pair)
    x, y, z = rows[:count], rows[count:half], rows[half:]
    m, k = mu_pair.real[:, None], mu_pair.imag[:, None]
    weighted = np.concatenate([epsilon[:, None] * x, 2 * y, -2 * z])
    moved = np.concatenate([(epsilon * mu_real)[:, None] * x, 2 * (m * y - k * z), -2 * (k * y + m * z)])
    delta = _in_basis(primal, B - rows.T @ weighted, count, half)
    eta = _in_basis(primal, Delta - rows.T @ moved, count, half)
    mu = np.concatenate([mu_real, mu_pair])
    every = np.concatenate([mu, mu_pair.conj()])
    gap = every - mu[:, None]
    near = np.abs(gap) <= CLUSTER * np.max(np.abs(mu))
    F = np.where(near, delta / 2, (every * delta - eta) / np.where(near, 1.0, gap))
    signs = np.concatenate([epsilon, np.ones(len(mu_pair))])
    corrected = mu + signs * (eta.diagonal() - mu * delta.diagonal())
    if np.abs(F).max() > SMALL_STEP or np.any(corrected[count:].imag <= 0.0):
        return None
    upper, lower = F[:, count:half], F[:, half:]
    step = np.concatenate(
        [F[:, :count], upper + lower, 1j * (upper - lower)], axis=1
    )  # F x in terms of x, y and z
    shift = (signs[:, None] * step).real @ rows
    turn = step[count:].imag @ rows
    x_pair = (y + shift[count:]) + 1j * (z + turn)
    return Eigenpairs(corrected[:count].real, epsilon, x + shift[:count], corrected[count:], x_pair)


def _in_basis(primal: Array, defect: Array, count: int, half: int) -> Complex:
    """pᵢᵀ D pⱼ: rows for real eigenvalues and one of each pair, columns for their conjugates too."""
    table = primal.T @ defect @ primal
    table = (table + table.T) / 2
    upper = np.concatenate([table[:count], table[count:half] + 1j * table[half:]])
    real, imaginary = upper[:, count:half], 1j * upper[:, half:]
    return np.concatenate([upper[:, :count], real + imaginary, real - imaginary], axis=1)
