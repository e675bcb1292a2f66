"""Levenberg and Marquardt's steps for many runs at once: what limits are held against; it knows no strata."""

import numpy as np


def descended(residuals, theta, steps, damping):
    """Losses and parameters after so many steps; `residuals(theta)` gives r (runs, m) and J (runs, parameters, m)."""
    damping = np.full(len(theta), damping)
    r, J = residuals(theta)
    loss = (r**2).sum(axis=1)
    for _ in range(steps):
        size = np.linalg.norm(J, axis=2) + 1e-300
        scaled = J / size[:, :, None]
        A = scaled @ scaled.transpose(0, 2, 1) + damping[:, None, None] * np.eye(J.shape[1])
        g = np.einsum("spk,sk->sp", scaled, r)
        tried = theta - np.linalg.solve(A, g[..., None])[..., 0] / size
        with np.errstate(over="ignore", invalid="ignore"):
            new_r, new_J = residuals(tried)
            lower = (new_r**2).sum(axis=1) < loss
        theta = np.where(lower[:, None], tried, theta)
        r, J = np.where(lower[:, None], new_r, r), np.where(lower[:, None, None], new_J, J)
        loss = (r**2).sum(axis=1)
        damping = np.clip(np.where(lower, damping / 3, damping * 2), 1e-14, 1e10)
    return loss, theta
