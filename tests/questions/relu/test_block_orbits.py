"""Images of block forms under permutations of neurons: the same loss, and every network has one that is searched."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.questions.relu.block_orbits import images, searched_cells
from shallows.questions.relu.block_system import BlockSystem
from shallows.relu import BlockForm

SIZES = [[2], [1, 2], [2, 2], [2, 4], [3, 3], [1, 5]]


@pytest.mark.parametrize("sizes", SIZES)
def test_images_are_the_same_function_up_to_coordinates(sizes: list[int]) -> None:
    rng, k = np.random.default_rng(0), sum(sizes)
    table = BlockForm.of(sizes, rng.standard_normal((len(sizes), len(sizes) + 1))).values
    problem = sh.relu_problem(k)
    found = images(sizes, table)
    assert len(found) == {(2,): 2, (1, 2): 2, (2, 2): 8, (2, 4): 2, (3, 3): 2, (1, 5): 1}[tuple(sizes)]
    for image in found:
        net = BlockForm.of(sizes, image).network()
        assert problem.loss(net) == pytest.approx(
            problem.loss(BlockForm.of(sizes, table).network()), abs=1e-12
        )
        assert np.allclose(np.sort(net.W.ravel()), np.sort(BlockForm.of(sizes, table).network().W.ravel()))


@pytest.mark.parametrize("sizes", SIZES)
def test_every_network_has_an_image_in_a_cell_that_is_searched(sizes: list[int]) -> None:
    rng = np.random.default_rng(1)
    systems = [BlockSystem(sizes, faces, once=True) for faces in searched_cells(sizes)]
    for _ in range(60):
        table = rng.standard_normal((len(sizes), len(sizes) + 1))
        table[rng.uniform(size=table.shape) < 0.2] = 1.0  # ties, on borders of cells
        table = BlockForm.of(sizes, table).values
        assert any(_searched(system, image) for image in images(sizes, table) for system in systems)


def _searched(system: BlockSystem, table: np.ndarray) -> bool:
    """Whether this is in the cell, and in the part of it whose order is searched."""
    x = system.coordinates(table)
    for a, (face, sign) in enumerate(system.faces):
        entry = system.entries[a][face]
        value = (
            table[a, a] if entry.block < 0 else table[a, -1] if entry.block == a else table[a, entry.block]
        )
        if value * sign <= 0:
            return False
    split = list(system.split)
    if np.abs(x[split]).max(initial=0.0) > 1 + 1e-12:
        return False
    room = system.region()
    lo, hi = room.lo.copy(), room.hi.copy()
    lo[split], hi[split] = x[split] - 1e-9, x[split] + 1e-9
    with np.errstate(all="ignore"):
        left = system.contract(Intervals(lo[None], hi[None]))
    return bool(np.all(left.lo[0, split] <= left.hi[0, split]))


def test_points_with_equal_rows_are_their_own_images() -> None:
    assert len(images([1, 2], np.array([[0.3, 0.2, 0.0], [0.1, 0.5, 0.5]]))) == 1
    assert len(images([2, 2], np.array([[0.5, 0.1, 0.5], [0.1, 0.5, 0.5]]))) == 1
