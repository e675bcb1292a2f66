"""`real_counts`: how many real solutions the members of a family have over a grid, and where that number changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.homotopy.families import Family
from shallows.mathematics.homotopy.many_members import (
    GenericMember,
    ManySolutions,
    generic_member,
    solve_many,
)
from shallows.mathematics.homotopy.paths import TrackerSettings
from shallows.mathematics.homotopy.region_figures import region_figure
from shallows.support.arguments import typed
from shallows.support.checks import counted, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown
from shallows.support.seeds import seed_of

Array = NDArray[np.float64]
UNDECIDED = -1


@dataclass(frozen=True)
class RealCounts:
    """Numbers of real solutions over a grid of parameters, and points at which they change.

    counts: one entry a point of the grid, −1 where it is not decided (on the discriminant, or where paths were lost).
    crossings: parameters, one a row, at which an edge of the grid crosses from `before` to `after` real solutions,
    known to `width`. Two crossings on one edge are not seen: the grid decides what is found.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 - a*x + b"], ["x"], ["a", "b"])
    >>> found = sh.homotopy.real_counts(family, [[-2, 0.5, 2], [-1, 0.5, 3]])
    >>> found
    RealCounts: a grid of 3 × 3 members with 0 or 2 real solutions, 5 crossings refined to ..., 0 not decided
    >>> found.counts.tolist()
    [[2, 2, 0], [2, 0, 0], [2, 2, 0]]
    >>> a, b = found.crossings.T
    >>> bool(np.allclose(a**2, 4*b, atol=1e-4))
    True
    """

    axes: tuple[Array, ...]
    counts: NDArray[np.int64]
    crossings: Array
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    width: float
    generic: GenericMember = field(repr=False)
    names: tuple[str, ...] = ()
    seed: int = 0

    @property
    def values(self) -> list[int]:
        """The numbers that occur."""
        return sorted(set(self.counts.ravel().tolist()) - {UNDECIDED})

    def figure(self) -> Any:
        """A picture of the grid, regions by number of real solutions, with the crossings."""
        return region_figure(self)

    def __repr__(self) -> str:
        shape = " × ".join(str(len(axis)) for axis in self.axes)
        numbers = " or ".join(map(str, self.values)) or "no known number of"
        open_ = int(np.count_nonzero(self.counts == UNDECIDED))
        return (
            f"RealCounts: a grid of {shape} members with {numbers} real solutions, "
            f"{counted(len(self.crossings), 'crossing')} refined to {self.width:.1e}, {open_} not decided"
        )


@typed
def real_counts(
    family: Family,
    grid: Sequence[ArrayLike],
    rng: int | np.random.Generator = 0,
    *,
    bisections: int = 16,
    known: GenericMember | None = None,
    threads: int | None = None,
    progress: Shown = False,
    settings: TrackerSettings | None = None,
) -> RealCounts:
    """How many real solutions members have: `grid` gives the values of each parameter, one or two of them.

    Every edge of the grid whose ends have different numbers is bisected, so that its crossing is on the discriminant
    (or where a solution passes through infinity) to 2^−bisections of the edge. Numbers are those of tracked paths,
    judged by size of imaginary parts; they are numerical, and what is not clear is −1.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^3 - 3*x + c"], ["x"], ["c"])
    >>> found = sh.homotopy.real_counts(family, [[-3, 0, 3]])
    >>> found.counts.tolist(), found.crossings.round(3).tolist()
    ([1, 3, 1], [[-2.0], [2.0]])
    """
    axes = tuple(np.asarray(axis, np.float64) for axis in grid)
    if len(axes) != family.parameter_count or len(axes) > 2 or any(a.ndim != 1 or not a.size for a in axes):
        raise InvalidProblem(
            f"grid has {len(axes)} axes and the family {counted(family.parameter_count, 'parameter')}; expected a list "
            "of values for each parameter, one or two of them. Fix: specialize the others in the equations"
        )
    bisections = positive_integer("bisections", bisections)
    seed = seed_of(rng)
    random = np.random.default_rng(seed)
    size = max(1.0, max(float(np.abs(axis).max()) for axis in axes))
    generic = known or generic_member(family, random, size, settings)

    def count(table: Array, shown: Shown = False) -> NDArray[np.int64]:
        many = solve_many(
            family, table, seed, known=generic, threads=threads, progress=shown, settings=settings
        )
        return _numbers(many)

    shape = tuple(len(axis) for axis in axes)
    counts = count(np.array(list(product(*axes))), progress).reshape(shape)
    low, high, before, after = _edges(axes, counts)
    width = float(np.abs(high - low).max(initial=0.0)) / 2**bisections
    for _ in range(bisections if len(low) else 0):
        middle = (low + high) / 2
        here = count(middle)
        same, other = here == before, here == after
        low[same], high[other] = middle[same], middle[other]
        between = (
            ~same & ~other & (here != UNDECIDED)
        )  # two changes on this edge: the first of them is followed
        high[between], after[between] = middle[between], here[between]
        stuck = here == UNDECIDED
        low[stuck] = high[stuck] = middle[stuck]
    names = getattr(getattr(family, "system", None), "parameters", ())
    return RealCounts(axes, counts, (low + high) / 2, before, after, width, generic, tuple(names), seed)


def _numbers(many: ManySolutions) -> NDArray[np.int64]:
    return np.where(many.decided, many.real_counts, UNDECIDED)


def _edges(
    axes: tuple[Array, ...], counts: NDArray[np.int64]
) -> tuple[Array, Array, NDArray[np.int64], NDArray[np.int64]]:
    """Ends of the edges at which the number changes, and the numbers there."""
    low, high, before, after = [], [], [], []
    for place in np.ndindex(counts.shape):
        for axis in range(counts.ndim):
            ahead = tuple(k + (i == axis) for i, k in enumerate(place))
            if ahead[axis] == counts.shape[axis] or UNDECIDED in (counts[place], counts[ahead]):
                continue
            if counts[place] != counts[ahead]:
                low.append([a[k] for a, k in zip(axes, place, strict=True)])
                high.append([a[k] for a, k in zip(axes, ahead, strict=True)])
                before.append(counts[place])
                after.append(counts[ahead])
    size = (len(low), len(axes))
    return (
        np.array(low, float).reshape(size),
        np.array(high, float).reshape(size),
        np.array(before, np.int64),
        np.array(after, np.int64),
    )
