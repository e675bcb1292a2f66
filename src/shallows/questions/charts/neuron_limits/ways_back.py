"""The ways from a limit back to networks: blocks that open, computed in rational numbers at small ε.

The loss has no slope on the stratum of a critical limit, so what decides is the slope on each way off it. A linear form
beside a power that begins with one, v^d + κε²v + …, is a case of its own: the power may take any share of the form.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial as Series
from numpy.typing import NDArray

from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.closure.term_map import Factors
from shallows.questions.charts.neuron_limits.block_map import BlockMap, neuron_of
from shallows.questions.charts.neuron_limits.blocks import AtEnd, OneNeuron, Single, moved, power
from shallows.questions.charts.neuron_limits.ends import End, Exact
from shallows.questions.charts.neuron_limits.strata import is_linear
from shallows.questions.charts.neurons.idle import network
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.stratum import own_neuron
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL
from shallows.support.checks import Array

#: ε = 2^−k for these k, until the way is shorter than NEAR, in sizes of the target, and the slope of the loss on it,
#: over its length and the size of the target, changes by less than STEADY. Zeros of p are doubles, whose rounding
#: smaller ε would show.
HALVINGS = range(2, 30)
STEADY = 0.05
#: How near to its limit a network is that stands for one, in sizes of the target.
NEAR = 1e-3
#: Two powers take shares of a linear form in these ratios, and the other way round.
RATIOS = (Fraction(1), Fraction(1, 4))


class WaysBack:
    """The ways from a limit, a point of a map, back to networks."""

    def __init__(self, problem: Problem, space: PolynomialSpace, map_: BlockMap, x: Array) -> None:
        self.problem, self.space, self.map = problem, space, map_
        self.blocks = [
            (block, [tuple(map(Fraction, v.tolist())) for v in vectors], list(map(Fraction, weights)))
            for block, vectors, weights in map_.parted(x)
        ]
        exact = [Fraction(value) for value in x.tolist()]
        self.limits = [_value(alone, exact[own]) for alone, own in map(map_.alone, range(len(map_.blocks)))]
        self.limit = np.sum(self.limits, axis=0)
        self.slope = space.exact.gram @ self.limit - space.exact.right

    def slopes(self) -> list[float]:
        """How fast half the loss grows on each way, over the size of the target: between −1 and 1."""
        linear, sharing = self._sharing()
        found = [] if linear is None else self._all_shared_slopes(linear, sharing)
        return found + [
            self._slope(number, end, sign)
            for number, (block, _, _) in enumerate(self.blocks)
            if not isinstance(block, Single) and number not in sharing and number != linear
            for end in block.ends
            for sign in (1, -1)
        ]

    def _sharing(self) -> tuple[int | None, list[int]]:
        """The linear block ℓ and powers beside it whose neurons begin with a linear form: they may take a share ±sv,
        s ≥ 0, of ℓ, and the loss has no slope that way."""
        linear = next((i for i, (block, _, _) in enumerate(self.blocks) if is_linear(block)), None)
        sharing = [
            i
            for i, (block, _, _) in enumerate(self.blocks)
            if isinstance(block, AtEnd) and i != linear and block.ends[0].beside == 1
        ]
        return (linear, sharing) if linear is not None and sharing else (None, [])

    def _all_shared_slopes(self, linear: int, sharing: list[int]) -> list[float]:
        """The least slopes for each power that takes a share; where there are several they may take shares at once, of
        which some are tried, so that none is known to be the least."""
        block, (form,), _ = self.blocks[linear]
        assert isinstance(block, AtEnd)
        taken = []
        for i in sharing:
            own, (v,), (weight,) = self.blocks[i]
            assert isinstance(own, AtEnd)
            sign = 1 if weight * own.ends[0].share(1) > Fraction(0) else -1
            taken.append(tuple(sign * x for x in v))
        mixed = [moved(v, w, ratio) for v, w in permutations(taken, 2) for ratio in RATIOS]
        found = [slope for v in [*taken, *mixed] for slope in self._shared_slopes(block, form, v)]
        return [*found, 0.0] if mixed else found

    def _shared_slopes(self, block: AtEnd, form: Exact, v: Exact) -> list[float]:
        """The least over s ≥ 0 of the slopes κ e((ℓ − sv)^e₁) at each end of the linear block: at zero, where the slope
        turns, and far out."""
        found = []
        for end in block.ends:
            neuron = neuron_of(power(end.beside), self.map.n, self.map.degrees, self.map.bias)
            nodes = np.arange(end.beside + 1.0)
            ways = [_values(neuron, end.share(1), moved(form, v, -Fraction(s))) for s in nodes.tolist()]
            terms = np.linalg.solve(np.vander(nodes, increasing=True), np.array(ways, float))
            rows = [self._height(term) for term in terms]
            kept = (
                terms * (np.abs(rows) > POINT_ERROR)[:, None]
            )  # e(v^(e₁−1)u) = 0 where v^e₁ is the power beside it
            heights = Series(kept @ np.array(self.slope, float)).trim()
            turns = map(complex, heights.deriv().roots().tolist() if heights.degree() > 1 else [])
            places = [0.0, *(s.real for s in turns if abs(s.imag) <= REAL * abs(s) and s.real > 0)]
            seen = [self._height(s ** np.arange(len(kept)) @ kept) for s in places]
            seen.append(rows[heights.degree()] if heights.degree() else seen[0])
            found += seen if end.is_boundary else [*seen, *(-slope for slope in seen)]
        return found

    def _height(self, way: Array) -> float:
        """The slope of half the loss on a way, over its length and the size of the target."""
        size = (float(way @ self.space.gram @ way) * float(self.space.energy)) ** 0.5
        return float(way @ np.array(self.slope, float)) / size if size else 0.0

    def _slope(self, number: int, end: End | None, sign: int) -> float:
        """With one block opened and the others as they are; 0.0 where it does not settle."""
        size, before = float(self.space.energy) ** 0.5, np.inf
        block, vectors, weights = self.blocks[number]
        for k in HALVINGS:
            opened = block.opened(end, vectors, weights, Fraction(sign, 2**k))
            way, length = self._way(opened, self.limits[number])
            slope = float(way @ self.slope) / (length * size) if length else 0.0
            steady = abs(slope - before) <= STEADY * abs(slope) or max(abs(slope), abs(before)) <= POINT_ERROR
            if steady and length <= NEAR * size:
                return slope
            before = slope
        return 0.0

    def _way(self, neurons: list[OneNeuron], limit: NDArray[Any]) -> tuple[NDArray[Any], float]:
        """How far neurons are from their limit, exactly, and the length of that."""
        way = sum(_values(self._neuron, *one) for one in neurons) - limit
        inexact = np.array(way, float)
        return np.asarray(way), float(inexact @ self.space.gram @ inexact) ** 0.5

    @cached_property
    def _neuron(self) -> Neuron:
        return own_neuron(self.problem)

    def network(self) -> Network:
        """A network near the limit, the first on its way."""
        size = NEAR * float(self.space.energy) ** 0.5
        for k in HALVINGS:
            pairs: list[OneNeuron] = []
            for block, vectors, weights in self.blocks:
                pairs += block.opened(block.ends[0], vectors, weights, Fraction(1, 2**k))
            if self._way(pairs, self.limit)[1] <= size:
                break
        W = np.array([[float(entry) for entry in vector] for _, vector in pairs])
        return network(self.problem, W, np.array([float(a) for a, _ in pairs]))


def _value(map_: BlockMap, x: list[Fraction]) -> NDArray[Any]:
    """A map's function, exactly."""
    total = np.array([Fraction(0)] * map_.entries, dtype=object)
    for term in map_.terms:
        total[term.entry] += term.coefficient * _product(x, term.factors)
    return total


def _product(x: list[Fraction], factors: Factors) -> Fraction:
    result = Fraction(1)
    for p, e in factors:
        result *= x[p] ** e
    return result


def _values(neuron: Neuron, weight: Fraction, vector: Exact) -> NDArray[Any]:
    """weight · ψ(vector), exactly."""
    powers = [[x**e for e in range(neuron.degree + 1)] for x in vector]
    total = np.array([Fraction(0)] * neuron.size, dtype=object)
    for entry, c, row in neuron.terms:
        product = Fraction(c)
        for x, e in enumerate(row):
            product *= powers[x][e] if e else 1
        total[entry] += product
    return np.array([weight * value for value in total], dtype=object)
