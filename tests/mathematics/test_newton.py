"""Newton's method against roots that are known."""

import itertools

import numpy as np
from flint import acb, acb_mat

from shallows.mathematics.balls.systems import precision
from shallows.mathematics.newton import refined, zeros


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
