"""The polyhedral start system: generic coefficients on given supports, and all its roots without a zero coordinate.

By Bernstein's theorem there are as many as the mixed volume. For the lifting ω of a mixed cell and the α at which its
edges are lowest, x = y s^α turns Σ c_a s^{ω(a)} x^a into Σ c_a s^{w(a)} y^a with weights w(a) ≥ 0 that vanish on the
edges only: at s = 0 a binomial system with |det| roots, at s = 1 the generic system (B. Huber, B. Sturmfels, "A
polyhedral method for solving sparse polynomial systems", Math. Comput. 64, 1995). Here s = exp(−τ), and τ runs from
where the other terms have vanished to 0.

The generic coefficients g need not be reached: with g + s^v (f − g) in their place the same paths end at the roots of
the target f. For each s < 1 those are generic as g is, so that for almost all g no path meets a singular point before
its end; and v is the same for all cells, since these see different parts of one homotopy.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.binomials import unit_roots
from shallows.mathematics.homotopy.mixed_cells import MixedCells
from shallows.mathematics.homotopy.paths import (
    BLOCKS_A_WORKER,
    MOST_TOGETHER,
    Homotopy,
    TrackerSettings,
    Weighted,
)
from shallows.mathematics.homotopy.sparse import straight_line
from shallows.mathematics.homotopy.start_systems import StartSystem
from shallows.mathematics.homotopy.systems import Exponents
from shallows.mathematics.same_points import close_pairs
from shallows.support import cores
from shallows.support.errors import NotConverged
from shallows.support.progress import Progress, Shown

#: Angles of the generic coefficients are multiples of this share of a turn, so that roots of binomials are exact.
FINEST = 2**24
#: Angle, in turns, between a coefficient of the generic system and one of the target: on the segment between them it
#: stays above 1/√2. Were it free, some coefficients would nearly vanish on the way, and with those of a vertex of a
#: Newton polytope roots go to infinity and back: eco-9 lost one path in a hundred, at sizes of 10¹⁴.
WIDEST = 0.25
#: Where paths start, every term that is not on the edges of its cell is below exp(−20) = 2·10⁻⁹: within Newton's reach.
VANISHED = 20.0
#: The least rate at which τ(t) = s (exp(κt) − 1) grows: nearly linear.
SLOWEST = 0.5
#: Chordal distance at which two ends of different paths are one: generic roots are further apart, so a path has jumped.
SAME = 1e-8
#: How often lost paths are tracked again with tighter settings, and how many generic systems are tried.
RETRIES, SYSTEMS = 3, 3
#: How often on the direct way to the target, which is left at the first path that cannot be had.
DIRECT_RETRIES = 2


@dataclass(frozen=True)
class _Cells:
    """The homotopies of all mixed cells, which differ by weights, a row each; the roots of their binomials, and the
    cells that these belong to."""

    homotopy: Homotopy
    weights: NDArray[np.float64]
    starts: NDArray[np.complex128]
    owners: NDArray[np.int64]


def polyhedral_start(
    cells: MixedCells,
    target: Sequence[Mapping[Exponents, complex]],
    rng: np.random.Generator,
    threads: int | None = None,
    progress: Shown = False,
) -> StartSystem:
    """A generic system with the supports of `cells`, and all its roots off the coordinate hyperplanes.

    Its coefficients are random numbers on the unit circle, at an angle of no more than `WIDEST` to those of `target`.
    """
    for _ in range(SYSTEMS):
        angles = [_angles(support, terms, rng) for support, terms in zip(cells.supports, target, strict=True)]
        equations = _generic(cells, angles)
        points = np.zeros((0, len(equations)), np.complex128) if not len(cells.edges) else None
        if points is None:
            ways = _homotopies(cells, angles, equations, equations)
            ladder = _tighter(TrackerSettings(), RETRIES)
            points = _Tracking(ways, ladder, threads, patient=True).run(progress)
        if points is not None:
            return StartSystem(equations, points.reshape(-1, len(equations)))
    raise NotConverged(
        f"the roots of {SYSTEMS} generic systems with mixed volume {cells.mixed_volume:,} could not all be found. "
        'Fix: give another rng, or start="total degree"'
    )


def direct_ends(
    cells: MixedCells,
    target: Sequence[Mapping[Exponents, complex]],
    rng: np.random.Generator,
    settings: TrackerSettings,
    threads: int | None = None,
    progress: Shown = False,
) -> tuple[NDArray[np.complex128], NDArray[np.int64]] | None:
    """The roots of `target`, straight from those of the binomials, and the steps to them: as many different points as
    the mixed volume says; None as soon as a path does not arrive at one."""
    angles = [_angles(support, terms, rng) for support, terms in zip(cells.supports, target, strict=True)]
    equations = _generic(cells, angles)
    goal = [{key: own.get(key, 0j) for key in row} for own, row in zip(target, equations, strict=True)]
    ways = _homotopies(cells, angles, goal, equations)
    ladder = [settings, *_tighter(TrackerSettings(), DIRECT_RETRIES - 1)]
    tracking = _Tracking(ways, ladder, threads, patient=False)
    points = tracking.run(progress) if len(cells.edges) else None
    return None if points is None else (points, tracking.steps)


def _tighter(settings: TrackerSettings, times: int) -> list[TrackerSettings]:
    """These settings, and tighter ones."""
    ladder = [settings]
    for _ in range(times):
        ladder.append(ladder[-1].tighter())
    return ladder


def _generic(cells: MixedCells, angles: Sequence[NDArray[np.int64]]) -> list[dict[Exponents, complex]]:
    """Coefficients on the unit circle."""
    return [
        {
            tuple(point): complex(value)
            for point, value in zip(support.tolist(), np.exp(2j * np.pi * own / FINEST), strict=True)
        }
        for support, own in zip(cells.supports, angles, strict=True)
    ]


def _angles(
    support: NDArray[np.int64], target: Mapping[Exponents, complex], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Random angles in turns / FINEST, for each point of a support, near that of the target's coefficient if any."""
    values = np.array([target.get(tuple(point), 0.0) for point in support.tolist()], np.complex128)
    shares = rng.random(len(support))
    near = np.angle(values) / (2 * np.pi) + (2 * shares - 1) * WIDEST
    return np.asarray(np.rint(np.where(values == 0.0, shares, near) * FINEST), np.int64)


def _homotopies(
    cells: MixedCells,
    angles: Sequence[NDArray[np.int64]],
    goal: list[dict[Exponents, complex]],
    equations: list[dict[Exponents, complex]],
) -> _Cells:
    """From the binomials of `equations` to the roots of `goal`."""
    from shallows.mathematics.homotopy._compiled import evaluators

    n, count = len(equations), len(cells.edges)
    plain = straight_line(goal, equations, n, projective=False)
    matrices = np.zeros((count, n, n), np.int64)
    right = np.zeros((count, n), np.int64)
    for i, support in enumerate(cells.supports):
        first, second = cells.edges[:, i, 0], cells.edges[:, i, 1]
        matrices[:, i] = support[second] - support[first]
        # c_a y^a + c_b y^b = 0: y^(b−a) = −c_a/c_b
        right[:, i] = FINEST // 2 + angles[i][first] - angles[i][second]
    weights = _weights(cells, matrices)
    homotopy = replace(plain, evaluate=evaluators.toric, scratch=4 * weights.shape[1])
    return _Cells(homotopy, weights, *unit_roots(matrices, right, FINEST))


def _weights(cells: MixedCells, matrices: NDArray[np.int64]) -> NDArray[np.float64]:
    """w(a) = ⟨a, α⟩ + ω(a) − lowest, the smallest 1; then κ and s of τ(t) = s (exp(κt) − 1), the cell's number, and v.

    The weight v of the way to the target is the largest of the cells' least weights: smaller ones make paths start
    further away, and larger ones leave that way to the end of the path.
    """
    rows = np.arange(len(matrices))
    edges = cells.edges
    fall = [lift[edges[:, i, 0]] - lift[edges[:, i, 1]] for i, lift in enumerate(cells.lifts)]
    alpha = np.linalg.solve(matrices.astype(float), np.stack(fall, axis=1).astype(float)[..., None])[..., 0]
    columns = []
    for i, support in enumerate(cells.supports):
        height = alpha @ support.T + cells.lifts[i]
        weight = height - height[rows, edges[:, i, 0]][:, None]
        weight[rows, edges[:, i, 0]] = weight[rows, edges[:, i, 1]] = 0.0
        columns.append(weight)
    weights = np.hstack(columns)
    least = np.where(weights > 0.0, weights, np.inf).min(axis=1, initial=np.inf)
    fading = float(least.max(where=np.isfinite(least), initial=0.0)) or 1.0
    least = np.minimum(least, fading)[:, None]
    weights = np.maximum(np.hstack([weights, np.full((len(rows), 1), fading)]) / least, 0.0)
    rate = np.maximum(np.log(np.maximum(weights.max(axis=1), 1.0)), SLOWEST)
    scale = VANISHED / np.expm1(rate)
    own = np.stack([rate, scale, rows + 1.0, weights[:, -1]], axis=1)
    return np.ascontiguousarray(np.hstack([weights[:, :-1], own]))


class _Tracking:
    """The paths of all cells on a ladder of settings; where it is not `patient`, up to the first path that does not
    arrive on the second rung either."""

    def __init__(
        self, cells: _Cells, ladder: Sequence[TrackerSettings], threads: int | None, patient: bool
    ) -> None:
        self.cells, self.ladder, self.patient = cells, ladder, patient
        self.workers = cores.workers(threads)
        count = len(cells.starts)
        self.ends, self.lost = cells.starts.copy(), np.ones(count, bool)
        self.steps = np.zeros(count, np.int64)
        self.given_up = False
        self._spaces = threading.local()

    def run(self, progress: Shown) -> NDArray[np.complex128] | None:
        """The ends of all paths, every one at a root of its own; None when that could not be had."""
        waiting = np.arange(len(self.ends))
        for rung in range(len(self.ladder)):
            self._follow(waiting, rung, progress)
            if self.given_up:
                return None
            bad, good = self.lost.copy(), np.flatnonzero(~self.lost)
            first, second = close_pairs(self.ends[good], np.full(len(good), SAME))
            bad[good[first]] = bad[good[second]] = True
            if not bad.any():
                return self.ends
            # with those of their cells: the neighbours that a path may have jumped to
            waiting = np.flatnonzero(np.isin(self.cells.owners, self.cells.owners[bad]))
        return None

    def _follow(self, waiting: NDArray[np.int64], rung: int, progress: Shown) -> None:
        count = len(waiting)
        together = max(1, min(MOST_TOGETHER, count // (BLOCKS_A_WORKER * self.workers) + 1))
        blocks = [waiting[k : k + together] for k in range(0, count, together)]
        with Progress(count, "solving a generic system", progress, "paths") as shown:
            follow = partial(self._block, rung)
            cores.each(follow, blocks, self.workers, lambda done: shown.advance(done * together))

    def _block(self, rung: int, rows: NDArray[np.int64]) -> None:
        """Follow these paths on a rung. The impatient look at once whether lost ones arrive on the second."""
        if self.given_up:
            return
        tracker = getattr(self._spaces, "tracker", None)
        if tracker is None:
            tracker = self._spaces.tracker = Weighted(self.cells.homotopy, self.cells.weights)
        left = rows
        while len(left):
            own = self.cells.owners[left], self.cells.starts[left]
            self.ends[left], status, steps = tracker.follow(*own, self.ladder[rung])
            self.steps[left] += steps
            self.lost[left] = status != 0
            left = left[status != 0]
            if self.patient or not len(left):
                break
            if rung:
                self.given_up = True
                break
            rung = 1
