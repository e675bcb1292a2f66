"""Searches of four angles, which do not end: what they list against Newton's method on the library's dense gradient."""

from __future__ import annotations

import numpy as np
import pytest
from tests.questions.relu.fixed_space import distinct, newton_ends

import shallows as sh
from shallows.questions.relu.block_search import search_blocks


@pytest.mark.thorough
def test_two_and_two_list_what_three_thousand_newton_starts_find() -> None:
    chart = sh.relu.symmetric_chart(4, [2, 2], most=300_000)
    ends = distinct(newton_ends([2, 2], 3_000, 11))
    listed = [point.network.W for point in chart.points]
    assert len(listed) == len(ends) == 32
    for W in ends:
        assert min(np.abs(W - other).max() for other in listed) < 1e-6


@pytest.mark.thorough
@pytest.mark.parametrize("sizes", [[2, 2], [2, 3]])
def test_a_larger_share_is_decided_with_more_boxes(sizes: list[int]) -> None:
    open_shares = []
    for most in (2_000, 30_000):
        found = search_blocks(tuple(sizes), most, 1, False, None)
        assert not found.complete and found.boxes < most + 10 * 8192
        open_shares.append(found.open[1])
    assert 0 < open_shares[1] < open_shares[0] <= 1
