"""How much operations on ends of intervals round, for NumPy and for compiled loops."""

from __future__ import annotations

from shallows.support.tolerances import EPSILON, UNIT_ROUNDOFF

#: A unit in the last place is at most this share of a number.
TWO_UNITS = EPSILON
#: Units in the last place that library functions may be off by: glibc states 1 for asin, Intel's vector library 4.
LIBRARY = 8 * UNIT_ROUNDOFF
#: More than an underflowing operation loses (2⁻¹⁰⁷⁴), and nothing beside any number that occurs.
UNDERFLOW = 1e-300
#: Rounding in bounds that are computed in doubles, a few operations each: they are taken so much larger.
ROOM = 1.01
