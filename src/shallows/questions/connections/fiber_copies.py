"""Copies of a critical function in parameter space: the components of its fiber, and how paths carry one to another.

Theorem 37 of paper 000: at rank = width the components are told apart by the signs of a and by two orientations, those
of the neurons of positive and of negative a; below the width there is one. Two networks W, W′ of one function and with
one pattern of signs have W′ = MW, M ∈ O(p, q): the signs of the determinants of M₊₊ and M₋₋ say whether they differ. A
path at rank = width keeps all three, and the same path starts from every copy: (signs, o₊, o₋) goes to
(signs, o₊r₊, o₋r₋). One neuron of any degree is the same with p + q = 1; at odd degree (a, w) and (−a, −w) are the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.connections.neuron_loss import Neurons
from shallows.support.checks import Array

#: A copy: the places of positive a, and the two orientations.
Copy = tuple[tuple[int, ...], int, int]
#: The one component of a fiber below the width.
WHOLE: Copy = ((), 1, 1)


@dataclass(frozen=True)
class Turn:
    """What a path does to the orientations; `whole` where it meets a function of lower rank (one fiber)."""

    positive: int = 1
    negative: int = 1
    whole: bool = False

    def then(self, other: Turn) -> Turn:
        """One path after the other."""
        return Turn(self.positive * other.positive, self.negative * other.negative, self.whole or other.whole)

    def of(self, copy: Copy) -> Copy:
        """Where it takes a copy."""
        return copy if self.whole else (copy[0], copy[1] * self.positive, copy[2] * self.negative)


def copies(problem: Problem, neurons: Neurons) -> list[Copy]:
    """The components of the fiber of these neurons' function."""
    k = problem.width
    if neurons.rank < k:
        return [WHOLE]
    if problem.degree % 2:
        return [((0,), 1, 1), ((), 1, 1)]
    plus = int(np.sum(neurons.signs > 0))
    patterns = [tuple(range(k))] if problem.outer is not None else list(combinations(range(k), plus))
    orientations = product((1, -1) if plus else (1,), (1, -1) if plus < k else (1,))
    return [(pattern, up, down) for up, down in orientations for pattern in patterns]


def turn_between(degree: int, first: Neurons, second: Neurons) -> Turn:
    """How two networks of one function and of full width are oriented to each other: M = W′W⁺, block by block."""
    if degree % 2:
        return Turn()
    first, second = _sorted(first), _sorted(second)
    M = second.vectors @ np.linalg.pinv(first.vectors)
    up = first.signs > 0
    return Turn(_sign(M[np.ix_(up, up)]), _sign(M[np.ix_(~up, ~up)]))


def _sorted(neurons: Neurons) -> Neurons:
    """Neurons of positive sign first, in the order in which they stand."""
    order = np.argsort(-neurons.signs, kind="stable")
    return Neurons(neurons.vectors[order], neurons.signs[order])


def _sign(block: Array) -> int:
    return 1 if 0 in block.shape else int(np.linalg.slogdet(block)[0])
