"""Finding 11: how many real critical points a quadratic neuron has, by the data's kurtosis, on complete charts."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np

import shallows as sh
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import MISSING_POINT
from shallows.uses.papers.outcome import Outcome, equal, within

#: Mean number of real critical points of rank one, by n and kurtosis, and its standard error: 200 teachers each.
MEANS = {
    (2, 1.2): (2.590, 0.065), (2, 1.8): (2.180, 0.041), (2, 6.0): (2.180, 0.041), (2, 30.0): (2.730, 0.068),
    (3, 1.2): (3.800, 0.115), (3, 1.8): (3.270, 0.061), (3, 6.0): (3.410, 0.075), (3, 30.0): (5.480, 0.217),
}  # fmt: skip
#: The kurtosis of a normal law, where there are exactly n (Theorem 35).
NORMAL = 3.0
#: Standard errors of a difference that are allowed: one of 16,000 true comparisons is farther off.
DEVIATIONS = 4.0


@finding(
    11,
    "Fewest real critical points at the normal law's kurtosis",
    "One quadratic neuron, i.i.d. centred inputs of variance one and kurtosis κ, teachers (A + Aᵀ)/2 with standard "
    "normal A: n critical points at κ = 3, all real; (3ⁿ − 1)/2 complex ones otherwise, of which on average more than "
    "n are real, and more the farther κ is from 3: at n = 3, 3.27 ± 0.06 (κ = 1.8, uniform), 3.41 ± 0.08 (κ = 6, "
    "Laplace), 5.48 ± 0.22 (κ = 30) of 13.",
    basis="observed",
    known="(3ⁿ − 1)/2 is Theorem 36 and n at κ = 3 Theorem 35 of paper 000; the real numbers in between are ours.",
    control=("the numbers of another kurtosis, κ = 3", {"kurtosis": NORMAL}),
    tests={"shallows.chart": (MISSING_POINT,)},
)
def real_points(trial: Trial, kurtosis: float | None = None) -> Iterator[Outcome]:
    """n = 2, 3 and four kurtoses, 40 fresh teachers each (full: 200), against the means of 200; at κ = 3 exactly n."""
    fresh = len(trial.times(40, 200))
    for n in (2, 3):
        counts = [_real(trial, n, NORMAL) for _ in range(3)]
        yield equal(max(abs(count - n) for count in counts), 0, f"n={n}, κ=3: {counts} real points")
    for (n, kappa), (mean, error) in MEANS.items():
        found = np.array([_real(trial, n, kurtosis or kappa) for _ in range(fresh)])
        spread = sqrt(200) * error
        yield within(
            float(found.mean()), mean, DEVIATIONS, sqrt(error**2 + spread**2 / fresh),
            f"n={n}, κ={kappa}: {found.mean():.2f} real points on average, {mean} before",
        )  # fmt: skip


def _real(trial: Trial, n: int, kappa: float) -> int:
    A = trial.rng.standard_normal((n, n))
    data = sh.IID(n, moments=[1, 0, 1, 0, kappa])
    chart = sh.chart(sh.Problem((A + A.T) / 2, data, 1), certify=False)
    return sum(point.rank == 1 for point in chart.points)
