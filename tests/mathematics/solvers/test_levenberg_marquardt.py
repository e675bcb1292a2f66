"""Levenberg-Marquardt: steps against dense algebra, damping that keeps them sound, runs that do not see each other."""

import numpy as np

from shallows.mathematics.solvers.levenberg_marquardt import (
    LevenbergMarquardt,
    gram_root,
    smallest_damping,
    solve_damped,
)


def test_the_damped_step_is_the_same_on_either_side():
    rng = np.random.default_rng(0)
    for rows, columns in ((7, 4), (4, 7)):
        J, r, damping = (
            rng.standard_normal((2, rows, columns)),
            rng.standard_normal((2, rows)),
            np.array([0.1, 2.0]),
        )
        step = solve_damped(J, r, damping)
        for b in range(2):
            expected = -np.linalg.solve(J[b].T @ J[b] + damping[b] * np.eye(columns), J[b].T @ r[b])
            assert np.allclose(step[b], expected)


def test_damping_keeps_normal_equations_regular():
    """At the smallest damping JJᵀ + λI is regular for J of rank one, whatever its size; at a thousandth not."""
    rng = np.random.default_rng(0)
    lost = 0
    for rows, columns in ((3, 3), (10, 10), (4, 30), (30, 4)):
        for size in (1e-100, 1e-3, 1.0, 1e3, 1e100):
            shape = (40, rows, columns)
            J = size * np.einsum(
                "bi,bj->bij", rng.standard_normal(shape[:2]), rng.standard_normal(shape[::2])
            )
            smallest, r = smallest_damping(J), rng.standard_normal(shape[:2])
            assert np.all(np.isfinite(solve_damped(J, r, smallest)))
            matrix = J @ J.swapaxes(1, 2) if rows < columns else J.swapaxes(1, 2) @ J
            lost += np.sum(
                np.linalg.eigvalsh(matrix + 1e-3 * smallest[:, None, None] * np.eye(min(rows, columns))) <= 0
            )
    assert lost


def circle_and_line(theta):
    """r = (x² + y² − 2, x − y): roots ±(1, 1)."""
    x, y = theta.T
    J = np.stack(
        [np.stack([2 * x, 2 * y], axis=1), np.stack([np.ones_like(x), -np.ones_like(x)], axis=1)], axis=1
    )
    return np.stack([x**2 + y**2 - 2, x - y], axis=1), J


def test_runs_converge_and_do_not_see_each_other(rng):
    starts = np.concatenate([rng.standard_normal((20, 2)), 1e3 * rng.standard_normal((5, 2))])
    together = LevenbergMarquardt(circle_and_line, starts)
    for _ in range(60):
        together.step(2.0)
    assert np.allclose(np.abs(together.theta), 1.0, atol=1e-10)
    for i in range(len(starts)):
        alone = LevenbergMarquardt(circle_and_line, starts[i : i + 1])
        for _ in range(60):
            alone.step(2.0)
        assert np.array_equal(alone.theta[0], together.theta[i])


def test_a_run_that_cannot_move_is_stuck_and_can_be_dropped():
    runs = LevenbergMarquardt(circle_and_line, np.array([[0.0, 0.0], [2.0, 1.0]]))
    runs.step()
    assert runs.stuck.tolist() == [True, False]  # the origin is stationary: Jᵀr = 0
    runs.keep(~runs.stuck)
    assert len(runs) == 1 and runs.squares()[0] < 10


def test_the_root_of_a_gram_matrix_has_its_rank(rng):
    factor = rng.standard_normal((6, 3))
    gram = factor @ factor.T
    root = gram_root(gram)
    assert root.shape == (6, 3)
    np.testing.assert_allclose(root @ root.T, gram, atol=1e-13)


def test_exact_fits_of_badly_conditioned_squares_end_in_few_steps() -> None:
    """Six samples determine four quadratic neurons in three inputs, at a condition of 1e4: good steps raise the
    gradient long before rounding hides that ‖r‖² falls. (It took more than 100,000 steps.)"""
    W = np.array([[2.3, -1.1, 1.0], [-1.3, 0.8, 0.9], [0.0, 1.2, 3.5], [-0.5, -1.0, -1.2]])
    X = np.array(
        [[-96, -17, -102], [-170, -42, 103], [17, -83, -57], [51, 13, -27], [71, 19, -25], [-1, 20, 81]],
        float,
    )
    y = np.sum((X @ W.T) ** 2, axis=1)

    def misfit(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        neurons = theta.reshape(-1, 4, 3)
        values = np.einsum("bmi,ni->bnm", neurons, X)
        slopes = 2 * np.einsum("bnm,ni->bnmi", values, X)
        return np.sum(values**2, axis=2) - y, slopes.reshape(len(theta), 6, 12)

    runs = LevenbergMarquardt(misfit, np.random.default_rng(0).standard_normal((6, 12)))
    for _ in range(1500):
        runs.step(float(y @ y))
    assert np.all(runs.squares() < 1e-20 * (y @ y))
