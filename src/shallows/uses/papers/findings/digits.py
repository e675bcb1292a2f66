"""Finding 13: the chart of a network that learns digits, and where Adam ends on it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.images import pair_task
from shallows.uses.papers.mutations import DOUBLED, MISSING_POINT, of_field
from shallows.uses.papers.outcome import Outcome, equal, fact, proof

PAIRS = ((4, 7), (3, 8))
#: Principal components (a constant comes first), training images, neurons.
COMPONENTS, TRAINING, WIDTH = 3, 240, 2
ITERATIONS = 20_000
#: Where Adam has come to rest its loss is that of a critical point to this (measured 1e-6; they are 1e-2 apart).
SAME = 1e-3
#: The second eigenvalue of a network of rank one, and negative ones of a slope that is semidefinite, over the first
#: (measured 1e-5 and less where Adam has come to rest; the others are 0.01 to 1).
NOTHING = 1e-3


@finding(
    13,
    "Adam is trapped where the chart of a network on digits has no minimum",
    "Digits 4 against 7 and 3 against 8 (labels ±1), three principal components and a constant, two quadratic "
    "neurons: the chart is proved complete, on MNIST 11 critical points and one minimum. Of 60 Adam runs 40 and 45 "
    "reach it; all others end at saddles of rank one with outer weights of one sign, where no network of that sign is "
    "lower, whatever its width.",
    basis="observed",
    known="Traps of this kind are Example 2.1 of paper 002 and Example 15 of paper 000; a proved list of all critical "
    "points of a network on images is not known to us.",
    control=("every run reaches the global minimum", {"all_good": True}),
    tests={
        "shallows.chart": (MISSING_POINT,),
        "shallows.ensemble": (of_field("losses", DOUBLED),),
    },
)
def digits(trial: Trial, all_good: bool = False) -> Iterator[Outcome]:
    """scikit-learn's digits, both pairs, a random split of 240 images: a chart with proofs, and 20 runs of Adam (full:
    60), each of which ends at the loss of a chart's point; above its minima with a network of rank one whose outer
    weights have one sign, at which the slope in every direction uuᵀ of that sign is not negative."""
    for pair in PAIRS:
        task = pair_task("digits", pair, COMPONENTS, TRAINING, trial.rng)
        problem = sh.Problem(None, sh.Samples(task.train_x, task.train_y), WIDTH)
        chart = sh.chart(problem)
        what = f"{pair[0]} vs {pair[1]}"
        told = f"{what}: {chart.kinds()}, {chart.completeness}"
        complete = chart.completeness in ("proved", "count-matched")
        yield proof(True, told) if chart.completeness == "proved" else fact(complete, told)
        runs = sh.ensemble(
            problem,
            len(trial.times(20, 60)),
            "adam",
            iterations=ITERATIONS,
            rng=int(trial.rng.integers(2**31)),
        )
        levels = np.array([point.loss for point in chart.points])
        good = np.array([point.loss for point in chart.points if "minimum" in point.kind])
        for theta, loss in zip(runs.thetas, runs.losses, strict=True):
            if all_good:
                yield fact(abs(loss - good.min()) < SAME, f"{what}: a run ends at {loss:.4f}")
            yield equal(float(np.abs(levels - loss).min()), SAME, f"{what}: a run ends at {loss:.4f}")
            if np.abs(good - loss).min() > SAME:
                yield from _trap(task.train_x, task.train_y, theta, f"{what}: a run ends at {loss:.4f}")


def _trap(X: Array, y: Array, theta: Array, what: str) -> Iterator[Outcome]:
    """Rank one, one sign of outer weights, and uᵀMu ≥ 0 for M = E(f−y)xxᵀ times that sign: by convexity no network
    with such outer weights is below."""
    W, a = theta[:-WIDTH].reshape(WIDTH, -1), theta[-WIDTH:]
    sizes = np.sort(np.abs(np.linalg.eigvalsh(W.T @ (a[:, None] * W))))
    yield equal(float(sizes[-2] / sizes[-1]), NOTHING, f"{what}: rank one")
    yield fact(bool(np.all(a > 0) or np.all(a < 0)), f"{what}: outer weights {a.round(3).tolist()}")
    misfit = np.square(X @ W.T) @ a - y
    slopes = np.linalg.eigvalsh(np.sign(a[0]) * (X * misfit[:, None]).T @ X / len(y))
    yield equal(float(-slopes[0] / slopes[-1]), NOTHING, f"{what}: slopes {slopes.round(4).tolist()}")
