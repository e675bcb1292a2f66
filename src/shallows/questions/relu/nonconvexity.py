"""Over-parameterised global minima have no convex neighbourhood (paper 003, Theorem 3): an explicit point.

With w₁ = α₁v and w₂ = α₂v at the minimum, tilt both by the same small angle: w̃ᵢ = αᵢ(v + εu), u ⊥ v. Along (z, −z), z
the unit vector in span(v, u) orthogonal to v + εu, the second derivative of ½E is

    −(α₁+α₂)² ε / (π α₁α₂ (1+ε²)) < 0.

(The paper's displayed value has (1+ε) sin θ in place of ε/(1+ε²) = sin θ cos θ: ‖w̃ᵢ‖ is αᵢ√(1+ε²), not αᵢ(1+ε), and the
factor in its equation 23 is α₁+α₂.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.relu.global_minima import off_direction, shared_pair
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_number
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True, eq=False)
class NegativeCurvature:
    """A point within `distance` of a global minimum, and a unit direction of negative curvature there (of E).

    >>> from shallows.relu import negative_curvature
    >>> problem = sh.relu_problem(2, width=3)
    >>> net = sh.Network([[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]], activation=sh.ReLU())
    >>> found = negative_curvature(problem, net, distance=0.01)
    >>> f"{found.direction @ problem.hessian(found.network) @ found.direction:.6f}", f"{found.predicted:.6f}"
    ('-0.018003', '-0.018003')
    """

    network: Network
    direction: Array
    curvature: float
    predicted: float
    distance: float

    def __repr__(self) -> str:
        return (
            f"NegativeCurvature({self.curvature:.6g} at distance {self.distance:.3g} from a global minimum; "
            f"closed form {self.predicted:.6g})"
        )


@typed
def negative_curvature(problem: Problem, net: Network, distance: float = 0.001) -> NegativeCurvature:
    """A point within `distance` of the global minimum `net` (n > k) where the Hessian has a negative eigenvalue.

    Paper 003, Theorem 3: two neurons α₁v, α₂v of one teacher neuron, both tilted to αᵢ(v + εu), have the curvature
    −(α₁+α₂)²ε / (πα₁α₂(1+ε²)) along (z, −z). `curvature` is measured by a Hessian product, `predicted` is the closed
    form; both are per unit direction and for E(f−y)², so equal to the paper's number for ½E along (z, −z), whose square
    is two.

    >>> from shallows.relu import negative_curvature
    >>> net = sh.Network([[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]], activation=sh.ReLU())
    >>> negative_curvature(sh.relu_problem(2, width=3), net, distance=0.01)
    NegativeCurvature(-0.0180027 at distance 0.01 from a global minimum; closed form -0.0180027)
    """
    i, j, first, second, V, owner = shared_pair(problem, net, "Theorem 3")
    distance = finite_number("distance", distance)
    if not 0 < distance < 1:
        raise InvalidProblem(f"distance is {distance}; expected a number between 0 and 1.")
    epsilon = distance / np.hypot(first, second)
    v, u = V[owner], off_direction(V, owner)
    W = np.array(net.W)
    W[i], W[j] = first * (v + epsilon * u), second * (v + epsilon * u)
    point = Network(W, net.a, net.activation)
    z = (u - epsilon * v) / np.sqrt(1 + epsilon**2)
    direction = np.zeros_like(W)
    direction[i], direction[j] = z / np.sqrt(2), -z / np.sqrt(2)
    flat = direction.ravel()
    predicted = -((first + second) ** 2) * epsilon / (np.pi * first * second * (1 + epsilon**2))
    return NegativeCurvature(
        point,
        flat,
        float(flat @ problem.hvp(point, flat)),
        float(predicted),
        float(np.linalg.norm(W - net.W)),
    )
