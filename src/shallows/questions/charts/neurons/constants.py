"""Neurons at w = 0, where the activation is flat: constants, which the equations in w cannot leave.

Without bias that is so when p has no linear part, and the value is p(0); with a bias at every zero b of p′, with p(b).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.activations import PolynomialActivation
from shallows.model.problem import Problem
from shallows.support.checks import Array
from shallows.support.tolerances import SQRT_EPSILON


@dataclass(frozen=True)
class ConstantNeuron:
    """The weights of a neuron that is constant and stays so, (b, 0) with a bias, and its value."""

    w: Array
    value: float


def constant_neurons(problem: Problem) -> list[ConstantNeuron]:
    """All real ones.

    >>> constant_neurons(sh.Problem(np.eye(2), sh.Gaussian(2), 1, sh.Polynomial([1.0, 0.0, 1.0])))
    [ConstantNeuron(w=array([0., 0.]), value=1.0)]
    """
    assert isinstance(problem.activation, PolynomialActivation)
    c = problem.activation.coefficients
    if not problem.bias:
        flat = len(c) < 2 or c[1] == 0
        return [ConstantNeuron(np.zeros(problem.n), float(c[0]))] if flat else []
    roots = np.roots(np.polynomial.polynomial.polyder(c)[::-1])
    real = np.unique(
        roots[np.abs(roots.imag) <= SQRT_EPSILON * np.maximum(np.abs(roots), 1.0)].real.round(14)
    )
    return [
        ConstantNeuron(
            np.concatenate([[b], np.zeros(problem.n)]), float(np.polynomial.polynomial.polyval(b, c))
        )
        for b in real.tolist()
    ]
