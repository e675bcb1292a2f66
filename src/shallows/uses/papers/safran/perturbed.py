"""Paper 003, section 3.5 and appendix D: perturbed gradient descent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.questions.relu.perturbed import perturbed_plan, perturbed_runs
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, equal, fact
from shallows.uses.papers.safran.instances import relu, relu_problem


@claim(
    "003",
    "Algorithm 1",
    "W ← W − η∇F(W) + αΞ, every neuron moved by the same ξ ~ N(0, I/d).",
    control=("one direction a neuron", {"per_neuron": True}),
)
def algorithm_1(trial: Trial, per_neuron: bool = False) -> Iterator[Outcome]:
    """What one step of `method="perturbed"` adds to a gradient step; and its length on average."""
    problem = relu_problem(4, width=5)
    step, noise = 0.05, 0.01
    lengths = []
    for _ in trial.times(10, 100):
        start = trial.rng.standard_normal((5, 4))
        run = sh.descend(
            problem, relu(start), method="perturbed", step=step, noise=noise, iterations=1, record=1, polish=False,
            per_neuron=per_neuron, rng=int(trial.rng.integers(2**31)),
        )  # fmt: skip
        assert run.trajectory is not None
        plain = start.ravel() - step * problem.gradient(relu(start))
        added = (run.trajectory.thetas[1] - plain).reshape(5, 4)
        yield equal(float(np.abs(added - added[0]).max()), 1e-12, "the same perturbation for all neurons")
        lengths.append(float(np.sum(added[0] ** 2)))
    spread = noise**2 * np.sqrt(2 / 4 / len(lengths))
    yield equal(
        float(abs(np.mean(lengths) - noise**2) / spread),
        4.0,
        "its square is α² on average, in standard errors",
    )


@claim(
    "003",
    "Theorem 7",
    "η < λδ²/64L², α = δ/4n, T > log δ/log(1−ηλδ²/64): perturbed descent from nearby ends with ‖w−w̃‖² ≤ δ.",
    control=("no steps at all", {"iterations": 0}),
    printed=("with the perturbations kept in the iterates", {"keep_noise": True}),
)
def theorem_7(trial: Trial, keep_noise: bool = False, iterations: int | None = None) -> Iterator[Outcome]:
    """Runs with exactly the theorem's numbers, from distance almost one; λ and L bound the Hessian there."""
    for k, width, inputs in ((1, 1, 8), (1, 2, 8)):
        problem = relu_problem(k, width=width, inputs=inputs)
        minimum = relu(np.repeat(np.eye(k, inputs) / width, width, axis=0))
        plan = perturbed_plan(0.4, 1.1 * width, 0.9, width)
        runs = len(trial.times(8, 64))
        g = trial.rng.standard_normal((runs, width, inputs))
        g[:, 1:] = g[:, :1]
        g /= np.linalg.norm(g.reshape(runs, -1), axis=1)[:, None, None] / 0.98
        starts = (minimum.W + g).reshape(runs, -1)
        if iterations is not None:
            ended = np.sum((starts - problem.pack(minimum)) ** 2, axis=1)
            yield fact(
                bool(np.all(ended <= plan.delta)), f"k={k}, n={width}: {ended.max():.3f} after 0 iterations"
            )
            continue
        found = perturbed_runs(problem, minimum, plan, starts, trial.rng, keep_noise=keep_noise)
        yield fact(bool(np.all(found.met)), f"k={k}, n={width}: {found!r}")
