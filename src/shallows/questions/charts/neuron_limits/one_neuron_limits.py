"""Limits of one neuron a p(w·x + b), a trained, that it does not attain, and which of them are critical.

Write L for w·x, or b + w·x. A sequence a p(L) with a limit has L and a bounded, a network, or is one of these:

- *at infinity*: a → 0, L = v/ε: a function c v^d, v linear (affine with a bias). With p(z) = c_d z^d + c_j z^j + …, j
  the next power (with a bias about the point where c_(d−1) = 0), networks beside it are v^d + ε^(d−j) (c_j/c_d) v^j + …
  A bias that grows faster than w makes v constant, and no lower power stays beside it.
- *at a zero of p*: a → ∞, L = z₀ + εv, p(z₀) = 0 (without a bias z₀ = 0): a function c v^m, m the multiplicity of z₀,
  and beside it v^m + ε^(j−m) (c_j/c_m) v^j + …, the c_j those of p about z₀.

Where that exponent is odd, ε may have both signs: the closure goes on through the limit, which is critical only where
the loss is flat that way. Where it is even, limits are a boundary; one is a local minimum if it is one among limits and
the loss grows inwards. Zeros of the same multiplicity have the same limits, each with networks of its own beside them:
what is lowest is so beside each. Critical functions c v^m, v affine, are the chart of a power with a bias.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.neuron_limits.ends import End, ends
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array

#: ε of the network that stands for a limit: its function is off by about as much.
NEARLY = 1e-4
#: The worst that a chart of limits may be for the lowest of them to be known.
KNOWN = ("proved", "count-matched", "trace-tested")


@dataclass(frozen=True)
class Limits:
    """Critical limits, marked, how complete their list is, and whether all that can be lowest are among them.

    `optional` ones are out of scope where that is not so, `searched` ones are found by a search.
    """

    placed: list[Placed]
    completeness: str
    notes: list[str]
    closed: bool
    optional: bool = False
    searched: bool = False


@dataclass(frozen=True)
class PowerLimit:
    """A critical function a v^own among those limits, and its signature there."""

    v: Array
    a: float
    signature: tuple[int, int, int]


def one_neuron_limits(
    problem: Problem, space: PolynomialSpace, charted: Callable[[Problem], Chart]
) -> Limits:
    """The limits of a problem of one trained neuron; `charted` makes charts of powers."""
    placed: list[Placed] = []
    notes: list[str] = []
    levels = ["proved"]
    places = [end for end in ends(problem) if end.own]
    for own in sorted({end.own for end in places}, reverse=True):
        functions, level = _critical_powers(problem, space, own, charted)
        alike = [end for end in places if end.own == own]
        made = [_placed(problem, space, alike, limit) for limit in functions]
        placed += [item for item in made if item is not None]
        levels.append(level)
        notes.append(f"limits: the power {own} alone ({level})")
    return Limits(placed, weakest(levels), notes, all(level in KNOWN for level in levels))


def _critical_powers(
    problem: Problem, space: PolynomialSpace, own: int, charted: Callable[[Problem], Chart]
) -> tuple[list[PowerLimit], str]:
    """Critical functions a v^own, v linear (affine with a bias), and how complete their list is."""
    rows = space.at <= own if problem.bias else space.at == own
    target = np.linalg.solve(space.gram[np.ix_(rows, rows)], space.right[rows])
    if not np.any(target):
        return [], "proved"
    if own == 1:
        return [PowerLimit(target, 1.0, (int(rows.sum()), 0, 0))], "proved"
    shares = [float(comb(own, i)) for i in space.at[rows]] if problem.bias else 1.0
    tensor = SymmetricTensor(target / shares, problem.n + problem.bias, own)
    samples = problem.data.as_samples()
    data = problem.data if samples is None else Samples(samples.X, weights=samples.given)
    chart = charted(Problem(tensor, data, 1, Power(own), bias=problem.bias))
    points = [x for x in chart.critical if x.rank == 1]
    found = [PowerLimit(_vector(x.network), float(np.ravel(x.network.a)[0]), x.signature) for x in points]
    return found, chart.completeness


def _vector(net: Network) -> Array:
    """w, or (b, w)."""
    return net.W[0] if net.bias is None else np.append(net.bias[0], net.W[0])


def _entries(problem: Problem, space: PolynomialSpace, power: int, v: Array) -> Array:
    """The coordinates of v^power."""
    if problem.bias:
        return Neuron.affine([float(j == power) for j in range(space.degree + 1)], problem.n).values(v)
    full = Neuron.of_degrees(space.degrees, problem.n).values(v)
    return np.where(space.at == power, full, 0.0)


def _placed(problem: Problem, space: PolynomialSpace, places: list[End], limit: PowerLimit) -> Placed | None:
    """A limit at all of these ends; None where the closure goes on through it at each, and the loss is not flat."""
    own = places[0].own
    entries = limit.a * _entries(problem, space, own, limit.v)
    slopes = [_inward(problem, space, end, limit, entries) for end in places]
    through = [not end.is_boundary and slope != 0 for end, slope in zip(places, slopes, strict=True)]
    if all(through):
        return None
    falls = any(through) or min(slopes) < 0
    kind = "saddle" if limit.signature[2] or falls else "local minimum"
    kind = "degenerate" if kind == "local minimum" and (0 in slopes or limit.signature[1]) else kind
    shown = min((i for i in range(len(places)) if not through[i]), key=lambda i: slopes[i])
    point = NeuronPoint(limit.v[None], np.array([limit.a]), entries, limit.signature, None, True)
    return replace(Placed(point, _near(problem, places[shown], limit)), kind=kind)


def _inward(problem: Problem, space: PolynomialSpace, end: End, limit: PowerLimit, entries: Array) -> float:
    """Half the slope of the loss from a limit to the networks beside it, 0.0 where that is rounding."""
    side = limit.a * float(end.share(1)) * _entries(problem, space, end.beside, limit.v)
    slope = float(side @ (space.gram @ entries - space.right))
    size = float(np.sqrt(max(float(side @ space.gram @ side), 0.0) * float(space.energy)))
    return 0.0 if abs(slope) <= POINT_ERROR * size else slope


def _near(problem: Problem, end: End, limit: PowerLimit) -> Network:
    """A network beside the limit."""
    epsilon = NEARLY if end.own < end.beside else 1 / NEARLY
    w, weight = limit.v * epsilon, limit.a / float(end.coefficients[0]) / epsilon**end.own
    bias = None
    if problem.bias:
        bias, w = np.array([w[0] + float(end.place)]), w[1:]
    return Network(w[None], [weight], problem.activation, bias=bias)
