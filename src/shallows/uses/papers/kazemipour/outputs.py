"""Paper 002, appendix E: several outputs that share their neurons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from flint import fmpq_mat

import shallows as sh
from shallows.questions.quadratic.outputs import basis_network, fit_blocks, sufficient_width
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.kazemipour.instances import least_squares, samples
from shallows.uses.papers.mutations import DOUBLED, OFF_BY_ONE, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, equal, fact, proof

#: An excess over the M least-squares optima below this share of E‖y‖² is none.
EXCESS = 1e-6


def _fit(problem: sh.Problem, net: sh.Network) -> float:
    """E‖y − f‖², by its definition."""
    data = problem.data.as_samples()
    assert data is not None
    return float(np.sum((np.asarray(data.y) - net(data.X)) ** 2) / len(data.X))


@claim(
    "002",
    "Theorem E.1",
    "M outputs, k ≥ Md, a norm neuron an output: from almost every start descent reaches the global minimum of all "
    "outputs (also Theorem 3.2).",
    control=("k = 1", {"width_of": lambda outputs, d: 1}),
    tests={
        "shallows.ensemble": (
            of_field("thetas", DOUBLED),
            Mutation("starts", lambda runs: replace(runs, thetas=runs.starts)),
        ),
        "shallows.Problem.unpack": (
            Mutation("outer weights doubled", lambda net: sh.Network(net.W, 2 * net.a, norm=net.norm)),
        ),
    },
)
def theorem_e_1(trial: Trial, width_of: Callable[[int, int], int] | None = None) -> Iterator[Outcome]:
    """Levenberg–Marquardt from random starts on independent labels, k = Md and Md + 1: the excess of the networks,
    by the definition of the loss, over least squares of each output, by NumPy."""
    for outputs, d, extra in ((2, 2, 0), (2, 2, 1), (2, 3, 0), (3, 2, 0)):
        data = samples(trial.rng, d, 40, outputs)
        width = width_of(outputs, d) if width_of else outputs * d + extra
        problem = sh.Problem(None, data, width, norm_neuron=True)
        best, scale = least_squares(problem)
        runs = sh.ensemble(
            problem, runs=len(trial.times(3, 30)), method="lm", rng=int(trial.rng.integers(2**31))
        )
        for theta in runs.thetas:
            excess = (_fit(problem, problem.unpack(theta)) - best) / scale
            yield equal(excess, EXCESS, f"M={outputs}, d={d}, k={width}: excess over L*")


@claim(
    "002",
    "Lemma E.1",
    "For every number of outputs d(d+1)/2 neurons are enough: with eᵢ + eⱼ fixed only the outer weights need "
    "training. Min(Md, d(d+1)/2) neurons are enough for M outputs.",
    control=("one neuron fewer", {"missing": 1}),
    tests={
        "shallows.quadratic.basis_network": (
            Mutation("outer weights doubled", lambda net: sh.Network(net.W, 2 * net.a)),
            Mutation("a neuron fewer", lambda net: sh.Network(net.W[:-1], net.a[:, :-1])),
        ),
        "shallows.quadratic.sufficient_width": (DOUBLED, OFF_BY_ONE),
    },
)
def lemma_e_1(trial: Trial, missing: int = 0) -> Iterator[Outcome]:
    """The squares of the neurons are a basis, by an exact determinant; the loss of least squares on them, by its
    definition, against least squares on all features."""
    for outputs, d in ((3, 2), (8, 3), (12, 4)):
        full = d * (d + 1) // 2
        yield proof(
            sufficient_width(outputs, d) == min(outputs * d, full),
            f"M={outputs}, d={d}: the width that suffices",
        )
        for _ in trial.times(1, 8):
            problem = sh.Problem(None, samples(trial.rng, d, 60, outputs), full)
            net = basis_network(problem)
            pairs = np.triu_indices(d)
            table = np.rint(net.W[: len(net.W) - missing]).astype(int)
            squares = fmpq_mat([[int(row[i] * row[j]) for i, j in zip(*pairs, strict=True)] for row in table])
            best, scale = least_squares(problem)
            excess = (_fit(problem, net) - best) / scale
            what = f"M={outputs}, d={d}, {len(table)} neurons: excess {excess:.1g} over L*"
            yield proof(squares.rank() == full and abs(excess) < 1e-9, what)


@claim(
    "002",
    "Theorem E.2",
    "M outputs, k = Md, block penalties γ ≥ E‖y‖², from Λ = 0 and blocks Q_m that are almost any rotations: descent"
    " ends at a global minimum with every block orthogonal.",
    control=("one block for all outputs", {"blocks": False}),
    printed=("all blocks start at I", {"rotate": False}),
    tests={
        "shallows.quadratic.fit_blocks": (
            Mutation(
                "outer weights doubled",
                lambda fit: replace(fit, network=sh.Network(fit.network.W, 2 * fit.network.a)),
            ),
            Mutation(
                "neurons doubled",
                lambda fit: replace(fit, network=sh.Network(2 * fit.network.W, fit.network.a / 4)),
            ),
            of_field("defects", OFF_BY_ONE),
            of_field("excess", OFF_BY_ONE),
        ),
    },
)
def theorem_e_2(trial: Trial, blocks: bool = True, rotate: bool = True) -> Iterator[Outcome]:
    """End points against least squares, and ‖Q_mQ_mᵀ − I‖, by their definitions; from equal blocks the neurons of
    different blocks stay equal, which outputs without common eigenvectors do not allow."""
    for outputs, d in ((2, 2), (2, 3), (3, 2)):
        problem = sh.Problem(None, samples(trial.rng, d, 60, outputs), outputs * d)
        best, scale = least_squares(problem)
        found = fit_blocks(problem, rotate=rotate, rng=trial.rng)
        net = found.network
        if not blocks:
            net = sh.Network(net.W[:d], net.a[:, :d])
        excess = (_fit(problem, net) - best) / scale
        yield equal(excess, EXCESS, f"M={outputs}, d={d}: excess {excess:.2g} over L*")
        defects = [float(np.linalg.norm(Q @ Q.T - np.eye(d))) for Q in net.W.reshape(-1, d, d)]
        yield equal(max(defects), 1e-3, f"M={outputs}, d={d}: ‖Q_mQ_mᵀ − I‖")
        yield fact(found.is_global and abs(found.excess - excess) < 1e-6, f"M={outputs}, d={d}: {found!r}")
        yield equal(
            float(np.abs(found.defects - defects).max()), 1e-6, f"M={outputs}, d={d}: the library's defects"
        )
