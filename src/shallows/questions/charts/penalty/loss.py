"""The exact loss of a quadratic problem with an orthogonality penalty, as a function of the pair (s, P)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from shallows.mathematics.exact.rational_arrays import block_diagonal, fractions
from shallows.mathematics.tensors import coordinates
from shallows.model.data.metric import Frobenius
from shallows.model.exact_loss import ExactLoss, InDoubles
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedProblem, identity, reduced
from shallows.questions.charts.penalty.metrics import PenalisedMetrics
from shallows.support.checks import Array

#: Entries of a metric that rotations leave alone agree to rounding.
SAME = 1e-14


@dataclass(frozen=True, eq=False)
class PairLoss(InDoubles):
    """A quadratic function of pairs (s, P) in n inputs: (s − t)ᵀG(s − t) + γ‖P − I‖², exact and in doubles.

    `isotropic`: G is u₁‖S‖² + u₂(tr S)². `fixed`: outer weights are not trained.
    """

    n: int
    penalty: float
    isotropic: bool
    fixed: bool
    exact: ExactLoss
    target: Array

    @property
    def size(self) -> int:
        """The entries of s."""
        return coordinates.dimension(self.n, 2)

    @property
    def energy(self) -> float:
        """The loss of the zero network above the floor."""
        return float(self.target @ self.gram @ self.target)

    def slope(self, pair: Array) -> Array:
        """Half the slope in s, as a symmetric matrix."""
        e = (self.gram @ (pair - self.target))[: self.size]
        return coordinates.slope_matrices(e, self.n)


@dataclass(frozen=True, eq=False)
class PenalisedLoss(PairLoss):
    """That of a problem, a norm neuron's weight already eliminated."""

    problem: Problem
    plain: Problem

    @classmethod
    def of(cls, problem: Problem) -> PenalisedLoss:
        """That of a problem with a penalty."""
        plain = _plain(problem)
        own = ExactLoss.of(plain)
        seen = coordinates.dimension(problem.n, 2)
        target = np.concatenate([plain.target_tensor().entries, identity(seen)])
        gamma, gram = float(problem.orthogonality), own.gram.astype(np.float64)
        return cls(
            plain.n,
            gamma,
            not problem.bias and is_isotropic(problem, gram),
            problem.outer is not None,
            with_penalty(own, problem.n, gamma),
            target,
            problem,
            plain,
        )

    def norm(self, pair: Array) -> float:
        """The best weight of the norm neuron beside s."""
        if not isinstance(self.plain, ReducedProblem):
            return 0.0
        h, best = self.plain.optimal_norm
        return best - float(h @ pair[: len(h)])


def with_penalty(own: ExactLoss, n: int, gamma: float) -> ExactLoss:
    """The blocks (G, γF) and (b, γI), P of n inputs."""
    q, F = fractions(identity(coordinates.dimension(n, 2))), fractions(Frobenius(n).gram(2))
    right = np.concatenate([own.right, q * Fraction(gamma)])
    return ExactLoss(block_diagonal(own.gram, F * Fraction(gamma)), right)


def is_isotropic(problem: Problem, gram: Array) -> bool:
    """Whether G is u₁‖S‖² + u₂(tr S)², to rounding, by the kind of law."""
    if problem.data.rotation_invariance(2) is None or problem.n == 1:
        return False
    kind = PenalisedMetrics(problem.n, "isotropic")
    near = kind.at(kind.of(gram, 1.0).astype(np.complex128)).high[: len(gram), : len(gram)].real
    return bool(np.abs(near - gram).max() <= SAME * np.abs(gram).max())


def _plain(problem: Problem) -> Problem:
    """Without penalty, on (1, x) where there is a bias, a norm neuron's weight eliminated."""
    bare = without_penalty(problem)
    if not problem.bias:
        return reduced(bare)
    twin = bare.homogeneous()
    return ReducedProblem(twin) if problem.norm_neuron else twin


def without_penalty(problem: Problem) -> Problem:
    """The same problem with γ = 0."""
    outer: Any = "free" if problem.outer is None else problem.outer
    return Problem(
        problem.target,
        problem.data,
        problem.width,
        problem.activation,
        outer,
        norm_neuron=problem.norm_neuron,
        bias=problem.bias,
    )
