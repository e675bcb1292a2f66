"""Every real critical point of neurons with fixed outer weights, by interval exclusion over all of their weights.

With a fixed the loss is a polynomial in u = (u₁, …, u_r), uᵢ = wᵢ, or (b, w) with b counted from the centre of p:

    L = s·Gs − 2s·b + E y²,    s = Σ aᵢ ψ(uᵢ),

and its part of degree 2d is positive in all directions for one neuron, and for several where d is even and the a have
one sign. So critical points are in a cube, or u = v/σ with v on a face of one; with the parts L_k of degree k

    u·∇L = Σ k L_k(v) σ^(2d−k),    ∂_v Σ L_k(v) σ^(2d−k),

the first of which does not vanish at σ = 0. Paths over C lose points on their way to special targets; over the reals
nothing is lost. Zeros at which neurons are one, or still, belong to other arrangements (`groups`) and are left out,
which is proved of each. Not decided are critical sets with a dimension, and points that are not simple.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.exact.binary_forms import affine, real_roots
from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.exclusion.system import Plain
from shallows.mathematics.exclusion.tape import Tape
from shallows.mathematics.same_points import PointSet
from shallows.model.activations import PolynomialActivation
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neuron_limits.ends import about, centred_activation
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.excluded import FEW_BOXES, MOST_BOXES, AllReal, with_all_real
from shallows.questions.charts.neurons.patches import neuron_polynomials
from shallows.questions.charts.neurons.polynomials import Polynomial, Sums, combination, product, slope
from shallows.questions.charts.neurons.stratum import NeuronStratum, neuron_stratum, own_neuron
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: Weights of all neurons, biases too, up to which places are searched: four take about a second, and six of generic
#: targets millions of boxes.
MOST_WEIGHTS = 6
#: The cube that is searched first, in sizes at which the network's highest part is as large as the target: nearly all
#: critical points are in it, the others beyond.
ROOM = 1.5


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
    stratum = neuron_stratum(problem, space, r, outer, True, seed, tell, patient=False)
    if stratum.completeness == "proved":
        return stratum
    lost = stratum.completeness == "sampled"
    places = FixedPlaces(problem, space, tuple(outer.tolist()))
    proof = all_real(places, stratum.system, MOST_BOXES if lost else FEW_BOXES, tell)
    if proof is not None:
        return with_all_real(stratum, proof, r)
    return neuron_stratum(problem, space, r, outer, True, seed, tell) if lost else stratum


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
    points = np.array(rows, np.complex128).reshape(-1, places.unknowns)
    proof = certify(system, points)
    if len(proof.distinct) + len(proof.repeated) < len(points):
        return None
    roots = np.array([root.point for root in proof.certified], np.complex128).reshape(-1, places.unknowns)
    return AllReal(PointSet(roots, invariants=system.equations.tensors).points, boxes)


class Gradient(Plain):
    """Polynomial equations, values and slopes each by one tape.

    >>> equations = Gradient([{(2, 0): Fraction(1), (0, 1): Fraction(-1)}, {(1, 1): Fraction(3)}])
    >>> equations(Intervals.exact(np.array([[2.0, 1.0]])), False)[0].mid
    array([[3., 6.]])
    """

    def __init__(self, equations: Sequence[Polynomial]) -> None:
        self.n = len(equations)
        self.equations = equations

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """Values (m, n), and derivatives (m, n, n) where asked for."""
        if not derivative:
            return self._values(box), None
        both = self._both(box)
        shape = (len(box), self.n, self.n)
        slopes = both[:, self.n :]
        return both[:, : self.n], Intervals(slopes.lo.reshape(shape), slopes.hi.reshape(shape))

    @cached_property
    def _values(self) -> Tape:
        def parts(box: Any) -> list[Intervals]:
            sums = Sums(box, self.n)
            return [sums(p) for p in self.equations]

        return Tape(parts, self.n)

    @cached_property
    def _both(self) -> Tape:
        def parts(box: Any) -> list[Intervals]:
            sums = Sums(box, self.n)
            slopes = [slope(p, j) for p in self.equations for j in range(self.n)]
            return [sums(p) for p in [*self.equations, *slopes]]

        return Tape(parts, self.n)


@dataclass(frozen=True, eq=False)
class Patch:
    """Equations in u, or on a face in (σ, v), v_face = 1, and the boxes they are asked about."""

    system: Gradient
    region: Intervals
    face: int | None = None

    def point(self, x: Array) -> Array:
        """u."""
        return x if self.face is None else np.insert(x[1:], self.face, 1.0) / x[0]

    def holds(self, u: Intervals, domain: Intervals) -> bool:
        """Whether a small box of u, (1, M), lies in a domain of the unknowns."""
        if self.face is not None:
            size = u[:, self.face : self.face + 1]
            if size.has_zero.any():
                return False
            lo, hi = 1 / size.hi, 1 / size.lo
            inverse = Intervals(np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf))
            columns = [u[:, j : j + 1] * inverse for j in range(u.lo.shape[1]) if j != self.face]
            parts = [inverse, *columns]
            u = Intervals(np.hstack([p.lo for p in parts]), np.hstack([p.hi for p in parts]))
        return bool(np.all(u.lo >= domain.lo) and np.all(u.hi <= domain.hi))


class FixedPlaces:
    """All places of neurons of a problem with these outer weights."""

    def __init__(self, problem: Problem, space: PolynomialSpace, weights: tuple[float, ...]) -> None:
        self.problem, self.space, self.weights = problem, space, weights
        self.own = problem.n + int(problem.bias)
        self.unknowns = self.own * len(weights)
        assert isinstance(problem.activation, PolynomialActivation)
        self.centre, self.degree = centred_activation(problem)[1], problem.activation.degree
        self.c = about([Fraction(float(x)) for x in problem.activation.coefficients], self.centre)

    @cached_property
    def loss(self) -> Polynomial:
        """L − E y² in u."""
        one = neuron_polynomials(self.space, self.problem.bias, self.c)
        exact, total = self.space.exact, list[Polynomial]()
        for p in one:
            parts = [self._of_neuron(i, p) for i in range(len(self.weights))]
            total.append(combination([Fraction(a) for a in self.weights], parts))
        halves = [combination(list(row), total) for row in exact.gram]
        products = [product(p, q) for p, q in zip(total, halves, strict=True)]
        return combination([Fraction(1)] * len(total) + [-2 * b for b in exact.right], [*products, *total])

    def _of_neuron(self, i: int, p: Polynomial) -> Polynomial:
        before, after = (0,) * (self.own * i), (0,) * (self.own * (len(self.weights) - 1 - i))
        return {(*before, *row, *after): c for row, c in p.items()}

    def patches(self) -> Iterator[Patch]:
        """The cube, and what lies beyond each of its faces."""
        M, reach = self.unknowns, self._reach()
        side = np.full(M, reach)
        yield Patch(Gradient([slope(self.loss, j) for j in range(M)]), Intervals(-side, side))
        far = (1 / reach) * (1 + 2.0**-20)
        side = np.ones(M)
        side[0] = far
        for face in range(M):
            yield Patch(Gradient(self._beyond(face)), Intervals(-side, side), face)

    def _beyond(self, face: int) -> list[Polynomial]:
        whole = {
            (2 * self.degree - sum(row), *row[:face], *row[face + 1 :]): c for row, c in self.loss.items()
        }
        radial = {
            row: c * (2 * self.degree - row[0]) for row, c in whole.items() if row[0] != 2 * self.degree
        }
        return [radial, *(slope(whole, j) for j in range(1, self.unknowns))]

    def _reach(self) -> float:
        """ROOM times the length at which a neuron's highest part is as large as the target, along an axis."""
        leads = [c for row, c in self.loss.items() if max(row) == 2 * self.degree]
        size = float(self.space.energy) / float(min(leads))
        return ROOM * max(1.0, float(size ** (0.5 / self.degree)))

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
        """Whether the zero in a domain has uᵢ = uⱼ: a zero of the equations with one neuron less is in it."""
        weights, kept = list(self.weights), [k for k in range(len(rows)) if k != j]
        weights[i] += weights[j]
        outer = tuple((weights[k],) for k in kept)
        equations = NeuronEquations(own_neuron(self.problem), len(kept), outer=outer)
        merged = rows.copy()
        merged[i] = (rows[i] + rows[j]) / 2
        place = self.shifted(merged[kept].ravel())
        root = certify(NeuronSystem(equations, self.space.exact), place[None].astype(np.complex128)).roots[0]
        if root is None or root.real is not True:
            return False
        shift = float(self.centre) if self.problem.bias else 0.0
        proved = of_arb([ball.real for ball in root.box])
        lo, hi = np.empty((len(rows), self.own)), np.empty((len(rows), self.own))
        for row, k in enumerate(kept):
            part = proved[self.own * row : self.own * (row + 1)]
            lo[k], hi[k] = part.lo, part.hi
        lo[j], hi[j] = lo[i], hi[i]
        u = Intervals(lo, hi) - Intervals.exact(np.where(np.arange(self.own) == 0, shift, 0.0))
        return patch.holds(Intervals(u.lo.reshape(1, -1), u.hi.reshape(1, -1)), domain)
