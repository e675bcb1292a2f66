"""Losses that are quadratic in finitely many features of each neuron, with gradient and Hessian, at balls.

f has coordinates s_o = Σᵢ a_oi ψ(uᵢ), and L = Σ_o (s_oᵀG s_o − 2 b_oᵀs_o) + E‖y‖². Polynomial activations have the
monomials of (1, x) for features and exact moments for G and b (`model.polynomial_space`); samples have the values
ψ(u)_t = σ(u·x_t), with G the diagonal of their weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Any, Protocol

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.balls.systems import rational
from shallows.mathematics.tensors import coordinates
from shallows.model.activations import PolynomialActivation, ReLU, polynomial_of
from shallows.model.data.base import Distribution
from shallows.model.exact_loss import ExactLoss
from shallows.model.objective.build import labels_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.model.single_outputs import single_outputs
from shallows.questions.certificates.hermite_balls import required
from shallows.support.errors import InvalidProblem, NotConverged

#: Features times parameters of the largest loss: a second for value and derivatives.
LARGEST = 200_000


#: Monomials of the largest polynomial loss: their exact Gram matrix takes half a second at 210.
MONOMIALS = 300


class Features(Protocol):
    """ψ(u) and its derivatives; `gram(J)` is GJ for a table J with a row a feature."""

    count: int
    right: arb_mat
    energy: Any

    def gram(self, table: arb_mat) -> arb_mat:
        """G times a table."""
        ...

    def __call__(self, u: Sequence[Any]) -> tuple[list[Any], arb_mat, Any]:
        """ψ(u), ∂ψ/∂u (a row a feature), and what `curved` needs."""
        ...

    def curved(self, state: Any, weights: Sequence[Any]) -> arb_mat:
        """Σ_I weights_I ∂²ψ_I/∂u²."""
        ...


class Monomials:
    """ψ(u)_I = g_i(b) w^I of degree i = |I|, g_i(b) = Σ_j c_j C(j, i) b^(j−i), for u = (b, w) or w."""

    def __init__(self, problem: Problem) -> None:
        degree, count = polynomial_of(problem.activation).degree, self.needed(problem)
        if count > MONOMIALS:
            raise InvalidProblem(
                f"Nothing is proved here: polynomials of degree {degree} in {problem.n} inputs have "
                f"{count:,} coefficients; proofs are for up to {MONOMIALS}."
            )
        spaces = (
            [_quadratic(one) for one in single_outputs(problem)]
            if problem.outputs > 1
            else [_quadratic(problem)]
        )
        degrees, exact, _ = spaces[0]
        self.bias, self.n = problem.bias, problem.n
        self.c = [arb(float(x)) for x in polynomial_of(problem.activation).coefficients]
        self.count = len(exact.right)
        self.G = arb_mat([[arb(rational(x)) for x in row] for row in exact.gram.tolist()])
        rights = zip(*(space.right.tolist() for _, space, _ in spaces), strict=True)
        self.right = arb_mat([[arb(rational(x)) for x in row] for row in rights])
        self.energy = arb(rational(sum((energy for *_, energy in spaces), Fraction(0))))
        self.exponents = [
            (i, [int(x) for x in row])
            for i in degrees
            for row in (coordinates.exponents(self.n, i) if i else np.zeros((1, self.n), int))
        ]

    @staticmethod
    def needed(problem: Problem) -> int:
        """How many monomials polynomials of the activation's degree have."""
        return comb(problem.n + polynomial_of(problem.activation).degree, problem.n)

    def gram(self, table: arb_mat) -> arb_mat:
        """The exact G times a table."""
        return self.G * table

    def _levels(self, b: Any) -> list[list[Any]]:
        """g_i, g_i′ and g_i″ at b."""
        d = len(self.c) - 1
        powers, found = _powers(b, d), []
        for order in range(3):
            row = []
            for i in range(d + 1):
                total = arb(0)
                for j in range(i + order, d + 1):
                    falling = comb(j, i) * int(np.prod(range(j - i - order + 1, j - i + 1), dtype=object))
                    total = total + self.c[j] * falling * powers[j - i - order]
                row.append(total)
            found.append(row)
        return found

    def __call__(self, u: Sequence[Any]) -> tuple[list[Any], arb_mat, Any]:
        """ψ and ∂ψ; the state is what both were made of."""
        b, w = (u[0], list(u[1:])) if self.bias else (arb(0), list(u))
        levels: list[Any] = self._levels(b) if self.bias else [self.c, None, None]
        powers = [_powers(x, len(self.c)) for x in w]
        state = (levels, powers)
        values, rows = [], []
        for i, exponent in self.exponents:
            monomial = _product(powers, exponent)
            values.append(levels[0][i] * monomial)
            row = [levels[0][i] * _slope(powers, exponent, [r]) for r in range(self.n)]
            rows.append([levels[1][i] * monomial, *row] if self.bias else row)
        return values, arb_mat(rows), state

    def curved(self, state: Any, weights: Sequence[Any]) -> arb_mat:
        """Σ weights ∂²ψ."""
        levels, powers = state
        first = int(self.bias)
        size = self.n + first
        table = [[arb(0)] * size for _ in range(size)]
        for weight, (i, exponent) in zip(weights, self.exponents, strict=True):
            if self.bias:
                table[0][0] = table[0][0] + weight * levels[2][i] * _product(powers, exponent)
            for r in range(self.n):
                if not exponent[r]:
                    continue
                if self.bias:
                    table[0][r + 1] = table[0][r + 1] + weight * levels[1][i] * _slope(powers, exponent, [r])
                for q in range(r, self.n):
                    value = weight * levels[0][i] * _slope(powers, exponent, [r, q])
                    table[r + first][q + first] = table[r + first][q + first] + value
        return arb_mat([[table[min(r, q)][max(r, q)] for q in range(size)] for r in range(size)])


def _quadratic(problem: Problem) -> tuple[tuple[int, ...], ExactLoss, Fraction]:
    """The degrees of monomials that are seen, G and b on them, and E y²."""
    if isinstance(problem.data, Distribution):
        space = PolynomialSpace.of(problem)
        return space.degrees, space.exact, space.energy
    exact = ExactLoss.of(problem)  # an inner product of forms of one degree
    return (problem.degree,), exact, Fraction(exact.right @ exact.target)


class SampleValues:
    """ψ(u)_t = σ(u·x_t) on samples; ReLU where no sample is on a kink."""

    def __init__(self, problem: Problem) -> None:
        samples = problem.data.as_samples()
        assert samples is not None
        labels = labels_of(problem.target, samples)
        given = np.ones(samples.count) if samples.given is None else samples.given
        weights = [arb(float(w)) for w in given]
        total = sum(weights, arb(0))
        self.weights = [w / total for w in weights]
        self.count = samples.count
        self.activation = problem.activation
        self.balls = (
            None if isinstance(self.activation, ReLU | PolynomialActivation) else required(self.activation)
        )
        rows = samples.X.tolist()
        self.X = arb_mat([[1.0, *row] for row in rows] if problem.bias else rows)
        y = labels.tolist()
        self.right = arb_mat(
            [[w * arb(value) for value in row] for w, row in zip(self.weights, y, strict=True)]
        )
        self.energy = sum(
            (w * arb(v) * arb(v) for w, row in zip(self.weights, y, strict=True) for v in row), arb(0)
        )

    def gram(self, table: arb_mat) -> arb_mat:
        """Each row times its sample's weight."""
        return arb_mat([[w * x for x in row] for w, row in zip(self.weights, table.tolist(), strict=True)])

    def _derivatives(self, z: Any) -> list[Any]:
        if self.balls is not None:
            return self.balls.derivatives(z)
        if isinstance(self.activation, PolynomialActivation):
            return _horner([arb(float(c)) for c in self.activation.coefficients], z)
        if z > 0:
            return [z, arb(1), arb(0)]
        if z < 0:
            return [arb(0), arb(0), arb(0)]
        raise NotConverged("A sample may be on the kink of a ReLU neuron: the loss has no Hessian there.")

    def __call__(self, u: Sequence[Any]) -> tuple[list[Any], arb_mat, Any]:
        """σ and σ′x."""
        z = (self.X * arb_mat([[x] for x in u])).entries()
        table = [self._derivatives(entry) for entry in z]
        slopes = [[line[1] * x for x in row] for line, row in zip(table, self.X.tolist(), strict=True)]
        return [line[0] for line in table], arb_mat(slopes), [line[2] for line in table]

    def curved(self, state: Any, weights: Sequence[Any]) -> arb_mat:
        """Σ weights σ″ x xᵀ."""
        rows = self.X.tolist()
        scaled = [[w * s * x for x in row] for w, s, row in zip(weights, state, rows, strict=True)]
        return self.X.transpose() * arb_mat(scaled)


class FeatureBalls:
    """∇L and ∇²L in θ from features; all given numbers are exact."""

    is_real = True

    def __init__(self, problem: Problem, features: Features) -> None:
        if features.count * problem.size > LARGEST:
            raise InvalidProblem(
                f"Proofs with {features.count:,} features and {problem.size} parameters take too long; up to "
                f"{LARGEST:,} products of both are done."
            )
        self.features, self.problem, self.n = features, problem, problem.size
        self.inner, self.outer = problem.layout.places()

    def ball_evaluator(self, bits: int) -> FeatureBalls:
        """Itself: made for the bits asked for first."""
        return self

    def _weights(self, x: Sequence[Any]) -> list[list[Any]]:
        if self.outer is None:
            assert self.problem.outer is not None
            return [[arb(float(v)) for v in row] for row in self.problem.outer]
        return [[x[place] for place in row] for row in self.outer]

    def _function(self, x: Sequence[Any]) -> tuple[list[Any], list[list[Any]], arb_mat]:
        """The features of each neuron, A, and the coordinates s (a column an output)."""
        found = [self.features([x[place] for place in row]) for row in self.inner]
        A = self._weights(x)
        values = arb_mat([value for value, _, _ in found]).transpose()
        return found, A, values * arb_mat(A).transpose()

    def loss(self, x: Sequence[Any]) -> Any:
        """E‖f − y‖²."""
        s = self._function(x)[2]
        inner = (self.features.gram(s) - self.features.right * 2).tolist()
        terms = (
            p * q
            for left, right in zip(s.tolist(), inner, strict=True)
            for p, q in zip(left, right, strict=True)
        )
        return sum(terms, self.features.energy)

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """∇L (p×1) and ∇²L (p×p)."""
        found, A, s = self._function(x)
        residual = self.features.gram(s) - self.features.right
        gradient, hessian = arb_mat(self.n, 1), arb_mat(self.n, self.n)
        for o, outer in enumerate(A):
            r = [row[o] for row in residual.tolist()]
            J = self._jacobian(found, outer, o)
            gradient = gradient + J.transpose() * arb_mat([[entry] for entry in r])
            hessian = hessian + J.transpose() * self.features.gram(J) + self._bent(found, outer, o, r)
        return gradient * 2, hessian * 2

    def _jacobian(self, found: list[Any], outer: list[Any], o: int) -> arb_mat:
        """∂s_o/∂θ, a row a feature."""
        columns: list[list[Any]] = [[arb(0)] * self.features.count for _ in range(self.n)]
        for i, (values, slopes, _) in enumerate(found):
            for place, column in zip(self.inner[i], slopes.transpose().tolist(), strict=True):
                columns[place] = [outer[i] * entry for entry in column]
            if self.outer is not None:
                columns[self.outer[o][i]] = values
        return arb_mat(columns).transpose()

    def _bent(self, found: list[Any], outer: list[Any], o: int, r: list[Any]) -> arb_mat:
        """Σ_I r_I ∂²s_oI/∂θ²."""
        table = [[arb(0)] * self.n for _ in range(self.n)]
        for i, (_, slopes, state) in enumerate(found):
            block = (self.features.curved(state, r) * outer[i]).tolist()
            for place, line in zip(self.inner[i], block, strict=True):
                for other, entry in zip(self.inner[i], line, strict=True):
                    table[place][other] = entry
            if self.outer is not None:
                at = self.outer[o][i]
                pulls = (slopes.transpose() * arb_mat([[entry] for entry in r])).entries()
                for place, entry in zip(self.inner[i], pulls, strict=True):
                    table[place][at] = table[at][place] = entry
        return arb_mat(table)


def _horner(c: list[Any], z: Any) -> list[Any]:
    """A polynomial with its first two derivatives."""
    value, first, half = arb(0), arb(0), arb(0)
    for entry in reversed(c):
        half = half * z + first
        first = first * z + value
        value = value * z + entry
    return [value, first, 2 * half]


def _powers(x: Any, count: int) -> list[Any]:
    row = [arb(1)]
    for _ in range(count):
        row.append(row[-1] * x)
    return row


def _product(powers: list[list[Any]], exponent: list[int]) -> Any:
    value = arb(1)
    for row, e in zip(powers, exponent, strict=True):
        if e:
            value = value * row[e]
    return value


def _slope(powers: list[list[Any]], exponent: list[int], variables: list[int]) -> Any:
    """The derivative of w^I by these variables."""
    left, factor = list(exponent), 1
    for r in variables:
        factor *= left[r]
        left[r] = max(left[r] - 1, 0)
    return factor * _product(powers, left) if factor else arb(0)
