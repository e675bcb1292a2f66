"""Networks with several outputs that no path reaches: parallel outer weights, more neurons than functions need.

The oracle is the one of `test_special_networks`, zeros of the gradient of a loss by quadrature, here for generic
teachers. A trace test said that none were missing, while up to half of all critical networks were.
"""

from dataclasses import replace

import numpy as np
import pytest
from tests.questions.charts.test_special_networks import Case, Loss, unlisted, wrong_rows

import shallows as sh
from shallows.questions.charts.outputs import chart as outputs

#: Losses agree to rounding.
ROUNDING = 1e-9


def case(activation, n, width, law="laplace", seed=0, count=2, norm=False):
    rng = np.random.default_rng(seed)
    teacher = rng.standard_normal((4, n)), rng.standard_normal((count, 4)), None
    return Case(activation, n, count, width, False, law, norm, 0.0, None, teacher)


CASES = [
    pytest.param("z²", 2, 2, "laplace", 0, 2, marks=pytest.mark.thorough),
    pytest.param("z²", 2, 3, "laplace", 1, 2, marks=pytest.mark.thorough),
    pytest.param("z³", 2, 3, "laplace", 0, 2, marks=pytest.mark.thorough),
    pytest.param("z²", 3, 2, "laplace", 0, 2, marks=pytest.mark.thorough),
    pytest.param("z²", 3, 2, "gaussian", 1, 2, marks=pytest.mark.thorough),
    pytest.param("z²", 3, 3, "laplace", 0, 2, marks=pytest.mark.thorough),
    pytest.param("z²", 2, 4, "gaussian", 2, 3, marks=pytest.mark.thorough),
    pytest.param("z³", 2, 4, "gaussian", 2, 2, marks=pytest.mark.thorough),
    pytest.param("z³", 2, 3, "uniform", 3, 3, marks=pytest.mark.thorough),
    pytest.param("z⁴", 2, 4, "uniform", 3, 2, marks=pytest.mark.thorough),
]


@pytest.mark.parametrize(("activation", "n", "width", "law", "seed", "count"), CASES)
def test_every_zero_of_the_gradient_is_listed(activation, n, width, law, seed, count):
    given = case(activation, n, width, law, seed, count)
    loss, chart = Loss(given), sh.chart(given.problem())
    assert chart.completeness != "sampled"
    found = [
        *wrong_rows(loss, chart),
        *unlisted(loss, chart, 80 if n == 2 else 12, np.random.default_rng(seed)),
    ]
    assert not found, "\n".join([str(chart), *found])


@pytest.mark.parametrize("seed", range(4))
def test_two_squares_of_two_inputs_leave_one_singular_value_out(seed):
    """The losses are eigenvalues of TGTᵀ whose form G(c·T) has real roots; written down here."""
    problem = case("z²", 2, 2, seed=seed).problem()
    gram, target = problem.gram(), np.array([problem.target.output(m).tensor().entries for m in range(2)])
    values, vectors = np.linalg.eigh(target @ gram @ target.T)
    forms = vectors.T @ target @ gram
    real = forms[:, 1] ** 2 > 4 * forms[:, 0] * forms[:, 2]
    chart = sh.chart(problem)
    for value in values[real]:
        assert np.abs(chart.losses - value).min() < ROUNDING * values[-1]
    rows = [point for point in chart.points if point.rank == 2 and point.loss > ROUNDING and not point.limit]
    assert len(rows) == real.sum()


def test_without_them_zeros_are_missing(monkeypatch):
    given = case("z²", 2, 2)
    monkeypatch.setattr(outputs, "has_shared_stratum", lambda *_: False)
    chart = sh.chart(given.problem())
    assert "parallel outer weights" in chart.scope
    chart = replace(chart, scope="")
    assert list(unlisted(Loss(given), chart, 12, np.random.default_rng(0)))


def test_norm_neuron_beside_more_neurons_than_inputs():
    given = case("z²", 2, 3, norm=True)
    chart = sh.chart(given.problem())
    assert chart.attained and chart.infimum < ROUNDING
    assert not [
        *wrong_rows(Loss(given), chart),
        *unlisted(Loss(given), chart, 6, np.random.default_rng(1)),
    ]
