from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import pytest

from shallows.mathematics.tensors import coordinates as co
from shallows.support.errors import InvalidProblem

SHAPES = [(1, 1), (1, 4), (2, 1), (2, 3), (3, 2), (3, 4), (4, 3), (5, 2)]


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_indices_are_lexicographic_and_position_inverts_them(n, d):
    expected = list(combinations_with_replacement(range(n), d))
    assert [tuple(row) for row in co.indices(n, d)] == expected
    assert co.dimension(n, d) == len(expected)
    np.testing.assert_array_equal(co.position(co.indices(n, d), n), np.arange(len(expected)))


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_multiplicities_count_the_places_of_the_full_array(n, d):
    assert co.multiplicities(n, d).sum() == n**d
    assert co.multiplicities(n, d).max() <= factorial(d)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_monomials_are_the_entries_of_the_power(n, d, rng):
    W = rng.standard_normal((2, 3, n))
    expected = np.prod(W[..., co.indices(n, d)], axis=-1)
    np.testing.assert_allclose(co.monomials(W, d), expected, rtol=1e-14)
    assert co.monomials(W, 0).shape == (2, 3, 1)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_monomial_derivatives(n, d, rng):
    w, u = rng.standard_normal((2, n))
    h = 1e-6
    difference = (co.monomials(w + h * u, d) - co.monomials(w - h * u, d)) / (2 * h)
    np.testing.assert_allclose(co.monomials_jvp(w, u, d), difference, atol=1e-8)
    form = rng.standard_normal(co.dimension(n, d))
    gradient = co.monomials(w, d - 1) @ co.gradient_matrix(form, n, d)
    np.testing.assert_allclose(gradient @ u, form @ difference, atol=1e-7)


def test_a_space_too_large_to_store_is_refused_with_its_dimension():
    with pytest.raises(InvalidProblem, match="20,958,500"):
        co.indices(500, 3)


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("kind", ["doubles", "complex", "fractions"])
def test_symmetric_matrices_and_their_entries(n, kind, rng):
    size = co.dimension(n, 2)
    entries = rng.integers(-9, 10, (2, 3, size)).astype(float)
    if kind == "complex":
        entries = entries + 1j * rng.standard_normal(entries.shape)
    elif kind == "fractions":
        entries = np.vectorize(lambda x: Fraction(int(x), 7), otypes=[object])(entries)
    matrices = co.symmetric_matrices(entries)
    assert matrices.shape == (2, 3, n, n) and matrices.dtype == entries.dtype
    for place, (i, j) in enumerate(combinations_with_replacement(range(n), 2)):
        assert (matrices[..., i, j] == entries[..., place]).all()
        assert (matrices[..., j, i] == entries[..., place]).all()
    assert (co.matrix_entries(matrices) == entries).all()
    assert co.inputs_of(size) == n


def test_slope_matrices_give_the_form(rng):
    slopes, u = rng.standard_normal(co.dimension(3, 2)), rng.standard_normal(3)
    np.testing.assert_allclose(u @ co.slope_matrices(slopes, 3) @ u, slopes @ co.monomials(u[None], 2)[0])
