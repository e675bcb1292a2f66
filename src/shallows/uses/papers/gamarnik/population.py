"""Paper 001, sections 2.1 and 2.2: the population risk, its barrier, and where to start."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log, sqrt

import numpy as np

import shallows as sh
from shallows.questions.quadratic.barrier import energy_barrier
from shallows.questions.quadratic.certificates import full_rank_optimality
from shallows.questions.quadratic.initialisation import start_probability, sufficient_ratio
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact


def planted(rng: np.random.Generator, m: int, d: int) -> Array:
    """Weights W* of rank d with different singular values."""
    return np.asarray(rng.standard_normal((m, d)) + np.eye(m, d))


def _risk(W: Array, width: int, data: sh.Gaussian | sh.IID | None = None) -> sh.Problem:
    return sh.Problem(sh.Network(W), data or sh.Gaussian(W.shape[1]), width, outer="ones")


def _smallest(W: Array) -> float:
    return float(np.linalg.svd(W, compute_uv=False)[-1])


@claim(
    "001",
    "Theorem 2.1a",
    "L(W) = 0 iff W = QW* with Q orthogonal, for any jointly continuous data.",
    control=("Q not orthogonal", {"stretch": 1e-3}),
)
def theorem_2_1_a(trial: Trial, stretch: float = 0.0) -> Iterator[Outcome]:
    """Rotated weights have loss zero; descents that reach loss zero differ from W* by a rotation."""
    for d, m in ((2, 2), (3, 3), (3, 5)):
        for data in (sh.Gaussian(d), sh.IID.laplace(d)):
            W = planted(trial.rng, m, d)
            problem = _risk(W, m, data)
            energy = float(problem.value(np.zeros(problem.size)))
            Q, _ = np.linalg.qr(trial.rng.standard_normal((m, m)))
            loss = problem.loss(sh.Network((1 + stretch) * Q @ W))
            yield equal(loss / energy, 1e-14, f"d={d}, m={m}, {data!r}: the loss at QW*")
            run = sh.descend(
                problem, sh.Network(trial.rng.standard_normal((m, d))), method="lm", tolerance=1e-9
            )
            if run.loss < 1e-18 * energy:
                error = np.abs(run.network.W.T @ run.network.W - W.T @ W).max() / np.abs(W.T @ W).max()
                yield equal(float(error), 1e-6, f"d={d}, m={m}, {data!r}: WᵀW at a descent's end")


@claim(
    "001",
    "Theorem 2.1b",
    "Gaussian data: rank-deficient W have L(W) ≥ 2σ_min(W*)⁴; exactly, ≥ 2σ⁴(1 + 1/(d+1)).",
    control=("W of full rank", {"rank_of": lambda d: d}),
    printed=("the bound 2σ⁴ is attained", {"constant": lambda d: 2.0}),
)
def theorem_2_1_b(trial: Trial, rank_of: object = None, constant: object = None) -> Iterator[Outcome]:
    """The exact barrier against the best of many descents over W of that rank."""
    for d in (2, 3, 4, 6):
        for _ in trial.times(1, 5):
            W = planted(trial.rng, d + 1, d)
            sigma = _smallest(W) ** 4
            rank = rank_of(d) if callable(rank_of) else d - 1
            seed = int(trial.rng.integers(2**31))
            runs = sh.ensemble(_risk(W, rank), runs=len(trial.times(10, 60)), tolerance=1e-9, rng=seed)
            best = float(runs.losses.min()) / sigma
            yield at_least(
                best, 2.0, f"d={d}: the best of {len(runs.losses)} descents at rank {rank}, over σ⁴"
            )
            factor = constant(d) if callable(constant) else 2 * (1 + 1 / (d + 1))
            yield equal(abs(best - factor), 1e-6, f"d={d}: {best:.8f} σ⁴ against {factor:.8f} σ⁴")
            yield equal(
                abs(energy_barrier(sh.Network(W)).exact / sigma / factor - 1), 1e-10, f"d={d}: energy_barrier"
            )


@claim(
    "001",
    "Theorem 2.1c",
    "Gaussian data, m ≥ d−1 free rows: some rank-deficient W has L(W) = 3σ_min(W*)⁴.",
    control=("the direction of the largest singular value left out", {"leave": 0}),
)
def theorem_2_1_c(trial: Trial, leave: int = -1) -> Iterator[Outcome]:
    """W* without its smallest singular direction."""
    for d in (2, 3, 5, 8):
        for _ in trial.times(2, 20):
            W = planted(trial.rng, d + 2, d)
            U, s, R = np.linalg.svd(W, full_matrices=False)
            sigma = s[-1] ** 4
            s[leave] = 0.0
            loss = _risk(W, d + 2).loss(sh.Network((U * s) @ R))
            yield equal(abs(loss / sigma - 3), 1e-6, f"d={d}: L = {loss / sigma:.8f} σ⁴")


@claim(
    "001",
    "Corollary 2.2",
    "αz²+βz+γ: rank-deficient W have L(W) ≥ 2α²σ_min(W*)⁴; for β ≠ 0 more than that.",
    control=("W of full rank", {"full_rank": True}),
    printed=("tight for β ≠ 0 as for β = 0", {"tight": True}),
)
def corollary_2_2(trial: Trial, full_rank: bool = False, tight: bool = False) -> Iterator[Outcome]:
    """The exact minimum for β = 0, the numerical one for β ≠ 0, both against the bound."""
    for d in (2, 3):
        W = planted(trial.rng, d + 1, d)
        for alpha, beta, gamma in ((1.5, 0.0, 0.3), (0.7, 0.8, -0.2)):
            activation = sh.Polynomial([gamma, beta, alpha])
            bound = 2 * alpha**2 * _smallest(W) ** 4
            if full_rank:
                problem = sh.Problem(
                    sh.Network(W, activation=activation), sh.Gaussian(d), d + 1, outer="ones"
                )
                yield at_least(
                    problem.loss(sh.Network(W, activation=activation)), bound, f"d={d}, α={alpha}, β={beta}"
                )
            found = energy_barrier(sh.Network(W, activation=activation), rng=trial.rng)
            excess = found.exact / bound - (1 + 1 / (d + 1))
            what = f"d={d}, α={alpha}, β={beta}: {found!r}"
            yield at_least(found.exact, bound, what)
            if beta == 0 or tight:
                yield equal(abs(excess), 1e-6, what)
            else:
                yield at_least(excess, 0.0, what, strict=True)


@claim(
    "001",
    "Theorem 2.3",
    "Gaussian data: a stationary W of full rank is a global minimum, W = QW*.",
    control=("stationary points of deficient rank", {"deficient": True}),
    printed=("“no rank-deficient saddle points”: W = 0 is one", {"origin": True}),
)
def theorem_2_3(trial: Trial, deficient: bool = False, origin: bool = False) -> Iterator[Outcome]:
    """Stationary points from descents at full width, from the chart's lower ranks, and the origin."""
    for d in (2, 3, 4):
        W = planted(trial.rng, d + 1, d)
        problem = _risk(W, d + 1)
        energy = float(problem.value(np.zeros(problem.size)))
        if origin:
            zero = np.zeros(problem.size)
            slope = float(np.linalg.norm(problem.value_and_gradient(zero[None])[1]))
            yield at_least(slope, 1e-9, f"d={d}: the gradient at W = 0, of rank 0")
        starts = [sh.Network(trial.rng.standard_normal((d + 1, d))) for _ in trial.times(3, 20)]
        if deficient:
            starts = [sh.Network(np.vstack([net.W[:-1] * 0, net.W[:1]])) for net in starts]
        for start in starts:
            run = sh.descend(problem, start, method="gd", tolerance=1e-9 * energy)
            rank = int(np.linalg.matrix_rank(run.network.W, tol=1e-4 * np.abs(W).max()))
            what = f"d={d}: a stationary point of rank {rank} and loss {run.loss / energy:.1g} of E y²"
            yield equal(run.loss / energy, 1e-12, what)
            yield fact(rank < d or full_rank_optimality(problem, run.network, tolerance=1e-6) is True, what)


@claim(
    "001",
    "Theorem 2.4",
    "Singular values of an m×d Gaussian matrix lie in √m ± (√d + t) with probability ≥ 1 − 2exp(−t²/2).",
    control=("half that interval", {"shrink": 0.5}),
)
def theorem_2_4(trial: Trial, shrink: float = 1.0) -> Iterator[Outcome]:
    """The share of random matrices outside, against the bound plus four standard errors."""
    count = len(trial.times(400, 4000))
    for m, d in ((20, 4), (60, 10)):
        values = np.linalg.svd(trial.rng.standard_normal((count, m, d)), compute_uv=False)
        for t in (0.5, 1.0, 2.0):
            reach = shrink * (sqrt(d) + t)
            outside = np.mean((values[:, -1] < sqrt(m) - reach) | (values[:, 0] > sqrt(m) + reach))
            bound = min(1.0, 2 * exp(-(t**2) / 2))
            allowed = bound + 4 * sqrt(bound * (1 - min(bound, 1.0)) / count + 1 / count**2)
            yield at_least(
                allowed, float(outside), f"m={m}, d={d}, t={t}: {outside:.3f} outside, bound {bound:.3f}"
            )


@claim(
    "001",
    "Theorem 2.5",
    "W₀ᵀW₀ = (m+4d)I starts below the barrier with high probability once m > Cd², C ≈ 268 by the proof.",
    control=("m = d²", {"ratio": 1.0}),
    printed=("the proof's last condition without 32md²", {"printed_ratio": True}),
)
def theorem_2_5(trial: Trial, ratio: float = 8.0, printed_ratio: bool = False) -> Iterator[Outcome]:
    """Probabilities over random teachers, which rise with d; descents from there; and the constant of the proof."""
    trials = len(trial.times(400, 4000))
    chances = [
        start_probability(d, int(ratio * d * d), "m+4d", trials=trials, rng=trial.rng) for d in (10, 20)
    ]
    for found in chances:
        yield at_least(found.probability, 0.9, f"{found!r}")
    yield at_least(
        chances[1].probability + 4 * chances[1].error + 1e-9,
        chances[0].probability,
        "it does not fall with d",
    )
    better = start_probability(10, 400, "m", trials=trials, rng=trial.rng)
    paper = start_probability(10, 400, "m+4d", trials=trials, rng=trial.rng)
    yield at_least(
        better.probability, paper.probability, f"γ = m is better at m = 4d²: {better!r}, {paper!r}"
    )
    C = sufficient_ratio()
    slack = 1 / 8 - (33 / C + 8 / C**1.5 + 16 / C**2)
    if printed_ratio:
        C = _printed_ratio()
        slack = 1 / 8 - (33 / C + 8 / C**1.5 + 16 / C**2)
    yield at_least(slack, -1e-9, f"the proof's inequality at its least constant C = {C:.4g}")


def _printed_ratio() -> float:
    """The least C of the condition as printed, 1/C + 8/C^1.5 + 16/C² < 1/8."""
    grid = np.exp(np.linspace(log(1.0), log(1e4), 200_001))
    return float(grid[np.argmax(1 / grid + 8 / grid**1.5 + 16 / grid**2 < 1 / 8)])
