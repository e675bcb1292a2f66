"""One neuron on rational samples, as a polynomial in its parameters: all real critical points by msolve.

L = Σᵢ pᵢ ‖a (u·xᵢ)^d + ν‖xᵢ‖² − yᵢ‖² + γ‖uuᵀ − I‖² is written out term by term in (a, ν, u), differentiated, and solved
in the coordinates u = (1, y, z), (0, 1, z), … where a is free, in u itself where it is fixed. No metrics, no tensors,
no reductions: what the library does about several outputs, norm neurons, penalties and weights is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.exact import fractions
from tests.oracle.msolve import Form, _derivative, _solve


def times(left: Form, right: Form) -> Form:
    """The product."""
    result: Form = {}
    for e, c in left.items():
        for f, b in right.items():
            key = tuple(i + j for i, j in zip(e, f, strict=True))
            result[key] = result.get(key, Fraction(0)) + c * b
    return result


def plus(*forms: Form) -> Form:
    """The sum."""
    result: Form = {}
    for form in forms:
        for e, c in form.items():
            result[e] = result.get(e, Fraction(0)) + c
    return {e: c for e, c in result.items() if c}


@dataclass(frozen=True)
class OneNeuron:
    """Samples X, labels Y (count, M), weights; `outer` is None for a trained a, or its one fixed value."""

    X: Any
    Y: Any
    degree: int = 2
    weights: Sequence[float] | None = None
    outer: float | None = None
    norm: bool = False
    gamma: float = 0.0

    @property
    def outputs(self) -> int:
        """M."""
        return len(self.Y[0])

    @property
    def sizes(self) -> tuple[int, int, int]:
        """How many unknowns a, ν and u."""
        M = self.outputs
        return (M if self.outer is None else 0), (M if self.norm else 0), len(self.X[0])

    def _unknown(self, k: int) -> Form:
        return {tuple(int(i == k) for i in range(sum(self.sizes))): Fraction(1)}

    def _number(self, value: Fraction) -> Form:
        return {(0,) * sum(self.sizes): value} if value else {}

    def loss(self) -> Form:
        """L."""
        X, Y, (free, norms, n) = fractions(self.X), fractions(self.Y), self.sizes
        p = [Fraction(1)] * len(X) if self.weights is None else fractions(list(self.weights))
        total: Form = {}
        for x, y, weight in zip(X, Y, p, strict=True):
            z = plus(*({e: x[k] * c for e, c in self._unknown(free + norms + k).items()} for k in range(n)))
            power = self._number(Fraction(1))
            for _ in range(self.degree):
                power = times(power, z)
            square = sum((v * v for v in x), Fraction(0))
            for m in range(self.outputs):
                a = self._unknown(m) if free else self._number(Fraction(self.outer or 0))
                nu = times(self._unknown(free + m), self._number(square)) if norms else {}
                gap = plus(times(a, power), nu, self._number(-y[m]))
                total = plus(total, times(times(gap, gap), self._number(weight / sum(p))))
        for i in range(n if self.gamma else 0):
            for j in range(n):
                both = times(self._unknown(free + norms + i), self._unknown(free + norms + j))
                gap = plus(both, self._number(Fraction(-int(i == j))))
                total = plus(total, times(times(gap, gap), self._number(Fraction(self.gamma))))
        return total

    def critical(self, timeout: float = 60.0) -> list[tuple[list[float], list[float], list[float]]] | None:
        """(a, ν, u) of all real critical points with a·u ≠ 0; None where msolve is missing, too slow, or a set is
        infinite."""
        free, norms, n = self.sizes
        loss = self.loss()
        slopes = [_derivative(loss, k) for k in range(free + norms + n)]
        if free == 1:  # ∂L/∂u has the factor a: without it a = 0 is a curve of solutions in three inputs
            slopes[1 + norms :] = [_without_factor(slope) for slope in slopes[1 + norms :]]
        found = []
        for zeros in range(n if free else 1):
            fixed = {free + norms + k: Fraction(int(k == zeros)) for k in range(zeros + 1)} if free else {}
            names = [f"x{k}" for k in range(free + norms + n) if k not in fixed]
            rows = [row for row in (_substituted(slope, fixed) for slope in slopes) if row]
            answer = _solve(rows, names, timeout)
            if answer is None or answer == "infinite":
                return None
            for values in answer:
                assert isinstance(values, list)
                rest = iter(values)
                whole = [fixed[k] if k in fixed else next(rest) for k in range(free + norms + n)]
                a, nu, u = whole[:free], whole[free : free + norms], whole[free + norms :]
                if any(u) and (not free or any(a)):
                    found.append(([float(x) for x in a], [float(x) for x in nu], [float(x) for x in u]))
        return found


def _without_factor(form: Form) -> Form:
    """The form over its factor, the first unknown."""
    assert all(e[0] for e in form)
    return {(e[0] - 1, *e[1:]): c for e, c in form.items()}


def _substituted(form: Form, fixed: dict[int, Fraction]) -> Form:
    result: Form = {}
    for e, c in form.items():
        for k, value in fixed.items():
            c = c * value ** e[k]
        key = tuple(x for k, x in enumerate(e) if k not in fixed)
        result[key] = result.get(key, Fraction(0)) + c
    return {e: c for e, c in result.items() if c}
