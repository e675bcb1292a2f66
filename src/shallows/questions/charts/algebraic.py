"""All critical points under any metric, rank by rank, by homotopy continuation."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedProblem
from shallows.questions.charts.chart_of_strata import chart_of_strata
from shallows.questions.charts.closed_form.full_rank import full_rank_stratum
from shallows.questions.charts.closed_form.norm_neuron import fills_at, norm_neuron_stratum
from shallows.questions.charts.closed_form.wide_binary import (
    OUT_OF_REACH,
    UNDECIDED,
    beside_target,
    is_out_of_reach,
    isolated_rank,
    target_stratum,
)
from shallows.questions.charts.closure.closure import closure_of
from shallows.questions.charts.limits import require_chartable
from shallows.questions.charts.points.stratum import Stratum
from shallows.questions.charts.powers.excluded import is_excludable, one_power_stratum
from shallows.questions.charts.powers.sums import powers_stratum, special_count
from shallows.questions.charts.result import Chart
from shallows.questions.charts.units import Units
from shallows.support.progress import Shown, status_line

#: Strata are cones: along s itself ℓ′ = 2⟨s, s − t⟩, so a critical s has ‖s‖² = ⟨s, t⟩.
NO_TARGET = "the target is zero, so a critical s has ‖s‖² = ⟨s, t⟩ = 0: there is none but zero"


def algebraic_chart(problem: Problem, certify: bool, seed: int, progress: bool = False) -> Chart:
    """The strata of rank 0, …, min(width, n), one after the other; beside a norm neuron up to n − 1."""
    top = min(isolated_rank(problem), fills_at(problem))
    for rank in range(1, top + 1):
        require_chartable(problem, rank, special_count(problem, rank))
    notes = []
    if _is_zero(problem):
        notes, top = [NO_TARGET], 0
    strata, units = {}, Units.of(problem)
    for rank in range(1, top + 1):
        with status_line(f"rank {rank} of {top}", progress) as tell:
            strata[rank] = _stratum(units.problem, rank, certify, seed, tell)
    wide = top > 0 and problem.n > 1 and isolated_rank(problem) < problem.width
    limits = closure_of(units.problem, problem.width if wide else top, certify, seed, progress)
    settled = {r: s.with_lost_at(limits.critical_inward.get(r, 0)) for r, s in strata.items()}
    if wide:
        extra = target_stratum(units.problem, strata[top].found, certify)
        if extra is not None and extra[0]:
            settled[extra[0]] = extra[1]
        if extra is not None:
            limits = replace(limits, found=beside_target(units.problem, limits.found))
        elif is_out_of_reach(units.problem):
            notes = [*notes, OUT_OF_REACH]
        else:
            limits = replace(limits, scope=limits.scope or UNDECIDED)
    return chart_of_strata(
        problem,
        {rank: units.restored_part(stratum) for rank, stratum in settled.items()},
        units.restored_part(limits),
        method="homotopy",
        notes=notes,
    )


def _is_zero(problem: Problem) -> bool:
    """Whether Gt = 0; only a norm neuron hides a target that is not zero itself."""
    hidden = isinstance(problem, ReducedProblem) or not problem.target_tensor().entries.any()
    return hidden and not ExactLoss.of(problem).right.any()


def _stratum(problem: Problem, rank: int, certify: bool, seed: int, tell: Shown) -> Stratum:
    if problem.degree == 2 and rank == problem.n:
        return full_rank_stratum(problem, certify)
    filled = isinstance(problem, ReducedProblem) and rank == fills_at(problem) < problem.n
    if isinstance(problem, ReducedProblem) and filled and (rank > 1 or problem.reduction.constants):
        return norm_neuron_stratum(problem, certify)
    if problem.degree == 2 and rank == 1:
        from shallows.questions.charts.matrices.rank_one import rank_one_stratum

        return rank_one_stratum(problem, certify, seed, tell)
    if problem.degree == 2:
        from shallows.questions.charts.matrices.rank_r import low_rank_stratum

        return low_rank_stratum(problem, rank, certify, seed, tell)
    paths = partial(powers_stratum, problem, rank, certify, seed, tell)
    return (
        one_power_stratum(problem, paths, tell)
        if rank == 1 and certify and is_excludable(problem)
        else paths()
    )
