"""The doctor's self-check: do the engines work on this machine, on a small problem drawn from a seed?

One quadratic neuron against a symmetric 3×3 matrix under a random metric. Its loss has 13 complex critical points of
rank one, the generic ED degree of the symmetric 3×3 matrices of rank one (`critical.ed_degree`), so homotopy has to
find 13 and prove them; msolve, which eliminates variables instead of following paths, has to find the same real ones,
and training has to end on them. All numbers are small integers: the exact engine solves the problem itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shallows.support.errors import ShallowsError

if TYPE_CHECKING:
    from shallows.model.problem import Problem
    from shallows.questions.charts.result import Chart

INPUTS = 3
LARGEST = 3
#: Complex critical points of rank one: the ED degree of rank-one symmetric 3×3 matrices in a generic metric.
EXPECTED = 13
RUNS = 20
#: How far the losses of the two engines may be apart, relatively; each knows them to about twelve digits.
AGREEMENT = 1e-8


@dataclass(frozen=True)
class Check:
    """One engine tried: whether it did what it must, and what it said."""

    engine: str
    passed: bool
    said: str


@dataclass(frozen=True)
class Trial:
    """The problem of a seed, and what each engine makes of it."""

    seed: int

    @cached_property
    def problem(self) -> Problem:
        """One neuron, a random symmetric matrix, a random positive definite metric, all in small integers."""
        from shallows.model.data.metric import Metric
        from shallows.model.problem import Problem

        rng = np.random.default_rng(self.seed)
        size = INPUTS * (INPUTS + 1) // 2
        root = rng.integers(-LARGEST, LARGEST + 1, (size, size))
        half = rng.integers(-LARGEST, LARGEST + 1, (INPUTS, INPUTS))
        gram = root @ root.T + size * np.eye(size)
        return Problem((half + half.T).astype(np.float64), Metric(INPUTS, 2, gram), width=1)

    @cached_property
    def chart(self) -> Chart:
        """What homotopy finds."""
        from shallows.questions.charts.chart import chart

        return chart(self.problem, method="homotopy", rng=self.seed)

    def homotopy(self) -> tuple[bool, str]:
        """All complex critical points, and a proof that there are no others."""
        found = self.chart.complex_count.get(1, 0)
        passed = found == EXPECTED and self.chart.completeness == "proved"
        return passed, f"{found} of {EXPECTED} critical points of rank one, {self.chart.completeness}"

    def certificates(self) -> tuple[bool, str]:
        """Every real point and its signature, proved in ball arithmetic."""
        points = self.chart.points
        proved = sum(p.certificate is not None and p.certificate.signature_certified for p in points)
        return proved == len(points), f"{proved} of {len(points)} real points and signatures proved"

    def msolve(self) -> tuple[bool, str]:
        """The same real points from the exact engine."""
        from shallows.questions.charts.chart import chart

        mine, other = self.chart.losses, chart(self.problem, method="exact", rng=self.seed).losses
        if len(mine) != len(other):
            return False, f"{len(other)} real points where homotopy has {len(mine)}"
        gap = float(np.max(np.abs(mine - other) / np.maximum(np.abs(mine), 1.0)))
        return gap <= AGREEMENT, f"{len(mine)} real points as well, losses at most {gap:.0e} apart"

    def training(self) -> tuple[bool, str]:
        """Gradient descent ends at points of the chart."""
        from shallows.questions.descent.ensemble import ensemble

        runs = ensemble(self.problem, runs=RUNS, rng=self.seed, chart=self.chart)
        lost = len(runs.match().unmatched)
        ended = int(np.sum(runs.converged))
        return ended == RUNS and not lost, f"{ended} of {RUNS} descents converged, {lost} off the chart"


def self_check(seed: int, msolve: bool) -> list[Check]:
    """Try every engine that is there on the problem of a seed; an engine that raises has failed, whatever it raised."""
    trial = Trial(seed)
    tried: dict[str, Callable[[], tuple[bool, str]]] = {
        "homotopy": trial.homotopy,
        "ball arithmetic": trial.certificates,
    }
    if msolve:
        tried["msolve"] = trial.msolve
    tried["training"] = trial.training
    return [_checked(engine, work) for engine, work in tried.items()]


def _checked(engine: str, work: Callable[[], tuple[bool, str]]) -> Check:
    try:
        return Check(engine, *work())
    except ShallowsError as error:
        return Check(engine, False, str(error))
    except Exception as error:
        return Check(engine, False, f"{type(error).__name__}: {error}")
