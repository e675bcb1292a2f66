"""The polyhedral start system: generic coefficients on given supports, and all its roots without a zero coordinate.

By Bernstein's theorem there are as many as the mixed volume. For the lifting ω of a mixed cell and the α at which its
edges are lowest, x = y s^α turns Σ c_a s^{ω(a)} x^a into Σ c_a s^{w(a)} y^a with weights w(a) ≥ 0 that vanish on the
edges only: at s = 0 a binomial system with |det| roots, at s = 1 the generic system (B. Huber, B. Sturmfels, "A
polyhedral method for solving sparse polynomial systems", Math. Comput. 64, 1995). Here s = exp(−τ), and τ runs from
where the other terms have vanished to 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.binomials import unit_roots
from shallows.mathematics.homotopy.mixed_cells import MixedCells
from shallows.mathematics.homotopy.paths import Homotopy, Paths, TrackerSettings, track
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
class _Cell:
    """The homotopy of a mixed cell and the roots of its binomials."""

    homotopy: Homotopy
    starts: NDArray[np.complex128]


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
                tuple(int(e) for e in point): complex(np.exp(2j * np.pi * float(angle)))
                for point, angle in zip(support, own, strict=True)
            }
            for support, own in zip(cells.supports, angles, strict=True)
        ]
        points = _tracked(_homotopies(cells, angles, equations), threads, progress)
        if points is not None:
            return StartSystem(equations, points.reshape(-1, len(equations)))
    raise NotConverged(
        f"the roots of {SYSTEMS} generic systems with mixed volume {cells.mixed_volume:,} could not all be found. "
        'Fix: give another rng, or start="total degree"'
    )


def _angles(
    support: NDArray[np.int64], target: Mapping[Exponents, complex], rng: np.random.Generator
) -> list[Fraction]:
    """Random angles in turns, for each point of a support, near the angle of the target's coefficient if it has one."""
    angles = []
    for point, share in zip(support.tolist(), rng.random(len(support)), strict=True):
        value = target.get(tuple(point), 0.0)
        turn = share if value == 0.0 else np.angle(value) / (2 * np.pi) + (2 * share - 1) * WIDEST
        angles.append(Fraction(round(turn * FINEST), FINEST))
    return angles


def _homotopies(
    cells: MixedCells, angles: Sequence[Sequence[Fraction]], equations: list[dict[Exponents, complex]]
) -> list[_Cell]:
    from shallows.mathematics.homotopy._compiled import evaluators

    n = len(equations)
    plain = straight_line(equations, equations, n, projective=False) if n else None
    half = Fraction(1, 2)
    found = []
    for edges in cells.edges:
        pairs = list(enumerate(edges.tolist()))
        matrix = np.array([cells.supports[i][b] - cells.supports[i][a] for i, (a, b) in pairs])
        # c_a y^a + c_b y^b = 0: y^(b−a) = −c_a/c_b
        right = [half + angles[i][a] - angles[i][b] for i, (a, b) in pairs]
        assert plain is not None
        homotopy = replace(plain, evaluate=evaluators.toric, reals=_weights(cells, edges, matrix))
        found.append(_Cell(homotopy, unit_roots(matrix, right)))
    return found


def _weights(cells: MixedCells, edges: NDArray[np.int64], matrix: NDArray[np.int64]) -> NDArray[np.float64]:
    """w(a) = ⟨a, α⟩ + ω(a) − lowest, the smallest of them 1, then κ and s of τ(t) = s (exp(κt) − 1)."""
    pairs = list(enumerate(edges.tolist()))
    fall = np.array([cells.lifts[i][a] - cells.lifts[i][b] for i, (a, b) in pairs], float)
    alpha = np.linalg.solve(matrix.astype(float), fall)
    rows = []
    for i, (a, b) in pairs:
        height = cells.supports[i] @ alpha + cells.lifts[i]
        weight = height - height[a]
        weight[[a, b]] = 0.0
        rows.append(weight)
    weights = np.concatenate(rows)
    positive = weights[weights > 0.0]
    if not len(positive):
        return np.append(weights, [SLOWEST, 0.0])
    weights = np.maximum(weights / positive.min(), 0.0)
    rate = max(float(np.log(weights.max())), SLOWEST)
    return np.append(weights, [rate, VANISHED / np.expm1(rate)])


def _tracked(cells: list[_Cell], threads: int | None, progress: Shown) -> NDArray[np.complex128] | None:
    """The ends of all paths, every one at a root of its own; None when that could not be had."""
    settings = [TrackerSettings()] * len(cells)
    waiting = list(range(len(cells)))
    results: list[Paths | None] = [None] * len(cells)
    workers = cores.workers(threads)
    count = sum(len(cell.starts) for cell in cells)
    for _ in range(RETRIES + 1):

        def one(k: int) -> int:
            cell = cells[k]
            results[k] = track(cell.homotopy, cell.starts, settings[k], threads=1, endgame=False)
            return len(cell.starts)

        with Progress(count, "solving a generic system", progress, "paths") as shown:
            if workers == 1 or len(waiting) < 2:
                for k in waiting:
                    shown.advance(one(k))
            else:
                with ThreadPoolExecutor(workers) as pool:
                    for done in pool.map(one, waiting):
                        shown.advance(done)
        paths = [result for result in results if result is not None]
        points = np.concatenate([path.ends for path in paths]) if paths else np.zeros((0, 0), np.complex128)
        bad = np.concatenate([path.status != 0 for path in paths]) if paths else np.zeros(0, bool)
        good = np.flatnonzero(~bad)
        first, second = close_pairs(points[good], np.full(len(good), SAME))
        bad[good[first]] = bad[good[second]] = True
        if not bad.any():
            return np.asarray(points)
        owner = np.repeat(np.arange(len(cells)), [len(cell.starts) for cell in cells])
        waiting = sorted(set(owner[bad].tolist()))
        for k in waiting:
            settings[k] = settings[k].tighter()
    return None
