"""Functions of one direction, Σ_j C_j (u·x)^j with C_j ∈ R^M: what neurons with parallel weights compute.

Coordinates are u_c = 1 for one of them, the `chart`, and all C_mj: then all parameters are determined.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.term_map import Term, TermMap
from shallows.questions.charts.continuation.metrics import Complex
from shallows.questions.charts.neurons.apart import ApartEquations


@dataclass(frozen=True)
class LineMap(TermMap):
    """(u without u_c, C) ↦ s, entries of all degrees, one output after the other.

    >>> LineMap(2, (1, 2), 1).tensors(np.array([[3.0, 5.0, 7.0]]))      # 5 (x + 3y) + 7 (x + 3y)²
    array([[ 5., 15.,  7., 21., 63.]])
    """

    n: int
    degrees: tuple[int, ...]
    outputs: int
    chart: int = 0

    @property
    def degree(self) -> int:  # type: ignore[override]
        """The highest power of u."""
        return max(self.degrees)

    @property
    def entries(self) -> int:
        """M Σ_j C(n+j−1, j)."""
        return self.outputs * sum(coordinates.dimension(self.n, j) for j in self.degrees)

    @property
    def unknowns(self) -> int:
        """n − 1 + M J."""
        return self.n - 1 + self.outputs * len(self.degrees)

    @cached_property
    def terms(self) -> list[Term]:
        """All summands of all entries."""
        found, entry = [], 0
        for m in range(self.outputs):
            for place, j in enumerate(self.degrees):
                weight = self.n - 1 + m * len(self.degrees) + place
                for row in coordinates.exponents(self.n, j).tolist():
                    own = [e for x, e in enumerate(row) if x != self.chart]
                    factors = [(p, int(e)) for p, e in enumerate(own) if e]
                    found.append(Term(entry, Fraction(1), (*factors, (weight, 1))))
                    entry += 1
        return found

    def split(self, x: Complex) -> tuple[Complex, Complex]:
        """u (…, n) and C (…, M, J)."""
        u = np.insert(x[..., : self.n - 1], self.chart, 1.0, axis=-1)
        return u, x[..., self.n - 1 :].reshape(*x.shape[:-1], self.outputs, len(self.degrees))

    def join(self, u: Complex, C: Complex) -> Complex:
        """The inverse, for u of any length."""
        lead = u[self.chart]
        scaled = C * lead ** np.array(self.degrees)
        return np.concatenate([np.delete(u / lead, self.chart), scaled.ravel()])


@dataclass(frozen=True)
class LineEquations(ApartEquations):
    """The critical equations of functions of one direction with `shown` outputs."""

    @cached_property
    def map(self) -> LineMap:
        """x ↦ s, u₁ = 1."""
        return LineMap(self.n, self.degrees, self.shown)

    @property
    def count(self) -> int | None:
        """In two inputs Σ_m b_mᵀG⁻¹b_m is a rational function on P¹, of degree 2Σj: it has 4Σj − 2 critical points."""
        return 4 * sum(self.degrees) - 2 if self.n == 2 else None
