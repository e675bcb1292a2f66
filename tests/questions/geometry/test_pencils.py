"""Two symmetric matrices as sums over the same rank-one terms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows.questions.geometry.escape.pencils import eigenpairs


def sums(pairs):
    """B and Δ, term by term, both members of each complex pair written out."""
    n = pairs.x_real.shape[1]
    B, Delta = np.zeros((n, n), dtype=complex), np.zeros((n, n), dtype=complex)
    for mu, epsilon, x in zip(pairs.mu_real, pairs.epsilon, pairs.x_real, strict=True):
        B += epsilon * np.outer(x, x)
        Delta += epsilon * mu * np.outer(x, x)
    for mu, x in zip(pairs.mu_pair, pairs.x_pair, strict=True):
        B += np.outer(x, x) + np.outer(x.conj(), x.conj())
        Delta += mu * np.outer(x, x) + mu.conj() * np.outer(x.conj(), x.conj())
    return B, Delta


def check(B, Delta, tolerance=1e-13):
    largest, pairs = eigenpairs(*np.linalg.eigh(B), Delta)
    assert pairs is not None and pairs.size == len(B)
    assert np.all(np.abs(pairs.epsilon) == 1.0) and np.all(pairs.mu_pair.imag > 0.0)
    terms = sum(np.abs(x) ** 2 for x in (*pairs.x_real, *pairs.x_pair, *pairs.x_pair)).sum()
    for built, given_one in zip(sums(pairs), (B, Delta), strict=True):
        assert np.max(np.abs(built - given_one)) <= tolerance * terms * max(1.0, largest)
    return largest, pairs


@given(st.integers(1, 12), st.integers(0, 10**6))
def test_both_matrices_are_sums_over_the_eigenpairs(n, seed):
    rng = np.random.default_rng(seed)
    A, D = rng.normal(size=(2, n, n))
    largest, pairs = check(A + A.T, D + D.T)
    mu = np.concatenate([pairs.mu_real, pairs.mu_pair, pairs.mu_pair.conj()])
    plain = np.linalg.eigvals(np.linalg.solve(A + A.T, D + D.T))
    assert np.allclose(np.sort_complex(mu), np.sort_complex(plain), rtol=1e-6, atol=1e-6 * largest)
    assert np.max(np.abs(mu)) == pytest.approx(largest, rel=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_definite_matrix_makes_all_eigenvalues_real(sign, rng):
    A, D = rng.normal(size=(2, 6, 6))
    _, pairs = check(sign * (A @ A.T + np.eye(6)), D + D.T)
    assert not len(pairs.mu_pair) and np.all(pairs.epsilon == sign)


def test_repeated_eigenvalues_of_both_signs(rng):
    """ε and μ are those of the diagonal matrices that were hidden by a congruence."""
    M = rng.normal(size=(5, 5))
    signs, mu = np.array([1.0, 1.0, -1.0, -1.0, 1.0]), np.array([2.0, 2.0, 2.0, -1.0, -1.0])
    _, pairs = check(M.T @ np.diag(signs) @ M, M.T @ np.diag(signs * mu) @ M)
    found = sorted(zip(pairs.mu_real.round(8).tolist(), pairs.epsilon.tolist(), strict=True))
    assert found == sorted(zip(mu.tolist(), signs.tolist(), strict=True))


def test_one_complex_pair():
    """B = diag(1, −1), Δ = [[0, 1], [1, 0]]: JΔ is a quarter turn, μ = ±i."""
    _, pairs = check(np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert not len(pairs.mu_real)
    assert pairs.mu_pair == pytest.approx([1j])


def test_a_jordan_block_has_no_such_basis():
    B, Delta = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    assert eigenpairs(*np.linalg.eigh(B), Delta)[1] is None


def test_the_frame_of_a_subspace(rng):
    frame = np.linalg.qr(rng.normal(size=(5, 3)))[0]
    A, D = rng.normal(size=(2, 3, 3))
    _, pairs = eigenpairs(*np.linalg.eigh(A + A.T), D + D.T)
    B, Delta = sums(pairs.embedded(frame))
    assert np.allclose(B, frame @ (A + A.T) @ frame.T) and np.allclose(Delta, frame @ (D + D.T) @ frame.T)
