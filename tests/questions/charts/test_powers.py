"""Degree three and more: known counts, criticality, certificates, networks."""

import numpy as np
import pytest

import shallows as sh
from shallows.homotopy import check_homotopy, linear_trace_test
from shallows.mathematics.homotopy.parameter import random_parameters
from shallows.mathematics.tensors import coordinates as co
from shallows.questions.charts.continuation.equations import family
from shallows.questions.charts.continuation.generic_members import generic_member
from shallows.questions.charts.continuation.metrics import OneMetric
from shallows.questions.charts.powers.balls import PowerSystem
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.geometry.manifolds.focal_points import index_by_eigenvalues


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


@pytest.mark.parametrize(
    "data", [sh.Gaussian(2), sh.Gaussian(2, [[2.0, 0.5], [0.5, 1.0]]), sh.Sphere(2), sh.Frobenius(2)]
)
def test_rotation_invariant_metrics_have_as_many_rank_one_points_as_a_tensor_has_eigenvectors(data, rng):
    """((d−1)ⁿ−1)/(d−2) = 3 at d = 3, n = 2: the paper counts them for Frobenius; the generic path count agrees."""
    from shallows.questions.charts.continuation.detours import Detours
    from shallows.questions.charts.continuation.equations import Member
    from shallows.questions.charts.continuation.lost_paths import settle

    target = sh.SymmetricTensor(rng.standard_normal(4), 2, 3)
    problem = sh.Problem(target, data, 1)
    chart = sh.chart(problem)
    assert chart.completeness == "proved" and chart.complex_count[1] == 3
    _check(chart)
    gram = problem.gram() / np.abs(problem.gram()).max()
    equations = PowerEquations(3, 2, 1)
    wanted = Member.of(gram, gram @ target.entries)
    run = settle(Detours(equations, generic_member(equations), wanted, seed=0))
    assert (run.finite.count, run.at_infinity) == (3, 4)  # of 7 generic paths


def test_an_orthogonal_cubic_has_its_known_eigenvectors():
    """T = e1³ + e2³, Frobenius: eigenvectors e1, e2 and (e1+e2); losses 1, 1 and 2 − ½."""
    target = sh.SymmetricTensor.from_powers(np.eye(2), np.ones(2), 3)
    chart = sh.chart(sh.Problem(target, sh.Frobenius(2), 1))
    np.testing.assert_allclose(chart.losses, [1.0, 1.0, 1.5, 2.0], rtol=1e-9)
    assert [p.kind for p in chart.points] == ["global minimum", "global minimum", "saddle", "saddle"]


def _check(chart):
    problem = chart.problem
    for point in chart.points:
        if point.limit:
            continue
        assert np.linalg.norm(problem.gradient(point.network)) < 1e-7 * (1 + chart.losses[-1])
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-8, abs=1e-9)
        if point.rank:
            assert point.index == index_by_eigenvalues(problem, point)
            assert point.certificate.signature_certified


def test_the_compiled_evaluator_has_the_right_jacobian(rng):
    for d, n, r in [(3, 2, 1), (3, 3, 2), (4, 2, 2), (5, 2, 1)]:
        equations = PowerEquations(d, n, r)
        members = family(equations)
        start, end = random_parameters(members, rng), random_parameters(members, rng)
        x = rng.standard_normal(equations.unknowns) + 1j * rng.standard_normal(equations.unknowns)
        assert check_homotopy(members.segment(start, end), x / np.abs(x).max()) < 1e-7


@pytest.mark.parametrize("size", [4, 40, 4000])
def test_far_away_rows_are_scaled_and_newton_steps_are_not(size, generic, rng):
    """The evaluator divides value and Jacobian by one number when neurons are large: against the ball evaluator."""
    from flint import arb

    from shallows.questions.charts.continuation.equations import Member

    problem, equations = generic(2, 2, 0, 4), PowerEquations(4, 2, 2)
    gram, target = problem.gram(), problem.target_tensor().entries
    u = rng.standard_normal(equations.unknowns)
    u *= size / np.abs(u).max()
    p = Member.of(gram, gram @ target).parameters
    value, jacobian = family(equations).segment(p, p).at(np.append(u, 0.0))
    exact, slope = PowerSystem(equations, gram, target, (1.0, 1.0)).ball_evaluator(128)([arb(x) for x in u])
    values = np.array([float(v) for v in exact.entries()])
    dense = np.array([float(v) for v in slope.entries()]).reshape(len(u), len(u))
    np.testing.assert_allclose(
        np.linalg.solve(jacobian[:, :-1], value).real, np.linalg.solve(dense, values), rtol=1e-8
    )
    scale = np.abs(value).max() / np.abs(values).max()
    assert scale == pytest.approx({4: 2.0**-7, 40: 1.0, 4000: 2.0**-7}[size], rel=1e-9)
    np.testing.assert_allclose(value.real, scale * values, rtol=1e-12 if size == 4 else 1e-15, atol=0)


def test_the_ball_evaluator_agrees_with_finite_differences(generic, rng):
    from flint import arb

    problem = generic(2, 2, 1, 4)
    equations = PowerEquations(4, 2, 2)
    system = PowerSystem(equations, problem.gram(), problem.target_tensor().entries, (1.0, -1.0))
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
        sh.chart(generic(3, 4, 0, 3))


def test_a_count_above_the_limit_is_refused_before_work_starts():
    with pytest.raises(
        sh.InvalidProblem, match=r"25,999 complex critical points of rank 1.* hours; the limit is 60 minutes"
    ):
        sh.chart(sh.Problem(sh.SymmetricTensor(np.ones(84), 7, 3), sh.IID.laplace(7), 1))


@pytest.mark.parametrize("seed", [1, 2])
def test_sums_of_two_quartic_powers(generic, seed):
    chart = sh.chart(generic(2, 2, seed, 4), rng=seed)
    assert chart.complex_count == {0: 1, 1: 10, 2: 13} and chart.completeness == "proved"
    assert "Bott" in chart.expected_source[2] and chart.expected_count[2] == 13
    _check(chart)
    assert all(point.certificate.rank_certified for point in chart.points)
    for point in chart.points:
        if point.rank == 2 and not point.limit:  # the fiber: each neuron's scale against its outer weight
            flat = point.parameter_signature
            assert (flat.zero, flat.fiber) == (2, 2)
            assert (flat.positive, flat.negative) == (point.signature[0], point.signature[2])


def test_sums_of_two_cubic_powers(generic):
    chart = sh.chart(generic(3, 2, 1, 3))
    assert chart.complex_count == {0: 1, 1: 39, 2: 219} and chart.completeness == "proved"
    assert any("conjugate pairs" in note for note in chart.notes)
    _check(chart)


def test_three_cubic_powers_have_no_formula_and_are_trace_tested(generic):
    """301 points of rank three, on Aronhold's hypersurface of degree 4 in the plane cubics: observed, not proved."""
    chart = sh.chart(generic(3, 3, 1, 3), certify=False)
    assert chart.complex_count == {0: 1, 1: 39, 2: 219, 3: 301} and chart.completeness == "trace-tested"
    assert chart.expected_count[3] is None


def test_paths_to_infinity_are_counted_and_lose_nothing(rng):
    """Frobenius, binary quartics, rank two: 13 generic paths, 6 of which run to infinity (two ways round agree)."""
    metric = sh.Metric(2, 4, sh.Frobenius(2).gram(4))  # not recognised as what it is
    chart = sh.chart(sh.Problem(sh.SymmetricTensor(rng.standard_normal(5), 2, 4), metric, 2))
    assert chart.complex_count == {0: 1, 1: 4, 2: 7} and chart.completeness == "count-matched"
    assert any("6 paths run to infinity" in note for note in chart.notes)
    _check(chart)


def test_the_sum_of_all_critical_points_is_linear_in_the_target_and_no_partial_sum_is(rng):
    """`linear_trace_test` passes on all 13 points and on no 12 of them."""
    equations = PowerEquations(4, 2, 2)
    member = generic_member(equations)
    pairs = equations.entries * (equations.entries + 1) // 2
    full = np.zeros((equations.entries, equations.entries), complex)
    full[np.triu_indices(equations.entries)] = member.parameters[:pairs]
    gram, g = full + np.triu(full, 1).T, member.parameters[pairs:]
    whole = linear_trace_test(family(equations, OneMetric(gram)), member.points, g, equations.tensors, rng)
    assert whole.passed and whole.defect < 1e-12
    for k in range(len(member.points)):
        rest = np.delete(member.points, k, axis=0)
        partial = linear_trace_test(family(equations, OneMetric(gram)), rest, g, equations.tensors, rng)
        assert not partial.passed and partial.defect > 1e-6


def test_a_rank_certificate_needs_independent_neurons():
    from flint import arb

    from shallows.questions.charts.powers.real import rank_is_proved

    equations = PowerEquations(3, 3, 2)
    assert rank_is_proved(equations, [arb(x) for x in (1, 0, 0, 1, 1, 0)])
    assert not rank_is_proved(equations, [arb(x) for x in (1, 2, 0, 2, 4, 0)])
    assert not rank_is_proved(
        PowerEquations(3, 2, 3), [arb(x) for x in (1, 0, 0, 1, 1, 1)]
    )  # 3 > n, d//2 = 1
    assert rank_is_proved(PowerEquations(4, 2, 3), [arb(x) for x in (1, 0, 0, 1, 1, 1)])


def test_a_family_of_rank_one_quartics():
    """T = ‖x‖⁴, Frobenius: every unit vector is an eigenvector, a circle of critical points."""
    T = sh.SymmetricTensor([1.0, 0.0, 1 / 3, 0.0, 1.0], 2, 4)
    chart = sh.chart(sh.Problem(T, sh.Frobenius(2), 1))
    (family_,) = chart.families
    assert (family_.rank, family_.dimension) == (1, 1) and chart.real_count[1] == 0
    assert family_.loss == pytest.approx(T.norm(sh.Frobenius(2)) ** 2 - 1)


def test_monodromy_reaches_the_count():
    for d, n in [(3, 2), (3, 3)]:
        equations = PowerEquations(d, n, 1)
        assert len(generic_member(equations).points) == equations.count


@pytest.mark.thorough
def test_paths_that_one_way_loses_are_found_by_another():
    """Laplace inputs, three cubic neurons: every single way round loses one of 301 paths here, all together none."""
    rng = np.random.default_rng(71)
    target = sh.SymmetricTensor(rng.standard_normal(10), 3, 3)
    chart = sh.chart(sh.Problem(target, sh.IID.laplace(3), 3), certify=False, rng=71)
    assert chart.complex_count[3] == 301 and chart.completeness == "trace-tested"


def test_badly_known_points_are_sharpened_before_they_are_called_degenerate():
    """Two nearly parallel neurons: the smallest curvature is 5e-11 of 11, and positive (oracle, problem 354)."""
    entries = [
        0.3423406292877399,
        0.30307841894529547,
        0.22723011202170987,
        0.21678131813085139,
        0.1449063757957171,
    ]
    problem = sh.Problem(sh.SymmetricTensor(entries, 2, 4), sh.Frobenius(2), width=2, outer="ones")
    chart = sh.chart(problem)
    lowest = chart.points[0]
    assert chart.completeness == "count-matched" and lowest.rank == 2
    assert lowest.signature == (4, 0, 0) and lowest.certificate.signature_certified
