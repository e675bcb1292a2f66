"""The exact loss of several outputs with an orthogonality penalty, as a function of (s₁, …, s_M, P)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from shallows.mathematics.exact.rational_arrays import block_diagonal, fractions
from shallows.mathematics.tensors.coordinates import slope_matrices
from shallows.model.data.metric import Frobenius
from shallows.model.exact_loss import ExactLoss, InDoubles
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.model.reduced_problem import identity
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.penalty.loss import is_isotropic
from shallows.questions.charts.penalty.one_more_output import entries_of
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class JoinedLoss(InDoubles):
    """Blocks G for every output, a norm neuron's weights eliminated, and γF, with targets t_m and I."""

    problem: Problem
    outputs: OutputsLoss

    @classmethod
    def of(cls, problem: Problem) -> JoinedLoss:
        """That of a problem."""
        return cls(problem, OutputsLoss.of(problem))

    @property
    def block(self) -> int:
        """The entries N of one output."""
        return len(self.outputs.gram)

    @property
    def size(self) -> int:
        """Those of all outputs, without P."""
        return self.problem.outputs * self.block

    @property
    def penalty(self) -> float:
        """γ."""
        return float(self.problem.orthogonality)

    @cached_property
    def exact(self) -> ExactLoss:
        """All blocks as fractions."""
        gamma, F = Fraction(self.penalty), fractions(Frobenius(self.problem.n).gram(2))
        right = np.concatenate([self.outputs.right.ravel(), fractions(identity(self.block)) * gamma])
        return ExactLoss(block_diagonal(*[self.outputs.gram] * self.problem.outputs, F * gamma), right)

    @cached_property
    def target(self) -> Array:
        """The best forms, and I."""
        best = np.asarray(self.problem._optimum[0], np.float64)
        return np.concatenate([best.ravel(), identity(self.block)])

    @property
    def energy(self) -> float:
        """The loss of the zero network above the floor."""
        return float(self.target @ self.gram @ self.target)

    @cached_property
    def isotropic(self) -> bool:
        """Whether G is u₁‖S‖² + u₂(tr S)²."""
        return is_isotropic(self.problem, self.outputs.gram.astype(np.float64))

    def slopes(self, entries: Array) -> Array:
        """Half the slope in every output, symmetric matrices (M, n, n)."""
        n, M = self.problem.n, self.problem.outputs
        return slope_matrices((self.gram @ (entries - self.target))[: self.size].reshape(M, -1), n)

    def network(self, A: Array, W: Array) -> Network:
        """These neurons, others zero, and the best norm neurons."""
        problem = self.problem
        weights, neurons = np.zeros((problem.outputs, problem.width)), np.zeros((problem.width, problem.n))
        weights[:, : len(W)], neurons[: len(W)] = A, W
        q = identity(self.block, problem.constants)
        image = problem.gram() @ q
        gaps = (entries_of(A, W) - self.target)[: self.size].reshape(problem.outputs, -1)
        norm = -gaps @ image / float(image @ q) if problem.norm_neuron else 0.0
        if problem.norm_neuron and problem.constants:  # ‖x‖² is no norm neuron on (1, x)
            return Network(neurons[:, 1:], weights, problem.activation, norm, neurons[:, 0])
        return Network(neurons, weights, problem.activation, norm)
