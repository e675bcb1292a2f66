"""Neurons with nothing to do: networks that are wider than the function they have needs.

With a trained, a neuron of weight a = 0 leaves the gradient zero where E[p(w·x + b) r] = 0, r the residual: at a copy
of another neuron of a critical network. The zero function has none to copy: there w must be a zero of E[p(w·x + b) y].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.checks import Array
from shallows.support.tolerances import SQRT_EPSILON

#: So many lines through the origin are searched for a zero.
LINES = 64


def network(problem: Problem, W: Array, a: Array) -> Network:
    """The problem's network with these neurons ((b, w) with a bias), idle ones copies of the first, with a = 0.

    a is (r,), or (M, r) for several outputs.
    """
    idle = problem.width - len(W)
    W = np.concatenate([W, np.repeat(W[:1], idle, axis=0)])
    a = np.concatenate([a, np.zeros((*a.shape[:-1], idle))], axis=-1)
    if problem.bias:
        return Network(W[:, 1:], a, problem.activation, bias=W[:, 0])
    return Network(W, a, problem.activation)


def zero_network(problem: Problem, neuron: Neuron, right: Array) -> Network | None:
    """The zero function as a critical network: a = 0 and E[p(w·x + b) y] = ψ(w)·right = 0; None if no w was found."""
    W = _vanishing(neuron, right)
    return None if W is None else network(problem, W[None], np.zeros(1))


def _vanishing(neuron: Neuron, right: Array) -> Array | None:
    """A real w with ψ(w)·right = 0, the origin first, then on lines through it."""
    by_degree = [
        (sum(row), coefficient * right[entry], row)
        for entry, coefficient, row in neuron.terms
        if right[entry]
    ]
    if not any(degree == 0 for degree, _, _ in by_degree):
        return np.zeros(neuron.n)
    top = max(degree for degree, _, _ in by_degree)
    rng = np.random.default_rng(0)
    for u in [*np.eye(neuron.n), *rng.standard_normal((LINES, neuron.n))]:
        line = np.zeros(top + 1)
        for degree, weight, row in by_degree:
            line[degree] += weight * float(np.prod(u ** np.array(row)))
        real = _real_roots(line)
        if len(real):
            return np.asarray(real[np.abs(real).argmin()] * u)
    return None


def _real_roots(line: Sequence[float] | Array) -> Array:
    roots = np.roots(np.asarray(line)[::-1])
    return np.asarray(roots[np.abs(roots.imag) <= SQRT_EPSILON * np.abs(roots)].real)
