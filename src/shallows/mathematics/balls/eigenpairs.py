"""Rigorous error bounds for computed eigenpairs, for the certificates of the closed forms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import precision
from shallows.support.checks import Array

BITS = 160


@dataclass(frozen=True)
class Whitening:
    """x = Lz in balls, Σ = LLᵀ: S becomes LᵀSL in z, and comes back by L⁻ᵀ(·)L⁻¹."""

    factor: arb_mat
    back: arb_mat

    @classmethod
    def of(cls, covariance: Array) -> Whitening | None:
        """Cholesky in balls; None when Σ is not proved positive definite."""
        n = len(covariance)
        with precision(BITS):
            sigma, L = _balls(covariance), arb_mat(n, n)
            for j in range(n):
                pivot = sigma[j, j] - sum((L[j, k] * L[j, k] for k in range(j)), arb(0))
                if not pivot > 0:
                    return None
                L[j, j] = pivot.sqrt()
                for i in range(j + 1, n):
                    L[i, j] = (sigma[i, j] - sum((L[i, k] * L[j, k] for k in range(j)), arb(0))) / L[j, j]
            return cls(L, L.inv().transpose())

    def whiten(self, T: Array) -> arb_mat:
        """LᵀTL."""
        with precision(BITS):
            return self.factor.transpose() * _balls(T) * self.factor


@dataclass(frozen=True)
class EigenEnclosure:
    """Bounds proved in ball arithmetic: |σ_i − true σ_i| ≤ values[i], and sin of the angle between uᵢ and a true
    eigenvector ≤ angles[i] (infinite where the eigenvalue is not proved isolated)."""

    vectors: Array
    values: Array
    angles: Array
    whitening: Whitening | None = None

    def margin(self, sigma: Array) -> float:
        """What sums and differences of a few σ_i can be wrong by: the enclosure plus float rounding."""
        size = len(sigma)
        rounding = 8 * size * np.finfo(float).eps * float(np.sum(np.abs(sigma)))
        return float(size * np.max(self.values)) + rounding

    def radius(self, matrix: Array, chosen: NDArray[np.intp], sigma: Array, gaussian: bool) -> float:
        """A bound on the entries of `matrix` − S_I, S_I the true critical point of the eigenvalues `chosen`.

        ‖S − S_I‖ ≤ ‖S − Σ λᵢ uᵢuᵢᵀ‖ + Σ (δλᵢ + 2√2 |λᵢ| sin θᵢ), the first term in balls; whitened, the sum is
        brought back by L⁻ᵀ(·)L⁻¹ and the second term grows by at most ‖L⁻¹‖².
        """
        n, rank = len(sigma), len(chosen)
        rest = np.setdiff1d(np.arange(n), chosen)
        with precision(BITS):
            left_out = sum((arb(float(sigma[j])) for j in rest), arb(0))
            shift = left_out / (rank + 2) if gaussian else arb(0)
            loose = float(np.sum(self.values[rest])) / (rank + 2) if gaussian else 0.0
            total = arb_mat(n, n)
            spread = arb(0)
            for i in chosen:
                u = _balls(self.vectors[:, [i]])
                value = arb(float(sigma[i])) + shift
                total = total + (u * u.transpose()) * (value / (u.transpose() * u)[0, 0])
                spread += arb(float(self.values[i]) + loose) + 3 * abs(value) * arb(float(self.angles[i]))
            if self.whitening is not None:
                back = self.whitening.back
                total = back * total * back.transpose()
                spread = spread * _norm(back) ** 2
            gap = max((abs(e).upper() for e in (total - _balls(matrix)).entries()), key=float)
            return float((gap + spread).upper())


def enclose(
    T: Array, sigma: Array, vectors: Array, whitening: Whitening | None = None
) -> EigenEnclosure | None:
    """Enclosures for the computed eigenpairs of T (of LᵀTL, whitened), or None when they are too far off.

    With QᵀTQ = D + E and QᵀQ = I + F in balls, T has the eigenvalues of the pencil (D + E, I + F), so by Weyl and
    Ostrowski |σ_i − d_i| ≤ (‖E‖ + |d_i|‖F‖) / (1 − ‖F‖). Davis and Kahan: sin θᵢ ≤ ‖T uᵢ − σᵢuᵢ‖ / (‖uᵢ‖ gapᵢ).
    """
    n = len(sigma)
    with precision(BITS):
        A = _balls(T) if whitening is None else whitening.whiten(T)
        Q = _balls(vectors)
        E = Q.transpose() * A * Q - _balls(np.diag(sigma))
        F = Q.transpose() * Q - _balls(np.eye(n))
        error, defect = _norm(E), _norm(F)
        if not defect < 0.5:
            return None
        values = [float(((error + abs(arb(float(d))) * defect) / (1 - defect)).upper()) for d in sigma]
        bounds = np.array(values)
        residual = A * Q - Q * _balls(np.diag(sigma))
        angles = np.full(n, np.inf)
        for i in range(n):
            others = [
                abs(arb(float(sigma[i])) - arb(float(sigma[j]))) - bounds[j] for j in range(n) if j != i
            ]
            gap = min(others, key=lambda ball: float(ball.lower()), default=arb(1))
            length = _norm(arb_mat(n, 1, [residual[k, i] for k in range(n)])) / (1 - defect)
            if gap > 0:
                angles[i] = float((length / gap).upper())
        return EigenEnclosure(vectors, bounds, angles, whitening)


def _balls(matrix: Array) -> arb_mat:
    return arb_mat([[arb(float(x)) for x in row] for row in matrix])


def _norm(matrix: arb_mat) -> arb:
    return sum((entry * entry for entry in matrix.entries()), arb(0)).sqrt()
