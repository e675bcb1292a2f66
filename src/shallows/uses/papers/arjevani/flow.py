"""Paper 000, section 2.2: gradient flow, its traps, and a minimum at infinity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from math import comb, sqrt

import numpy as np

import shallows as sh
from shallows.questions.descent.methods.flow import FlowOptions
from shallows.uses.papers.arjevani.instances import gaussian_network
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import (
    DOUBLED,
    NEGATED,
    NEVER,
    OFF_BY_ONE,
    OPPOSITE,
    Mutation,
    of_field,
)
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof

#: The length of the gradient at which a flow is left: δ and the signs of α are kept at all times, and nearer to its
#: limit the flow only creeps.
FLOWED = 1e-3
#: A share of independent draws is farther from its mean than Bernstein's bound for this with probability 2e^−17: once
#: in ten million times.
TAIL = 17.0
#: How it is followed: an explicit integrator of order 8 takes fewest steps where it is not stiff.
ACCURATE = FlowOptions("DOP853", rtol=1e-10)
#: The same for a while, where what is looked at has to hold at all times.
BRIEFLY = FlowOptions("DOP853", rtol=1e-10, time=2.0)


@claim(
    "000",
    "Proposition 16",
    "For every d, n, r and smooth ℓ: along the gradient flow of ℓ∘τ_r every δᵢ = αᵢ² − ‖wᵢ‖²/d is constant.",
    control=("a loss that is not ℓ∘τ: an orthogonality penalty", {"penalty": 1.0}),
    tests={
        "shallows.flow_invariants": (DOUBLED, NEGATED),
        "shallows.Problem.gradient": (Mutation("one entry doubled", lambda g: np.append(2 * g[:1], g[1:])),),
        "shallows.descend": (Mutation("plain descent", lambda run: _descended(run)),),
    },
)
def proposition_16(trial: Trial, penalty: float = 0.0) -> Iterator[Outcome]:
    """(n, d, r) = (3,2,2), (2,3,2), (2,4,3), random teachers and starts: the largest change of δ over the
    trajectory, and α ∂L/∂α = w·∂L/∂w / d at the start, which is what makes it constant."""
    for n, d, width in ((3, 2, 2), (2, 3, 2), (2, 4, 3)) if not penalty else ((3, 2, 2),):
        for _ in trial.times(1, 6):
            teacher = gaussian_network(trial.rng, width, n, d)
            problem = sh.Problem(teacher, sh.Gaussian(n), width, orthogonality=penalty)
            start = gaussian_network(trial.rng, width, n, d)
            what = f"n={n}, d={d}, width {width}"
            slope = problem.gradient(start)
            inner = np.sum(slope[: width * n].reshape(width, n) * start.W, axis=1)
            gap = np.abs(inner / d - slope[width * n :] * start.a).max() / np.abs(inner).max()
            yield equal(float(gap), 1e-10, f"{what}: α ∂L/∂α = w·∂L/∂w / d")
            run = sh.descend(
                problem, start, method="flow", record=1, tolerance=FLOWED, flow=BRIEFLY, polish=False
            )
            assert run.trajectory is not None
            nets = [problem.unpack(theta) for theta in run.trajectory.thetas]
            deltas = np.array([net.a**2 - np.sum(net.W**2, axis=1) / d for net in nets])
            drift = float(np.abs(deltas - deltas[0]).max())
            yield equal(drift, 1e-8, f"{what}: {len(deltas)} times, {run.message}")
            moved = float(np.linalg.norm(run.trajectory.thetas[-1] - run.trajectory.thetas[0]))
            yield at_least(moved, 1e-3, f"{what}: the flow moved")
            theirs = np.array([sh.flow_invariants(net) for net in nets])
            yield equal(float(np.abs(theirs - deltas).max()), 1e-12, f"{what}: `flow_invariants` is δ")


def _descended(run: sh.Run) -> sh.Run:
    """The run with its trajectory bent, as long steps would."""
    from dataclasses import replace

    assert run.trajectory is not None
    bent = run.trajectory.thetas * (1 + 1e-3 * np.linspace(0, 1, len(run.trajectory.thetas)))[:, None]
    return replace(run, trajectory=replace(run.trajectory, thetas=bent))


@claim(
    "000",
    "Corollary 17",
    "Even d, every r ≥ r_fill, smooth convex ℓ with an isolated minimum at a negative form: the gradient "
    "flow of ℓ∘τ_r from any network with all αᵢ > 0 and αᵢ² > ‖wᵢ‖²/d diverges or ends at a network that is "
    "no global minimum.",
    control=("all αᵢ < 0", {"sign": -1.0}),
    printed=("without αᵢ > 0: α = (2, −1), w = (1, 1), n = 1, target −1", {"mixed": True}),
    tests={
        "shallows.descend": (of_field("loss", DOUBLED), of_field("loss", Mutation("zero", lambda loss: 0.0))),
        "shallows.is_trapped": (OPPOSITE, NEVER),
    },
)
def corollary_17(trial: Trial, sign: float = 1.0, mixed: bool = False) -> Iterator[Outcome]:
    """(n, d, r) = (2,2,3), (3,2,12), (2,4,6), a negative target under N(0, I), random starts: where the flow ends,
    against the loss of the zero network, which no network with α > 0 can beat; `is_trapped` says so beforehand."""
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
            start = sh.Network(0.5 * W, 0.5 * a, sh.Power(d))
            run = sh.descend(problem, start, method="flow", tolerance=FLOWED, flow=ACCURATE)
            zero = problem.loss(sh.Network(np.zeros((width, n)), activation=sh.Power(d)))
            what = f"n={n}, d={d}, width {width}"
            yield at_least(run.loss, zero * (1 - 1e-9), f"{what}: the flow ends at {run.loss:.6g}")
            yield equal(abs(run.loss / problem.loss(run.network) - 1), 1e-9, f"{what}: that is its loss")
            yield fact(sh.is_trapped(problem, start), f"{what}: `is_trapped`")


@claim(
    "000",
    "Remark 18",
    "Random starts whose outer weights are positive or negative with equal probability: the condition of "
    "Corollary 17 (all αᵢ > 0 and αᵢ² > ‖wᵢ‖²/d) becomes increasingly unlikely as the width grows; for "
    "normal weights it is q^r, q = P(t_n > √(n/d)).",
    control=("outer weights that are always positive", {"positive": True}),
    tests={
        "shallows.escape_probability": (Mutation("half of it", lambda p: p / 2), NEVER),
        "shallows.is_trapped": (OPPOSITE, NEVER),
        "shallows.trap_probability": (DOUBLED,),
    },
)
def remark_18(trial: Trial, positive: bool = False) -> Iterator[Outcome]:
    """n = d = 2, widths 1 to 4, a negative target: the share of trapped starts among many normal ones, against qʳ, by
    Bernstein's inequality."""
    n, d = 2, 2
    count = len(trial.times(500, 40_000))
    for width in (1, 2, 3, 4):
        problem = sh.Problem(-np.eye(n), sh.Gaussian(n), width)
        trapped = 0
        for _ in range(count):
            net = gaussian_network(trial.rng, width, n, d)
            trapped += sh.is_trapped(problem, sh.Network(net.W, np.abs(net.a) if positive else net.a))
        expected = 1 - sh.escape_probability(width, n, d)
        room = sqrt(2 * TAIL * expected * (1 - expected) / count) + TAIL / (3 * count)
        what = f"width {width}: {trapped} of {count} trapped, q^r = {expected:.4f}"
        yield equal(abs(trapped / count - expected), room, what)
        yield at_least(
            1 - sh.escape_probability(width, n, d),
            1 - sh.escape_probability(width + 1, n, d),
            "it falls",
            strict=True,
        )


@claim(
    "000",
    "Example 19",
    "For all d ≥ 3: g = x₁^{d−1}x₂ has rank d, so that no network of width two computes it; those with α = "
    "±τ/d, w₁ = (1, 1/τ), w₂ = (1, 0) tend to it as τ → ∞, while their weights diverge.",
    control=("outer weights ±τ/(d+1)", {"divisor": lambda d: d + 1}),
    printed=("outer weights ±τ/(d−1)", {"divisor": lambda d: d - 1}),
    tests={
        "shallows.real_rank": (OFF_BY_ONE, Mutation("always two", lambda rank: 2)),
        "shallows.diverging_sequence": (of_field("degree", OFF_BY_ONE),),
        "shallows.questions.geometry.ranks.diverging_sequence.DivergingSequence.network": (
            Mutation("other weights", lambda net: sh.Network(net.W, 2 * net.a, net.activation)),
        ),
    },
)
def example_19(trial: Trial, divisor: Callable[[int], int] = lambda d: d) -> Iterator[Outcome]:
    """d = 3 to 6: the real rank of the target, exactly; f_τ − g at τ = 8, 64, 512 in rational arithmetic: its
    coefficients are those of (1/d)Σ_{k≥2} C(d,k) τ^{1−k} x^{d−k}y^k, so that it falls like 1/τ; and
    `diverging_sequence` is this sequence."""
    for d in (3, 4, 5, 6):
        yield proof(sh.real_rank(f"x^{d - 1}*y") == d, f"x^{d - 1}·y has rank {d}")
        largest = []
        for tau in (8, 64, 512):
            a = Fraction(tau, divisor(d))
            form = [a * (comb(d, k) * Fraction(1, tau) ** k - (k == 0)) for k in range(d + 1)]
            largest.append(max(abs(c - (k == 1)) for k, c in enumerate(form)))
        falls = all(7 * later <= earlier for earlier, later in pairwise(largest))
        yield proof(falls, f"d={d}: f_τ − g is {', '.join(f'{float(x):.2g}' for x in largest)}")
        sequence = sh.diverging_sequence(d)
        yield proof(
            Fraction(float(sequence.target.coefficients[1])) == 1, f"d={d}: the target is x^{d - 1}·y"
        )
        for tau in (8, 64, 512):
            net = sequence.network(float(tau))
            close = abs(Fraction(float(net.a[0])) - Fraction(tau, d)) <= Fraction(tau, 10**15)
            same = net.a[1] == -net.a[0] and net.W.tolist() == [[1.0, 1 / tau], [1.0, 0.0]]
            yield proof(close and bool(same), f"d={d}, τ = {tau}: the library's network")
