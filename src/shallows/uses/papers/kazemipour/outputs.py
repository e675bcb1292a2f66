"""Paper 002, appendix E: several outputs that share their neurons."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.questions.quadratic.outputs import basis_network, fit_blocks, sufficient_width
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.kazemipour.instances import samples
from shallows.uses.papers.outcome import Outcome, equal, fact


@claim(
    "002",
    "Theorem E.1",
    "M outputs, k ≥ Md, norm neuron: random starts reach the global minimum of all outputs (also Theorem 3.2).",
    control=("k = 1", {"width_of": lambda outputs, d: 1}),
)
def theorem_e_1(trial: Trial, width_of: object = None) -> Iterator[Outcome]:
    """Excess over the M least-squares optima after descents."""
    for outputs, d in ((2, 2), (2, 3)):
        data = samples(trial.rng, d, 40, outputs)
        width = width_of(outputs, d) if callable(width_of) else outputs * d
        problem = sh.Problem(None, data, width, norm_neuron=True)
        runs = sh.ensemble(
            problem, runs=len(trial.times(4, 30)), method="lm", rng=int(trial.rng.integers(2**31))
        )
        for loss in runs.losses:
            yield equal(float(loss) - problem.floor, 1e-6, f"M={outputs}, d={d}, k={width}: excess over L*")


@claim(
    "002",
    "Lemma E.1",
    "d(d+1)/2 neurons eᵢ + eⱼ always suffice, and then only the outer weights need training.",
    control=("one neuron fewer", {"missing": 1}),
)
def lemma_e_1(trial: Trial, missing: int = 0) -> Iterator[Outcome]:
    """The loss of least squares on those fixed neurons, for many outputs."""
    for outputs, d in ((3, 2), (8, 3), (12, 4)):
        for _ in trial.times(1, 8):
            problem = sh.Problem(None, samples(trial.rng, d, 60, outputs), d * (d + 1) // 2)
            net = basis_network(problem)
            a = np.array(net.a)
            if missing:
                a[:, -missing:] = 0.0
            loss = problem.loss(sh.Network(net.W, a))
            yield equal(
                loss - problem.floor,
                1e-9,
                f"M={outputs}, d={d}, {net.width - missing} neurons: excess over L*",
            )
            yield fact(
                sufficient_width(outputs, d) <= d * (d + 1) // 2,
                f"M={outputs}, d={d}: {sufficient_width(outputs, d)} suffice",
            )


@claim(
    "002",
    "Theorem E.2",
    "M outputs with block penalties, from (0, rotations): descent ends at a global minimum, blocks orthogonal.",
    control=("k < Md", {"width_of": lambda outputs, d: d}),
    printed=("all blocks start at I", {"rotate": False}),
)
def theorem_e_2(trial: Trial, width_of: object = None, rotate: bool = True) -> Iterator[Outcome]:
    """End points against the optima; from equal blocks the neurons of different blocks stay equal."""
    for outputs, d in ((2, 2), (2, 3), (3, 2)):
        width = width_of(outputs, d) if callable(width_of) else outputs * d
        problem = sh.Problem(None, samples(trial.rng, d, 60, outputs), width)
        found = fit_blocks(problem, rotate=rotate, rng=trial.rng)
        yield fact(found.is_global, f"M={outputs}, d={d}: {found!r}")
        yield equal(float(np.max(found.defects)), 1e-4, f"M={outputs}, d={d}: ‖Q_mQ_mᵀ − I‖")
