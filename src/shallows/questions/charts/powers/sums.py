"""Sums of r powers of degree d ≥ 3 under any metric: parameter homotopy from a generic member, then certificates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.homotopy.points import PointSet
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balance import Balanced
from shallows.questions.charts.continuation.members import (
    Regular,
    Run,
    Tell,
    count_under,
    run_member,
    silently,
)
from shallows.questions.charts.continuation.metrics import SpecialMetrics
from shallows.questions.charts.continuation.special_data import count_source, rank_one_count, special_data
from shallows.questions.charts.matrices.rank_one import Stratum
from shallows.questions.charts.points.assembling import Counts, Found
from shallows.questions.charts.points.family import CriticalFamily
from shallows.questions.charts.powers.balls import PowerSystem, sharpened
from shallows.questions.charts.powers.degenerate import Start, degenerate_families
from shallows.questions.charts.powers.family import PowerShape
from shallows.questions.charts.powers.real import Sorted, found_at, proved_different, sort_points, turn

Complex = NDArray[np.complex128]


def powers_stratum(
    problem: Problem, rank: int, certify_points: bool, seed: int, tell: Tell = silently
) -> Stratum:
    """All critical points that are sums of exactly `rank` powers."""
    shape = PowerShape(problem.degree, problem.n, rank)
    even = Balanced.of(problem)
    special = even.member.special
    run = run_member(shape, even.member, seed, tell, _proved_regular(shape, even))
    hidden = _hidden(shape, even, run, seed, tell)
    if hidden:
        run = replace(run, completeness="sampled")
    points = even.restored(_distinct(shape, run.solutions.finite.points))
    result = sort_points(problem, shape, points, certify_points, tell)
    degenerate = _degenerate(problem, shape, even.restored(_distinct(shape, run.degenerate)))
    families = _families(problem, shape, even.restored(run.moving))
    counts = _counts(shape, len(points), special)
    return Stratum(
        result.found + degenerate,
        counts,
        families,
        _notes(rank, run, result, len(degenerate), hidden),
        _completeness(run, result, counts),
    )


def _hidden(shape: PowerShape, even: Balanced, run: Run, seed: int, tell: Tell) -> int:
    """How many of the paths that seem to run to infinity must end at finite points, far out."""
    solutions, special = run.solutions, even.member.special
    if special is not None:
        return solutions.at_infinity.count if special.kind == "moved Gaussian" else 0
    if not solutions.at_infinity.count:
        return 0
    ends = solutions.finite.count + sum(solutions.singular.multiplicities) + solutions.failed.count
    return max(count_under(shape, even.gram, seed, tell) - ends, 0)


def _proved_regular(shape: PowerShape, even: Balanced) -> Regular:
    """Whether a badly conditioned end (neurons that nearly cancel) is, once sharpened, regular: Krawczyk decides."""
    system = PowerSystem(shape, even.gram, even.target, (1.0,) * shape.r)

    def regular(ends: Complex) -> tuple[Complex, NDArray[np.bool_]]:
        points = np.array([sharpened(system, x) for x in ends])
        return points, np.array([root is not None for root in certify(system, points).roots])

    return regular


def _completeness(run: Run, result: Sorted, counts: Counts) -> str:
    """Proved when as many solutions are certified, and pairwise different, as a theorem allows."""
    if run.completeness == "sampled":
        return "sampled"
    if counts.bound is not None and proved_different(result.proved) == counts.bound:
        return "proved"
    return run.completeness


def _counts(shape: PowerShape, count: int, special: SpecialMetrics | None) -> Counts:
    if special is not None and shape.r == 1:
        own = rank_one_count(special)
        return Counts(count, own, count_source(special), bound=own)
    if special is not None:
        return Counts(count, None, f"not known beforehand for {special.kind} metrics")
    if shape.count is None:
        return Counts(count, None, "not known beforehand")
    formula = "((2d−1)ⁿ−(d−1)ⁿ)/d" if shape.r == 1 else "Bott's residue formula"
    return Counts(count, shape.count, f"generic ED degree: {formula}", bound=shape.count)


def special_count(problem: Problem, rank: int) -> int | None:
    """The number of rank-one critical points under a special metric, for a generic target."""
    special = special_data(problem.data, problem.degree)
    return rank_one_count(special.metrics) if rank == 1 and special is not None else None


def _distinct(shape: PowerShape, points: Complex) -> Complex:
    """One point a tensor: different orbits can meet at a special member, and lower ranks are not of this stratum."""
    lengths = np.abs(points.reshape(len(points), shape.r, shape.n)).max(axis=2)
    whole = lengths.min(axis=1, initial=np.inf) > 1e-4 * lengths.max(axis=1, initial=0.0)
    return PointSet(points[whole], invariants=shape.tensors).points


def _degenerate(problem: Problem, shape: PowerShape, points: Complex) -> list[Found]:
    """Real singular points that two ways round agree on: on the discriminant, with a degenerate Hessian."""
    found = []
    for x in points:
        turned = [turn(w, shape.degree, tolerance=1e-4) for w in x.reshape(shape.r, shape.n)]
        real = [t for t in turned if t is not None]
        if len(real) < shape.r:
            continue
        u, signs = np.concatenate([t[0] for t in real]), tuple(t[1] for t in real)
        system = PowerSystem.of(problem, shape, signs)
        found.append(found_at(system, u, tolerance=1e-4))
    return found


def _families(problem: Problem, shape: PowerShape, ends: Complex) -> list[CriticalFamily]:
    """Positive-dimensional critical sets, from ends that move with the way round."""
    starts: list[Start] = []
    for x in ends:
        W = x.reshape(shape.r, shape.n)
        lead = W[np.arange(shape.r), np.abs(W).argmax(axis=1)]
        zeta = lead / np.maximum(np.abs(lead), 1e-300)
        vectors, signs = (W / zeta[:, None]).real, np.sign((zeta**shape.degree).real)
        starts.append(Start(shape.tensor(x), vectors, signs))
    return degenerate_families(problem, shape.r, starts)


def _notes(rank: int, run: Run, result: Sorted, degenerate: int, hidden: int) -> list[str]:
    """What a reader of the chart should know about this rank."""
    solutions = run.solutions
    notes = [f"rank {rank}: {run.how} ({run.completeness})"]
    said = [
        (solutions.at_infinity.count, "paths run to infinity: this metric or target is not generic"),
        (result.paired, "real tensors with neurons in conjugate pairs: no real networks"),
        (degenerate, "degenerate points: on the discriminant"),
        (len(run.moving), "paths end on positive-dimensional sets, or at lower rank: see families"),
        (solutions.failed.count, "paths were lost: points may be missing; try another rng"),
        (result.undecided, "points without a certificate"),
        (
            hidden,
            "of the paths to infinity end at finite points, too far out to be told: a random target has them",
        ),
    ]
    return notes + [f"rank {rank}: {count} {text}" for count, text in said if count]
