"""Paper 000, section 2.2: gradient flow, its traps, and a minimum at infinity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt

import numpy as np

import shallows as sh
from shallows.uses.papers.arjevani.instances import gaussian_network
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof, within


@claim(
    "000",
    "Proposition 16",
    "Along gradient flow of ℓ∘τ, δᵢ = aᵢ² − ‖wᵢ‖²/d is constant.",
    control=("a loss that is not ℓ∘τ: an orthogonality penalty", {"penalty": 1.0}),
)
def proposition_16(trial: Trial, penalty: float = 0.0) -> Iterator[Outcome]:
    """The largest change of δ over whole trajectories."""
    for n, d, width in ((3, 2, 2), (2, 3, 2), (2, 4, 3)) if not penalty else ((3, 2, 2),):
        for _ in trial.times(1, 6):
            teacher = gaussian_network(trial.rng, width, n, d)
            problem = sh.Problem(teacher, sh.Gaussian(n), width, orthogonality=penalty)
            start = gaussian_network(trial.rng, width, n, d)
            run = sh.descend(problem, start, method="flow", record=1, tolerance=1e-6, polish=False)
            assert run.trajectory is not None
            deltas = np.array([sh.flow_invariants(problem.unpack(theta)) for theta in run.trajectory.thetas])
            drift = float(np.abs(deltas - deltas[0]).max())
            yield equal(drift, 1e-8, f"n={n}, d={d}, width {width}: {len(deltas)} times, {run.message}")


@claim(
    "000",
    "Corollary 17",
    "Even degree, negative target, all aᵢ > 0 with aᵢ² > ‖wᵢ‖²/d: the flow never reaches the target, at any width.",
    control=("all aᵢ < 0", {"sign": -1.0}),
    printed=("without aᵢ > 0: α = (2, −1), w = (1, 1), n = 1, target −1", {"mixed": True}),
)
def corollary_17(trial: Trial, sign: float = 1.0, mixed: bool = False) -> Iterator[Outcome]:
    """Where the flow ends, against the loss of the zero network, which nothing on its way can beat."""
    if mixed:
        problem = sh.Problem(np.array([[-1.0]]), sh.Gaussian(1), width=2)
        run = sh.descend(problem, sh.Network([[1.0], [1.0]], [2.0, -1.0]), method="flow")
        yield at_least(
            run.loss, 0.9 * problem.loss(sh.Network(np.zeros((2, 1)))), f"mixed signs: loss {run.loss:.3g}"
        )
    for n, d, width in ((2, 2, 3), (3, 2, 12), (2, 4, 6)):
        for _ in trial.times(1, 5):
            target = sh.Network(np.vstack([np.eye(n), np.ones((1, n)) / n]), -np.ones(n + 1) / n, sh.Power(d))
            problem = sh.Problem(target, sh.Gaussian(n), width)
            W = trial.rng.standard_normal((width, n))
            a = sign * (np.linalg.norm(W, axis=1) / sqrt(d) + trial.rng.uniform(0.1, 0.5, width))
            run = sh.descend(
                problem, sh.Network(0.5 * W, 0.5 * a, sh.Power(d)), method="flow", tolerance=1e-8
            )
            zero = problem.loss(sh.Network(np.zeros((width, n)), activation=sh.Power(d)))
            yield at_least(
                run.loss, zero * (1 - 1e-9), f"n={n}, d={d}, width {width}: the flow ends at {run.loss:.6g}"
            )


@claim(
    "000",
    "Remark 18",
    "A random start with symmetric outer weights is trapped with a probability that falls with the width.",
    control=("outer weights that are always positive", {"positive": True}),
)
def remark_18(trial: Trial, positive: bool = False) -> Iterator[Outcome]:
    """The share of trapped starts among many, against qʳ, q = P(t_n > √(n/d)) for standard normal weights."""
    n, d = 2, 2
    count = len(trial.times(2_000, 40_000))
    for width in (1, 2, 3, 4):
        problem = sh.Problem(-np.eye(n), sh.Gaussian(n), width)
        trapped = 0
        for _ in range(count):
            net = gaussian_network(trial.rng, width, n, d)
            trapped += sh.is_trapped(problem, sh.Network(net.W, np.abs(net.a) if positive else net.a))
        expected = 1 - sh.escape_probability(width, n, d)
        error = sqrt(expected * (1 - expected) / count)
        yield within(
            trapped / count,
            expected,
            4.5,
            error,
            f"width {width}: {trapped} of {count} trapped, q^r = {expected:.4f}",
        )
        yield at_least(
            1 - sh.escape_probability(width, n, d),
            1 - sh.escape_probability(width + 1, n, d),
            "it falls",
            strict=True,
        )


@claim(
    "000",
    "Example 19",
    "x₁^{d−1}x₂ has rank d, and is the limit of networks of width two whose weights ±τ/d diverge.",
    control=("d = 2, where nothing diverges", {"degrees": (2,)}),
    printed=("outer weights ±τ/(d−1)", {"divisor": lambda d: d - 1}),
)
def example_19(
    trial: Trial, degrees: tuple[int, ...] = (3, 4, 5, 6), divisor: Callable[[int], int] = lambda d: d
) -> Iterator[Outcome]:
    """Exact ranks; losses along the sequence fall like 1/τ²; gradient flow runs off to infinity."""
    for d in degrees:
        yield proof(sh.real_rank(f"x^{d - 1}*y") == d, f"x^{d - 1}·y has rank {d}")
        sequence = sh.diverging_sequence(d)
        data, target = sh.Gaussian(2), sequence.target
        problem = sh.Problem(target, data, width=2)
        losses = []
        for tau in (1e1, 1e2, 1e3):
            a = tau / divisor(d)
            net = sh.Network([[1.0, 1 / tau], [1.0, 0.0]], [a, -a], sh.Power(d))
            losses.append(problem.loss(net))
        yield equal(
            abs(np.log10(losses[0] / losses[2]) - 4),
            0.2,
            f"d={d}: losses {losses[0]:.2g}, …, {losses[2]:.2g} fall like 1/τ²",
        )
    problem = sh.Problem(sh.SymmetricTensor.from_polynomial("x1^2*x2"), sh.Gaussian(2), width=2)
    start = sh.Network([[1.0, 0.5], [1.0, 0.0]], [2 / 3, -2 / 3], sh.Power(3))
    run = sh.descend(problem, start, method="flow", polish=False)
    yield fact("infinity" in run.message and not run.converged, f"d=3: {run.message}")
