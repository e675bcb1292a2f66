"""Paper 000, section 2.2: escapable points, spurious valleys and bad minima as functions of the width."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.questions.geometry.escape.escape import explain_escape
from shallows.uses.papers.arjevani.instances import (
    gaussian_network,
    laws,
    random_tensor,
    separated,
    symmetric,
)
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact


def _escapes(problem: sh.Problem, net: sh.Network, what: str, to_minimum: bool = False) -> Iterator[Outcome]:
    """The path exists, its loss never rises (relative to the loss at its start), and it ends lower."""
    escape = explain_escape(problem, net)
    yield fact(escape.path is not None, f"{what}: {escape.reason}")
    if escape.path is None:
        return
    losses = escape.path.losses(200)
    rise = float(np.maximum(np.diff(losses), 0).sum() / losses[0])
    yield equal(rise, 1e-8, f"{what}: the loss never rises ({escape.theorem})")
    if to_minimum:
        yield equal(float(losses[-1] / losses[0]), 1e-8, f"{what}: the path ends at the minimum")
    else:
        yield at_least(float(losses[0]), float(losses[-1]), f"{what}: the end is lower", strict=True)


def _best_rank_one(n: int) -> tuple[sh.Problem, sh.Network]:
    """A strict minimum at width one (Theorem 35): nothing to escape by."""
    t = np.arange(n, 0, -1.0)
    problem = sh.Problem(np.diag(t), sh.Gaussian(n), width=1)
    return problem, sh.Network(np.eye(n)[:1], a=[t[0] + t[1:].sum() / 3])


@claim(
    "000",
    "Theorem 9",
    "From width dim Sym^d(Rⁿ) on, a convex loss has no spurious valley: a descending path leads to its minimum.",
    control=("width one, at a strict minimum", {"narrow": True}),
)
def theorem_9(trial: Trial, narrow: bool = False) -> Iterator[Outcome]:
    """Paths from random networks and from flat ones (all neurons equal)."""
    if narrow:
        yield from _escapes(*_best_rank_one(3), "width 1")
    for n, d in ((2, 3), (2, 4), (3, 3)):
        N = coordinates.dimension(n, d)
        for _ in trial.times(1, 8):
            problem = sh.Problem(random_tensor(trial.rng, n, d), sh.Gaussian(n), N)
            flat = sh.Network(np.ones((N, n)), trial.rng.standard_normal(N), sh.Power(d))
            yield from _escapes(problem, flat, f"n={n}, d={d}, all neurons equal", to_minimum=True)
            start = gaussian_network(trial.rng, N, n, d)
            yield from _escapes(problem, start, f"n={n}, d={d}, random", to_minimum=True)


@claim(
    "000",
    "Proposition 10",
    "Where cl(F_r) ≠ Sym^d(Rⁿ), as for r < r_thick, some convex loss has a bad minimum.",
    control=("(d, n, r) = (3, 3, 4), below the filling width but dense", {"shapes": ((3, 3, 4),)}),
)
def proposition_10(
    trial: Trial,
    shapes: tuple[tuple[int, int, int], ...] = ((2, 3, 2), (3, 3, 2), (3, 3, 3), (4, 2, 2), (5, 2, 2)),
) -> Iterator[Outcome]:
    """A loss with value 0 at a network of that width and a second-order minimum of value 1."""
    for seed in trial.times(1, 5):
        for d, n, r in shapes:
            bad = sh.bad_minimum(d, n, r, rng=seed)
            problem = bad.problem()
            what = f"(d, n, r) = ({d}, {n}, {r})"
            yield equal(problem.loss(bad.teacher), 1e-12, f"{what}: the teacher has width r and loss 0")
            yield equal(abs(problem.loss(bad.network) - 1), 1e-8, f"{what}: the bad minimum has loss 1")
            hessian = problem.hessian(bad.network)
            size = np.abs(hessian).max()
            yield equal(
                float(np.linalg.norm(problem.gradient(bad.network)) / size), 1e-8, f"{what}: it is critical"
            )
            lowest = float(np.linalg.eigvalsh(hessian)[0] / size)
            yield equal(max(-lowest, 0.0), 1e-9, f"{what}: its Hessian is positive semidefinite")


@claim(
    "000",
    "Theorem 11",
    "Two inputs, r ≥ ⌈(d+1)/2⌉, convex loss: every point that is not a global minimum is escapable.",
    control=("r = ⌈(d+1)/2⌉ − 1", {"narrower": 1}),
    printed=("every point is escapable", {"start": "teacher"}),
)
def theorem_11(trial: Trial, narrower: int = 0, start: str = "critical") -> Iterator[Outcome]:
    """Critical networks: ⌊d/2⌋ directions fitted as well as they can be, the other neurons parallel to them."""
    for d in (2, 3, 4, 5):
        width = (d + 2) // 2 - narrower
        for _ in trial.times(1, 8):
            teacher = gaussian_network(trial.rng, width + 1, 2, d)
            if start == "teacher":
                problem = sh.Problem(teacher, sh.Gaussian(2), width + 1)
                yield from _escapes(problem, teacher, f"d={d}: at the teacher")
            problem = sh.Problem(teacher, sh.Gaussian(2), width)
            yield from _escapes(
                problem, _critical(trial, problem, d // 2), f"d={d}, width {width}: at a critical network"
            )


def _critical(trial: Trial, problem: sh.Problem, active: int) -> sh.Network:
    """A network with few directions, minimal among such, filled up with idle neurons."""
    small = sh.Problem(problem.target_tensor(), problem.data, active)
    best = sh.descend(
        small, gaussian_network(trial.rng, active, problem.n, problem.degree), method="lbfgs"
    ).network
    spare = problem.width - active
    W = np.vstack([best.W, np.zeros((spare, problem.n))])
    return sh.Network(W, np.append(best.a, np.zeros(spare)), best.activation)


@claim(
    "000",
    "Theorem 12",
    "Quadratic networks with r ≥ n, convex loss: a descending path leads from any point to the global minimum.",
    control=("r = n − 1, at a minimum on that stratum", {"narrower": 1}),
)
def theorem_12(trial: Trial, narrower: int = 0) -> Iterator[Outcome]:
    """Random starts, the zero network, and the lower-rank critical points of Theorem 35, under several laws."""
    for n in (2, 3, 5):
        for data in laws(n):
            for _ in trial.times(1, 6):
                T = symmetric(trial.rng, separated(trial.rng, n))
                problem = sh.Problem(T, data, n - narrower)
                for net, what in _quadratic_starts(trial, problem, narrower):
                    yield from _escapes(problem, net, f"n={n}, {data!r}, {what}", to_minimum=True)


def _quadratic_starts(trial: Trial, problem: sh.Problem, narrower: int) -> Iterator[tuple[sh.Network, str]]:
    width, n = problem.width, problem.n
    if narrower:
        yield (
            sh.descend(problem, gaussian_network(trial.rng, width, n, 2), method="lm").network,
            "end of a descent",
        )
    yield gaussian_network(trial.rng, width, n, 2), "a random start"
    yield sh.Network(np.zeros((width, n)), -np.ones(width)), "W = 0, a < 0"


@claim(
    "000",
    "Remark 13",
    "Two inputs, ⌈(d+1)/2⌉ ≤ r < d: some convex loss has a spurious valley, and still every point of it is escapable.",
    control=("r = d, where cl(F_r) is everything", {"width_of": lambda d: d}),
)
def remark_13(trial: Trial, width_of: object = None) -> Iterator[Outcome]:
    """The valley of `bad_minimum` (its infimum is in the closure only) and a path that goes down in it."""
    for d in (3, 4, 5, 6):
        widths = [width_of(d)] if callable(width_of) else list(range((d + 2) // 2, d))
        for width in widths:
            bad = sh.bad_minimum(d, 2, width)
            problem = bad.problem()
            value = problem.loss(bad.network)
            yield at_least(
                value, 0.0, f"d={d}, r={width}: a valley of loss ≤ {value:.3g} beside loss 0", strict=True
            )
            yield from _escapes(problem, bad.network, f"d={d}, r={width}")


@claim(
    "000",
    "Lemma 14",
    "A network with two parallel neurons (or an idle one) that is not a global minimum is escapable, at any width.",
    control=("no two neurons parallel, at a strict minimum", {"parallel": False}),
    printed=("also at a global minimum", {"at_teacher": True}),
)
def lemma_14(trial: Trial, parallel: bool = True, at_teacher: bool = False) -> Iterator[Outcome]:
    """Minima of narrow networks with one neuron doubled, so that they are critical at the larger width."""
    if not parallel:
        yield from _escapes(*_best_rank_one(4), "n=4, one neuron")
    for n, d in ((3, 2), (3, 3), (4, 3)):
        for _ in trial.times(1, 8):
            teacher = gaussian_network(trial.rng, 1 if at_teacher else 3, n, d)
            small = sh.Problem(teacher, sh.Gaussian(n), 1)
            one = (
                teacher
                if at_teacher
                else sh.descend(small, gaussian_network(trial.rng, 1, n, d), method="lbfgs").network
            )
            twin = sh.Network(
                np.vstack([one.W, 2 * one.W]), [one.a[0] / 2, one.a[0] / 2 ** (d + 1)], one.activation
            )
            yield from _escapes(
                sh.Problem(teacher, sh.Gaussian(n), 2), twin, f"n={n}, d={d}: a doubled neuron"
            )


@claim(
    "000",
    "Example 15",
    "Even degree, positive target, any width: W = 0 with a < 0 is a bad local minimum, and escapable.",
    control=("a > 0", {"sign": 1.0}),
)
def example_15(trial: Trial, sign: float = -1.0) -> Iterator[Outcome]:
    """No better network among random ones nearby; a path out nevertheless."""
    for n, d, width in ((2, 2, 2), (3, 2, 8), (2, 4, 5)):
        target = sh.Network(np.vstack([np.eye(n), np.ones((1, n))]), activation=sh.Power(d))
        problem = sh.Problem(target, sh.Gaussian(n), width)
        stuck = sh.Network(np.zeros((width, n)), sign * (1 + trial.rng.random(width)), sh.Power(d))
        base = problem.loss(stuck)
        count = len(trial.times(2_000, 50_000))
        moves = trial.rng.standard_normal((count, problem.size))
        moves *= (0.99 * trial.rng.random(count) / np.linalg.norm(moves, axis=1))[:, None]
        lowest = float(problem.value(problem.pack(stuck) + moves).min())
        yield at_least(lowest, base * (1 - 1e-12), f"n={n}, d={d}, width {width}: {count} networks nearby")
        if width >= (n if d == 2 else coordinates.dimension(n, d)):
            yield from _escapes(problem, stuck, f"n={n}, d={d}, width {width}", to_minimum=True)
