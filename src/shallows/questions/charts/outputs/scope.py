"""What charts of several outputs by their neurons are complete among."""

from __future__ import annotations

import numpy as np

from shallows.model.activations import PolynomialActivation, Power
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.on_one_line import APART
from shallows.questions.charts.neurons.one_neuron_limits import centred_activation
from shallows.questions.charts.outputs.shared_outer import OWN_OUTER

#: What is left out where weights can run away.
SCOPE = "networks, not limits of networks whose weights grow without bound"


def is_closed(problem: Problem) -> bool:
    """Whether limits are networks: a fixed, and one neuron, or an even degree and one output of one sign."""
    if problem.outer is None:
        return False
    assert isinstance(problem.activation, PolynomialActivation)
    degree = len(problem.activation.coefficients) - 1
    one_sign = (problem.outer > 0).all(axis=1) | (problem.outer < 0).all(axis=1)
    return (problem.width == 1 and bool(problem.outer.any())) or (degree % 2 == 0 and bool(one_sign.any()))


def scope_of(problem: Problem, closed: bool, charted: list[str]) -> str:
    """What the list is complete among."""
    several = problem.width > 1 and (problem.bias or not isinstance(problem.activation, Power))
    left_out = [APART] if several else []
    left_out += [OWN_OUTER] if several and problem.outer is None and _bends_once(problem) else []
    return "; ".join(([] if closed else [SCOPE]) + [words for words in left_out if words not in charted])


def _bends_once(problem: Problem) -> bool:
    """Whether p is quadratic, or a power and a constant (about any point with a bias)."""
    p, _ = centred_activation(problem)
    return len(p) == 3 or not np.any(p[1:-1])
