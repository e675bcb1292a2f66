"""Paper 003, section 3.4 and appendix C: one-point strong convexity in most directions, and Conjecture 1."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.questions.relu.global_minima import sample_global_minima
from shallows.questions.relu.most_directions import conjecture_row, directional_curvature, even_global_minimum
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, at_least, equal
from shallows.uses.papers.safran.instances import (
    blocks,
    h1,
    h2,
    half_hessian,
    orthogonal_steps,
    relu,
    relu_problem,
)

EPSILONS = (1e-2, 1e-3, 1e-4)


@claim(
    "003",
    "Theorem 6",
    "n = mk: gᵀHg ≥ ¼(‖Σg‖² + (1−2/π)Σ‖gᵢ‖²) − O(ε^2.5) in the ε-orthogonal neighbourhood of w̃ = v/m.",
    control=("four times that bound", {"factor": 4.0}),
)
def theorem_6(trial: Trial, factor: float = 1.0) -> Iterator[Outcome]:
    """Random steps, equal steps, and steps that cancel; what is missing to the bound, over ε^2.5."""
    for k, m in ((2, 1), (3, 2), (4, 3)):
        problem = relu_problem(k, width=m * k)
        centre = even_global_minimum(problem).W
        for epsilon in EPSILONS:
            for g in _steps(trial, centre, k, m, epsilon):
                sides = directional_curvature(problem, relu(centre + g))
                missing = (factor * sides.right - sides.left) / epsilon**2.5
                yield equal(
                    max(missing, 0.0), 10.0 * m * k, f"k={k}, m={m}, ε={epsilon:g}: missing over ε^2.5"
                )


def _steps(trial: Trial, centre: Array, k: int, m: int, epsilon: float) -> Iterator[Array]:
    for _ in trial.times(2, 20):
        g = orthogonal_steps(trial.rng, centre, epsilon)
        yield g
        groups = g.reshape(k, m, -1)
        yield np.repeat(groups[:, :1], m, axis=1).reshape(g.shape)
        if m > 1:
            yield (groups - groups.mean(axis=1, keepdims=True)).reshape(g.shape) / 2


@claim(
    "003",
    "Example 1",
    "Theorem 6 for m = 1, for equal neurons, and for sums zero: coefficients ≥ ¼−1/2π, ≥ m(¼−1/2π), and O(√ε).",
    control=("sums zero, claimed to have a positive coefficient", {"cancel_bound": 0.01}),
)
def example_1(trial: Trial, cancel_bound: float | None = None) -> Iterator[Outcome]:
    """The three quotients gᵀHg/‖g‖² at ε = 1e-4."""
    epsilon, base = 1e-4, 0.25 - 1 / (2 * np.pi)
    for k, m in ((3, 1), (3, 2), (4, 3)):
        problem = relu_problem(k, width=m * k)
        centre = even_global_minimum(problem).W
        for _ in trial.times(3, 30):
            g = orthogonal_steps(trial.rng, centre, epsilon).reshape(k, m, -1)
            equal_step = np.repeat(g[:, :1], m, axis=1).reshape(centre.shape)
            total = equal_step.sum(axis=0)
            square = float(np.sum(equal_step**2))
            bound = m * base + float(total @ total) / (4 * square)
            value = _quotient(problem, centre, equal_step)
            yield at_least(
                value,
                bound - 10 * m * np.sqrt(epsilon),
                f"k={k}, m={m}, equal neurons: {value:.4f} ≥ {bound:.4f}",
            )
            if m > 1:
                step = (g - g.mean(axis=1, keepdims=True)).reshape(centre.shape)
                value = _quotient(problem, centre, step)
                if cancel_bound is None:
                    yield equal(abs(value), m * np.sqrt(epsilon), f"k={k}, m={m}, sums zero: {value:.2g}")
                else:
                    yield at_least(value, cancel_bound, f"k={k}, m={m}, sums zero: {value:.2g}")


def _quotient(problem: sh.Problem, centre: Array, step: Array) -> float:
    flat = step.ravel()
    return float(flat @ problem.hvp(relu(centre + step), flat)) / 2 / float(flat @ flat)


@claim(
    "003",
    "Remark 1",
    "Theorem 6 holds around any differentiable global minimum, with constants that depend on its smallest neuron.",
    control=("four times that bound", {"factor": 4.0}),
)
def remark_1(trial: Trial, factor: float = 1.0) -> Iterator[Outcome]:
    """Random global minima, gᵢ the sum over the neurons of one teacher neuron."""
    for k, n in ((2, 3), (3, 5)):
        problem = relu_problem(k, width=n)
        for found in sample_global_minima(problem, len(trial.times(3, 20)), trial.rng):
            W, smallest = found.network.W, float(found.weights.min())
            for epsilon in EPSILONS[1:]:
                g = orthogonal_steps(trial.rng, W, epsilon * smallest)
                sums = np.array([g[found.owners == i].sum(axis=0) for i in range(k)])
                total = sums.sum(axis=0)
                bound = (float(total @ total) + (1 - 2 / np.pi) * float(np.sum(sums**2))) / 4
                flat = g.ravel()
                value = float(flat @ problem.hvp(relu(W + g), flat)) / 2
                missing = (factor * bound - value) / (epsilon * smallest) ** 2.5
                yield equal(
                    max(missing, 0.0), 10.0 * n / smallest, f"k={k}, n={n}, ε={epsilon:g}: missing over ε^2.5"
                )


@claim(
    "003",
    "Conjecture 1",
    "Theorem 6 without its O(ε^2.5) and without orthogonality (observed, not proved).",
    control=("an excess of ten times the step's square", {"excess": 10.0}),
)
def conjecture_1(trial: Trial, excess: float = 0.0) -> Iterator[Outcome]:
    """Rows of the paper's table: Gaussian steps, and steps that cancel."""
    samples = len(trial.times(60, 1000))
    for k, m in ((5, 2), (5, 5), (10, 2)):
        row = conjecture_row(k, m, samples, trial.rng)
        yield at_least(row.smallest_excess, excess, f"{row!r}", strict=True)
        yield at_least(row.smallest_adversarial, 0.0, f"k={k}, m={m}, steps that cancel", strict=True)


def _order(values: list[float]) -> float:
    """The slope of log|value| against log ε."""
    return float(np.polyfit(np.log(EPSILONS), np.log(np.abs(values) + 1e-300), 1)[0])


def _near(trial: Trial, k: int, m: int) -> tuple[Array, Array]:
    """The centre v/m and a unit orthogonal step, to be scaled by ε."""
    centre = even_global_minimum(relu_problem(k, width=m * k)).W
    return centre, orthogonal_steps(trial.rng, centre, 1.0)


@claim(
    "003",
    "Lemma 5",
    "gᵀh₁(w, w′)g and gᵀh₁(w, v)g are O(ε^2.5) for neurons of one teacher neuron; λ_max(h₁) = sin θ‖v‖/π‖w‖.",
    control=("neurons of different teacher neurons", {"other": True}),
    printed=("λ_max(h₁) = sin θ‖v‖/‖w‖", {"divisor": 1.0}),
)
def lemma_5(trial: Trial, other: bool = False, divisor: float = np.pi) -> Iterator[Outcome]:
    """The order in ε, and the largest eigenvalue at random pairs."""
    for _ in trial.times(3, 20):
        w, v = trial.rng.standard_normal((2, 4))
        sine = np.sqrt(1 - (w @ v) ** 2 / (w @ w) / (v @ v))
        expected = sine * np.linalg.norm(v) / (divisor * np.linalg.norm(w))
        yield equal(float(abs(np.linalg.eigvalsh(h1(w, v))[-1] / expected - 1)), 1e-9, "λ_max(h₁)")
        centre, g = _near(trial, 3, 2)
        j = 2 if other else 1
        for name, partner, move in (("w′", centre[j], g[j]), ("v", np.eye(3)[j // 2], np.zeros(3))):
            values = [
                float(e * g[0] @ h1(centre[0] + e * g[0], partner + e * move) @ (e * g[0])) for e in EPSILONS
            ]
            order = _order(values)
            yield at_least(order, 2.45, f"gᵀh₁(w, {name})g falls like ε^{order:.2f}")


@claim(
    "003",
    "Lemma 6",
    "Σ gᵀh₁(w, w′)g − Σ gᵀh₁(w, v)g = O(ε^2.5), over all other neurons and all teacher neurons.",
    control=("without the teacher's terms", {"teacher": False}),
)
def lemma_6(trial: Trial, teacher: bool = True) -> Iterator[Outcome]:
    """The diagonal block of the Hessian less ½I, along g, as ε → 0."""
    for k, m in ((2, 2), (3, 2), (3, 3)):
        problem = relu_problem(k, width=m * k)
        for _ in trial.times(1, 10):
            centre, g = _near(trial, k, m)
            values = []
            for e in EPSILONS:
                W = centre + e * g
                inner = blocks(half_hessian(problem, W), m * k)[0, 0] - np.eye(k) / 2
                if not teacher:
                    inner = inner + sum(h1(W[0], v) for v in np.eye(k))
                values.append(float(e * g[0] @ inner @ (e * g[0])))
            order = _order(values)
            yield at_least(order, 2.45, f"k={k}, m={m}: falls like ε^{order:.2f}")


@claim(
    "003",
    "Lemma 7",
    "Neurons of different teacher neurons: gᵀh₂g′ = ¼⟨g,g′⟩ + ⟨g,v′⟩⟨g′,v⟩/2π + O(ε^2.5).",
    control=("without the second term", {"second": 0.0}),
)
def lemma_7(trial: Trial, second: float = 1.0) -> Iterator[Outcome]:
    """The order in ε of the difference."""
    for _ in trial.times(4, 30):
        centre, g = _near(trial, 3, 2)
        V = np.eye(3)
        values = []
        for e in EPSILONS:
            p, q = e * g[0], e * g[2]
            left = float(p @ h2(centre[0] + p, centre[2] + q) @ q)
            right = float(p @ q) / 4 + second * float(p @ V[1]) * float(q @ V[0]) / (2 * np.pi)
            values.append(left - right)
        order = _order(values)
        yield at_least(order, 2.45, f"the difference falls like ε^{order:.2f}")


@claim(
    "003",
    "Lemma 8",
    "Neurons of one teacher neuron: gᵀh₂g′ = ½⟨g,g′⟩ + O(ε³).",
    control=("¼ instead of ½", {"factor": 0.25}),
)
def lemma_8(trial: Trial, factor: float = 0.5) -> Iterator[Outcome]:
    """The order in ε of the difference."""
    for _ in trial.times(4, 30):
        centre, g = _near(trial, 3, 2)
        values = []
        for e in EPSILONS:
            p, q = e * g[0], e * g[1]
            values.append(float(p @ h2(centre[0] + p, centre[1] + q) @ q) - factor * float(p @ q))
        order = _order(values)
        yield at_least(order, 2.9, f"the difference falls like ε^{order:.2f}")


@claim(
    "003",
    "Lemma 9",
    "Σ_{i≠j} u_ij u_ji ≥ Σ u_ii² − Σ‖uᵢ‖² for n vectors in Rⁿ.",
    control=("the diagonal counted twice", {"diagonal": 2.0}),
)
def lemma_9(trial: Trial, diagonal: float = 1.0) -> Iterator[Outcome]:
    """Random matrices, and antisymmetric ones plus a diagonal, where it is an equality."""
    for n in (2, 3, 6):
        for _ in trial.times(10, 200):
            U = trial.rng.standard_normal((n, n))
            for M in (U, U - U.T + np.diag(np.diag(U))):
                left = float(np.trace(M @ M) - np.sum(np.diag(M) ** 2))
                right = float(diagonal * np.sum(np.diag(M) ** 2) - np.sum(M * M))
                yield at_least(left + 1e-12 * float(np.sum(M * M)), right, f"n={n}")
