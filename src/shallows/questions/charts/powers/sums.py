"""Sums of r powers of degree d ≥ 3 under any metric: parameter homotopy from a generic member, then certificates."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.same_points import PointSet
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balanced_problem import BalancedProblem
from shallows.questions.charts.continuation.close_points import close_points
from shallows.questions.charts.continuation.detours import Detours, Regular
from shallows.questions.charts.continuation.equations import CriticalEquations
from shallows.questions.charts.continuation.generic_members import count_under, starting_member
from shallows.questions.charts.continuation.lost_paths import REPEATED, UNCERTIFIED, Settled, settle
from shallows.questions.charts.continuation.metrics import MOVED, SpecialMetrics
from shallows.questions.charts.continuation.special_counts import count_source, rank_one_count
from shallows.questions.charts.continuation.special_data import special_data
from shallows.questions.charts.points.stratum import Counts, Stratum
from shallows.questions.charts.powers.balls import PowerSystem, sharpened
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.charts.powers.proved_tensors import different
from shallows.questions.charts.powers.real import Sorted, sort_points
from shallows.questions.charts.singular_ends import End, examine, joined, singular_note
from shallows.support.progress import Shown

Complex = NDArray[np.complex128]
#: A neuron shorter than this share of the longest adds less than 10⁻¹² to a tensor of degree 3: the rank is lower.
NO_NEURON = 1e-4


def powers_stratum(
    problem: Problem,
    rank: int,
    certify_points: bool,
    seed: int,
    tell: Shown = False,
    patient: bool = True,
) -> Stratum:
    """All critical points that are sums of exactly `rank` powers; for lost paths see `settle`."""
    equations = PowerEquations(problem.degree, problem.n, rank)
    even = BalancedProblem.of(problem)
    special = even.member.special
    start = starting_member(equations, special, Detours, tell)
    run = settle(
        Detours(equations, start, even.member, seed, tell, _proved_regular(equations, even)), patient
    )
    hidden = hidden_points(equations, even, run, seed, tell)
    if hidden:
        run = run.sampled
    signs = (1.0,) * rank
    system = PowerSystem.of(problem, equations, signs, partial(ExactLoss.of, problem))
    resolved = close_points(run, system, equations, even.restored)
    run = resolved.run
    points = np.concatenate([even.restored(_distinct(equations, run.finite.points)), resolved.simple])
    result = sort_points(problem, equations, points, certify_points, tell)
    ends = np.concatenate([even.restored(run.moving), even.restored(_distinct(equations, run.degenerate))])
    singular = [End(x.reshape(rank, problem.n), problem.degree) for x in ends]
    singular += [End(x.reshape(rank, problem.n), problem.degree, isolated=True) for x in resolved.multiple]
    examined = examine(problem, rank, singular, certify_points)
    run = run.sampled if examined.close else run
    run = run.sampled if result.repeated else run
    counts = _counts(equations, len(points) - result.repeated + len(resolved.multiple), special)
    note = singular_note(rank, len(singular), len(examined.families), len(examined.points), examined.close)
    return Stratum(
        joined(result.found, examined, problem.degree),
        counts,
        examined.families,
        _notes(rank, even.member.how, run, result, hidden) + note,
        _completeness(run, result, counts) if not examined.families else run.completeness,
        lost=0 if hidden else run.lost,
        otherwise=start.completeness,
    )


def hidden_points(
    equations: CriticalEquations, even: BalancedProblem, run: Settled, seed: int, tell: Shown
) -> int:
    """How many of the paths that seem to run to infinity must end at finite points, far out."""
    special = even.member.special
    if special is not None:
        return run.at_infinity if special.kind in MOVED else 0
    if not run.at_infinity:
        return 0
    ends = run.finite.count + sum(run.singular.multiplicities) + run.lost
    return max(count_under(equations, even.gram, seed, tell) - ends, 0)


def _proved_regular(equations: PowerEquations, even: BalancedProblem) -> Regular:
    """Whether a badly conditioned end (neurons that nearly cancel) is, once sharpened, regular: Krawczyk decides."""
    system = PowerSystem(equations, even.gram, even.target, (1.0,) * equations.r)

    def regular(ends: Complex) -> tuple[Complex, NDArray[np.bool_]]:
        points = np.array([sharpened(system, x) for x in ends])
        return points, np.array([root is not None for root in certify(system, points).roots])

    return regular


def _completeness(run: Settled, result: Sorted, counts: Counts) -> str:
    """Proved when as many solutions are certified, and pairwise different, as a theorem allows."""
    if run.completeness == "sampled":
        return "sampled"
    if counts.bound is not None and len(different(result.proved)) == counts.bound:
        return "proved"
    return run.completeness


def _counts(equations: PowerEquations, count: int, special: SpecialMetrics | None) -> Counts:
    if special is not None and equations.r == 1:
        own = rank_one_count(special)
        return Counts(count, own, count_source(special), bound=own)
    if special is not None:
        return Counts(count, None, f"not known beforehand for {special.kind} metrics")
    if equations.count is None:
        return Counts(count, None, "not known beforehand")
    formula = "((2d−1)ⁿ−(d−1)ⁿ)/d" if equations.r == 1 else "Bott's residue formula"
    return Counts(count, equations.count, f"generic ED degree: {formula}", bound=equations.count)


def special_count(problem: Problem, rank: int) -> int | None:
    """The number of rank-one critical points under a special metric, for a generic target."""
    special = special_data(problem.data, problem.degree)
    return rank_one_count(special.metrics) if rank == 1 and special is not None else None


def _distinct(equations: PowerEquations, points: Complex) -> Complex:
    """One point a tensor: different orbits can meet at a special member, and lower ranks are not of this stratum."""
    lengths = np.abs(points.reshape(len(points), equations.r, equations.n)).max(axis=2)
    whole = lengths.min(axis=1, initial=np.inf) > NO_NEURON * lengths.max(axis=1, initial=0.0)
    return PointSet(points[whole], invariants=equations.tensors).points


def _notes(rank: int, how: str, run: Settled, result: Sorted, hidden: int) -> list[str]:
    """What a reader of the chart should know about this rank."""
    more = (
        (result.paired, "real tensors with neurons in conjugate pairs: no real networks"),
        (result.undecided, UNCERTIFIED),
        (result.repeated, REPEATED),
        (
            hidden,
            "of the paths to infinity end at finite points, too far out to be told: a random target has them",
        ),
    )
    return run.notes(f"rank {rank}", how, *more)
