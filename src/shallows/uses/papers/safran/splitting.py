"""Paper 003, section 4 and appendix E: splitting neurons turns non-global minima into saddles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import shallows as sh
from shallows.mathematics.balls.systems import precision
from shallows.questions.certificates.minimum import certify_minimum
from shallows.questions.relu.scaling import norm_sum, norm_sum_bound
from shallows.questions.relu.splitting import Splits, descend_from_split, split_hessian, splits, wider
from shallows.questions.relu.symmetric import SymmetricMinimum, symmetric_minimum
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import DOUBLED, NEGATED, NEVER, OFF_BY_ONE, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof
from shallows.uses.papers.safran.instances import BITS, box, minima, padded, relu, relu_balls, relu_problem

#: Loss below which a descent is at the global minimum: the others have 0.01 and more for k ≤ 10.
GLOBAL = 1e-6
#: k, n and d of the minima that descents find for n < k, where every minimum is split (n = k is done by block forms).
NARROW = ((3, 2, 3), (4, 3, 5), (6, 5, 6))


def _spurious(trial: Trial) -> list[SymmetricMinimum]:
    return minima(8 if trial.effort == "quick" else 12)


def _points(trial: Trial) -> Iterator[tuple[sh.Problem, sh.Network, float, str]]:
    """Non-global minima with a radius within which the true one is proved to lie: block forms (n = k), the same in
    more inputs (d > k), and minima that descents find for n < k."""
    for found in _spurious(trial):
        what = f"n=k={found.k}, blocks {found.blocks}"
        yield relu_problem(found.k), found.network(), found.radius, what
    six = symmetric_minimum(6, (1, 5))
    problem, net = relu_problem(6, inputs=7), padded(six.network(), 7)
    yield problem, net, certify_minimum(problem, net).radius, "n=k=6, d=7"
    for k, n, d in NARROW[: len(trial.times(2, 3))]:
        problem = relu_problem(k, width=n, inputs=d)
        run = _narrow_minimum(problem, trial)
        yield problem, run, certify_minimum(problem, run).radius, f"k={k}, n={n}, d={d}"


def _narrow_minimum(problem: sh.Problem, trial: Trial) -> sh.Network:
    """The end of the first of a few descents that reaches a critical point that Newton can polish."""
    runs = sh.ensemble(problem, runs=4, rng=int(trial.rng.integers(2**31)))
    best = int(np.argmin(np.where(runs.converged, runs.gradient_norms, np.inf)))
    return problem.unpack(runs.thetas[best])


def _true_blocks(problem: sh.Problem, net: sh.Network, radius: float) -> list[Any]:
    """H′ᵢᵢ = Hᵢᵢ − I of E in balls, over all networks within `radius`."""
    d = problem.n
    with precision(BITS):
        hessian = relu_balls(problem)(box(net.W, radius))[1].tolist()
        return [
            [[hessian[i * d + r][i * d + c] - int(r == c) for c in range(d)] for r in range(d)]
            for i in range(problem.width)
        ]


def _form(block: Any, u: Array) -> Any:
    """uᵀBu in balls."""
    with precision(BITS):
        return sum(block[r][c] * float(u[r]) * float(u[c]) for r in range(len(u)) for c in range(len(u)))


def _agrees(found: Splits, exact: list[Any]) -> bool:
    """The library's blocks and mean curvatures (the mean of uᵀH′u over unit u, a trace over d) against the balls."""
    middle = np.array([[[float(x.mid()) for x in row] for row in block] for block in exact])
    means = np.trace(middle, axis1=1, axis2=2) / middle.shape[1]
    return bool(
        np.abs(middle - found.blocks).max() < 1e-8 and np.abs(means - found.mean_curvatures).max() < 1e-8
    )


_SPLITS = (of_field("blocks", DOUBLED), of_field("blocks", NEGATED), of_field("mean_curvatures", DOUBLED))


@claim(
    "003",
    "Theorem 8",
    "n ≤ k ≤ d: every non-global minimum with Σ‖wᵢ‖ ≤ k is a point where F is twice differentiable, and has a "
    "neuron all of whose splits, 0 < α < 1, are saddles, and are no local minima for α = 0, 1.",
    control=("a global minimum", {"at_global": True}),
    tests={
        "shallows.relu.splits": _SPLITS,
        "shallows.relu.norm_sum": (DOUBLED, NEGATED),
        "shallows.relu.Splits.saddles": (Mutation("nothing found", lambda found: found[:0]),),
        "shallows.relu.Splits.theorem_8_applies": (NEVER,),
    },
)
def theorem_8(trial: Trial, at_global: bool = False) -> Iterator[Outcome]:
    """Proved minima, n = k in d = k and d > k inputs and n < k: the norm sum, and in balls a neuron with uᵀH′u < 0
    at the true minimum, so that by Lemma 13 every split of it is a saddle; the library's blocks and verdict beside
    it."""
    if at_global:
        found = splits(relu_problem(7), relu(np.eye(7)))
        yield proof(len(found.saddles) > 0, f"the global minimum of k=7: {found!r}")
    for problem, net, radius, what in _points(trial):
        found, exact = splits(problem, net), _true_blocks(problem, net, radius)
        k = len(problem.target.W)  # type: ignore[union-attr]
        sums = float(np.linalg.norm(net.W, axis=1).sum())
        bounded = sums + np.sqrt(problem.width) * radius < k and abs(norm_sum(net) - sums) < 1e-9
        chosen = found.saddles[:1]
        negative = all(bool(_form(exact[i], found.direction(int(i))) < 0) for i in chosen) and len(chosen) > 0
        right = (
            _agrees(found, exact)
            and found.theorem_8_applies
            and bool(np.linalg.norm(net.W, axis=1).min() > 0.01)
        )
        yield proof(bounded and negative and right, f"{what}: Σ‖wᵢ‖ = {sums:.4f} ≤ {k}; {found!r}")


@claim(
    "003",
    "Theorem 9",
    "n ≥ 1, d ≥ k: at every differentiable non-global minimum, every neuron whose H′ᵢᵢ is not positive semidefinite"
    " splits into saddles for all 0 < α < 1, and into points that are no local minima for α = 0, 1.",
    control=("a global minimum", {"at_global": True}),
    tests={
        "shallows.relu.splits": (of_field("blocks", DOUBLED), of_field("blocks", NEGATED)),
        "shallows.relu.Splits.escape": (DOUBLED,),
        "shallows.relu.Splits.curvature": (DOUBLED, NEGATED),
        "shallows.relu.descend_from_split": (),
    },
)
def theorem_9(trial: Trial, at_global: bool = False) -> Iterator[Outcome]:
    """Minima as in Theorem 8: the gradient at the split, its curvature along the escape by Hessian products and by
    the formula, for random α; lower networks near the split with α = 0; and one descent from a split."""
    if at_global:
        found = splits(relu_problem(7), relu(np.eye(7)))
        yield fact(len(found.saddles) == 7, f"the global minimum of k=7: {found!r}")
    for number, (problem, net, _, what) in enumerate(_points(trial)):
        big, found, loss = wider(problem), splits(problem, net), problem.loss(net)
        for i in (int(found.saddles[0]), int(found.saddles[-1])):
            alpha = float(trial.rng.uniform(0.05, 0.95))
            split, direction = net.split(i, alpha), found.escape(i, alpha)
            here = f"{what}, neuron {i}, α={alpha:.2f}"
            yield equal(float(np.linalg.norm(big.gradient(split))), 1e-8, f"{here}: critical")
            curvature = float(direction @ big.hvp(split, direction))
            yield at_least(0.0, curvature, f"{here}: curvature {curvature:.3g}", strict=True)
            yield equal(abs(curvature / found.curvature(i, alpha) - 1), 1e-6, f"{here}: the formula")
            almost = big.pack(net.split(i, 1e-3))
            lowest = min(float(big.value(almost + t * direction)) for t in (-1e-3, 1e-3))
            yield at_least(loss, lowest, f"{here}: lower near α = 0", strict=True)
        if number == 0:
            run = descend_from_split(problem, net)
            yield at_least(
                loss - GLOBAL, run.loss, f"{what}: below the split a minimum of loss {run.loss:.3g}"
            )


@claim(
    "003",
    "Proposition 1",
    "n ≥ 1, d ≥ k: at every local minimum Σ‖wᵢ‖ ≤ kn.",
    control=("networks that are no minima", {"trained": False}),
    tests={
        "shallows.relu.norm_sum": (DOUBLED, NEGATED),
        "shallows.relu.norm_sum_bound": (DOUBLED, OFF_BY_ONE),
        "shallows.ensemble": (),
    },
)
def proposition_1(trial: Trial, trained: bool = True) -> Iterator[Outcome]:
    """End points of descents from Xavier starts and from starts of large norm, n below, at and above k, d ≥ k."""
    for k, n, d in ((4, 3, 4), (4, 3, 6), (6, 6, 6), (3, 5, 3)):
        problem, what = relu_problem(k, width=n, inputs=d), f"k={k}, n={n}, d={d}"
        yield fact(norm_sum_bound(problem) == k * n, f"{what}: the bound kn")
        for init, step in (("xavier", None), ("large", 1 / n)):
            seed = int(trial.rng.integers(2**31))
            runs = sh.ensemble(problem, runs=len(trial.times(4, 50)), init=init, step=step, rng=seed)
            for theta in runs.thetas[runs.converged] if trained else [np.full(problem.size, 10.0)]:
                net = problem.unpack(theta)
                total = float(np.linalg.norm(net.W, axis=1).sum())
                yield at_least(k * n, total, f"{what}, {init}: Σ‖wᵢ‖ = {total:.4f}")
                yield equal(abs(norm_sum(net) - total), 1e-9 * (1 + total), f"{what}: the library's norm sum")


@claim(
    "003",
    "Lemma 12",
    "n ≥ 1, d ≥ k, any differentiable local minimum, 0 < α < 1, any i: the split is critical, and its Hessian (of "
    "½E) is the old one with ½I + H′/α, ½I, ½I + H′/(1−α) in the new blocks.",
    control=("α exchanged with 1 − α", {"exchange": True}),
    printed=("the last line of the proof: H′/(1−α) without ½I", {"identity": 0.0}),
    tests={"shallows.relu.split_hessian": (DOUBLED, NEGATED), "shallows.relu.wider": ()},
)
def lemma_12(trial: Trial, exchange: bool = False, identity: float = 1.0) -> Iterator[Outcome]:
    """The library's block formula against the Hessian of the larger problem, at the minima of Theorem 8."""
    for problem, net, _, what in _points(trial):
        big, d = wider(problem), problem.n
        for _ in trial.times(1, 3):
            i, alpha = int(trial.rng.integers(problem.width)), float(trial.rng.uniform(0.1, 0.45))
            split = net.split(i, alpha)
            yield equal(float(np.linalg.norm(big.gradient(split))), 1e-8, f"{what}, neuron {i}: critical")
            formula = split_hessian(problem, net, i, 1 - alpha if exchange else alpha)
            block = slice((i + 1) * d, (i + 2) * d)
            formula[block, block] -= (1 - identity) * np.eye(d)
            error = float(np.abs(formula - big.hessian(split)).max())
            yield equal(error, 1e-8, f"{what}, neuron {i}, α={alpha:.2f}: the Hessian from blocks")


@claim(
    "003",
    "Lemma 13",
    "n ≥ 1, d ≥ k, any differentiable local minimum: if uᵀH′ᵢᵢu = λ < 0 (½E), the Hessian of the split along (u, "
    "−u) is λ(1/α + 1/(1−α)), for all 0 < α < 1: the split is no minimum.",
    control=("along (u, u)", {"sign": 1.0}),
    tests={
        "shallows.relu.splits": (of_field("blocks", DOUBLED), of_field("blocks", NEGATED)),
        "shallows.Problem.hvp": (DOUBLED, NEGATED),
    },
)
def lemma_13(trial: Trial, sign: float = -1.0) -> Iterator[Outcome]:
    """Unit u near an eigenvector of the library's H′ᵢᵢ, by Hessian products of the larger problem."""
    for problem, net, _, what in _points(trial):
        big, found = wider(problem), splits(problem, net)
        for _ in trial.times(1, 5):
            i, alpha = int(trial.rng.choice(found.saddles)), float(trial.rng.uniform(0.1, 0.9))
            u = found.direction(i) + 0.02 * trial.rng.standard_normal(problem.n)
            u /= np.linalg.norm(u)
            lam = float(u @ found.blocks[i] @ u) / 2
            direction = np.zeros((problem.width + 1, problem.n))
            direction[i], direction[i + 1] = u, sign * u
            value = float(direction.ravel() @ big.hvp(net.split(i, alpha), direction.ravel())) / 2
            error = abs(value - lam * (1 / alpha + 1 / (1 - alpha)))
            yield equal(error, 1e-7, f"{what}, neuron {i}, λ={lam:.4f}: {value:.4f}")
            if lam < 0:
                yield at_least(0.0, value, f"{what}, neuron {i}: negative", strict=True)
