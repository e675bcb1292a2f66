"""The two discriminants of paper 000: rank-one tensors of two inputs, and ellipses."""

from __future__ import annotations

from functools import lru_cache

from shallows.discriminants.curves import EllipseCurve, RankOneCurve
from shallows.discriminants.polynomial import Discriminant, generic


@lru_cache(maxsize=16)
def rank_one(degree: int = 2) -> Discriminant:
    """The teacher-metric discriminant of rank-one tensors of this degree with two inputs (paper 000, Example 28).

    Degree 2 is expanded at once: 5938 terms, bidegree (6, 12). From degree 3 on the generic polynomial, of bidegree
    (6d−6, 12d−12), is out of reach; specialise the metric (degree 3: 455 terms in the teacher), or all but two
    or three variables, or evaluate it exactly at points.
    """
    return generic(RankOneCurve(degree))


@lru_cache(maxsize=16)
def ellipse(p: object = 4, q: object = 1) -> Discriminant:
    """The teacher-metric discriminant of x²/p + y²/q = 1 (paper 000, Example 27): 152 terms, bidegree (6, 6)."""
    return generic(EllipseCurve(p, q))  # type: ignore[arg-type]
