"""Two neurons with two outputs under rotation-invariant data: the rational trace test, and zeros of the gradient."""

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh
from shallows.mathematics.homotopy.rational_trace import rational_trace_test
from shallows.questions.charts.continuation.equations import family
from shallows.questions.charts.continuation.kept_members import kept_member
from shallows.questions.charts.continuation.metrics import OneMetric
from shallows.questions.charts.outputs.equations import OutputEquations
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.metrics import InvariantMetrics
from shallows.questions.charts.outputs.stratum import output_stratum

COUNTS = {(2, 3): 13, (3, 2): 19}


def trace(equations, special, points, parameters):
    fixed = family(equations, OneMetric(special.at(parameters[:2]).high))
    return rational_trace_test(
        fixed, points, parameters[2:], equations.tensors, np.random.default_rng(5), poles=equations.poles
    )


@pytest.mark.parametrize(("degree", "n"), [(2, 3), pytest.param(3, 2, marks=pytest.mark.thorough)])
def test_all_points_pass_the_trace_test_and_all_but_one_do_not(degree, n):
    equations, special = OutputEquations.of_powers(degree, n, 2, 2), InvariantMetrics(degree, n)
    member = kept_member(equations, special)
    assert len(member.points) == COUNTS[degree, n] and member.completeness == "trace-tested"
    assert trace(equations, special, member.points, member.parameters).passed
    missing = trace(equations, special, member.points[1:], member.parameters)
    assert not missing.passed and missing.defect > 1e-6


LAWS = [
    (2, sh.Gaussian(3)),
    (2, sh.Gaussian(3, covariance=np.diag([1.0, 2.0, 0.5]))),
    (3, sh.Gaussian(2)),
]


def _loss(problem, W, A):
    """That of a network of one neuron or none, too."""
    idle = 2 - len(W)
    whole = (
        np.concatenate([W, np.zeros((idle, W.shape[1]))]),
        np.concatenate([A, np.zeros((2, idle))], axis=1),
    )
    return problem.loss(sh.Network(*whole, activation=problem.activation))


@pytest.mark.parametrize(("degree", "data"), LAWS)
def test_every_zero_of_the_gradient_is_listed(degree, data):
    n, rng = data.n, np.random.default_rng(7)
    teacher = sh.Network(
        rng.standard_normal((5, n)), rng.standard_normal((2, 5)), activation=sh.Power(degree)
    )
    problem = sh.Problem(teacher, data, 2, sh.Power(degree))
    loss = OutputsLoss.of(problem)
    strata = [output_stratum(problem, loss, rank, True, 0) for rank in (1, 2)]
    assert strata[1].completeness == "trace-tested" and strata[0].completeness == "proved"
    listed = [_loss(problem, np.zeros((0, n)), np.zeros((2, 0)))]
    listed += [_loss(problem, p.W, p.A) for s in strata for p in s.found]
    found = 0
    for net in gradient_zeros(problem, 12, rng, (0.5, 1.0), far=20.0):
        value = problem.loss(net)
        assert np.abs(np.array(listed) - value).min() < 1e-6 * (1 + value)
        found += 1
    assert found
