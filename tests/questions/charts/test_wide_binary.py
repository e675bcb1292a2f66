"""Powers in two inputs at widths with infinitely many networks for one function, against zeros of the gradient."""

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh

#: Losses of zeros of the gradient, as shares of that of zero.
SAME = 1e-7
#: Losses of networks near a limit: neurons stand ε^(1/2m) apart, 10⁻² for four merged ones, and δ² is left,
#: times binomials of the degree.
NEAR_A_LIMIT = 1e-2


def problem_of(degree, width, seed):
    entries = np.random.default_rng(seed).standard_normal(degree + 1)
    return sh.Problem(sh.SymmetricTensor(entries, 2, degree), sh.Gaussian(2), width)


@pytest.mark.parametrize(
    ("degree", "width", "seed"), [(3, 3, 0), (3, 3, 5), (4, 3, 0), (4, 3, 1), (4, 4, 1), (5, 5, 1)]
)
def test_the_target_is_a_network_where_its_real_rank_says_so(degree, width, seed):
    problem = problem_of(degree, width, seed)
    chart = sh.chart(problem)
    rank = sh.real_rank(problem.target)
    size = chart.losses[-1]
    assert (chart.infimum < SAME * size) == (rank <= width) and (chart.attained is True) == (rank <= width)
    for point in chart.points:
        if not point.limit:
            assert np.linalg.norm(problem.gradient(point.network)) < SAME * size
        near = NEAR_A_LIMIT if point.limit else SAME
        assert problem.loss(point.network) == pytest.approx(point.loss, abs=near * size)
    if rank <= width:
        assert chart.minimum.kind == "global minimum" and chart.kinds()["global minimum"] == 1
        assert chart.minimum.rank == rank


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("degree", "width"), [(3, 3), (4, 3), (4, 5), (5, 4)])
def test_zeros_of_the_gradient_are_listed(degree, width, seed):
    problem = problem_of(degree, width, seed)
    chart = sh.chart(problem)
    for net in gradient_zeros(problem, 40, np.random.default_rng(0), sizes=(0.5, 1.0)):
        loss = problem.loss(net)
        assert np.abs(chart.losses - loss).min() < SAME * chart.losses[-1] * 10


def test_fixed_weights_of_even_degree_are_charted_and_more_inputs_refused():
    quartic = sh.SymmetricTensor(np.arange(1.0, 6.0), 2, 4)
    chart = sh.chart(sh.Problem(quartic, sh.Gaussian(2), 3, outer="ones"))
    assert chart.scope == "" and not any(point.limit for point in chart.critical)
    assert chart.attained is (None if chart.completeness == "sampled" else True)
    cubic = sh.SymmetricTensor(np.arange(1.0, 11.0), 3, 3)
    with pytest.raises(sh.InvalidProblem, match="not identifiable"):
        sh.chart(sh.Problem(cubic, sh.Gaussian(3), 5))
