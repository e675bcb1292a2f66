"""Kinds, and the lowest loss: no network is below what is called the global minimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mpmath
from tests.oracle.findings import CLAIMS, shown
from tests.oracle.kinds import allowed
from tests.oracle.missing import Missing
from tests.oracle.newton import Refined, number
from tests.oracle.search import lowest


class Lowest(Missing):
    """What is lowest, and what kinds follow from it."""

    def _descend(self) -> None:
        found = lowest(self.units, self.rng)
        if found is None:
            return
        loss = number(self.given.network_loss(*found))
        if loss < self.lowest[0]:
            self.lowest = (loss, "a network found by descent")

    def _lower(self, loss: Any) -> bool:
        """Whether something is clearly lower than a loss."""
        least = self.lowest[0]
        gap = loss - least
        return gap > mpmath.mpf(10) ** -9 * loss and gap > mpmath.mpf(10) ** -50 * self.precise.power

    @property
    def _closed(self) -> bool:
        return self.given.degree == 2 or self.given.width == 1

    def _kinds(self) -> None:
        for _, t in self.truths:
            if t is not None and t.converged and t.loss < self.lowest[0]:
                self.lowest = (t.loss, "a listed point")
        for point, t in self.truths:
            name = f"rank {point.rank}, loss {point.loss:.10g}"
            loss = self.precise.power if t is None else t.loss
            if point.kind == "global minimum" and self._lower(loss):
                self._say(
                    f"{name}: called global minimum, but {self.lowest[1]} has loss {shown(self.lowest[0])}"
                )
                continue
            if t is not None and not t.converged:
                continue
            may = allowed(self.precise, self.units, t)
            if "minimum" in may:
                may = (may - {"minimum"}) | self._minima(loss)
            if t is not None and self._blurred(t):
                may = may | {"degenerate"}
            if point.kind not in may:
                self._say(f"{name}: called {point.kind}, but it is a {' or '.join(sorted(may))}")

        for family, member in self._members:
            self._family_kind(family, member)

    def _family_kind(self, family: Any, member: Refined) -> None:
        """The kind and the index of a family, where the chart gives them."""
        kind = getattr(family, "kind", None)
        if kind is None:
            return
        name = f"family of rank {family.rank}, dimension {family.dimension}, loss {family.loss:.10g}"
        if kind == "global minimum" and self._lower(member.loss):
            self._say(f"{name}: called global minimum, but {self.lowest[1]} has loss {shown(self.lowest[0])}")
            return
        plus, zero, minus = member.signature
        if zero != family.dimension:
            return
        may = allowed(self.precise, self.units, replace(member, signature=(plus, 0, minus), gap=1.0))
        if "minimum" in may:
            may = (may - {"minimum"}) | self._minima(member.loss)
        if kind not in may:
            self._say(f"{name}: called {kind}, but it is a {' or '.join(sorted(may))}")
        if getattr(family, "index", minus) != minus:
            self._say(f"{name}: index {family.index}, but it is {minus}")

    def _minima(self, loss: Any) -> frozenset[str]:
        """Whether a minimum of this loss is global; both words where the set of networks is not closed, or in doubt,
        and where the chart claims to be a sample only: its lowest point is no more than a local minimum to it."""
        if self._lower(loss):
            return frozenset({"local minimum"})
        gap = loss - self.lowest[0]
        clear = gap <= mpmath.mpf(10) ** -13 * loss or gap <= mpmath.mpf(10) ** -50 * self.precise.power
        if self._closed and clear and self.chart.completeness in CLAIMS:
            return frozenset({"global minimum"})
        return frozenset({"global minimum", "local minimum"})

    def _minimum(self) -> None:
        """`chart.minimum` is the lowest of points and families, and as low as anything found."""
        minimum = self.chart.minimum
        slack = 1e-9 * abs(minimum.loss) + 1e-12 * float(self.precise.power)
        if self.families and min(f.loss for f in self.families) < minimum.loss - slack:
            family = min(self.families, key=lambda f: f.loss)
            if family.dimension:
                self._say(
                    f"chart.minimum has loss {minimum.loss:.10g}, but a family of the chart has {family.loss:.10g}"
                )
        if self._closed and self.chart.completeness in CLAIMS and self._lower(number(minimum.loss)):
            slack = mpmath.mpf(10) ** -8 * number(minimum.loss) + mpmath.mpf(10) ** -13 * self.precise.power
            if number(minimum.loss) - self.lowest[0] > slack:
                self._say(
                    f"chart.minimum has loss {minimum.loss:.10g}, but {self.lowest[1]} has {shown(self.lowest[0])}"
                )
