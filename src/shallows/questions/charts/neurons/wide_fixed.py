"""One input, fixed outer weights, more neurons than a function determines: groups of few, and the target.

A network Σ aᵢ p(wᵢx + bᵢ) is critical where q(w) = E[p(wx + b) r], r the residual, has no slope at any neuron. Without
bias q′ has as many coefficients as p has powers but the constant. Let it not be zero, that is, the function not be the
target: by Descartes' rule it has at most V₊ + V₋ roots other than 0, so that no more neurons are different and not at
rest. With a bias any of the (d − 1)² critical points of q may be neurons.
"""

from __future__ import annotations

from itertools import count, product

import numpy as np

from shallows.model.activations import PolynomialActivation, polynomial_of
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.groups import all_different
from shallows.questions.charts.neurons.stratum import own_neuron
from shallows.questions.charts.neurons.wide_line import changes, is_mirrored


def is_wide_fixed(problem: Problem) -> bool:
    """Whether a problem has such neurons."""
    activation = problem.activation
    if not isinstance(activation, PolynomialActivation) or problem.n != 1 or problem.outputs != 1:
        return False
    weights = () if problem.outer is None else all_different(problem)
    return (
        bool(weights) and not NeuronEquations(own_neuron(problem), len(weights), outer=weights).is_isolated()
    )


def charted_groups(problem: Problem) -> int:
    """Up to how many different neurons critical networks are charted: while their functions determine them.

    With a bias only while they do not fill their functions: two cubic ones take minutes for each pair of weights.
    """

    def is_wide(r: int) -> bool:
        equations = NeuronEquations(own_neuron(problem), r, outer=((1.0,),) * r)
        return not equations.is_isolated() or (problem.bias and equations.repeats)

    return next(filter(is_wide, count(1))) - 1


def leaves_groups_out(problem: Problem) -> bool:
    """Whether more different neurons may be critical.

    >>> p = sh.Problem(np.eye(1), sh.Gaussian(1), 4, sh.Polynomial([0, 1, 0, 1]), outer="ones")
    >>> charted_groups(p), leaves_groups_out(p)
    (2, False)
    """
    if problem.bias:
        return True
    powers = [j - 1 for j in np.flatnonzero(polynomial_of(problem.activation).coefficients).tolist() if j]
    counts = [changes(signs, powers) for signs in product((1, -1), repeat=len(powers))]
    mirrored = is_mirrored(powers)
    return max(plus if mirrored else plus + minus for plus, minus in counts) > charted_groups(problem)


def without_groups(most: int) -> str:
    """What is left out then."""
    return f"networks with at most {most} different neurons, and the target"
