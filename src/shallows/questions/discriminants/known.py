"""The two discriminants of paper 000: rank-one tensors of two inputs, and ellipses."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from shallows.questions.discriminants.curves import EllipseCurve, RankOneCurve, StudentCurve
from shallows.questions.discriminants.polynomial import Discriminant, generic
from shallows.questions.discriminants.values import rational
from shallows.support.checks import positive_integer


def rank_one(degree: int = 2) -> Discriminant:
    """The teacher-metric discriminant of rank-one tensors of this degree with two inputs (paper 000, Example 28).

    Degree 2 is expanded at once: 5938 terms, bidegree (6, 12). From degree 3 on the generic polynomial, of bidegree
    (6d−6, 12d−12), is out of reach; specialise the metric (degree 3: 455 terms in the teacher), or all but two
    or three variables, or evaluate it exactly at points.

    >>> rank_one(2).n_terms
    5938
    """
    return _kept(RankOneCurve(positive_integer("degree", degree, 2)))


def ellipse(p: object = 4, q: object = 1) -> Discriminant:
    """The teacher-metric discriminant of x²/p + y²/q = 1 (paper 000, Example 27): 152 terms, bidegree (6, 6).

    >>> ellipse(4, 1).bidegree
    (6, 6)
    """
    half_axes: tuple[Fraction, Fraction] = (rational("p", p), rational("q", q))
    return _kept(EllipseCurve(*half_axes))


@lru_cache(maxsize=32)
def _kept(curve: StudentCurve) -> Discriminant:
    return generic(curve)
