"""Focal points: Prop. 33, Theorems 26, 34, 35 in closed form; any metric and degree by brute force."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import ortho_group

from shallows import (
    IID,
    Frobenius,
    Gaussian,
    InvalidProblem,
    Metric,
    Network,
    Power,
    Radial,
    Samples,
    SymmetricTensor,
)
from shallows.mathematics.tensors.coordinates import dimension
from shallows.model.problem import Problem
from shallows.questions.geometry.manifolds.focal_points import (
    FocalPoint,
    focal_points,
    index_by_eigenvalues,
    index_by_focal_points,
    ray_focal_points,
)
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.rank_manifolds import MatricesOfRank, SumsOfPowers
from shallows.questions.geometry.manifolds.strata import stratum


def closed_form(sigma, chosen, gaussian):
    """S_I, the focal positions and the index of Theorems 34 and 35, for T = diag(sigma)."""
    rest = [j for j in range(len(sigma)) if j not in chosen]
    c = sum(sigma[j] for j in rest) / (len(chosen) + 2) if gaussian else 0.0
    S = np.diag([sigma[i] + c if i in chosen else 0.0 for i in range(len(sigma))])
    ratios = [(sigma[i] + c) / (sigma[j] + c) for i in chosen for j in rest]
    return S, sorted(x for x in ratios if 0 < x <= 1)


def expanded(points):
    return [f.position for f in points for _ in range(f.multiplicity)]


def random_metric(rng, size):
    M = rng.standard_normal((size, size))
    return M @ M.T / size + 0.3 * np.eye(size)


# -- Theorems 34, 35 and Prop. 33 -----------------------------------------------------------------------


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("sigma", [(5.0, -3.0, 2.0, 1.3), (4.0, 3.0, 2.0, 1.0, 0.5), (-1.0, -2.0, -4.5, 3.2)])
def test_every_critical_point_of_theorems_34_and_35(sigma, gaussian, rng):
    n = len(sigma)
    U = ortho_group.rvs(n, random_state=7)
    data = Gaussian(n) if gaussian else Frobenius(n)
    T = U @ np.diag(sigma) @ U.T
    for r in range(1, n):
        problem = Problem(T, data, width=r)
        for chosen in combinations(range(n), r):
            S, expected = closed_form(sigma, chosen, gaussian)
            found = focal_points(problem, U @ S @ U.T)
            assert expanded(found) == pytest.approx(expected, rel=1e-8)
            assert index_by_focal_points(problem, U @ S @ U.T) == len(expected)  # formulas (29) and (31)
            assert index_by_eigenvalues(problem, U @ S @ U.T) == len(expected)
            for f in found:  # Prop. 33: two eigenvalues of S + γ(T − S) meet there
                values = np.linalg.eigvalsh(S + f.position * (np.diag(sigma) - S))
                assert np.sum(np.diff(values) < 1e-7) == f.multiplicity


def test_radial_data_is_gaussian_up_to_scale():
    sigma = (4.0, 3.0, -2.0)
    S, expected = closed_form(sigma, (1,), True)
    problem = Problem(np.diag(sigma), Radial(3, [1, 2.0, 5.0, 17.0, 80.0]), width=1)
    assert expanded(focal_points(problem, S)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "data,kurtosis,index", [(IID.laplace(3), 6.0, 2), (IID.uniform(3), 1.8, 0), (IID.normal(3), 3.0, 2)]
)
def test_axis_points_of_iid_data_by_hand(data, kurtosis, index):
    """T = diag(t), S = s eᵢeᵢᵀ with s = tᵢ + Σ_{j≠i} tⱼ/μ₄; by Prop. 32 the covector of v = T − S is
    (μ₄−1) vⱼⱼ + tr v along eⱼeⱼᵀ, and κⱼ is that over 2s."""
    t, i = np.array([4.0, 2.0, 1.0]), 2
    s = t[i] + (t[0] + t[1]) / kurtosis
    v = t - s * np.eye(3)[i]
    curvatures = ((kurtosis - 1) * v + np.sum(v))[:2] / (2 * s)
    problem = Problem(np.diag(t), data, width=1)
    found = expanded(focal_points(problem, s * np.outer(np.eye(3)[i], np.eye(3)[i])))
    assert found == pytest.approx(sorted(1 / curvatures[curvatures >= 1]))
    assert len(found) == index


def test_coloured_gaussian_data_is_whitened_gaussian_data(rng):
    """Under N(0, Σ), S ↦ Σ^{1/2} S Σ^{1/2} takes the problem to N(0, I)."""
    M = rng.standard_normal((3, 3))
    covariance = M @ M.T + np.eye(3)
    values, vectors = np.linalg.eigh(covariance)
    half = vectors @ np.diag(values**-0.5) @ vectors.T
    S, expected = closed_form((5.0, 3.0, 1.0), (1, 2), True)
    problem = Problem(half @ np.diag([5.0, 3.0, 1.0]) @ half, Gaussian(3, covariance), width=2)
    assert expanded(focal_points(problem, half @ S @ half)) == pytest.approx(expected, rel=1e-8)


def test_multiplicities_of_proposition_33():
    """1 = γ·4 and 2 = γ·8 meet at γ = 1/4: multiplicity two; 1 = γ·8 and 2 = γ·4 are simple."""
    problem = Problem(np.diag([1.0, 2.0, 4.0, 8.0]), Frobenius(4), width=2)
    found = focal_points(problem, np.diag([1.0, 2.0, 0.0, 0.0]))
    assert [f.multiplicity for f in found] == [1, 2, 1]
    assert [f.position for f in found] == pytest.approx([1 / 8, 1 / 4, 1 / 2])
    assert repr(found[1]) == "FocalPoint(position=0.25, multiplicity=2)"
    nearby = Problem(np.diag([1.0, 2.0, 4.0, 8.0001]), Frobenius(4), width=2)
    assert len(focal_points(nearby, np.diag([1.0, 2.0, 0.0, 0.0]))) == 4


def test_proposition_33_needs_distinct_eigenvalues_on_the_ray():
    """T = diag(1, 3, 3), S = diag(1, 0, 0): at γ = 1/3 three pairs are equal, the multiplicity is two."""
    problem = Problem(np.diag([1.0, 3.0, 3.0]), Frobenius(3), width=1)
    found = focal_points(problem, np.diag([1.0, 0.0, 0.0]))
    assert [f.multiplicity for f in found] == [2]


@pytest.mark.parametrize("data", [Frobenius(4), Gaussian(4)])
def test_the_point_itself_is_never_focal_although_its_zero_eigenvalue_repeats(data):
    """Erratum to Prop. 33: γ = 0 must be left out; S of rank ≤ n−2 repeats 0, and G alone is definite."""
    S, _ = closed_form((4.0, 3.0, 2.0, 1.0), (2,), isinstance(data, Gaussian))
    problem = Problem(np.diag([4.0, 3.0, 2.0, 1.0]), data, width=1)
    assert np.sum(np.diff(np.sort(np.diag(S))) == 0) == 2
    assert all(f.position > 0.1 for f in focal_points(problem, S))
    assert stratum(problem, S).endpoint_nullity(np.zeros(10)) == 0


def test_theorem_35_loses_a_point_when_an_eigenvalue_is_minus_c():
    """Erratum: T = diag(−1, 3) has I = {1} with c = 1, so S_I = 0 has rank 0: one critical point of rank one."""
    S, _ = closed_form((-1.0, 3.0), (0,), True)
    assert np.all(S == 0)
    problem = Problem(np.diag([-1.0, 3.0]), Gaussian(2), width=1)
    assert stratum(problem, S).chart.rank == 0
    other, _ = closed_form((-1.0, 3.0), (1,), True)
    assert index_by_eigenvalues(problem, other) == 0


def test_a_teacher_on_the_focal_locus_is_at_position_one():
    problem = Problem(np.diag([2.0, 2.0, 1.0]), Frobenius(3), width=1)
    S = np.diag([2.0, 0.0, 0.0])
    assert focal_points(problem, S) == [FocalPoint(1.0, 1)]
    assert index_by_focal_points(problem, S) == 0 == index_by_eigenvalues(problem, S)
    assert stratum(problem, S).signature(problem.target_tensor().entries) == (2, 1, 0)


# -- Theorem 26 by brute force: any metric, any degree -----------------------------------------------------


def slow_forms(chart, metric, v, step=1e-3):
    """G and v·E from values of the chart alone, by fourth-order differences."""
    k, c = chart.dimension, metric @ v
    x0 = chart.value(chart.base)

    def first(i, h):
        e = np.eye(k)[i] * h
        return (chart.value(chart.base + e) - chart.value(chart.base - e)) / (2 * h)

    def second(i, j, h):
        a, b = np.eye(k)[i] * h, np.eye(k)[j] * h
        if i == j:
            return c @ (chart.value(a) - 2 * x0 + chart.value(-a)) / h**2
        corners = chart.value(a + b) - chart.value(a - b) - chart.value(b - a) + chart.value(-a - b)
        return c @ corners / (4 * h**2)

    J = np.array([(4 * first(i, step / 2) - first(i, step)) / 3 for i in range(k)]).T
    E = np.array(
        [[(4 * second(i, j, step / 2) - second(i, j, step)) / 3 for j in range(k)] for i in range(k)]
    )
    return J.T @ metric @ J, E


def crossings(G, E, count=4001):
    """Where det(G − γE) changes sign on (0, 1), by bisection between grid points."""
    grid = np.linspace(0, 1, count)
    signs = np.linalg.slogdet(G - grid[:, None, None] * E)[0]
    return [
        brentq(lambda g: np.linalg.slogdet(G - g * E)[0] * np.exp(np.linalg.slogdet(G - g * E)[1]), a, b)
        for a, b, p, q in zip(grid[:-1], grid[1:], signs[:-1], signs[1:], strict=True)
        if p != q
    ]


def check_against_brute_force(problem, point, chart):
    target, metric = problem.target_tensor().entries, problem.gram()
    G, E = slow_forms(chart, metric, target - chart.value(chart.base))
    found = focal_points(problem, point)
    assert sorted(expanded(found)) == pytest.approx(crossings(G, E), abs=1e-5)
    index = int(np.sum(np.linalg.eigvalsh(G - E) < 0))
    assert index_by_focal_points(problem, point) == index == index_by_eigenvalues(problem, point)
    return index


def teacher_above(chart, metric, n, degree, size, rng):
    """T = S + a random normal vector: S is critical for it, in exact terms."""
    here = LocalGeometry(chart, metric)
    v = here.normal_frame @ rng.standard_normal(chart.ambient - chart.dimension)
    return SymmetricTensor(here.point + size * v / here.length(v) * here.length(here.point), n, degree)


def random_data(name, n, degree, rng):
    if name == "metric":
        return Metric(n, degree, random_metric(rng, dimension(n, degree)))
    if name == "iid":
        return IID.laplace(n)
    if name == "samples":
        return Samples(rng.standard_normal((8 * dimension(n, degree), n)) ** 3 / 2)
    return Gaussian(n, mean=0.5 * rng.standard_normal(n))


def matrix_instance(name, n, r, rng):
    W = rng.standard_normal((r, n))
    S = W.T @ np.diag(rng.choice([-1.0, 1.0], r)) @ W
    data, chart = random_data(name, n, 2, rng), MatricesOfRank(S)
    T = teacher_above(chart, data.gram(2), n, 2, rng.uniform(0.5, 3), rng)
    return Problem(T, data, width=r), S, chart


@pytest.mark.parametrize("name", ["metric", "iid", "samples", "shifted gaussian"])
@pytest.mark.parametrize("n,r", [(2, 1), (3, 1), (3, 2), (4, 2)])
def test_matrices_in_any_metric_against_brute_force(name, n, r, rng):
    check_against_brute_force(*matrix_instance(name, n, r, rng))


@pytest.mark.parametrize("name", ["metric", "iid", "samples", "shifted gaussian"])
@pytest.mark.parametrize("degree,n", [(3, 2), (3, 3), (4, 2), (5, 2)])
def test_rank_one_tensors_in_any_metric_against_brute_force(name, degree, n, rng):
    point = SymmetricTensor.from_powers([rng.uniform(0.5, 1.5, n)], [-1.0], degree)
    data, chart = random_data(name, n, degree, rng), SumsOfPowers.rank_one(point)
    T = teacher_above(chart, data.gram(degree), n, degree, rng.uniform(0.5, 3), rng)
    check_against_brute_force(Problem(T, data, width=1), point, chart)


def test_sums_of_two_cubes_against_brute_force(rng):
    """Rank two in degree three: the network's neurons are the chart."""
    net = Network(rng.standard_normal((2, 4)), [1.0, -1.0], Power(3))
    chart = SumsOfPowers(net.W, net.a, 3)
    data = Metric(4, 3, random_metric(rng, 20))
    T = teacher_above(chart, data.gram(3), 4, 3, 2.0, rng)
    assert check_against_brute_force(Problem(T, data, width=2), net, chart) > 0
    with pytest.raises(InvalidProblem, match="Give a point of higher rank as a Network"):
        focal_points(Problem(T, data, width=2), net.tensor())


def test_brute_force_sees_points_of_every_index(rng):
    """The instances above are not all minima: a random stream reaches several indices."""
    seen = {check_against_brute_force(*matrix_instance("metric", 3, 2, rng)) for _ in range(12)}
    assert len(seen) >= 3


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(60))
def test_many_random_instances_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    name = ["metric", "iid", "samples", "shifted gaussian"][seed % 4]
    n = int(rng.integers(2, 6))
    check_against_brute_force(*matrix_instance(name, n, int(rng.integers(1, n)), rng))


@pytest.mark.parametrize("name", ["metric", "iid", "samples"])
def test_index_on_the_stratum_is_the_index_in_parameter_space(name, rng):
    """Where τ_r submerses onto the stratum, ∇²L has as many negative eigenvalues, by the problem's own Hessian."""
    for _ in range(4):
        n, r = 4, 2
        net = Network(rng.standard_normal((r, n)), rng.choice([-1.0, 1.0], r))
        data, chart = random_data(name, n, 2, rng), MatricesOfRank(net.tensor().to_matrix())
        problem = Problem(teacher_above(chart, data.gram(2), n, 2, 2.0, rng), data, width=r)
        values = np.linalg.eigvalsh(problem.hessian(net))
        assert np.max(np.abs(problem.gradient(net))) < 1e-11 * values[-1]
        assert np.sum(values < -1e-8 * values[-1]) == index_by_focal_points(problem, net)


@pytest.mark.parametrize("degree", [3, 4, 5, 6])
def test_two_orthogonal_powers(degree):
    """T = e₁^d + e₂^d. At w = (e₁+e₂)/√2 the curvature across is κ = (d−1) T(w^{d−2}, p, p)/T(w) = d − 1, so the
    only focal point is at 1/(d−1) and w is a saddle; e₁^d itself has none (d ≥ 3) and is a minimum."""
    problem = Problem(Network(np.eye(2), activation=Power(degree)), Frobenius(2), width=1)
    w = np.array([1.0, 1.0]) / np.sqrt(2)
    found = focal_points(problem, Network([w], [2 * 2 ** (-degree / 2)], Power(degree)))
    assert [f.multiplicity for f in found] == [1]
    assert found[0].position == pytest.approx(1 / (degree - 1))
    assert focal_points(problem, Network([[1.0, 0.0]], activation=Power(degree))) == []


def test_labelled_samples_use_the_least_squares_tensor(rng):
    """Critical points of the empirical loss, found by Newton's method in parameters, are critical on the stratum."""
    X = rng.standard_normal((200, 3))
    y = X[:, 0] ** 2 - 2 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(200)
    problem = Problem(None, Samples(X, y), width=1)
    theta = np.array([0.1, 1.0, 0.1, -2.0])
    for _ in range(30):
        net = problem.unpack(theta)
        theta = theta - np.linalg.pinv(problem.hessian(net), rcond=1e-9) @ problem.gradient(net)
    net = problem.unpack(theta)
    assert np.linalg.norm(problem.gradient(net)) < 1e-10
    values = np.linalg.eigvalsh(problem.hessian(net))
    assert index_by_focal_points(problem, net) == np.sum(values < -1e-8 * values[-1])
    with pytest.raises(InvalidProblem, match="not normal"):
        focal_points(problem, Network(net.W + 1e-3, net.a))


# -- the invariances -----------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.floats(0.1, 10))
def test_scaling_teacher_and_metric_changes_nothing(seed, factor):
    rng = np.random.default_rng(seed)
    problem, S, _ = matrix_instance("metric", 3, 2, rng)
    T = problem.target_tensor()
    scaled = Problem(T * factor, Metric(3, 2, problem.gram() / factor), width=2)
    expected = expanded(focal_points(problem, S))
    assert expanded(focal_points(scaled, S * factor)) == pytest.approx(expected, rel=1e-6)


@given(st.integers(0, 2**32))
def test_rotations_change_nothing_for_rotation_invariant_data(seed):
    rng = np.random.default_rng(seed)
    U = ortho_group.rvs(3, random_state=seed % 2**31)
    S, expected = closed_form(np.sort(rng.uniform(-3, 3, 3)), (0, 1), True)
    assume(np.linalg.matrix_rank(S, tol=1e-3) == 2)
    T = np.diag(np.sort(np.random.default_rng(seed).uniform(-3, 3, 3)))
    problem = Problem(U @ T @ U.T, Gaussian(3), width=2)
    assert expanded(focal_points(problem, U @ S @ U.T, tolerance=1e-7)) == pytest.approx(expected, rel=1e-5)


@given(st.integers(0, 2**32))
def test_moving_the_teacher_on_the_ray_rescales_positions(seed):
    """Focal points belong to the ray, not to the teacher: with v doubled their positions are halved."""
    rng = np.random.default_rng(seed)
    problem, S, _ = matrix_instance("metric", 3, 1, rng)
    here = stratum(problem, S)
    v = problem.target_tensor().entries - here.point
    ray, double = ray_focal_points(here, v), ray_focal_points(here, 2 * v)
    assert [f.position for f in ray] == pytest.approx([2 * f.position for f in double], rel=1e-6)
    on_segment = [f for f in ray if f.position <= 1]
    assert expanded(on_segment) == pytest.approx(expanded(focal_points(problem, S)), rel=1e-6)


# -- points in every form, and refusals ---------------------------------------------------------------------


@dataclass(frozen=True)
class SomeCriticalPoint:
    tensor: SymmetricTensor
    network: Network | None = None


def test_a_point_may_come_in_every_form():
    problem = Problem(np.diag([3.0, 2.0, 1.0]), Gaussian(3), width=2)
    S, expected = closed_form((3.0, 2.0, 1.0), (2,), True)
    tensor = SymmetricTensor.from_matrix(S)
    net = Network([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], [S[2, 2], 0.0])
    for point in (S, S.tolist(), tensor, net, SomeCriticalPoint(tensor), SomeCriticalPoint(tensor, net)):
        assert expanded(focal_points(problem, point)) == pytest.approx(expected)


def test_the_zero_matrix_and_full_rank_have_no_focal_points():
    T = np.diag([3.0, 2.0])
    assert focal_points(Problem(T, Gaussian(2), width=1), np.zeros((2, 2))) == []
    assert focal_points(Problem(T, Gaussian(2), width=2), T) == []
    zero = SymmetricTensor(np.zeros(4), 2, 3)
    assert (
        focal_points(Problem(SymmetricTensor([1.0, 2.0, 3.0, 4.0], 2, 3), Frobenius(2), width=1), zero) == []
    )


def test_a_point_that_is_not_critical_is_refused_with_numbers():
    problem = Problem(np.diag([3.0, 2.0, 1.0]), Frobenius(3), width=1)
    with pytest.raises(InvalidProblem, match=r"tangential part has length 0\.5, 0\.134 relative"):
        focal_points(problem, np.diag([2.5, 0.0, 0.0]))
    assert focal_points(problem, np.diag([3.0 + 1e-4, 0.0, 0.0]), tolerance=1e-3) == []


@pytest.mark.parametrize(
    "point,message",
    [
        (np.diag([3.0, 2.0, 0.0]), "rank 2; students of width 1"),
        (SymmetricTensor(np.ones(10), 3, 3), "degree 3 in 3 variables"),
        (np.eye(2), "degree 2 in 2 variables"),
        ("S", "expected a SymmetricTensor"),
        (np.ones((3, 4)), "square"),
    ],
)
def test_bad_points_are_refused(point, message):
    with pytest.raises(InvalidProblem, match=message):
        focal_points(Problem(np.diag([3.0, 2.0, 1.0]), Frobenius(3), width=1), point)


@pytest.mark.parametrize(
    "problem,message",
    [
        (Problem(np.eye(2), Gaussian(2), width=1, norm_neuron=True), "norm neuron"),
        (Problem(np.eye(2), Gaussian(2), width=1, orthogonality=0.5), "orthogonality"),
        (Problem(Network(np.eye(2), np.eye(2)), Gaussian(2), width=1), "2 outputs"),
        (Problem(np.eye(2), IID.rademacher(2), width=1), "not positive definite"),
    ],
)
def test_problems_whose_loss_is_no_distance_are_refused(problem, message):
    with pytest.raises(InvalidProblem, match=message):
        focal_points(problem, np.diag([1.0, 0.0]))


def test_indefinite_metrics_have_a_typed_error(rng):
    with pytest.raises(InvalidProblem, match="not positive definite"):
        Metric(2, 2, np.diag([1.0, -1.0, 1.0]))
    with pytest.raises(InvalidProblem, match="not positive definite"):
        LocalGeometry(MatricesOfRank(np.diag([1.0, 0.0])), np.diag([1.0, -1.0, 1.0]))
    few = Problem(np.eye(3), Samples(rng.standard_normal((4, 3))), width=1)
    with pytest.raises(InvalidProblem, match="more of them"):
        focal_points(few, np.diag([1.0, 0.0, 0.0]))


def test_the_rank_of_a_tensor_cannot_be_overridden():
    cubic = Problem(SymmetricTensor([1.0, 2.0, 3.0, 4.0], 2, 3), Frobenius(2), width=1)
    with pytest.raises(InvalidProblem, match="for matrices only"):
        focal_points(cubic, SymmetricTensor([1.0, 0.0, 0.0, 0.0], 2, 3), rank=1)
