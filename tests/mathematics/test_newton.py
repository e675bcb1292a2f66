"""Newton's method against roots that are known."""

import itertools

import numpy as np
import pytest
from flint import acb, acb_mat, arb, arb_mat
from scipy.linalg import sqrtm

from shallows.mathematics.balls.systems import precision
from shallows.mathematics.newton import at_once, falling, gauss_newton, refined, saddle_free_step, zeros


def test_zeros_of_one_equation_from_many_starts():
    """sin x = 0; at π/2 + 0.1 the Newton step is 10 long and is cut."""
    start = np.array([0.3, 3.0, np.pi / 2 + 0.1])
    found = zeros(lambda x: (np.sin(x), np.cos(x)), start, 30, 0.5)
    np.testing.assert_allclose(found, [0.0, np.pi, np.pi], atol=1e-15)
    assert zeros(lambda x: (x * 0 + 1, x * 0), np.zeros(1), 3, 0.5)[0] == -1.5


def test_a_root_to_as_many_digits_as_there_are():
    """x² = 2, y = x: digits double until 200 bits are full."""

    def system(x):
        return acb_mat([[x[0] * x[0] - 2], [x[1] - x[0]]]), acb_mat([[2 * x[0], 0], [-1, 1]])

    with precision(200):
        steps = list(refined(system, [acb(1.4), acb(1.5)], 8))
        root = acb(2).sqrt()
        assert abs(complex(steps[-1][0][1] - root)) < 2.0**-195
        moved = [size for _, size in steps]
        assert all(later < 10 * size**2 for size, later in itertools.pairwise(moved[:5]))


def test_a_singular_jacobian_ends_it():
    assert list(refined(lambda x: (acb_mat([[x[0]]]), acb_mat([[0]])), [acb(1)], 5)) == []


def test_more_equations_than_unknowns_in_balls():
    """x² = 2 and x³ = 2√2 hold together at √2 only; −√2 solves the first."""

    def system(x):
        root = acb(2).sqrt()
        return acb_mat([[x[0] * x[0] - 2], [x[0] ** 3 - 2 * root]]), acb_mat([[2 * x[0]], [3 * x[0] * x[0]]])

    with precision(200):
        *_, (place, _) = refined(system, [acb(1.3)], 9)
        assert abs(complex(place[0] - acb(2).sqrt())) < 2.0**-190


def test_real_balls_stay_real():
    with precision(100):
        *_, (place, moved) = refined(
            lambda x: (arb_mat([[x[0] ** 2 - 3]]), arb_mat([[2 * x[0]]])), [arb(2)], 8
        )
        assert isinstance(place[0], arb) and abs(float(place[0] - arb(3).sqrt())) < 2.0**-95 and moved < 1e-25


@pytest.mark.parametrize("start", [1.2, 3.0, -20.0])
def test_a_damped_step_where_the_whole_one_diverges(start):
    """Newton for arctan diverges from |x| > 1.39; halved until it falls, it does not."""
    whole = list(gauss_newton(lambda x: (np.arctan(x), 1 / (1 + x[None] ** 2)), np.array([start]), 7))
    *_, (place, value) = falling(np.arctan, lambda x, F: -F * (1 + x**2), np.array([start]), 60, halvings=40)
    assert abs(place[0]) < 1e-12 and abs(value[0]) < 1e-12
    assert (abs(whole[-1].next[0]) < 1e-6) == (abs(start) < 1.39)


def test_falling_ends_where_nothing_is_gained():
    assert list(falling(lambda x: np.ones(2), lambda x, F: -F, np.zeros(2), 9, halvings=3)) == []
    assert list(falling(lambda x: x, lambda x, F: None, np.ones(2), 9)) == []
    moved = falling(lambda x: x - 1, lambda x, F: np.array([0.9, 0.4]), np.zeros(2), 9, move=np.round)
    assert [place.tolist() for place, _ in moved] == [[1.0, 0.0]]


def test_saddle_free_steps_go_down_and_up(rng):
    """Against the definition by matrix functions: −(H²)^(−1/2) g, one Hessian at a time and many at once."""
    hessians = rng.standard_normal((5, 4, 4))
    hessians += np.swapaxes(hessians, 1, 2)
    gradients = rng.standard_normal((5, 4))
    steps = saddle_free_step(gradients, hessians, 1e-12)
    for step, gradient, hessian in zip(steps, gradients, hessians, strict=True):
        expected = -np.linalg.solve(np.real(sqrtm(hessian @ hessian)), gradient)
        np.testing.assert_allclose(step, expected, rtol=1e-8)
        np.testing.assert_allclose(saddle_free_step(gradient, hessian, 1e-12), step, rtol=1e-12)
        index = int(np.sum(np.linalg.eigvalsh(hessian) < 0))
        towards = saddle_free_step(gradient, hessian, 1e-12, uphill=index)
        np.testing.assert_allclose(towards, -np.linalg.solve(hessian, gradient), rtol=1e-8)
    flat = saddle_free_step(np.ones(2), np.diag([0.0, 4.0]), 0.5)
    np.testing.assert_allclose(flat, [-0.5, -0.25])
    assert np.all(np.isfinite(saddle_free_step(np.zeros(2), np.zeros((2, 2)), 1e-8)))


def test_many_places_at_once_end_where_each_ends_alone(rng):
    """x² + y² = 5, xy = 2 from a grid of places with two leading axes; a singular Jacobian stays where it is."""

    def system(x):
        a, b = x[..., 0], x[..., 1]
        jacobian = np.stack([np.stack([2 * a, 2 * b], axis=-1), np.stack([b, a], axis=-1)], axis=-2)
        return np.stack([a**2 + b**2 - 5, a * b - 2], axis=-1), jacobian

    x = np.array([[2.2, 0.9], [-1.1, -1.9]]) + 0.1 * rng.standard_normal((3, 2, 2))
    found, step = at_once(system, x, 12, np.add)
    np.testing.assert_allclose(found, np.broadcast_to([[2.0, 1.0], [-1.0, -2.0]], x.shape), atol=1e-12)
    assert np.abs(step).max() < 1e-12
    stuck, step = at_once(system, np.ones((1, 2)), 3, np.add)
    assert stuck.tolist() == [[1.0, 1.0]] and not step.any()
