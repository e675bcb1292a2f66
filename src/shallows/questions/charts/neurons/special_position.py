"""Neurons in special position, to which no path between generic networks leads, by counting dimensions.

A network is critical where e, half the gradient of the loss, vanishes on t vectors a neuron: ψ(w), if a is trained, and
∂ψ(w). Let r neurons lie in a space of k dimensions. That is c = (r − k)(n − k) conditions on them, and of their vectors

    r·t lie among the N functions of k inputs,     r(n − k) among n − k times the N′ slopes across that space:

by δ = (r·t − N)₊ + (n − k)(r − N′)₊ there are fewer independent ones, and so many more residuals e. Where δ ≥ c ≥ 1
every target has critical networks like these, beside those that are continued. In k = n dimensions, where c = 0, the
vectors are dependent on a hypersurface if r·t = N, functions fill their space, and near generic networks e = 0.

On that hypersurface there is nothing new for r ≤ n, all independent neurons being alike; with a fixed it is charted, or
the chart is "sampled" (`filled`).
"""

from __future__ import annotations

from math import comb

import numpy as np

from shallows.model.activations import polynomial_of
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.wide_line import is_wide_line
from shallows.questions.charts.neurons.wide_plane import is_wide_plane

#: The degree at which neurons are not charted one by one.
QUADRATIC = 2
#: What is left out where neurons can be in special position.
REGULAR = (
    "networks near which functions have as many dimensions as weights, up to scales: paths do not lead to neurons in "
    "special position"
)


def leaves_special_out(problem: Problem) -> bool:
    """Whether one output's neurons can be in special position and are not charted there.

    Trained ones with parallel weights, and in one input without bias, have modules of their own (`on_one_line`,
    `double_roots`); of pure powers all multiples of w are one neuron, and quadratic neurons go by matrices.
    """
    trained, n = problem.outer is None, problem.n
    if polynomial_of(problem.activation).degree == QUADRATIC:
        return False
    if is_wide_line(problem) or is_wide_plane(problem) or (trained and n == 1 and not problem.bias):
        return False
    slopes = np.flatnonzero(polynomial_of(problem.activation).coefficients[1:])
    if len(slopes) == 1 and not problem.bias:
        return False
    for r in range(2, problem.width + 1):
        if any(_is_apart(problem, r, k) for k in range(1 + trained, min(r, n))):
            return True
        if trained and r > n and r * _vectors(problem, n) == _functions(problem, n):
            return True
    return False


def _is_apart(problem: Problem, r: int, k: int) -> bool:
    """Whether δ ≥ c for r neurons in a space of k < n dimensions."""
    fewer = max(r * _vectors(problem, k) - _functions(problem, k), 0)
    fewer += (problem.n - k) * max(r - _slopes(problem, k), 0)
    return fewer >= (r - k) * (problem.n - k)


def _vectors(problem: Problem, k: int) -> int:
    """t, in a space of k dimensions."""
    return k + problem.bias + (problem.outer is None)


def _functions(problem: Problem, k: int) -> int:
    """N, without constants where a is fixed and they are."""
    powers = _powers(problem)
    if problem.outer is not None and not problem.bias:
        powers = powers[powers > 0]
    return sum(comb(k + j - 1, j) for j in powers.tolist())


def _slopes(problem: Problem, k: int) -> int:
    """N′, the functions of k inputs that are multiplied by one across."""
    powers = _powers(problem)
    return sum(comb(k + j - 2, j - 1) for j in powers[powers > 0].tolist())


def _powers(problem: Problem) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    """Those of p, with a bias all of them."""
    c = polynomial_of(problem.activation).coefficients
    return np.arange(len(c)) if problem.bias else np.flatnonzero(c)
