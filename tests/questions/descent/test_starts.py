"""Start points have the laws they are named after."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.descent.starts import barrier_weights, starts

FREE = sh.Problem(np.eye(4), sh.Gaussian(4), 6)


def split(problem, thetas):
    return problem.layout.split(thetas)


def test_xavier_and_normal_variances():
    for init, inner, outer in (("xavier", 2 / 10, 1 / 6), ("normal", 1.0, 1.0)):
        W, a, _ = split(FREE, starts(FREE, 2000, init))
        assert W.var() == pytest.approx(inner, rel=0.03) and a.var() == pytest.approx(outer, rel=0.05)
        assert abs(W.mean()) < 0.01


def test_large_starts_have_the_norm_sum_of_paper_003():
    W, _, _ = split(FREE, starts(FREE, 50, "large"))
    assert np.allclose(np.linalg.norm(W, axis=2).sum(axis=1), 2 * 6**2)


@pytest.mark.parametrize("width", [2, 4, 7])
def test_orthogonal_starts(width):
    problem = sh.Problem(np.eye(4), sh.Gaussian(4), width)
    W, a, _ = split(problem, starts(problem, 20, "orthogonal"))
    gram = W @ W.swapaxes(1, 2) if width <= 4 else W.swapaxes(1, 2) @ W
    assert np.allclose(gram, np.eye(min(width, 4)), atol=1e-12)
    assert set(np.unique(a)) == {-1.0, 1.0}


def test_barrier_starts_are_below_the_barrier_as_often_as_recomputed_numbers_say():
    """Theorem 2.5 of paper 001, d = 10, m = 3d²: below 2σ⁴ with probability .84 for γ = m, .004 for γ = m+4d."""
    d, m, trials = 10, 300, 60
    rng = np.random.default_rng(0)
    below = {m: 0, m + 4 * d: 0}
    for _ in range(trials):
        S = np.linalg.eigvalsh((lambda V: V.T @ V)(rng.standard_normal((m, d))))
        for gamma in below:
            difference = gamma - S
            below[gamma] += 2 * np.sum(difference**2) + np.sum(difference) ** 2 < 2 * S[0] ** 2
    assert below[m] / trials == pytest.approx(0.84, abs=0.2) and below[m + 4 * d] / trials < 0.1
    problem = sh.Problem(np.eye(4), sh.Gaussian(4), 6, outer="ones")
    W = starts(problem, 3, "barrier").reshape(3, 6, 4)
    assert np.allclose(W.swapaxes(1, 2) @ W, 6 * np.eye(4))
    W = barrier_weights(problem, 22.0, rng)
    assert np.allclose(W.T @ W, 22 * np.eye(4))


def test_callables_and_arrays():
    given = np.arange(60.0).reshape(2, 30)
    assert np.array_equal(starts(FREE, 2, given), given)
    drawn = starts(FREE, 3, lambda rng: rng.uniform(size=30), rng=5)
    assert drawn.shape == (3, 30) and not np.array_equal(drawn[0], drawn[1])
    assert starts(sh.Problem(np.eye(2), sh.Gaussian(2), 1, norm_neuron=True), 1)[0, -1] == 0.0
