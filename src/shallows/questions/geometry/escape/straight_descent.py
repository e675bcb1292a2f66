"""One straight step down at a point that is not critical: along −∇L, or towards the minimiser of ℓ in function space.

Where dτ is onto, as it is for n = 2 at every point that Lemma 14 does not cover (paper 000, Props. 6 and 7), some
direction of parameters moves τ straight towards the minimiser T* of ℓ: θ′ with dτ(θ′) = T* − S. Its slope is at most
ℓ(T*) − ℓ(S), however small ∇L has become; the damped solutions (dτᵀdτ + λ)θ′ = dτᵀ(T* − S) trade slope for shorter
steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.questions.geometry.escape.convex_losses import Landscape
from shallows.questions.geometry.paths import State, Straight
from shallows.questions.geometry.ranks.parameterization import differential_matrix
from shallows.support.checks import Array

#: Points at which the slope along a line is looked at, and halvings after which the line is given up: 2⁻⁶⁰ of it is
#: below rounding.
PROBES = 17
HALVINGS = 60
#: Of the least-squares directions, relative to ‖dτ‖²: from nearly steepest descent to nearly Gauss-Newton.
DAMPINGS = (1e-2, 1e-5, 1e-8, 1e-12)
LABEL = "a straight step down"


def best_step_down(landscape: Landscape, net: Network, tensor: SymmetricTensor) -> Straight | None:
    """The straight line of several along which the loss falls furthest; None when it falls along none."""
    slopes = landscape.parameter_gradient(net)
    if not (np.any(slopes[0]) or np.any(slopes[1])):
        return None
    probes = np.linspace(1.0, 0.0, PROBES)
    lines = [_shortened(landscape, net, way, probes) for way in _directions(landscape, net, tensor, slopes)]
    found = [line for line in lines if line is not None]
    if not found:
        return None
    return min(found, key=lambda line: landscape.loss(_network(net, line.end)))


def step_along(landscape: Landscape, net: Network, way: State) -> Straight | None:
    """The line from a critical point along a direction of negative curvature, halved until the loss falls all along."""
    return _shortened(landscape, net, way, np.linspace(1.0, 0.0, PROBES)[:-1])


def damped_solutions(matrix: Array, goal: Array, dampings: tuple[float, ...]) -> Iterator[Array]:
    """θ with (MᵀM + λ‖M‖²)θ = Mᵀ goal for each λ."""
    U, sizes, V = np.linalg.svd(matrix, full_matrices=False)
    for damping in dampings:
        yield V.T @ (sizes / (sizes**2 + damping * sizes[0] ** 2) * (U.T @ goal))


def _directions(
    landscape: Landscape, net: Network, tensor: SymmetricTensor, slopes: State
) -> Iterator[State]:
    yield -slopes[0], -slopes[1]
    root = np.sqrt(coordinates.multiplicities(tensor.n, tensor.degree))
    wish = root * (landscape.minimiser(tensor) - tensor).entries
    cut = net.width * net.n
    for theta in damped_solutions(root[:, None] * differential_matrix(net), wish, DAMPINGS):
        yield theta[cut:], theta[:cut].reshape(net.width, net.n)


def _shortened(landscape: Landscape, net: Network, way: State, probes: Array) -> Straight | None:
    """The line along `way`, halved until the slope is negative at every probe."""
    size = float(np.hypot(np.linalg.norm(way[0]), np.linalg.norm(way[1])))
    if size == 0.0 or not np.isfinite(size):
        return None
    reach = (1.0 + float(np.hypot(np.linalg.norm(net.a), np.linalg.norm(net.W)))) / size
    for _ in range(HALVINGS):
        line = Straight(LABEL, (net.a, net.W), (net.a + reach * way[0], net.W + reach * way[1]))
        if all(_falls(landscape, _network(net, line.at(t)), way) for t in probes):
            return line
        reach /= 2
    return None


def _falls(landscape: Landscape, net: Network, way: State) -> bool:
    da, dW = landscape.parameter_gradient(net)
    return float(np.sum(da * way[0]) + np.sum(dW * way[1])) < 0.0


def _network(net: Network, state: State) -> Network:
    return Network(state[1], state[0], net.activation)
