"""Two and more quadratic neurons: against the loss in the weights themselves, msolve and counts by monodromy."""

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh
from shallows.mathematics.ed_degree import modulo_square_degree
from shallows.questions.charts.continuation.generic_members import solve_generic
from shallows.questions.charts.matrices.modulo_square import ModuloSquareEquations

#: name: (coefficients, bias, outer)
KINDS = {
    "z+z²": ([0.0, 1.0, 1.0], False, "free"),
    "2z−z²": ([0.0, 2.0, -1.0], False, "free"),
    "1+z²": ([1.0, 0.0, 1.0], False, "free"),
    "2−z²": ([2.0, 0.0, -1.0], False, "free"),
    "z+z² with bias": ([0.0, 1.0, 1.0], True, "free"),
    "1+z² with bias": ([1.0, 0.0, 1.0], True, "free"),
    "3+z−2z² with bias": ([3.0, 1.0, -2.0], True, "free"),
    "1+z², a fixed": ([1.0, 0.0, 1.0], False, [1.0, -2.0]),
    "z+z² with bias, a fixed": ([0.0, 1.0, 1.0], True, [1.0, 1.0]),
}


def problem_of(kind, n, seed):
    coefficients, bias, outer = KINDS[kind]
    rng = np.random.default_rng([seed, n])
    X, form = rng.standard_normal((40, n)), rng.standard_normal((n, n))
    y = 2 * rng.standard_normal(40) + np.einsum("ij,jk,ik->i", X, form, X)
    return sh.Problem(None, sh.Samples(X, y), 2, sh.Polynomial(coefficients), outer, bias=bias)


def check(problem, count, seed=0):
    chart = sh.chart(problem)
    assert chart.completeness == "proved"
    for point in chart.critical:
        assert point.certificate is not None
        if not point.limit:
            assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-8)
            assert np.abs(problem.gradient(point.network)).max() < 1e-7 * (1 + problem.loss(point.network))
    found = list(gradient_zeros(problem, count, np.random.default_rng(seed), far=1e3))
    assert found
    for net in found:
        loss = problem.loss(net)
        assert np.abs(chart.losses - loss).min() < 1e-6 * (1 + loss)
    runs = sh.ensemble(problem, runs=20, rng=1, method="lm", iterations=1000)  # some creep to infinity
    assert runs.losses.min() >= chart.infimum - 1e-9
    return chart


@pytest.mark.parametrize("kind", KINDS)
def test_every_critical_network_is_on_the_chart(kind):
    check(problem_of(kind, 2, 0), 12)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_every_critical_network_is_on_the_chart_thoroughly(kind, n, seed):
    check(problem_of(kind, n, seed), 60, seed)


class Uncounted(ModuloSquareEquations):
    count = None


@pytest.mark.parametrize(("n", "r"), [(2, 1), (3, 1), (3, 2)])
def test_the_formula_counts_what_monodromy_finds(n, r):
    found = solve_generic(Uncounted(n + 1, r))
    assert found.completeness == "trace-tested" and len(found.points) == modulo_square_degree(n, r)


def test_one_neuron_modulo_constants_has_three_points_less_than_with_them():
    for n in range(1, 7):
        assert modulo_square_degree(n, 1) == (3 ** (n + 1) - 1) // 2 - 3
        assert modulo_square_degree(n, n) == 1


def rational(n, coefficients, bias=False):
    rng = np.random.default_rng(n)
    X = rng.integers(-2, 3, (20, n)).astype(float)
    data = sh.Samples(X, rng.integers(-3, 4, 20).astype(float))
    return sh.Problem(None, data, 2, sh.Polynomial(coefficients), bias=bias)


@pytest.mark.parametrize("coefficients", [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
@pytest.mark.parametrize("bias", [False, True])
def test_msolve_agrees(coefficients, bias):
    problem = rational(2, coefficients, bias)
    tracked, exact = sh.chart(problem), sh.chart(problem, "exact")
    np.testing.assert_allclose(tracked.losses, exact.losses, rtol=1e-9)
    assert tracked.kinds() == exact.kinds() and tracked.complex_count == exact.complex_count


@pytest.mark.thorough
def test_msolve_agrees_in_three_inputs():
    problem = rational(3, [0.0, 1.0, 1.0])
    tracked, exact = sh.chart(problem), sh.chart(problem, "exact")
    assert exact.completeness == "count-matched" and exact.complex_count == {0: 1, 1: 37, 2: 83}
    np.testing.assert_allclose(tracked.losses, exact.losses, rtol=1e-9)


def quadric(constant, linear, Q):
    M = np.zeros((len(linear) + 1, len(linear) + 1))
    M[0, 0], M[1:, 1:] = constant, Q
    M[0, 1:] = M[1:, 0] = np.array(linear) / 2
    return sh.SymmetricTensor.from_matrix(M)


def test_a_constant_on_the_wrong_side_blocks_a_neuron():
    """z + z² with bias is at least −¼: 2x₁² + x₂² + 5 needs three neurons, and of two one is spent on the constant."""
    activation = sh.Polynomial([0.0, 1.0, 1.0])
    for constant, loss in ((5.0, 2.0), (-5.0, 0.0)):
        target = quadric(constant, [0.0, 0.0], np.diag([2.0, 1.0]))
        problem = sh.Problem(target, sh.Gaussian(2), 2, activation, bias=True)
        chart = sh.chart(problem)
        assert chart.attained and chart.minimum.kind == "global minimum"
        assert chart.infimum == pytest.approx(loss, abs=1e-9)
        starts = np.array([problem.pack(chart.minimum.network)] * 10)
        starts = starts + 1e-3 * np.random.default_rng(0).standard_normal(starts.shape)
        runs = sh.ensemble(problem, runs=10, init=starts, method="lbfgs")
        assert runs.losses.min() >= loss - 1e-9
    assert sh.chart(sh.Problem(target, sh.Gaussian(2), 3, activation, bias=True)).infimum < 1e-12


def test_squares_alone_are_a_limit_of_one_plus_squares():
    problem = sh.Problem(
        quadric(0.0, [0.0, 0.0], np.diag([2.0, 1.0])), sh.Gaussian(2), 2, sh.Polynomial([1.0, 0.0, 1.0])
    )
    chart = sh.chart(problem)
    assert chart.infimum == pytest.approx(0.0, abs=1e-12) and chart.attained is False and chart.minimum.limit
    assert 0 < problem.loss(chart.minimum.network) < 1e-3
    wider = sh.chart(sh.Problem(problem.target, sh.Gaussian(2), 3, problem.activation))
    assert wider.attained is True


def test_a_linear_neuron_is_a_limit_and_of_one_neuron_more_a_network():
    target = quadric(0.0, [0.0, 1.0], np.diag([2.0, 0.0]))
    for width, attained in ((2, False), (3, True)):
        chart = sh.chart(sh.Problem(target, sh.Gaussian(2), width, sh.Polynomial([0.0, 1.0, 1.0])))
        assert chart.infimum == pytest.approx(0.0, abs=1e-12) and chart.attained is attained
        assert chart.problem.loss(chart.minimum.network) < 1e-3


def test_the_teacher_is_the_global_minimum():
    for coefficients, bias in [
        ([0.0, 1.0, 1.0], None),
        ([1.0, 0.0, 1.0], None),
        ([0.0, 1.0, 1.0], [0.5, -1.0]),
    ]:
        teacher = sh.Network([[1.0, 0.0], [1.0, 1.0]], [1.0, 2.0], sh.Polynomial(coefficients), bias=bias)
        chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), 2, bias=bias is not None))
        assert chart.attained and chart.minimum.loss == pytest.approx(0.0, abs=1e-12)
        assert chart.problem.loss(chart.minimum.network) == pytest.approx(0.0, abs=1e-12)


def test_widths_beyond_the_inputs_fill():
    for n in (1, 2):
        problem = sh.Problem(None, problem_of("z+z²", n, 0).data, n + 2, sh.Polynomial([0.0, 1.0, 1.0]))
        chart = sh.chart(problem)
        assert chart.attained and chart.minimum.kind == "global minimum"
        runs = sh.ensemble(problem, runs=5, rng=0, method="lm", iterations=1000)
        assert runs.losses.min() == pytest.approx(chart.infimum, rel=1e-6)


def test_a_round_target_lists_its_families():
    """‖x‖² + 1: every direction of one square is as good as any other."""
    for bias in (False, True):
        chart = sh.chart(sh.Problem(np.eye(3), sh.Gaussian(2), 2, sh.Polynomial([0.0, 1.0, 1.0]), bias=bias))
        assert chart.completeness != "sampled"
        assert [family.dimension for family in chart.families if family.rank == 1 and not family.limit] == [1]


@pytest.mark.thorough
def test_a_linear_part_and_a_symmetry_by_homotopy_and_in_closed_form():
    T = np.diag([0.0, 1.0, 1.0, 3.0])
    T[0, 3] = T[3, 0] = 1.0
    problem = sh.Problem(T, sh.Gaussian(3), 2, sh.Polynomial([0.0, 1.0, 1.0]))
    tracked, chart = sh.chart(problem, method="homotopy"), sh.chart(problem)
    assert (tracked.completeness, chart.completeness) == ("trace-tested", "proved")
    np.testing.assert_allclose(tracked.losses, chart.losses, rtol=1e-9)
    assert [p.dimension for p in tracked.critical] == [p.dimension for p in chart.critical]
    for net in gradient_zeros(problem, 60, np.random.default_rng(0)):
        assert np.abs(chart.losses - problem.loss(net)).min() < 1e-7


def even_target(Q, constant=0.5):
    n = len(Q)
    T = np.zeros((n + 1, n + 1))
    T[0, 0], T[1:, 1:] = constant, Q
    return T


@pytest.mark.parametrize(
    ("coefficients", "bias"),
    [
        ([0.0, 1.0, 1.0], False),
        pytest.param([0.5, 1.0, 1.0], True, marks=pytest.mark.thorough),
        pytest.param([-0.5, 1.0, 2.0], True, marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("Q", [np.eye(2), np.diag([2.0, 2.0, -1.0]), np.diag([3.0, 1.0, -1.0])])
def test_even_targets_have_no_linear_part_and_list_families(coefficients, bias, Q):
    """Against zeros of the gradient from random weights, which know nothing of matrices; families by their samples."""

    n = len(Q)
    constant = 0.0 if not bias else 0.5
    problem = sh.Problem(even_target(Q, constant), sh.Gaussian(n), 2, sh.Polynomial(coefficients), bias=bias)
    chart = sh.chart(problem)
    assert chart.completeness != "sampled"
    assert bool(len(chart.families)) == (len(np.unique(np.diag(Q))) < n and n == 3) or n == 2
    for point in chart.critical:
        if not point.limit:
            assert np.abs(problem.gradient(point.network)).max() < 1e-8 * (1 + point.loss)
            assert problem.loss(point.network) == pytest.approx(point.loss, abs=1e-9 * (1 + point.loss))
            signs = np.linalg.eigvalsh(problem.hessian(point.network))
            assert point.kind == "saddle" or signs[0] > -1e-8
    rng = np.random.default_rng(0)
    met = 0
    for network in gradient_zeros(problem, 12, rng, far=20.0, evaluations=100):
        loss = problem.loss(network)
        assert np.abs(chart.losses - loss).min() <= 1e-6 * (1 + loss)
        met += 1
    assert met


def test_an_even_target_is_the_limit_of_others():
    """A small linear part breaks nothing: the losses of the even chart are limits of those of the general one."""
    Q = np.diag([3.0, 1.0, -1.0])
    even, odd = even_target(Q, 0.0), even_target(Q, 0.0)
    odd[0, 1:] = odd[1:, 0] = np.array([1e-4, 2e-4, 1e-4])
    first, second = (
        sh.chart(sh.Problem(T, sh.Gaussian(3), 2, sh.Polynomial([0.0, 1.0, 1.0]))) for T in (even, odd)
    )
    for loss in first.losses:
        assert np.abs(second.losses - loss).min() < 1e-2


def test_as_many_functions_of_rank_zero_are_counted_as_are_listed():
    """The best constant and the zero function, where that is critical: it was listed and not counted."""
    target = np.array([[-4.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, -2.0]])
    chart = sh.chart(sh.Problem(target, sh.Gaussian(2), 2, sh.Polynomial([1.0, 0.0, 1.0]), bias=True))
    assert (
        chart.count(rank=0) == chart.real_count[0] == chart.complex_count[0] == chart.expected_count[0] == 2
    )


@pytest.mark.parametrize("width", [2, 3, 4])
def test_squares_without_a_slope_are_networks_of_one_neuron_more(width):
    """‖x‖² on samples: Σ aw = 0 takes three neurons z + z²; with two it is a limit. It was called one at any width."""
    X = np.random.default_rng(0).standard_normal((30, 2))
    problem = sh.Problem(None, sh.Samples(X, (X**2).sum(axis=1)), width, sh.Polynomial([0.0, 1.0, 1.0]))
    chart = sh.chart(problem)
    assert chart.attained is (width > 2) and chart.minimum.limit is (width == 2)
    assert chart.infimum < 1e-20 and (width == 2 or problem.loss(chart.minimum.network) < 1e-12)


def test_charts_are_loaded_where_constants_cancel(tmp_path):
    """1 + z² with outer weights (1, −1) and a target of size 10⁻⁶: rounding of the constants is no other problem."""
    target = np.diag([2e-6, 1e-6])
    chart = sh.chart(sh.Problem(target, sh.Gaussian(2), 2, sh.Polynomial([1.0, 0.0, 1.0]), outer=[1.0, -1.0]))
    assert str(sh.load_chart(chart.save(tmp_path / "chart"))) == str(chart)
