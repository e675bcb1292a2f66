"""Rigorous error bounds for computed eigenpairs, for the certificates of the closed forms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import precision
from shallows.mathematics.exact.linear_algebra import matrix
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON

BITS = 160
#: How far computed eigenvectors may be from orthonormal for bounds of first order in that: rounding is 10⁻¹² of it.
SKEW = 1e-3
#: Operations that sums and differences of a few eigenvalues take, for each of them: at most so many roundings.
ROUNDINGS = 8


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

    def whiten(self, T: arb_mat) -> arb_mat:
        """LᵀTL, at the present precision."""
        return self.factor.transpose() * T * self.factor


@dataclass(frozen=True)
class EigenEnclosure:
    """Bounds proved in ball arithmetic for computed eigenpairs, the columns of Q = `vectors` and σ.

    |σ_i − true σ_i| ≤ values[i], ‖T uᵢ − σᵢuᵢ‖ ≤ residuals[i] ‖uᵢ‖ and ‖QᵀQ − I‖ ≤ defect.
    """

    vectors: Array
    values: Array
    residuals: Array
    defect: float
    whitening: Whitening | None = None

    def margin(self, sigma: Array) -> float:
        """What sums and differences of a few σ_i can be wrong by: the enclosure plus float rounding."""
        size = len(sigma)
        rounding = ROUNDINGS * size * EPSILON * float(np.sum(np.abs(sigma)))
        return float(size * np.max(self.values)) + rounding

    def angle(self, i: int, sigma: Array, labels: NDArray[np.intp]) -> arb:
        """A bound on ‖(I − P)uᵢ‖/‖uᵢ‖, P onto the eigenspaces of all eigenvalues of uᵢ's label: residual over gap.

        (T − σᵢ)(I − P)uᵢ = (I − P)(T uᵢ − σᵢuᵢ), and T − σᵢ is at least the gap outside P (Davis and Kahan). Infinite
        where the other labels are not proved apart.
        """
        others = np.flatnonzero(labels != labels[i]).tolist()
        gaps = [abs(arb(float(sigma[i])) - arb(float(sigma[j]))) - arb(float(self.values[j])) for j in others]
        gap = min(gaps, key=lambda ball: float(ball.lower()), default=None)
        if gap is None:
            return arb(0)
        return arb(float(self.residuals[i])) / gap if gap > 0 else arb(float("inf"))

    def radius(
        self,
        matrix: Array,
        chosen: NDArray[np.intp],
        sigma: Array,
        labels: NDArray[np.intp],
        divisor: Fraction | None,
    ) -> float:
        """A bound on the entries of `matrix` − S, S a true critical point that keeps as many eigenvalues of each label.

        With λᵢ = σᵢ + c, c = Σ_{j∉I} σ_j / divisor (0 without one), and units ûᵢ,
        ‖Σ λᵢ ûᵢûᵢᵀ − S‖ ≤ Σ (δλᵢ + |λᵢ|(2δ + 5 sin θᵢ)): eigenspaces are off by their angles θ, units of one label are
        orthonormal to 2δ, δ = ‖QᵀQ − I‖ (none for a single one), and δλᵢ has twice the spread of its label, whose
        eigenvalues need not be equal where all are kept. `matrix` against Σ λᵢ ûᵢûᵢᵀ is in balls; whitened, both are
        brought back by L⁻ᵀ(·)L⁻¹, which grows the bound by at most ‖L⁻¹‖².
        """
        n = len(sigma)
        rest = np.setdiff1d(np.arange(n), chosen)
        with precision(BITS):
            left_out = sum((arb(float(sigma[j])) for j in rest), arb(0))
            by = None if divisor is None else arb(fmpq(divisor.numerator, divisor.denominator))
            shift = arb(0) if by is None else left_out / by
            loose = arb(0) if by is None else arb(float(np.sum(self.values[rest]))) / abs(by)
            total = arb_mat(n, n)
            spread = arb(0)
            for i in chosen.tolist():
                u = _balls(self.vectors[:, [i]])
                value = arb(float(sigma[i])) + shift
                total = total + (u * u.transpose()) * (value / (u.transpose() * u)[0, 0])
                alike = np.flatnonzero(labels == labels[i])
                apart = arb(float(sigma[alike].max())) - arb(float(sigma[alike].min()))
                error = arb(float(self.values[i])) + loose + 2 * apart
                askew = arb(2 * self.defect) if len(alike) > 1 else arb(0)
                spread += error + (abs(value) + error) * (askew + 5 * self.angle(i, sigma, labels))
            if self.whitening is not None:
                back = self.whitening.back
                total = back * total * back.transpose()
                spread = spread * _norm(back) ** 2
            gap = max((abs(e).upper() for e in (total - _balls(matrix)).entries()), key=float, default=arb(0))
            return float((gap + spread).upper())


def enclose(
    T: NDArray[Any], sigma: Array, vectors: Array, whitening: Whitening | None = None
) -> EigenEnclosure | None:
    """Enclosures for the computed eigenpairs of T (of LᵀTL, whitened), or None when they are too far off.

    T is a matrix of fractions. With QᵀTQ = D + E and QᵀQ = I + F in balls, T has the eigenvalues of the pencil
    (D + E, I + F), so by Weyl and Ostrowski |σ_i − d_i| ≤ (‖E‖ + |d_i|‖F‖) / (1 − ‖F‖).
    """
    n = len(sigma)
    with precision(BITS):
        A = arb_mat(matrix(T.tolist()))
        A = A if whitening is None else whitening.whiten(A)
        Q = _balls(vectors)
        E = Q.transpose() * A * Q - _balls(np.diag(sigma))
        F = Q.transpose() * Q - _balls(np.eye(n))
        error, defect = _norm(E), _norm(F)
        if not defect < SKEW:
            return None
        values = [float(((error + abs(arb(float(d))) * defect) / (1 - defect)).upper()) for d in sigma]
        residual = A * Q - Q * _balls(np.diag(sigma))
        lengths = [_norm(arb_mat(n, 1, [residual[k, i] for k in range(n)])) / (1 - defect) for i in range(n)]
        residuals = [float(length.upper()) for length in lengths]
        return EigenEnclosure(
            vectors, np.array(values), np.array(residuals), float(defect.upper()), whitening
        )


def _balls(matrix: Array) -> arb_mat:
    return arb_mat([[arb(float(x)) for x in row] for row in matrix])


def _norm(matrix: arb_mat) -> arb:
    return sum((entry * entry for entry in matrix.entries()), arb(0)).sqrt()
