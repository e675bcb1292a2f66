"""Finding 12: how often a quadratic neuron with bias has more than one minimum, counted on complete charts."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import shallows as sh
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import MISSING_POINT
from shallows.uses.papers.outcome import Outcome, within

#: Of so many teachers, how many had two minima or more, by the number of inputs (complete charts, seed 0).
TEACHERS, SEVERAL = 60, {1: 18, 2: 25, 3: 33}
#: Standard errors of the difference of two shares that are allowed: one of 16,000 true comparisons is farther off.
DEVIATIONS = 4.0


@finding(
    12,
    "A bias makes a second minimum common",
    "One quadratic neuron a(w·x + b)², x ~ N(0, I_n), teachers of n + 2 such neurons with standard normal weights: the "
    "loss has more than one minimum for 18, 25 and 33 of 60 teachers at n = 1, 2, 3 (complete charts), two of one sign "
    "of a for 3, 5 and 5 of them.",
    basis="observed",
    known="Not in the papers, which have no bias; 3n + 1 critical points at most (Finding 9).",
    control=("three minima or more", {"least": 3}),
    tests={"shallows.chart": (MISSING_POINT,)},
)
def bias_minima(trial: Trial, least: int = 2) -> Iterator[Outcome]:
    """30 fresh teachers a size (full: 300): the share with several minima against that of the 60, to four standard
    errors of the difference."""
    for n, several in SEVERAL.items():
        fresh = len(trial.times(30, 300))
        found = sum(_minima(trial, n) >= least for _ in range(fresh))
        p = several / TEACHERS
        error = sqrt(p * (1 - p) * (1 / TEACHERS + 1 / fresh))
        yield within(
            found / fresh, p, DEVIATIONS, error, f"n={n}: {found} of {fresh} teachers, {several} of 60 before"
        )


def _minima(trial: Trial, n: int) -> int:
    W, a, b = trial.rng.standard_normal((n + 2, n)), *trial.rng.standard_normal((2, n + 2))
    chart = sh.chart(sh.Problem(sh.Network(W, a, bias=b), sh.Gaussian(n), 1, bias=True), certify=False)
    return sum(point.rank == 1 and "minimum" in point.kind for point in chart.points)
