"""A critical point seen in parameter space: the Hessian's signature and how much of its kernel is the fiber."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.signature import signature
from shallows.mathematics.tensors.coordinates import gradient_matrix, monomials
from shallows.model.activations import Power
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.problem import Problem

#: The Hessian at a chart's network is known to ten digits, like the point; two are left for its dependence on neurons
#: that are roots of small eigenvalues.
HESSIAN_ERROR = 1e-8


@dataclass(frozen=True)
class ParameterSignature:
    """The Hessian's signature in parameter space; `fiber` of its zero directions do not change the function."""

    positive: int
    zero: int
    negative: int
    fiber: int

    @property
    def unexplained(self) -> int:
        """Flat directions that are not along the fiber."""
        return self.zero - self.fiber


def parameter_signature(problem: Problem, net: Network) -> ParameterSignature:
    """Signs of the eigenvalues of ∇²L at `net`, zero meaning below HESSIAN_ERROR times the largest.

    `fiber` is the number of directions in which the function does not change to first order. At a critical point they
    are in the Hessian's kernel where τ is a submersion onto the stratum; elsewhere a zero neuron's directions can curve
    (that is how Example 15's minima arise).
    """
    if problem.bias and not problem.norm_neuron:
        return parameter_signature(problem.homogeneous(), net.homogeneous())
    positive, zero, negative = signature(np.linalg.eigvalsh(problem.hessian(net)), HESSIAN_ERROR)
    return ParameterSignature(positive, zero, negative, min(zero, _unchanged(problem, net)))


def _unchanged(problem: Problem, net: Network) -> int:
    """The dimension of {p : df·p = 0}: of ker dτ for a power, else of the kernel of E[∇f ∇fᵀ].

    The latter is half the Hessian of the loss against the network itself, whose residual is zero.
    """
    if isinstance(problem.activation, Power) and problem.outputs == 1 and not problem.norm_neuron:
        return problem.size - int(np.linalg.matrix_rank(differential(problem, net)))
    return signature(slope_products(problem, net), HESSIAN_ERROR)[1]


def slope_products(problem: Problem, net: Network) -> np.ndarray:
    """The eigenvalues of 2 E[∇f ∇fᵀ]: of the Hessian of the loss against the network itself."""
    outer = "free" if problem.outer is None else problem.outer
    samples = problem.data.as_samples()
    data = problem.data if samples is None else Samples(samples.X, weights=samples.given)
    own = Problem(
        net,
        data,
        problem.width,
        problem.activation,
        outer,
        norm_neuron=problem.norm_neuron,
        bias=problem.bias,
    )
    return np.linalg.eigvalsh(own.hessian(net))


def differential(problem: Problem, net: Network) -> np.ndarray:
    """dτ (paper 000, equation 6) restricted to the trained parameters, shape (N, p)."""
    d, n = problem.degree, problem.n
    powers = monomials(net.W, d - 1)
    columns = []
    identity = np.eye(len(monomials(net.W[:1], d)[0]))
    slopes = gradient_matrix(identity, n, d)
    for weight, row in zip(net.a, powers, strict=True):
        columns.append(weight * (row @ slopes))
    parts = [np.concatenate(columns, axis=1)]
    if problem.outer is None:
        parts.append(monomials(net.W, d).T)
    return np.concatenate(parts, axis=1)
