"""Some of the solutions: what is left, and what its status is then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shallows.mathematics.homotopy.solutions import Solution, Solutions, SolutionSet, Status


def selected(solutions: Solutions, keep: Callable[[Solution], bool], others: str) -> Solutions:
    """The solutions to keep; `others` says in a note what the paths to the others ended at."""

    def left(given: SolutionSet) -> SolutionSet:
        return SolutionSet(tuple(s for s in given if keep(s)), given.n)

    finite, singular, continuum = left(solutions.finite), left(solutions.singular), left(solutions.continuum)
    before = solutions.isolated.multiplicities + solutions.continuum.multiplicities
    ends = sum(before) - sum(finite.multiplicities + singular.multiplicities + continuum.multiplicities)
    status = solutions.status
    if status is Status.POSITIVE_DIMENSIONAL and not continuum:
        status = Status.COMPLETE
    if status is Status.UNDECIDED and not any(s.note for s in (*finite, *singular)):
        status = Status.POSITIVE_DIMENSIONAL if continuum else Status.COMPLETE
    notes = solutions.notes
    if ends:
        notes += (f"{ends} paths end at {others}, which are left out",)
    return replace(
        solutions, finite=finite, singular=singular, continuum=continuum, status=status, notes=notes
    )
