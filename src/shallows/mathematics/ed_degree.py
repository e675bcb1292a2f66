"""How many complex critical points a generic metric and target have: generic ED degrees, by Bott's residue formula.

Students are a cone X, and s is critical when e = G(s − t) annihilates the tangent space T_s X. For a generic metric
the number of such s is the sum of the multidegrees of the conormal variety {(s, e) : s ∈ X, e ⟂ T_s X} (J. Draisma,
E. Horobeţ, G. Ottaviani, B. Sturmfels, R. Thomas, "The Euclidean distance degree of an algebraic variety", Found.
Comput. Math. 16, 2016, Theorem 5.4). When s runs through a bundle A and e through the kernel of a surjection onto a
bundle F, both over a smooth compact base Z, and this covers the conormal variety once, the sum is

    ∫_Z c(F) / c(A).

With a torus acting, Bott's formula turns the integral into a sum over the fixed points of Z: the part of degree dim Z
of ∏(1 + φ)/∏(1 + α), divided by the product of the tangent weights; φ and α are the weights of F and A there.

- *Matrices of rank r*: Z = Gr(r, n) ∋ U, A = Sym²U, e ∈ Sym²(U^⊥). The polar degrees are the algebraic degrees of
  semidefinite programming (H.-C. von Bothmer, K. Ranestad, Bull. London Math. Soc. 41, 2009).
- *Quadrics modulo constants*, (ℓ, Q) with ℓ and the columns of Q in a space L of dimension r: Z ∋ (L, κ), κ a line in
  C ⊕ L* that the map (ℓ, Q): C ⊕ L* → L takes to zero (for each κ that is r conditions), and e must vanish on L and on
  Sym²L, and be a multiple of κ as a map C^n/L → C ⊕ L*: bundles everywhere, κ being unique where the rank is r.
- *Sums of two powers*, d ≥ 3: Z = Hilb²(P^{n−1}) ∋ ξ, pairs of neurons, equal or infinitely near ones included;
  A is dual to the forms of degree d on ξ, and F the forms modulo the square of ξ's ideal, of rank 2n: e must be
  singular at both neurons. The square of a complete intersection's ideal has constant colength, and two double points
  impose independent conditions on forms of degree ≥ 3, so F is a bundle and the map onto it surjective.
- *Binary forms of rank r ≤ (d+1)/2*: the same with Z = Hilb^r(P¹) = P^r.
- *Limits of two merged neurons*, w^(d−1)v: Z the flags of a point w on a line ⟨w, v⟩, A = ⟨w^d, w^(d−1)v⟩, F dual to
  the tangent space ⟨w^(d−1)b, w^(d−2)v a⟩, of rank 2n − 1 everywhere for d ≥ 3.
- *Limits of three merged neurons*, w^(d−2)v² + w^(d−1)u: Z the flags w ∈ ⟨w, v⟩ with a line χ = (ε : y) in
  ⟨w^(d−2)v²⟩ ⊕ w^(d−1)(C^n/⟨w, v⟩), A = ⟨w^d, w^(d−1)v, χ⟩, and F dual to the tangent space
  ⟨w^(d−1)b, w^(d−2)v b, w^(d−3)v³, ε(d−2) w^(d−3)v²b + (d−1) w^(d−2)y b⟩, the last for b in C^n/⟨w, v⟩: of rank
  3n − 2 everywhere, where ε = 0 too. (w^(d−3)v³ is the last vector with b = v, divided by ε.) A form of degree 3 in two
  variables is such a limit in three ways, w being any of its factors; other forms in one.
- *A merged pair beside a neuron*, w²v + u³ in three variables: cuspidal cubics. With w, v, u the coordinates x, y, z
  the tangent space is ⟨x²b, xyb, z²b⟩, and a form that vanishes on it is y²(αy + βz): the dual variety is that of the
  limits of two merged neurons, and dual varieties have the same number.

For sums of three and more powers in three and more variables collinear neurons spoil both facts: no number is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, permutations
from math import prod
from typing import NamedTuple

#: Weights SPREAD^k of the torus: no difference of two lines w^(d−2)v² and w^(d−1)y is zero, that is p + k − 2q.
SPREAD = 5


class FixedPoint(NamedTuple):
    """The torus weights at a fixed point of Z: of the students A, of the conditions F and of the tangent space."""

    students: list[int]
    conditions: list[int]
    tangent: list[int]


@lru_cache(maxsize=256)
def low_rank_degree(n: int, r: int) -> int:
    """The generic ED degree of the n×n symmetric matrices of rank r.

    >>> [low_rank_degree(4, r) for r in (1, 2, 3)], low_rank_degree(5, 2)
    ([40, 122, 40], 1042)
    """
    return _integral(r * (n - r), _grassmannian(n, r))


@lru_cache(maxsize=256)
def modulo_square_degree(n: int, r: int) -> int:
    """The generic ED degree of quadrics ℓ + Q in n inputs, constants left out, with rank (ℓ Q) = r ≤ n.

    >>> [modulo_square_degree(n, 1) for n in (1, 2, 3)], modulo_square_degree(3, 2), modulo_square_degree(4, 4)
    ([1, 10, 37], 83, 1)
    """
    return _integral(r * (n - r) + r, _kernels_over_subspaces(n, r))


@lru_cache(maxsize=256)
def powers_degree(degree: int, n: int, r: int) -> int | None:
    """The generic ED degree of the sums of r powers of degree d ≥ 3 in n variables; None where it is not known.

    >>> powers_degree(3, 3, 1), powers_degree(3, 3, 2), powers_degree(4, 2, 2), powers_degree(3, 3, 3)
    (39, 219, 13, None)
    """
    if n == 2 and 2 * r <= degree + 1:
        return _integral(r, _subsets_of_a_line(degree, r))
    if r == 1:
        return int(((2 * degree - 1) ** n - (degree - 1) ** n) // degree)
    if r == 2:
        return _integral(2 * (n - 1), _pairs_of_points(degree, n))
    return None


@lru_cache(maxsize=256)
def tangential_degree(degree: int, n: int) -> int:
    """The generic ED degree of the tangential variety {w^(d−1)v}, d ≥ 3; 5d − 8 for binary forms.

    >>> tangential_degree(3, 2), tangential_degree(4, 2), tangential_degree(3, 3)
    (7, 12, 180)
    """
    return _integral(2 * n - 3, _flags(degree, n))


@lru_cache(maxsize=256)
def osculating_degree(degree: int, n: int) -> int:
    """The generic ED degree of {w^(d−2)v² + w^(d−1)u}, d ≥ 3, n ≥ 3 or d ≥ 4; 7d − 18 for binary forms.

    >>> [osculating_degree(d, 2) for d in (4, 5, 6, 7)], osculating_degree(3, 3), osculating_degree(4, 3)
    ([10, 17, 24, 31], 648, 2532)
    """
    return _integral(3 * n - 5, _osculating_flags(degree, n))


@lru_cache(maxsize=256)
def pair_beside_neuron_degree(degree: int, n: int) -> int | None:
    """The generic ED degree of {w^(d−1)v + u^d}, where it is known: cubics in three variables.

    >>> pair_beside_neuron_degree(3, 3), pair_beside_neuron_degree(4, 3)
    (180, None)
    """
    return tangential_degree(degree, n) if (degree, n) == (3, 3) else None


def _osculating_flags(degree: int, n: int) -> Iterator[FixedPoint]:
    """A coordinate point p, a line from it to q, and one of the coordinate lines χ; weights for which all differ."""
    t, d = [SPREAD**k for k in range(n)], degree
    for p, q in permutations(range(n), 2):
        others = [k for k in range(n) if k not in (p, q)]
        lines = [-(d - 2) * t[p] - 2 * t[q], *(-(d - 1) * t[p] - t[k] for k in others)]
        tangent = [t[p] - t[k] for k in range(n) if k != p] + [t[q] - t[k] for k in others]
        fixed = [(d - 1) * t[p] + t[k] for k in range(n)] + [(d - 3) * t[p] + 3 * t[q]]
        fixed += [(d - 2) * t[p] + t[q] + t[k] for k in range(n) if k != p]
        for chosen in lines:
            yield FixedPoint(
                [-d * t[p], -(d - 1) * t[p] - t[q], chosen],
                fixed + [t[k] - t[p] - chosen for k in others],
                tangent + [line - chosen for line in lines if line != chosen],
            )


def _flags(degree: int, n: int) -> Iterator[FixedPoint]:
    """A coordinate point p and a line from it to another, q; x_k has weight k."""
    for p, q in permutations(range(n), 2):
        slopes = [k - p for k in range(n) if k != p]
        yield FixedPoint(
            [-degree * p - f for f in (0, q - p)],
            [degree * p + weight for weight in (0, *slopes, *(q - p + slope for slope in slopes))],
            [-slope for slope in slopes] + [q - k for k in range(n) if k not in (p, q)],
        )


def _grassmannian(n: int, r: int) -> Iterator[FixedPoint]:
    """The coordinate subspaces U: e is in Sym²(U^⊥), and c(F) = 1/c(Sym²(U^⊥)), so its weights count as students."""
    for inside in combinations(range(n), r):
        outside = [k for k in range(n) if k not in inside]
        first = [i + j for i, j in combinations_with_replacement(inside, 2)]
        second = [-k - m for k, m in combinations_with_replacement(outside, 2)]
        yield FixedPoint(first + second, [], [k - i for i in inside for k in outside])


def _kernels_over_subspaces(n: int, r: int) -> Iterator[FixedPoint]:
    """Coordinate subspaces L and lines κ in C ⊕ L*, C of weight 0; the inputs have weights 1, …, n."""
    for inside in combinations(range(1, n + 1), r):
        outside = [k for k in range(1, n + 1) if k not in inside]
        quadrics = [i + j for i, j in combinations_with_replacement(inside, 2)]
        lines = [0, *(-i for i in inside)]
        for kernel in lines:
            others = [line for line in lines if line != kernel]
            students = Counter([*inside, *quadrics]) - Counter(i - kernel for i in inside)
            conditions = [-i for i in inside] + [-q for q in quadrics]
            yield FixedPoint(
                list(students.elements()),
                conditions + [line - k for k in outside for line in others],
                [k - i for i in inside for k in outside] + [line - kernel for line in others],
            )


def _pairs_of_points(degree: int, n: int) -> Iterator[FixedPoint]:
    """Two coordinate points, or one of them with a direction towards another; x_k has weight k."""
    for pair in combinations(range(n), 2):
        sides = [(p, [k - p for k in range(n) if k != p]) for p in pair]
        yield FixedPoint(
            [-degree * p for p, _ in sides],
            [degree * p + slope for p, slopes in sides for slope in (0, *slopes)],
            [-slope for _, slopes in sides for slope in slopes],
        )
    for p, q in permutations(range(n), 2):
        functions = [0, q - p]  # 1 and y on the scheme y² = 0, other coordinates 0
        generators = [2 * (q - p), *(k - p for k in range(n) if k not in (p, q))]
        conormal = [f + g for f in functions for g in generators]
        yield FixedPoint(
            [-degree * p - f for f in functions],
            [degree * p + weight for weight in (*functions, *conormal)],
            [f - g for f in functions for g in generators],
        )


def _subsets_of_a_line(degree: int, r: int) -> Iterator[FixedPoint]:
    """a points at 0 and r − a at infinity; the local coordinates have weights 1 and −1."""
    for a in range(r + 1):
        sides = [(0, 1, a), (degree, -1, r - a)]
        yield FixedPoint(
            [-start - k * slope for start, slope, size in sides for k in range(size)],
            [start + k * slope for start, slope, size in sides for k in range(2 * size)],
            [(k - size) * slope for _, slope, size in sides for k in range(size)],
        )


def _integral(dimension: int, points: Iterable[FixedPoint]) -> int:
    total = Fraction(0)
    for point in points:
        series = [1] + [0] * dimension
        for weight in point.conditions:  # times 1 + weight
            series = [c + weight * below for c, below in zip(series, [0, *series], strict=False)]
        for weight in point.students:  # divided by 1 + weight
            for k in range(1, dimension + 1):
                series[k] -= weight * series[k - 1]
        total += Fraction(series[dimension], prod(point.tangent))
    return int(total)
