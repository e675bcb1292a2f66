"""Paper 000, section 2.2: escapable points, spurious valleys and bad minima as functions of the width.

Paths are judged by the loss as it is written here, (s − t)ᵀG(s − t) or `LogCosh`, not by what the library says of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array
from shallows.support.tolerances import UNIT_ROUNDOFF
from shallows.uses.papers.arjevani.instances import (
    LogCosh,
    gaussian_network,
    laws,
    random_tensor,
    separated,
    symmetric,
    with_idle,
)
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import NEGATED, NOTHING, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact

Loss = sh.Problem | LogCosh
#: Units in the last place to which a point of a path and its powers are right: a few operations a weight, and the
#: eigenpairs that a path follows, right to some units of the largest matrix on its way (19 were seen, at Theorem 12,
#: seed 134, where the path leaves S = 0).
DIGITS = 64


def _reversed(path: sh.Path | None) -> sh.Path | None:
    return None if path is None else path.reversed()


def _first_half(path: sh.Path | None) -> sh.Path | None:
    """The first half of the segments, or the path itself backwards where there is only one."""
    if path is None:
        return None
    segments = path.segments[: len(path.segments) // 2]
    return sh.Path(segments, path.activation, path.norm, path.loss) if segments else path.reversed()


NO_PATH = of_field("path", NOTHING)
BACKWARDS = of_field("path", Mutation("backwards", _reversed))
HALF = of_field("path", Mutation("only the first half", _first_half))
LOWER = {"shallows.explain_escape": (NO_PATH, BACKWARDS)}
TO_THE_MINIMUM = {"shallows.explain_escape": (NO_PATH, BACKWARDS, HALF)}


def _values(loss: Loss, nets: list[sh.Network]) -> tuple[Array, Array]:
    """The losses of networks, from their powers, and what rounding can do to each: weights and powers, right to
    `DIGITS` units, may cancel.

    With e = ε(Σ|αᵢ||wᵢ|^d + |t|) on the entries, the square changes by at most 2|s−t|ᵀ|G|e + eᵀ|G|e and is summed to
    ε|s−t|ᵀ|G||s−t|; log cosh has slope at most one in each sample's value, and is computed from 1 to that many units.
    """
    activation = nets[0].activation
    assert isinstance(activation, sh.Power)
    d, unit = activation.degree, DIGITS * UNIT_ROUNDOFF
    W, a = np.array([net.W for net in nets]), np.array([net.a for net in nets])[:, None, :]
    target = loss.target.entries if isinstance(loss, LogCosh) else loss.target_tensor().entries
    gaps = (a @ coordinates.monomials(W, d))[:, 0] - target
    errors = unit * ((np.abs(a) @ coordinates.monomials(np.abs(W), d))[:, 0] + np.abs(target))
    if isinstance(loss, LogCosh):
        weights = coordinates.multiplicities(loss.target.n, d)
        change = (weights * errors) @ np.abs(loss.powers).T
        return loss.at(gaps), np.mean(change, axis=1) + unit
    G = loss.gram()
    values, gaps, G = np.einsum("ki,ij,kj->k", gaps, G, gaps), np.abs(gaps), np.abs(G)
    slack = 2 * gaps @ G * errors + errors @ G * errors + unit * (gaps @ G * gaps)
    return values, slack.sum(axis=1)


def _value(loss: Loss, net: sh.Network) -> float:
    """The loss of a network, from its powers."""
    return float(_values(loss, [net])[0][0])


def _escapes(loss: Loss, net: sh.Network, what: str, to_minimum: float | None = None) -> Iterator[Outcome]:
    """A continuous path from `net` on which the loss never rises, by more than the rounding of its own evaluation, and
    at whose end it is lower, or minimal to a share."""
    escape = sh.explain_escape(loss, net)
    yield fact(escape.path is not None, f"{what}: {escape.reason}")
    if escape.path is None:
        return
    nets = [escape.path(t) for t in np.linspace(0.0, 1.0, 201)]
    begins = max(float(np.abs(nets[0].W - net.W).max()), float(np.abs(nets[0].a - net.a).max()))
    yield equal(begins, 1e-9 * (1 + np.abs(net.W).max() + np.abs(net.a).max()), f"{what}: it begins here")
    losses, rounding = _values(loss, nets)
    rises = np.diff(losses) / (rounding[1:] + rounding[:-1])
    yield equal(max(0.0, float(rises.max())), 1.0, f"{what}: the loss never rises ({escape.theorem})")
    if to_minimum is not None:
        yield equal(float(losses[-1] / losses[0]), to_minimum, f"{what}: the path ends at the minimum")
    else:
        yield at_least(float(losses[0]), float(losses[-1]), f"{what}: the end is lower", strict=True)


def _losses(trial: Trial, target: sh.SymmetricTensor, width: int) -> list[tuple[Loss, str, float]]:
    """The square under N(0, I), and a convex loss that is no square; what is left of the loss at the end of a path."""
    square = sh.Problem(target, sh.Gaussian(target.n), width)
    return [(square, "square", 1e-8), (LogCosh(trial.rng, target), "log cosh", 1e-4)]


def _best_rank_one(n: int) -> tuple[sh.Problem, sh.Network]:
    """A strict minimum at width one (Theorem 35): nothing to escape by."""
    t = np.arange(n, 0, -1.0)
    problem = sh.Problem(np.diag(t), sh.Gaussian(n), width=1)
    return problem, sh.Network(np.eye(n)[:1], a=[t[0] + t[1:].sum() / 3])


@claim(
    "000",
    "Theorem 9",
    "For all d, n, r ≥ dim Sym^d(Rⁿ) and convex ℓ on Sym^d(Rⁿ): ℓ∘τ_r has no spurious valley, so that from "
    "every network a path on which the loss does not rise leads to the minimum, where there is one.",
    control=("width one, at a strict minimum", {"narrow": True}),
    tests=TO_THE_MINIMUM,
)
def theorem_9(trial: Trial, narrow: bool = False) -> Iterator[Outcome]:
    """(n, d) = (2,3), (2,4), (3,3) at width dim Sym^d; random targets; from random networks and from flat ones (all
    neurons equal); the square under N(0, I), and log cosh on samples."""
    if narrow:
        yield from _escapes(*_best_rank_one(3), "width 1")
    for n, d in ((2, 3), (2, 4), (3, 3)):
        N = coordinates.dimension(n, d)
        for _ in trial.times(1, 8):
            for loss, name, left in _losses(trial, random_tensor(trial.rng, n, d), N):
                flat = sh.Network(np.ones((N, n)), trial.rng.standard_normal(N), sh.Power(d))
                yield from _escapes(loss, flat, f"n={n}, d={d}, {name}, all neurons equal", left)
                start = gaussian_network(trial.rng, N, n, d)
                yield from _escapes(loss, start, f"n={n}, d={d}, {name}, random", left)


def _crossing(bad: sh.BadMinimum) -> tuple[Array, Array]:
    """The functional with t = 0 at the valley's network and 1 at the teacher, and the midpoint of the two, on
    entries."""
    first, last = bad.network.tensor().entries, bad.teacher.tensor().entries
    weights = coordinates.multiplicities(bad.n, bad.degree)
    way = last - first
    return weights * way / float(weights @ way**2), (first + last) / 2


@claim(
    "000",
    "Proposition 10",
    "Wherever cl(F_r) ≠ Sym^d(Rⁿ), as for all r < r_thick(d, n) and for n = 2, r < d: some convex ℓ makes a "
    "loss ℓ∘τ_r with a bad local minimum (r < r_thick) and a spurious valley.",
    control=("the Frobenius loss to the same teacher", {"plain": True}),
    tests={
        "shallows.bad_minimum": (
            Mutation(
                "network and teacher exchanged",
                lambda bad: replace(bad, network=bad.teacher, teacher=bad.network),
            ),
            Mutation("the Frobenius metric", lambda bad: _plain(bad)),
        ),
        "shallows.Problem.hessian": (NEGATED, Mutation("zero", lambda H: 0 * H)),
        "shallows.real_rank": (Mutation("always one", lambda rank: 1),),
    },
)
def proposition_10(trial: Trial, plain: bool = False) -> Iterator[Outcome]:
    """Below r_thick, five (d, n, r): loss 0 at a network of width r, and a network of loss 1 whose Hessian vanishes
    along its fiber only: a bad minimum, and the bottom of a valley. Two inputs, r_thick ≤ r < d: `_valley`."""
    for d, n, r in ((2, 3, 2), (3, 3, 2), (3, 3, 3), (4, 2, 2), (5, 2, 2)):
        for _ in trial.times(1, 5):
            bad = sh.bad_minimum(d, n, r, rng=int(trial.rng.integers(2**31)))
            yield from _bottom(_plain(bad) if plain else bad)
    for d, r in ((3, 2), (4, 3), (5, 4)):
        bad = sh.bad_minimum(d, 2, r)
        yield from _valley(trial, bad, r)


def _plain(bad: sh.BadMinimum) -> sh.BadMinimum:
    metric = sh.Metric(bad.n, bad.degree, np.diag(coordinates.multiplicities(bad.n, bad.degree)))
    return replace(bad, metric=metric)


def _bottom(bad: sh.BadMinimum) -> Iterator[Outcome]:
    problem, net = bad.problem(), bad.network
    what = f"(d, n, r) = ({bad.degree}, {bad.n}, {bad.width})"
    yield equal(_value(problem, bad.teacher), 1e-12, f"{what}: the teacher has width r and loss 0")
    yield equal(abs(_value(problem, net) - 1), 1e-8, f"{what}: the bad minimum has loss 1")
    hessian = problem.hessian(net)
    size = np.abs(hessian).max()
    yield equal(float(np.linalg.norm(problem.gradient(net)) / size), 1e-8, f"{what}: it is critical")
    values = np.linalg.eigvalsh(hessian)
    fiber = problem.size - sh.regime(bad.degree, bad.n, bad.width).dimension
    yield fact(
        bool(np.all(np.abs(values[:fiber]) < 1e-9 * size) and np.all(values[fiber:] > 1e-7 * size)),
        f"{what}: the Hessian is zero on the fiber, of dimension {fiber}, and positive across: {values[: fiber + 1]}",
    )


def _valley(trial: Trial, bad: sh.BadMinimum, width: int) -> Iterator[Outcome]:
    """Between the network (t = 0, loss 1) and the teacher (t = 1, loss 0) lies the hyperplane t = ½, and no network
    of this width on it has loss ≤ 1: there ℓ ≥ ¼ + ‖S − M‖²_F, and all S with ‖S − M‖_F < 1 have rank d. Forms drawn
    from that ball, their entries rounded to 2⁻²⁰, have their rank decided exactly."""
    problem, d = bad.problem(), bad.degree
    what = f"d={d}, r={width}"
    functional, middle = _crossing(bad)
    yield equal(abs(_value(problem, bad.network) - 1), 1e-8, f"{what}: the network in the valley has loss 1")
    yield equal(_value(problem, bad.teacher), 1e-12, f"{what}: the teacher has loss 0")
    weights = coordinates.multiplicities(2, d)
    gram = problem.gram()
    for _ in trial.times(6, 60):
        step = trial.rng.standard_normal(d + 1)
        step -= (
            (functional @ step) * middle / (functional @ middle) if abs(functional @ middle) > 1e-9 else 0.0
        )
        way = bad.teacher.tensor().entries - bad.network.tensor().entries
        step -= (functional @ step) * way
        step *= trial.rng.uniform(0.2, 0.86) / np.sqrt(weights @ step**2)
        entries = np.round((middle + step) * 2.0**20) / 2.0**20
        gap = entries - bad.teacher.tensor().entries
        loss = float(gap @ gram @ gap)
        share = float(weights @ (entries - middle) ** 2)
        yield equal(abs(loss - 0.25 - share), 1e-4, f"{what}: ℓ = ¼ + ‖S − M‖² = {loss:.4f} on t = ½")
        rank = sh.real_rank(sh.SymmetricTensor(entries, 2, d))
        lowest = rank if isinstance(rank, int) else rank[0]
        yield fact(lowest > width, f"{what}: a form with ‖S − M‖² = {share:.3f} has rank {rank}")


@claim(
    "000",
    "Theorem 11",
    "Two inputs, all d and r ≥ ⌈(d+1)/2⌉, smooth convex ℓ: every network that is not a global minimum of "
    "ℓ∘τ_r is escapable.",
    control=("r = ⌈(d+1)/2⌉ − 1", {"narrower": 1}),
    printed=("every point is escapable: not a global minimum", {"start": "teacher"}),
    tests=LOWER,
)
def theorem_11(trial: Trial, narrower: int = 0, start: str = "critical") -> Iterator[Outcome]:
    """Two d (full: all) of 2 to 5 at width ⌈(d+1)/2⌉: critical networks (⌊d/2⌋ directions fitted, the other neurons
    idle or parallel to them) and random ones; the square under N(0, I), and for d ≤ 3 log cosh on samples."""
    few = trial.effort == "quick" and not narrower
    for d in sorted(trial.rng.choice([2, 3, 4, 5], 2, replace=False)) if few else (2, 3, 4, 5):
        d, width = int(d), (int(d) + 2) // 2 - narrower
        for _ in trial.times(1, 8):
            teacher = gaussian_network(trial.rng, width + 1, 2, d)
            if start == "teacher":
                problem = sh.Problem(teacher, sh.Gaussian(2), width + 1)
                yield from _escapes(problem, teacher, f"d={d}: at the teacher")
            target = random_tensor(trial.rng, 2, d)
            problem = sh.Problem(target, sh.Gaussian(2), width)
            what = f"d={d}, width {width}"
            yield from _escapes(
                problem, _critical(trial, problem, d // 2), f"{what}, square, at a critical network"
            )
            for loss, name, _ in _losses(trial, target, width)[: 2 if d <= 3 else 1]:
                net = gaussian_network(trial.rng, width, 2, d)
                yield from _escapes(loss, net, f"{what}, {name}, at a random network")
                twin = sh.Network(np.vstack([net.W[:1], net.W[:1], net.W[2:]]), net.a, net.activation)
                yield from (
                    _escapes(loss, twin, f"{what}, {name}, with two parallel neurons") if width > 1 else ()
                )


def _critical(trial: Trial, problem: sh.Problem, active: int) -> sh.Network:
    """A network with few directions, where descent among such ends, filled up with idle neurons."""
    small = sh.Problem(problem.target_tensor(), problem.data, active)
    start = gaussian_network(trial.rng, active, problem.n, problem.degree)
    # an infimum need not be attained: descent with a limit, as far as it gets
    best = sh.descend(small, start, method="lbfgs", iterations=500).network
    return with_idle(best, problem.width)


@claim(
    "000",
    "Theorem 12",
    "Quadratic networks with n inputs and r ≥ n, smooth convex ℓ on Sym²(Rⁿ): ℓ∘τ_r has no spurious valley; "
    "a path on which the loss does not rise leads from every network to the minimum, where there is one.",
    control=("r = n − 1, at a minimum on that stratum", {"narrower": 1}),
    tests=TO_THE_MINIMUM,
)
def theorem_12(trial: Trial, narrower: int = 0) -> Iterator[Outcome]:
    """n = 2, 3 (full: 5) at width n: from random networks, from W = 0 with a < 0 (Example 15), and from the critical
    points of lower rank, filled up with idle neurons; under four laws, and log cosh on samples."""
    for n in (2, 3) if trial.effort == "quick" else (2, 3, 5):
        for data in laws(n):
            for _ in trial.times(1, 6):
                T = symmetric(trial.rng, separated(trial.rng, n))
                problem = sh.Problem(T, data, n - narrower)
                for net, what in _quadratic_starts(trial, problem, narrower):
                    yield from _escapes(problem, net, f"n={n}, {data!r}, {what}", 1e-8)
        loss = LogCosh(
            trial.rng, sh.SymmetricTensor.from_matrix(symmetric(trial.rng, separated(trial.rng, n)))
        )
        yield from _escapes(loss, gaussian_network(trial.rng, n, n, 2), f"n={n}, log cosh", 1e-4)


def _quadratic_starts(trial: Trial, problem: sh.Problem, narrower: int) -> Iterator[tuple[sh.Network, str]]:
    width, n = problem.width, problem.n
    if narrower:
        yield sh.chart(problem, certify=False).minimum.network, "the lowest point of the stratum"
    yield gaussian_network(trial.rng, width, n, 2), "a random start"
    yield sh.Network(np.zeros((width, n)), -np.ones(width)), "W = 0, a < 0"
    low = sh.chart(sh.Problem(problem.target_tensor(), problem.data, 1), certify=False).points
    yield with_idle(low[0].network, width), "the best of rank one"


@claim(
    "000",
    "Remark 13",
    "Two inputs, all d ≥ 3 and ⌈(d+1)/2⌉ ≤ r < d: some convex ℓ makes a loss ℓ∘τ_r with a spurious valley "
    "in which every network is escapable; for r = d there is none, since cl(F_d) = Sym^d(R²).",
    control=("r = d", {"wider": 1}),
    tests={
        "shallows.bad_minimum": (Mutation("the Frobenius metric", lambda bad: _plain(bad)),),
        "shallows.real_rank": (Mutation("always one", lambda rank: 1),),
        **LOWER,
    },
)
def remark_13(trial: Trial, wider: int = 0) -> Iterator[Outcome]:
    """The loss of `bad_minimum`, d = 3, 4 (full: 5) and every such r: the hyperplane between its two valleys
    (`_valley`), and paths down from networks of the valley without the global minimum, drawn near the given one
    (full: and from that one)."""
    for d in (3, 4) if trial.effort == "quick" else (3, 4, 5):
        for width in range((d + 2) // 2, d):
            bad = sh.bad_minimum(d, 2, width)
            problem = bad.problem()
            yield from _valley(trial, bad, width + wider)
            functional, _ = _crossing(bad)
            for size in (0.05,) if trial.effort == "quick" else (0.0, 0.05):
                move = size * trial.rng.standard_normal(bad.network.W.shape)
                net = sh.Network(bad.network.W + move, bad.network.a, bad.network.activation)
                t = float(functional @ (net.tensor() - bad.network.tensor()).entries)
                yield at_least(0.5, t, f"d={d}, r={width}: a network of the valley, t = {t:.3f}", strict=True)
                yield from _escapes(problem, net, f"d={d}, r={width}, moved by {size}")


@claim(
    "000",
    "Lemma 14",
    "For all d, n, r and convex ℓ: a network with αᵢwᵢ and αⱼwⱼ parallel for some i ≠ j (an idle neuron "
    "included) that is not a global minimum of ℓ∘τ_r is escapable.",
    control=("no two neurons parallel, at a strict minimum", {"parallel": False}),
    printed=("also at a global minimum", {"at_teacher": True}),
    tests=LOWER,
)
def lemma_14(trial: Trial, parallel: bool = True, at_teacher: bool = False) -> Iterator[Outcome]:
    """(n, d) = (3,2), (3,3), (4,3): minima of one neuron with that neuron doubled, so that they are critical at width
    two, and with an idle one; the square under N(0, I). Random doubled neurons under log cosh."""
    if not parallel:
        yield from _escapes(*_best_rank_one(4), "n=4, one neuron")
    for n, d in ((3, 2), (3, 3), (4, 3)):
        for _ in trial.times(1, 8):
            teacher = gaussian_network(trial.rng, 1 if at_teacher else 3, n, d)
            small = sh.Problem(teacher, sh.Gaussian(n), 1)
            begin = gaussian_network(trial.rng, 1, n, d)
            fitted = sh.descend(small, begin, method="lbfgs", iterations=1_000).network
            one = teacher if at_teacher else fitted
            wide = sh.Problem(teacher, sh.Gaussian(n), 2)
            yield from _escapes(wide, _doubled(one, d), f"n={n}, d={d}: a doubled neuron")
            yield from _escapes(wide, with_idle(one, 2), f"n={n}, d={d}: an idle neuron")
            net = _doubled(gaussian_network(trial.rng, 1, n, d), d)
            yield from _escapes(
                LogCosh(trial.rng, teacher.tensor()), net, f"n={n}, d={d}, log cosh: a doubled neuron"
            )


def _doubled(one: sh.Network, d: int) -> sh.Network:
    """The neuron αw^d as two parallel ones, w and 2w, half of it each."""
    return sh.Network(np.vstack([one.W, 2 * one.W]), [one.a[0] / 2, one.a[0] / 2 ** (d + 1)], one.activation)


@claim(
    "000",
    "Example 15",
    "Even d, r ≥ r_fill however large, data of full support and a positive target: every (α, 0) with all αᵢ "
    "< 0 is a local minimum that is not global; and it is escapable where Theorem 9 or 12 applies.",
    control=("α > 0", {"sign": 1.0}),
    tests={
        "shallows.Problem.value": (NEGATED,),
        **TO_THE_MINIMUM,
    },
)
def example_15(trial: Trial, sign: float = -1.0) -> Iterator[Outcome]:
    """(n, d, r) = (2,2,2), (3,2,8), (2,4,5): no better network among random ones nearby, where all α stay negative; a
    network with loss 0; and a path out nevertheless."""
    for n, d, width in ((2, 2, 2), (3, 2, 8), (2, 4, 5)):
        target = sh.Network(np.vstack([np.eye(n), np.ones((1, n))]), activation=sh.Power(d))
        problem = sh.Problem(target, sh.Gaussian(n), width)
        stuck = sh.Network(np.zeros((width, n)), sign * (1 + trial.rng.random(width)), sh.Power(d))
        base, what = _value(problem, stuck), f"n={n}, d={d}, width {width}"
        count = len(trial.times(2_000, 50_000))
        moves = trial.rng.standard_normal((count, problem.size))
        moves *= (0.99 * trial.rng.random(count) / np.linalg.norm(moves, axis=1))[:, None]
        lowest = float(problem.value(problem.pack(stuck) + moves).min())
        yield at_least(lowest, base * (1 - 1e-12), f"{what}: {count} networks nearby")
        yield fact(
            base > 0 and width >= sh.filling_width(d, n)[1],
            f"{what}: every target is attained, this one not here",
        )
        if width >= (n if d == 2 else coordinates.dimension(n, d)):
            yield from _escapes(problem, stuck, what, 1e-8)
