"""Metrics that rotations of the inputs leave alone, after a linear change of variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial, prod
from typing import Literal

import numpy as np

from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class RotationInvariance:
    """The metric at one degree d: with u = Σ^½w and q = Σ^½v,

        ⟨w^⊗d, v^⊗d⟩ = κ Σ_h c_h (‖u‖‖q‖)^{2h} (u·q)^{d−2h}.

    "Gaussian" is κ times the metric of N(0, Σ), c_h = C(d, 2h)² (d−2h)! ((2h−1)!!)² (Isserlis; paper 000, equations
    14, 15 and 17); "Frobenius" is c = (1, 0, …); "isotropic", at degree 2, is c = (1, β) for any `share` β. `scale` is
    κ, `covariance` is Σ, None for the identity.
    """

    family: Literal["Gaussian", "Frobenius", "isotropic"]
    degree: int
    scale: float
    covariance: Array | None = None
    share: Fraction = Fraction(0)

    @property
    def coefficients(self) -> Array:
        """κ c_h, h = 0, …, trailing zeros left out; at degree 2 and Σ = I it is κ(c_0 tr ST + c_1 tr S tr T)."""
        d = self.degree
        if self.family == "Frobenius":
            return np.array([self.scale])
        if self.family == "isotropic":
            return self.scale * np.array([1.0, float(self.share)])
        odd = [prod(range(1, 2 * h, 2)) for h in range(d // 2 + 1)]
        return self.scale * np.array(
            [comb(d, 2 * h) ** 2 * factorial(d - 2 * h) * odd[h] ** 2 for h in range(d // 2 + 1)]
        )

    @property
    def trace_share(self) -> Fraction:
        """β of the metric at degree 2, c_0 (tr ST + β tr S tr T)."""
        return {"Gaussian": Fraction(1, 2), "Frobenius": Fraction(0)}.get(self.family, self.share)

    def root(self) -> Array | None:
        """Σ^½, None for the identity."""
        return None if self.covariance is None else symmetric_root(self.covariance)


def symmetric_root(covariance: Array) -> Array:
    """The symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def multiple_of(covariance: Array, other: Array) -> float | None:
    """c with covariance = c · other, to the last bit; None when it is no multiple."""
    ratio = float(covariance[0, 0] / other[0, 0]) if other[0, 0] else 0.0
    return ratio if ratio > 0 and np.array_equal(covariance, ratio * other) else None


def mixed(weights: Array, parts: Sequence[RotationInvariance | None]) -> RotationInvariance | None:
    """Σ γᵢ ⟨·,·⟩ᵢ when one change of variable serves all: one family, covariances cᵢΣ, so κ = Σ γᵢ cᵢ^d κᵢ."""
    first, total = parts[0], 0.0
    if first is None:
        return None
    for weight, part in zip(weights.tolist(), parts, strict=True):
        if part is None or part.family != first.family:
            return None
        ratio: float | None = 1.0
        if part.covariance is None or first.covariance is None:
            ratio = 1.0 if part.covariance is first.covariance else None
        else:
            ratio = multiple_of(part.covariance, first.covariance)
        if ratio is None:
            return None
        total += weight * ratio**first.degree * part.scale
    return RotationInvariance(first.family, first.degree, total, first.covariance)
