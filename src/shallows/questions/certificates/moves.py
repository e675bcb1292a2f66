"""Directions in which two-layer networks of a polynomial or ReLU activation move without changing their function.

Neurons a σ(u·x), u = (b, w) on (1, x) where there is a bias:

- σ homogeneous of degree d, a trained: u ↦ λu, a ↦ λ^(−d)a;
- σ(z) = z²: S = Σ aᵢuᵢuᵢᵀ is all there is, and δuᵢ = aⱼuⱼ, δuⱼ = −aᵢuᵢ leaves it alone;
- σ(z) = c₂z² + c₁z + c₀ = c₂(z + h)² + κ with h = c₁/2c₂: the same in u′ = u + he₀, as far as Σ aᵢκ is left alone
  and, without bias and h ≠ 0, the first entries stay h. Then, of the pairs above with scalings added, there remain with
  a trained δwᵢ = aⱼ(wⱼ − wᵢ), δwⱼ = aᵢ(wⱼ − wᵢ), δaᵢ = 2aᵢaⱼ = −δaⱼ, and with a fixed the
  triples with factors a_l, aᵢ, aⱼ.

Directions at a network with equal or vanishing neurons may be dependent; then nothing is proved there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.balls.across import Moves
from shallows.model.activations import PolynomialActivation, ReLU
from shallows.model.problem import Problem

Vector = dict[int, Any]


def moves(problem: Problem) -> Moves | None:
    """Tangents of the orbit at balls θ, as columns; None where there are none."""
    found = _Directions(problem)
    if not found.any:
        return None
    return found


class _Directions:
    """The directions of a problem; each is a map from places in θ to entries."""

    def __init__(self, problem: Problem) -> None:
        self.size, self.width, self.outputs = problem.size, problem.width, problem.outputs
        self.inner, self.outer = problem.layout.places()
        self.fixed = (
            None if problem.outer is None else [[arb(float(x)) for x in row] for row in problem.outer]
        )
        self.bias, activation = problem.bias, problem.activation
        self.degree: int | None = 1 if isinstance(activation, ReLU) else None
        self.shift: Any = None
        self.constant = self.centred = False
        if isinstance(activation, PolynomialActivation):
            c = [float(x) for x in activation.coefficients]
            if np.count_nonzero(c) == 1:
                self.degree = activation.degree
            if activation.degree == 2 and self.outputs == 1:
                self.shift = arb(c[1]) / (2 * arb(c[2]))
                self.centred = c[1] == 0
                self.constant = bool(4 * Fraction(c[0]) * Fraction(c[2]) != Fraction(c[1]) ** 2)

    @property
    def any(self) -> bool:
        """Whether there is a direction at all."""
        x = [arb(1)] * self.size
        return bool(self._all(x))

    def __call__(self, x: Sequence[Any]) -> arb_mat:
        """A column a direction."""
        found = self._all(x)
        return arb_mat([[vector.get(place, arb(0)) for vector in found] for place in range(self.size)])

    def _a(self, x: Sequence[Any], i: int) -> Any:
        return x[self.outer[0][i]] if self.outer is not None else self.fixed[0][i]  # type: ignore[index]

    def _all(self, x: Sequence[Any]) -> list[Vector]:
        found: list[Vector] = []
        if self.shift is None or self.degree is not None:
            if self.degree is not None and self.outer is not None:
                found += [self._scaling(x, i) for i in range(self.width)]
            if self.shift is not None:
                found += [self._rotation(x, i, j) for i, j in combinations(range(self.width), 2)]
            return found
        if self.bias or self.centred:
            found += [self._rotation(x, i, j) for i, j in combinations(range(self.width), 2)]
            if self.outer is not None:
                found += self._scalings_of_quadrics(x)
            return found
        if self.outer is not None:
            return [self._pair(x, i, j) for i, j in combinations(range(self.width), 2)]
        return [self._triple(x, i, j) for i, j in combinations(range(1, self.width), 2)]

    def _u(self, x: Sequence[Any], i: int) -> list[Any]:
        """u′ᵢ, what is squared: with a bias it is moved by the activation's own."""
        u = [x[place] for place in self.inner[i]]
        return [u[0] + self.shift, *u[1:]] if self.bias and self.shift is not None else u

    def _scaling(self, x: Sequence[Any], i: int) -> Vector:
        assert self.degree is not None and self.outer is not None
        vector = dict(zip(self.inner[i], self._u(x, i), strict=True))
        for row in self.outer:
            vector[row[i]] = -self.degree * x[row[i]]
        return vector

    def _scalings_of_quadrics(self, x: Sequence[Any]) -> list[Vector]:
        """Scalings of u′, all of them where κ = 0, else those with Σ δa = 0: tᵢ = a₀ against t₀ = −aᵢ."""
        assert self.outer is not None
        single: list[Vector] = []
        for i in range(self.width):
            vector = dict(zip(self.inner[i], self._u(x, i), strict=True))
            vector[self.outer[0][i]] = -2 * x[self.outer[0][i]]
            single.append(vector)
        if not self.constant:
            return single
        first = self._a(x, 0)
        found = []
        for i in range(1, self.width):
            mine = self._a(x, i)
            vector = {place: first * value for place, value in single[i].items()}
            vector |= {place: -mine * value for place, value in single[0].items()}
            found.append(vector)
        return found

    def _rotation(self, x: Sequence[Any], i: int, j: int) -> Vector:
        a, b = self._a(x, i), self._a(x, j)
        vector = {place: b * value for place, value in zip(self.inner[i], self._u(x, j), strict=True)}
        vector |= {place: -a * value for place, value in zip(self.inner[j], self._u(x, i), strict=True)}
        return vector

    def _pair(self, x: Sequence[Any], i: int, j: int) -> Vector:
        assert self.outer is not None
        a, b = self._a(x, i), self._a(x, j)
        gap = [v - u for u, v in zip(self._u(x, i), self._u(x, j), strict=True)]
        vector = {place: b * value for place, value in zip(self.inner[i], gap, strict=True)}
        vector |= {place: a * value for place, value in zip(self.inner[j], gap, strict=True)}
        vector[self.outer[0][i]], vector[self.outer[0][j]] = 2 * a * b, -2 * a * b
        return vector

    def _triple(self, x: Sequence[Any], i: int, j: int) -> Vector:
        """Rotations of (0, i), (i, j) and (j, 0) with the third neuron's weight each."""
        total: Vector = {}
        for (p, q), r in (((0, i), j), ((i, j), 0), ((j, 0), i)):
            weight = self._a(x, r)
            for place, value in self._rotation(x, p, q).items():
                total[place] = total.get(place, arb(0)) + weight * value
        return total
