"""Paper 003, section 3.5 and appendix D: perturbed gradient descent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.questions.relu.perturbed import perturbed_plan, perturbed_runs
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import DOUBLED, NEGATED, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, equal, fact
from shallows.uses.papers.safran.instances import relu, relu_problem

#: On the half-space w·v ≥ this one ReLU neuron has h₁ ≤ 1/2πc: the Hessian of E is between 1 − 1/πc and 1.
HALF_SPACE = 0.7
#: Its one-point coefficient λ there, rounded down, and the Lipschitz constant L of the gradient.
LAMBDA, LIPSCHITZ = 0.54, 1.0
DELTA = 0.9


@claim(
    "003",
    "Algorithm 1",
    "W ← W − η∇F(W) + αΞ, every neuron moved by the same ξ ~ N(0, I/d).",
    control=("one direction a neuron", {"per_neuron": True}),
    tests={
        "shallows.Problem.gradient": (DOUBLED, NEGATED),
        "shallows.descend": (),
    },
)
def algorithm_1(trial: Trial, per_neuron: bool = False) -> Iterator[Outcome]:
    """What one step of `method="perturbed"` adds to a gradient step, and its mean square, within five standard
    errors."""
    problem = relu_problem(4, width=5)
    step, noise = 0.05, 0.01
    lengths = []
    for _ in trial.times(30, 200):
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
        5.0,
        "its square is α² on average, in standard errors",
    )


@claim(
    "003",
    "Theorem 7",
    "One neuron (n = 1), noise in the gradient's argument: η < λδ²/64L², α = δ/4n, T > log δ/log(1−ηλδ²/64) and a "
    "start within ε ≤ 1 of w̃ give ‖w(T)−w̃‖² ≤ δ. As printed, for all n and with the noise in the iterates, it is "
    "false.",
    control=("no steps at all", {"iterations": 0}),
    printed=("every n: F = ‖w₁ + w₂ − v‖², where w₁ − w₂ never moves", {"neurons": 2}),
    verdict="false as printed",
    tests={
        "shallows.relu.perturbed_plan": (
            of_field("step", DOUBLED),
            of_field("noise", DOUBLED),
            of_field("iterations", DOUBLED),
        ),
        "shallows.relu.perturbed_runs": (
            of_field("squares", DOUBLED),
            Mutation("starts instead of ends", lambda runs: _stuck(runs)),
        ),
        "shallows.Problem.hessian": (DOUBLED, NEGATED),
    },
)
def theorem_7(trial: Trial, neurons: int = 1, iterations: int | None = None) -> Iterator[Outcome]:
    """One ReLU neuron on w·v ≥ 0.7, where 1 − 1/0.7π ≤ ∇²E ≤ 1 (the library's Hessian at random points there), with
    exactly the theorem's numbers from distance² above δ. Printed: two linear neurons, which meet its hypotheses
    with λ = 2 and L = 4, from w₁ − w₂ ≠ 0."""
    if neurons > 1:
        yield from _two_neurons(trial)
        return
    d = 64
    problem, minimum = relu_problem(1, width=1, inputs=d), np.eye(1, d)
    for _ in trial.times(20, 200):
        w = trial.rng.standard_normal(d) * trial.rng.uniform(0, 2) / np.sqrt(d)
        w[0] = HALF_SPACE + trial.rng.uniform(0, 1)
        values = np.linalg.eigvalsh(problem.hessian(relu(w[None])))
        yield fact(
            bool(values[0] >= LAMBDA and values[-1] <= LIPSCHITZ + 1e-9),
            f"∇²E in [{values[0]:.3f}, {values[-1]:.3f}]",
        )
    plan = perturbed_plan(LAMBDA, LIPSCHITZ, DELTA, 1)
    bound = LAMBDA * DELTA**2 / (64 * LIPSCHITZ**2)
    least = np.log(DELTA) / np.log1p(-plan.step * LAMBDA * DELTA**2 / 64)
    right = (
        0.9 * bound < plan.step < bound and plan.noise == DELTA / 4 and least < plan.iterations < least + 2
    )
    yield fact(right, f"{plan!r}")
    g = trial.rng.standard_normal((len(trial.times(4, 32)), d))
    g[:, 0] = np.abs(g[:, 0])
    starts = minimum + 0.98 * g / np.linalg.norm(g, axis=1, keepdims=True)
    if iterations is not None:
        ended = np.sum((starts - minimum) ** 2, axis=1)
        yield fact(bool(np.all(ended <= DELTA)), f"{ended.max():.3f} after 0 iterations")
        return
    found = perturbed_runs(problem, relu(minimum), plan, starts, trial.rng)
    ends = np.sum((found.thetas - minimum) ** 2, axis=1)
    yield fact(bool(np.all(found.met)) and float(ends.max()) <= DELTA, f"{found!r}")
    yield equal(float(np.abs(ends - found.squares[:, -1]).max()), 1e-9, "‖w(T)−w̃‖²")


def _two_neurons(trial: Trial) -> Iterator[Outcome]:
    """F = ‖w₁ + w₂ − v‖²: ∇²F is 2-Lipschitz in the sum, gᵀHg = 2‖g₁+g₂‖², and (u, −u) is out of its reach."""
    d = 8
    teacher = sh.Network(np.eye(1, d), activation=sh.Polynomial([0.0, 1.0]))
    problem = sh.Problem(teacher, sh.Gaussian(d), 2, outer="ones")
    plan = perturbed_plan(2.0, 4.0, DELTA, 2)
    u = trial.rng.standard_normal(d)
    u *= np.sqrt(0.48) / np.linalg.norm(u)
    start = np.eye(1, d) / 2 + np.array([[1.0], [-1.0]]) * u
    run = sh.descend(
        problem, sh.Network(start, activation=sh.Polynomial([0.0, 1.0])), method="perturbed", step=plan.step,
        noise=plan.noise, iterations=plan.iterations, polish=False, rng=int(trial.rng.integers(2**31)),
    )  # fmt: skip
    square = float(np.sum((run.network.W - np.eye(1, d) / 2) ** 2))
    yield fact(
        square <= DELTA, f"n=2: ‖w(T)−w̃‖² = {square:.3f} > δ = {DELTA} after {plan.iterations} iterations"
    )


def _stuck(runs: object) -> object:
    from dataclasses import replace

    return replace(runs, squares=runs.squares[:, :1])  # type: ignore[type-var, attr-defined]
