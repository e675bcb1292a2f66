"""Degree three and more: known counts, criticality, certificates, networks."""

import numpy as np
import pytest

import shallows as sh
from shallows import coordinates as co
from shallows.critical.members import family, solved_generic
from shallows.critical.powers_balls import PowerSystem
from shallows.critical.powers_family import PowerShape
from shallows.geometry.focal import index_by_eigenvalues
from shallows.homotopy import check_homotopy
from shallows.homotopy.parameter import random_parameters


@pytest.mark.parametrize(("d", "n", "count"), [(3, 2, 7), (3, 3, 39), (4, 2, 10)])
def test_generic_rank_one_counts(generic, d, n, count):
    chart = sh.chart(generic(n, 1, 0, d))
    assert chart.complex_count[1] == chart.expected_count[1] == count
    _check(chart)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_generic_rank_one_counts_many(generic, seed):
    for d, n, count in [(3, 2, 7), (3, 3, 39), (4, 3, 79)]:
        assert sh.chart(generic(n, 1, seed, d), rng=seed).complex_count[1] == count


@pytest.mark.parametrize(("d", "n", "count"), [(3, 2, 3), (3, 3, 7), (4, 3, 13)])
def test_frobenius_rank_one_counts(d, n, count, rng):
    target = sh.SymmetricTensor(rng.standard_normal(co.dimension(n, d)), n, d)
    chart = sh.chart(sh.Problem(target, sh.Frobenius(n), 1))
    assert chart.complex_count[1] == chart.expected_count[1] == count
    _check(chart)


def test_gaussian_rank_one_is_trace_tested(rng):
    target = sh.SymmetricTensor(rng.standard_normal(4), 2, 3)
    chart = sh.chart(sh.Problem(target, sh.Gaussian(2), 1))
    assert chart.completeness == "trace-tested" and chart.complex_count[1] == 3
    _check(chart)


def test_an_orthogonal_cubic_has_its_known_eigenvectors():
    """T = e1³ + e2³, Frobenius: eigenvectors e1, e2 and (e1+e2); losses 1, 1 and 2 − ½."""
    target = sh.SymmetricTensor.from_powers(np.eye(2), np.ones(2), 3)
    chart = sh.chart(sh.Problem(target, sh.Frobenius(2), 1))
    np.testing.assert_allclose(chart.losses, [1.0, 1.0, 1.5, 2.0], rtol=1e-9)
    assert [p.kind for p in chart.points] == ["global minimum", "global minimum", "saddle", "saddle"]


def _check(chart):
    problem = chart.problem
    for point in chart.points:
        assert np.linalg.norm(problem.gradient(point.network)) < 1e-7 * (1 + chart.losses[-1])
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-8, abs=1e-9)
        if point.rank:
            assert point.index == index_by_eigenvalues(problem, point)
            assert point.certificate.signature_certified


def test_the_compiled_evaluator_has_the_right_jacobian(rng):
    for d, n, r in [(3, 2, 1), (3, 3, 2), (4, 2, 2), (5, 2, 1)]:
        shape = PowerShape(d, n, r)
        members = family(shape)
        start, end = random_parameters(members, rng), random_parameters(members, rng)
        x = rng.standard_normal(shape.unknowns) + 1j * rng.standard_normal(shape.unknowns)
        assert check_homotopy(members.segment(start, end), x) < 1e-7


def test_the_ball_evaluator_agrees_with_finite_differences(generic, rng):
    from flint import arb

    problem = generic(2, 2, 1, 4)
    shape = PowerShape(4, 2, 2)
    system = PowerSystem(shape, problem.gram(), problem.target_tensor().entries, (1.0, -1.0))
    balls = system.ball_evaluator(128)
    u = rng.standard_normal(4)
    fixed = sh.Problem(problem.target, problem.data, 2, outer=[1.0, -1.0])
    net = fixed.unpack(u)
    value, slope = balls([arb(float(v)) for v in u])
    np.testing.assert_allclose(
        2 * np.array([float(v) for v in value.entries()]), fixed.gradient(net), rtol=1e-9
    )
    dense = 2 * np.array([float(v) for v in slope.entries()]).reshape(4, 4)
    np.testing.assert_allclose(dense, fixed.hessian(net), rtol=1e-8, atol=1e-8)


def test_a_width_that_is_not_identifiable_is_refused(generic):
    with pytest.raises(sh.InvalidProblem, match="not identifiable"):
        sh.chart(generic(2, 3, 0, 3))


def test_a_count_above_the_limit_is_refused_before_work_starts():
    with pytest.raises(sh.InvalidProblem, match="the limit is 20,000"):
        sh.chart(sh.Problem(sh.SymmetricTensor(np.ones(84), 7, 3), sh.IID.laplace(7), 1))


def test_monodromy_reaches_the_count():
    for d, n in [(3, 2), (3, 3)]:
        shape = PowerShape(d, n, 1)
        assert len(solved_generic(shape).points) == shape.count
