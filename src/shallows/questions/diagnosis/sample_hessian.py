"""The Hessian of a loss on labelled samples in balls: every rounding is inside them.

With f = Σᵢ aᵢσ(zᵢ), zᵢ = wᵢ·x + bᵢ, r = f − y and x̃ = (x, 1) where there is a bias,

    ∇²L = (2/N) Σ_s (∇f ∇fᵀ + r ∇²f),    ∂²f/∂wᵢ² = aᵢσ″(zᵢ) x̃x̃ᵀ,    ∂²f/∂wᵢ∂aᵢ = σ′(zᵢ) x̃,

all from doubles that are taken as exact: samples, labels and weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.model.activations import Activation, PolynomialActivation, ReLU, Smooth
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.model.smooth_functions import NAMED
from shallows.support.errors import InvalidProblem, NotConverged

#: Balls of the largest matrix of derivatives, samples × parameters: a second or two.
LARGEST = 200_000


def sample_hessian(problem: Problem, net: Network) -> Any:
    """∇²L at a network, an `arb_mat`; `InvalidProblem` where it is not made in balls."""
    samples = _samples(problem)
    assert samples.y is not None
    X, y = samples.X, samples.y.reshape(-1)
    inputs = np.column_stack([X, np.ones(len(X))]) if problem.bias else X
    neurons = np.column_stack([net.W, net.bias]) if net.bias is not None and problem.bias else net.W
    if problem.bias and net.bias is None:
        neurons = np.column_stack([net.W, np.zeros(net.width)])
    x, outer = _balls(inputs), [arb(float(v)) for v in net.a]
    reach = (x * _balls(neurons).transpose()).tolist()
    value, first, second = zip(*(_of_rows(problem.activation, row) for row in reach), strict=True)
    residual = [
        sum((a * s for a, s in zip(outer, row, strict=True)), arb(0)) - arb(float(t))
        for row, t in zip(value, y, strict=True)
    ]
    slopes = _slopes(problem, inputs, outer, value, first)
    total = slopes.transpose() * slopes
    n, free = inputs.shape[1], problem.outer is None
    for i in range(net.width):
        bend = _weighted(x, [r * outer[i] * row[i] for r, row in zip(residual, second, strict=True)])
        mixed = [r * row[i] for r, row in zip(residual, first, strict=True)]
        mix = (arb_mat([mixed]) * x).entries()
        place = _places(problem, i, n)
        for j, row in enumerate(place):
            for k, column in enumerate(place):
                total[row, column] += bend[j, k]
            if free:
                own = problem.size - net.width + i
                total[row, own] += mix[j]
                total[own, row] += mix[j]
    return total * (arb(2) / len(X))


def _samples(problem: Problem) -> Samples:
    samples = problem.data.as_samples()
    if samples is None or samples.y is None or samples.given is not None or problem.target is not None:
        raise InvalidProblem(f"Labelled samples of equal weight are needed; this is {problem!r}.")
    if problem.outputs != 1 or problem.norm_neuron or problem.orthogonality:
        raise InvalidProblem("One output, no norm neuron and no penalty are needed.")
    if samples.X.shape[0] * problem.size > LARGEST:
        raise InvalidProblem(
            f"{samples.X.shape[0]:,} samples and {problem.size} parameters are too many balls."
        )
    return samples


def _places(problem: Problem, neuron: int, inputs: int) -> list[int]:
    """Where the weights of a neuron, and then its bias, stand in θ."""
    n = problem.n
    own = list(range(neuron * n, (neuron + 1) * n))
    return own if inputs == n else [*own, problem.width * n + neuron]


def _slopes(problem: Problem, inputs: Any, outer: list[Any], value: Any, first: Any) -> Any:
    """∇f, a row a sample, in the order of θ."""
    rows = []
    for s, x in enumerate(inputs):
        line = [arb(0)] * problem.size
        for i, a in enumerate(outer):
            slope = a * first[s][i]
            for place, entry in zip(_places(problem, i, len(x)), x, strict=True):
                line[place] = slope * arb(float(entry))
        if problem.outer is None:
            line[problem.size - problem.width :] = value[s]
        rows.append(line)
    return arb_mat(rows)


def _of_rows(activation: Activation, reach: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """σ, σ′ and σ″ at balls."""
    triples = [_values(activation, z) for z in reach]
    return [t[0] for t in triples], [t[1] for t in triples], [t[2] for t in triples]


def _values(activation: Activation, z: Any) -> tuple[Any, Any, Any]:
    if isinstance(activation, PolynomialActivation):
        value = slope = bend = arb(0)
        for coefficient in reversed(activation.coefficients.tolist()):
            bend = bend * z + 2 * slope
            slope = slope * z + value
            value = value * z + arb(float(coefficient))
        return value, slope, bend
    if isinstance(activation, ReLU):
        if not (z > 0 or z < 0):
            raise NotConverged(
                "A sample lies on the wall of a ReLU neuron: the loss has no second derivative there."
            )
        return (z, arb(1), arb(0)) if z > 0 else (arb(0), arb(0), arb(0))
    if isinstance(activation, Smooth) and activation.function is NAMED["tanh"][0]:
        value = z.tanh()
        slope = 1 - value * value
        return value, slope, -2 * value * slope
    raise InvalidProblem(f"{activation!r} is not known in balls; polynomials, ReLU and tanh are.")


def _weighted(x: Any, weights: list[Any]) -> Any:
    """Σ_s weight_s x_s x_sᵀ."""
    scaled = arb_mat([[w * entry for entry in row] for w, row in zip(weights, x.tolist(), strict=True)])
    return x.transpose() * scaled


def _balls(matrix: Any) -> Any:
    return arb_mat([[arb(float(entry)) for entry in row] for row in matrix])
