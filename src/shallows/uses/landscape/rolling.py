"""A few training runs as they roll over the landscape: the neuron, step by step."""

from __future__ import annotations

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.descent.methods.stable_step import stable_step
from shallows.questions.descent.starts import starts
from shallows.support.checks import Array
from shallows.support.tolerances import TINY
from shallows.uses.landscape.direction_loss import DirectionLoss

#: Steps of gradient descent, and how many of them are shown: more at the beginning, where a run moves.
STEPS, SHOWN = 240, 40


class Neuron:
    """Between a problem's parameters θ and its one neuron: w, with the constant first where there is one, and a."""

    def __init__(self, problem: Problem, loss: DirectionLoss) -> None:
        self.problem, self.loss = problem, loss
        self.trained = problem.homogeneous() if problem.bias else problem
        self.held = loss.lifted and not problem.bias  # a polynomial activation: the constant is no parameter

    def parts(self, thetas: Array) -> tuple[Array, Array]:
        """w (m, n) and a (m,) of parameters on (1, x), (m, parameters)."""
        W, A, _ = self.trained.layout.split(thetas)
        w = W[:, 0]
        if A is None:
            assert self.trained.outer is not None
            a = np.full(len(w), self.trained.outer[0, 0])
        else:
            a = A[:, 0, 0]
        return np.concatenate([np.ones((len(w), 1)), w], axis=-1) if self.held else w, a

    def evaluate(self, thetas: Array) -> tuple[Array, Array]:
        """Losses and gradients of parameters on (1, x)."""
        losses, by_w, by_a = self.loss.descent(*self.parts(thetas))
        outer = by_a[:, None, None] if self.trained.outer is None else None
        return losses, self.trained.layout.join(by_w[:, None, self.held :], outer, None)

    def direction(self, thetas: Array) -> Array:
        """Unit vectors of parameters on (1, x)."""
        w, _ = self.parts(thetas)
        return np.asarray(w / np.maximum(np.linalg.norm(w, axis=-1, keepdims=True), TINY))

    def length(self, thetas: Array) -> Array:
        """|a|^(1/d) ‖w‖."""
        w, a = self.parts(thetas)
        return np.asarray(np.abs(a) ** (1 / self.loss.degree) * np.linalg.norm(w, axis=-1))

    def rolled(self, count: int, seed: int) -> Array:
        """θ at some steps of `count` runs of gradient descent, (steps, count, parameters).

        All from Glorot starts, with the longest step that is stable from there.
        """
        if not count:
            return np.zeros((1, 0, self.trained.size))
        thetas = self.problem.lift(starts(self.problem, count, "xavier", seed))
        step = stable_step(self.evaluate, thetas, STEPS)
        shown = set(np.geomspace(1, STEPS, SHOWN).astype(int).tolist())
        kept = [thetas]
        for i in range(1, STEPS + 1):
            thetas = thetas - step * self.evaluate(thetas)[1]
            if i in shown:
                kept.append(thetas)
        return np.array(kept)
