"""Stochastic gradient descent: minibatches of given samples, or fresh data from a distribution.

Each run draws its own minibatch; the gradient is that of the mean of ‖f(x) − y‖² over it. Labels come from the samples
or from the target. The step falls as s / (1 + t/T)^decay with T a tenth of the iterations.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.solvers.rows import row_norms
from shallows.model.data.base import Distribution
from shallows.model.objective.build import labels_of
from shallows.model.problem import Problem
from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.results.run import Batch, Recorder, Status
from shallows.questions.descent.stopping import Stopping
from shallows.questions.descent.thresholds import BLOW_UP
from shallows.support.checks import Array, positive_integer

DRAWS = 4096


class Minibatches:
    """Inputs (runs, size, n) and labels (runs, size, M) of the next step, drawn run by run in blocks of steps."""

    def __init__(self, problem: Problem, sources: list[np.random.Generator], size: int) -> None:
        assert isinstance(problem.data, Distribution)  # `plan` has asked
        self.problem, self.data, self.sources = problem, problem.data, sources
        self.samples = problem.data.as_samples()
        self.size = positive_integer("batch_size", size)
        if self.samples is not None:
            self.size = min(self.size, self.samples.count)
            self.labels = labels_of(problem.target, self.samples)
        self.steps = max(1, DRAWS // self.size)
        self.X = np.empty((len(sources), self.steps, self.size, problem.n))
        self.Y = np.empty((len(sources), self.steps, self.size, problem.outputs))

    def next(self, rows: np.ndarray, iteration: int) -> tuple[Array, Array]:
        """The minibatches of these runs at this iteration."""
        place = iteration % self.steps
        if place == 0:
            for row in rows:
                self._refill(row)
        return self.X[rows, place], self.Y[rows, place]

    def _refill(self, row: int) -> None:
        count = self.steps * self.size
        if self.samples is not None:
            chosen = self.samples.drawn(count, self.sources[row])
            X, Y = self.samples.X[chosen], self.labels[chosen]
        else:
            assert self.problem.target is not None
            X = self.data.sample(count, self.sources[row])
            Y = np.asarray(self.problem.target(X)).reshape(count, -1)
        self.X[row] = X.reshape(self.X.shape[1:])
        self.Y[row] = Y.reshape(self.Y.shape[1:])


def minibatch_gradient(problem: Problem, thetas: Array, X: Array, Y: Array) -> tuple[Array, Array]:
    """The mean of ‖f(x) − y‖² over each run's own minibatch, plus any penalty, and its gradient.

    ∂/∂A = 2 mean r σᵀ, ∂/∂W = 2 mean (Aᵀr ∘ σ′) xᵀ, ∂/∂norm = 2 mean r‖x‖².
    """
    W, A, norm = problem._students(thetas)
    z = X @ W.swapaxes(-1, -2)
    hidden, slope = problem.activation(z), problem.activation.derivative(z, 1)
    residual = hidden @ A.swapaxes(-1, -2) - Y
    squares = np.sum(X[..., problem.constants :] ** 2, axis=-1, keepdims=True)
    if norm is not None:
        residual = residual + squares * norm[:, None, :]
    scale = 2 / X.shape[-2]
    back = (residual @ A) * slope
    inner = scale * (back.swapaxes(-1, -2) @ X)
    outer = scale * (residual.swapaxes(-1, -2) @ hidden)
    value = np.sum(residual**2, axis=(-1, -2)) / X.shape[-2]
    if problem.orthogonality:
        penalty, change = problem._penalty(W)
        value, inner = value + penalty, inner + change
    slope_norm = None if norm is None else scale * np.sum(residual * squares, axis=-2)
    return value, problem.layout.join(inner, outer, slope_norm)


def sgd(
    evaluate: Evaluate,
    batch: Batch,
    problem: Problem,
    step: float,
    sources: list[np.random.Generator],
    stopping: Stopping,
    batch_size: int = 32,
    decay: float = 0.5,
    recorder: Recorder | None = None,
) -> None:
    """Run SGD for `stopping.iterations` steps; afterwards `losses` and `norms` are those of the exact loss."""
    recorder = recorder or Recorder(None)
    minibatches = Minibatches(problem, sources, batch_size)
    horizon = max(1.0, stopping.iterations / 10)
    rows = batch.running()
    theta, steps, cap = batch.thetas[rows], 0, np.full(len(rows), np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        for steps in range(stopping.iterations):
            if stopping.interrupted.is_set() or not len(rows):
                break
            value, gradient = minibatch_gradient(problem, theta, *minibatches.next(rows, steps))
            cap = np.minimum(cap, BLOW_UP * (1 + value)) if steps == 0 else cap
            sound = (value <= cap) & np.isfinite(row_norms(gradient))
            if not sound.all():
                batch.status[rows[~sound]] = Status.DIVERGED
                batch.iterations[rows[~sound]] += steps
                rows, theta, value = rows[sound], theta[sound], value[sound]
                gradient, cap = gradient[sound], cap[sound]
            if len(rows) and rows[0] == 0:
                recorder.note(steps, theta[0], value[0])
            batch.thetas[rows] = theta
            theta = theta - step / (1 + steps / horizon) ** decay * gradient
        else:
            steps = stopping.iterations
    _finish(evaluate, batch, rows, theta, steps, stopping)
    recorder.note(steps, batch.thetas[0], batch.losses[0], always=True)


def _finish(
    evaluate: Evaluate, batch: Batch, rows: np.ndarray, theta: Array, steps: int, stopping: Stopping
) -> None:
    """Exact losses and gradient norms of the last points, and a status for the runs that are left."""
    last = np.all(np.isfinite(theta), axis=1)
    batch.thetas[rows[last]] = theta[last]
    batch.status[rows[~last]] = Status.DIVERGED
    batch.iterations[rows] += steps
    batch.losses[:], gradient = evaluate(batch.thetas)
    batch.norms[:] = row_norms(gradient)
    left = batch.running()
    batch.status[left] = Status.INTERRUPTED if stopping.interrupted.is_set() else Status.LIMIT
    batch.status[left[batch.norms[left] <= stopping.tolerance_of(left)]] = Status.CONVERGED
