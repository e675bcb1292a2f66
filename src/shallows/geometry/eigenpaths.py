"""Lifting a segment of symmetric matrices to networks: eigenpairs followed in closed form, through every crossing.

Paper 000, Theorem 12, lifts S(t) = (1−t)S₀ + tS₁ to parameters by following the eigenpairs of S(t), which are
continuous only while the eigenvalues are distinct. The eigenpairs of the *pencil* (B, Δ), Δ = S₁ − S₀ and B = S(b) a
non-singular matrix of the line, do not depend on t: with Δ p = μ B p, pᵀBp = ε = ±1 and x the dual vectors,

    S(t) = Σ_real ε (1 + (t−b)μ) x xᵀ + Σ_pairs 2 Re[(1 + (t−b)μ) x xᵀ].

A real μ is a neuron with w = x fixed and a linear in t: it passes through zero without notice. A complex pair, with
1 + (t−b)μ = ρ e^{iφ} and e^{iφ/2} x = y + iz, is 2ρ(yyᵀ − zzᵀ): two neurons whose w turn by φ/2; ρ never vanishes and φ
stays in (−π, π). So the lift is analytic in t whatever the eigenvalues of S(t) do; one eigenproblem serves all t.
It exists unless the pencil is singular or defective, which a detour over a nearby matrix avoids.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows._checks import Array
from shallows.geometry.fibers import Spectrum, invariant_of
from shallows.geometry.motions import Rows
from shallows.geometry.paths import Segment, State

BASES = (0.5, 0.0, 1.0)
MORE_BASES = (0.4142, 0.25, 0.75, -1.0, 2.0)
GOOD = 1e-3
ACCEPTABLE = 1e-4
SINGULAR = 1e-10
ACCURACY = 1e-13
LARGEST_ENERGY = 1e4
CLUSTER = 1e-7
DEFECTIVE = 1e-6
SMALL_STEP = 1e-4


@dataclass(frozen=True, eq=False)
class EigenPath(Segment):
    """Networks with τ = (1−t)S₀ + tS₁. Neuron i sits in row `rows[i]`, with w turned over where `flips[i]` is −1.

    `mu` has the real eigenvalues and one of each complex pair, `x` the dual vectors (complex for pairs).
    """

    label: str
    base: float
    mu_real: Array
    epsilon: Array
    x_real: Array
    mu_pair: NDArray[Any]
    x_pair: NDArray[Any]
    width: int
    rows: Rows
    flips: Array

    @cached_property
    def start(self) -> State:  # type: ignore[override]
        """The network of S₀."""
        return self.at(0.0)

    @cached_property
    def end(self) -> State:  # type: ignore[override]
        """The network of S₁."""
        return self.at(1.0)

    @cached_property
    def energy(self) -> float:
        """The largest Σ|aᵢ|‖wᵢ‖² on the way: at an end, as every |1 + (t−b)μ| is convex in t."""
        return max(float(np.sum(np.abs(a) * np.sum(W * W, axis=1))) for a, W in (self.start, self.end))

    @property
    def size(self) -> int:
        """How many neurons it uses."""
        return len(self.mu_real) + 2 * len(self.mu_pair)

    def at(self, t: float) -> State:
        """The parameters at t."""
        beta = 1 + (t - self.base) * self.mu_pair
        turned = np.exp(0.5j * np.angle(beta))[:, None] * self.x_pair
        radius = 2 * np.abs(beta)
        a, W = np.zeros(self.width), np.zeros((self.width, self.x_real.shape[1]))
        a[self.rows] = np.concatenate([self.epsilon * (1 + (t - self.base) * self.mu_real), radius, -radius])
        W[self.rows] = self.flips[:, None] * np.vstack([self.x_real, turned.real, turned.imag])
        return a, W

    def seated_like(self, state: State, spectrum: Spectrum) -> EigenPath:
        """The same lift with its neurons in the rows, and turned over, so that it starts in the component of `state`.

        Rows are chosen to agree with the signs of a; when rank S₀ = width, a disagreeing orientation is mended by
        turning one neuron of that sign over. When the rank is lower, the fiber is connected and any seating will do.
        """
        a, W = self.start
        terms = (np.abs(a) * np.sum(W * W, axis=1))[self.rows]
        signs = np.where(terms > 1e-13 * np.sum(terms), np.sign(a[self.rows]), 0.0)
        seated = replace(self, rows=_seats(signs, np.sign(state[0])))
        here, there = invariant_of(*seated.start, spectrum), invariant_of(*state, spectrum)
        if here is None or there is None:
            return seated
        flips = seated.flips.copy()
        for sign, same in ((1, here.positive == there.positive), (-1, here.negative == there.negative)):
            if not same:
                flips[np.flatnonzero(signs == sign)[0]] *= -1.0
        return replace(seated, flips=flips)


def eigen_path(S0: Array, S1: Array, width: int, label: str = "follow the eigenpairs") -> EigenPath | None:
    """The lift of the segment from S₀ to S₁; None when the pencil is too close to singular or defective.

    It is checked before it is returned: τ at both ends agrees with S₀ and S₁ to 1e-13 of Σ|aᵢ|‖wᵢ‖², and that sum is
    at most 10⁴ times the norms.
    """
    chosen = _best_base(S0, S1)
    if chosen is None:
        frame = _common_range(S0, S1)
        if frame.shape[1] == len(S0):
            return None
        chosen = _best_base(frame.T @ S0 @ frame, frame.T @ S1 @ frame)
        if chosen is None:
            return None
        chosen = chosen[0], chosen[1], frame @ chosen[2]
    base, values, vectors = chosen
    solved = _pencil(S1 - S0, values, vectors)
    if solved is None:
        return None
    mu, epsilon, x = solved
    real, upper = np.imag(mu) == 0, np.imag(mu) > 0
    size = len(mu)
    lift = EigenPath(
        label,
        base,
        np.real(mu[real]),
        epsilon[real],
        np.real(x[real]),
        mu[upper],
        x[upper],
        width,
        np.arange(size),
        np.ones(size),
    )
    return lift if _faithful(lift, S0, S1) else None


def _seats(signs: Array, wanted: Array) -> Rows:
    """An injection of neurons into rows that agrees with the wanted signs as often as possible."""
    rows = np.full(len(signs), -1, dtype=np.intp)
    for sign in (1.0, -1.0, 0.0):
        neurons, places = np.flatnonzero(signs == sign), np.flatnonzero(wanted == sign)
        count = min(len(neurons), len(places))
        rows[neurons[:count]] = places[:count]
    unseated = rows < 0
    free = np.ones(len(wanted), dtype=bool)
    free[rows[~unseated]] = False
    rows[unseated] = np.flatnonzero(free)[: int(np.sum(unseated))]
    return rows


def _common_range(S0: Array, S1: Array) -> Array:
    """An orthonormal basis of range S₀ + range S₁: outside it the pencil vanishes and no neuron is needed."""
    _, sizes, right = np.linalg.svd(np.vstack([S0, S1]))
    return right[: int(np.sum(sizes > 1e-13 * sizes[0]))].T


def _best_base(S0: Array, S1: Array) -> tuple[float, Array, Array] | None:
    """b with S(b) definite if there is one among the candidates, else the best conditioned; with its eigenpairs."""
    best, quality = 0.0, -1.0
    for base in (*BASES, *MORE_BASES):
        if quality >= GOOD or (base == MORE_BASES[0] and quality >= ACCEPTABLE):
            break
        values = np.linalg.eigvalsh((1 - base) * S0 + base * S1)
        size = np.abs(values)
        ratio = float(np.min(size) / np.max(size)) if len(size) and np.max(size) > 0 else 0.0
        definite = values[0] > 0 or values[-1] < 0 if len(size) else True
        score = ratio + (definite and ratio > 1e-8)
        if score > quality:
            best, quality = base, score
        if base == MORE_BASES[0] and quality <= SINGULAR:
            return None  # singular at four points, one of them in no special position: on the whole line
    if quality <= SINGULAR and len(S0):
        return None
    return best, *np.linalg.eigh((1 - best) * S0 + best * S1)


def _pencil(Delta: Array, values: Array, vectors: Array) -> tuple[NDArray[Any], Array, NDArray[Any]] | None:
    """Eigenvalues μ, signs ε and dual vectors x (rows) of (B, Δ), B = Σ values · vectors; None if it is defective.

    B = Σ ε x xᵀ and Δ = Σ ε μ x xᵀ, sums over all eigenvalues; ε = 1 for complex ones.
    """
    scale = np.sqrt(np.abs(values))
    J = np.sign(values)
    inner = (vectors.T @ Delta @ vectors) / np.outer(scale, scale)
    dual = (J * scale)[:, None] * vectors.T
    if np.all(J > 0) or np.all(J < 0):
        mu, Q = np.linalg.eigh((inner + inner.T) / 2)
        return J * mu, J, J[:, None] * (Q.T @ dual)
    mu, Q = _real_where_nearly(*np.linalg.eig(J[:, None] * inner))
    solved = _orthogonalised(mu, Q, J)
    if solved is None:
        return None
    Q, epsilon = solved
    primal = (vectors / scale) @ Q
    matrix = (vectors * values) @ vectors.T
    return _refined(mu, epsilon, epsilon[:, None] * (Q.T @ dual), primal, matrix, Delta)


def _real_where_nearly(mu: NDArray[Any], Q: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A repeated real eigenvalue that rounding split into a pair is real again, with Re q and Im q as eigenvectors."""
    close = np.abs(np.imag(mu)) <= CLUSTER * np.max(np.abs(mu))
    upper = np.flatnonzero(close & (np.imag(mu) > 0))
    if len(upper):
        Q = Q.copy()
        Q[:, upper], Q[:, upper + 1] = (
            np.real(Q[:, upper]),
            np.imag(Q[:, upper]),
        )  # a pair stands side by side
        mu = np.where(close, np.real(mu), mu)
    return mu, Q


def _orthogonalised(mu: NDArray[Any], Q: NDArray[Any], J: Array) -> tuple[NDArray[Any], Array] | None:
    """Eigenvectors with qᵀJq = ε, and ε: 1 for complex ones, ±1 for real ones; None if the matrix is defective.

    Eigenvectors of different eigenvalues are J-orthogonal; within a cluster of equal real ones they are made so.
    """
    Q = Q.astype(complex)
    squares = np.sum(Q * J[:, None] * Q, axis=0)
    real = np.imag(mu) == 0
    if np.any(np.abs(squares[~real]) < DEFECTIVE):
        return None
    epsilon = np.where(real & (np.real(squares) < 0), -1.0, 1.0)
    order = np.flatnonzero(real)[np.argsort(np.real(mu[real]))]
    apart = np.diff(np.real(mu[order])) > CLUSTER * np.max(np.abs(mu))
    for cluster in np.split(order, np.flatnonzero(apart) + 1):
        if len(cluster) > 1:
            block = np.real(Q[:, cluster])
            values, vectors = np.linalg.eigh(block.T @ (J[:, None] * block))
            Q[:, cluster], squares[cluster], epsilon[cluster] = block @ vectors, values, np.sign(values)
    if np.any(np.abs(squares) < DEFECTIVE):
        return None
    return Q / np.sqrt(squares * epsilon), epsilon


def _refined(
    mu: NDArray[Any], epsilon: Array, x: NDArray[Any], primal: NDArray[Any], B: Array, Delta: Array
) -> tuple[NDArray[Any], Array, NDArray[Any]] | None:
    """One Newton step for B = xᵀ diag(ε) x and Δ = xᵀ diag(εμ) x: x → (I + F) x. It makes up for eigenvalues that
    are close together; None when they are too close for that.

    With the defects δ, η of the two equations in the basis of the eigenvectors,
    ε_i F_ij = (μ_j δ_ij − η_ij)/(μ_j − μ_i) off the diagonal and away from clusters, δ_ij/2 elsewhere. The defects are
    made exactly symmetric and conjugate rows exactly conjugate: that brings the equations down to rounding.
    """
    delta = _symmetrised(primal.T @ (B - (x.T * epsilon) @ x) @ primal)
    eta = _symmetrised(primal.T @ (Delta - (x.T * (epsilon * mu)) @ x) @ primal)
    gap = mu[None, :] - mu[:, None]
    near = np.abs(gap) <= CLUSTER * np.max(np.abs(mu))
    F = np.where(near, delta / 2, (mu[None, :] * delta - eta) / np.where(near, 1.0, gap))
    shift = epsilon * (np.diag(eta) - mu * np.diag(delta))
    real = np.imag(mu) == 0
    corrected = mu + np.where(real, np.real(shift), shift)
    if np.max(np.abs(F)) > SMALL_STEP or np.any(np.sign(np.imag(corrected)) != np.sign(np.imag(mu))):
        return None
    moved = x + (epsilon[:, None] * F) @ x
    upper = np.flatnonzero(np.imag(mu) > 0)
    moved[upper] = (moved[upper] + np.conj(moved[upper + 1])) / 2  # LAPACK puts a pair side by side
    return corrected, epsilon, moved


def _symmetrised(matrix: NDArray[Any]) -> NDArray[Any]:
    return (matrix + matrix.T) / 2


def _faithful(lift: EigenPath, S0: Array, S1: Array) -> bool:
    size = float(np.linalg.norm(S0) + np.linalg.norm(S1))
    if lift.energy > LARGEST_ENERGY * size:
        return False
    gaps = [np.max(np.abs((W.T * a) @ W - S)) for (a, W), S in ((lift.start, S0), (lift.end, S1))]
    return bool(max(gaps) <= ACCURACY * max(lift.energy, size))
