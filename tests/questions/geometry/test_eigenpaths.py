"""Lifting a segment of symmetric matrices: τ runs along it exactly, smoothly through crossings and zeros."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows.questions.geometry.escape.eigenpaths import eigen_path


def symmetric(rng, n):
    A = rng.normal(size=(n, n))
    return A + A.T


def check(S0, S1, width=None, points=21):
    lift = eigen_path(S0, S1, width or len(S0))
    assert lift is not None
    for t in np.linspace(0, 1, points):
        a, W = lift.at(t)
        built = sum(ai * np.outer(w, w) for ai, w in zip(a, W, strict=True))
        size = sum(abs(ai) * (w @ w) for ai, w in zip(a, W, strict=True))
        assert np.max(np.abs(built - ((1 - t) * S0 + t * S1))) <= 1e-12 * max(
            size, np.linalg.norm(S0) + np.linalg.norm(S1)
        )
    return lift


def steepness(lift, points=2000):
    states = [np.r_[a, W.ravel()] for a, W in (lift.at(t) for t in np.linspace(0, 1, points))]
    return max(np.linalg.norm(q - p) for p, q in pairwise(states)) * points


@given(st.integers(1, 8), st.integers(0, 10**6))
def test_generic_segments(n, seed):
    rng = np.random.default_rng(seed)
    check(symmetric(rng, n), symmetric(rng, n))


@pytest.mark.parametrize("n", [2, 5])
def test_definite_ends_need_no_turning(n, rng):
    """A definite pencil is diagonalised by one congruence: W is fixed, a is linear."""
    A = rng.normal(size=(n, n))
    lift = check(A @ A.T + np.eye(n), symmetric(rng, n))
    (a0, W0), (a1, W1), (am, Wm) = lift.at(0.0), lift.at(1.0), lift.at(0.5)
    assert np.array_equal(W0, W1) and np.array_equal(W0, Wm)
    assert np.allclose(am, (a0 + a1) / 2)


def test_an_exact_crossing():
    lift = check(np.diag([1.0, 2.0]), np.diag([2.0, 1.0]))
    assert steepness(lift) < 3.0


def test_nearly_crossing_eigenvalues_do_not_make_it_steep():
    """The eigenvectors of S(t) turn by 90° within 1e-7 of t = ½; the lift does not notice."""
    S0, S1 = np.array([[1.0, 1e-7], [1e-7, 2.0]]), np.array([[2.0, 1e-7], [1e-7, 1.0]])
    before = np.linalg.eigh(0.5001 * S0 + 0.4999 * S1)[1]
    after = np.linalg.eigh(0.4999 * S0 + 0.5001 * S1)[1]
    assert abs(before[:, 0] @ after[:, 0]) < 0.01
    assert steepness(check(S0, S1)) < 3.0


def test_eigenvalues_through_zero():
    lift = check(np.diag([1.0, -1.0, 2.0]), np.diag([-1.0, 1.0, -2.0]))
    assert steepness(lift) < 10.0
    assert np.allclose(lift.at(0.5)[0], 0.0)


@pytest.mark.parametrize(("r0", "r1"), [(0, 3), (1, 1), (2, 2), (3, 0), (1, 3)])
def test_rank_deficient_ends(r0, r1, rng):
    X, Y = rng.normal(size=(4, r0)), rng.normal(size=(4, r1))
    check((X * rng.normal(size=r0)) @ X.T, (Y * rng.normal(size=r1)) @ Y.T)


def test_a_shared_null_space_costs_no_neuron(rng):
    Q = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    lift = check(Q @ symmetric(rng, 2) @ Q.T, Q @ symmetric(rng, 2) @ Q.T, width=2)
    assert lift.size == 2


@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_any_scale(factor, rng):
    check(factor * symmetric(rng, 3), factor * symmetric(rng, 3))


def test_repeated_generalised_eigenvalues(rng):
    M = rng.normal(size=(4, 4))
    check(M.T @ np.diag([1.0, 1.0, -1.0, -1.0]) @ M, M.T @ np.diag([2.0, 2.0, -2.0, 3.0]) @ M)


@pytest.mark.parametrize(
    ("S0", "S1"),
    [
        ([[0, 1], [1, 0]], [[1, 1], [1, 0]]),  # a Jordan block: det S(t) = −1 for all t
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0], [1, 0, 0]]),  # det S(t) = 0 for all t
    ],
)
def test_defective_and_singular_pencils_are_refused(S0, S1):
    assert eigen_path(np.array(S0, dtype=float), np.array(S1, dtype=float), 3) is None


def test_thirty_by_thirty(rng):
    for _ in range(5):
        check(symmetric(rng, 30), symmetric(rng, 30), points=5)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(200))
def test_many_segments(seed):
    rng = np.random.default_rng([seed, 3])
    n = int(rng.integers(1, 25))
    check(symmetric(rng, n), symmetric(rng, n))
