"""Widths that are refused because a function has infinitely many networks, and the number that shows it.

The derivative of a network's function by its K weights has one rank R at almost all networks. By the theorem of
constant rank the networks with one function then are a set of dimension K − R. Along it the gradient of the loss stays
zero, so that for K > R critical networks come in sets, and equations in the weights have no finite list of solutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.model.activations import Power
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.groups import all_different
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.geometry.ranks.identifiability import identifiability, is_identifiable
from shallows.questions.geometry.ranks.widths import DEFECTIVE
from shallows.support.checks import Array, counted
from shallows.support.errors import InvalidProblem

#: What can be asked instead.
INSTEAD = 'method="descent" (sampled), or sh.nearest_critical(problem, net) next to a trained network'
#: Why squares whose outer weights are parallel do not stand still.
TURNED = ", because turning squares whose outer weights are parallel into each other changes no output"


def refuse_moving(
    equations: NeuronEquations, which: str, seen: str = "function", why: str = "", free: Array | None = None
) -> None:
    """Refuse students whose functions have infinitely many networks; `which` they are, and what is `seen` of them.

    A multiple of `free` is not seen, if it is given.
    """
    weights, rank = equations.unknowns, equations.seen_weights(free)
    if rank == weights:
        return
    raise InvalidProblem(
        f"Infinitely many networks of {which} have one {seen}{why}: the derivative of the {seen} by the "
        f"{weights} weights has rank {rank} at almost every network, so the networks with one {seen} are a set of "
        f"dimension {weights - rank} and critical points are not isolated in the weights. Fix: a smaller width, "
        f"{INSTEAD}."
    )


def require_isolated(problem: Problem, neuron: Neuron, widest: int) -> None:
    """Refuse widths, up to the `widest` with a trained, at which a function has infinitely many networks.

    With a fixed these are neurons that are all different: of fewer, in groups of parallel weights, ∂s has fewer of the
    same rows aᵢ ⊗ ∂ψ(wᵢ), which are independent where all are.
    """
    M, outer = problem.outputs, None if problem.outer is None else all_different(problem)
    kind = f"{problem.activation!r}{' and a bias' if problem.bias else ''} in {counted(problem.n, 'input')}"
    squares = isinstance(problem.activation, Power) and problem.degree == 2
    turned = M > 1 and squares and outer is not None and has_parallel(outer)
    for r in range(1, widest + 1) if outer is None else [len(outer)] * bool(outer):
        which = f"{counted(r, 'neuron')} with {kind}{f' with {M} outputs' if M > 1 else ''}"
        refuse_moving(NeuronEquations(neuron, r, M, outer), which, why=TURNED if turned else "")


def require_identifiable(degree: int, n: int, rank: int) -> None:
    """Refuse sums of powers of degree ≥ 3 that do not determine their terms."""
    entries, weights = coordinates.dimension(n, degree), rank * n
    answer = identifiability(degree, n, rank)
    if rank == 1 or (weights <= entries and answer):
        return
    widest = max(r for r in range(1, rank) if is_identifiable(degree, n, r))
    seen = min(weights, entries) - ((degree, n, rank) in DEFECTIVE)
    moving = (
        f"their derivative by the {weights} weights has rank {seen} at almost every network, so the networks with one "
        f"function are a set of dimension {weights - seen} and critical points are not isolated in the neurons"
        if weights > seen
        else "a function has several networks over the complex numbers, which one list of neurons for each is not"
    )
    raise InvalidProblem(
        f"Sums of {rank} powers of degree {degree} in {counted(n, 'variable')} are not identifiable "
        f"({answer.reason}): {moving}. Fix: a width up to {widest}, {INSTEAD}."
    )


def has_parallel(outer: Sequence[Sequence[float]]) -> bool:
    """Whether two neurons have outer weights, one an output, that are multiples of each other.

    >>> has_parallel([(1.0, 2.0), (0.0, 1.0)]), has_parallel([(1.0, 2.0), (0.0, 1.0), (2.0, 4.0)])
    (False, True)
    """
    return any(np.linalg.matrix_rank(np.array(pair)) < len(pair) for pair in combinations(outer, 2))
