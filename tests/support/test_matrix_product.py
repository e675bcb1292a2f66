"""BLAS inside compiled code against NumPy: all four ways to turn, empty and single, offset, large, not finite."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

TURNS = list(itertools.product([False, True], repeat=2))
SIZES = [(1, 1, 1), (2, 3, 4), (4, 3, 2), (1, 5, 3), (5, 1, 5), (3, 5, 1), (7, 7, 7), (90, 120, 70)]


@pytest.fixture(scope="module")
def multiply():
    """out[at:] = xy inside a compiled function; x and y lie anywhere in vectors."""
    from numba import types

    from shallows.support.compiling import behind, entry, pointer
    from shallows.support.matrix_product import product

    numbers, size, flag = types.float64[::1], types.int64, types.boolean

    @entry(types.void(numbers, flag, numbers, flag, numbers, size, size, size, size))
    def multiplied(x, x_turned, y, y_turned, out, at, rows, inner, columns):
        product(
            behind(pointer(x), at), x_turned, behind(pointer(y), at), y_turned, behind(pointer(out), at),
            rows, inner, columns,
        )  # fmt: skip

    return multiplied


def _compare(multiply, X, Y, turned, at=0):
    """X (rows, inner) times Y (inner, columns) through memory that holds them, turned or not, `at` entries in."""
    margin = np.full(at, 7.0)
    x, y = (
        np.concatenate([margin, (M.T if t else M).ravel(), margin])
        for M, t in zip((X, Y), turned, strict=True)
    )
    rows, columns = len(X), Y.shape[1]
    out = np.full(at + rows * columns + at, np.nan)
    multiply(x, turned[0], y, turned[1], out, at, rows, X.shape[1], columns)
    found = out[at : at + rows * columns].reshape(rows, columns)
    scale = np.abs(X) @ np.abs(Y)
    # |fl(xy) − xy| ≤ inner·u·|x||y| in any order of summation, of both products
    assert np.all(np.abs(found - X @ Y) <= 2 * (X.shape[1] + 1) * 2.0**-53 * scale)
    assert np.all(np.isnan(out[:at])) and np.all(np.isnan(out[at + rows * columns :]))


@pytest.mark.parametrize("turned", TURNS)
@pytest.mark.parametrize("sizes", SIZES)
def test_products_are_numpys(multiply, rng, sizes, turned):
    rows, inner, columns = sizes
    _compare(multiply, rng.standard_normal((rows, inner)), rng.standard_normal((inner, columns)), turned)


@pytest.mark.parametrize("turned", TURNS)
def test_whole_numbers_are_exact(multiply, rng, turned):
    X, Y = (rng.integers(-9, 10, shape).astype(float) for shape in ((6, 8), (8, 5)))
    out = np.empty(30)
    x, y = (np.ascontiguousarray(M.T if t else M).ravel() for M, t in zip((X, Y), turned, strict=True))
    multiply(x, turned[0], y, turned[1], out, 0, 6, 8, 5)
    assert np.array_equal(out.reshape(6, 5), X @ Y)


@pytest.mark.parametrize("turned", TURNS)
def test_parts_of_larger_arrays(multiply, rng, turned):
    """Pointers need not be those of an allocation, nor aligned to more than a number; nothing beside is written."""
    for at in (1, 3, 8):
        _compare(multiply, rng.standard_normal((3, 4)), rng.standard_normal((4, 5)), turned, at)


@pytest.mark.parametrize("turned", TURNS)
@pytest.mark.parametrize("sizes", [(0, 3, 4), (3, 4, 0), (0, 0, 0)])
def test_no_rows_or_columns_write_nothing(multiply, sizes, turned):
    rows, inner, columns = sizes
    out = np.full(4, np.nan)
    multiply(np.ones(12), turned[0], np.ones(12), turned[1], out, 0, rows, inner, columns)
    assert np.all(np.isnan(out))


@pytest.mark.parametrize("turned", TURNS)
def test_the_empty_sum_is_zero(multiply, turned):
    out = np.full(6, np.nan)
    multiply(np.ones(1), turned[0], np.ones(1), turned[1], out, 0, 2, 0, 3)
    assert np.array_equal(out, np.zeros(6))


def test_what_was_there_before_does_not_matter(multiply):
    """Zero times what was in `out` would keep a NaN."""
    for before in (np.nan, np.inf, 1e308):
        out = np.full(1, before)
        multiply(np.array([2.0, 3.0]), False, np.array([5.0, 7.0]), False, out, 0, 1, 2, 1)
        assert out[0] == 31.0


def test_numbers_that_are_not_finite_stay_so(multiply):
    out = np.empty(4)
    multiply(np.array([np.nan, 1.0, np.inf, 1.0]), False, np.eye(2).ravel(), False, out, 0, 2, 2, 2)
    assert np.isnan(out[0]) and np.isnan(out[1]) and np.isinf(out[2])


def test_blas_is_found_once():
    from llvmlite import binding

    from shallows.support import matrix_product

    place = binding.address_of_symbol(matrix_product.SYMBOL)
    matrix_product.find()
    assert place and binding.address_of_symbol(matrix_product.SYMBOL) == place
