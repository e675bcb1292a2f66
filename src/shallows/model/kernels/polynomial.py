"""Expectations of polynomial activations: mixed moments E[(w·x)^i (v·x)^j] from cumulants.

The moment generating function is the exponential of the cumulant generating function, so the scaled moments
e_ij = E[(w·x)^i (v·x)^j] / (i! j!) are the coefficients of exp(Σ c_ab s^a t^b / (a! b!)). Differentiating in s,

    i e_ij = Σ_{a≥1, b} a c̃_ab e_{i−a, j−b},   c̃_ab = c_ab / (a! b!),

(and in t for the row i = 0): a truncated exponential of matrices (k, m), never a moment tensor.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, factorial

import numpy as np

from shallows.model.activations import PolynomialActivation
from shallows.model.kernels.price import Cumulants, Order
from shallows.support.budget import READING, require
from shallows.support.checks import Array

#: Seconds and bytes for a pair of powers, an order of magnitude. Measured for a dozen neurons under i.i.d. data: 5e-5 s
#: at degree 10, 2e-4 at degree 30; what is refused is thousands of times as much.
TERM_SECONDS, TERM_BYTES = 2e-5, 2000.0


def mixing(left: PolynomialActivation, right: PolynomialActivation) -> Array:
    """M_ij = c_i c′_j."""
    terms = (left.degree + 1.0) * (right.degree + 1.0)
    require(
        f"The kernel of {left!r} and {right!r}",
        seconds=TERM_SECONDS * terms,
        size=TERM_BYTES * terms,
        limit=READING,
        fix="Use a lower degree.",
    )
    return np.outer(left.coefficients, right.coefficients)


def scaled_moments(law: Cumulants, W: Array, V: Array, left: int, right: int) -> dict[Order, Array]:
    """e_ij for i ≤ left, j ≤ right; those that vanish identically are left out."""
    series = {
        (a, b): law.value((a, b), W, V) / (factorial(a) * factorial(b)) for a, b in law.orders(left, right)
    }
    result: dict[Order, Array] = {(0, 0): np.ones((1, 1))}
    for i in range(left + 1):
        for j in range(right + 1):
            axis, total = (0, i) if i else (1, j)
            if total == 0:
                continue
            entry: Array | None = None
            for order, coefficient in series.items():
                rest = (i - order[0], j - order[1])
                if order[axis] == 0 or rest not in result:
                    continue
                term = coefficient * result[rest]
                if order[axis] != total:
                    term = term * (order[axis] / total)
                entry = term if entry is None else entry + term
            if entry is not None:
                result[i, j] = entry
    return result


class PolynomialExpectations:
    """φ_ab for k(w, v) = Σ_ij M_ij E[(w·x)^i (v·x)^j], M_ij = c_i c′_j for activations Σ c_i z^i, Σ c′_j z^j.

    Rotation-invariant data puts its radial factors into M: M_ij = c_i c′_j E ρ^{i+j} / E‖g‖^{i+j}.
    """

    def __init__(self, law: Cumulants, mixing: Array) -> None:
        self.law = law
        self.mixing = mixing
        self.left, self.right = mixing.shape[0] - 1, mixing.shape[1] - 1

    def truncation_error(self, W: Array, V: Array) -> float:
        """Zero: the series of a polynomial is finite."""
        return 0.0

    def table(self, W: Array, V: Array, orders: Iterable[Order]) -> dict[Order, Array]:
        """φ_ab = Σ_ij M_{i+a, j+b} C(i+a, a) C(j+b, b) E[(w·x)^i (v·x)^j]."""
        wanted = [(a, b) for a, b in orders if a <= self.left and b <= self.right]
        if not wanted:
            return {}
        lowest = min(a for a, _ in wanted), min(b for _, b in wanted)
        moments = scaled_moments(self.law, W, V, self.left - lowest[0], self.right - lowest[1])
        result = {}
        for a, b in wanted:
            terms = [
                self.mixing[i + a, j + b] * comb(i + a, a) * comb(j + b, b) * factorial(i) * factorial(j) * e
                for (i, j), e in moments.items()
                if i + a <= self.left and j + b <= self.right and self.mixing[i + a, j + b] != 0
            ]
            if terms:
                result[a, b] = np.asarray(sum(terms[1:], start=terms[0]))
        return result
