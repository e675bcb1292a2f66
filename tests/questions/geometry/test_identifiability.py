"""Identifiability: exceptions, defective cases, and the ranks that prove them."""

import numpy as np
import pytest

from shallows import Network, Power, SymmetricTensor
from shallows.questions.geometry.fibers.trivial_symmetry import trivial_symmetry
from shallows.questions.geometry.ranks.generic_rank import generic_rank
from shallows.questions.geometry.ranks.identifiability import (
    PERFECT,
    TWO_DECOMPOSITIONS,
    identifiability,
    is_identifiable,
)
from shallows.questions.geometry.ranks.parameterization import differential_matrix
from shallows.questions.geometry.ranks.widths import DEFECTIVE, thick_width


@pytest.mark.parametrize(("d", "n"), [(d, n) for d in range(3, 7) for n in range(2, 7)])
def test_below_thick_exactly_the_seven_exceptions_fail(d, n):
    failing = {r for r in range(1, thick_width(d, n)) if not is_identifiable(d, n, r)}
    assert failing == {r for e, m, r in DEFECTIVE | TWO_DECOMPOSITIONS if (e, m) == (d, n)}


@pytest.mark.parametrize(("d", "n", "r"), sorted(DEFECTIVE))
def test_defective_cases_are_proved(d, n, r):
    """rk dτ < min(rn, N): a positive-dimensional fiber beyond rescaling, where Prop. 4 promises none."""
    rank = generic_rank(d, n, r)
    assert rank.proved and rank.lower < n * r
    assert r < thick_width(d, n)
    assert "defective" in identifiability(d, n, r).reason


@pytest.mark.parametrize(("d", "n"), [(3, 3), (3, 4), (4, 3), (5, 2), (3, 6), (6, 3)])
def test_identifiable_needs_full_rank_of_the_parameterization(d, n):
    for r in range(1, thick_width(d, n) + 2):
        if is_identifiable(d, n, r):
            assert generic_rank(d, n, r).lower == n * r


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ((2, 3, 1), True),
        ((2, 3, 2), False),
        ((1, 3, 1), True),
        ((1, 3, 2), False),
        ((4, 1, 2), False),
        ((5, 2, 3), True),
        ((3, 2, 2), True),
        ((4, 2, 3), False),
        ((3, 4, 5), True),
        ((5, 3, 7), True),
        ((4, 6, 21), False),
        ((3, 3, 4), False),
        ((6, 3, 9), False),
        ((6, 3, 8), True),
        ((4, 4, 8), False),
        ((4, 4, 7), True),
        ((3, 6, 9), False),
        ((3, 6, 8), True),
    ],
)
def test_special_cases(arguments, answer):
    assert is_identifiable(*arguments) is answer
    assert bool(identifiability(*arguments)) is answer
    assert identifiability(*arguments).reason in repr(identifiability(*arguments))


def test_perfect_cases_are_perfect():
    for d, n, r in PERFECT:
        assert generic_rank(d, n, r).lower == n * r


def test_two_networks_with_one_function_at_a_defective_triple():
    """A curve of networks in one fiber: null directions of dτ beyond rescaling integrate (quartics, five neurons)."""
    rng = np.random.default_rng(3)
    W = rng.standard_normal((5, 3))
    target = SymmetricTensor.from_powers(W, np.ones(5), 4)
    moved = W.copy()
    for _ in range(20):
        J = differential_matrix(Network(moved, activation=Power(4)))[:, :15]
        null = np.linalg.svd(J)[2][-1].reshape(5, 3)
        moved = moved + 0.02 * null * np.sign(null[0, 0])
        for _ in range(4):  # Newton back to the fiber
            J = differential_matrix(Network(moved, activation=Power(4)))[:, :15]
            rest = (SymmetricTensor.from_powers(moved, np.ones(5), 4) - target).entries
            moved = moved - (np.linalg.pinv(J, rcond=1e-8) @ rest).reshape(5, 3)
    again = SymmetricTensor.from_powers(moved, np.ones(5), 4)
    assert np.allclose(again.entries, target.entries, atol=1e-10)
    nets = [Network(V, activation=Power(4)) for V in (W, moved)]
    assert trivial_symmetry(*nets, tolerance=1e-3) is None
