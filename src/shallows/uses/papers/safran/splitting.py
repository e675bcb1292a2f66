"""Paper 003, section 4 and appendix E: splitting neurons turns non-global minima into saddles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.questions.relu.scaling import norm_sum, norm_sum_bound, ray, slope_at_origin
from shallows.questions.relu.splitting import descend_from_split, split_hessian, splits, wider
from shallows.questions.relu.symmetric import SymmetricMinimum, symmetric_minimum
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact
from shallows.uses.papers.safran.instances import minima, relu, relu_problem


def _spurious(trial: Trial) -> list[SymmetricMinimum]:
    return minima(10 if trial.effort == "quick" else 16)


@claim(
    "003",
    "Theorem 8",
    "A non-global minimum with n ≤ k and Σ‖wᵢ‖ ≤ k has a neuron all of whose splits are saddles.",
    control=("a global minimum", {"at_global": True}),
)
def theorem_8(trial: Trial, at_global: bool = False) -> Iterator[Outcome]:
    """The published block minima: norm sum, a neuron with negative H′, and a lower minimum below the split."""
    chosen = [symmetric_minimum(7, (7,))] if at_global else _spurious(trial)
    for minimum in chosen:
        problem = relu_problem(minimum.k)
        found = splits(problem, minimum.network())
        what = f"k={minimum.k}, blocks {minimum.blocks}"
        yield at_least(minimum.k, norm_sum(minimum.network()), f"{what}: Σ‖wᵢ‖ ≤ k")
        yield fact(found.theorem_8_applies and len(found.saddles) > 0, f"{what}: {found!r}")
    for minimum in chosen[:2]:
        run = descend_from_split(relu_problem(minimum.k), minimum.network())
        yield at_least(
            minimum.loss - 1e-6, run.loss, f"k={minimum.k}: below the split a minimum of loss {run.loss:.3g}"
        )


@claim(
    "003",
    "Theorem 9",
    "Splitting any neuron with a non-semidefinite H′ gives a saddle for every α, and no local minimum at α = 0, 1.",
    control=("a global minimum", {"at_global": True}),
)
def theorem_9(trial: Trial, at_global: bool = False) -> Iterator[Outcome]:
    """Gradient and lowest curvature at the split, for random α; a lower network near the split with α = 0."""
    chosen = (
        [symmetric_minimum(7, (7,))] if at_global else _spurious(trial)[:: 1 if trial.effort == "full" else 3]
    )
    for minimum in chosen:
        problem = relu_problem(minimum.k)
        big = wider(problem)
        found = splits(problem, minimum.network())
        for i in found.saddles[[0, -1]] if len(found.saddles) else [0]:
            alpha = float(trial.rng.uniform(0.05, 0.95))
            split = minimum.network().split(int(i), alpha)
            what = f"k={minimum.k}, blocks {minimum.blocks}, neuron {i}, α={alpha:.2f}"
            yield equal(float(np.linalg.norm(big.gradient(split))), 1e-9, f"{what}: critical")
            direction = found.escape(int(i), alpha)
            curvature = float(direction @ big.hvp(split, direction))
            yield at_least(0.0, curvature, f"{what}: curvature {curvature:.3g}", strict=True)
            almost = big.pack(minimum.network().split(int(i), 1e-3))
            lowest = min(float(big.value(almost + t * direction)) for t in (-1e-3, 1e-3))
            yield at_least(minimum.loss, lowest, f"{what}: lower near α = 0", strict=True)


@claim(
    "003",
    "Proposition 1",
    "At a local minimum the norms of the neurons sum to at most kn.",
    control=("networks that are no minima", {"trained": False}),
)
def proposition_1(trial: Trial, trained: bool = True) -> Iterator[Outcome]:
    """End points of descents from Xavier starts and from starts of large norm, n below and at k."""
    for k, n in ((4, 3), (6, 6), (7, 7)):
        problem = relu_problem(k, width=n)
        for init, step in (("xavier", None), ("large", 1 / n)):
            seed = int(trial.rng.integers(2**31))
            runs = sh.ensemble(problem, runs=len(trial.times(5, 50)), init=init, step=step, rng=seed)
            for theta in runs.thetas[runs.converged] if trained else [np.full(problem.size, 10.0)]:
                total = norm_sum(problem.unpack(theta))
                yield at_least(norm_sum_bound(problem), total, f"k={k}, n={n}, {init}: Σ‖wᵢ‖ = {total:.4f}")


@claim(
    "003",
    "Lemma 10",
    "The origin is neither a local minimum nor a local maximum.",
    control=("a teacher with negative outer weights", {"outer": -1.0}),
)
def lemma_10(trial: Trial, outer: float = 1.0) -> Iterator[Outcome]:
    """Losses on both sides of the origin: along εv₁, and along −εv₁ with the other neurons zero."""
    for k, n in ((2, 1), (3, 3), (4, 6)):
        teacher = sh.Network(np.eye(k), outer * np.ones(k), sh.ReLU())
        problem = sh.Problem(teacher, sh.Gaussian(k), n, outer="ones")
        base = problem.loss(relu(np.zeros((n, k))))
        for epsilon in (1e-2, 1e-4):
            W = np.zeros((n, k))
            W[0, 0] = epsilon
            yield at_least(
                base, problem.loss(relu(W)), f"k={k}, n={n}, ε={epsilon:g}: lower along εv₁", strict=True
            )
        slope = slope_at_origin(problem, relu(trial.rng.standard_normal((n, k))))
        yield at_least(0.0, slope, f"k={k}, n={n}: slope {slope:.3g} along a random ray", strict=True)
    problem = sh.Problem(sh.Network(np.eye(1), activation=sh.ReLU()), sh.Gaussian(1), 1, outer="ones")
    yield at_least(
        problem.loss(relu(np.array([[-0.01]]))),
        problem.loss(relu(np.zeros((1, 1)))),
        "k=1: higher along −εv₁",
        strict=True,
    )


@claim(
    "003",
    "Lemma 11",
    "There is no local maximum: along t ↦ tW the objective is a parabola that opens upwards.",
    control=("the parabola read upside down", {"sign": -1.0}),
)
def lemma_11(trial: Trial, sign: float = 1.0) -> Iterator[Outcome]:
    """The closed parabola against losses on the ray, its curvature, and the optimal scale t*."""
    for k, n in ((2, 3), (5, 4)):
        problem = relu_problem(k, width=n)
        for _ in trial.times(5, 50):
            net = relu(trial.rng.standard_normal((n, k)))
            line = ray(problem, net)
            error = max(abs(line.loss(t) - problem.loss(relu(t * net.W))) for t in (0.3, 1.0, 2.0))
            yield equal(error / line.energy, 1e-12, f"k={k}, n={n}: the loss on the ray")
            yield at_least(
                sign * line.curvature, 0.0, f"k={k}, n={n}: curvature {line.curvature:.3g}", strict=True
            )
            best = problem.loss(line.best_network())
            around = min(problem.loss(relu(s * line.best_scale * net.W)) for s in (0.99, 1.01))
            yield at_least(around, best, f"k={k}, n={n}: t* = {line.best_scale:.3f} is optimal")


@claim(
    "003",
    "Lemma 12",
    "A split minimum is critical; its Hessian is the old one with ½I + H′/α, ½I, ½I + H′/(1−α) in the new blocks.",
    control=("α exchanged with 1 − α", {"exchange": True}),
    printed=("the last line of the proof: H′/(1−α) without ½I", {"identity": 0.0}),
)
def lemma_12(trial: Trial, exchange: bool = False, identity: float = 1.0) -> Iterator[Outcome]:
    """Block formula against the Hessian of the larger problem."""
    for minimum in _spurious(trial)[:3]:
        problem = relu_problem(minimum.k)
        big, k = wider(problem), minimum.k
        for _ in trial.times(1, 5):
            i, alpha = int(trial.rng.integers(k)), float(trial.rng.uniform(0.1, 0.45))
            split = minimum.network().split(i, alpha)
            yield equal(float(np.linalg.norm(big.gradient(split))), 1e-9, f"k={k}, neuron {i}: critical")
            formula = split_hessian(problem, minimum.network(), i, 1 - alpha if exchange else alpha)
            block = slice((i + 1) * k, (i + 2) * k)
            formula[block, block] -= (1 - identity) * np.eye(k)
            error = float(np.abs(formula - big.hessian(split)).max())
            yield equal(error, 1e-9, f"k={k}, neuron {i}, α={alpha:.2f}: the Hessian from blocks")


@claim(
    "003",
    "Lemma 13",
    "If uᵀH′u = λ < 0, the split's Hessian along (u, −u) is λ(1/α + 1/(1−α)).",
    control=("along (u, u)", {"sign": 1.0}),
)
def lemma_13(trial: Trial, sign: float = -1.0) -> Iterator[Outcome]:
    """Any unit u, not only an eigenvector, by Hessian products of the larger problem."""
    for minimum in _spurious(trial)[:3]:
        problem = relu_problem(minimum.k)
        big, k = wider(problem), minimum.k
        found = splits(problem, minimum.network())
        for _ in trial.times(2, 10):
            i, alpha = int(trial.rng.choice(found.saddles)), float(trial.rng.uniform(0.1, 0.9))
            u = found.direction(i) + 0.05 * trial.rng.standard_normal(k)
            u /= np.linalg.norm(u)
            lam = float(u @ found.blocks[i] @ u) / 2
            direction = np.zeros((k + 1, k))
            direction[i], direction[i + 1] = u, sign * u
            flat = direction.ravel()
            value = float(flat @ big.hvp(minimum.network().split(i, alpha), flat)) / 2
            yield equal(
                abs(value - lam * (1 / alpha + 1 / (1 - alpha))),
                1e-9,
                f"k={k}, neuron {i}, λ={lam:.4f}: {value:.4f}",
            )
            yield at_least(0.0, value, f"k={k}, neuron {i}: negative", strict=True)
