"""Conjugate gradients against dense solves, in and out of a trust region, for matrices of every sign."""

import numpy as np
import pytest

from shallows.mathematics.solvers.conjugate_gradients import End, conjugate_gradients


def symmetric(rng, values):
    Q = np.linalg.qr(rng.standard_normal((len(values),) * 2))[0]
    return (Q * values) @ Q.T


def times(matrices):
    return lambda p, rows: np.einsum("bij,bj->bi", matrices[rows], p)


def test_a_batch_is_solved_as_each_system_alone(rng):
    matrices = np.array([symmetric(rng, np.linspace(1, top, 6)) for top in (1.0, 10.0, 1e4)])
    right = rng.standard_normal((3, 6)) * [[1e-100], [1.0], [1e100]]
    goal = 1e-12 * np.linalg.norm(right, axis=1)
    together = conjugate_gradients(times(matrices), right, goal, 60)
    assert np.all(together.end == End.REACHED) and together.steps[0] == 1 < together.steps[2]
    for i in range(3):
        alone = conjugate_gradients(times(matrices[i : i + 1]), right[i : i + 1], goal[i], 60)
        assert np.array_equal(alone.x[0], together.x[i]) and alone.steps[0] == together.steps[i]
        np.testing.assert_allclose(together.x[i], np.linalg.solve(matrices[i], right[i]), rtol=1e-7)
        np.testing.assert_allclose(
            together.residual[i], right[i] - matrices[i] @ together.x[i], atol=2 * goal[i]
        )


def test_the_inverse_as_preconditioner_takes_one_step(rng):
    A = symmetric(rng, np.geomspace(1, 1e6, 8))
    right = rng.standard_normal((2, 8))
    found = conjugate_gradients(
        lambda p, rows: p @ A, right, 1e-6, 60, precondition=lambda r: np.linalg.solve(A, r.T).T
    )
    assert found.steps.tolist() == [1, 1] and np.allclose(found.x @ A, right, atol=1e-6)


def test_the_limit_the_zero_system_and_watchers(rng):
    A, seen = symmetric(rng, np.geomspace(1, 1e3, 8)), []
    right = np.stack([rng.standard_normal(8), np.zeros(8)])
    found = conjugate_gradients(lambda p, rows: p @ A, right, 1e-12, 3, watch=seen.append)
    assert found.end.tolist() == [End.LIMIT, End.REACHED] and found.steps.tolist() == [3, 0]
    assert seen == [1, 2, 3] and not np.any(found.x[1])


def test_negative_and_flat_curvature_end_the_iteration(rng):
    for lowest, flat in ((-2.0, 0.0), (-1e-9, 1e-8), (1e-12, 1e-8), (0.0, 0.0)):
        A = symmetric(rng, np.array([lowest, 1.0, 1.0, 1.0]))
        x = rng.standard_normal((5, 4))
        right = x @ A + (np.linalg.eigh(A)[1][:, 0] if lowest == 0 else 0)
        found = conjugate_gradients(lambda p, rows, A=A: p @ A, right, 1e-15, 20, flat=max(flat, 1e-13))
        ended = found.end == End.FLAT
        assert np.all(ended | (found.end == End.REACHED)) and (lowest != -2.0 or ended.any())
        assert np.all(found.curvature[ended] <= max(flat, 1e-13))
        if lowest == -2.0:
            assert np.all(found.curvature[ended] < -1e-6)


@pytest.mark.parametrize("values", [[1.0, 2.0, 5.0], [-1.0, 2.0, 5.0]])
def test_a_trust_region_is_left_nowhere_and_never_worse_than_its_best_gradient_step(rng, values):
    """Steihaug's point lies in the region and lowers ½xᵀAx − b·x at least as far as the Cauchy point."""
    A = symmetric(rng, np.array(values))
    for radius in (1e-3, 0.3, 10.0):
        right = rng.standard_normal((20, 3))
        found = conjugate_gradients(lambda p, rows: p @ A, right, 1e-10, 20, radius=radius)
        size = np.linalg.norm(found.x, axis=1)
        assert np.all(size <= radius * (1 + 1e-12))
        np.testing.assert_allclose(size[found.end == End.EDGE], radius, rtol=1e-12)
        assert np.all((found.end == End.EDGE) | (found.end == End.REACHED))
        for b, x in zip(right, found.x, strict=True):
            t = np.linspace(0, radius / np.linalg.norm(b), 400)[:, None] * b
            cauchy = np.min(0.5 * np.einsum("ti,ij,tj->t", t, A, t) - t @ b)
            assert 0.5 * x @ A @ x - b @ x <= cauchy + 1e-9 * abs(cauchy)
    assert np.any(found.end == End.REACHED) == (values[0] > 0)
