"""Every real critical point of neurons with fixed outer weights, by interval exclusion over all of their weights.

With a fixed the loss is a polynomial in u = (u₁, …, u_r), uᵢ = wᵢ, or (b, w) with b counted from the centre of p:

    L = s·Gs − 2s·b + E y²,    s = Σ aᵢ ψ(uᵢ),

and its part of degree 2d is positive in all directions for one neuron, and for several where d is even and the a have
one sign: it grows on all sides (`growing`). Paths over C lose points on their way to special targets; over the reals
nothing is lost. Zeros at which neurons are one, or still, belong to other arrangements (`groups`) and are left out,
which is proved of each. Not decided are critical sets with a dimension, and points that are not simple.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations

import numpy as np

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.exact.binary_forms import affine, real_roots
from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.mathematics.exclusion.search import exclude
from shallows.model.activations import polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neuron_limits.ends import about, centred_activation
from shallows.questions.charts.neurons import growing
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.excluded import (
    MOST_BOXES,
    AllReal,
    is_long_to_count,
    paths_and_boxes,
    told_apart,
)
from shallows.questions.charts.neurons.growing import Patch
from shallows.questions.charts.neurons.patches import neuron_polynomials
from shallows.questions.charts.neurons.polynomials import Polynomial, combination
from shallows.questions.charts.neurons.stratum import NeuronStratum, neuron_stratum, own_neuron
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: Weights of all neurons, biases too, up to which places are searched: four take about a second, and six of generic
#: targets millions of boxes.
MOST_WEIGHTS = 6


def is_excludable(problem: Problem, weights: Array) -> bool:
    """Whether the loss grows on all sides, and there are few enough unknowns.

    Several neurons that may be still at w = 0 are left to paths: a network may have any of them there.
    """
    c = centred_activation(problem)[0]
    if len(weights) * (problem.n + int(problem.bias)) > MOST_WEIGHTS or not all(weights):
        return False
    may_rest = problem.bias or not c[1]
    return len(weights) == 1 or not (may_rest or (len(c) - 1) % 2 or np.ptp(np.sign(weights)))


def fixed_stratum(
    problem: Problem, space: PolynomialSpace, outer: Array, seed: int, tell: Shown = False
) -> NeuronStratum:
    """The critical networks of different neurons with these weights: by paths, real ones proved where intervals can."""
    r = len(outer)
    places = FixedPlaces(problem, space, tuple(outer.tolist()))
    own = NeuronEquations(own_neuron(problem), r, outer=tuple((a,) for a in places.weights))
    by_paths = partial(neuron_stratum, problem, space, r, outer, True, seed, tell)
    return paths_and_boxes(
        by_paths,
        lambda system, most: all_real(places, system, most, tell),
        r,
        NeuronSystem(own, space.exact) if is_long_to_count(problem) else None,
    )


def all_real(
    places: FixedPlaces, system: NeuronSystem, most: int = MOST_BOXES, tell: Shown = False
) -> AllReal | None:
    """All real critical points with different neurons, none still; None where the search leaves something open."""
    rows, boxes = list[Array](), 0
    for patch in places.patches():
        found = exclude(patch.system, patch.region, most=most, progress=tell)
        boxes += found.boxes
        if not found.complete:
            return None
        for k, x in enumerate(found.box.mid):
            belongs = places.belongs(patch, x, found.domain[k])
            if belongs is None:
                return None
            rows += [places.shifted(patch.point(x))] if belongs else []
    return told_apart(system, np.array(rows, np.complex128).reshape(-1, places.unknowns), boxes)


class FixedPlaces:
    """All places of neurons of a problem with these outer weights."""

    def __init__(self, problem: Problem, space: PolynomialSpace, weights: tuple[float, ...]) -> None:
        self.problem, self.space, self.weights = problem, space, weights
        self.own = problem.n + int(problem.bias)
        self.unknowns = self.own * len(weights)
        self.centre = centred_activation(problem)[1]
        self.c = about(
            [Fraction(float(x)) for x in polynomial_of(problem.activation).coefficients], self.centre
        )

    @cached_property
    def loss(self) -> Polynomial:
        """L − E y² in u."""
        weights = [Fraction(a) for a in self.weights]
        one = neuron_polynomials(self.space, self.problem.bias, self.c)
        parts = [[self._of_neuron(i, p) for i in range(len(weights))] for p in one]
        return growing.loss_of([combination(weights, row) for row in parts], self.space.exact)

    def _of_neuron(self, i: int, p: Polynomial) -> Polynomial:
        before, after = (0,) * (self.own * i), (0,) * (self.own * (len(self.weights) - 1 - i))
        return {(*before, *row, *after): c for row, c in p.items()}

    def patches(self) -> Iterator[Patch]:
        """The cube, and what lies beyond each of its faces."""
        return growing.patches(self.loss, float(self.space.energy))

    def shifted(self, u: Array) -> Array:
        """The neurons' own weights: biases are counted from zero."""
        rows = u.reshape(-1, self.own).copy()
        rows[:, 0] += float(self.centre) if self.problem.bias else 0.0
        return rows.ravel()

    def belongs(self, patch: Patch, x: Array, domain: Intervals) -> bool | None:
        """Whether the zero in a domain has different neurons, none of them still; None where it is not decided."""
        if any(patch.holds(u, domain) for u in self._still):
            return False
        rows = patch.point(x).reshape(-1, self.own)
        near = [(i, j) for i, j in combinations(range(len(rows)), 2) if self._may_meet(patch, domain, i, j)]
        if not near:
            return True
        return False if any(self._meet(patch, rows, domain, i, j) for i, j in near) else None

    @cached_property
    def _still(self) -> list[Intervals]:
        """One neuron at w = 0 where p is flat: critical whatever the target is."""
        if len(self.weights) > 1:
            return []
        flat = [j * c for j, c in enumerate(self.c)][1:]
        if not self.problem.bias:
            return [] if flat[0] else [Intervals.exact(np.zeros((1, self.own)))]
        found = []
        for zero, _ in real_roots(affine(flat)):
            b = of_arb([zero])
            rest = np.zeros((1, self.own - 1))
            found.append(Intervals(np.hstack([b.lo[None], rest]), np.hstack([b.hi[None], rest])))
        return found

    def _may_meet(self, patch: Patch, domain: Intervals, i: int, j: int) -> bool:
        """Whether uᵢ = uⱼ somewhere in a domain: on a face, where σuᵢ = σuⱼ."""
        m = self.own
        places = list(range(self.unknowns))
        if patch.face is not None:
            places = [0 if k == patch.face else k + (k < patch.face) for k in places]
        lo, hi = domain.lo[places], domain.hi[places]
        if patch.face is not None:
            lo[patch.face] = hi[patch.face] = 1.0
        return bool(
            np.all(lo[m * i : m * (i + 1)] <= hi[m * j : m * (j + 1)])
            and np.all(hi[m * i : m * (i + 1)] >= lo[m * j : m * (j + 1)])
        )

    def _meet(self, patch: Patch, rows: Array, domain: Intervals, i: int, j: int) -> bool:
        """Whether the zero in a domain has uᵢ = uⱼ: a zero of the equations with one neuron less is in it.

        Several neurons have no bias here: u are their weights.
        """
        weights, kept = list(self.weights), [k for k in range(len(rows)) if k != j]
        weights[i] += weights[j]
        outer = tuple((weights[k],) for k in kept)
        equations = NeuronEquations(own_neuron(self.problem), len(kept), outer=outer)
        merged = rows.copy()
        merged[i] = (rows[i] + rows[j]) / 2
        place = merged[kept].reshape(1, -1).astype(np.complex128)
        root = certify(NeuronSystem(equations, self.space.exact), place).roots[0]
        if root is None or root.real is not True:
            return False
        proved = of_arb([ball.real for ball in root.box])
        order = [kept.index(i if k == j else k) for k in range(len(rows))]
        places = [self.own * row + x for row in order for x in range(self.own)]
        return patch.holds(Intervals(proved.lo[None, places], proved.hi[None, places]), domain)
