"""Paper 003, appendix C: the lemmas behind Theorem 6, expansions of h₁ and h₂ near w̃ = v/m."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import fmpz_mat

from shallows.questions.relu.most_directions import even_global_minimum
from shallows.support.checks import Array
from shallows.uses.papers.claim import ALGEBRA, Trial, claim
from shallows.uses.papers.mutations import DOUBLED, NEGATED
from shallows.uses.papers.outcome import Outcome, at_least, equal, proof
from shallows.uses.papers.safran.instances import (
    blocks,
    h1,
    h2,
    half_hessian,
    orthogonal_steps,
    relu_problem,
)

EPSILONS = (1e-2, 1e-3, 1e-4)
#: The library's Hessian in one place where all of these lemmas look at it.
HESSIAN = {"shallows.Problem.hessian": (DOUBLED, NEGATED)}


def _order(values: list[float]) -> float:
    """The slope of log|value| against log ε."""
    return float(np.polyfit(np.log(EPSILONS), np.log(np.abs(values) + 1e-300), 1)[0])


def _near(trial: Trial, k: int, m: int, d: int) -> tuple[Array, Array]:
    """The centre v/m and an orthogonal step of unit neurons, to be scaled by ε."""
    centre = even_global_minimum(relu_problem(k, width=m * k, inputs=d)).W
    g = orthogonal_steps(trial.rng, centre, 1.0)
    return centre, g / np.linalg.norm(g, axis=1, keepdims=True)


@claim(
    "003",
    "Lemma 5",
    "n = mk, d ≥ k, ε-orthogonal neighbourhood of v/m: gᵀh₁(w, w′)g and gᵀh₁(w, v)g are O(ε^2.5) for all neurons w,"
    " w′ of one teacher neuron v; λ_max(h₁(w, v)) = sin θ‖v‖/π‖w‖ for all w, v ≠ 0.",
    control=("neurons of different teacher neurons", {"other": True}),
    printed=("λ_max(h₁) = sin θ‖v‖/‖w‖", {"divisor": 1.0}),
    tests=HESSIAN,
)
def lemma_5(trial: Trial, other: bool = False, divisor: float = np.pi) -> Iterator[Outcome]:
    """The order in ε of the library's h₁ along random steps, and its largest eigenvalue at random pairs."""
    for d in (3, 4):
        for _ in trial.times(2, 15):
            w, v = trial.rng.standard_normal((2, d))
            sine = np.sqrt(1 - (w @ v) ** 2 / (w @ w) / (v @ v))
            expected = sine * np.linalg.norm(v) / (divisor * np.linalg.norm(w))
            error = abs(float(np.linalg.eigvalsh(h1(w, v))[-1]) - expected) / (1 + expected)
            yield equal(error, 1e-9, f"d={d}: λ_max(h₁)")
            centre, g = _near(trial, 3, 2, d)
            j = 2 if other else 1
            for name, partner, move in (("w′", centre[j], g[j]), ("v", np.eye(3, d)[j // 2], np.zeros(d))):
                values = [float(g[0] @ h1(centre[0] + e * g[0], partner + e * move) @ g[0]) for e in EPSILONS]
                order = 2 + _order(values)
                yield at_least(order, 2.45, f"d={d}: gᵀh₁(w, {name})g falls like ε^{order:.2f}")


@claim(
    "003",
    "Lemma 6",
    "n = mk, d ≥ k: Σ gᵀh₁(w, w′)g − Σ gᵀh₁(w, v)g = O(ε^2.5) for every neuron w, over all other neurons w′ and all"
    " teacher neurons v, in the ε-orthogonal neighbourhood.",
    control=("without the teacher's terms", {"teacher": False}),
    tests=HESSIAN,
)
def lemma_6(trial: Trial, teacher: bool = True) -> Iterator[Outcome]:
    """The diagonal block of the Hessian less ½I, along a unit step, as ε → 0: at most a constant times ε^½."""
    for k, m, d in ((2, 2, 2), (3, 2, 4), (3, 3, 3)):
        problem = relu_problem(k, width=m * k, inputs=d)
        for _ in trial.times(1, 10):
            centre, g = _near(trial, k, m, d)
            for e in EPSILONS:
                W = centre + e * g
                inner = blocks(half_hessian(problem, W), m * k)[0, 0] - np.eye(d) / 2
                if not teacher:
                    inner = inner + sum(h1(W[0], v) for v in np.eye(k, d))
                value = abs(float(g[0] @ inner @ g[0])) / np.sqrt(e)
                yield equal(value, float(m**2 * k), f"k={k}, m={m}, d={d}, ε={e:g}: {value:.2g} ε^2.5")


@claim(
    "003",
    "Lemma 7",
    "n = mk, d ≥ k: gᵀh₂g′ = ¼⟨g,g′⟩ + ⟨g,v′⟩⟨g′,v⟩/2π + O(ε^2.5) for all neurons of different teacher neurons v, "
    "v′, in the ε-orthogonal neighbourhood.",
    control=("without the second term", {"second": 0.0}),
    tests=HESSIAN,
)
def lemma_7(trial: Trial, second: float = 1.0) -> Iterator[Outcome]:
    """The difference over ε^2.5 along random steps of two neurons."""
    for d in (3, 5):
        for _ in trial.times(3, 20):
            centre, g = _near(trial, 3, 2, d)
            p, q, V = g[0], g[2], np.eye(3, d)
            for e in EPSILONS:
                left = float(p @ h2(centre[0] + e * p, centre[2] + e * q) @ q)
                right = float(p @ q) / 4 + second * float(p @ V[1]) * float(q @ V[0]) / (2 * np.pi)
                value = abs(left - right) / np.sqrt(e)
                yield equal(value, 4.0, f"d={d}, ε={e:g}: the difference is {value:.2g} ε^2.5")


@claim(
    "003",
    "Lemma 8",
    "n = mk, d ≥ k: gᵀh₂g′ = ½⟨g,g′⟩ + O(ε³) for all neurons of one teacher neuron, in the ε-orthogonal "
    "neighbourhood.",
    control=("¼ instead of ½", {"factor": 0.25}),
    tests=HESSIAN,
)
def lemma_8(trial: Trial, factor: float = 0.5) -> Iterator[Outcome]:
    """The difference over ε³ along random steps of two neurons."""
    for d in (3, 5):
        for _ in trial.times(3, 20):
            centre, g = _near(trial, 3, 2, d)
            for e in EPSILONS:
                left = float(g[0] @ h2(centre[0] + e * g[0], centre[1] + e * g[1]) @ g[1])
                value = abs(left - factor * float(g[0] @ g[1])) / e
                yield equal(value, 8.0, f"d={d}, ε={e:g}: the difference is {value:.2g} ε³")


@claim(
    "003",
    "Lemma 9",
    "Σ_{i≠j} u_ij u_ji ≥ Σ u_ii² − Σ‖uᵢ‖² for all u₁, …, u_n ∈ Rⁿ; the difference is ½Σ_{i≠j} (u_ij + u_ji)².",
    control=("the diagonal counted twice", {"diagonal": 2}),
    tests=ALGEBRA,
)
def lemma_9(trial: Trial, diagonal: int = 1) -> Iterator[Outcome]:
    """Integer matrices, in exact arithmetic; and antisymmetric ones plus a diagonal, where it is an equality."""
    for n in (2, 3, 6):
        for _ in trial.times(10, 200):
            U = trial.rng.integers(-1000, 1000, (n, n))
            for M in (U, U - U.T + np.diag(np.diag(U))):
                exact = fmpz_mat(M.tolist())
                squares = sum(entry * entry for entry in exact.entries())
                own = sum(exact[i, i] ** 2 for i in range(n))
                left = sum((exact * exact)[i, i] for i in range(n)) - own
                gap = sum((exact[i, j] + exact[j, i]) ** 2 for i in range(n) for j in range(i))
                yield proof(left - (diagonal * own - squares) == gap >= 0, f"n={n}: the difference is {gap}")
