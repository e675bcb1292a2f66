"""Sufficient statistics: a quadratic network sees its data only through G, s* and L* (paper 002, equation 2.5).

L = (s − s*)ᵀ G (s − s*) + L*, s the entries of A = QΛQᵀ + αI: an epoch of training costs O(kd² + d⁴/4) however many
samples there are, and there is no cancellation near the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.activations import Power
from shallows.model.problem import Problem
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True, eq=False)
class Statistics:
    """G (N×N on the entries i ≤ j), s*, L* and E y² of a problem with one output."""

    gram: Array
    optimum: Array
    floor: float
    energy: float

    def __repr__(self) -> str:
        return f"Statistics({len(self.optimum)} entries, floor {self.floor:.6g}, E y² {self.energy:.6g})"


def require_quadratic(problem: Problem) -> None:
    """Refuse what is no problem with the activation z²."""
    if not isinstance(problem, Problem) or problem.activation != Power(2):
        raise InvalidProblem(
            f"{problem!r} is no problem with quadratic activation: Problem(…, activation=Power(2))."
        )


def statistics_of(problem: Problem) -> Statistics:
    """The statistics of a quadratic problem with trained outer weights and one output."""
    require_quadratic(problem)
    if problem.outputs != 1 or problem.outer is not None:
        raise InvalidProblem(
            f"Training on statistics is for one output and trained outer weights; this problem has {problem.outputs} "
            f"outputs and {'free' if problem.outer is None else 'fixed'} outer weights. Use sh.ensemble(problem)."
        )
    gram, optimum = problem.gram(), np.array(problem.target_tensor().entries)
    return Statistics(gram, optimum, problem.floor, float(optimum @ gram @ optimum) + problem.floor)
