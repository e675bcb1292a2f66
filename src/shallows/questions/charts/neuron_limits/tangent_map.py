"""Two merged neurons of one activation, as polynomials of parameters that no size of the neurons is special for.

Neurons in the direction u with the weights of powers j = j₁, …, d in the ratios of σ^(d−j) ρ^(j−j₁) are a p(w·x) with
w = (ρ/σ)u, those at zero (ρ = 0) and at infinity (σ = 0) among them. So two that merge are the tangents

    ψ_j = σ^(d−j) ρ^(j−j₁) u^j,      s = α ∂ψ/∂σ + β ∂ψ/∂ρ + ∂ψ/∂u [v],

2n + 1 dimensions with u_c = 1 and v_c = 0 for one coordinate c, and ρ = r, σ = 1 ∓ r.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.equations import TermEquations
from shallows.questions.charts.closure.term_map import Factors, Term, TermMap
from shallows.questions.charts.continuation.equations import Complex

Vector = NDArray[np.inexact]


@dataclass(frozen=True)
class Tangent:
    """u, v, (σ, ρ) and (α, β) of a map of these degrees, in no chart."""

    u: Vector
    v: Vector
    ends: Vector
    weights: Vector

    def of_neuron(self, degrees: tuple[int, ...]) -> tuple[Vector, complex, Vector]:
        """w, a and v with s = a ψ(w) + Dψ(w)[v], ψ all powers of w.

        >>> tangent = Tangent(np.array([2.0]), np.array([1.0]), np.array([0.5, 1.0]), np.array([3.0, 4.0]))
        >>> w, a, v = tangent.of_neuron((2, 3))
        >>> [float((a * w**j + j * w ** (j - 1) * v)[0]) for j in (2, 3)]     # α u² + 2σ uv and β u³ + 3ρ u²v
        [14.0, 44.0]
        """
        low, high = min(degrees), max(degrees)
        (sigma, rho), (alpha, beta) = self.ends, self.weights
        ratio = rho / sigma
        share = sigma ** (high - low) * ratio**-low
        w = ratio * self.u
        a = share * (high * alpha / sigma - low * beta / rho)
        return w, a, share * ((beta / rho - alpha / sigma) * w + ratio * self.v)


@dataclass(frozen=True)
class TangentMap(TermMap):
    """(u without u_c, r, α, β, v without v_c) ↦ s, times `factors` of the degrees, if any; σ = 1 − `side` r.

    >>> TangentMap(1, (2, 3)).tensors(np.array([[0.25, 2.0, 3.0]]))      # α ∂(1 − r)/∂σ and β ∂r/∂ρ
    array([[2., 3.]])
    """

    n: int
    degrees: tuple[int, ...]
    factors: tuple[float, ...] = ()
    chart: int = 0
    side: int = 1

    @property
    def degree(self) -> int:  # type: ignore[override]
        """The highest power of a parameter."""
        return max(self.degrees)

    @property
    def entries(self) -> int:
        """N."""
        return sum(coordinates.dimension(self.n, j) for j in self.degrees)

    @property
    def unknowns(self) -> int:
        """2n + 1."""
        return 2 * self.n + 1

    @cached_property
    def terms(self) -> list[Term]:
        """All summands of all entries."""
        n, low, high = self.n, min(self.degrees), max(self.degrees)
        found: list[Term] = []
        entry = 0
        for j, factor in zip(self.degrees, self.factors or (1.0,) * len(self.degrees), strict=True):
            up, down = j - low, high - j
            whole = self._ends(down, up)
            along = [(n, down * Fraction(factor), self._ends(down - 1, up))] if down else []
            along += [(n + 1, up * Fraction(factor), self._ends(down, up - 1))] if up else []
            for row in coordinates.exponents(n, j).tolist():
                own = {x: int(e) for x, e in enumerate(row) if e}
                for weight, share, ends in along:
                    found += self._products(entry, share, self._powers(own), ends, weight)
                for x, e in own.items():
                    if x != self.chart:
                        left = self._powers({y: k - (y == x) for y, k in own.items()})
                        at = n + 2 + x - (x > self.chart)
                        found += self._products(entry, e * Fraction(factor), left, whole, at)
                entry += 1
        return found

    def _ends(self, down: int, up: int) -> list[tuple[int, Fraction]]:
        """The powers of r in σ^down ρ^up, with their coefficients."""
        return [(up + k, Fraction(comb(down, k) * (-self.side) ** k)) for k in range(down + 1)]

    def _powers(self, own: dict[int, int]) -> Factors:
        return tuple((x - (x > self.chart), e) for x, e in own.items() if e and x != self.chart)

    def _products(
        self, entry: int, share: Fraction, own: Factors, ends: list[tuple[int, Fraction]], weight: int
    ) -> list[Term]:
        last = self.n - 1
        return [Term(entry, share * c, (*own, *(((last, k),) if k else ()), (weight, 1))) for k, c in ends]

    def tangent(self, x: Vector) -> Tangent:
        """The parts of x."""
        n, r = self.n, x[self.n - 1]
        u, v = np.insert(x[: n - 1], self.chart, 1.0), np.insert(x[n + 2 :], self.chart, 0.0)
        return Tangent(u, v, np.array([1 - self.side * r, r]), x[n : n + 2])

    def parameters(self, given: Tangent) -> Complex:
        """The x of a tangent, brought to this chart: u = λû, v = v̂ + νû, (σ, ρ) = τ(σ̂, ρ̂/λ)."""
        low, high = min(self.degrees), max(self.degrees)
        lead, along = given.u[self.chart], given.v[self.chart]
        u, v = given.u / lead, given.v - along * given.u / lead
        ends = given.ends * np.array([1.0, lead])
        weights = lead**low * given.weights * np.array([1.0, lead])
        scale = lead ** (low - 1)
        same = along * scale * ends  # what the part of v along u changes, by Euler's relation
        weights = weights + same * np.array([0.0, 1.0]) + low / (high - low) * same
        total = ends[0] + self.side * ends[1]
        weights, scale = weights * total ** (high - low - 1), scale * total ** (high - low)
        r = ends[1] / total
        across = np.delete(v * scale, self.chart)
        return np.concatenate([np.delete(u, self.chart), [r], weights, across]).astype(np.complex128)


@dataclass(frozen=True)
class MergedPairEquations(TermEquations):
    """The critical equations of two merged neurons with these powers."""

    n: int
    degrees: tuple[int, ...]

    @cached_property
    def map(self) -> TangentMap:
        """x ↦ s."""
        return TangentMap(self.n, self.degrees)

    @property
    def ends_well(self) -> bool:
        """Measured: from a generic metric to rotation-invariant ones all but the solutions there run to infinity (16 of
        22, 100 of 160 and 30 of 38 in two inputs, for powers 2 and 3, 1 to 3, 3 and 4), none is lost twice."""
        return True
