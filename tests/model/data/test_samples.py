"""Proposition 20: when the empirical inner product is one."""

import numpy as np
import pytest

import shallows as sh


def test_generic_samples_are_nondegenerate_from_the_dimension_on(rng):
    for n, degree, dimension in [(2, 2, 3), (3, 2, 6), (3, 3, 10), (2, 4, 5)]:
        assert sh.Samples(rng.standard_normal((dimension, n))).is_nondegenerate(degree)
        few = sh.Samples(rng.standard_normal((dimension - 1, n)))
        assert not few.is_nondegenerate(degree)
        polynomial = few.vanishing_polynomial(degree)
        assert np.max(np.abs(polynomial(few.X))) < 1e-12
        assert polynomial.norm(sh.Frobenius(n)) == pytest.approx(1.0)


def test_many_samples_on_a_cone_are_degenerate_and_the_cone_is_found(rng):
    angle = rng.uniform(0, 2 * np.pi, 200)
    radius = rng.uniform(0.5, 2, 200)
    cone = sh.Samples(np.column_stack([radius * np.cos(angle), radius * np.sin(angle), radius]))
    polynomial = cone.vanishing_polynomial(2)
    expected = np.diag([1.0, 1.0, -1.0]) / np.sqrt(3)
    matrix = polynomial.to_matrix()
    np.testing.assert_allclose(matrix * np.sign(matrix[0, 0]), expected, atol=1e-10)
    assert sh.Samples(cone.X + 0.01 * rng.standard_normal(cone.X.shape)).vanishing_polynomial(2) is None


def test_nondegenerate_means_a_positive_definite_gram(rng):
    data = sh.Samples(rng.standard_normal((7, 3)))
    assert np.linalg.eigvalsh(data.gram(2))[0] > 1e-6
    assert data.vanishing_polynomial(2) is None


def test_gram_in_chunks_is_the_mean_of_feature_products(rng):
    X = rng.standard_normal((9001, 3))
    data = sh.Samples(X)
    features = data.evaluation_matrix(2)
    np.testing.assert_allclose(data.gram(2), features.T @ features / len(X), rtol=1e-12)
    T = sh.SymmetricTensor(rng.standard_normal(6), 3, 2)
    np.testing.assert_allclose(features @ T.entries, T(X), rtol=1e-12, atol=1e-12)
