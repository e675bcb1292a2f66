"""Finding 2: the origin of a ReLU student is a strict local maximum. Derived in `shallows.questions.relu.origin`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import arb

from shallows.mathematics.balls.systems import precision
from shallows.questions.relu.origin import exact_pull
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import DOUBLED, NEGATED
from shallows.uses.papers.outcome import Outcome, proof
from shallows.uses.papers.safran.instances import BITS, relu, relu_problem
from shallows.uses.papers.safran.origin import difference

#: k, n and d of the instances.
SIZES = ((2, 1, 2), (2, 3, 4), (3, 2, 3), (7, 7, 7), (40, 2, 41))
#: Shares of the radius 4c on both sides of it.
INSIDE, OUTSIDE = 0.999, 1.001
#: Losses at doubles agree with the parabola to this: the direction is rounded, and so are the library's losses.
CLOSE = 1e-11


@finding(
    2,
    "The origin is a strict local maximum, with its exact radius",
    "All k ≥ 2 orthonormal teacher neurons, n ≥ 1, d ≥ k: L(W) < L(0) for all 0 < Σ‖wᵢ‖ < 4c, "
    "c = kψ(−1/√k)/2π, ψ(x) = √(1−x²) + (π − arccos x)x (c = 0.0483 for k = 2, c → ∞ with k), and 4c is the best "
    "radius: at neurons along −(v₁+…+v_k), L(W) − L(0) = s²/2 − 2cs with s = Σ‖wᵢ‖.",
    basis="proved",
    known="Lemmas 10 and 11 of paper 003 say that the origin is no local maximum; true for k = 1, where c = 0.",
    control=("twice the radius", {"stretch": 2.0}),
    tests={
        "shallows.questions.relu.origin.exact_pull": (DOUBLED, NEGATED),
        "shallows.Problem.loss": (DOUBLED, NEGATED),
    },
)
def origin(trial: Trial, stretch: float = 1.0) -> Iterator[Outcome]:
    """Balls: random networks just inside the radius are lower than the origin; neurons along −(v₁+…+v_k) lie on the
    parabola, are lower just inside and higher just outside. The library's losses beside them."""
    for k, n, d in SIZES:
        problem, what = relu_problem(k, width=n, inputs=d), f"k={k}, n={n}, d={d}"
        with precision(BITS):
            c = exact_pull(k)
        radius = stretch * 4 * float(c.mid())
        worst = np.zeros((n, d))
        worst[:, :k] = -trial.rng.uniform(0.5, 1.5, (n, 1))
        for _ in trial.times(2, 20):
            W = trial.rng.standard_normal((n, d))
            W *= INSIDE * radius / np.linalg.norm(W, axis=1).sum()
            gap = difference(problem, W)
            own = problem.loss(relu(W)) - problem.loss(relu(0 * W))
            lower = bool(gap < 0) and abs(own - float(gap.mid())) < CLOSE * (1 + problem.loss(relu(0 * W)))
            yield proof(lower, f"{what}: L(W) − L(0) = {own:.3g} at Σ‖wᵢ‖ = {INSIDE * radius:.4f}")
        for share in (0.5, INSIDE, OUTSIDE):
            s = share * radius
            gap = difference(problem, worst * s / np.linalg.norm(worst, axis=1).sum())
            with precision(BITS):
                parabola = arb(s) ** 2 / 2 - 2 * c * arb(s)
                on_it = bool(abs(gap - parabola) < CLOSE * (1 + s * s))
            sign = bool(gap < 0) if share < 1 else bool(gap > 0)
            yield proof(
                on_it and sign, f"{what}: on the parabola at {share} of the radius, {float(gap.mid()):.3g}"
            )
