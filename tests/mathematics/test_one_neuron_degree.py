"""The numbers of critical points of one neuron, against roots in one input and what elimination and traces found."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from shallows.mathematics.ed_degree import low_rank_degree, modulo_square_degree
from shallows.mathematics.one_neuron_degree import one_neuron_degree


@pytest.mark.parametrize(
    "powers", [(0, 1), (1, 2), (1, 3), (0, 2), (2, 5), (0, 1, 3), (1, 2, 4), (0, 2, 6), (3, 4, 6, 7)]
)
def test_one_input_by_roots(powers):
    """a eliminated, the loss is −b²/q: zeros of 2b′q − bq′ that are none of b or q, nor 0, up to roots of unity."""
    rng = np.random.default_rng(len(powers))
    b = Polynomial([rng.standard_normal() if j in powers else 0.0 for j in range(powers[-1] + 1)])
    M = rng.standard_normal((len(powers), len(powers)))
    q = Polynomial([0.0])
    for j, row in zip(powers, M @ M.T, strict=True):
        for k, entry in zip(powers, row, strict=True):
            q = q + Polynomial([0.0] * (j + k) + [entry])
    roots = (2 * b.deriv() * q - b * q.deriv()).roots()
    g = np.gcd.reduce([j - powers[0] for j in powers])
    apart = [
        z
        for z in roots
        if abs(z) > 1e-4 and abs(b(z)) > 1e-7 * abs(z) ** powers[0] and np.isfinite(z) and abs(z) < 1e4
    ]
    assert one_neuron_degree(powers, 1) * g == len(apart)


@pytest.mark.parametrize(
    ("powers", "generic", "invariant"),
    [
        ((1, 2), (10, 37), (4, 7)),  # elimination: the table of issue 25
        ((1, 3), (14, 80), (6, 16)),
        ((0, 2), (4, 13), (2, 3)),
        ((0, 1, 2), (13, 40), (7, 10)),
        ((1, 2, 3), (36, 200), (16, 40)),  # trace tests, before there was a formula
        ((2, 3), (18, 137), (6, 19)),
        ((0, 1, 3), (32, 164), (16, 36)),
        ((0, 3), (7, 39), (None, None)),
        ((0, 2, 4), (34,), (16,)),
        ((2, 4), (22,), (8,)),
        ((1, 4), (18,), (None,)),
    ],
)
def test_what_other_ways_found(powers, generic, invariant):
    for n, (number, round_) in enumerate(zip(generic, invariant, strict=True), start=2):
        assert one_neuron_degree(powers, n) == number
        assert one_neuron_degree(powers, n, True) == round_


def test_known_varieties():
    for n in range(1, 7):
        assert one_neuron_degree((0, 1), n) == 1  # all linear functions
        assert one_neuron_degree((1, 2), n) == modulo_square_degree(n, 1)
        assert one_neuron_degree((0, 1, 2), n) == low_rank_degree(n + 1, 1)
        assert one_neuron_degree((0, 1, 2), n, True) in (None, 3 * n + 1)
    veronese = [((2 * d - 1) ** (n + 1) - (d - 1) ** (n + 1)) // d for d, n in ((3, 2), (4, 3))]
    assert [one_neuron_degree((0, 1, 2, 3), 2), one_neuron_degree((0, 1, 3, 4), 3)] == veronese
