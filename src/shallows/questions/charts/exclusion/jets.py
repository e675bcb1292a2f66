"""Intervals with their derivatives by a few unknowns: sums and products, so that equations are written once."""

from __future__ import annotations

from dataclasses import dataclass

from shallows.mathematics.exclusion.intervals import Intervals


@dataclass(frozen=True, eq=False)
class Jet:
    """A value and its slopes, each an array of m intervals."""

    value: Intervals
    slope: list[Intervals]

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, [x + y for x, y in zip(self.slope, other.slope, strict=True)])

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.value - other.value, [x - y for x, y in zip(self.slope, other.slope, strict=True)])

    def __mul__(self, other: Jet | float) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value * other, [x * other for x in self.slope])
        slopes = [x * other.value + y * self.value for x, y in zip(self.slope, other.slope, strict=True)]
        return Jet(self.value * other.value, slopes)
