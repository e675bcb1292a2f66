"""Perturbed gradient descent: Algorithm 1 of paper 003, and its per-neuron variant.

    W ← W − s∇L(W) + α Ξ,   every row of Ξ the same ξ (Algorithm 1), or one ξᵢ a neuron,

ξ ~ N(0, I/n), so that a perturbation has length α on average. One direction for all neurons is what Theorem 7 of the
paper analyses; section D.2 suggests one a neuron. Outer weights are not perturbed.
"""

from __future__ import annotations

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.methods.running import Running, iterate
from shallows.questions.descent.results.run import Batch, Recorder
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array

BLOCK = 64


class Noise:
    """Perturbations of θ: each run draws from its own generator, in blocks, so that no run sees another's draws."""

    def __init__(
        self, problem: Problem, sources: list[np.random.Generator], size: float, per_neuron: bool
    ) -> None:
        self.sources, self.size = sources, size
        self.width, self.n, self.p = problem.width, problem.n, problem.size
        self.rows = problem.width if per_neuron else 1
        self.block = np.empty((len(sources), BLOCK, self.rows, self.n))

    def draw(self, rows: np.ndarray, iteration: int) -> Array:
        """α Ξ for these runs, shape (len(rows), p)."""
        place = iteration % BLOCK
        if place == 0:
            for row in rows:
                self.block[row] = self.sources[row].standard_normal(self.block.shape[1:]) / np.sqrt(self.n)
        xi = np.broadcast_to(self.block[rows, place], (len(rows), self.width, self.n))
        result = np.zeros((len(rows), self.p))
        result[:, : self.width * self.n] = self.size * xi.reshape(len(rows), -1)
        return result


def perturbed(
    evaluate: Evaluate,
    batch: Batch,
    problem: Problem,
    step: float,
    noise: float,
    sources: list[np.random.Generator],
    stopping: Stopping,
    per_neuron: bool = False,
    recorder: Recorder | None = None,
) -> None:
    """Run Algorithm 1 for `stopping.iterations` iterations; `noise` is α."""
    perturbation = Noise(problem, sources, noise, per_neuron)

    def propose(running: Running) -> Array:
        moved = running.theta - step * running.gradient
        return np.asarray(moved + perturbation.draw(running.rows, running.iteration))

    iterate(evaluate, batch, propose, stopping, recorder)
