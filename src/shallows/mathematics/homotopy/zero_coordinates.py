"""Solutions with a zero coordinate: when a system cannot have any, and how they are left out.

Bernstein's bound counts solutions without one. With the origin added to every support the mixed volume bounds all
isolated solutions (T. Y. Li, X. Wang, "The BKK root count in Cⁿ", Math. Comput. 65, 1996). It need not be added where
the equations say that no coordinate is zero: put zeros in for some variables, and an equation of which one term is left
makes another variable zero, until a constant is left of one.

Neither bound says anything about curves of solutions, and where such a curve lies in a coordinate subspace no path of a
polyhedral start need end on it: fewer equations than variables are left there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import Any

import numpy as np

from shallows.mathematics.homotopy.selection import selected
from shallows.mathematics.homotopy.solutions import Solution, Solutions
from shallows.mathematics.homotopy.systems import Exponents

#: So many sets of variables are tried before it stays open whether they can be zero.
MOST_SETS = 20_000
#: Variables of which all sets are fewer than that.
ALL_SETS = 14
#: Sets of fewer variables are numbers of 64 bits.
WORD = 63
#: A coordinate is zero when it is below so many times the accuracy of the point, which is an estimate.
ZERO = 10.0


def zero_free(supports: Sequence[Sequence[Exponents]]) -> bool:
    """Whether it is proved, by looking at exponents alone, that no solution has a zero coordinate.

    >>> from shallows.mathematics.homotopy.zero_coordinates import zero_free
    >>> zero_free([[(1, 0), (0, 1)], [(1, 1), (0, 0)]])        # x + y and xy − 1
    True
    >>> zero_free([[(2, 0), (1, 0)], [(0, 1), (0, 0)]])        # x² − x and y − 1
    False
    """
    n = len(supports[0][0]) if supports and supports[0] else 0
    left = [MOST_SETS]
    refuted: set[int] = set()
    masks = [[sum(1 << j for j in range(n) if key[j]) for key in support] for support in supports]

    def possible(zeros: int) -> bool:
        """Whether these variables, the bits of a number, and perhaps others may all be zero."""
        if zeros in refuted:
            return False
        left[0] -= 1
        if left[0] < 0:
            return True
        for own in masks:
            rest = [mask for mask in own if not mask & zeros]
            if len(rest) == 1:
                if any(possible(zeros | 1 << j) for j in range(n) if rest[0] >> j & 1):
                    return True
                refuted.add(zeros)
                return False
        return True

    return n > 0 and not any(possible(1 << j) for j in range(n))


def underdetermined_face(supports: Sequence[Sequence[Exponents]]) -> bool:
    """Whether in some coordinate subspace fewer equations are left than variables, so that solutions there form curves.

    Subspaces are looked at by growing number of zeros, MOST_SETS of them: all of them up to ALL_SETS variables.

    >>> from shallows.mathematics.homotopy.zero_coordinates import underdetermined_face
    >>> underdetermined_face([[(0, 1), (1, 1)], [(0, 2), (2, 1)]])        # y + xy and y² + x²y: the line y = 0
    True
    >>> underdetermined_face([[(2, 0), (1, 0)], [(0, 1), (0, 0)]])        # x² − x and y − 1
    False
    """
    n = len(supports[0][0])
    masks = [[sum(1 << j for j in range(n) if key[j]) for key in support] for support in supports]
    if sum(0 not in own for own in masks) < 2:  # with a constant an equation is left everywhere
        return False
    if n <= ALL_SETS:
        zeros = np.arange(1, 2**n - 1)
        free = n - np.sum([zeros >> j & 1 for j in range(n)], axis=0)
    else:
        sets = islice((one for size in range(1, n) for one in combinations(range(n), size)), MOST_SETS)
        chosen = [(sum(1 << j for j in one), n - len(one)) for one in sets]
        zeros = np.array([z for z, _ in chosen], np.int64 if n < WORD else object)
        free = np.array([count for _, count in chosen], np.int64)
    busy, empty = np.zeros(len(zeros), np.int64), np.zeros(len(zeros), bool)
    for own in masks:
        left = np.sum([(zeros & mask) == 0 for mask in own], axis=0)
        busy += left > 0
        empty |= left == 1  # a monomial is not zero where no coordinate is
    return bool(((busy < free) & ~empty).any())


def no_solutions_at_infinity(supports: Sequence[Sequence[Exponents]]) -> bool:
    """Whether generic polynomials with these supports have no common zero at infinity, so that Bézout's number of
    solutions is the right one; False where it would take long to see.

    Zeros at infinity are those of the terms of highest degree. In each coordinate subspace generic forms that are left
    cut down the dimension one by one, since none of their monomials is zero off the axes.

    >>> from shallows.mathematics.homotopy.zero_coordinates import no_solutions_at_infinity
    >>> no_solutions_at_infinity([[(2, 0), (0, 2), (0, 0)], [(1, 1), (2, 0), (1, 0)]])      # x² + y² + 1, xy + x² + x
    True
    >>> no_solutions_at_infinity([[(2, 0), (1, 1), (0, 0)], [(1, 1), (0, 1), (1, 0)]])      # both without y²
    False
    """
    if len(supports) > ALL_SETS:
        return False
    degrees = [max(map(sum, support)) for support in supports]
    tops = [
        [key for key in support if sum(key) == degree]
        for support, degree in zip(supports, degrees, strict=True)
    ]
    return min(degrees) > 0 and not underdetermined_face(tops)


def without_zeros(solutions: Solutions, prepared: Any) -> Solutions:
    """The solutions none of whose coordinates is zero to their accuracy; a note says how many paths ended at others."""

    def off_the_axes(solution: Solution) -> bool:
        sizes = np.abs(prepared.rescale(solution.point[None])[0])
        return bool(sizes.min() > ZERO * solution.accuracy * sizes.max())

    kept = selected(solutions, off_the_axes, "points with a zero coordinate")
    return replace(kept, zeros="excluded")
