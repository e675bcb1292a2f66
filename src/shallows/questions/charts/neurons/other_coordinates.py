"""Other coordinates of neurons a p(L), L = w·x or b + w·x, in which limits are ordinary points: lost paths go on there.

- *at infinity*: L = V/t, a = A t^d, one coordinate V_k = 1: A Σ c_j t^(d−j) V^j, whose limits V^d have t = 0.
- *at rest* (no bias, no constant): L = τV, a = A/τ^m, V_k = 1, m the lowest power: A Σ c_j τ^(j−m) V^j, whose limits
  V^m have τ = 0.
- *at zeros of p* (a bias): a = κ/p(b), w = p(b) s: κ (1 + p′(b) s·x + p(b) p″(b) (s·x)²/2 + …), and affine functions
  are limits at p(b) = 0, all simple zeros of p alike.
- *at a multiple zero* z₀ (a bias): L = z₀ + τ(1 + s·x), a = A/τ^m: A Σ q_j τ^(j−m) (1 + s·x)^j, q_j the coefficients
  of p about z₀, whose limits have τ = 0.

In the last two inputs are moved to a random point, where few limits vanish. All neurons are written in the same way. A
path that ends there at t = 0, p(b) = 0 or τ = 0 runs to infinity in (a, w).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb, factorial
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import Polynomial as Series

from shallows.questions.charts.continuation.balanced_coordinates import power_action
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.checks import Array

if TYPE_CHECKING:
    from shallows.questions.charts.continuation.metrics import Complex

#: The seed of the points at which neurons have their value b.
POINTS = 11
#: Zeros of p and p′ are one within this, and not real above; values of p are zero below this: a double zero of a p with
#: coefficients up to one that are rounded is known to √ε, and the value there to ε.
CLOSE, NO_COEFFICIENT = 1e-6, 1e-12


@dataclass(frozen=True)
class Rewritten:
    """The neuron map in other coordinates (its outer weight among them), and the ways there and back, for outer weights
    (m, r) and neurons (m, r, n); `action` takes functions to those of moved inputs, None where these stay."""

    neuron: Neuron
    there: Callable[[Complex, Complex], Complex]
    back: Callable[[Complex], tuple[Complex, Complex]]
    action: Array | None = None

    @property
    def inner(self) -> Neuron:
        """The map without its outer weight, which multiplies all of it."""
        terms = tuple((entry, c, row[1:]) for entry, c, row in self.neuron.terms)
        return Neuron(self.neuron.n - 1, self.neuron.size, terms, 1, 1)


def rewritten(neuron: Neuron, way: int) -> Rewritten | None:
    """The coordinates of this number: multiple zeros of p, then simple ones, where there is a bias, then infinity, and
    rest where there is no bias.

    >>> rewritten(Neuron.affine([0.0, 1.0, 0.0, 1.0], 1), 1).neuron.terms[0]     # a·b is A t²: V = (1, v)
    (0, 1.0, (1, 2, 0))
    """
    c = _activation(neuron)
    own = [] if c is None else [partial(_at_multiple, neuron, c, z, m) for z, m in _multiple_zeros(c)]
    own += [] if c is None else [partial(_at_zeros, neuron, c)]
    own += [partial(_along, neuron, k, True) for k in range(neuron.n)]
    if c is None and neuron.turns < neuron.degree and min(sum(row) for _, _, row in neuron.terms):
        own += [partial(_along, neuron, k, False) for k in range(neuron.n)]
    return own[way]() if way < len(own) else None


def _multiple_zeros(c: list[float]) -> list[tuple[float, int]]:
    """Real zeros of p that are zeros of p′ but for rounding, and how often: the powers below are left out."""
    p = Series(c)
    places = p.deriv().roots()
    found: list[tuple[float, int]] = []
    for z in places[np.abs(places.imag) <= CLOSE].real:
        size = np.array([abs(p.deriv(j)(z) if j else p(z)) for j in range(len(c))])
        m = int(np.argmax(size > NO_COEFFICIENT))
        if m > 1 and all(abs(z - other) > CLOSE for other, _ in found):
            found.append((float(z), m))
    return found


def _along(neuron: Neuron, k: int, far: bool) -> Rewritten:
    """At infinity, t = 1/w_k and A = a w_k^d, or at rest, t = w_k and A = a w_k^m."""
    e = neuron.degree if far else min(sum(row) for _, _, row in neuron.terms)
    terms = tuple(
        (entry, c, (1, abs(sum(row) - e), *(power for x, power in enumerate(row) if x != k)))
        for entry, c, row in neuron.terms
    )

    def there(a: Complex, W: Complex) -> Complex:
        v = W[..., k : k + 1]
        t = 1 / v if far else v
        return np.concatenate([a[..., None] * v**e, t, np.delete(W / v, k, axis=-1)], axis=-1)

    def back(y: Complex) -> tuple[Complex, Complex]:
        A, t, V = y[..., :1], y[..., 1:2], np.insert(y[..., 2:], k, 1.0, axis=-1)
        return ((A * t**e)[..., 0], V / t) if far else ((A / t**e)[..., 0], V * t)

    return Rewritten(Neuron(neuron.n + 1, neuron.size, terms, 1, 1), there, back)


def _at_zeros(neuron: Neuron, c: list[float]) -> Rewritten:
    p = Series(c)
    factors = [Series([1.0])]
    factors += [p ** (i - 1) * p.deriv(i) / factorial(i) for i in range(1, neuron.degree + 1)]
    terms = [
        (entry, float(value), (1, power, *row))
        for entry, row in _entries(neuron)
        for power, value in enumerate(factors[sum(row)].coef)
        if value
    ]
    point, action = _moved(neuron)

    def there(a: Complex, W: Complex) -> Complex:
        b = W[..., :1] + (W[..., 1:] @ point)[..., None]
        return np.concatenate([a[..., None] * p(b), b, W[..., 1:] / p(b)], axis=-1)

    def back(y: Complex) -> tuple[Complex, Complex]:
        value = p(y[..., 1:2])
        w = y[..., 2:] * value
        b = y[..., 1:2] - (w @ point)[..., None]
        return y[..., 0] / value[..., 0], np.concatenate([b, w], axis=-1)

    return Rewritten(Neuron(neuron.n + 1, neuron.size, tuple(terms), 1, 1), there, back, action)


def _at_multiple(neuron: Neuron, c: list[float], zero: float, m: int) -> Rewritten:
    q = Series(c)(Series([zero, 1.0])).coef
    terms = [
        (entry, float(comb(j, sum(row)) * q[j]), (1, j - m, *row))
        for entry, row in _entries(neuron)
        for j in range(max(m, sum(row)), len(q))
        if q[j]
    ]
    point, action = _moved(neuron)

    def there(a: Complex, W: Complex) -> Complex:
        tau = W[..., :1] + (W[..., 1:] @ point)[..., None] - zero
        return np.concatenate([a[..., None] * tau**m, tau, W[..., 1:] / tau], axis=-1)

    def back(y: Complex) -> tuple[Complex, Complex]:
        tau = y[..., 1:2]
        w = y[..., 2:] * tau
        b = zero + tau - (w @ point)[..., None]
        return (y[..., :1] / tau**m)[..., 0], np.concatenate([b, w], axis=-1)

    return Rewritten(Neuron(neuron.n + 1, neuron.size, tuple(terms), 1, 1), there, back, action)


def _entries(neuron: Neuron) -> list[tuple[int, tuple[int, ...]]]:
    """The monomials in w of a neuron with a bias, one an entry."""
    return sorted({entry: row[1:] for entry, _, row in neuron.terms}.items())


def _moved(neuron: Neuron) -> tuple[Array, Array]:
    """A random point, and how coefficients of functions of x − point become those of functions of x."""
    n, d = neuron.n - 1, neuron.degree
    point = np.random.default_rng(POINTS).standard_normal(n)
    M = np.eye(n + 1)
    M[1:, 0] = -point
    shares = np.array([float(comb(d, sum(row))) for _, row in _entries(neuron)])
    return point, np.asarray(shares[:, None] * power_action(M.T, d) / shares)


def _activation(neuron: Neuron) -> list[float] | None:
    """The coefficients of p where the neuron is p(b + w·x), its first coordinate the bias."""
    c = np.zeros(neuron.degree + 1)
    for entry, value, row in neuron.terms:
        if entry == 0:
            c[sum(row)] = value
    same = neuron.n > 1 and neuron.terms == Neuron.affine(c.tolist(), neuron.n - 1).terms
    return c.tolist() if same else None
