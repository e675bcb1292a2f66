"""Neurons at w = 0, where the activation is flat: constants, which the equations in w cannot leave.

Without bias that is so when p has no linear part, and the value is p(0); with a bias at every zero b of p′, with p(b).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.signature import signature
from shallows.model.activations import polynomial_of
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.idle import network
from shallows.questions.charts.points.kinds import kind_at
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.support.checks import Array
from shallows.support.tolerances import SQRT_EPSILON

#: Biases at which a constant is looked at when every bias gives a critical network: from −14 to 14, densest at 0.
BIASES = np.tan(np.linspace(-1.5, 1.5, 66))


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
    c = polynomial_of(problem.activation).coefficients
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


def any_constants(problem: Problem) -> list[ConstantNeuron]:
    """Neurons at w = 0 with a value that is not zero, at a few biases where there are any: they stay where the loss is
    flat."""
    c = polynomial_of(problem.activation).coefficients
    biases = range(len(c)) if problem.bias else range(1)
    made = [
        ConstantNeuron(
            np.array([float(b)] * problem.bias + [0.0] * problem.n),
            float(np.polynomial.polynomial.polyval(b, c)),
        )
        for b in biases
    ]
    return [neuron for neuron in made if neuron.value]


def constant_network(
    problem: Problem, value: Array | float, constants: list[ConstantNeuron]
) -> tuple[Network, str]:
    """The network of a constant, one number an output, at which the loss bends down most, and what kind of point that
    makes it; beside idle neurons the first, and "".

    One function, several networks (0, b, a): the zeros b of p′; if E[r x] = 0 for the residual r all b. Where one of
    them is a saddle so is the function. Along b the loss is then flat without being degenerate.
    """

    def made(neuron: ConstantNeuron) -> Network:
        return network(problem, neuron.w[None], np.asarray(value)[..., None] / neuron.value)

    if problem.width > 1:
        return made(constants[0]), ""
    nets = [made(c) for c in constants]
    flat = 0
    if problem.bias:
        c = polynomial_of(problem.activation).coefficients
        values = np.polynomial.polynomial.polyval(BIASES, c)
        moved = [
            made(ConstantNeuron(np.concatenate([[b], np.zeros(problem.n)]), float(value)))
            for b, value in zip(BIASES, values, strict=True)
            if abs(value) > SQRT_EPSILON
        ]
        if all(_rests(problem, net) for net in moved):
            nets, flat = nets + moved, 1
    spectra = [np.linalg.eigvalsh(problem.hessian(net)) for net in nets]
    lowest = min(range(len(nets)), key=lambda i: float(spectra[i][0] / np.abs(spectra[i]).max()))
    return nets[lowest], kind_at(signature(spectra[lowest], POINT_ERROR), flat)


def _rests(problem: Problem, net: Network) -> bool:
    """Whether the gradient vanishes, against the Hessian."""
    size = float(np.abs(problem.hessian(net)).max())
    return float(np.abs(problem.gradient(net)).max()) <= POINT_ERROR * size
