"""Prop. 39: the nullity of dρ_r, by singular values, by differences, and where the printed count fails."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.stats import ortho_group

from shallows import InvalidProblem, SymmetricTensor
from shallows.questions.geometry.manifolds.spectral_map import spectral_differential, spectral_nullity


def nullity(matrix):
    values = np.linalg.svd(matrix, compute_uv=False)
    return matrix.shape[1] - int(np.sum(values > 1e-9 * values[0]))


def frame(n, r, seed):
    return ortho_group.rvs(n, random_state=seed)[:r] if n > 1 else np.ones((1, 1))


@given(st.integers(1, 6), st.data(), st.integers(0, 2**31))
def test_nullity_is_the_number_of_equal_pairs_for_nonzero_eigenvalues(n, data, seed):
    r = data.draw(st.integers(1, n))
    alpha = data.draw(st.lists(st.sampled_from([1.0, -1.0, 2.0, 0.5]), min_size=r, max_size=r))
    m = sum(alpha[i] == alpha[j] for i in range(r) for j in range(i + 1, r))
    assert nullity(spectral_differential(alpha, frame(n, r, seed))) == m == spectral_nullity(alpha, n)


@pytest.mark.parametrize("alpha,n,m", [([1.0, 0.0], 4, 0), ([0.0, 0.0, 2.0], 5, 1), ([0.0], 3, 0)])
def test_zero_eigenvalues_add_what_the_paper_forgets(alpha, n, m):
    """The printed m = #{i<j : αᵢ=αⱼ} is too small by (n−r) for each zero eigenvalue."""
    true = nullity(spectral_differential(alpha, frame(n, len(alpha), 1)))
    assert true == spectral_nullity(alpha, n) == m + (n - len(alpha)) * alpha.count(0.0)
    assert true > m


def test_zero_eigenvalues_add_nothing_when_all_eigenvectors_are_there():
    assert (
        nullity(spectral_differential([1.0, 0.0, 3.0], frame(3, 3, 2))) == 0 == spectral_nullity([1, 0, 3], 3)
    )


def test_the_differential_is_the_derivative_of_rho(rng):
    """Every column against differences of Uᵀ diag(α) U along α, and along rotations exp(tΩ) of the whole frame."""
    n, r, h = 4, 2, 1e-5
    alpha, full = np.array([1.5, -0.5]), frame(n, n, 3)
    U = full[:r]
    scale = np.sqrt([1 if i == j else 2 for i in range(n) for j in range(i, n)])

    def rho(a, rows):
        return scale * SymmetricTensor.from_matrix(rows.T @ np.diag(a) @ rows).entries

    directions = [(np.eye(r)[i], np.zeros((n, n))) for i in range(r)]
    for i in range(r):
        for j in range(i + 1, n):
            omega = np.outer(full[j], full[i]) - np.outer(full[i], full[j])
            directions.append((np.zeros(r), omega / (np.sqrt(2) if j < r else 1)))
    slow = np.array(
        [
            (rho(alpha + h * a, U @ expm(h * o).T) - rho(alpha - h * a, U @ expm(-h * o).T)) / (2 * h)
            for a, o in directions
        ]
    ).T
    exact = spectral_differential(alpha, U)
    assert slow.shape == exact.shape == (10, r + r * n - r * (r + 1) // 2)
    assert np.allclose(
        slow @ slow.T, exact @ exact.T, atol=1e-8
    )  # the same up to an orthogonal change of basis


def test_bad_input_is_refused():
    with pytest.raises(InvalidProblem, match="not orthonormal"):
        spectral_differential([1.0], [[1.0, 1.0]])
    with pytest.raises(InvalidProblem, match="expected r entries"):
        spectral_differential([1.0, 2.0], [[1.0, 0.0]])
    with pytest.raises(InvalidProblem, match="at most n = 2"):
        spectral_nullity([1.0, 2.0, 3.0], 2)
