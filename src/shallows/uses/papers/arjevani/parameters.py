"""Paper 000, section 2.1: critical parameters and branch functions (Lemmas 5 and 8, Props. 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.questions.geometry.ranks.branch_locus import critical_representative
from shallows.questions.geometry.ranks.parameterization import differential_matrix
from shallows.uses.papers.arjevani.instances import gaussian_network, integer_network, random_tensor
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, equal, fact, proof


@claim(
    "000",
    "Lemma 5",
    "From the thick width on, a critical point of ℓ∘τ is one of ℓ, or a critical parameter of τ.",
    control=("a width below r_thick", {"narrower": 1}),
)
def lemma_5(trial: Trial, narrower: int = 0) -> Iterator[Outcome]:
    """Descend to critical points; those with a positive loss must be critical parameters. And dL = dℓ∘dτ."""
    for d, n in ((2, 2), (2, 3), (3, 2)):
        width = sh.thick_width(d, n) - narrower
        for _ in trial.times(2, 25):
            target = random_tensor(trial.rng, n, d)
            problem = sh.Problem(target, sh.Gaussian(n), width)
            net = gaussian_network(trial.rng, width, n, d)
            slope = 2 * problem.gram() @ (net.tensor().entries - target.entries)
            chain = slope @ differential_matrix(net)
            error = np.linalg.norm(problem.gradient(net) - chain) / np.linalg.norm(chain)
            yield equal(float(error), 1e-9, f"d={d}, n={n}: dL = dℓ∘dτ")
            run = sh.descend(problem, net, method="lm")
            if run.converged:
                size = target.norm(sh.Gaussian(n)) ** 2
                yield fact(
                    run.loss < 1e-10 * size or sh.is_critical_parameter(run.network, tolerance=1e-4),
                    f"d={d}, n={n}, width {width}: a critical point of loss {run.loss / size:.2g} of E y²",
                )


@claim(
    "000",
    "Proposition 6",
    "Quadratic networks with r ≥ n: the functions of critical parameters are exactly the matrices of rank below n.",
    control=("matrices of full rank", {"deficit": 0}),
)
def proposition_6(trial: Trial, deficit: int = 1) -> Iterator[Outcome]:
    """Exact ranks of dτ: full over full-rank matrices; deficient at one network over each matrix of lower rank."""
    for n in (2, 3, 4):
        N = coordinates.dimension(n, 2)
        for _ in trial.times(3, 20):
            net = integer_network(trial.rng, n + 1, n, 2)
            if np.linalg.matrix_rank(net.tensor().to_matrix()) == n:
                yield proof(
                    sh.parameterization_rank(net, exact=True) == N,
                    f"n={n}: dτ is onto over a full-rank matrix",
                )
            low = integer_network(trial.rng, n - deficit, n, 2).tensor()
            there = critical_representative(low, n + 1)
            yield fact(
                sh.is_critical_parameter(there),
                f"n={n}: a critical parameter over a matrix of rank ≤ {n - deficit}",
            )


@claim(
    "000",
    "Proposition 7",
    "Two inputs, r ≥ ⌈(d+1)/2⌉: the functions of critical parameters are exactly the forms of rank ≤ ⌊d/2⌋.",
    control=("one neuron more", {"rank_of": lambda d: d // 2 + 1}),
)
def proposition_7(trial: Trial, rank_of: Callable[[int], int] = lambda d: d // 2) -> Iterator[Outcome]:
    """Exact ranks of dτ at integer networks with that many different directions, and over forms of lower rank."""
    for d in (3, 4, 5, 6):
        width, rank = (d + 2) // 2, rank_of(d)
        for _ in trial.times(2, 15):
            directions = trial.rng.permutation(9)[: d // 2 + 1]
            spread = sh.Network([[1.0, float(v)] for v in directions], activation=sh.Power(d))
            yield proof(
                sh.parameterization_rank(spread, exact=True) == d + 1, f"d={d}: ⌊d/2⌋+1 directions, dτ onto"
            )
            few = sh.Network(
                [[1.0, float(v)] for v in trial.rng.permutation(9)[:rank]], activation=sh.Power(d)
            )
            there = critical_representative(few.tensor(), width)
            yield fact(
                sh.is_critical_parameter(there), f"d={d}: a critical parameter over a form of rank {rank}"
            )


@claim(
    "000",
    "Lemma 8",
    "If dτ is not onto, some form is singular at all active neurons; the converse holds when idle neurons have w = 0.",
    control=("an idle neuron with w ≠ 0, for the converse", {"idle": 1.0}),
)
def lemma_8(trial: Trial, idle: float = 0.0) -> Iterator[Outcome]:
    """Witnesses at networks with parallel neurons; and a form that is singular at the neurons forces a low rank."""
    for n, d, width in ((2, 3, 2), (2, 4, 3), (3, 3, 4), (3, 4, 5)):
        N = coordinates.dimension(n, d)
        for _ in trial.times(2, 12):
            net = integer_network(trial.rng, width, n, d)
            W = net.W.copy()
            W[-1] = 2 * W[0]
            parallel = sh.Network(W, net.a, sh.Power(d))
            witness = sh.branch_witness(parallel)
            if sh.parameterization_rank(parallel, exact=True) == N:
                continue
            yield fact(witness is not None, f"n={n}, d={d}: a witness exists")
            if witness is not None:
                scale = np.linalg.norm(witness.entries) * np.linalg.norm(W, axis=1).max() ** (d - 1)
                error = float(np.abs(witness.gradient(W)).max() / scale)
                yield equal(error, 1e-9, f"n={n}, d={d}: ∇P vanishes at the neurons")
    for d in (4, 6):
        W = np.vstack([np.eye(2), idle * np.ones((1, 2))])
        a = np.array([1.0, 1.0, 0.0])
        for k in range(d // 2 - 2):
            W, a = np.vstack([W, [1.0, k + 2.0]]), np.append(a, 1.0)
        rank = sh.parameterization_rank(sh.Network(W, a, sh.Power(d)), exact=True)
        yield proof(
            rank < d + 1, f"d={d}: {d // 2} active neurons, squares of forms are singular there; rank {rank}"
        )
