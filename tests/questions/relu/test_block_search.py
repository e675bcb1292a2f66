"""Searches of four angles: what they list against Newton's method on the library's dense gradient, and in part."""

from __future__ import annotations

import numpy as np
import pytest
from tests.questions.relu.fixed_space import missing, newton_ends, without

import shallows as sh
from shallows.questions.relu.block_search import search_blocks


@pytest.mark.parametrize(
    ("sizes", "starts"),
    [
        ([2, 2], 300),
        *(
            pytest.param(sizes, 10_000, marks=pytest.mark.thorough)
            for sizes in ([2, 2], [2, 3], [2, 4], [2, 5], [2, 6])
        ),
    ],
)
def test_newton_finds_nothing_outside_the_list_of_two_neurons_apart(sizes: list[int], starts: int) -> None:
    chart = sh.relu.symmetric_chart(sum(sizes), sizes)
    assert chart.completeness == "proved" and "but for" not in chart.scope and len(chart.families) == 2
    ends = newton_ends(sizes, starts, 11)
    assert len(ends) > starts // 2 and missing(chart, ends) == 0
    some = ends[:200]  # each point among these, deleted from the list, is noticed
    listed = np.array([point.form.network().W for point in chart.symmetric])
    seen = {int(np.abs(W - listed).max(axis=(1, 2)).argmin()) for W in some}
    assert len(seen) > 8 and all(missing(without(chart, i), some) > 0 for i in seen)


@pytest.mark.thorough
@pytest.mark.parametrize("sizes", [[2, 2], [2, 3]])
def test_a_larger_share_is_decided_with_more_boxes(sizes: list[int]) -> None:
    open_shares = []
    for most in (2_000, 30_000):
        found = search_blocks(tuple(sizes), most, 1, False, None)
        assert not found.complete and found.boxes < most + 10 * 8192
        open_shares.append(found.open[1])
    assert 0 < open_shares[1] < open_shares[0] <= 1
