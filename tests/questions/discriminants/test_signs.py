"""Signs on slices: equal to exact evaluation at every point, on walls too."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.discriminants import ellipse, rank_one


def exact_signs(P, name_x, x, name_y, y):
    return np.array([[P.sign(**{name_x: a, name_y: b}) for a in x] for b in y])


@pytest.mark.parametrize(
    "P",
    [
        rank_one(2).specialize(data=sh.IID.laplace(2), t01=0.5),
        rank_one(2).specialize(data=sh.IID(2, [1, 0, 1, 0, 4]), t01=0),  # walls through lattice points
        rank_one(2).specialize(data=sh.Frobenius(2), t01=1e-9),  # nearly zero on the diagonal
        rank_one(3).specialize(data=sh.IID.uniform(2), t001=0.3, t011=-0.7),
        rank_one(4).specialize(data=sh.IID.uniform(2), t0001=0, t0011=1, t0111=0),
    ],
    ids=["laplace", "walls", "cube", "degree 3", "degree 4"],
)
def test_every_sign_is_the_exact_one(P):
    name_x, name_y = P.variables
    x, y = np.arange(-8, 9) / 4, np.arange(-6, 7) / 3
    found = P.sign_slice((name_x, x), (name_y, y))
    assert np.array_equal(found.signs, exact_signs(P, name_x, x, name_y, y))
    assert f"{found.exact} decided" in repr(found)


def test_walls_need_exact_arithmetic_and_get_it():
    """At t01 = 0 the i.i.d. walls are t11/t00 = (μ4²−3μ2⁴)/(2μ2²μ4): 13/8 for μ4 = 4."""
    P = rank_one(2).specialize(data=sh.IID(2, [1, 0, 1, 0, 4]), t01=0)
    found = P.sign_slice(("t00", [8.0, 16.0, 24.0]), ("t11", [13.0, 26.0, 39.0]))
    assert np.array_equal(np.diag(found.signs), [0, 0, 0])
    assert found.exact >= 3
    shifted = P.sign_slice(("t00", [8.0, 16.0]), ("t11", [np.nextafter(13.0, 14), 30.0]))
    assert shifted.signs[0, 0] == P.sign(t00=8, t11=float(np.nextafter(13.0, 14))) != 0


@given(st.floats(-1e3, 1e3), st.floats(1e-6, 1e3), st.floats(-1e3, 1e3), st.floats(1e-6, 1e3))
def test_any_grid(x, dx, y, dy):
    P = ellipse(4, 1).specialize(m11=1, m12=0, m22=1)
    grid_x, grid_y = np.array([x, x + dx]), np.array([y, y + dy])
    found = P.sign_slice(("x", grid_x), ("y", grid_y))
    assert np.array_equal(found.signs, exact_signs(P, "x", grid_x, "y", grid_y))


def test_huge_and_tiny_coordinates():
    P = ellipse(4, 1).specialize(m11=1, m12=0, m22=1)
    x = np.array([-1e60, 1e-200, 1e60])
    found = P.sign_slice(("x", x), ("y", x))
    assert np.array_equal(found.signs, exact_signs(P, "x", x, "y", x))


def test_order_of_the_axes():
    P = rank_one(2).specialize(data=sh.IID.laplace(2), t11=1)
    x, y = np.linspace(-2, 2, 7), np.linspace(-1, 3, 9)
    one = P.sign_slice(("t00", x), ("t01", y)).signs
    two = P.sign_slice(("t01", y), ("t00", x)).signs
    assert one.shape == (9, 7) and np.array_equal(one, two.T)
    whole = rank_one(2).sign_slice(("t00", x), ("t01", y), data=sh.IID.laplace(2), t11=1)
    assert np.array_equal(whole.signs, one)


def test_a_polynomial_that_vanishes_identically():
    P = rank_one(3).specialize(data=sh.Gaussian(2), t001=0, t011=1)
    assert not P.sign_slice(("t000", [0.0, 1.0]), ("t111", [0.0, 1.0])).signs.any()


@pytest.mark.parametrize(
    ("axes", "what"),
    [
        ((("t00", [0.0, 1.0]), ("t00", [0.0, 1.0])), "variables are"),
        ((("t00", [0.0, 1.0]), ("t02", [0.0, 1.0])), "variables are"),
        ((("t00", [1.0, 0.0]), ("t01", [0.0, 1.0])), "strictly increasing"),
        ((("t00", [1.0]), ("t01", [0.0, 1.0])), "at least two"),
        ((("t00", [0.0, np.inf]), ("t01", [0.0, 1.0])), "infinite"),
    ],
)
def test_bad_axes(axes, what):
    P = rank_one(2).specialize(data=sh.IID.laplace(2), t11=Fraction(1, 3))
    with pytest.raises(sh.InvalidProblem, match=what):
        P.sign_slice(*axes)
