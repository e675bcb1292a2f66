"""Limits of three squares with two outputs in three inputs, found by their slopes: against descents, and against paths.

Labels here, a loss that is written down in `test_special_position`, and SciPy's descent: it knows no limits.
"""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.questions.charts.outputs.test_special_position import Squares

import shallows as sh
from shallows.questions.charts.outputs import limits as limits_module
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.limits import output_limits
from shallows.questions.charts.outputs.merged_map import FAT, OutputBlocks

#: How near to the infimum descents come whose weights grow without bound, as a share of the labels' energy.
NEAR = 1e-3
KINDS = [(2, 1), (3,), (FAT,)]


def _descents(loss, count, seed):
    rng = np.random.default_rng(seed)
    starts = [loss.start("any", rng) for _ in range(count)]
    options = {"maxiter": 4000, "gtol": 1e-10}
    return [minimize(loss.value, x, jac=loss.gradient, method="BFGS", options=options).fun for x in starts]


def _limits(problem, blocks, certify=False):
    return output_limits(problem, OutputsLoss.of(problem), blocks, certify, 0)


@pytest.fixture(scope="module")
def pencil():
    """Labels whose best forms are a pencil with complex eigenvalues: no three squares make it."""
    loss = Squares(3, 2, 5)
    return loss, sh.chart(loss.problem, certify=False)


def test_descents_come_to_the_infimum_and_not_below(pencil):
    loss, chart = pencil
    assert chart.scope == "" and chart.attained is False and chart.minimum.limit
    ends = np.array(_descents(loss, 6, 0))
    energy = float(loss.weights @ (loss.Y**2).sum(axis=1))
    assert ends.min() > chart.infimum - 1e-9 * energy
    assert ends.min() < chart.infimum + NEAR * energy


def test_networks_next_to_limits_have_nearly_their_loss(pencil):
    loss, chart = pencil
    rows = [point for point in chart.critical if point.limit and point.rank == 3]
    assert len(rows) > 10
    for point in rows:
        theta = np.concatenate([point.network.a.ravel(), point.network.W.ravel()])
        assert abs(loss.value(theta) - point.loss) < 1e-2 * point.loss


@pytest.mark.thorough
def test_a_target_that_is_a_limit_is_found():
    """x² and xy with z² in both: no three squares. Slopes are zero there, and limits go by their own equations."""
    W = np.array([[1.0, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]])
    A = np.array([[1.0, 0, 0, 2, 0], [-0.5, 0.5, -0.5, 1, 0]])  # xy = ((x+y)² − x² − y²)/2
    problem = sh.Problem(
        sh.Network(W, A, sh.Power(2)), sh.Samples(np.random.default_rng(2).standard_normal((50, 3))), 3
    )
    chart = sh.chart(problem, certify=False)
    assert chart.infimum < 1e-10


def test_maps_of_limits_turn_into_themselves():
    rng = np.random.default_rng(0)
    for blocks in KINDS:
        first, second = (OutputBlocks(2, 3, 2, blocks, chart) for chart in ((0, 1), (2, 0)))
        x = rng.standard_normal(first.unknowns)
        y = second.parameters(first.places(x))
        assert np.allclose(first.tensors(x[None]), second.tensors(np.asarray(y)[None]))
        assert np.allclose(first.parameters(second.places(np.asarray(y))), x)


@pytest.mark.thorough
@pytest.mark.parametrize("blocks", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_slopes_and_limits_have_the_same_equations(blocks, seed, monkeypatch):
    """The limits' own equations, in more unknowns, have the same real solutions."""
    problem = Squares(3, 2, seed + 20).problem
    by_slopes = _limits(problem, blocks)
    monkeypatch.setattr(limits_module, "has_dual", lambda *_: False)
    own = _limits(problem, blocks)
    assert by_slopes.counts.complex >= own.counts.complex
    known = np.array([point.entries for point in by_slopes.found])
    for point in own.found:
        assert np.abs(known - point.entries).max(axis=1).min() < 1e-6 * np.abs(known).max()
    if own.completeness != "sampled":
        assert len(own.found) == len(by_slopes.found)


@pytest.mark.thorough
@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_no_descent_goes_below(seed, gaussian):
    loss = Squares(3, 2, seed + 40, gaussian)
    chart = sh.chart(loss.problem, certify=False)
    ends = np.array(_descents(loss, 30, seed))
    energy = float(loss.weights @ (loss.Y**2).sum(axis=1))
    assert chart.scope == "" and chart.attained is not None
    assert ends.min() > chart.infimum - 1e-9 * energy
    assert ends.min() < chart.infimum + NEAR * energy
