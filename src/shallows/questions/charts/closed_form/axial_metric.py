"""Axial metrics: inner products of quadratic forms that rotations about one axis leave alone, in suitable coordinates.

With a covariance N₀ and an axis a, every such metric is

    ⟨D, D⟩ = c₁ tr(DN₀DN₀) + c₂ aᵀDN₀Da + c₃ (tr DN₀)² + c₄ (tr DN₀)(aᵀDa) + c₅ (aᵀDa)²
           = α tr(DNDN) + q₁₁ τ² + 2q₁₂ τ δ + q₂₂ δ²,    N = N₀ + c aaᵀ, τ = tr DN, δ = aᵀDa,

with α = c₁ and c = c₂/2c₁. Gaussians with a mean are axial (N = E xxᵀ, α = 2, q₁₁ = 1, q₂₂ = −2), and so are Gaussian
data beside a bias or a polynomial activation, where the axis is the constant input. What the metric is, is decided in
rational numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.rational_arrays import fractions, rational_array, rational_matrix
from shallows.mathematics.tensors import coordinates
from shallows.model.data.base import InnerProduct
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedMetric

#: In two inputs tr(DN₀DN₀) is (tr DN₀)², and any share of it may be α: this one makes Gaussian data what they are.
SHARE = Fraction(2, 3)


@dataclass(frozen=True, eq=False)
class AxialMetric:
    """N, N⁻¹ and the axis a as arrays of fractions, with α and the form q on (τ, δ)."""

    second: NDArray[Any]
    inverse: NDArray[Any]
    axis: NDArray[Any]
    alpha: Fraction
    trace: Fraction
    mixed: Fraction
    along: Fraction

    @property
    def height(self) -> Fraction:
        """h = aᵀN⁻¹a: aᵀDa is h times the entry of N^½DN^½ on the unit axis."""
        return Fraction(self.axis @ self.inverse @ self.axis)

    @property
    def n(self) -> int:
        """The number of inputs, a constant one among them."""
        return len(self.axis)

    def on_axis(self) -> tuple[Fraction, Fraction, Fraction]:
        """The metric on xI + y eeᵀ, e the unit axis, in white coordinates: its coefficients of x², 2xy and y²."""
        n, h = self.n, self.height
        square = self.trace * n * n + 2 * self.mixed * n * h + self.along * h * h + self.alpha * n
        cross = self.trace * n + self.mixed * h * (n + 1) + self.along * h * h + self.alpha
        axis = self.trace + 2 * self.mixed * h + self.along * h * h + self.alpha
        return square, cross, axis

    def is_definite(self) -> bool:
        """Whether it is positive definite: across I and eeᵀ it is α‖D‖²."""
        square, cross, axis = self.on_axis()
        return self.alpha > 0 and axis > 0 and square * axis > cross * cross

    def is_blind(self) -> bool:
        """Whether it does not see the square of the axis, and is positive definite across it."""
        square, cross, axis = self.on_axis()
        return self.alpha > 0 and axis == cross == 0 and square > 0

    def reach(self, energy: Fraction) -> Fraction:
        """(q₁₂τ + q₂₂δ)² at most, for ⟨D, D⟩ ≤ energy: by Cauchy and Schwarz, among the D = xI + y eeᵀ."""
        n, h = self.n, self.height
        square, cross, axis = self.on_axis()
        x, y = self.mixed * n + self.along * h, self.mixed + self.along * h
        dual = (axis * x * x - 2 * cross * x * y + square * y * y) / (square * axis - cross * cross)
        return energy * dual


def axial_metric(problem: Problem) -> AxialMetric | None:
    """The metric of a problem at degree 2 where it is axial and positive definite; None otherwise."""
    if problem.degree != 2 or problem.n < 2:
        return None
    for covariance, axis in _candidates(problem.data):
        metric = fitted_metric(ExactLoss.of(problem).gram, covariance, axis)
        if metric is not None and metric.is_definite():
            return metric
    return None


def _candidates(data: InnerProduct) -> Iterator[tuple[Any, Any]]:
    """Covariances N₀ with an axis that the law says it has."""
    law = data.law if isinstance(data, ReducedMetric) else data
    line, affine = law.gaussian_line(), law.affine_invariance(2)
    if line is not None:
        yield line.covariance, line.direction
    if affine is not None:
        yield np.pad(affine, (1, 0)), np.eye(law.n)[0]


def fitted_metric(gram: NDArray[Any], covariance: Any, axis: Any) -> AxialMetric | None:
    """The metric with this Gram matrix of fractions, exactly; None where it is not of the form above."""
    covariance, axis = fractions(covariance), fractions(axis)
    forms = _forms(covariance, axis)
    c = _coefficients(forms, gram)
    if c is None or c[0] <= 0 or np.any(sum(w * form for w, form in zip(c, forms, strict=True)) != gram):
        return None
    alpha, along = c[0], c[1] / (2 * c[0])
    N = covariance + along * np.outer(axis, axis)
    matrix = rational_matrix(N)
    if matrix.det() == 0 or not _is_positive(N):
        return None
    mixed = c[3] / 2 - along * c[2]
    last = c[2] * along**2 - along * c[3] + c[4] - alpha * along**2
    inverse = rational_array(matrix.inv()).reshape(N.shape)
    return AxialMetric(N, inverse, axis, alpha, c[2], mixed, last)


def _coefficients(forms: list[NDArray[Any]], gram: NDArray[Any]) -> list[Fraction] | None:
    """c of least squares, exactly."""
    free = forms if len(gram) > 3 else forms[1:]
    rows = rational_matrix(np.array([form.ravel() for form in free]))
    try:
        solved = (rows * rows.transpose()).solve(rows * rational_matrix(gram.ravel()[:, None]))
    except ZeroDivisionError:
        return None
    c = rational_array(solved).tolist()
    if len(free) == len(forms):
        return list(c)
    return [SHARE * c[1], c[0], (1 - SHARE) * c[1], *c[2:]]


def _forms(N: NDArray[Any], a: NDArray[Any]) -> list[NDArray[Any]]:
    """The five forms on the entries D_ij, i ≤ j, each once."""
    i, j = coordinates.indices(len(a), 2).T
    weights = coordinates.multiplicities(len(a), 2).astype(int).astype(object)
    pair = np.multiply.outer(weights, weights)
    both = [(i, j), (j, i)]
    square = sum(N[np.ix_(p, k)] * N[np.ix_(q, m)] for p, q in [(i, j)] for k, m in both) * Fraction(1, 2)
    beside = sum(np.multiply.outer(a[p], a[m]) * N[np.ix_(q, k)] for p, q in both for k, m in both)
    trace, axis = N[i, j], a[i] * a[j]
    mixed = np.multiply.outer(trace, axis)
    return [
        pair * square,
        pair * beside * Fraction(1, 4),
        pair * np.multiply.outer(trace, trace),
        pair * (mixed + mixed.T) * Fraction(1, 2),
        pair * np.multiply.outer(axis, axis),
    ]


def _is_positive(N: NDArray[Any]) -> bool:
    """Whether all leading minors are positive."""
    return all(rational_matrix(N[:k, :k]).det() > 0 for k in range(1, len(N) + 1))
