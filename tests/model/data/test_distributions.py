"""Moments, Gram matrices and samples of every distribution, each against a slow obvious reference."""

from math import factorial

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.tensors import coordinates as co
from shallows.model.data.moment_sequence import cumulants, gauss_law, hankel

COVARIANCE = np.array([[1.0, 0.3], [0.3, 0.5]])
GAMMA = [factorial(k + 1) / 2**k for k in range(9)]

DISTRIBUTIONS = {
    "standard": sh.Gaussian(2),
    "coloured": sh.Gaussian(2, COVARIANCE),
    "shifted": sh.Gaussian(2, COVARIANCE, [0.4, -0.2]),
    "normal": sh.IID.normal(2),
    "uniform": sh.IID.uniform(2),
    "laplace": sh.IID.laplace(2),
    "rademacher": sh.IID.rademacher(2),
    "student": sh.IID.student(2, 30),
    "skewed": sh.IID(2, [1, 0.3, 1.2, 0.8, 4, 6, 40, 50, 900]),
    "sphere": sh.Sphere(2),
    "radial": sh.Radial(2, GAMMA),
    "mixture": sh.Mixture([0.3, 0.7], [sh.Gaussian(2, COVARIANCE), sh.IID.uniform(2)]),
    "nested": sh.Mixture(
        [0.5, 0.5], [sh.Mixture([0.2, 0.8], [sh.Sphere(2), sh.IID.normal(2)]), sh.Gaussian(2)]
    ),
    "samples": sh.Samples(np.random.default_rng(1).standard_normal((40, 2))),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_moments_agree_with_monte_carlo(name, degree, rng):
    data = DISTRIBUTIONS[name]
    values = co.monomials(data.sample(100_000, rng), degree)
    error = values.std(axis=0) / np.sqrt(len(values)) + 1e-12
    assert np.max(np.abs(values.mean(axis=0) - data.moments(degree)) / error) < 5


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_gram_is_the_moment_matrix_folded_onto_entries(name, degree, rng):
    """⟨S, T⟩ = vec(S)ᵀ mat(M) vec(T), paper 000 equation 13."""
    data = DISTRIBUTIONS[name]
    S, T = (sh.SymmetricTensor(rng.standard_normal(co.dimension(2, degree)), 2, degree) for _ in range(2))
    full = S.to_array().ravel() @ data.moment_matrix(degree) @ T.to_array().ravel()
    assert S.inner(T, data) == pytest.approx(full, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_gram_is_positive_semidefinite_and_has_no_moment_defect(name):
    gram = DISTRIBUTIONS[name].gram(2)
    assert np.linalg.eigvalsh(gram)[0] > -1e-12
    from shallows.model.data.metric import moment_defect

    assert moment_defect(DISTRIBUTIONS[name], 2) < 1e-12


def test_example_22_the_gaussian_moment_matrix():
    expected = [[3, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 3]]
    np.testing.assert_allclose(sh.Gaussian(2).moment_matrix(2), expected, atol=1e-15)


@pytest.mark.parametrize("data", [sh.IID.laplace(3), sh.IID.rademacher(3), sh.IID(3, [1, 0, 2, 0, 9])])
def test_equation_28(data, rng):
    """⟨S,T⟩ = 2μ2² tr(ST) + μ2² tr(S) tr(T) + (μ4 − 3μ2²) tr(S∗T)."""
    S, T = (A + A.T for A in rng.standard_normal((2, 3, 3)))
    mu2, mu4 = data.moment(2), data.moment(4)
    expected = 2 * mu2**2 * np.trace(S @ T) + mu2**2 * np.trace(S) * np.trace(T)
    expected += (mu4 - 3 * mu2**2) * np.sum(np.diag(S) * np.diag(T))
    left, right = sh.SymmetricTensor.from_matrix(S), sh.SymmetricTensor.from_matrix(T)
    assert left.inner(right, data) == pytest.approx(expected, rel=1e-13)


def test_equations_14_and_15_rotation_invariant_data_share_one_metric_up_to_scale():
    for data in (sh.Sphere(3), sh.Radial(3, GAMMA), sh.IID.normal(3)):
        ratio = data.gram(2) / np.where(sh.Gaussian(3).gram(2) == 0, np.inf, sh.Gaussian(3).gram(2))
        values = ratio[ratio != 0]
        assert np.ptp(values) < 1e-14


def test_normal_coordinates_are_the_standard_gaussian():
    for degree in (1, 2, 3, 4):
        np.testing.assert_allclose(sh.IID.normal(3).gram(degree), sh.Gaussian(3).gram(degree), rtol=1e-14)


def test_equation_17_coloured_gaussian_moments_through_the_square_root(rng):
    data = sh.Gaussian(2, COVARIANCE)
    z = rng.standard_normal(2)
    variance = z @ COVARIANCE @ z
    form = co.monomials(z, 4) * co.multiplicities(2, 4)
    assert form @ data.moments(4) == pytest.approx(3 * variance**2, rel=1e-13)


def test_named_moments():
    assert [sh.IID.normal(1).moment(k) for k in (2, 4, 6, 8)] == [1, 3, 15, 105]
    assert sh.IID.uniform(1).moment(4) == pytest.approx(9 / 5)
    assert sh.IID.laplace(1).moment(4) == pytest.approx(6)
    assert sh.IID.student(1, 5).moment(4) == pytest.approx(9)  # 3 (df−2)/(df−4)
    assert sh.IID.student(1, 10).moment(6) == pytest.approx(15 * 8**2 / (6 * 4))
    assert sh.Sphere(3).gram(1)[0, 0] == pytest.approx(1 / 3)


def test_cumulants_are_exact_where_the_recursion_cancels():
    assert cumulants(np.ones(9) * (np.arange(9) % 2 == 0)).tolist() == [0, 0, 1, 0, -2, 0, 16, 0, -272]
    assert cumulants(np.array([1, 0, 1, 0, 3, 0, 15, 0, 105.0])).tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "moments",
    [
        [1, 0.3, 1.2, 0.8, 4, 6, 40],
        [1, 0, 1, 0, 1, 0, 1],
        [1, 0, 1, 0, 3],
        [1, 0.5, 1, 0.7],
        [1, 0, 2.5],
        [1.0, 0.0, 1.0, 0.5, 1.25],  # two atoms: a singular Hankel matrix
    ],
)
def test_the_gauss_law_has_the_given_moments(moments):
    nodes, weights = gauss_law(np.array(moments, dtype=float))
    assert np.all(weights >= 0)
    for order, moment in enumerate(moments):
        assert weights @ nodes**order == pytest.approx(moment, abs=1e-9)


@pytest.mark.parametrize("count", [4, 5, 7, 8])
def test_the_radial_gauss_law_lives_on_the_positive_axis(count):
    nodes, weights = gauss_law(np.array(GAMMA[:count]), nonnegative=True)
    assert np.min(nodes) > -1e-9
    for order in range(count):
        assert weights @ nodes**order == pytest.approx(GAMMA[order], rel=1e-8)


def test_sampling_says_what_it_draws_from():
    assert "Gauss-quadrature law" in sh.IID(2, [1, 0, 1, 0, 3]).sample_law
    assert "Gauss-quadrature law" in sh.Radial(2, GAMMA).sample_law
    assert "law itself" in sh.IID.laplace(2).sample_law


def test_sampling_is_reproducible_and_independent_of_global_state():
    data = sh.Mixture([0.5, 0.5], [sh.Sphere(3), sh.IID.laplace(3)])
    np.random.seed(1)  # noqa: NPY002  (global state must not matter)
    first = data.sample(10, 7)
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(first, data.sample(10, 7))
    assert not np.array_equal(first, data.sample(10, 8))
    with pytest.raises(sh.InvalidProblem, match="seed"):
        data.sample(10, None)


def test_student_refuses_moments_it_does_not_have():
    with pytest.raises(sh.InvalidProblem, match="no moment of order 6"):
        sh.IID.student(2, 5).gram(3)
    with pytest.raises(sh.InvalidProblem, match="df > 2"):
        sh.IID.student(2, 2.0)


def test_moments_that_were_not_given_are_asked_for():
    with pytest.raises(sh.InvalidProblem, match="order 6"):
        sh.IID(2, [1, 0, 1, 0, 3]).gram(3)
    with pytest.raises(sh.InvalidProblem, match=r"E ρ\^6"):
        sh.Radial(2, GAMMA[:5]).gram(3)


@pytest.mark.parametrize(
    ("moments", "what"),
    [
        ([1, 0, -1], "even moment of order 2"),
        ([1, 0, 1, 0, 0.5], "Jensen"),
        ([1, 0, 1, 0, 3, 0, 5], "orders 0 to 6"),
        ([1, 2, 1], "orders 0 to 2"),
        ([2, 0, 1], "order 0 is 1"),
        ([1, 0], "at least up to"),
        ([1, 0, 0], "second moment is 0"),
        ([1, 0, np.inf], "NaN or infinite"),
    ],
)
def test_impossible_moments_are_refused_and_named(moments, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        sh.IID(2, moments)


def test_impossible_radial_moments_are_refused():
    with pytest.raises(sh.InvalidProblem, match="no negative moment"):
        sh.Radial(2, [1, -1, 1])
    with pytest.raises(sh.InvalidProblem, match="orders 1 to 3"):
        sh.Radial(2, [1, 1, 1.5, 1.6])  # μ1 μ3 < μ2²


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda: sh.Gaussian(0), "at least 1"),
        (lambda: sh.Gaussian(2, [[1, 2], [2, 1]]), "indefinite"),
        (lambda: sh.Gaussian(2, np.eye(3)), "shape"),
        (lambda: sh.Gaussian(2, [[1, 0.5], [0, 1]]), "not symmetric"),
        (lambda: sh.Gaussian(2, mean=[1, 2, 3]), "3 entries"),
        (lambda: sh.Gaussian(2, mean=[1, np.nan]), "NaN"),
        (lambda: sh.Mixture([0.5, 0.4], [sh.Gaussian(2), sh.Sphere(2)]), "sum"),
        (lambda: sh.Mixture([0.5, 0.5], [sh.Gaussian(2), sh.Sphere(3)]), "one dimension"),
        (lambda: sh.Mixture([1.0], [sh.Frobenius(2)]), "distributions"),
        (lambda: sh.Mixture([], []), "one weight a part"),
        (lambda: sh.Samples(np.zeros((0, 2))), "at least one sample"),
        (lambda: sh.Samples([[1.0, np.inf]]), "infinite"),
        (lambda: sh.Samples(np.zeros((3, 2)), np.zeros(4)), "3 samples"),
        (lambda: sh.Metric(2, 2, np.diag([1, 1, -1])), "not positive definite"),
        (lambda: sh.Metric(2, 2, np.eye(4)), "dimension 3"),
    ],
)
def test_bad_data_is_refused(build, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        build()


def test_hankel_of_an_even_length_uses_all_but_the_last_moment():
    assert hankel(np.array([1.0, 2, 3, 4])).tolist() == [[1, 2], [2, 3]]
