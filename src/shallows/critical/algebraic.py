"""All critical points under any metric, rank by rank, by homotopy continuation."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from shallows.charts import Chart
from shallows.charts.result import COMPLETENESS
from shallows.critical.found import Counts, assemble, origin
from shallows.critical.full_rank import full_rank_points
from shallows.critical.low_rank import low_rank_stratum
from shallows.critical.powers import powers_stratum, require_charted
from shallows.critical.rank_one import Stratum, rank_one_stratum
from shallows.problem import Problem


def algebraic_chart(problem: Problem, certify: bool, seed: int, progress: bool = False) -> Chart:
    """The strata of rank 0, …, min(width, n), one after the other."""
    top = min(problem.width, problem.n) if problem.degree == 2 else problem.width
    if problem.degree > 2:
        for rank in range(1, top + 1):
            require_charted(problem, rank)
    found, counts = [origin(problem)], {0: Counts(1, 1, "the zero tensor")}
    families, notes, levels = [], [], ["proved"]
    for rank in range(1, top + 1):
        with _status(f"rank {rank} of {top}: tracking paths and proving points", progress):
            stratum = _stratum(problem, rank, certify, seed)
        found += stratum.found
        counts[rank] = stratum.counts
        families += stratum.families
        notes += stratum.notes
        levels.append(stratum.completeness)
    completeness = max(levels, key=list(COMPLETENESS).index)
    return assemble(
        problem,
        found,
        counts,
        completeness=completeness,
        method="homotopy",
        attained=problem.degree == 2 or problem.width == 1,
        families=families,
        notes=notes,
        seed=seed,
    )


def _status(text: str, progress: bool) -> AbstractContextManager[object]:
    """A line on stderr while something runs, gone when it is done."""
    if not progress:
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(text)


def _stratum(problem: Problem, rank: int, certify: bool, seed: int) -> Stratum:
    if problem.degree == 2 and rank == problem.n:
        return _full_rank(problem, certify)
    if problem.degree == 2 and rank == 1:
        return rank_one_stratum(problem, certify, seed)
    if problem.degree == 2:
        return low_rank_stratum(problem, rank, certify, seed)
    return powers_stratum(problem, rank, certify, seed)


def _full_rank(problem: Problem, certify: bool) -> Stratum:
    found = full_rank_points(problem, certify)
    return Stratum(found, Counts(len(found), len(found), "the target itself"), [], [], "proved")
