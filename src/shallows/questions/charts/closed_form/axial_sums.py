"""Sums over sets of active eigenvalues where δ is rational: for which sets an equation in them holds, exactly.

Σ_{i∈I} h(μ_i), for all I of one size k, are the eigenvalues of the derivation that h(C) induces on the k-th exterior
power, C the companion matrix of the polynomial whose roots the μ_i are. All of these commute, and are diagonalisable,
for the roots are simple. What is made of them is zero for as many I as its matrix over Q has too little rank; where
balls contain zero for no more I than that, it is zero for each of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
from flint import fmpq_mat, fmpq_poly
from numpy.typing import NDArray

from shallows.mathematics.exact.linear_algebra import to_flint
from shallows.questions.charts.closed_form.axial_pencil import Pencil

#: More sets than this are left to balls: their matrix has that many rows, and its entries grow with it.
MOST_SETS = 70


@dataclass(frozen=True, eq=False)
class SetSums:
    """Σ_I μ, Σ_I w and Σ_I μw over sets I of some of the active eigenvalues, as matrices that commute."""

    mu: fmpq_mat
    w: fmpq_mat
    both: fmpq_mat

    @classmethod
    def of(cls, roots: fmpq_poly, weights: tuple[fmpq_poly, fmpq_poly], size: int) -> SetSums | None:
        """Over sets of this size of the roots of a polynomial, w the quotient of two others there; None if too many."""
        if comb(roots.degree(), size) > MOST_SETS:
            return None
        C, (above, below) = _companion(roots), weights
        if not roots.degree():
            return cls(*[fmpq_mat(1, 1)] * 3)
        w = _at(above, C) * _at(below, C).inv()
        return cls(*(_derivation(H, size) for H in (C, w, C * w)))

    @classmethod
    def at(cls, pencil: Pencil, shift: Fraction, size: int, taken: Sequence[Fraction] = ()) -> SetSums | None:
        """Over the active eigenvalues at this δ but for `taken`, which are some of them."""
        P, Q = pencil.polynomials
        whole = P + to_flint(shift) * Q
        roots = whole
        for value in taken:
            roots = divmod(roots, fmpq_poly([-to_flint(value), 1]))[0]
        return cls.of(roots, (-Q, whole.derivative()), size)

    def number(self, value: Fraction) -> fmpq_mat:
        """What is the same for all sets."""
        made: fmpq_mat = _one(self.mu.nrows()) * to_flint(value)
        return made


def weight(pencil: Pencil, shift: Fraction, value: Fraction) -> Fraction:
    """w of an active eigenvalue at δ, both of them rational."""
    P, Q = pencil.polynomials
    whole, place = P + to_flint(shift) * Q, to_flint(value)
    quotient = -Q(place) / whole.derivative()(place)
    return Fraction(int(quotient.p), int(quotient.q))


def are_zero(conditions: Sequence[fmpq_mat], open_: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The sets for which all of these are proved to be zero, given those for which balls leave that open."""
    rows = [row for condition in conditions for row in condition.tolist()]
    zeros = len(open_) - int(fmpq_mat(rows).rank())
    return open_ & (zeros == int(open_.sum()))


def _companion(polynomial: fmpq_poly) -> fmpq_mat:
    size, coefficients = polynomial.degree(), list(polynomial)
    C = fmpq_mat(size, size)
    for i in range(size):
        C[i, size - 1] = -coefficients[i] / coefficients[-1]
        if i:
            C[i, i - 1] = 1
    return C


def _at(polynomial: fmpq_poly, C: fmpq_mat) -> fmpq_mat:
    """Horner's rule for a matrix."""
    size = C.nrows()
    value = fmpq_mat(size, size)
    for c in reversed(list(polynomial)):
        value = value * C + _one(size) * c
    return value


def _one(size: int) -> fmpq_mat:
    return fmpq_mat(np.eye(size, dtype=int).tolist())


def _derivation(H: fmpq_mat, size: int) -> fmpq_mat:
    """Σ over the places of v₁∧…∧v_k of what H does there."""
    sets = list(combinations(range(H.nrows()), size))
    number = {chosen: k for k, chosen in enumerate(sets)}
    found = fmpq_mat(len(sets), len(sets))
    for column, chosen in enumerate(sets):
        for place, j in enumerate(chosen):
            rest = chosen[:place] + chosen[place + 1 :]
            for i in set(range(H.nrows())) - set(rest):
                between = sum(min(i, j) < k < max(i, j) for k in rest)
                row = number[tuple(sorted((*rest, i)))]
                found[row, column] += -H[i, j] if between % 2 else H[i, j]
    return found
