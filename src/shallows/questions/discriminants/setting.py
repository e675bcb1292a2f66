"""The problems that discriminants and focal loci are about: a power activation, and rank one where it is asked for."""

from __future__ import annotations

from shallows.model.activations import Power
from shallows.model.equivalent_power import as_powers
from shallows.model.problem import Problem
from shallows.questions.discriminants.curves import RankOneCurve
from shallows.support.errors import InvalidProblem


def require_power(problem: Problem) -> None:
    """A problem with the activation z^d, d ≥ 2."""
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"{problem!r} was given; expected a Problem.")
    if not isinstance(problem.activation, Power) or problem.degree < 2:
        raise InvalidProblem(f"The activation is {problem.activation!r}; expected Power(d) with d ≥ 2.")


def require_rank_one(problem: Problem) -> None:
    """Width 1, Power(d) with d ≥ 2, a free outer weight, no penalty."""
    require_power(problem)
    if problem.width != 1:
        raise InvalidProblem(
            f"The width is {problem.width}; rank-one critical points are those of width 1. Fix: width=1."
        )
    if problem.outer is not None and problem.degree % 2 == 0:
        raise InvalidProblem(
            'The outer weight is fixed, so that only one sign of rank-one tensors is realisable. Fix: outer="free".'
        )
    if problem.norm_neuron or problem.orthogonality:
        raise InvalidProblem("The problem has a norm neuron or a penalty. Fix: leave them out.")


def rank_one_powers(problem: Problem) -> Problem:
    """The problem, or that of the same functions as powers in one input more; refused where it is not of rank one."""
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"{problem!r} was given; expected a Problem.")
    powers = as_powers(problem)
    require_rank_one(powers)
    return powers


def problem_values(problem: Problem) -> tuple[RankOneCurve, dict[str, object]]:
    """The curve of a rank-one problem with two inputs and values of all its variables."""
    require_power(problem)
    if problem.n != 2 or problem.width != 1:
        raise InvalidProblem(
            f"This problem has {problem.n} inputs and width {problem.width}; a polynomial discriminant is known "
            "for 2 inputs and width 1. Fix: use focal_cloud or focal_slice, which are numeric."
        )
    require_rank_one(problem)
    curve = RankOneCurve(problem.degree)
    entries = problem.target_tensor().entries
    return curve, {name: float(value) for name, value in zip(curve.teacher, entries, strict=True)}
