"""Generic ED degrees: published numbers, other integrals, monodromy with the trace test; and what is refused."""

from math import comb

import numpy as np
import pytest

import shallows as sh
from shallows.homotopy import linear_trace_test, monodromy
from shallows.mathematics.ed_degree import low_rank_degree, powers_degree
from shallows.questions.charts.continuation.equations import family
from shallows.questions.charts.continuation.generic_members import generic_member
from shallows.questions.charts.continuation.metrics import OneMetric
from shallows.questions.charts.limits import estimated_count
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.support.seeds import complex_normal

#: Ottaviani, Spaenlehauer, Sturmfels, "Exact solutions in structured low-rank approximation" (2014), generic weights.
PUBLISHED = {
    (3, 1): 13,
    (3, 2): 13,
    (4, 1): 40,
    (4, 2): 122,
    (4, 3): 40,
    (5, 1): 121,
    (5, 2): 1042,
    (5, 3): 1042,
}


@pytest.mark.parametrize(("n", "r"), PUBLISHED)
def test_published_degrees_of_symmetric_matrices(n, r):
    assert low_rank_degree(n, r) == PUBLISHED[n, r]


@pytest.mark.parametrize("n", range(2, 9))
def test_rank_one_matrices_are_the_quadratic_powers(n):
    assert low_rank_degree(n, 1) == low_rank_degree(n, n - 1) == powers_degree(2, n, 1) == (3**n - 1) // 2


@pytest.mark.parametrize(("n", "r"), [(6, 2), (6, 3), (7, 3), (8, 2)])
def test_duality_exchanges_the_rank_and_the_corank(n, r):
    """The conormal variety of the matrices of rank r is that of the matrices of rank n − r."""
    assert low_rank_degree(n, r) == low_rank_degree(n, n - r)


@pytest.mark.parametrize("d", range(3, 9))
def test_two_points_on_a_line_are_counted_alike_as_pairs_and_as_subsets(d):
    """Hilb²(P¹) by both descriptions, and the closed form of the rational normal curve's secant variety."""
    from shallows.mathematics.ed_degree import _integral, _pairs_of_points, _subsets_of_a_line

    pairs, subsets = _integral(2, _pairs_of_points(d, 2)), _integral(2, _subsets_of_a_line(d, 2))
    assert pairs == subsets == powers_degree(d, 2, 2)
    assert _integral(1, _subsets_of_a_line(d, 1)) == 3 * d - 2  # the curve itself: ((2d−1)² − (d−1)²)/d


@pytest.mark.parametrize(("d", "n", "r"), [(3, 2, 2), (5, 2, 3), (7, 2, 4)])
def test_students_that_fill_the_space_have_the_target_alone(d, n, r):
    assert r * n == comb(n + d - 1, d) and powers_degree(d, n, r) == 1


def _without_a_target(equations, seed):
    """Monodromy that does not know the count: it stops when the linear trace test passes."""
    rng = np.random.default_rng(seed)
    gram = complex_normal(rng, equations.entries, equations.entries)
    gram = gram + gram.T
    x, g = equations.first(gram, rng)
    own = family(equations, OneMetric(gram))

    def trace(found, generator):
        return linear_trace_test(own, found.points, g, equations.tensors, generator)

    found = monodromy(own, x[None, :], g, rng=seed, invariants=equations.tensors, trace=trace)
    assert found.completeness == "trace-tested"
    return found.count


@pytest.mark.parametrize(("d", "n", "r"), [(4, 2, 2), (5, 2, 2), (6, 2, 3)])
def test_monodromy_that_is_not_told_finds_as_many(d, n, r):
    assert _without_a_target(PowerEquations(d, n, r), seed=1) == powers_degree(d, n, r)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("d", "n", "r"), [(6, 2, 2), (7, 2, 2), (3, 3, 2), (7, 2, 3), (8, 2, 4)])
def test_monodromy_that_is_not_told_finds_as_many_again(d, n, r, seed):
    assert _without_a_target(PowerEquations(d, n, r), seed) == powers_degree(d, n, r)


@pytest.mark.thorough
def test_quartics_of_two_neurons_in_three_variables_and_matrices_of_rank_two():
    assert _without_a_target(PowerEquations(4, 3, 2), seed=0) == powers_degree(4, 3, 2) == 1825
    assert _without_a_target(LowRankEquations(5, 2), seed=0) == low_rank_degree(5, 2) == 1042


@pytest.mark.thorough
def test_cubics_of_two_neurons_in_four_variables():
    """9,801 orbits: monodromy stops there, and no further loop or trace finds one more."""
    equations = PowerEquations(3, 4, 2)
    member = generic_member(equations)
    assert len(member.points) == powers_degree(3, 4, 2) == 9801
    pairs = equations.entries * (equations.entries + 1) // 2
    full = np.zeros((equations.entries, equations.entries), complex)
    full[np.triu_indices(equations.entries)] = member.parameters[:pairs]
    gram, g = full + np.triu(full, 1).T, member.parameters[pairs:]
    test = linear_trace_test(
        family(equations, OneMetric(gram)), member.points, g, equations.tensors, np.random.default_rng(0)
    )
    assert test.passed


def test_the_estimate_is_of_the_right_size_where_the_number_is_known():
    assert estimated_count(3, 3, 2) == powers_degree(3, 3, 2)
    assert 301 / 2 < estimated_count(3, 3, 3) < 2 * 301  # observed, trace-tested: test_powers.py
    assert powers_degree(7, 2, 3) / 3 < estimated_count(7, 2, 3) < 3 * powers_degree(7, 2, 3)


@pytest.mark.parametrize(
    ("n", "degree", "width", "said"),
    [
        (7, 2, 2, "72,271 complex critical points of rank 2 at n = 7"),
        (4, 4, 2, "128,646 complex critical points of rank 2 at degree 4, n = 4"),
        (4, 3, 3, "complex critical points of rank 3 at degree 3, n = 4"),
    ],
)
def test_too_many_points_are_refused_before_any_work(n, degree, width, said, generic):
    with pytest.raises(sh.InvalidProblem, match=f"about .*{said} would take about .* (minutes|hours|days)"):
        sh.chart(generic(n, width, 0, degree))
