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
from shallows.questions.geometry.escape.convex import Landscape
from shallows.questions.geometry.paths import State, Straight
from shallows.support.checks import Array

PROBES = 17
HALVINGS = 60
DAMPINGS = (1e-2, 1e-5, 1e-8, 1e-12)
LABEL = "a straight step down"


def best_step_down(landscape: Landscape, net: Network, tensor: SymmetricTensor) -> Straight | None:
    """The straight line of several along which the loss falls furthest; None when it falls along none."""
    slopes = landscape.parameter_gradient(net)
    if not (np.any(slopes[0]) or np.any(slopes[1])):
        return None
    lines = [_shortened(landscape, net, way) for way in _directions(landscape, net, tensor, slopes)]
    found = [line for line in lines if line is not None]
    if not found:
        return None
    return min(found, key=lambda line: landscape.loss(_network(net, line.end)))


def differential(net: Network, degree: int) -> Array:
    """dτ as a matrix (equation 6): columns are ∂τ/∂w₁₁, ∂τ/∂w₁₂, …, then ∂τ/∂a₁, …; shape (N, width·n + width)."""
    axes = np.eye(net.n)
    by_weight = coordinates.monomials_jvp(net.W[:, None, :], axes[None], degree) * net.a[:, None, None]
    return np.vstack([by_weight.reshape(net.width * net.n, -1), coordinates.monomials(net.W, degree)]).T


def _directions(
    landscape: Landscape, net: Network, tensor: SymmetricTensor, slopes: State
) -> Iterator[State]:
    yield -slopes[0], -slopes[1]
    root = np.sqrt(coordinates.multiplicities(tensor.n, tensor.degree))
    wish = root * (landscape.minimiser(tensor) - tensor).entries
    U, sizes, V = np.linalg.svd(root[:, None] * differential(net, tensor.degree), full_matrices=False)
    for damping in DAMPINGS:
        theta = V.T @ (sizes / (sizes**2 + damping * sizes[0] ** 2) * (U.T @ wish))
        cut = net.width * net.n
        yield theta[cut:], theta[:cut].reshape(net.width, net.n)


def _shortened(landscape: Landscape, net: Network, way: State) -> Straight | None:
    """The line along `way`, halved until the slope is negative at every probe."""
    size = float(np.hypot(np.linalg.norm(way[0]), np.linalg.norm(way[1])))
    if size == 0.0 or not np.isfinite(size):
        return None
    reach = (1.0 + float(np.hypot(np.linalg.norm(net.a), np.linalg.norm(net.W)))) / size
    start: State = (net.a, net.W)
    for _ in range(HALVINGS):
        line = Straight(LABEL, start, (net.a + reach * way[0], net.W + reach * way[1]))
        if all(_falls(landscape, _network(net, line.at(t)), way) for t in np.linspace(1.0, 0.0, PROBES)):
            return line
        reach /= 2
    return None


def _falls(landscape: Landscape, net: Network, way: State) -> bool:
    da, dW = landscape.parameter_gradient(net)
    return float(np.sum(da * way[0]) + np.sum(dW * way[1])) < 0.0


def _network(net: Network, state: State) -> Network:
    return Network(state[1], state[0], net.activation)
