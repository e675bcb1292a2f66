"""Problems whose networks are powers of degree d in one input more: with a bias, or of a polynomial activation.

((b, w)·(1, x))^d is a neuron with a bias, and a p(w·x) is a (1, w)^⊗d under another metric (`EquivalentMetric`) when
no coefficient of p is zero and a is trained.
"""

from __future__ import annotations

from math import comb

import numpy as np

from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Polynomial, Power, polynomial_of
from shallows.model.data.base import Distribution
from shallows.model.data.equivalent_metric import EquivalentMetric
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.polynomial_target import degree_table
from shallows.model.problem import Problem


def has_equivalent_power(problem: Problem) -> bool:
    """Whether the problem's networks, of a polynomial activation, are powers in one input more."""
    activation = problem.activation
    return (
        isinstance(activation, Polynomial)
        and not problem.bias
        and problem.outer is None
        and activation.degree >= 2
        and bool(np.all(activation.coefficients))
    )


def equivalent_power(problem: Problem, space: PolynomialSpace) -> Problem:
    """The problem of powers in n + 1 inputs, without the part of the loss that no polynomial of degree d reaches."""
    assert isinstance(problem.data, Distribution)
    c = polynomial_of(problem.activation).coefficients[space.at]
    exact = fractions(c)
    metric = EquivalentMetric(
        problem.data,
        space.degree,
        space.exact.gram * np.multiply.outer(exact, exact),
        space.exact.right * exact,
    )
    return Problem(SymmetricTensor(space.target / c, metric.n, space.degree), metric, problem.width)


def as_powers(problem: Problem) -> Problem:
    """The same functions as powers: on (1, x) with a bias or a polynomial activation, else the problem itself."""
    if has_equivalent_power(problem):
        return equivalent_power(problem, PolynomialSpace.of(problem))
    return problem.homogeneous() if problem.bias else problem


def power_degree(problem: Problem) -> int:
    """The degree of those powers."""
    return polynomial_of(problem.activation).degree


def power_tensor(problem: Problem, tensor: SymmetricTensor) -> SymmetricTensor:
    """A function of the problem, on (1, x), as a tensor of `as_powers`: its coefficients over the activation's."""
    if not has_equivalent_power(problem):
        return tensor
    d = power_degree(problem)
    share = np.array([comb(d, i) for i in range(d + 1)]) / polynomial_of(problem.activation).coefficients
    return SymmetricTensor(tensor.entries * share[degree_table(problem.n, d)], tensor.n, d)


def power_network(problem: Problem, net: Network) -> Network:
    """A network of the problem as one of `as_powers`: a p(w·x) is a ((1, w)·(1, x))^d, with a bias (b, w)."""
    if not has_equivalent_power(problem):
        return net.homogeneous() if problem.bias else net
    W = np.concatenate([np.ones((len(net.W), 1)), net.W], axis=1)
    return Network(W, net.a, Power(power_degree(problem)))
