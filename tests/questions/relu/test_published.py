"""Every minimum published for k = 6 to 20, found again from the two default starts."""

import pytest

import shallows as sh
from shallows.questions.relu.symmetric import symmetric_minimum
from shallows.uses.papers.experiments.published_minima import PUBLISHED, published_minima


def found_again(row):
    """The family member with the published norm sum; the published point itself is up to 3e-9 off."""
    starts = ["across"] if min(row.blocks[:-1], default=3) < 3 else ["across", "within"]
    for start in starts:
        try:
            found = symmetric_minimum(row.k, row.blocks, start)
        except sh.NotConverged:
            continue
        if abs(found.norm_sum - row.norm_sum) < 1e-8:
            assert found.half_smallest_eigenvalue == pytest.approx(row.half_smallest_eigenvalue, abs=6e-10)
            assert found.is_certified
            return True
    return False


def test_500_runs_each():
    for k in range(6, 21):
        assert sum(row.count for row in published_minima(k)) == 500
    with pytest.raises(sh.InvalidProblem, match="k = 6 to 20"):
        published_minima(21)


def test_the_published_minima_at_k_11():
    assert all(found_again(row) for row in published_minima(11))


@pytest.mark.thorough
def test_all_published_minima_with_up_to_two_blocks():
    rows = [row for row in PUBLISHED if len(row.blocks) < 3]
    assert len(rows) == 102
    assert [row for row in rows if not found_again(row)] == []
