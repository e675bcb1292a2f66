"""A generic member among metrics of one special kind, solved: where every problem with such data starts from."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.questions.charts.continuation.members import (
    SETTINGS,
    Complex,
    Member,
    Shape,
    SolvedMember,
    Tell,
    draw,
    family,
    run_member,
)
from shallows.questions.charts.continuation.metrics import SpecialMetrics
from shallows.questions.charts.continuation.special_data import rank_one_count
from shallows.questions.charts.matrices.family import Shape as MatrixShape
from shallows.questions.charts.matrices.frames import run_in_frames
from shallows.support.errors import IncompleteChart

#: Members of the graph that looks for a known number of solutions.
MOST = 40
#: Random members that are tried, by seed: from the first no path of up to three cubic neurons is lost.
MEMBERS = (3, 2, 1)


def solve_special(shape: Shape, special: SpecialMetrics, seed: int, tell: Tell) -> SolvedMember:
    """A random member of a special kind of metrics with all its solutions; another one where paths are lost."""
    *others, last = MEMBERS
    for member in others:
        try:
            found = _solved(shape, special, seed + member, tell)
        except IncompleteChart:
            continue
        if found.completeness != "sampled":
            return found
    return _solved(shape, special, seed + last, tell)


def _solved(shape: Shape, special: SpecialMetrics, seed: int, tell: Tell) -> SolvedMember:
    """By monodromy to the number of solutions, where it is a theorem: rank one.

    Otherwise from a generic metric: as many of its paths as there are special solutions end, the others run to
    infinity, and every one is accounted for; monodromy among the special metrics then finds no more.
    """
    rng = np.random.default_rng([seed, shape.unknowns, shape.entries, len(special.kind)])
    u = np.round(draw(rng, special.parameters) * 2**20) / 2**20  # few digits: u_j A_j is then exact
    gram = special.at(u).high
    x, g = shape.first(gram, rng)
    count = rank_one_count(special) if shape.r == 1 else None
    starts, completeness = x[None, :], "count-matched"
    if count is None:
        starts, completeness = _from_generic(shape, gram, g, seed, tell)
    found = monodromy(
        family(shape, special),
        starts,
        np.concatenate([u, g]),
        rng=seed,
        invariants=shape.tensors,
        target=count,
        trace=False,
        max_members=MOST,
        settings=SETTINGS,
        progress=tell,
    )
    if found.count != (len(starts) if count is None else count):
        completeness = "sampled"
    return SolvedMember(found.parameters, found.points, completeness)


def _from_generic(shape: Shape, gram: Complex, g: Complex, seed: int, tell: Tell) -> tuple[Complex, str]:
    """The finite solutions at (G, g), every path from a generic metric accounted for, and how complete they are."""
    member = Member.of(gram, g)
    if isinstance(shape, MatrixShape):
        framed = run_in_frames(shape, member, np.eye(shape.n), seed, tell)
        return framed.finite, framed.completeness
    run = run_member(shape, member, seed, tell)
    return run.solutions.finite.points, run.completeness
