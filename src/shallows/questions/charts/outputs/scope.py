"""What charts of several outputs by their neurons are complete among."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.rational_arrays import fractions, rational_matrix
from shallows.model.activations import Power, polynomial_of
from shallows.model.problem import Problem
from shallows.questions.charts.neuron_limits.ends import centred_activation
from shallows.questions.charts.neurons.assembly import SCOPE
from shallows.questions.charts.neurons.on_one_line import APART
from shallows.questions.charts.outputs.shared_outer import OWN_OUTER


def is_closed(problem: Problem) -> bool:
    """Whether limits are networks. With fixed outer weights aᵢ in R^M, zero ones left out, they are

    - where the aᵢ are linearly independent: with bᵢ · aⱼ = δᵢⱼ every p(wᵢ·x + cᵢ) is bᵢ · f, so that bounded functions
      have bounded neurons;
    - at even degree where c · aᵢ > 0 for some c and all i: c · f is a sum of functions that are bounded below, and each
      of them is large where its neuron is.

    Otherwise they are not: Σ λᵢ aᵢ = 0 with λ ≠ 0, λ ≥ 0 at even degree (Gordan's theorem), and neurons
    λᵢ^(1/d) (t w + t^(1−d) vᵢ) have the limit d Σ λᵢ aᵢ ⊗ w^(d−1) vᵢ of terms of the highest degree.
    """
    if problem.outer is None:
        return False
    if _independent(problem):
        return bool(problem.outer.any())
    outer = fractions(problem.outer[:, problem.outer.any(axis=0)])
    return len(polynomial_of(problem.activation).coefficients) % 2 == 1 and _on_one_side(outer)


def _independent(problem: Problem) -> bool:
    """Whether fixed outer weights, zero ones left out, are linearly independent: slopes aᵢ ⊗ ∂ψ(wᵢ) then are, too, and
    no neurons are in special position."""
    if problem.outer is None:
        return False
    outer = fractions(problem.outer[:, problem.outer.any(axis=0)])
    return bool(rational_matrix(outer).rank() == outer.shape[1])


def _on_one_side(vectors: NDArray[Any]) -> bool:
    """Whether some c has a positive product with every column: found in doubles, and checked as fractions."""
    from scipy.optimize import linprog

    table = vectors.astype(float)
    table /= np.linalg.norm(table, axis=0)
    rows = np.concatenate([-table.T, np.ones((table.shape[1], 1))], axis=1)
    objective = np.append(np.zeros(len(table)), -1.0)
    found = linprog(objective, rows, np.zeros(len(rows)), bounds=[(-1.0, 1.0)] * len(objective))
    return bool(found.success and (fractions(found.x[:-1]) @ vectors > 0).all())


def scope_of(problem: Problem, closed: bool, charted: list[str]) -> str:
    """What the list is complete among."""
    several = problem.width > 1 and (problem.bias or not isinstance(problem.activation, Power))
    several = several and not _independent(problem)
    left_out = [APART] if several else []
    left_out += [OWN_OUTER] if several and problem.outer is None and _bends_once(problem) else []
    return "; ".join(([] if closed else [SCOPE]) + [words for words in left_out if words not in charted])


def _bends_once(problem: Problem) -> bool:
    """Whether p is quadratic, or a power and a constant (about any point with a bias)."""
    p, _ = centred_activation(problem)
    return len(p) == 3 or not any(p[1:-1])
