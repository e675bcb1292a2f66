"""Searches of four angles, which do not end: what they list against Newton's method on the library's dense gradient."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh
from shallows.questions.relu.block_search import search_blocks


def newton_in_fixed_space(sizes: list[int], starts: int, seed: int) -> list[np.ndarray]:
    """Distinct critical points of this block form, without zero rows and outside the tube, from random networks."""
    k, rng, step = sum(sizes), np.random.default_rng(seed), 1e-6
    home, one = np.repeat(np.arange(len(sizes)), sizes), np.eye(sum(sizes), dtype=bool)
    masks = []
    for a in range(len(sizes)):
        for c in range(len(sizes)):
            cell = np.outer(home == a, home == c)
            masks += [cell & one, cell & ~one] if a == c else [cell]
    masks = [mask for mask in masks if mask.any()]
    basis = np.stack([mask.ravel() / np.sqrt(mask.sum()) for mask in masks])
    problem = sh.relu_problem(k)
    x = rng.standard_normal((starts, len(masks))) * np.sqrt([mask.sum() / k for mask in masks])
    x *= rng.choice([0.5, 1.0, 2.0], (starts, 1))

    def gradient(points: np.ndarray) -> np.ndarray:
        return problem.value_and_gradient(points @ basis)[1] @ basis.T

    for _ in range(60):
        ends = [(gradient(x + step * e) - gradient(x - step * e)) / (2 * step) for e in np.eye(len(masks))]
        inverse = np.linalg.pinv(np.stack(ends, axis=2), rcond=1e-9)
        shift = -np.einsum("mij,mj->mi", inverse, gradient(x))
        size, length = (np.linalg.norm(v, axis=1, keepdims=True) for v in (shift, x))
        x = x + shift * np.minimum(1.0, 0.3 * length / np.maximum(size, 1e-300))
    x = x[np.linalg.norm(gradient(x), axis=1) < 1e-9]
    found: list[np.ndarray] = []
    for W in (x @ basis).reshape(-1, k, k):
        lengths = np.linalg.norm(W, axis=1)
        if lengths.min() < 1e-6 or ((W @ W.T) / np.outer(lengths, lengths)).min() > np.cos(0.01):
            continue
        if not any(np.abs(W - other).max() < 1e-6 for other in found):
            found.append(W)
    return found


@pytest.mark.thorough
def test_two_and_two_list_what_three_thousand_newton_starts_find() -> None:
    chart = sh.relu.symmetric_chart(4, [2, 2], most=300_000)
    ends = newton_in_fixed_space([2, 2], 3_000, 11)
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
