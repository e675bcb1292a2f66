"""Roots proved at once in float64: against Arb's Krawczyk, exact roots, wrong points and tampered evaluators."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shallows as sh
from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.batched import PolynomialBatch, RankOneBatch
from shallows.mathematics.balls.contraction import contract
from shallows.mathematics.balls.inertia import inertia, inertias
from shallows.mathematics.balls.krawczyk import certify_point
from shallows.mathematics.balls.systems import ball_evaluator, precision


def arb_root(system, point, bits=200):
    """The slow twin: Krawczyk in Arb, one point at a time."""
    with precision(bits):
        return certify_point(system, ball_evaluator(system, bits), point, bits, real=False)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("scale", [1e-60, 1e-3, 1.0, 1e40])
def test_rank_one_roots_are_where_arb_has_them(n, scale):
    plain = sh.homotopy.random_rank_one(n, np.random.default_rng(n))
    linear = [[entry * Fraction(scale) for entry in row] for row in plain.linear]
    system = sh.homotopy.RankOneSystem(plain.quartic, np.array(linear, dtype=object))
    points = sh.homotopy.solve(plain).finite.points * np.sqrt(scale)
    found = contract(RankOneBatch(system), points)
    assert found.proved.all()
    for k, point in enumerate(points):
        sharp = arb_root(system, point)
        distance = np.abs(sharp.point - found.centre[k])
        assert (distance <= found.radius[k] + sharp.radius + 4e-16 * np.abs(point)).all()
        assert (found.radius[k] < 1e-9 * np.abs(point).max()).all() and (
            found.radius[k] < found.domain[k]
        ).all()


def test_real_roots_are_told_from_others():
    system = sh.homotopy.PolynomialSystem.read(["x^2 + y^2 - 5", "x*y - 2"])
    points = np.array([[1, 2], [2, 1], [-1, -2], [-2, -1]], complex) * (1 + 1e-9j)
    found = contract(PolynomialBatch(system), points)
    assert found.proved.all() and found.real.all()
    proof = sh.homotopy.solve(["x^2 + 1", "y - x"]).certify()
    assert proof.count == proof.nonreal_count == 2
    near = sh.homotopy.PolynomialSystem.read(
        ["x^2 + 1/1000000000000000000"]
    )  # ±1e-9 i, next to the real axis
    assert not sh.certify.certify(near, np.array([[1e-9j], [-1e-9j]])).real_count


@pytest.mark.parametrize("scheme", ["double", "far", "nan", "zero"])
def test_what_is_no_isolated_root_is_not_proved(scheme):
    double = sh.homotopy.PolynomialSystem.read(["x^2 - 2*x + 1", "y - 1"])
    plain = sh.homotopy.PolynomialSystem.read(["x^2 - 2", "y - x"])
    system, point = {
        "double": (double, [1 + 1e-9, 1]),
        "far": (plain, [1.2, 1.2]),
        "nan": (plain, [np.nan, 1]),
        "zero": (plain, [0, 0]),
    }[scheme]
    assert not contract(PolynomialBatch(system), np.array([point], complex)).proved.any()


def test_two_roots_in_one_box_are_never_called_one():
    for gap in (1e-3, 1e-6, 1e-9, 1e-12, 1e-14):
        exact = Fraction(1) + Fraction(gap)
        system = sh.homotopy.PolynomialSystem(
            ("x",),
            sh.homotopy.PolynomialSystem.read(
                [f"(x - 1)*(x - {exact.numerator}/{exact.denominator})"]
            ).equations,
        )
        found = contract(PolynomialBatch(system), np.array([[1.0], [1.0 + gap]], complex))
        for k in np.flatnonzero(found.proved):
            inside = [abs(root - found.centre[k, 0]) <= found.domain[k, 0] for root in (1.0, float(exact))]
            assert sum(inside) == 1


class Tampered:
    """An evaluator that lies: a wrong coefficient, a Jacobian without its radius, a value without its radius."""

    def __init__(self, evaluator, how):
        self.evaluator, self.how, self.n, self.is_real = evaluator, how, evaluator.n, evaluator.is_real

    def __call__(self, x):
        value, slope = self.evaluator(x)
        if self.how == "value":
            value = value + Ball.exact(1e-3 * np.abs(x.mid))
        if self.how == "slope":
            slope = Ball(slope.mid * 3.0, slope.rad)
        if self.how == "wide":
            slope = Ball(slope.mid, slope.rad + np.abs(slope.mid))
        return value, slope

    def values(self, x):
        return self(x)[0]


@pytest.mark.parametrize("how", ["value", "slope", "wide"])
def test_a_tampered_evaluator_proves_nothing_at_the_true_roots(how):
    system = sh.homotopy.random_rank_one(3, np.random.default_rng(0))
    points = sh.homotopy.solve(system).finite.points
    honest, lying = (
        contract(RankOneBatch(system), points),
        contract(Tampered(RankOneBatch(system), how), points),
    )
    assert honest.proved.all()
    if how == "value":  # roots of another system, if any, are elsewhere
        apart = np.abs(lying.centre - honest.centre).max(axis=1) > honest.radius.max(axis=1)
        assert (~lying.proved | apart).all()
    elif how == "wide":
        assert not lying.proved.any()
    else:  # a wrong slope makes no false root: what is still proved is the same root
        same = np.abs(lying.centre - honest.centre) <= lying.radius + honest.radius
        assert same[lying.proved].all()


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(-12, 0))
def test_inertias_agree_with_arb_and_with_known_signs(seed, n, spread):
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = rng.choice([-1.0, 1.0], n) * 10.0 ** np.linspace(spread, 0, n)
    matrix = turn @ np.diag(values) @ turn.T
    matrix = (matrix + matrix.T) / 2
    (found,) = inertias(Ball.exact(matrix[None]))
    slow = inertia(matrix.tolist())
    if found.certified:
        assert (found.positive, found.negative) == (slow.positive, slow.negative)
    if spread > -8:
        assert found.certified and found.positive == int((values > 0).sum())


def test_a_zero_eigenvalue_is_never_decided():
    for matrix in (np.zeros((2, 2)), np.ones((3, 3)), np.diag([1.0, 0.0, -2.0])):
        assert not inertias(Ball.exact(matrix[None]))[0].certified
    wide = Ball(np.diag([1.0, -1.0])[None], np.full((1, 2, 2), 0.6))
    assert not inertias(wide)[0].certified


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_discs_contain_what_arb_computes(seed):
    """Values and Jacobians of a random polynomial system at random discs contain exact ones at points of the discs."""
    rng = np.random.default_rng(seed)
    system = sh.homotopy.PolynomialSystem.read(["x^3*y - 1/3*x*y + 2/7", "x*y^2 - 5*x^2 + 1/11*y"])
    centre = rng.standard_normal((1, 2)) + 1j * rng.standard_normal((1, 2))
    radius = 10.0 ** rng.uniform(-12, -1, (1, 2))
    value, slope = PolynomialBatch(system)(Ball(centre, radius))
    point = centre + radius * 0.999 * rng.uniform(0, 1, (1, 2)) * np.exp(
        2j * np.pi * rng.uniform(0, 1, (1, 2))
    )
    from flint import acb

    with precision(200):
        exact_value, exact_slope = ball_evaluator(system, 200)([acb(z) for z in point[0].tolist()])
    for i in range(2):
        assert abs(complex(exact_value[i, 0]) - value.mid[0, i]) <= value.rad[0, i] * (1 + 1e-12)
        for j in range(2):
            assert abs(complex(exact_slope[i, j]) - slope.mid[0, i, j]) <= slope.rad[0, i, j] * (1 + 1e-12)
