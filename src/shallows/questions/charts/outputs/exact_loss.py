"""The exact loss of several outputs: one G, and b_m = G t_m for every output, as the rationals that were given."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.linear_algebra import from_flint, matrix
from shallows.mathematics.exact.rational_arrays import fractions, rational_matrix
from shallows.mathematics.tensors import coordinates
from shallows.model.data.samples import exact_means
from shallows.model.exact_loss import ExactLoss
from shallows.model.network import Network
from shallows.model.objective.build import is_form, labels_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.model.reduced_problem import Reduction
from shallows.questions.charts.outputs.neuron_system import OutputSpaces


@dataclass(frozen=True, eq=False)
class OutputsLoss:
    """G, (N, N), and b, (M, N), as fractions; the norm neurons' weights, if there are any, are eliminated."""

    gram: NDArray[Any]
    right: NDArray[Any]

    @classmethod
    def of(cls, problem: Problem) -> OutputsLoss:
        """A problem's own."""
        gram = fractions(problem.data.exact_gram(problem.degree))
        right = np.array([_right(problem, m) for m in range(problem.outputs)], dtype=object)
        if problem.norm_neuron:
            change = Reduction(True, constants=problem.constants)
            right = np.array([change.right(gram, row) for row in right], dtype=object)
            gram = change.gram(gram)
        return cls(gram, right)

    def spaces(self, problem: Problem) -> OutputSpaces:
        """The same as polynomials of one degree, the energy of what is seen of the target."""
        made = []
        for row in self.right:
            exact = ExactLoss(self.gram, row)
            made.append(
                PolynomialSpace(
                    problem.n, problem.degree, (problem.degree,), exact, Fraction(row @ exact.target)
                )
            )
        return OutputSpaces(tuple(made))

    @cached_property
    def targets(self) -> NDArray[Any]:
        """T = b G⁻¹, (M, N), the best functions, of a G that is not singular."""
        solved = rational_matrix(self.gram).solve(rational_matrix(self.right.T))
        return (
            np.array([from_flint(x) for x in solved.entries()], dtype=object)
            .reshape(self.right.shape[::-1])
            .T
        )

    @property
    def rank(self) -> int:
        """How many of the outputs are independent, exactly."""
        return int(matrix(self.right.tolist()).rank())


def _right(problem: Problem, m: int) -> NDArray[Any]:
    """b of output m."""
    samples, target, degree = problem.data.as_samples(), problem.target, problem.degree
    if samples is not None and (target is None or not is_form(target, degree)):
        weights = coordinates.multiplicities(problem.n, degree).astype(int).astype(object)
        labels = labels_of(target, samples)[:, m]
        return np.asarray(weights * exact_means(samples.X, degree, labels, samples.given))
    assert isinstance(target, Network)
    return ExactLoss.of(Problem(target.output(m), problem.data, problem.width, problem.activation)).right
