"""Paper 003, sections 3.1 to 3.3: the global minima and what is around them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.questions.relu.global_minima import global_minimum, sample_global_minima
from shallows.questions.relu.nonconvexity import negative_curvature
from shallows.questions.relu.witnesses import witness_orders
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact
from shallows.uses.papers.safran.instances import blocks, half_hessian, relu, relu_problem

SMALLEST = 0.25 - 1 / (2 * np.pi)


@claim(
    "003",
    "Theorem 1",
    "Global minima are exactly: each neuron a nonnegative multiple of a teacher neuron, the multiples summing to one.",
    control=("a negative multiple", {"negative": True}),
)
def theorem_1(trial: Trial, negative: bool = False) -> Iterator[Outcome]:
    """Networks of that form have loss zero; descents that reach loss zero end at that form."""
    for k, n in ((2, 3), (4, 4), (4, 6)):
        problem = relu_problem(k, width=n, inputs=k + 1)
        for found in sample_global_minima(problem, len(trial.times(3, 20)), trial.rng):
            W = np.array(found.network.W)
            if negative:
                W[0] *= -1
            yield equal(problem.loss(relu(W)), 1e-14, f"k={k}, n={n}: the loss of a network of that form")
        if n > k:
            continue  # descent is sublinear there
        runs = sh.ensemble(problem, runs=len(trial.times(5, 40)), rng=int(trial.rng.integers(2**31)))
        for theta, loss in zip(runs.thetas, runs.losses, strict=True):
            if loss < 1e-22:
                form = global_minimum(problem, problem.unpack(theta), tolerance=1e-5)
                yield fact(form is not None, f"k={k}, n={n}: a descent that reached loss {loss:.0e}")


@claim(
    "003",
    "Theorem 2",
    "n = k: the Hessian of ½E at a global minimum is at least ¼ − 1/2π, with equality.",
    control=("n = k + 1", {"extra": 1}),
)
def theorem_2(trial: Trial, extra: int = 0) -> Iterator[Outcome]:
    """Smallest eigenvalues at permuted and rotated teachers; and a whole neighbourhood that stays convex."""
    for k in (2, 3, 6, 10) if trial.effort == "quick" else (2, 3, 6, 10, 20):
        problem = relu_problem(k, width=k + extra)
        W = sample_global_minima(problem, 1, trial.rng)[0].network.W
        lowest = float(np.linalg.eigvalsh(half_hessian(problem, W))[0])
        yield equal(abs(lowest - SMALLEST), 1e-12, f"k={k}: smallest eigenvalue {lowest:.12f}")
        for _ in trial.times(1, 5):
            near = W + 1e-3 * trial.rng.standard_normal(W.shape) / k
            value = float(np.linalg.eigvalsh(half_hessian(problem, near))[0])
            yield at_least(value, 0.0, f"k={k}: smallest eigenvalue {value:.4f} nearby", strict=True)


@claim(
    "003",
    "Lemma 4",
    "n = k: at a global minimum H_ii = ½I and H_ij = ¼I + (w̄ᵢw̄ⱼᵀ + w̄ⱼw̄ᵢᵀ)/2π.",
    control=("a student off the minimum", {"move": 1e-2}),
)
def lemma_4(trial: Trial, move: float = 0.0) -> Iterator[Outcome]:
    """Block by block, in more inputs than neurons too."""
    for k, d in ((2, 2), (3, 5), (6, 6)):
        problem = relu_problem(k, inputs=d)
        W = trial.rng.permutation(np.eye(k, d)) + move * trial.rng.standard_normal((k, d))
        H = blocks(half_hessian(problem, W), k)
        for i in range(k):
            for j in range(k):
                expected = np.eye(d) / 2
                if i != j:
                    expected = np.eye(d) / 4 + (np.outer(W[i], W[j]) + np.outer(W[j], W[i])) / (2 * np.pi)
                yield equal(float(np.abs(H[i, j] - expected).max()), 1e-12, f"k={k}, d={d}: block ({i}, {j})")


@claim(
    "003",
    "Theorem 3",
    "n > k: every neighbourhood of a differentiable global minimum has a point with a negative Hessian eigenvalue.",
    control=("n = k", {"extra": 0}),
)
def theorem_3(trial: Trial, extra: int = 1) -> Iterator[Outcome]:
    """An explicit point at each distance, its curvature by a Hessian product and by the closed form."""
    for k in (2, 5):
        for more in (extra, 2 * extra):
            problem = relu_problem(k, width=k + more)
            for found in sample_global_minima(problem, len(trial.times(2, 10)), trial.rng):
                for distance in (1e-1, 1e-3, 1e-5):
                    there = negative_curvature(problem, found.network, distance)
                    yield at_least(
                        0.0, there.curvature, f"k={k}, n={k + more}, distance {distance:g}", strict=True
                    )
                    error = abs(there.curvature / there.predicted - 1)
                    yield equal(error, 1e-3, f"k={k}, n={k + more}: closed form {there.predicted:.3g}")


def _orders(trial: Trial, extra: int, names: tuple[str, ...], expected: float) -> Iterator[Outcome]:
    for k in (2, 4):
        problem = relu_problem(k, width=k + extra)
        for found in sample_global_minima(problem, len(trial.times(2, 10)), trial.rng):
            if min(found.weights) < 0.05:
                continue
            table = witness_orders(problem, found.network, (1e-3, 3e-4, 1e-4))
            for name in names:
                order = table.orders[name]
                last = table.witnesses[-1]
                yield equal(
                    abs(order - expected),
                    0.1,
                    f"k={k}, n={k + extra}: {name} falls like ε^{order:.2f}; {last!r}",
                )


@claim(
    "003",
    "Theorem 4",
    "n > k: F is not one-point strongly convex around a global minimum, even in orthogonal directions.",
    control=("n = k", {"extra": 0}),
)
def theorem_4(trial: Trial, extra: int = 1) -> Iterator[Outcome]:
    """Witnesses at distance ε whose one-point coefficients (by Hessian and by gradient) fall like ε."""
    yield from _orders(trial, extra, ("one-point (Hessian)", "one-point (gradient)"), 1.0)


@claim(
    "003",
    "Theorem 5",
    "n > k: no Polyak–Łojasiewicz condition holds around a global minimum; the quotient falls like ε.",
    control=("n = k", {"extra": 0}),
    printed=("equation 26: the loss at the witness is of order ε", {"loss_order": 1.0}),
)
def theorem_5(trial: Trial, extra: int = 1, loss_order: float = 3.0) -> Iterator[Outcome]:
    """½‖∇F‖²/F at the witnesses, and the order of F itself."""
    yield from _orders(trial, extra, ("PŁ",), 1.0)
    yield from _orders(trial, extra, ("loss",), loss_order)
