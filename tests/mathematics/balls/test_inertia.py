"""Certified inertia against constructed matrices, near-singular ones and wide balls."""

import numpy as np
import pytest
from flint import arb, arb_mat, fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

from shallows.certify import Inertia, inertia
from shallows.support.errors import InvalidProblem


@given(st.lists(st.integers(-3, 3).filter(bool), min_size=1, max_size=7), st.integers(0, 2**32 - 1))
def test_signs_of_a_congruent_diagonal(signs, seed):
    rng = np.random.default_rng(seed)
    n = len(signs)
    frame = np.eye(n) + np.tril(rng.integers(-3, 4, (n, n)), -1)  # unimodular: exactly invertible
    matrix = frame.T @ np.diag(signs) @ frame
    expected = Inertia(sum(s > 0 for s in signs), 0, sum(s < 0 for s in signs))
    assert inertia(matrix.tolist()) == expected


def test_a_singular_matrix_is_never_decided():
    matrix = [[1, 2, 3], [2, 4, 6], [3, 6, 10]]
    result = inertia(matrix)
    assert not result.certified and result.undecided == 1 and result.positive == 2
    assert inertia([[0, 0], [0, 0]]) == Inertia(0, 2, 0)
    assert inertia([[0]]) == Inertia(0, 1, 0)


def test_balls_that_contain_a_singular_matrix_are_not_decided():
    assert inertia([[arb(1, 0.1), arb(0, 0.1)], [arb(0, 0.1), arb(2, 0.1)]]) == Inertia(2, 0, 0)
    wide = inertia([[arb(1, 0.1), 0], [0, arb(0.001, 0.01)]])
    assert wide.positive == 1 and wide.undecided == 1
    assert inertia([[arb(0, 1)]]).undecided == 1


def test_a_tiny_eigenvalue_is_decided_exactly():
    # eigenvalues 2 and −10⁻¹⁵ (about): floating point cannot tell, exact data can
    entry = fmpq(1) + fmpq(1, 10**15)
    exact = arb_mat(fmpq_mat([[fmpq(1), entry], [entry, fmpq(1)]]))
    assert inertia(exact) == Inertia(1, 0, 1)


def test_bad_matrices():
    with pytest.raises(InvalidProblem, match="square"):
        inertia([[1, 2]])
    with pytest.raises(InvalidProblem, match="not symmetric"):
        inertia([[1, 2], [3, 4]])
