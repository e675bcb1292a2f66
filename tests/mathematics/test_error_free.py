"""Sums and products with what rounding lost, against fractions; compiled and not."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shallows.mathematics import error_free

NUMBERS = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)


@given(NUMBERS, NUMBERS)
def test_nothing_is_lost(a, b):
    from shallows.mathematics.homotopy._compiled import double_double

    for module in (error_free, double_double):
        total, lost = module.two_sum(a, b)
        assert total == a + b
        assert Fraction(total) + Fraction(lost) == Fraction(a) + Fraction(b)
        product, lost = module.two_product(a, b)
        assert product == a * b
        assert Fraction(product) + Fraction(lost) == Fraction(a) * Fraction(b)


def test_arrays_and_complex_sums(rng):
    a, b = rng.standard_normal((2, 20)) + 1j * rng.standard_normal((2, 20))
    total, lost = error_free.two_sum(a, b)
    for part in (np.real, np.imag):
        expected = [Fraction(x) + Fraction(y) for x, y in zip(part(a), part(b), strict=True)]
        assert [Fraction(x) + Fraction(y) for x, y in zip(part(total), part(lost), strict=True)] == expected
    assert lost.any()
