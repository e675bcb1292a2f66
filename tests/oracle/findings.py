"""What is found out about a chart and its problem, and what is said about it."""

from __future__ import annotations

import re
from typing import Any

import mpmath
import numpy as np
from tests.oracle.exact import Given
from tests.oracle.newton import Precise, Refined, number
from tests.oracle.search import Units
from tests.oracle.strata import Frames

CLAIMS = ("proved", "count-matched", "trace-tested")
#: Words by which a chart that is not proved says that real points may have met.
MET = re.compile(r"\bmet\b|\bmeet|discriminant|degenerate|multiplicit|too close", re.I)
MOST_POINTS = 120
SAME, NEAR = 1e-20, 1e-4
Array = Any


class Findings:
    """One chart and what is known about its problem."""

    def __init__(self, given: Given, chart: Any, seed: int) -> None:
        self.given, self.chart = given, chart
        self.precise, self.units = Precise(given), Units.of(given)
        self.rng = np.random.default_rng(seed)
        self.points = [point for point in chart.points if not point.limit]
        self.limits = [point for point in chart.points if point.limit]
        self.families = list(chart.families)
        self.truths: list[
            tuple[Any, Refined | None]
        ] = []  # a listed point and what it is; None for the zero tensor
        self.lowest: tuple[Any, str] = (self.precise.power, "the zero network")
        self.unknown: list[Any] = []  # listed points from which Newton's method goes elsewhere
        self.said: list[str] = []
        self.walked: set[float] = set()
        self._members: list[tuple[Any, Refined]] = []  # a family and what one of its samples is
        self.scale = max(self.precise.size, mpmath.mpf(10) ** -400)

    def _say(self, text: str) -> None:
        if text not in self.said:
            self.said.append(text)

    def _top(self) -> int:
        total = self.given.signs[2]
        return min(total, self.given.n) if self.given.degree == 2 else total

    def _same_loss(self, claimed: float, true: Any) -> bool:
        slack = mpmath.mpf(10) ** -8 * abs(true) + mpmath.mpf(10) ** -12 * self.precise.power
        return abs(number(claimed) - true) <= slack + mpmath.mpf(2) ** -1074

    def _says_met(self) -> bool:
        return self.chart.completeness != "proved" and any(MET.search(note) for note in self.chart.notes)

    def _blurred(self, refined: Refined) -> bool:
        """Nearly degenerate, and the chart says that points may have met."""
        return refined.gap < 1e-3 and self._says_met()


def shown(x: Any) -> str:
    return mpmath.nstr(x, 10)


def rank_ratio(refined: Refined) -> float:
    """How small the smallest part of the tensor is: 0 for lower rank."""
    if isinstance(refined.stratum, Frames):
        A, _, _ = refined.stratum._parts(refined.p)
        values = [abs(x) for x in mpmath.eigsy(mpmath.matrix(A.tolist()), eigvals_only=True)]
        return float(min(values) / max(values)) if max(values) else 0.0
    rows = refined.p.reshape(-1, refined.stratum.n)
    sizes = [max(abs(x) for x in row) for row in rows]
    ratio = float((min(sizes) / max(sizes)) ** refined.stratum.degree) if max(sizes) else 0.0
    for i, v in enumerate(rows):
        for w in rows[:i]:
            cosine = v.dot(w) ** 2 / (v.dot(v) * w.dot(w)) if v.dot(v) * w.dot(w) else mpmath.mpf(1)
            ratio = min(ratio, float(1 - cosine))
    return ratio
