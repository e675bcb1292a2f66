"""Finding 6: no spurious valleys for quadratic networks from k = d on; paper 002 leaves d < k < 2d open.

A quadratic network of k neurons on any data with a convex loss of its matrix, E(f − y)² among them, is ℓ∘τ_k on
Sym²(R^d): Theorem 12 of paper 000 is for all k ≥ d, so from every (λ, Q) a path on which the loss does not rise leads
to the minimum, and no component of a sublevel set is without one. Out of the traps of Example 2.1, (λ < 0, Q = 0), the
path is explicit. Let A = Σ μᵢuᵢuᵢᵀ be a minimiser, d terms, k ≥ d. First λ goes to (μ, 0) while Q = 0: the function
stays 0. Then Q(s) = √s·(u₁, …, u_d, 0, …): the function is sA, and the loss, ℓ(sA), is convex in s with its minimum at
s = 1; for labels of A itself it is (1 − s)²ℓ(0).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import shallows as sh
from shallows.support.tolerances import UNIT_ROUNDOFF
from shallows.uses.papers.arjevani.landscapes import TO_THE_MINIMUM
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.kazemipour.instances import trapped_point
from shallows.uses.papers.mutations import DOUBLED
from shallows.uses.papers.outcome import Outcome, equal, fact

#: Points of a path at which the loss is looked at.
STEPS = 101
#: A loss at the end of a path, as a share of that at its beginning, and rises between two points, are rounding below
#: this.
ROUNDING = 64 * UNIT_ROUNDOFF


@finding(
    6,
    "No spurious valleys between d and 2d neurons",
    "Quadratic networks with trained outer weights, d inputs, k ≥ d neurons, any data: no spurious valley, also for "
    "d ≤ k < 2d (from Theorem 12 of paper 000). Out of Example 2.1's traps (λ < 0, Q = 0): λ to the eigenvalues of "
    "the optimum at Q = 0, then Q = √s·U; the loss is constant, then (1 − s)² times the first for labels of a matrix.",
    basis="proved",
    known="Venturi, Bandeira and Bruna: k ≥ 2d + 1; paper 002 calls d < k < 2d open. Theorem 12 of paper 000 has r ≥ "
    "n, without naming the question; the explicit path is ours.",
    control=("k = d − 1", {"fewer": 1}),
    tests={"shallows.Problem.loss": (DOUBLED,), **TO_THE_MINIMUM},
)
def wide_valleys(trial: Trial, fewer: int = 0) -> Iterator[Outcome]:
    """d = 2, 3, 4 and all d ≤ k ≤ 2d, a random positive definite A under N(0, I) and on samples: the explicit path
    from a trap, point by point, and the library's paths from a trap of rank one and from that of Example 2.1 to
    loss zero."""
    for d in (2, 3, 4):
        M = trial.rng.standard_normal((d, d))
        A = M @ M.T + np.eye(d)
        X = trial.rng.standard_normal((d * (d + 1), d))
        for k in range(d - fewer, 2 * d + 1):
            for name, law, energy in (
                ("N(0, I)", sh.Gaussian(d), 2 * np.sum(A * A) + np.trace(A) ** 2),
                ("samples", sh.Samples(X), np.mean(np.einsum("ni,ij,nj->n", X, A, X) ** 2)),
            ):
                problem, what = sh.Problem(A, law, k), f"d={d}, k={k}, {name}"
                trap = sh.Network(np.zeros((k, d)), -1 - trial.rng.random(k))
                yield equal(
                    abs(problem.loss(trap) / energy - 1), ROUNDING * d * d, f"{what}: the trap has E y²"
                )
                yield from _explicit(problem, trap, A, what)
                yield from _by_the_library(problem, trap, f"{what}, Example 2.1")
                if k > d and name == "N(0, I)":
                    yield from _by_the_library(
                        problem, trapped_point(problem, k - 1), f"{what}, a trap of rank one"
                    )


def _explicit(problem: sh.Problem, trap: sh.Network, A: Any, what: str) -> Iterator[Outcome]:
    """The two segments, judged by the library's loss against (1 − s)² of a sum over nothing but A."""
    d, k = problem.n, problem.width
    values, vectors = np.linalg.eigh(A)
    kept = min(d, k)
    outer = np.zeros(k)
    outer[:kept] = values[::-1][:kept]
    Q = np.zeros((k, d))
    Q[:kept] = vectors.T[::-1][:kept]
    begin = problem.loss(trap)
    flat = max(
        abs(problem.loss(sh.Network(trap.W, (1 - s) * trap.a + s * outer)) - begin)
        for s in np.linspace(0, 1, 5)
    )
    yield equal(flat / begin, ROUNDING, f"{what}: constant while Q = 0")
    error = max(
        abs(problem.loss(sh.Network(np.sqrt(s) * Q, outer)) / begin - (1 - s) ** 2)
        for s in np.linspace(0, 1, 21)
    )
    yield equal(error, ROUNDING * d * d, f"{what}: (1 − s)² along Q = √s·U")


def _by_the_library(problem: sh.Problem, net: sh.Network, what: str) -> Iterator[Outcome]:
    """A path of `explain_escape` to loss zero on which the loss never rises."""
    path = sh.explain_escape(problem, net).path
    yield fact(path is not None, f"{what}: a path")
    if path is None:
        return
    losses = np.array([problem.loss(path(s)) for s in np.linspace(0, 1, STEPS)])
    begins = float(np.abs(path(0.0).tensor().entries - net.tensor().entries).max())
    yield equal(begins, ROUNDING * (1 + np.abs(net.tensor().entries).max()), f"{what}: it begins here")
    yield equal(float(np.diff(losses).max() / losses[0]), ROUNDING * problem.n**2, f"{what}: it never rises")
    yield equal(float(losses[-1] / losses[0]), ROUNDING * problem.n**2, f"{what}: it ends at the minimum")
