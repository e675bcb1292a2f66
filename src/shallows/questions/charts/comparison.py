"""A chart that was loaded, held against its problem: losses and gradients at its networks are computed again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Points
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged, NotDifferentiable
from shallows.support.tolerances import SQRT_EPSILON

#: So many points are compared, evenly spaced among all of them: some milliseconds.
COMPARED = 500
#: A gradient, times the size of the parameters, vanishes if it is below this share of the loss and its terms: points
#: are known to ten digits or more, and five of them are left for what curvature makes of the others.
VANISHING = 1e-5


def require_same(file: Path, critical: Points, problem: Problem) -> list[str]:
    """Refuse a chart whose points are not critical points of the problem with their losses; what was not compared."""
    count = len(critical)
    rows = (
        np.unique(np.linspace(0, count - 1, min(count, COMPARED)).astype(int)) if count else np.zeros(0, int)
    )
    _compare_limits(file, problem, critical, rows[critical.table.limit[rows]])
    rows = rows[~critical.table.limit[rows]]
    networks = [critical[int(i)].network for i in rows]
    stored = critical.table.loss[rows]
    if len(rows):
        thetas = np.array([problem.pack(network) for network in networks])
        _compare(file, problem, networks, thetas, stored)
    left = max(count - COMPARED, 0)
    return [f"loaded: {left:,} of {count:,} points were not compared with the problem"] if left else []


def _compare_limits(file: Path, problem: Problem, critical: Points, rows: NDArray[np.intp]) -> None:
    """Limits are no networks: the loss of their tensors is computed again, and a penalty at the networks near them,
    whose biases run off and whose neurons, which the penalty sees, do not."""
    if not isinstance(problem.activation, Power) or problem.outputs > 1:
        return  # their tensors are those of polynomials, or one an output, which a file does not hold
    gamma, problem = problem.orthogonality, problem.homogeneous()
    for row in rows.tolist():
        gap = critical[row].tensor.entries - problem.target_tensor().entries
        rest = problem.floor + (gamma * _excess(critical[row].network) if gamma else 0.0)
        again, stored = float(gap @ problem.gram() @ gap) + rest, float(critical.table.loss[row])
        size = float(np.abs(gap) @ np.abs(problem.gram()) @ np.abs(gap)) + rest
        if not abs(again - stored) <= SQRT_EPSILON * size:
            raise InvalidProblem(
                f"{file} does not belong to {problem!r}: it has a limit of loss {stored:.8g}, and the loss of its "
                f"tensor is {again:.8g}. Fix: load it with the problem that it is about, or chart again."
            )


def _excess(net: Network) -> float:
    """‖WᵀW − I‖²."""
    return float(np.sum((net.W.T @ net.W - np.eye(net.n)) ** 2))


def _compare(file: Path, problem: Problem, networks: list[Network], thetas: Array, stored: Array) -> None:
    again = _each(problem.value, thetas, stored)
    energy = float(problem.value(np.zeros((1, problem.size)))[0])
    size = energy + np.abs(again)
    for row in np.flatnonzero(~(np.abs(again - stored) <= SQRT_EPSILON * size)):
        if not abs(again[row] - stored[row]) <= SQRT_EPSILON * _terms(problem, networks[row], energy):
            raise InvalidProblem(
                f"{file} does not belong to {problem!r}: it has a point of loss {stored[row]:.8g}, and the loss of its "
                f"network is {again[row]:.8g}. Fix: load it with the problem that it is about, or chart again."
            )
    slopes = _slopes(problem, thetas)
    for row in np.flatnonzero(~(slopes <= VANISHING * size)):
        if not slopes[row] <= VANISHING * _terms(problem, networks[row], energy):
            raise InvalidProblem(
                f"{file} does not belong to {problem!r}: at its point of loss {stored[row]:.8g} the gradient does not "
                "vanish. Fix: load it with the problem that it is about, or chart again."
            )


def _slopes(problem: Problem, thetas: Array) -> Array:
    """max |∂L| · max |θ|, in units of the loss; zero where the loss has no derivative.

    Neurons and what is outside of them apart: long neurons have small outer weights, and large slopes in these.
    """
    inner = problem.width * (problem.n + problem.bias)

    def slopes(some: Array) -> Array:
        gradients = np.abs(problem.value_and_gradient(some)[1])
        sizes = np.abs(some).max(axis=1)
        found = np.zeros(len(some))
        for part in (slice(inner), slice(inner, None)):
            own = np.abs(some[:, part]).max(axis=1, initial=0.0)
            own = np.where(own > 0, own, sizes)
            found = np.maximum(found, gradients[:, part].max(axis=1, initial=0.0) * own)
        return found

    return _each(slopes, thetas, np.zeros(len(thetas)))


def _each(function: Callable[[Array], Array], thetas: Array, otherwise: Array) -> Array:
    """The function of all networks; of each alone where it fails for some, and `otherwise` for those.

    It fails where a ReLU neuron is zero, and where the Hermite series of a smooth one, zero or large, does not end.
    """
    try:
        return function(thetas)
    except (NotDifferentiable, NotConverged, InvalidProblem):
        if len(thetas) == 1:
            return otherwise
    rows = [_each(function, thetas[i : i + 1], otherwise[i : i + 1]) for i in range(len(thetas))]
    return np.concatenate(rows)


def _terms(problem: Problem, network: Network, energy: float) -> float:
    """A bound on Σ |aᵢaⱼ k(wᵢ, wⱼ)| + E y², the terms that cancel in a loss: by Cauchy and Schwarz (Σ √Lᵢ + √E y²)².

    Lᵢ is the loss with neuron i alone, E (aᵢσ(wᵢ·x) − y)²; the others are σ(0) then, and fixed outer weights can make
    their sum zero.
    """
    alone = np.repeat(problem.pack(network)[None], network.width, axis=0)
    inner = alone[:, : network.W.size].reshape(network.width, network.width, network.n)
    inner *= np.eye(network.width)[:, :, None]
    rest = np.abs(network.a).sum() * abs(float(network.activation(np.zeros(1))[0]))
    return float(
        (np.sqrt(np.abs(problem.value(alone))).sum() + (network.width + 1) * (np.sqrt(energy) + rest)) ** 2
    )
