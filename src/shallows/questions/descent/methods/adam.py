"""Adam (Kingma and Ba 2015) on the exact gradient."""

from __future__ import annotations

import numpy as np

from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.methods.running import Running, iterate
from shallows.questions.descent.results.run import Batch, Recorder
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array

#: β₁, β₂ and ε of Kingma and Ba (2015), their defaults.
FIRST, SECOND, EPSILON = 0.9, 0.999, 1e-8


class Moments:
    """m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², and the step m̂ / (√v̂ + ε) with m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.m, self.v = np.zeros(shape), np.zeros(shape)

    def direction(self, rows: np.ndarray, gradient: Array, iteration: int) -> Array:
        """The direction of these runs at this iteration (counted from zero)."""
        t = iteration + 1
        m = FIRST * self.m[rows] + (1 - FIRST) * gradient
        v = SECOND * self.v[rows] + (1 - SECOND) * gradient**2
        self.m[rows], self.v[rows] = m, v
        return np.asarray((m / (1 - FIRST**t)) / (np.sqrt(v / (1 - SECOND**t)) + EPSILON))


def adam(
    evaluate: Evaluate, batch: Batch, step: float, stopping: Stopping, recorder: Recorder | None = None
) -> None:
    """θ ← θ − s m̂ / (√v̂ + ε), the step s falling to zero as a half cosine over `stopping.iterations`."""
    moments = Moments(batch.thetas.shape)
    total = stopping.iterations

    def propose(running: Running) -> Array:
        size = step * 0.5 * (1 + np.cos(np.pi * running.iteration / total))
        return np.asarray(
            running.theta - size * moments.direction(running.rows, running.gradient, running.iteration)
        )

    iterate(evaluate, batch, propose, stopping, recorder)
