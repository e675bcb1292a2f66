"""Paths of three cubic neurons that end at limits: counted by slopes, against targets that are made to have them."""

import numpy as np
import pytest
from tests.questions.charts.closure.test_three_inputs import SPECIAL, product

import shallows as sh
from shallows.questions.charts.closure.triangles import stars


def cubic_of(lines):
    """The coefficients of l₁l₂l₃ that act on entries i ≤ j ≤ k of a cubic tensor: e·s = Σ e_I s_I."""
    T = np.einsum("i,j,k->ijk", *lines)
    found = {}
    for (i, j, k), value in np.ndenumerate(T):
        key = tuple(sorted((i, j, k)))
        found[key] = found.get(key, 0.0) + value
    return np.array([found[i, j, k] for i in range(3) for j in range(i, 3) for k in range(j, 3)])


def star(w, rng):
    """Three random lines through w."""
    lines = rng.standard_normal((3, 3))
    return cubic_of(lines - np.outer(lines @ w, w) / (w @ w))


def with_a_star(seed):
    """A target whose chart has a limit w²v with such a slope, and that limit's loss."""
    rng = np.random.default_rng(seed)
    data = sh.Gaussian(3)
    w, v = rng.standard_normal((2, 3))
    e = star(w, rng)
    target = product(w, w, v) - np.linalg.solve(data.gram(3), e)
    return sh.Problem(sh.SymmetricTensor(target, 3, 3), data, 3), float(e @ np.linalg.solve(data.gram(3), e))


def test_stars_are_three_different_lines_through_w():
    rng = np.random.default_rng(0)
    w = rng.standard_normal(3)
    through = rng.standard_normal((3, 3))
    through -= np.outer(through @ w, w) / (w @ w)
    repeated = cubic_of([through[0], through[0], through[1]])
    triangle = cubic_of(rng.standard_normal((3, 3)))
    slopes = np.array([cubic_of(through), repeated, triangle, 0 * triangle])
    assert [stars(w[None], slope[None], 1e-10) for slope in slopes] == [1, 0, 0, 0]
    assert stars(np.array([w] * 4), slopes, 1e-10) == 1


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 6))]
)
def test_one_path_ends_at_a_limit_with_such_a_slope(seed):
    problem, loss = with_a_star(seed)
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested" and chart.complex_count[3] == 42  # of 43 for random targets
    assert any("1 path end at limits" in note for note in chart.notes)
    assert np.abs(chart.losses - loss).min() < 1e-9 * loss  # a network of three neurons, a limit of two


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "networks"), list(zip(SPECIAL, [37, 36, 38, 41], strict=True)))
def test_special_targets_are_charted_to_the_end(name, networks):
    chart = sh.chart(sh.Problem(sh.SymmetricTensor(SPECIAL[name], 3, 3), sh.Gaussian(3), 3))
    assert chart.completeness == "trace-tested" and chart.complex_count[3] == networks
    assert not any("lost" in note or "sampled" in note for note in chart.notes)
