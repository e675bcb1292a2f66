"""Paper 003, appendix E: the origin and maxima (Lemmas 10 and 11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb

import shallows as sh
from shallows.mathematics.balls.systems import precision
from shallows.questions.relu.origin import exact_pull, least_pull
from shallows.questions.relu.scaling import ray, slope_at_origin
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import DOUBLED, NEGATED, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, proof
from shallows.uses.papers.safran.instances import BITS, box, relu, relu_balls, relu_problem

#: Below the proved bound on Σⱼ f(w, vⱼ)/‖w‖, 0.0407: the origin is above every network with Σ‖wᵢ‖ < 4 times this.
PULL = 0.04


def difference(problem: sh.Problem, W: Array) -> Any:
    """L(W) − L(0) in balls."""
    with precision(BITS):
        balls = relu_balls(problem)
        k = len(balls.V)
        origin = arb(k) / 2 + arb(k * (k - 1)) / (2 * arb.pi())
        return balls.loss(box(W)) - origin


@claim(
    "003",
    "Lemma 10",
    "False for all k ≥ 2, n ≥ 1, d ≥ k: the origin is a strict local maximum, F(W) < F(0) for all 0 < Σ‖wᵢ‖ < 0.16,"
    " because Σⱼ f(w, vⱼ) ≥ 0.04‖w‖ for all w. For k = 1 it holds: the origin is neither a minimum nor a maximum.",
    control=("networks of any size", {"size": 40.0}),
    printed=("the origin is no local maximum: higher along −εv₁", {"as_printed": True}),
    verdict="false as printed",
    tests={
        "shallows.questions.relu.scaling.slope_at_origin": (DOUBLED, NEGATED),
        "shallows.questions.relu.origin.least_pull": (NEGATED, DOUBLED),
        "shallows.Problem.loss": (DOUBLED, NEGATED),
    },
)
def lemma_10(trial: Trial, size: float = 1.0, as_printed: bool = False) -> Iterator[Outcome]:
    """The bound on a grid of the disc, in balls, which proves it for all W; losses in balls at random W and at the
    worst direction −(v₁+v₂)/√2, the library's losses and slopes beside them; and both signs at k = 1."""
    with precision(BITS):
        bound, best = least_pull(), exact_pull()
    yield proof(
        bool(bound > PULL) and bool(bound < best), f"Σⱼ f(w, vⱼ) ≥ {float(bound):.4f}‖w‖ for all w, k ≥ 2"
    )
    for k, n, d in ((2, 1, 2), (2, 3, 3), (3, 3, 3), (4, 6, 5), (20, 2, 20)):
        problem, what = relu_problem(k, width=n, inputs=d), f"k={k}, n={n}, d={d}"
        for name, W in _directions(trial, n, d):
            length = float(np.linalg.norm(W, axis=1).sum())
            W = 0.99 * 4 * PULL * size * trial.rng.uniform(0.1, 1) * W / length
            if as_printed:
                W = -1e-3 * np.eye(n, d) * (np.arange(n) == 0)[:, None]
            gap = difference(problem, W)
            close = abs(problem.loss(relu(W)) - problem.loss(relu(0 * W)) - float(gap.mid())) < 1e-11
            sign = bool(gap > 0) if as_printed else bool(gap < 0)
            yield proof(sign and close, f"{what}, {name}: F(W) − F(0) = {float(gap.mid()) / 2:.3g}")
            if not as_printed:
                yield _slope(problem, W, what)
    yield _one_neuron(1.0)
    yield _one_neuron(-1.0)


def _directions(trial: Trial, n: int, d: int) -> Iterator[tuple[str, Array]]:
    for _ in trial.times(2, 20):
        yield "a random direction", trial.rng.standard_normal((n, d))
    worst = np.zeros((n, d))
    worst[:, :2] = -1
    yield "the worst direction", worst
    yield "−v₁", -np.eye(n, d) * (np.arange(n) == 0)[:, None]


def _slope(problem: sh.Problem, W: Array, what: str) -> Outcome:
    """The slope along the ray is −2Σf, at most −2·0.04Σ‖wᵢ‖: against (L(tW) − L(0))/t − t E f² in balls."""
    t = 1e-3
    with precision(BITS):
        first, second = difference(problem, t * W), difference(problem, 2 * t * W)
        slope = (4 * first - second) / arb(2 * t)
    own = slope_at_origin(problem, relu(W))
    length = float(np.linalg.norm(W, axis=1).sum())
    steep = bool(slope < -2 * PULL * length)
    return proof(steep and abs(own / float(slope.mid()) - 1) < 1e-9, f"{what}: slope {own:.3g} at the origin")


def _one_neuron(sign: float) -> Outcome:
    """k = n = 1: F falls along v₁ and rises along −v₁."""
    gap = difference(relu_problem(1), np.array([[sign * 0.01]]))
    return proof(
        bool(gap < 0) if sign > 0 else bool(gap > 0),
        f"k=1: F − F(0) = {float(gap.mid()) / 2:.3g} at {sign:+g}·0.01",
    )


@claim(
    "003",
    "Lemma 11",
    "For all n ≥ 1, d ≥ k no point but the origin is a local maximum: along t ↦ tW, W ≠ 0, the objective is a "
    "parabola that opens upwards. The origin is one for k ≥ 2 (Lemma 10).",
    control=("the parabola read upside down", {"sign": -1.0}),
    printed=("no local maxima: F is higher somewhere next to the origin", {"as_printed": True}),
    verdict="false as printed",
    tests={
        "shallows.relu.ray": (
            of_field("curvature", DOUBLED),
            of_field("curvature", NEGATED),
            of_field("slope", DOUBLED),
            of_field("energy", DOUBLED),
        ),
        "shallows.relu.Ray.best_scale": (DOUBLED,),
    },
)
def lemma_11(trial: Trial, sign: float = 1.0, as_printed: bool = False) -> Iterator[Outcome]:
    """The closed parabola against losses on the ray, its curvature, and the optimal scale t*."""
    for k, n, d in ((2, 3, 2), (5, 4, 6), (1, 2, 1)):
        problem, what = relu_problem(k, width=n, inputs=d), f"k={k}, n={n}, d={d}"
        for _ in trial.times(5, 50):
            net = relu(trial.rng.standard_normal((n, d)))
            if as_printed:
                gap = difference(problem, 1e-4 * net.W)
                yield proof(
                    bool(gap > 0), f"{what}: F − F(0) = {float(gap.mid()) / 2:.3g} next to the origin"
                )
            line = ray(problem, net)
            error = max(abs(line.loss(t) - problem.loss(relu(t * net.W))) for t in (0.3, 1.0, 2.0))
            yield equal(error / (1 + line.energy + line.curvature), 1e-12, f"{what}: the loss on the ray")
            yield at_least(sign * line.curvature, 0.0, f"{what}: curvature {line.curvature:.3g}", strict=True)
            best = problem.loss(line.best_network())
            around = min(problem.loss(relu(s * line.best_scale * net.W)) for s in (0.99, 1.01))
            yield at_least(around, best - 1e-14, f"{what}: t* = {line.best_scale:.3f} is optimal")
