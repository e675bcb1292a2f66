"""Members of a family that everything starts from, solved once a machine: among all metrics, or among special ones.

A member is solved by monodromy, from one solution that is known by construction. *Completeness.* Students are a cone
X, and for a generic metric X and its singular strata are transverse to the isotropic quadric ⟨s, s⟩ = 0. Then no
critical point runs to infinity at finite g: its direction s would satisfy Gs ⟂ T_s X. So the sum of the critical points
is a polynomial in g, homogeneous of degree 1 because critical points scale with g: it is linear, which
`linear_trace_test` checks at the cost of two paths a point.

Among special metrics monodromy is told the number of solutions where that is a theorem: rank one. Otherwise critical
points may run to infinity at finite g, and their sum is a rational function of g, which `rational_trace_test` checks:
the pairs of g and a critical point are a vector bundle over the students, hence irreducible, and no subset has such a
sum. Where that test does not pass or would take long, and first of all where paths end well, the paths from a generic
metric are followed to a special one: as many as there are special solutions end, the others run to infinity, and every
one is accounted for; monodromy among the special metrics then finds no more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.mathematics.homotopy.rational_trace import rational_trace_test
from shallows.mathematics.homotopy.trace import TraceTest, linear_trace_test
from shallows.mathematics.same_points import PointSet
from shallows.questions.charts.continuation.equations import (
    Complex,
    CriticalEquations,
    EquationFamily,
    Member,
    SolvedMember,
    family,
)
from shallows.questions.charts.continuation.kept_members import is_solved, keep_member, kept_member
from shallows.questions.charts.continuation.lost_paths import SETTINGS, Ways, settle
from shallows.questions.charts.continuation.metrics import KindOfMetrics, OneMetric
from shallows.questions.charts.limits import most_points
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown
from shallows.support.seeds import complex_normal

Equations = TypeVar("Equations", bound=CriticalEquations)
#: The ways from a solved member to a wanted one, for one kind of equations: (equations, known, wanted, seed, tell).
MakeWays = Callable[[Equations, SolvedMember, Member, int, Shown], Ways]
#: Members of the graph that counts solutions under one metric.
COUNTING = 7
#: Members of the graph that looks for a known number of solutions.
MOST = 40
#: Random members among special metrics that are tried, by seed; the next where a path is lost. Measured: from the first
#: no path of up to three cubic neurons is lost.
SPECIAL_SEEDS = (3, 2)
#: Random members among all metrics that are tried, by seed.
GENERIC_SEEDS = (0, 1, 2, 3)
#: The rational trace test is for so many solutions: two paths a sample and solution, 5 s for 43 of degree 7, a minute
#: and a half for 715 of degree 4 under a moved Gaussian. Paths from a generic metric may creep to infinity for seconds
#: each, and be lost there: those of two quintic neurons, or 1,110 of the 1,825 to that moved Gaussian, for 20 minutes.
MOST_BY_TRACE = 1000
#: Poles of the sum of all marks that are looked for: two neurons with two outputs in two inputs, one network for every
#: function, have 2, and 27 networks of two cubic neurons with a bias up to 27.
MOST_MARKED = 64
#: Members of the graph whose solutions are tested by their trace.
TESTED = 8
#: Parameters of special metrics have so few binary digits that every u_j A_j is exact.
DIGITS = 2.0**20
#: The members that were solved in this process, by equations and kind of metrics.
SOLVED: dict[tuple[CriticalEquations, KindOfMetrics | None], SolvedMember] = {}

#: Generic targets of the last metrics, by equations, metric and seed; and of how many.
SOLVED_TARGETS: dict[tuple[CriticalEquations, bytes, int], SolvedMember] = {}
TARGETS = 16


def starting_member(
    equations: Equations, special: KindOfMetrics | None, ways: MakeWays[Equations], tell: Shown = False
) -> SolvedMember:
    """Where every problem with such equations and metrics starts from.

    `ways` lead from a generic metric to a special one; `tell` shows how far the work is, if there is any.
    """
    return (
        generic_member(equations, tell) if special is None else special_member(equations, special, ways, tell)
    )


def generic_member(equations: CriticalEquations, tell: Shown = False) -> SolvedMember:
    """A generic (G, g)."""
    return solved_once(equations, None, lambda: solve_generic(equations, tell))


def special_member(
    equations: Equations, special: KindOfMetrics, ways: MakeWays[Equations], tell: Shown = False
) -> SolvedMember:
    """A generic one among special metrics; another where paths are lost."""
    return solved_once(equations, special, lambda: solve_special(equations, special, ways, tell))


def solved_once(
    equations: CriticalEquations, special: KindOfMetrics | None, solve: Callable[[], SolvedMember]
) -> SolvedMember:
    """The member of this process, or the one that is kept on disk, or one that is solved now and then kept."""
    if (equations, special) not in SOLVED:
        kept = kept_member(equations, special)
        if kept is None:
            kept = distinct(equations, solve())
            keep_member(equations, special, kept)
        SOLVED[equations, special] = kept
    return SOLVED[equations, special]


def solve_special(
    equations: Equations, special: KindOfMetrics, ways: MakeWays[Equations], tell: Shown = False
) -> SolvedMember:
    """A member among special metrics, solved now."""
    return first_whole(equations, lambda seed: _solve_special(equations, special, ways, seed, tell))


def first_whole(
    equations: CriticalEquations,
    solve: Callable[[int], SolvedMember],
    seeds: tuple[int, ...] = SPECIAL_SEEDS,
) -> SolvedMember:
    """The first of these seeds whose member is known completely, or of all the one with most solutions."""
    found = list[SolvedMember]()
    for seed in seeds:
        found.append(distinct(equations, solve(seed)))
        if found[-1].completeness != "sampled":
            return found[-1]
    return max(found, key=lambda member: len(member.points))


def distinct(equations: CriticalEquations, member: SolvedMember) -> SolvedMember:
    """Each solution once; "sampled" where some came twice, which a trace test need not see: a point that is badly known
    (10⁶ out) is taken for a new one."""
    points = PointSet(member.points, invariants=equations.marks).points
    if len(points) == len(member.points):
        return member
    return SolvedMember(member.parameters, points, "sampled")


def solve_generic(equations: CriticalEquations, tell: Shown = False) -> SolvedMember:
    """A member among all metrics, solved now; another where some solution is so badly conditioned that it could not be
    kept (coordinates of 10³ where others are about one)."""
    found = [_solve_generic(equations, GENERIC_SEEDS[0], tell)]
    for seed in GENERIC_SEEDS[1:]:
        if found[-1].completeness == "sampled" or is_solved(equations, None, found[-1]):
            return found[-1]
        found.append(_solve_generic(equations, seed, tell))
    return found[-1] if found[-1].completeness != "sampled" else found[0]


def _solve_generic(equations: CriticalEquations, seed: int, tell: Shown) -> SolvedMember:
    rng = np.random.default_rng([seed, equations.unknowns, equations.entries])
    gram = complex_normal(rng, equations.metric_size, equations.metric_size)
    gram = gram + gram.T
    x, g = equations.first(gram, rng)

    def test(found: PointSet, generator: np.random.Generator) -> TraceTest:
        fixed = family(equations, OneMetric(gram))
        if equations.repeats:
            return marked_trace_test(equations, fixed, found.points, g, generator)
        return linear_trace_test(fixed, found.points, g, equations.tensors, generator, settings=SETTINGS)

    p = np.concatenate([gram[np.triu_indices(len(gram))], g])
    result = monodromy(
        family(equations),
        x[None, :],
        p,
        rng=0,
        invariants=equations.marks,
        target=equations.count,
        limit=most_points(),
        trace=test,
        settings=SETTINGS,
        progress=tell,
    )
    return SolvedMember(p, result.points, result.completeness)


def marked_trace_test(
    equations: CriticalEquations,
    fixed: EquationFamily,
    points: Complex,
    g: Complex,
    rng: np.random.Generator,
) -> TraceTest:
    """The trace test of points that may have one student, by their marks: students of some of them add up to a linear
    function as those of all do. Marks are rational of any degree: few poles a point are tried first."""
    poles = 1
    while True:
        test = rational_trace_test(fixed, points, g, equations.marks, rng, poles=poles, settings=SETTINGS)
        poles *= 2
        if test.passed or poles * len(points) > MOST_MARKED:
            return test


def drawn_metric(
    equations: CriticalEquations, special: KindOfMetrics, seed: int
) -> tuple[np.random.Generator, Complex]:
    """A source of random numbers, and the parameters of a random special metric from it."""
    rng = np.random.default_rng([seed, equations.unknowns, equations.entries, len(special.kind)])
    return rng, np.round(complex_normal(rng, special.parameters) * DIGITS) / DIGITS


def _solve_special(
    equations: Equations, special: KindOfMetrics, ways: MakeWays[Equations], seed: int, tell: Shown
) -> SolvedMember:
    rng, u = drawn_metric(equations, special, seed)
    gram = special.at(u).high
    x, g = equations.first(gram, rng)
    count = equations.special_count(special)
    followed: SolvedMember | None = None
    if count is not None or equations.ends_well:
        followed = _followed(equations, special, ways, (u, gram, x, g), count, seed, tell)
        if count is not None or followed.completeness != "sampled":
            return followed
    tested = _by_trace(equations, special, u, x, g, seed, tell)
    if tested is not None:
        return tested
    return followed or _followed(equations, special, ways, (u, gram, x, g), count, seed, tell)


def _followed(
    equations: Equations,
    special: KindOfMetrics,
    ways: MakeWays[Equations],
    place: tuple[Complex, Complex, Complex, Complex],
    count: int | None,
    seed: int,
    tell: Shown,
) -> SolvedMember:
    """The member (u, G, x, g) by monodromy up to the known count, or from the ends of the paths of a generic one."""
    u, gram, x, g = place
    starts, completeness = x[None, :], "count-matched"
    if count is None:
        member, wanted = generic_member(equations, tell), Member.of(gram, g)
        paths = settle(ways(equations, member, wanted, seed, tell), patient=equations.ends_well)
        if len(paths.finite.points):
            starts, completeness = paths.finite.points, paths.completeness
        else:  # no path arrived: the one known solution remains
            completeness = "sampled"
    found = monodromy(
        family(equations, special),
        starts,
        np.concatenate([u, g]),
        rng=seed,
        invariants=equations.marks,
        target=count,
        trace=False,
        max_members=MOST,
        settings=SETTINGS,
        progress=tell,
    )
    if found.count != (len(starts) if count is None else count):
        completeness = "sampled"
    return SolvedMember(found.parameters, found.points, completeness)


def _by_trace(
    equations: CriticalEquations,
    special: KindOfMetrics,
    u: Complex,
    x: Complex,
    g: Complex,
    seed: int,
    tell: Shown,
) -> SolvedMember | None:
    """The member (u, g), from its solution x, when all solutions are few and the sum of all is a rational function.

    The metric stays: solutions of all g are already one bundle, and other u, of more digits, would leave the kind.
    """
    fixed = family(equations, OneMetric(special.at(u).high))

    def test(found: PointSet, generator: np.random.Generator) -> TraceTest:
        if equations.repeats:
            return marked_trace_test(equations, fixed, found.points, g, generator)
        tensors, poles = equations.tensors, equations.poles
        return rational_trace_test(fixed, found.points, g, tensors, generator, poles=poles, settings=SETTINGS)

    try:
        found = monodromy(
            fixed,
            x[None, :],
            g,
            rng=seed,
            invariants=equations.marks,
            limit=MOST_BY_TRACE,
            trace=test,
            max_members=TESTED,
            settings=SETTINGS,
            progress=tell,
        )
    except InvalidProblem:  # more than the limit
        return None
    if found.completeness == "sampled":
        return None
    return SolvedMember(np.concatenate([u, g]), found.points, found.completeness)


def solved_target(equations: CriticalEquations, metric: OneMetric, seed: int, tell: Shown) -> SolvedMember:
    """A generic target under one given metric; of the last few metrics it is remembered.

    Many problems differ by their targets only: a slider that moves the teacher asks for the same one again and again.
    """
    key = (equations, metric.gram.tobytes(), seed)
    found = SOLVED_TARGETS.get(key)
    if found is None:
        found = _solve_target(equations, metric, seed, tell)
        while len(SOLVED_TARGETS) >= TARGETS:
            SOLVED_TARGETS.pop(next(iter(SOLVED_TARGETS)), None)
        SOLVED_TARGETS[key] = found
    return found


def _solve_target(equations: CriticalEquations, metric: OneMetric, seed: int, tell: Shown) -> SolvedMember:
    x, g = equations.first(metric.gram, np.random.default_rng([seed, 1]))
    result = monodromy(
        family(equations, metric),
        x[None, :],
        g,
        rng=seed,
        group=equations.orbit,
        settings=SETTINGS,
        progress=tell,
    )
    return SolvedMember(g, result.points, result.completeness)


def count_under(equations: CriticalEquations, gram: Array, seed: int, tell: Shown) -> int:
    """How many solutions a generic target has under one given metric, as far as monodromy finds them: at least so many.

    Points that are nearly at infinity for the wanted target are not for a random one.
    """
    metric = OneMetric(gram.astype(np.complex128))
    x, g = equations.first(metric.gram, np.random.default_rng([seed, 1]))
    found = monodromy(
        family(equations, metric),
        x[None, :],
        g,
        rng=seed,
        invariants=equations.marks,
        trace=False,
        members=COUNTING,
        settings=SETTINGS,
        progress=tell,
    )
    return found.count
