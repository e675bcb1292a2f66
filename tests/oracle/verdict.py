"""A chart against the oracles: a list of complaints, each a sentence; none means that nothing wrong was found.

Truth is the problem with exactly the floats that were given. What is held against a chart:

- every listed point is a true critical point (Newton, 70 digits), within its certificate's radius, of the loss, the
  signature and the kind that are given; none is listed twice;
- every critical point that Sturm sequences, msolve or the search find is on a chart that claims to be complete, as a
  point or in a family of its rank and loss; a continuum is a family, and a family a continuum;
- no network has a lower loss than what is called the global minimum, and `chart.minimum` is the lowest of all;
- all numbers are finite, and errors are typed. A refusal of a problem that ought to work is a complaint too.

A set that is critical to rounding (1e-11) but breaks up in exact arithmetic may be charted either way: as a family, or
as the isolated points that it breaks up into, which are then no degenerate ones.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mpmath
from tests.oracle.exact import Given
from tests.oracle.findings import MOST_POINTS
from tests.oracle.lowest import Lowest
from tests.oracle.newton import DIGITS


@dataclass
class Verdict:
    """What came out: `status` is "right", "sampled" (right, and it claims little), "refused" or "wrong"."""

    given: Given
    complaints: list[str] = field(default_factory=list)
    refusal: str = ""
    completeness: str = ""
    chart_seconds: float = 0.0
    oracle_seconds: float = 0.0

    @property
    def status(self) -> str:
        """One word."""
        if self.complaints:
            return "wrong"
        return "refused" if self.refusal else "sampled" if self.completeness == "sampled" else "right"


def judge(given: Given, make: Callable[[Any], Any] | None = None, seed: int = 0) -> Verdict:
    """Chart a problem (with `make`, or `sh.chart`) and hold the result against everything known about it."""
    import shallows as sh

    verdict = Verdict(given)
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chart = (make or sh.chart)(given.problem())
    except sh.ShallowsError as error:
        verdict.refusal = f"{type(error).__name__}: {error}"
        if not given.may_refuse:
            verdict.complaints.append(f"refused: {verdict.refusal[:160]}")
        return verdict
    except Exception as error:
        verdict.complaints.append(f"an error that is not typed: {type(error).__name__}: {str(error)[:160]}")
        return verdict
    finally:
        verdict.chart_seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    verdict.completeness = chart.completeness
    with mpmath.workdps(DIGITS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict.complaints += Examination(given, chart, seed).complaints()
    verdict.oracle_seconds = time.perf_counter() - begin
    return verdict


class Examination(Lowest):
    """One chart and all that is found out about its problem: points, families, what is missing, what is lowest."""

    def complaints(self) -> list[str]:
        """Everything that is wrong."""
        if not self._finite():
            return self.said
        for point in self.points[:MOST_POINTS]:
            self._point(point)
        self._twice()
        for family in self.families:
            self._family(family)
        self._counts()
        self._limits(seed=int(self.rng.integers(2**31)))
        if any(self.given.target):
            self._search()
            if self._top() >= 1:
                self._whole_rank_one()
            self._descend()
        self._kinds()
        self._minimum()
        return self.said
