"""Binary forms over Q: zeros on the projective line, discriminants, repeated factors."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows.mathematics.exact.binary_forms import (
    discriminant,
    divide,
    is_real_rooted,
    multiplicities,
    real_rooted_arcs,
    real_zeros,
    repeated_factor,
)
from shallows.support.errors import InvalidProblem


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=5), st.integers(1, 9))
def test_real_zeros_of_products_of_linear_forms(roots, bottom):
    form = np.array([Fraction(1)], dtype=object)
    for root in roots:
        form = np.convolve(form, np.array([Fraction(-root, bottom), Fraction(1)], dtype=object))
    count, multiple = real_zeros(list(form))
    assert count == len(set(roots))
    assert multiple == sum(roots.count(r) > 1 for r in set(roots))
    reverse, _ = real_zeros(list(form[::-1]))  # x and y exchanged: 0 becomes infinity
    assert reverse == count


def test_discriminants_of_forms_with_a_zero_at_infinity():
    # x²y + … : F₃ = 0; Disc(F₀, F₁, F₂, 0) = F₂² Disc(F₀, F₁, F₂)
    assert discriminant([Fraction(2), Fraction(3), Fraction(1), Fraction(0)]) == 1 * (9 - 8)
    assert discriminant([Fraction(2), Fraction(3), Fraction(0), Fraction(0)]) == 0
    with pytest.raises(InvalidProblem, match="identically zero"):
        real_zeros([Fraction(0)] * 4)


def test_repeated_factors_divide_out():
    # (1+z²)² (2+z)
    form = [Fraction(v) for v in (2, 1, 4, 2, 2, 1)]
    factor = repeated_factor(form)
    assert factor == [1, 0, 1]
    assert divide(form, factor, lambda a, b: a * b) == [2, 1, 2, 1]


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=5), st.integers(-3, 3).filter(bool))
def test_discriminants_of_products_of_linear_forms(roots, lead):
    """a^(2D−2) Π (zᵢ − zⱼ)², whichever of x and y is set to 1."""
    form = np.array([Fraction(lead)], dtype=object)
    for root in roots:
        form = np.convolve(form, np.array([Fraction(-root), Fraction(1)], dtype=object))
    expected = Fraction(lead) ** (2 * len(roots) - 2)
    for i, one in enumerate(roots):
        for other in roots[:i]:
            expected *= (one - other) ** 2
    assert discriminant(list(form)) == discriminant(list(form[::-1])) == expected
    assert is_real_rooted(list(form)) == (expected != 0)
    assert sum(multiplicities(list(form))) == len(roots)


@pytest.mark.parametrize("degree", [3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_real_rooted_arcs_are_those_that_a_walk_around_sees(seed, degree):
    """By roots in doubles at 20,000 places; pencils next to two forms with real roots."""
    rng = np.random.default_rng([seed, degree])
    roots = rng.permutation(np.arange(-9, 10))[: 2 * degree].reshape(2, degree)  # arcs touch at common ones
    forms = np.array([np.poly(row) for row in roots])
    p, q = ([flint.fmpq(int(c)) for c in form] for form in forms)
    angles = np.pi * (np.arange(20_000) + 0.37) / 20_000
    real = [np.abs(np.roots(np.cos(x) * forms[0] + np.sin(x) * forms[1]).imag).max() < 1e-9 for x in angles]
    begins = sum(now and not before for before, now in zip([real[-1], *real[:-1]], real, strict=True))
    arcs = real_rooted_arcs(p, q)
    assert len(arcs) == (begins or int(real[0]))
    for s, t in arcs:
        roots = np.roots(float(s) * forms[0] + float(t.p) / float(t.q) * forms[1])
        assert np.abs(roots.imag).max() < 1e-6 * np.abs(roots).max()
