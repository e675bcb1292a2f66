"""The places of one neuron a p(b + w·x), or a p(w·x), in boxes: what lies in the middle, far out, and near zeros of p.

With p(z₀ + z) = Σ c_k z^k, the neuron at (b, w) = (z₀, 0) + u is Σ c_k (u·(1, x))^k. Directions are on the faces of a
cube, v_i = 1, and lengths have both signs:

- *in the middle*, u itself, in boxes around the cubes of the third kind;
- *far out*, u = v/s: s^d ψ = Σ c_k s^(d−k) (v·(1, x))^k, polynomials that do not vanish at s = 0, the limit c_d v^d;
- *near a zero* z₀ of p, of multiplicity j, u = sv: ψ/s^j = Σ c_k s^(k−j) (v·(1, x))^k, with the limit c_j v^j.

Together they are compact, and K has no zeros. Where all powers of s are even, s² is the unknown: s and −s give one
neuron.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from flint import arb

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.tensors import coordinates
from shallows.model.activations import polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neuron_limits.ends import about, centred_activation, zeros_with_powers
from shallows.questions.charts.neurons.polynomials import Polynomial, combination, product
from shallows.questions.charts.neurons.square_ratio import SquareRatio
from shallows.support.checks import Array

#: The cube that lies in the middle is so many times as wide as what lies near zeros of p, 1 where there are none.
ROOM = 1.25
#: Half the width of the cubes near zeros of p, as a share of the least distance of two zeros: they may touch.
APART = 0.5


@dataclass(frozen=True, eq=False)
class Patch:
    """A system, the boxes it is asked about, and how its unknowns give neurons: u = z₀ + v·length(s), v_face = 1."""

    system: SquareRatio
    region: Intervals
    centre: float
    face: int | None = None
    inverse: bool = False
    root: int = 1
    bias: bool = False

    def neurons(self, zeros: Array) -> Array:
        """(b, w), or w, at some zeros of the system, one a row."""
        if self.face is None:
            u = zeros.copy()
        else:
            s = zeros[:, :1] ** (1 / self.root)
            u = np.insert(zeros[:, 1:], self.face, 1.0, axis=1) * (1 / s if self.inverse else s)
        u[:, 0] += self.centre if self.bias else 0.0
        return u


class Places:
    """All patches of one neuron of a problem."""

    def __init__(self, problem: Problem, space: PolynomialSpace) -> None:
        self.space, self.n, self.bias = space, problem.n, problem.bias
        self.m = problem.n + int(problem.bias)
        self.c = [Fraction(float(x)) for x in polynomial_of(problem.activation).coefficients]
        self.middle = centred_activation(problem)[1]
        self.centre = float(self.middle)
        zeros = zeros_with_powers(self.c, self.c) if problem.bias else self._at_rest()
        self.zeros = [(z, powers) for z, powers in zeros if not powers[0]]
        places = [float(z.mid()) for z, _ in self.zeros]
        self.hole = APART * min([abs(x - y) for x, y in pairwise(places)], default=1.0)
        self.reach = ROOM * max([abs(z - self.centre) + self.hole for z in places], default=1.0)

    def _at_rest(self) -> list[tuple[Any, list[bool]]]:
        """w = 0, where p(0) = 0."""
        return [(arb(0), [bool(x) for x in self.c])]

    def patches(self) -> Iterator[Patch]:
        """The middle, far out, near each zero."""
        far = about(self.c, self.middle)
        yield Patch(self._system(far, None, None), self._middle(), self.centre, bias=self.bias)
        for face in range(self.m):
            yield self._on_face(far, face, True, 1 / self.reach, self.centre)
            for zero, powers in self.zeros:
                yield self._on_face(_moved(self.c, zero, powers), face, False, self.hole, float(zero.mid()))

    def _on_face(self, c: list[Any], face: int, inverse: bool, most: float, centre: float) -> Patch:
        powers = [k for k, x in enumerate(c) if not (isinstance(x, Fraction) and not x)]
        from_ = powers[-1] if inverse else powers[0]
        root = 2 if all((k - from_) % 2 == 0 for k in powers) else 1
        system = self._system(c, face, (from_, root))
        reach = most * (1 + 2.0**-20)
        ends = (0.0, reach**2) if root == 2 else (-reach, reach)
        lo, hi = -np.ones(self.m), np.ones(self.m)
        lo[0], hi[0] = ends
        return Patch(system, Intervals(lo, hi), centre, face, inverse, root, self.bias)

    def _middle(self) -> Intervals:
        """The cube around the centre less those near zeros, as boxes; b is counted from the centre."""
        R, hole = self.reach, self.hole
        if not self.bias:
            boxes = (
                _around(np.zeros(self.n), R, hole)
                if self.zeros
                else [(np.full(self.n, -R), np.full(self.n, R))]
            )
        else:
            boxes, last = list[tuple[Array, Array]](), -R
            for zero, _ in self.zeros:
                z = float(zero.mid()) - self.centre
                boxes.append(_slab(last, z - hole, np.full(self.n, -R), np.full(self.n, R)))
                boxes += [_slab(z - hole, z + hole, *box) for box in _around(np.zeros(self.n), R, hole)]
                last = z + hole
            boxes.append(_slab(last, R, np.full(self.n, -R), np.full(self.n, R)))
        kept = [(lo, hi) for lo, hi in boxes if np.all(lo < hi)]
        return Intervals(np.array([lo for lo, _ in kept]), np.array([hi for _, hi in kept]))

    def _system(self, c: Sequence[Any], face: int | None, scaled: tuple[int, int] | None) -> SquareRatio:
        entries = neuron_polynomials(self.space, self.bias, c, face, scaled)
        exact = self.space.exact
        C = combination(list(exact.right), entries)
        halves = [combination(list(row), entries) for row in exact.gram]
        K: Polynomial = combination(
            [Fraction(1)] * len(entries), [product(p, q) for p, q in zip(entries, halves, strict=True)]
        )
        return SquareRatio(C, K, limits_at_zero=face is not None)


def neuron_polynomials(
    space: PolynomialSpace,
    bias: bool,
    c: Sequence[Any],
    face: int | None = None,
    scaled: tuple[int, int] | None = None,
) -> list[Polynomial]:
    """The coordinates of Σ c_k (u·(1, x))^k, or without bias Σ c_k (u·x)^k, as polynomials in u, or (s, v)."""
    result: list[Polynomial] = []
    for i in space.degrees:
        for row in coordinates.exponents(space.n, i):
            terms: dict[tuple[int, ...], Any] = {}
            for k in range(i, len(c)) if bias else [i]:
                if isinstance(c[k], Fraction) and not c[k]:
                    continue
                own = [k - i, *map(int, row)] if bias else [int(e) for e in row]
                if face is not None and scaled is not None:
                    del own[face]
                    own.insert(0, abs(k - scaled[0]) // scaled[1])
                key = tuple(own)
                terms[key] = terms.get(key, 0) + c[k] * comb(k, i)
            result.append(terms)
    return result


def _moved(c: list[Fraction], place: Any, powers: list[bool]) -> list[Any]:
    """The coefficients of p(place + z), place a ball, at the powers it has."""
    balls = [arb(x.numerator) / arb(x.denominator) for x in c]

    def coefficient(i: int) -> Any:
        return sum((balls[j] * place ** (j - i) * comb(j, i) for j in range(i, len(c))), arb(0))

    return [coefficient(i) if there else Fraction(0) for i, there in enumerate(powers)]


def _around(centre: Array, outer: float, inner: float) -> list[tuple[Array, Array]]:
    """A cube without a smaller one in its middle: two boxes for each coordinate."""
    boxes = []
    lo, hi = centre - outer, centre + outer
    for j in range(len(centre)):
        for sign in (-1, 1):
            low, high = lo.copy(), hi.copy()
            low[j], high[j] = (centre[j] + inner, hi[j]) if sign > 0 else (lo[j], centre[j] - inner)
            boxes.append((low, high))
        lo[j], hi[j] = centre[j] - inner, centre[j] + inner
    return boxes


def _slab(start: float, end: float, lo: Array, hi: Array) -> tuple[Array, Array]:
    return np.insert(lo, 0, start), np.insert(hi, 0, end)
