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

    Subspaces are looked at by growing number of zeros, MOST_SETS of them: all of them up to fourteen variables.

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
    subspaces = (zeros for size in range(1, n) for zeros in combinations(range(n), size))
    for zeros in islice(subspaces, MOST_SETS):
        here = sum(1 << j for j in zeros)
        busy = [left for own in masks if (left := sum(not mask & here for mask in own))]
        if len(busy) < n - len(zeros) and 1 not in busy:
            return True
    return False


def without_zeros(solutions: Solutions, prepared: Any) -> Solutions:
    """The solutions none of whose coordinates is zero to their accuracy; a note says how many paths ended at others."""

    def off_the_axes(solution: Solution) -> bool:
        sizes = np.abs(prepared.rescale(solution.point[None])[0])
        return bool(sizes.min() > ZERO * solution.accuracy * sizes.max())

    kept = selected(solutions, off_the_axes, "points with a zero coordinate")
    return replace(kept, zeros="excluded")
