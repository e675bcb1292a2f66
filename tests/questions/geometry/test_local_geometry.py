"""Distance functions: forms and Hessians against differences, curvatures against closed forms, Prop. 23."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shallows import InvalidProblem, SymmetricTensor
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.parametric import ParametricChart
from shallows.questions.geometry.manifolds.rank_manifolds import MatricesOfRank, SumsOfPowers


def random_metric(rng, size):
    M = rng.standard_normal((size, size))
    return M @ M.T / size + 0.3 * np.eye(size)


def torus(u):
    ring = 2 + np.cos(u[1])
    return np.array([ring * np.cos(u[0]), ring * np.sin(u[0]), np.sin(u[1])])


def ellipse(u, a=2.0, b=1.0):
    return np.array([a * np.cos(u[0]), b * np.sin(u[0])])


def sphere(u, radius=1.5):
    """The inverse stereographic projection: R^k to the sphere in R^(k+1)."""
    square = u @ u
    return radius * np.append(2 * u, square - 1) / (square + 1)


CHARTS = ["matrices", "rank one", "two powers", "torus", "sphere in R^5"]


def make_chart(name, rng):
    if name == "matrices":
        W = rng.standard_normal((2, 4))
        return MatricesOfRank(W.T @ np.diag([1.0, -1.0]) @ W)
    if name == "rank one":
        return SumsOfPowers(rng.standard_normal((1, 3)), [-1.0], 3)
    if name == "two powers":
        return SumsOfPowers(rng.standard_normal((2, 3)), [1.0, -2.0], 4)
    if name == "torus":
        return ParametricChart(torus, rng.uniform(-3, 3, 2))
    return ParametricChart(sphere, rng.standard_normal(4))


def slow_hessian(chart, metric, target, u, step=1e-4):
    """Second differences of ‖x(u) − t‖²_Σ, from values of the chart alone."""
    eye = np.eye(len(u)) * step

    def loss(shift):
        v = chart.value(u + shift) - target
        return v @ metric @ v

    return np.array(
        [[(loss(a + b) - loss(a - b) - loss(b - a) + loss(-a - b)) / (4 * step**2) for b in eye] for a in eye]
    )


@pytest.mark.parametrize("name", CHARTS)
def test_loss_gradient_and_hessian_against_differences(name, rng):
    chart = make_chart(name, rng)
    metric, target = random_metric(rng, chart.ambient), rng.standard_normal(chart.ambient)
    here = LocalGeometry(chart, metric)
    v = chart.value(chart.base) - target
    assert here.loss(target) == pytest.approx(v @ metric @ v)
    slow = [
        (
            LocalGeometry(chart, metric, chart.base + h).loss(target)
            - LocalGeometry(chart, metric, chart.base - h).loss(target)
        )
        / 2e-5
        for h in np.eye(chart.dimension) * 1e-5
    ]
    assert np.allclose(here.gradient(target), slow, rtol=1e-6, atol=1e-6 * np.max(np.abs(slow)))
    reference = slow_hessian(chart, metric, target, chart.base)
    assert np.max(np.abs(here.hessian(target) - reference)) < 2e-6 * np.max(np.abs(reference))


def test_hessian_is_remark_24(rng):
    """H = 2 (G − γ (v·E)) for t = s + γv, with G and v·E each on its own."""
    chart = make_chart("torus", rng)
    metric = random_metric(rng, 3)
    here = LocalGeometry(chart, metric)
    v = here.normal_frame[:, 0]
    J = here.jacobian
    E = np.tensordot(metric @ v, chart.derivatives(chart.base), axes=1)
    for gamma in (-2.0, 0.0, 0.7):
        expected = 2 * (J.T @ metric @ J - gamma * E)
        assert np.allclose(here.hessian(here.point + gamma * v), expected, atol=1e-12)


# -- curvatures with closed forms ------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 5])
def test_spheres_have_all_curvatures_one_over_the_radius(k, rng):
    here = LocalGeometry(ParametricChart(sphere, rng.standard_normal(k)))
    assert np.allclose(here.principal_curvatures(-here.point), np.full(k, 1 / 1.5), atol=1e-9)
    assert np.allclose(here.principal_curvatures(here.point), np.full(k, -1 / 1.5), atol=1e-9)


@given(st.floats(-3, 3))
def test_ellipse_has_its_textbook_curvature(angle):
    here = LocalGeometry(ParametricChart(ellipse, angle))
    inward = -np.array([np.cos(angle) / 2, np.sin(angle)])
    expected = 2 / (4 * np.sin(angle) ** 2 + np.cos(angle) ** 2) ** 1.5
    assert here.principal_curvatures(inward) == pytest.approx([expected], rel=1e-9)


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_torus_has_its_textbook_curvatures(a, b):
    """Tube of radius 1 around a circle of radius 2: 1 and cos b / (2 + cos b) for the inward normal."""
    here = LocalGeometry(ParametricChart(torus, [a, b]))
    inward = -np.array([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)])
    assert np.allclose(here.principal_curvatures(inward), [1.0, np.cos(b) / (2 + np.cos(b))], atol=1e-9)


def test_rank_r_matrices_under_frobenius_have_curvatures_mu_over_sigma(rng):
    """In the normal direction A with eigenvalues μ: μⱼ/σᵢ for each pair, and zero along S(r) of fixed eigenspaces."""
    S, A = np.diag([3.0, -2.0, 0.0, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0, -0.5, 0.25])
    here = LocalGeometry(
        MatricesOfRank(S), np.diag([1.0 if i == j else 2 for i in range(5) for j in range(i, 5)])
    )
    normal = SymmetricTensor.from_matrix(A).entries
    size = np.linalg.norm(A)
    pairs = [m / s for m in (1.0, -0.5, 0.25) for s in (3.0, -2.0)]
    expected = np.sort(np.array(pairs + [0.0] * 3) / size)[::-1]
    assert np.allclose(here.principal_curvatures(normal), expected, atol=1e-12)


# -- invariances -------------------------------------------------------------------------------------


@given(st.integers(0, 2**32))
def test_a_metric_is_a_linear_change_of_coordinates(seed):
    """Curvatures of X under Σ = CᵀC are the Euclidean ones of C·X."""
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((3, 3)) + 2 * np.eye(3)
    assume(np.linalg.cond(C) <= 50)
    at = rng.uniform(-3, 3, 2)
    here = LocalGeometry(ParametricChart(torus, at), C.T @ C)
    moved = LocalGeometry(ParametricChart(lambda u: C @ torus(u), at))
    v = here.normal_frame[:, 0]
    assert here.length(v) == pytest.approx(1.0)
    ours, theirs = here.principal_curvatures(v), moved.principal_curvatures(C @ v)
    assert np.allclose(ours, theirs, atol=1e-7 * max(1, np.max(np.abs(theirs))))


@given(st.integers(0, 2**32))
def test_curvatures_do_not_depend_on_the_parameters(seed):
    """The same sphere point under u ↦ B u + a quadratic bend of the parameters."""
    rng = np.random.default_rng(seed)
    B, bend, at = (
        rng.standard_normal((2, 2)) + 3 * np.eye(2),
        rng.standard_normal((2, 2, 2)),
        rng.standard_normal(2),
    )

    def turned(w):
        return torus(at + B @ w + np.einsum("aij,i,j->a", bend, w, w))

    plain, other = (
        LocalGeometry(ParametricChart(torus, at)),
        LocalGeometry(ParametricChart(turned, [0.0, 0.0])),
    )
    v = plain.normal_frame[:, 0]
    assert np.allclose(plain.principal_curvatures(v), other.principal_curvatures(v, 1e-7), atol=1e-6)
    target = plain.point + 1.7 * v
    assert plain.signature(target, 1e-6) == other.signature(target, 1e-6)


def test_rank_one_matrices_are_the_same_in_both_charts(rng):
    v, metric = rng.standard_normal(4), random_metric(rng, 10)
    powers = LocalGeometry(SumsOfPowers([v], [-1.0], 2), metric)
    matrices = LocalGeometry(MatricesOfRank(-np.outer(v, v)), metric)
    for normal in powers.normal_frame.T:
        assert np.allclose(
            powers.principal_curvatures(normal), matrices.principal_curvatures(normal), atol=1e-9
        )


# -- Proposition 23 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHARTS)
def test_endpoint_differential_against_differences(name, rng):
    chart = make_chart(name, rng)
    here = LocalGeometry(chart, random_metric(rng, chart.ambient))
    gamma = rng.standard_normal(chart.ambient - chart.dimension)
    k, h = chart.dimension, 1e-5
    assert np.allclose(here.endpoint(np.zeros(k), gamma), here.point + here.normal_frame @ gamma)
    columns = [(here.endpoint(e, gamma) - here.endpoint(-e, gamma)) / (2 * h) for e in np.eye(k) * h]
    columns += [
        (here.endpoint(np.zeros(k), gamma + e) - here.endpoint(np.zeros(k), gamma - e)) / (2 * h)
        for e in np.eye(len(gamma)) * h
    ]
    exact = here.endpoint_differential(here.normal_frame @ gamma)
    assert np.max(np.abs(exact - np.array(columns).T)) < 1e-6 * np.max(np.abs(exact))


@pytest.mark.parametrize("name", CHARTS)
def test_endpoint_nullity_is_the_hessian_nullity(name, rng):
    """At exact focal points s + v/κ both are the multiplicity of κ; between them both are zero."""
    chart = make_chart(name, rng)
    here = LocalGeometry(chart, random_metric(rng, chart.ambient))
    v = here.normal_frame @ rng.standard_normal(chart.ambient - chart.dimension)
    v /= here.length(v)
    curvatures = here.principal_curvatures(v)
    for kappa in curvatures[np.abs(curvatures) > 1e-3]:
        normal = v / kappa
        multiplicity = int(np.sum(np.abs(curvatures - kappa) < 1e-6))
        H = here.hessian(here.point + normal)
        values = np.linalg.svd(H, compute_uv=False)
        assert np.sum(values < 1e-7 * max(values[0], 1)) == multiplicity
        assert here.endpoint_nullity(normal, 1e-7) == multiplicity
        assert here.signature(here.point + normal, 1e-7)[1] == multiplicity
        assert here.endpoint_nullity(1.01 * normal, 1e-7) == 0
        assert here.signature(here.point + 1.01 * normal, 1e-7)[1] == 0


def test_endpoint_nullity_at_the_centre_of_a_sphere(rng):
    """All normals meet in the centre: nullity n − 1, the whole tangent space."""
    here = LocalGeometry(ParametricChart(sphere, rng.standard_normal(4)))
    assert here.endpoint_nullity(-here.point) == 4
    assert here.signature(np.zeros(5)) == (0, 4, 0)
    assert here.signature(0.5 * here.point) == (4, 0, 0)
    assert here.signature(-0.5 * here.point) == (0, 0, 4)


def test_flat_manifolds_have_no_focal_points(rng):
    A = rng.standard_normal((4, 2))
    here = LocalGeometry(ParametricChart(lambda u: A @ u, [1.0, 2.0]), random_metric(rng, 4))
    v = here.normal_frame @ [3.0, -1.0]
    assert np.allclose(here.principal_curvatures(v), 0, atol=1e-10)
    assert here.endpoint_nullity(v) == 0


# -- refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metric,message",
    [
        (np.diag([1.0, -1.0]), "not positive definite"),
        (np.diag([1.0, 0.0]), "not positive definite"),
        (-np.eye(2), "not positive definite"),
        (np.eye(3), "expected 2 × 2"),
        ([[1.0, 0.5], [0.0, 1.0]], "not symmetric"),
        (np.full((2, 2), np.nan), "NaN"),
    ],
)
def test_bad_metrics_are_refused(metric, message):
    with pytest.raises(InvalidProblem, match=message):
        LocalGeometry(ParametricChart(ellipse, 0.3), metric)


def test_points_that_are_not_critical_are_refused_with_the_size_of_the_tangential_part():
    here = LocalGeometry(ParametricChart(ellipse, 0.0))
    assert here.signature([0.5, 0.0]) == (0, 0, 1)
    with pytest.raises(InvalidProblem, match=r"tangential part has length 0\.1, 0\.05 relative"):
        here.signature([0.5, 0.1])
    with pytest.raises(InvalidProblem, match="not normal"):
        here.principal_curvatures([1.0, 1e-4])
    with pytest.raises(InvalidProblem, match="not normal"):
        here.endpoint_nullity([0.0, 1.0])
    with pytest.raises(InvalidProblem, match="direction is zero"):
        here.principal_curvatures([0.0, 0.0])


def test_wrong_lengths_are_refused():
    here = LocalGeometry(ParametricChart(ellipse, 0.0))
    with pytest.raises(InvalidProblem, match="lies in R\\^2"):
        here.hessian([1.0, 2.0, 3.0])
    with pytest.raises(InvalidProblem, match="parameters has 2 entries"):
        LocalGeometry(here.chart, None, [0.0, 1.0])
    with pytest.raises(InvalidProblem, match="not an immersion"):
        LocalGeometry(ParametricChart(lambda u: np.array([u[0] ** 2, u[0] ** 3]), 0.0))
