"""Whether flat directions at a critical point are a set of critical points, so that the others decide its kind.

A Hessian with kernel K and positive elsewhere belongs to a local minimum where the critical points form a manifold with
tangent space K (Morse-Bott). Two ways to see such a manifold:

- f depends on θ through a map of constant rank near the point, and K is its kernel: the fiber is the manifold;
- the gradient vanishes on all of θ + K near the point: the manifold is that plane (neurons that are zero, whose outer
  weights do nothing).

Ranks and gradients are looked at in floating point at a few random places: the answer is numerical. At the zero network
with a = 0 neither holds, and the kind is not decided by curvatures.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.numerical_rank import rank_of
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.parameter_space import slope_products
from shallows.support.checks import Array

#: Singular values of f's derivative below this share of the largest are none: Hessians are known to ten digits.
RANK = 1e-8
#: How far away, as a share of the weights, places are looked at, and how many.
AWAY, PLACES = 1e-3, 3
#: A gradient there is none below this share of curvature times distance. Where the plane is not critical it is a share
#: AWAY of that at least: the loss is a cubic there.
NONE = 1e-6


def are_explained(problem: Problem, net: Network, flat: Array) -> bool:
    """Whether the flat directions (columns) at a critical point are a manifold of critical points."""
    theta = problem.pack(net)
    reach = AWAY * max(float(np.linalg.norm(theta)), 1.0)
    source = np.random.default_rng(0)
    return _is_fiber(problem, theta, flat.shape[1], reach, source) or _is_plane(
        problem, theta, flat, reach, source
    )


def _is_fiber(
    problem: Problem, theta: Array, dimension: int, reach: float, source: np.random.Generator
) -> bool:
    ranks = {_rank(problem, theta)}
    for _ in range(PLACES):
        step = source.standard_normal(len(theta))
        ranks.add(_rank(problem, theta + reach * step / np.linalg.norm(step)))
    return ranks == {len(theta) - dimension}


def _rank(problem: Problem, theta: Array) -> int:
    """The rank of df at θ: of E[∇f ∇fᵀ], half the Hessian of the loss against the network itself."""
    return rank_of(slope_products(problem, problem.unpack(theta)), RANK)


def _is_plane(problem: Problem, theta: Array, flat: Array, reach: float, source: np.random.Generator) -> bool:
    curvature = float(np.linalg.norm(problem.hessian(problem.unpack(theta)), 2))
    if curvature == 0.0:
        return False
    for _ in range(PLACES):
        step = flat @ source.standard_normal(flat.shape[1])
        place = theta + reach * step / np.linalg.norm(step)
        if np.linalg.norm(problem.value_and_gradient(place)[1]) > NONE * curvature * reach:
            return False
    return True
