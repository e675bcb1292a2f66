"""Identifiability: whether a generic network is determined by its function up to trivial symmetries (Prop. 4)."""

from __future__ import annotations

from dataclasses import dataclass

from shallows.mathematics.tensors.coordinates import dimension
from shallows.questions.geometry.ranks.widths import DEFECTIVE, thick_width
from shallows.support.checks import positive_integer

TWO_DECOMPOSITIONS = frozenset({(6, 3, 9), (4, 4, 8), (3, 6, 9)})
"""The (d, n, r) below the thick width with finitely many, but two, complex decompositions (Prop. 4)."""

PERFECT = frozenset({(3, 4, 5), (5, 3, 7)})
"""The (d, n, r) with rn = N, n ≥ 3, and one complex decomposition (Sylvester, Hilbert; Galuppi–Mella 2019)."""


@dataclass(frozen=True)
class Identifiability:
    """The answer and the reason for it."""

    identifiable: bool
    reason: str

    def __bool__(self) -> bool:
        return self.identifiable

    def __repr__(self) -> str:
        return f"Identifiability({'yes' if self.identifiable else 'no'}: {self.reason})"


def identifiability(degree: int, n: int, width: int) -> Identifiability:
    """Whether generic networks of this width have only trivial symmetries, and why.

    Below the thick width and for d ≥ 3 that is so (Prop. 4, after Chiantini–Ottaviani–Vannieuwenhoven) except at
    (6,3,9), (4,4,8), (3,6,9), which have two complex decompositions, and at the four defective triples (4,3,5),
    (4,4,9), (4,5,14), (3,5,7), which Prop. 4 forgets: there rk dτ < rn, so fibers have positive dimension beyond
    rescaling (`generic_rank` proves it). At the thick width it is so only when rn = N and (d, n) is (2k−1, 2),
    (3, 4) or (5, 3) (Galuppi–Mella). "No" is about complex decompositions of generic tensors: a real network may
    still be the only real one with its function.

    >>> identifiability(4, 3, 5)
    Identifiability(no: rk dτ = 14 < 15: the fibers have positive dimension (defective))
    """
    d, n = positive_integer("degree", degree), positive_integer("n", n)
    r = positive_integer("width", width)
    if r == 1:
        return Identifiability(True, "one neuron is a point of the Veronese cone")
    if d == 1 or n == 1:
        return Identifiability(False, "all neurons are multiples of one form")
    if d == 2:
        return Identifiability(False, "the indefinite orthogonal group acts on the fibers")
    if (d, n, r) in DEFECTIVE:
        rank = min(n * r, dimension(n, d)) - 1
        return Identifiability(
            False,
            f"rk dτ = {rank} < {min(n * r, dimension(n, d))}: the fibers have positive dimension (defective)",
        )
    if (d, n, r) in TWO_DECOMPOSITIONS:
        return Identifiability(False, "two complex decompositions (exception of Prop. 4)")
    if r < thick_width(d, n):
        return Identifiability(True, "below the thick width (Prop. 4)")
    return _at_or_above_thick(d, n, r)


def _at_or_above_thick(d: int, n: int, r: int) -> Identifiability:
    if n * r > dimension(n, d):
        return Identifiability(False, f"{n * r} > {dimension(n, d)}: the fibers have positive dimension")
    if n == 2:
        return Identifiability(True, "binary forms of odd degree (Sylvester)")
    if (d, n, r) in PERFECT:
        return Identifiability(True, "a perfect case with one decomposition (Galuppi–Mella 2019)")
    return Identifiability(False, "rn = N with several complex decompositions (Galuppi–Mella 2019)")


def is_identifiable(degree: int, n: int, width: int) -> bool:
    """Whether generic networks of this width have only trivial symmetries (paper 000, Prop. 4).

    For d ≥ 3 that is so below the thick width, except at (d, n, r) = (6, 3, 9), (4, 4, 8), (3, 6, 9) and at the four
    defective triples. `identifiability.identifiability` gives the reason.

    >>> is_identifiable(3, 4, 4), is_identifiable(2, 4, 2), is_identifiable(3, 5, 7), is_identifiable(6, 3, 9)
    (True, False, False, False)
    """
    return identifiability(degree, n, width).identifiable
