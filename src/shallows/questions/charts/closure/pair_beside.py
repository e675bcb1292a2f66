"""A merged pair beside a neuron, w^(d−1)v + a u^d, in parameters that stay finite where the neuron comes to the pair.

There a grows without bound, and paths near such places creep. With u = w + δ the neuron is a Σ C(d,k) w^(d−k) δ^k: its
first two terms go into v, and with δ = εy, a C(d,2) ε² = 1, the sum is

    w^(d−1) v + Σ_{k≥2} C(d,k)/C(d,2) ε^(k−2) w^(d−k) y^k.

At ε = 0 that is w^(d−1)v + w^(d−2)y², a limit of three neurons in one place. Scales are fixed by w_c = u_c = 1 for one
coordinate c, the `chart`, so that y_c = 0; (y, ε) and (−y, −ε) are the same limit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.parameterization import slots
from shallows.questions.charts.closure.term_map import Factors, Term, TermMap


@dataclass(frozen=True)
class PairBeside(TermMap):
    """x = (w, v, y, ε) ↦ s in n variables, w_c and y_c left out."""

    degree: int
    n: int
    chart: int = 0

    @property
    def entries(self) -> int:
        """N = C(n+d−1, d)."""
        return coordinates.dimension(self.n, self.degree)

    @property
    def unknowns(self) -> int:
        """2n − 1 of the pair and n of the neuron."""
        return 3 * self.n - 1

    @cached_property
    def terms(self) -> list[Term]:
        """All summands of all entries."""
        n, d, last = self.n, self.degree, self.unknowns - 1
        w, v, y = list(range(n - 1)), list(range(n - 1, 2 * n - 1)), list(range(2 * n - 1, last))
        w.insert(self.chart, -1)
        y.insert(self.chart, -1)
        found: dict[tuple[int, Factors], Fraction] = {}
        for entry, index in enumerate(coordinates.indices(n, d).tolist()):
            for k in range(1, d + 1):
                coefficient = Fraction(1) if k == 1 else Fraction(comb(d, k), comb(d, 2))
                for (taken, rest), share in slots(tuple(index), k):
                    own = [(v if k == 1 else y)[x] for x in taken]
                    if -1 in own:
                        continue
                    own += [w[x] for x in rest if w[x] >= 0] + [last] * max(k - 2, 0)
                    key = (entry, tuple(sorted(Counter(own).items())))
                    found[key] = found.get(key, Fraction(0)) + coefficient * share
        return [Term(entry, coefficient, factors) for (entry, factors), coefficient in found.items()]

    def vectors(self, x: NDArray[np.inexact]) -> list[list[NDArray[np.inexact]]]:
        """[w, v] and [a, u]; infinite where ε = 0."""
        n, d, c, epsilon = self.n, self.degree, self.chart, np.complex128(x[-1])
        w, v = np.insert(x[: n - 1], c, 1.0), x[n - 1 : 2 * n - 1]
        step = epsilon * np.insert(x[2 * n - 1 : -1], c, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            a = 1 / (comb(d, 2) * epsilon**2)
            return [[w, v - a * w - d * a * step], [np.array([a]), w + step]]

    def parameters(self, vectors: list[list[NDArray[np.inexact]]]) -> NDArray[np.inexact]:
        """The x of [w, v] and [a, u]."""
        (w, v), (weight, u) = vectors
        d, c = self.degree, self.chart
        a = weight[0] * u[c] ** d
        v, w, u = v * w[c] ** (d - 1), w / w[c], u / u[c]
        with np.errstate(divide="ignore", invalid="ignore"):
            epsilon = 1 / np.sqrt(comb(d, 2) * a + 0j)
            y, whole = (u - w) / epsilon, v + a * w + d * a * (u - w)
        return np.concatenate([np.delete(w, c), whole, np.delete(y, c), [epsilon]])
