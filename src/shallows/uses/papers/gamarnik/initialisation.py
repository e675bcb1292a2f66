"""Paper 001, section 2.2: where to start, for random planted weights."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import exp, log, sqrt

import numpy as np

from shallows.questions.quadratic.initialisation import (
    start_probability,
    sufficient_ratio,
    wishart_eigenvalues,
)
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import DOUBLED, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, within


@claim(
    "001",
    "Theorem 2.4",
    "For A in R^{m×d} with independent N(0, 1) entries and every t ≥ 0: with probability at least 1 − "
    "2exp(−t²/2) all singular values lie in [√m − √d − t, √m + √d + t].",
    control=("an interval of half that reach", {"shrink": 0.5}),
    tests={
        "shallows.questions.quadratic.initialisation.wishart_eigenvalues": (
            DOUBLED,
            Mutation("the smallest squared twice", lambda values: values * values / values.max()),
        )
    },
)
def theorem_2_4(trial: Trial, shrink: float = 1.0) -> Iterator[Outcome]:
    """(m, d) = (20, 4), (60, 10), t = 1.5, 2, 2.5 (bounds 0.65, 0.27, 0.09): the share of random matrices outside
    against the bound, to five standard errors; singular values from matrices, and from `wishart_eigenvalues`, whose
    means must agree."""
    count = len(trial.times(1000, 10_000))
    for m, d in ((20, 4), (60, 10)):
        direct = np.linalg.svd(trial.rng.standard_normal((count, m, d)), compute_uv=False)[:, ::-1]
        drawn = np.sqrt(wishart_eigenvalues(d, m, count, trial.rng))
        for place in (0, d - 1):
            error = sqrt((direct[:, place].var() + drawn[:, place].var()) / count)
            means = float(direct[:, place].mean()), float(drawn[:, place].mean())
            yield within(
                means[1], means[0], 5.0, error, f"m={m}, d={d}: singular value {place + 1}, {means[1]:.4f}"
            )
        for t in (1.5, 2.0, 2.5):
            reach, bound = shrink * (sqrt(d) + t), 2 * exp(-(t**2) / 2)
            allowed = bound + 5 * sqrt(bound * (1 - bound) / count)
            for values in (direct, drawn):
                outside = np.mean((values[:, 0] < sqrt(m) - reach) | (values[:, -1] > sqrt(m) + reach))
                yield at_least(
                    allowed, float(outside), f"m={m}, d={d}, t={t}: {outside:.4f} outside, bound {bound:.3f}"
                )


@claim(
    "001",
    "Theorem 2.5",
    "For some absolute C, m > Cd² and W* in R^{m×d} with independent N(0, 1) entries: W₀ with W₀ᵀW₀ = (m + "
    "4d)I has L(W₀) below the least risk of rank-deficient matrices with probability ≥ 1 − exp(−Ω(d)); by "
    "the proof C ≈ 268.",
    control=("m = d²", {"ratio": 1.0}),
    printed=("the proof's last condition, 1/C + 8/C^1.5 + 16/C² < 1/2", {"printed_ratio": True}),
    tests={
        "shallows.questions.quadratic.initialisation.start_probability": (
            of_field("probability", Mutation("half", lambda p: p / 2)),
            of_field("probability", Mutation("always one", lambda p: 1.0)),
        ),
        "shallows.questions.quadratic.initialisation.sufficient_ratio": (
            Mutation("half", lambda C: C / 2),
            DOUBLED,
        ),
    },
)
def theorem_2_5(trial: Trial, ratio: float = 8.0, printed_ratio: bool = False) -> Iterator[Outcome]:
    """m = 8d²: `start_probability` against W* drawn here (d = 4), to five standard errors; its failures fall at
    least by half from d = 4 to 8 to 12, as exp(−Ω(d)) does; at m = 4d², γ = m fails less; and the least constant of
    the proof."""
    trials = len(trial.times(1500, 10_000))
    own = _share_below(trial, 4, int(ratio * 16), trials // 3)
    chances = [
        start_probability(d, int(ratio * d * d), "m+4d", trials=trials, rng=trial.rng) for d in (4, 8, 12)
    ]
    error = sqrt(own * (1 - own) * 4 / trials) + 1 / trials
    yield within(chances[0].probability, own, 5.0, error, f"{chances[0]!r}, here {own:.4f}")
    yield at_least(chances[0].probability, 0.5, f"{chances[0]!r}")
    for few, more in pairwise(chances):
        left = 1 - few.probability
        allowed = left / 2 + 5 * sqrt(left / trials) + 5 / trials
        yield at_least(
            allowed,
            1 - more.probability,
            f"failures fall by half: {1 - few.probability:.4f}, {1 - more.probability:.4f}",
        )
    better, paper = (
        start_probability(10, 400, gamma, trials=trials, rng=trial.rng) for gamma in ("m", "m+4d")
    )
    yield at_least(
        better.probability, paper.probability, f"γ = m is better at m = 4d²: {better!r}, {paper!r}"
    )
    C = _least_ratio(1.0, 0.5) if printed_ratio else sufficient_ratio()
    slack = 1 / 8 - (33 / C + 8 / C**1.5 + 16 / C**2)
    yield at_least(slack, -1e-9, f"the proof's inequality at the least constant C = {C:.4g}")
    yield equal(abs(C / _least_ratio(33.0, 0.125) - 1), 1e-3, f"and C = {C:.4g} is the least")


def _share_below(trial: Trial, d: int, m: int, trials: int) -> float:
    """How often L(W₀) < 2σ_min⁴, with W* drawn entry by entry."""
    values = np.linalg.svd(trial.rng.standard_normal((trials, m, d)), compute_uv=False) ** 2
    gaps = m + 4 * d - values
    losses = 2 * np.sum(gaps**2, axis=1) + np.sum(gaps, axis=1) ** 2
    return float(np.mean(losses < 2 * values[:, -1] ** 2))


def _least_ratio(first: float, level: float) -> float:
    """The least C with first/C + 8/C^1.5 + 16/C² < level, on a grid."""
    grid = np.exp(np.linspace(log(1.0), log(1e4), 200_001))
    return float(grid[np.argmax(first / grid + 8 / grid**1.5 + 16 / grid**2 < level)])
