"""Arithmetic of 31 digits in compiled code, against fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import types

from shallows.mathematics.homotopy._compiled.double_double import (
    add_number,
    add_product,
    rounded,
    scale,
    store,
)
from shallows.support.compiling import entry, pointer

NUMBERS = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)
COMPLEX = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS)


@entry(types.void(types.float64[::1], types.int64, types.int64, types.int64))
def added_product(numbers, total, a, b):
    """The unit, for Python."""
    add_product(pointer(numbers), total, a, b)


@entry(types.complex128(types.float64[::1], types.int64))
def rounded_number(numbers, at):
    """The unit, for Python."""
    return rounded(pointer(numbers), at)


@entry(types.void(types.float64[::1], types.complex128, types.complex128, types.float64))
def scaled_sum(numbers, a, b, factor):
    """(a + b) · factor, in place of the first number."""
    store(pointer(numbers), 0, a)
    store(pointer(numbers), 4, b)
    add_number(pointer(numbers), 0, 4)
    scale(pointer(numbers), 0, factor)


def _value(numbers, at):
    parts = [Fraction(x) for x in numbers[at : at + 4]]
    return parts[0] + parts[1], parts[2] + parts[3]


@given(COMPLEX, COMPLEX, COMPLEX)
def test_products_are_added_with_31_digits(a, b, c):
    """total + a·b: the error is below 2⁻¹⁰⁰ of the sizes that enter, even when everything cancels."""
    numbers = np.zeros(12)
    for place, (real, imaginary, low, lower) in zip((0, 4, 8), (a, b, c), strict=True):
        numbers[place : place + 4] = (
            real,
            low * 1e-17 * abs(real) / 1e6,
            imaginary,
            lower * 1e-17 * abs(imaginary) / 1e6,
        )
    (ar, ai), (br, bi), (cr, ci) = (_value(numbers, place) for place in (4, 8, 0))
    wanted = cr + ar * br - ai * bi, ci + ar * bi + ai * br
    size = abs(cr) + abs(ci) + (abs(ar) + abs(ai)) * (abs(br) + abs(bi))
    added_product(numbers, 0, 4, 8)
    found = _value(numbers, 0)
    assert max(abs(found[0] - wanted[0]), abs(found[1] - wanted[1])) <= size * Fraction(2) ** -100
    assert rounded_number(numbers, 0) == complex(float(found[0]), float(found[1]))


@given(COMPLEX, COMPLEX, st.integers(-100, 100))
def test_sums_and_multiples(a, b, factor):
    numbers = np.zeros(8)
    scaled_sum(numbers, complex(a[0], a[1]), complex(b[0], b[1]), float(factor))
    wanted = factor * (Fraction(a[0]) + Fraction(b[0])), factor * (Fraction(a[1]) + Fraction(b[1]))
    size = 100 * (abs(Fraction(a[0])) + abs(Fraction(b[0])) + abs(Fraction(a[1])) + abs(Fraction(b[1])))
    found = _value(numbers, 0)
    assert max(abs(found[0] - wanted[0]), abs(found[1] - wanted[1])) <= size * Fraction(2) ** -100
