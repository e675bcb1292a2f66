"""A map with some of its parameters held fixed, where it has more of them than its functions have dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from shallows.questions.charts.closure.term_map import Term, TermMap
from shallows.support.checks import Array


@dataclass(frozen=True)
class SlicedMap(TermMap):
    """x_k = value for each of the `fixed` (k, value), the others in their order."""

    whole: TermMap
    fixed: tuple[tuple[int, Fraction], ...]

    @property
    def degree(self) -> int:  # type: ignore[override]
        """That of the whole map."""
        return self.whole.degree

    @property
    def entries(self) -> int:
        """Those of s."""
        return self.whole.entries

    @property
    def unknowns(self) -> int:
        """The parameters that are left."""
        return self.whole.unknowns - len(self.fixed)

    @cached_property
    def free(self) -> list[int]:
        """Where they are among all."""
        held = dict(self.fixed)
        return [k for k in range(self.whole.unknowns) if k not in held]

    @cached_property
    def terms(self) -> list[Term]:
        """Those of the whole map, with the values put in."""
        held, place = dict(self.fixed), {k: i for i, k in enumerate(self.free)}
        found: dict[tuple[int, tuple[tuple[int, int], ...]], Fraction] = {}
        for term in self.whole.terms:
            c = term.coefficient
            for k, e in term.factors:
                c *= held[k] ** e if k in held else 1
            key = term.entry, tuple((place[k], e) for k, e in term.factors if k in place)
            found[key] = found.get(key, Fraction(0)) + c
        return [Term(entry, c, factors) for (entry, factors), c in found.items() if c]

    def all_of(self, x: NDArray[np.float64]) -> Array:
        """The parameters of the whole map."""
        whole = np.zeros(self.whole.unknowns)
        whole[self.free] = x
        whole[[k for k, _ in self.fixed]] = [float(value) for _, value in self.fixed]
        return whole


def sliced(map_: TermMap, x: Array, rank: int) -> SlicedMap:
    """The map with all but `rank` of its parameters held at x, those that move its functions least."""
    D = np.real(map_.slopes(x))
    sizes = np.linalg.norm(D, axis=1, keepdims=True)
    order: Sequence[int] = qr((D / np.where(sizes, sizes, 1.0)).T, mode="r", pivoting=True)[1].tolist()
    return SlicedMap(map_, tuple((k, Fraction(float(x[k]))) for k in sorted(order[rank:])))
