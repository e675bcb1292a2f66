"""A few training runs as they roll over the landscape: the neuron, step by step."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.descent.methods.gradient import line_search
from shallows.questions.descent.results.run import Batch
from shallows.questions.descent.starts import starts
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array
from shallows.support.tolerances import TINY
from shallows.uses.landscape.direction_loss import DirectionLoss

#: Steps of gradient descent, and how many of them are shown: more at the beginning, where a run moves.
STEPS, SHOWN = 150, 32
#: Runs end at this gradient norm: beyond it nothing is seen to move.
ENOUGH = 1e-6


#: A neuron whose function is smaller than this share of the teacher's at the end of a run is drawn as one that died.
DIED = 0.05


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

    def died(self, thetas: Array) -> Array:
        """Which of these neurons are nearly the zero network: ‖a w^⊗d‖ is a small part of the teacher's size."""
        w, a = self.parts(thetas)
        size = np.abs(a) * np.sqrt(self.loss.forms(w)[1])
        return np.asarray(size < DIED * np.sqrt(max(self.loss.zero, TINY)))

    def rolled(self, count: int, seed: int) -> Array:
        """θ at some steps of `count` runs of gradient descent, (steps, count, parameters).

        All from Glorot starts, with the line search that `ensemble` has too.
        """
        if not count:
            return np.zeros((1, 0, self.trained.size))
        thetas = self.problem.lift(starts(self.problem, count, "xavier", seed))
        kept = [thetas]
        for stage, following in pairwise([0, *np.unique(np.geomspace(1, STEPS, SHOWN).astype(int)).tolist()]):
            batch = Batch.start(kept[-1])
            line_search(self.evaluate, batch, Stopping(ENOUGH, following - stage))
            kept.append(batch.thetas)
        return np.array(kept)
