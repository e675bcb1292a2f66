"""Equation by equation: from witness sets of V to those of V ∩ {f = 0}.

V is cut by a flag of slices, those of dimension d by its first d forms. A component Z of V of dimension d that f
vanishes on stays. On the others the points of Z ∩ {f = 0} on one form less come from the k points of Z by

    t·ℓ(x) + (1−t)·γ₁u = 0,   t·γ₂(u^δ − 1) + (1−t)·f(x) = 0,   δ = deg f,

with ℓ the form that is given up: k·δ paths from the k points times the δ roots of unity for u, all of the points in
which the cone over Z meets a hyperplane and a hypersurface of degree δ (T. Duff, A. Leykin, J. Rodriguez,
"u-generation: solving systems of polynomials equation-by-equation", Numer. Algorithms 95, 2024). Ends that lie on a
component of higher dimension are no news.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.codes import PROJECTIVE
from shallows.mathematics.homotopy.classify import Ends, classify
from shallows.mathematics.homotopy.clusters import LOST, REGULAR, SINGULAR
from shallows.mathematics.homotopy.following import follow_all
from shallows.mathematics.homotopy.paths import Homotopy, Paths, TrackerSettings, track
from shallows.mathematics.homotopy.sets.diverging import diverging
from shallows.mathematics.homotopy.sets.local_systems import ZERO, LocalPoint, LocalSystems
from shallows.mathematics.homotopy.sets.membership import Membership, WitnessSet
from shallows.mathematics.homotopy.sets.numeric import NumericSystem, Row, degree, exactly
from shallows.mathematics.homotopy.sets.slicing import SHARP_PATHS, linear_system, padded
from shallows.mathematics.homotopy.sparse import sharpened, straight_line
from shallows.mathematics.homotopy.start_systems import unit
from shallows.mathematics.same_points import PointSet, is_among
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown

Vector = NDArray[np.complex128]
#: So many choices of γ while paths are lost.
ATTEMPTS = 3
#: A singular end further out than this may be one at infinity, of which the endgame knows five digits; it is finite
#: when another γ has it within this share of its size.
FAR, SAME_END = 1e3, 1e-2


@dataclass
class Tally:
    """What the work was, and what is not known after it."""

    paths: int = 0
    lost: int = 0
    unresolved: int = 0


@dataclass
class Stage:
    """The zero set of the equations so far: witness sets on the flag, dimension by dimension."""

    systems: LocalSystems
    flag: Vector
    rng: np.random.Generator
    settings: TrackerSettings
    threads: int | None
    progress: Shown
    max_paths: int
    sets: list[WitnessSet] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return len(self.flag)

    def forms(self, dimension: int) -> Vector:
        """The slice for this dimension."""
        return self.flag[:dimension]

    def cut(self, equation: NumericSystem) -> Stage:
        """One equation more."""
        grown = LocalSystems(self.systems.system.with_equations(equation), self.systems.seed)
        after = Stage(
            grown,
            self.flag,
            self.rng,
            self.settings,
            self.threads,
            self.progress,
            self.max_paths,
            [],
            self.tally,
        )
        staying: dict[int, list[Vector]] = {}
        moving: dict[int, list[Vector]] = {}
        for witness in self.sets:
            on = np.array([equation.share(point)[0] < ZERO for point in witness.points], bool)
            staying.setdefault(witness.dimension, []).extend(witness.points[on])
            if witness.dimension and not on.all():
                ends = self._regenerated(witness.rows(np.flatnonzero(~on)), equation)
                moving.setdefault(witness.dimension - 1, []).extend(ends)
        for dimension in sorted({*staying, *moving}, reverse=True):
            kept, new = staying.get(dimension, []), moving.get(dimension, [])
            after.sets += after._sorted_out(dimension, kept, new)
        return after

    def _regenerated(self, witness: WitnessSet, equation: NumericSystem) -> list[Vector]:
        """The points of the set on {f = 0} and on one form less: coordinates only."""
        high = degree(equation.equations[0])
        count = len(witness.places) * high
        if count > self.max_paths:
            raise InvalidProblem(
                f"{count:,} paths are needed for one equation of degree {high} on a set of degree "
                f"{len(witness.places):,}, more than max_paths={self.max_paths:,}. Fix: raise max_paths"
            )
        best = self._ends(witness, equation)
        for _ in range(ATTEMPTS - 1):
            if not best.lost:
                break
            best = min(best, self._ends(witness, equation), key=lambda ends: ends.lost)
        self.tally.lost += best.lost
        far = [np.abs(point).max() > FAR for point in best.singular]
        if any(far):  # at infinity, perhaps: then another γ puts it elsewhere
            other = self._ends(witness, equation).singular
            best.singular = [
                p for p, away in zip(best.singular, far, strict=True) if not away or _near(p, other)
            ]
        return best.regular + best.singular

    def _ends(self, witness: WitnessSet, equation: NumericSystem) -> _Ends:
        """Finite ends for one γ; singular ones that coincide once."""
        homotopy, sharply, starts = self._homotopy(witness, equation)
        ends, paths = follow_all(homotopy, starts, self.settings, self.threads, self.progress)
        self.tally.paths += len(starts)
        lost = self._lost(homotopy, starts, ends, paths)
        if 0 < len(lost) <= SHARP_PATHS:
            sharp = sharply()
            again = track(sharp, starts[lost], self.settings.tighter(), threads=self.threads)
            paths = paths.with_rows(lost, again)
            ends = classify(sharp, paths)
            lost = self._lost(sharp, starts, ends, paths)
        singular = []
        for number in np.unique(ends.cluster[ends.kind == SINGULAR]):
            rows = (ends.cluster == number) & (ends.kind == SINGULAR)
            singular.append(ends.points[rows, : self.n].mean(axis=0))
        regular = list(ends.points[ends.kind == REGULAR, : self.n])
        return _Ends(len(lost), regular, singular)

    def _lost(self, homotopy: Homotopy, starts: Vector, ends: Ends, paths: Paths) -> NDArray[np.int64]:
        """Paths that are lost, but for those on their way to infinity."""
        lost = np.flatnonzero(ends.kind == LOST)
        if homotopy.mode == PROJECTIVE and len(lost):
            lost = lost[~diverging(homotopy, starts[lost], paths.radius[lost], self.settings)]
        return lost

    def _homotopy(
        self, witness: WitnessSet, equation: NumericSystem
    ) -> tuple[Homotopy, Callable[[], Homotopy], Vector]:
        """The homotopy above in the unknowns (x, λ, u), the same in double-double, and its start points."""
        system = self.systems.of(witness.ranks)
        size, high = system.unknowns + 1, degree(equation.equations[0])
        square = system.squared(system.unknowns - witness.dimension, self.rng)
        forms = [_linear(form, size) for form in witness.forms]
        turn, factor = (complex(z) for z in unit(self.rng, 2))
        power = (*((0,) * (size - 1)), high)
        begin: list[Row] = [*forms, {power: factor, (0,) * size: -factor}]
        end: list[Row] = [*forms[:-1], {(*((0,) * (size - 1)), 1): turn}]
        projective = system.unknowns == self.n  # multipliers make a bad infinity

        def rows(fixed: Sequence[Any], goal: Any, exact: Callable[[Row], Any]) -> list[list[Any]]:
            held = [_padded(row, size) for row in fixed]
            return [[*held, *map(exact, end), _padded(goal, size)], [*held, *map(exact, begin)]]

        target, start = rows(square.equations, equation.equations[0], lambda row: row)
        homotopy = straight_line(target, start, size, projective)

        def sharply() -> Homotopy:
            target, start = rows(square.exact, equation.exact[0], exactly)
            return sharpened(homotopy, target, start, size)

        roots = np.exp(2j * np.pi * np.arange(high) / high)
        count = len(witness.places)
        starts = np.hstack([np.repeat(witness.places, high, axis=0), np.tile(roots, count)[:, None]])
        starts = np.hstack([starts, np.ones((count * high, 1))]) if projective else starts
        return homotopy, sharply, starts

    def _sorted_out(self, dimension: int, kept: list[Vector], new: list[Vector]) -> list[WitnessSet]:
        """Witness sets of one dimension: each point once, none of them on a set of higher dimension."""
        forms = self.forms(dimension)
        found: list[LocalPoint] = []
        tests: list[Membership] | None = None
        for number, point in enumerate([*kept, *new]):
            local = self.systems.regular(point, forms)
            if local is None and number >= len(kept):
                tests = tests if tests is not None else self._tests()
                if any(test.contains(point) for test in tests):
                    continue
            local = local or self.systems.deflated(point, forms)
            if local is None:
                self.tally.unresolved += 1
                continue
            found.append(self.systems.straightened(local, forms))
        return [
            WitnessSet(dimension, ranks, places, forms) for ranks, places in _grouped(found, self.n).items()
        ]

    def _tests(self) -> list[Membership]:
        return [
            Membership(witness, self.systems, self.rng, self.settings, self.threads) for witness in self.sets
        ]


@dataclass
class _Ends:
    lost: int
    regular: list[Vector]
    singular: list[Vector]


def _near(point: Vector, others: list[Vector]) -> bool:
    return is_among(point, others, SAME_END * float(np.abs(point).max()))


def _linear(form: Vector, size: int) -> Row:
    """The form as an equation in more unknowns."""
    return linear_system(padded(form[None], size)).equations[0]


def _padded(row: Any, size: int) -> Any:
    """The equation in more unknowns."""
    return {(*key, *((0,) * (size - len(key)))): value for key, value in row.items()}


def _grouped(found: Iterable[LocalPoint], n: int) -> dict[tuple[int, ...], Vector]:
    """Distinct points by their ranks."""
    groups: dict[tuple[int, ...], list[Vector]] = {}
    known: PointSet | None = None
    for local in found:
        point = local.place[None, :n]
        if known is not None and not known.add(point):
            continue
        known = known or PointSet(point)
        groups.setdefault(local.ranks, []).append(local.place)
    return {ranks: np.array(places) for ranks, places in groups.items()}
