"""The polyhedral start system: generic coefficients on given supports, and all its roots without a zero coordinate.

By Bernstein's theorem there are as many as the mixed volume. For the lifting ω of a mixed cell and the α at which its
edges are lowest, x = y s^α turns Σ c_a s^{ω(a)} x^a into Σ c_a s^{w(a)} y^a with weights w(a) ≥ 0 that vanish on the
edges only: at s = 0 a binomial system with |det| roots, at s = 1 the generic system (B. Huber, B. Sturmfels, "A
polyhedral method for solving sparse polynomial systems", Math. Comput. 64, 1995). Here s = exp(−τ), and τ runs from
where the other terms have vanished to 0.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.binomials import unit_roots
from shallows.mathematics.homotopy.mixed_cells import MixedCells
from shallows.mathematics.homotopy.paths import Homotopy, TrackerSettings, Weighted
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


@dataclass(frozen=True)
class _Cells:
    """The homotopies of all mixed cells, which differ by weights, a row each, and the roots of their binomials."""

    homotopy: Homotopy
    weights: NDArray[np.float64]
    starts: list[NDArray[np.complex128]]


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
        equations: list[dict[Exponents, complex]] = [
            {
                tuple(point): complex(value)
                for point, value in zip(support.tolist(), np.exp(2j * np.pi * own / FINEST), strict=True)
            }
            for support, own in zip(cells.supports, angles, strict=True)
        ]
        points = np.zeros((0, len(equations)), np.complex128) if not len(cells.edges) else None
        if points is None:
            points = _tracked(_homotopies(cells, angles, equations), threads, progress)
        if points is not None:
            return StartSystem(equations, points.reshape(-1, len(equations)))
    raise NotConverged(
        f"the roots of {SYSTEMS} generic systems with mixed volume {cells.mixed_volume:,} could not all be found. "
        'Fix: give another rng, or start="total degree"'
    )


def _angles(
    support: NDArray[np.int64], target: Mapping[Exponents, complex], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Random angles in turns / FINEST, for each point of a support, near that of the target's coefficient if any."""
    values = np.array([target.get(tuple(point), 0.0) for point in support.tolist()], np.complex128)
    shares = rng.random(len(support))
    near = np.angle(values) / (2 * np.pi) + (2 * shares - 1) * WIDEST
    return np.asarray(np.rint(np.where(values == 0.0, shares, near) * FINEST), np.int64)


def _homotopies(
    cells: MixedCells, angles: Sequence[NDArray[np.int64]], equations: list[dict[Exponents, complex]]
) -> _Cells:
    from shallows.mathematics.homotopy._compiled import evaluators

    n, count = len(equations), len(cells.edges)
    plain = straight_line(equations, equations, n, projective=False)
    matrices = np.zeros((count, n, n), np.int64)
    right = np.zeros((count, n), np.int64)
    for i, support in enumerate(cells.supports):
        first, second = cells.edges[:, i, 0], cells.edges[:, i, 1]
        matrices[:, i] = support[second] - support[first]
        # c_a y^a + c_b y^b = 0: y^(b−a) = −c_a/c_b
        right[:, i] = FINEST // 2 + angles[i][first] - angles[i][second]
    weights = _weights(cells, matrices)
    homotopy = replace(plain, evaluate=evaluators.toric, scratch=weights.shape[1])
    return _Cells(homotopy, weights, unit_roots(matrices, right, FINEST))


def _weights(cells: MixedCells, matrices: NDArray[np.int64]) -> NDArray[np.float64]:
    """w(a) = ⟨a, α⟩ + ω(a) − lowest, the smallest 1; then κ and s of τ(t) = s (exp(κt) − 1), and the cell's number."""
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
    least = np.where(weights > 0.0, weights, np.inf).min(axis=1, initial=np.inf)[:, None]
    weights = np.where(np.isfinite(least), np.maximum(weights / least, 0.0), weights)
    rate = np.maximum(np.log(np.maximum(weights.max(axis=1, initial=1.0), 1.0)), SLOWEST)
    scale = np.where(np.isfinite(least[:, 0]), VANISHED / np.expm1(rate), 0.0)
    return np.ascontiguousarray(np.hstack([weights, rate[:, None], scale[:, None], rows[:, None] + 1.0]))


def _tracked(cells: _Cells, threads: int | None, progress: Shown) -> NDArray[np.complex128] | None:
    """The ends of all paths, every one at a root of its own; None when that could not be had."""
    counts = [len(start) for start in cells.starts]
    owner = np.repeat(np.arange(len(counts)), counts)
    settings = [TrackerSettings()] * len(counts)
    ends, lost = list(cells.starts), [np.ones(count, bool) for count in counts]
    waiting = list(range(len(counts)))
    homotopy, spaces = cells.homotopy, threading.local()

    def one(k: int) -> int:
        tracker = getattr(spaces, "tracker", None)
        if tracker is None:
            tracker = spaces.tracker = Weighted(homotopy, cells.weights.shape[1])
        ends[k], status = tracker.follow(cells.weights[k], cells.starts[k], settings[k])
        lost[k] = status != 0
        return counts[k]

    workers = cores.workers(threads)
    for _ in range(RETRIES + 1):
        with Progress(sum(counts), "solving a generic system", progress, "paths") as shown:
            if workers == 1 or len(waiting) < 2:
                for k in waiting:
                    shown.advance(one(k))
            else:
                with ThreadPoolExecutor(workers) as pool:
                    for done in pool.map(one, waiting):
                        shown.advance(done)
        points = np.concatenate(ends) if ends else np.zeros((0, 0), np.complex128)
        bad = np.concatenate(lost) if lost else np.zeros(0, bool)
        good = np.flatnonzero(~bad)
        first, second = close_pairs(points[good], np.full(len(good), SAME))
        bad[good[first]] = bad[good[second]] = True
        if not bad.any():
            return np.asarray(points)
        waiting = sorted(set(owner[bad].tolist()))
        for k in waiting:
            settings[k] = settings[k].tighter()
    return None
