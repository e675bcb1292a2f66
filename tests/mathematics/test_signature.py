"""Signs of eigenvalues: never one that an error within the bound could turn round (Weyl)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows.mathematics.signature import error_bound, signature


def symmetric(n, rng):
    A = rng.standard_normal((n, n))
    return A + A.T


@given(
    st.lists(st.sampled_from([-3.0, -1.0, -1e-6, -1e-9, 0.0, 1e-12, 1e-7, 0.5, 2.0]), min_size=1, max_size=6),
    st.sampled_from([0.0, 1e-10, 1e-8, 1e-3]),
    st.integers(0, 10**6),
)
def test_no_sign_is_claimed_that_the_error_could_turn(values, error, seed):
    """H with these eigenvalues, moved by ‖E‖ = error·‖H‖: what is counted is so for H, and zeros of H count as zero."""
    rng, n = np.random.default_rng(seed), len(values)
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    E = symmetric(n, rng)
    size = np.abs(values).max()
    seen = (Q * values) @ Q.T + E * (0.5 * error * size / np.linalg.norm(E, 2))
    positive, zero, negative = signature(np.linalg.eigvalsh((seen + seen.T) / 2), error)
    assert positive <= np.sum(np.array(values) > 0) and negative <= np.sum(np.array(values) < 0)
    assert zero >= np.sum(np.array(values) == 0) and positive + zero + negative == n
    clear = np.abs(values) > 3 * (error + 10 * n * np.finfo(float).eps) * size
    assert positive + negative >= np.sum(clear)


def test_the_bound_is_relative_to_the_largest_eigenvalue_or_to_the_scale():
    assert error_bound([1.0, -4.0], error=1e-3) == pytest.approx(4e-3)
    assert error_bound([1.0, -4.0], error=1e-3, scale=10.0) == pytest.approx(1e-2)
    assert signature([0.0, 0.0]) == (0, 2, 0)
    assert signature([]) == (0, 0, 0)


def test_rounding_alone_is_not_taken_for_curvature(rng):
    """W Wᵀ of rank 2 in 30 dimensions: 28 zeros, each off by rounding."""
    W = rng.standard_normal((30, 2))
    assert signature(np.linalg.eigvalsh(W @ W.T)) == (2, 28, 0)
