"""Two powers y u^k + z v^k, beside x u or not, in parameters that stay finite where v comes to u.

There y and z grow without bound, with opposite signs, and paths creep. With v = u + εh, u₁ = h₂ = 1 and h₁ = 0,

    y u^k + z v^k = Y u^k + Z (v^k − u^k)/ε = Y u^k + Z Σ_{j≥1} C(k,j) ε^(j−1) u^(k−j) h^j,      z = Z/ε, y = Y − z.

At ε = 0 that is u^(k−1)(Y u + k Z h), a limit of two neurons that merge at infinity: a path that ends there runs to
infinity among limits of neurons apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.equations import TermEquations
from shallows.questions.charts.closure.parameterization import slots
from shallows.questions.charts.closure.term_map import ONE, ZERO, Term, TermMap, summed
from shallows.questions.charts.continuation.metrics import Complex


@dataclass(frozen=True)
class MeetingMap(TermMap):
    """(u, h, ε, x, Y, Z) ↦ s, the linear form, then the form of degree k; without x where both are at infinity."""

    degree: int
    n: int
    linear: bool

    @property
    def entries(self) -> int:
        """n + C(n+k−1, k)."""
        return self.n + coordinates.dimension(self.n, self.degree)

    @property
    def unknowns(self) -> int:
        """As many as two neurons apart have."""
        return 2 * self.n + int(self.linear)

    @cached_property
    def terms(self) -> list[Term]:
        """All summands of all entries."""
        return summed(self._summands())

    def _summands(self) -> Iterator[tuple[int, Fraction, list[int]]]:
        n, k, last = self.n, self.degree, self.unknowns - 1
        u, h = [ONE, *range(n - 1)], [ZERO, ONE, *range(n - 1, 2 * n - 3)]
        for a in range(n) if self.linear else ():
            yield a, Fraction(1), [u[a], last - 2]
        for entry, index in enumerate(coordinates.indices(n, k).tolist()):
            yield n + entry, Fraction(1), [*(u[a] for a in index), last - 1]
            for j in range(1, k + 1):
                for (taken, rest), share in slots(tuple(index), j):
                    own = [*(h[a] for a in taken), *(u[a] for a in rest), *[2 * n - 3] * (j - 1), last]
                    yield n + entry, comb(k, j) * share, own


@dataclass(frozen=True)
class MeetingEquations(TermEquations):
    """The critical equations in these parameters."""

    degree: int
    n: int
    linear: bool

    @cached_property
    def map(self) -> MeetingMap:
        """(u, h, ε, x, Y, Z) ↦ s."""
        return MeetingMap(self.degree, self.n, self.linear)


def there(points: Complex, n: int, linear: bool) -> Complex:
    """(u, h, ε, x, Y, Z) of (u, x, y, v, z), or of (u, y, v, z), one a row; u₁ = v₁ = 1."""
    u, weights = points[:, : n - 1], points[:, n - 1 : n + int(linear)]
    v, z = points[:, n + int(linear) : -1], points[:, -1:]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        epsilon = v[:, :1] - u[:, :1]
        h = ((v - u) / epsilon)[:, 1:]
        return np.concatenate([u, h, epsilon, weights[:, :-1], weights[:, -1:] + z, z * epsilon], axis=1)


def back(points: Complex, n: int) -> Complex:
    """The inverse: infinite where ε = 0."""
    u, h, epsilon = points[:, : n - 1], points[:, n - 1 : 2 * n - 3], points[:, 2 * n - 3 : 2 * n - 2]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = points[:, -1:] / epsilon
        v = u + epsilon * np.concatenate([np.ones_like(epsilon), h], axis=1)
        return np.concatenate([u, points[:, 2 * n - 2 : -2], points[:, -2:-1] - z, v, z], axis=1)
