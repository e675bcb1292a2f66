"""Limits of one neuron a p(w·x + b), a trained, that it does not attain, and which of them are critical.

- *at infinity*: a → 0, w = v/ε: a function c v^d, v linear (affine with a bias). With p(z) = c_d z^d + c_j z^j + …, j
  the next power (with a bias about the point where c_(d−1) = 0), networks beside it are v^d + ε^(d−j) (c_j/c_d) v^j + …
- *at zero* (no bias, no constant): a → ∞, w = εv: the lowest power alone, and beside it the next one, with ε^gap.
- *at a zero of p* (a bias): a → ∞ and b → z₀, p(z₀) = 0: affine functions, beside them ε p″(z₀).

Where that exponent is odd, ε may have both signs: the closure goes on through the limit, which is critical only where
the loss is flat that way. Where it is even, limits are a boundary; one is a local minimum if it is one among limits and
the loss grows inwards. With p″(z₀) ≠ 0 affine functions are of the first kind, and not lowest unless the loss is flat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import Polynomial as Series

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import PolynomialActivation, Power
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array

#: Coefficients of the moved activation below this share of the largest are rounding of the shift.
NO_COEFFICIENT = 1e-12
#: ε of the network that stands for a limit: its function is off by about as much.
NEARLY = 1e-4
#: The worst that a chart of limits may be for the lowest of them to be known.
KNOWN = ("proved", "count-matched", "trace-tested")


@dataclass(frozen=True)
class Limits:
    """Critical limits, marked, how complete their list is, and whether all that can be lowest are among them."""

    placed: list[Placed]
    completeness: str
    notes: list[str]
    closed: bool


def one_neuron_limits(
    problem: Problem, space: PolynomialSpace, charted: Callable[[Problem], Chart]
) -> Limits:
    """The limits of a problem of one trained neuron; `charted` makes charts of powers."""
    assert isinstance(problem.activation, PolynomialActivation)
    p, shift = centred_activation(problem)
    support = [j for j, c in enumerate(p) if c]
    placed: list[Placed] = []
    notes: list[str] = []
    levels = ["proved"]
    ends = [(support[-1], support[-2])] if len(support) > 1 else []
    if not problem.bias and len(support) > 1 and support[0]:
        ends.append((support[0], support[1]))
    for own, beside in ends:
        found, level = _of_power(problem, space, p, shift, own, beside, charted)
        placed += found
        levels.append(level)
        notes.append(f"limits: the power {own} alone ({level})")
    closed = all(level in KNOWN for level in levels) and not (problem.bias and _has_double_zero(p))
    return Limits(placed, weakest(levels), notes, closed)


def centred_activation(problem: Problem) -> tuple[Array, float]:
    """The coefficients of p, with a bias about −shift, where the power d − 1 vanishes."""
    assert isinstance(problem.activation, PolynomialActivation)
    c = problem.activation.coefficients
    if not problem.bias or len(c) < 2:
        return np.asarray(c, np.float64), 0.0
    shift = float(c[-2] / ((len(c) - 1) * c[-1]))
    moved = np.asarray(Series(c)(Series([-shift, 1.0])).coef, np.float64)
    moved[-2] = 0.0
    moved[np.abs(moved) < NO_COEFFICIENT * np.abs(c).max()] = 0.0
    return moved, shift


def _has_double_zero(p: Array) -> bool:
    """Whether p and p′ have a real zero in common: affine limits are a boundary, or more, there."""
    zeros = Series(p).roots()
    real = zeros[np.abs(zeros.imag) <= NEARLY * (1 + np.abs(zeros))].real
    return bool(
        np.any(np.abs(Series(p).deriv()(real)) <= NEARLY)
        or np.any(np.abs(Series(p).deriv(2)(real)) <= NEARLY)
    )


def _of_power(
    problem: Problem,
    space: PolynomialSpace,
    p: Array,
    shift: float,
    own: int,
    beside: int,
    charted: Callable[[Problem], Chart],
) -> tuple[list[Placed], str]:
    """Critical functions a z^own, z linear (affine with a bias), that are limits."""
    rows = np.ones(len(space.at), bool) if problem.bias else space.at == own
    target = np.linalg.solve(space.gram[np.ix_(rows, rows)], space.right[rows])
    if not np.any(target):
        return [], "proved"
    if own == 1:
        functions, level = [(target / p[1], 1.0, (int(rows.sum()), 0, 0))], "proved"
    else:
        tensor = space.tensor(target) if problem.bias else SymmetricTensor(target, problem.n, own)
        samples = problem.data.as_samples()
        data = problem.data if samples is None else Samples(samples.X, weights=samples.given)
        plain = Problem(tensor, data, 1, Power(own), bias=problem.bias)
        chart = charted(plain)
        level = chart.completeness
        nets = [(x.network, x.signature) for x in chart.critical if x.rank == 1]
        functions = [(_vector(net), float(np.ravel(net.a)[0]) / p[own], sign) for net, sign in nets]
    made = [_placed(problem, space, p, shift, own, beside, v, a, sign) for v, a, sign in functions]
    return [item for item in made if item is not None], level


def _vector(net: Network) -> Array:
    """w, or (b, w)."""
    return net.W[0] if net.bias is None else np.append(net.bias[0], net.W[0])


def _entries(problem: Problem, space: PolynomialSpace, power: int, v: Array) -> Array:
    """The coordinates of v^power."""
    if problem.bias:
        return Neuron.affine([float(j == power) for j in range(space.degree + 1)], problem.n).values(v)
    full = Neuron.of_degrees(space.degrees, problem.n).values(v)
    return np.where(space.at == power, full, 0.0)


def _placed(
    problem: Problem,
    space: PolynomialSpace,
    p: Array,
    shift: float,
    own: int,
    beside: int,
    v: Array,
    a: float,
    signature: tuple[int, int, int],
) -> Placed | None:
    entries = a * p[own] * _entries(problem, space, own, v)
    side = a * p[beside] * _entries(problem, space, beside, v)
    inward = float(side @ (space.gram @ entries - space.right))
    size = POINT_ERROR * float(np.abs(side) @ (np.abs(space.right) + np.abs(space.gram @ entries)))
    flat = abs(inward) <= size
    if (own - beside) % 2 and not flat:
        return None
    kind = "saddle" if signature[2] or (inward < 0 and not flat) else "local minimum"
    kind = "degenerate" if kind == "local minimum" and (flat or signature[1]) else kind
    epsilon = NEARLY if own < beside else 1 / NEARLY
    w, weight = v * epsilon, a / epsilon**own
    bias = None
    if problem.bias:
        bias, w = np.array([w[0] - shift]), w[1:]
    net = Network(w[None], [weight], problem.activation, bias=bias)
    point = NeuronPoint(v[None], np.array([a]), entries, signature, None, True)
    return replace(Placed(point, net), kind=kind)
