"""Compiled equations of block-symmetric networks, and lengths, against the same in arrays."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.questions.relu.fixed_space import distinct, newton_ends, tables

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.contraction import inverses
from shallows.mathematics.exclusion.intervals import Intervals, of_ball
from shallows.mathematics.exclusion.newton import examine
from shallows.questions.relu.block_cell import entries_of
from shallows.questions.relu.block_orbits import searched_cells
from shallows.questions.relu.block_system import SWEEPS, BlockSystem

SIZES = [[3], [1, 2], [1, 5], [2, 2], [2, 4]]


def boxes(system: BlockSystem, rng: np.random.Generator, m: int) -> Intervals:
    """Directions in boxes of all sizes, all lengths."""
    region, split = system.region(), np.isin(np.arange(system.n), system.split)
    centre = rng.uniform(region.lo, region.hi, (m, system.n))
    half = np.where(split, 10.0 ** rng.uniform(-9, 0, (m, 1)), np.inf)
    return Intervals(np.maximum(centre - half, region.lo), np.minimum(centre + half, region.hi))


@pytest.mark.parametrize("sizes", SIZES)
def test_tapes_are_the_equations(sizes: list[int]) -> None:
    rng = np.random.default_rng(0)
    for faces in searched_cells(sizes)[::4]:
        system = BlockSystem(sizes, faces, once=True)
        box = boxes(system, rng, 600)
        with np.errstate(all="ignore"):
            value, slope = system(box, True)
            plain = Intervals.stack([x + Intervals.exact(np.zeros(600)) for x in system.equations(box, True)])
        assert slope is not None
        lo = np.concatenate([value.lo, slope.lo.reshape(600, -1)], axis=1)
        hi = np.concatenate([value.hi, slope.hi.reshape(600, -1)], axis=1)
        known = np.isfinite(plain.lo) & np.isfinite(plain.hi)
        assert np.array_equal(np.isfinite(lo) & np.isfinite(hi), known) and known.mean() > 0.5
        size = 1.0 + (np.abs(plain.lo) + np.abs(plain.hi))[known]
        assert np.all(np.abs(lo - plain.lo)[known] < 1e-8 * size)
        assert np.all(np.abs(hi - plain.hi)[known] < 1e-8 * size)


def swept(system: BlockSystem, box: Intervals) -> list[Intervals]:
    """The lengths of all blocks but the last and the sum of all, from F = 0, which is linear in them; in arrays."""
    rows = [system.row(box, a) for a in system.blocks]
    M, b, _ = system._linear(rows, box, False)
    columns = system._columns(M, rows)
    table = Intervals.stack([Intervals.stack(column) for column in columns], axis=2)
    ball = Intervals.stack([x for part in b for x in part]).ball()
    middle = np.where(np.isfinite(table.mid).all(axis=(1, 2))[:, None, None], table.mid, 0.0)
    turned = np.swapaxes(middle, 1, 2)
    inverse = Ball.exact(inverses(turned @ middle) @ turned)
    A = of_ball(inverse @ table.ball())
    right = of_ball((inverse @ Ball(ball.mid[:, :, None], ball.rad[:, :, None]))[:, :, 0])
    found = [box[:, s] for s in system.starts[:-1]]
    last = len(system.sizes) - 1
    for _ in range(SWEEPS):
        for a in system.blocks:
            total = right[:, a]
            for c in system.blocks:
                if c != a:
                    total = total - A[:, a, c] * found[c]
            others = Intervals.exact(np.zeros(len(box)))
            for c in range(last):
                if c != a:
                    others = others + found[c] * float(system.sizes[c])
            room = Intervals(others.lo, np.inf)
            if a < last:
                room = Intervals(0.0, ((found[last] - others) / float(system.sizes[a])).hi)
            found[a] = found[a].meet(room).meet(total / A[:, a, a])
    return found


@pytest.mark.parametrize("sizes", SIZES)
def test_lengths_are_those_of_a_sweep_in_arrays(sizes: list[int]) -> None:
    rng = np.random.default_rng(1)
    for faces in searched_cells(sizes)[::4]:
        system = BlockSystem(sizes, faces)
        box = boxes(system, rng, 400)
        with np.errstate(all="ignore"):
            compiled, plain = system.contract(box), swept(system, box)
        empty = np.any(compiled.lo > compiled.hi, axis=1)
        assert np.array_equal(empty, np.any([x.lo > x.hi for x in plain], axis=0))
        for start, x in zip(system.starts[:-1], plain, strict=True):
            assert np.allclose(compiled.lo[~empty, start], x.lo[~empty], atol=1e-10)
            assert np.allclose(compiled.hi[~empty, start], x.hi[~empty], atol=1e-10)


@pytest.mark.parametrize("sizes", [[1, 2], [2, 2]])
def test_no_box_around_a_critical_point_is_excluded(sizes: list[int]) -> None:
    """Points are those of Newton's method on the dense gradient; boxes of all sizes, points in corners as well."""
    rng = np.random.default_rng(2)
    ends = distinct(newton_ends(sizes, 300, 7))
    assert len(ends) > 8
    seen = 0
    faces = [[(i, s) for i in range(len(entries_of(sizes, a))) for s in (1, -1)] for a in range(len(sizes))]
    for cell in product(*faces):
        system = BlockSystem(sizes, cell)
        region = system.region()
        for table in tables(system, np.array(ends)):
            x = system.coordinates(table)
            if np.any(np.abs(x[list(system.split)]) > 1):
                continue
            seen += 1
            reach = 10.0 ** rng.uniform(-9, 0.3, (40, 1)) * rng.uniform(0, 1, (2, 40, system.n))
            reach[0, :8], reach[1, 8:16] = 1e-11, 1e-11
            box = Intervals(np.maximum(x - reach[0], region.lo), np.minimum(x + reach[1], region.hi))
            box.lo[:, system.starts[:-1]] = region.lo[system.starts[:-1]]
            box.hi[:, system.starts[:-1]] = region.hi[system.starts[:-1]]
            smaller = system.contract(box)
            assert np.all((smaller.lo <= x + 1e-9) & (x - 1e-9 <= smaller.hi))
            outcome = examine(system, smaller, region.hi - region.lo)
            assert not outcome.out.any()
            left = ~outcome.proved
            assert np.all((outcome.box.lo[left] <= x + 1e-9) & (x - 1e-9 <= outcome.box.hi[left]))
    assert seen >= len(ends)
