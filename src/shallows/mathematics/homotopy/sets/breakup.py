"""Which points of a slice belong to one irreducible component.

The points of an irreducible component are permuted transitively when the slice goes round loops; and when one form of
the slice moves parallel to itself, the sum of the points of a whole component moves on a straight line, that of no
proper part of it does: the trace test (A. Sommese, J. Verschelde, C. Wampler, "Symmetric functions applied to
decomposing solution sets of polynomial systems", SIAM J. Numer. Anal. 40, 2002).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.paths import TrackerSettings
from shallows.mathematics.homotopy.sets.local_systems import LocalSystems
from shallows.mathematics.homotopy.sets.membership import WitnessSet
from shallows.mathematics.homotopy.sets.slicing import Sliced, random_slice
from shallows.mathematics.same_points import PointSet
from shallows.support.seeds import complex_normal
from shallows.support.tolerances import TINY

Vector = NDArray[np.complex128]
#: The second difference of the sum, relative to the changes in it, that counts as zero: rounding for a whole component
#: (10⁻¹⁵ to 10⁻¹¹), a share of the changes for a part of one.
STRAIGHT = 1e-8
#: How far a form is moved for the test.
SHIFT = 0.4
#: Loops while the test fails for some part, and the most parts that are put together in every possible way after them.
LOOPS, MOST_PARTS = 40, 12


@dataclass(frozen=True)
class Part:
    """Points that belong together, and the defect of their trace: infinite where it was not computed."""

    witness: WitnessSet
    defect: float

    @property
    def whole(self) -> bool:
        """Whether the trace test confirms an irreducible component of this degree."""
        return self.defect < STRAIGHT


def break_up(
    witness: WitnessSet,
    systems: LocalSystems,
    rng: np.random.Generator,
    settings: TrackerSettings,
    threads: int | None = None,
) -> list[Part]:
    """The irreducible parts of a witness set; a point that turns up on the way is added to it."""
    if witness.dimension == 0:
        return [Part(witness.rows([k]), 0.0) for k in range(len(witness.places))]
    sliced = Sliced(systems.of(witness.ranks), witness.n, witness.dimension, rng)
    points = PointSet(witness.places)
    parts: list[set[int]] = [{k} for k in range(len(points))]
    bends = _bends(witness, sliced, rng, settings, threads)
    for _ in range(LOOPS):
        defects = [_defect(bends, part) for part in parts]
        if all(defect < STRAIGHT for defect in defects):
            break
        before = len(points)
        parts = _around(points, parts, witness, sliced, rng, settings, threads)
        if len(points) > before:
            witness = WitnessSet(witness.dimension, witness.ranks, points.points, witness.forms)
            bends = _bends(witness, sliced, rng, settings, threads)
    parts = _put_together(parts, bends)
    return [Part(witness.rows(sorted(part)), _defect(bends, part)) for part in parts]


def _bends(
    witness: WitnessSet,
    sliced: Sliced,
    rng: np.random.Generator,
    settings: TrackerSettings,
    threads: int | None,
) -> Vector:
    """T(−h) − T(0) and T(h) − T(0) of a random functional T, a row a point; not a number where a path is lost."""
    functional = complex_normal(rng, witness.n)
    columns = []
    for way in (-SHIFT, SHIFT):
        end = witness.forms.copy()
        end[0, -1] += way
        paths = sliced.move(witness.places, witness.forms, end, settings, threads)
        change = (paths.ends[:, : witness.n] - witness.points) @ functional
        columns.append(np.where(paths.status == 0, change, np.nan))
    return np.array(columns).T


def _defect(bends: Vector, part: set[int]) -> float:
    rows = bends[sorted(part)]
    defect = float(abs(rows.sum()) / max(float(np.abs(rows).sum()), TINY))
    return defect if np.isfinite(defect) else float("inf")


def _around(
    points: PointSet,
    parts: list[set[int]],
    witness: WitnessSet,
    sliced: Sliced,
    rng: np.random.Generator,
    settings: TrackerSettings,
    threads: int | None,
) -> list[set[int]]:
    """The parts after one loop of slices: what is carried onto each other is in one."""
    corners = [
        witness.forms,
        *(random_slice(witness.n, witness.dimension, rng) for _ in range(2)),
        witness.forms,
    ]
    rows, table = np.arange(len(points)), points.points
    for begin, end in pairwise(corners):
        paths = sliced.move(table, begin, end, settings, threads)
        rows, table = rows[paths.status == 0], paths.ends[paths.status == 0]
    numbers = points.place(table)
    parts = [*parts, *({k} for k in range(sum(map(len, parts)), len(points)))]
    for first, second in zip(rows.tolist(), numbers.tolist(), strict=True):
        one = next(part for part in parts if first in part)
        other = next(part for part in parts if second in part)
        if one is not other:
            parts = [part for part in parts if part is not one and part is not other] + [one | other]
    return parts


def _put_together(parts: list[set[int]], bends: Vector) -> list[set[int]]:
    """Parts that pass the test, and the smallest unions of the others that do."""
    whole = [part for part in parts if _defect(bends, part) < STRAIGHT]
    left = [part for part in parts if _defect(bends, part) >= STRAIGHT]
    size = 2
    while size <= len(left) <= MOST_PARTS:
        unions = (
            chosen for chosen in combinations(left, size) if _defect(bends, set().union(*chosen)) < STRAIGHT
        )
        found = next(unions, None)
        if found is None:
            size += 1
            continue
        whole.append(set().union(*found))
        left = [part for part in left if part not in found]
    return whole + left
