"""Solving one member of a family of critical equations F(x; G, g): from a generic member, or under its own metric.

The parameter homotopy from a generic (G, g) reaches every isolated critical point of any other (Sommese and Wampler
2005, Theorem 7.1.1). A special metric (Frobenius, Gaussian, i.i.d. at rank two) has fewer: the other paths run to
infinity, and are counted. Where the special metrics of a kind are known (`metrics`), the generic member is taken among
them, and no path runs to infinity for the metric's sake.

*Completeness of the generic member.* Students are a cone X, and for a generic metric X and its singular strata are
transverse to the isotropic quadric ⟨s, s⟩ = 0. Then no critical point runs to infinity at finite g: its direction s
would satisfy Gs ⟂ T_s X. So the sum of the critical points is a polynomial in g, homogeneous of degree 1 because
critical points scale with g: it is linear, which `linear_trace_test` checks at the cost of two paths a point.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.families import CompiledFamily
from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.mathematics.homotopy.parameter import solve_member
from shallows.mathematics.homotopy.paths import Homotopy, TrackerSettings
from shallows.mathematics.homotopy.points import PointSet
from shallows.mathematics.homotopy.solutions import Solutions, SolutionSet
from shallows.mathematics.homotopy.trace import TraceTest, linear_trace_test
from shallows.questions.charts.continuation.metrics import (
    AllMetrics,
    Metrics,
    OneMetric,
    Pair,
    SpecialMetrics,
)
from shallows.questions.charts.limits import LARGEST_COUNT
from shallows.support.checks import Array
from shallows.support.errors import IncompleteChart

Complex = NDArray[np.complex128]
Tell = Callable[[str], None]
#: Points, one a row, moved to where they belong, and which of them are proved to lie next to a regular solution.
Regular = Callable[[Complex], tuple[Complex, NDArray[np.bool_]]]
ATTEMPTS = 5
AGREE = 1e-5
#: Members of the graph that counts solutions under one metric.
COUNTING = 7
#: Paths take about a hundred steps; one that takes many more creeps along a badly conditioned stretch, and is lost.
SETTINGS = TrackerSettings(steps=600)
#: So many lost paths are soon given up: another way round finds them.
FEW = 20


def silently(_: str) -> None:
    """A `Tell` that tells nobody how far the work is."""


class Shape(Hashable, Protocol):
    """What the critical equations of one kind of student bring: sizes, an evaluator, a first solution."""

    @property
    def entries(self) -> int:
        """N, the dimension of Sym^d(R^n)."""
        ...

    @property
    def unknowns(self) -> int:
        """The number of unknowns x."""
        ...

    @property
    def count(self) -> int | None:
        """The number of solutions (up to symmetry) for generic (G, g), where it is known."""
        ...

    @property
    def r(self) -> int:
        """The rank."""
        ...

    def homotopy(self, start: tuple[Pair, Complex], target: tuple[Pair, Complex]) -> Homotopy:
        """F along the segment from (G, g) = start to target."""
        ...

    def first(self, gram: Complex, rng: np.random.Generator) -> tuple[Complex, Complex]:
        """A random x and a g with F(x; G, g) = 0."""
        ...

    def orbit(self, x: Complex) -> Complex:
        """All images of x under the symmetries that leave the student unchanged, one a row."""
        ...

    def tensors(self, points: Complex) -> Complex:
        """The student's entries, a row a point: equal exactly for points of one orbit."""
        ...


@dataclass(frozen=True)
class Member:
    """One problem's metric, with its parameters u among metrics of its kind, and g; G and g are of size about one."""

    metrics: Metrics
    u: Array | Complex
    g: Array | Complex

    @classmethod
    def of(cls, gram: Array | Complex, g: Array | Complex) -> Member:
        """Any metric."""
        return cls(AllMetrics(len(gram)), gram[np.triu_indices(len(gram))], g)

    @property
    def gram(self) -> Array:
        """G, rounded."""
        return np.asarray(self.metrics.at(self.u.astype(np.complex128)).high.real)

    @property
    def special(self) -> SpecialMetrics | None:
        """Which special kind of metrics this is one of, if any."""
        return self.metrics if isinstance(self.metrics, SpecialMetrics) else None

    @property
    def how(self) -> str:
        """How it is solved, in words."""
        kind = "" if self.special is None else f" among {self.special.kind} metrics"
        return f"parameter homotopy from a generic member{kind}"

    @property
    def parameters(self) -> Complex:
        """(u, g) as one vector."""
        return np.concatenate([self.u, self.g]).astype(np.complex128)


def family(shape: Shape, metrics: Metrics | None = None) -> CompiledFamily:
    """F over all g and some metrics, all symmetric G by default: parameters (u, g)."""
    chosen = AllMetrics(shape.entries) if metrics is None else metrics
    split = chosen.parameters

    def make(start: Complex, target: Complex) -> Homotopy:
        return shape.homotopy(
            (chosen.at(start[:split]), start[split:]), (chosen.at(target[:split]), target[split:])
        )

    return CompiledFamily(shape.unknowns, split + shape.entries, make)


@dataclass(frozen=True)
class SolvedMember:
    """All solutions (one an orbit) at some parameters, and how complete they are known to be."""

    parameters: Complex
    points: Complex
    completeness: str


class GenericMember:
    """A generic member of a shape's family over some metrics, solved when it is first asked for."""

    def __init__(self, shape: Shape, special: SpecialMetrics | None, seed: int) -> None:
        self.shape, self.special, self.seed = shape, special, seed
        self._solved: SolvedMember | None = None

    def solved(self, tell: Tell) -> SolvedMember:
        """Its solutions; somebody else is told how far the work is, if there is any left."""
        if self._solved is None:
            if self.special is None:
                self._solved = _solve_generic(self.shape, self.seed, tell)
            else:
                from shallows.questions.charts.continuation.special_members import solve_special

                self._solved = solve_special(self.shape, self.special, self.seed, tell)
        return self._solved


@lru_cache(maxsize=64)
def generic_member(shape: Shape, special: SpecialMetrics | None = None, seed: int = 0) -> GenericMember:
    """The generic member that every problem of this shape and kind of metric starts from, one a process."""
    return GenericMember(shape, special, seed)


def solved_generic(
    shape: Shape, special: SpecialMetrics | None = None, seed: int = 0, tell: Tell = silently
) -> SolvedMember:
    """A generic (G, g), or one among special metrics, solved once a process."""
    return generic_member(shape, special, seed).solved(tell)


def _solve_generic(shape: Shape, seed: int, tell: Tell) -> SolvedMember:
    rng = np.random.default_rng([seed, shape.unknowns, shape.entries])
    gram = draw(rng, shape.entries, shape.entries)
    gram = gram + gram.T
    x, g = shape.first(gram, rng)

    def test(found: PointSet, generator: np.random.Generator) -> TraceTest:
        return linear_trace_test(
            family(shape, OneMetric(gram)), found.points, g, shape.tensors, generator, settings=SETTINGS
        )

    p = np.concatenate([gram[np.triu_indices(len(gram))], g])
    result = monodromy(
        family(shape),
        x[None, :],
        p,
        rng=seed,
        invariants=shape.tensors,
        target=shape.count,
        limit=LARGEST_COUNT,
        trace=test,
        settings=SETTINGS,
        progress=tell,
    )
    return SolvedMember(p, result.points, result.completeness)


def solved_target(shape: Shape, metric: OneMetric, seed: int, tell: Tell) -> SolvedMember:
    """A generic target under one given metric, solved by monodromy."""
    x, g = shape.first(metric.gram, np.random.default_rng([seed, 1]))
    result = monodromy(
        family(shape, metric), x[None, :], g, rng=seed, group=shape.orbit, settings=SETTINGS, progress=tell
    )
    return SolvedMember(g, result.points, result.completeness)


def count_under(shape: Shape, gram: Array, seed: int, tell: Tell) -> int:
    """How many solutions a generic target has under one given metric, as far as monodromy finds them: at least so many.

    Points that are nearly at infinity for the wanted target are not for a random one.
    """
    metric = OneMetric(gram.astype(np.complex128))
    x, g = shape.first(metric.gram, np.random.default_rng([seed, 1]))
    found = monodromy(
        family(shape, metric),
        x[None, :],
        g,
        rng=seed,
        invariants=shape.tensors,
        trace=False,
        members=COUNTING,
        settings=SETTINGS,
        progress=tell,
    )
    return found.count


def rounding(size: int) -> float:
    """Residuals below this are rounding: G and g are of size about one, s and U of size up to about ten."""
    return 1e3 * float(np.finfo(float).eps) * size


def draw(rng: np.random.Generator, *size: int) -> Complex:
    """Complex standard normal numbers."""
    return np.asarray(rng.standard_normal(size) + 1j * rng.standard_normal(size)) / np.sqrt(2)


@dataclass(frozen=True)
class Run:
    """The solutions of one member, how complete they are, and where they came from.

    `degenerate` are singular ends that another way round reproduced: isolated points. The `moving` ones lie on
    positive-dimensional sets, which every way round meets somewhere else.
    """

    solutions: Solutions
    degenerate: Complex
    moving: Complex
    completeness: str
    how: str


def run_member(
    shape: Shape, member: Member, seed: int, tell: Tell = silently, regular: Regular | None = None
) -> Run:
    """All solutions of a member, from a generic one of its kind."""
    known = solved_generic(shape, member.special, tell=tell)
    members = family(shape, member.metrics)
    return _settled(shape, members, known, member.parameters, seed, member.how, tell, regular)


def run_under(shape: Shape, gram: Array, g: Array, seed: int, tell: Tell = silently) -> Run:
    """The same by monodromy over the targets, the metric held fixed."""
    metric = OneMetric(gram.astype(np.complex128))
    own = solved_target(shape, metric, seed, tell)
    how = "monodromy over targets under this metric"
    return _settled(shape, family(shape, metric), own, g.astype(np.complex128), seed, how, tell)


def _settled(
    shape: Shape,
    members: CompiledFamily,
    known: SolvedMember,
    wanted: Complex,
    seed: int,
    how: str,
    tell: Tell,
    regular: Regular | None = None,
) -> Run:
    """Track all paths; by other ways round again while some are lost, or until two ways agree on what is special.

    Lost paths, ends at infinity and singular ends call for a second opinion: another way round, by a random member.
    Two ways agree when they lose no path and find as many regular and singular ends. Different ways lose different
    paths: when the regular ends of all ways together, and the infinite ones of one, are as many as there are paths,
    nothing is lost either.
    """
    runs: list[Solutions] = []
    for attempt in range(ATTEMPTS):
        solutions = _one_way(members, known, wanted, seed + attempt, attempt > 0, tell)
        if solutions is None:
            continue
        if regular is not None:
            solutions = _regular_after_all(shape, solutions, regular)
        nothing = solutions.finite.points[:0]
        if solutions.finite.count == len(known.points):
            return Run(solutions, nothing, nothing, known.completeness, how)
        other = next((earlier for earlier in runs if _agree(solutions, earlier)), None)
        if other is not None:
            ends = solutions.singular.points
            again = _found_again(shape.tensors(ends), shape.tensors(other.singular.points))
            return Run(solutions, ends[again], ends[~again], known.completeness, how)
        runs.append(solutions)
        ways = _joined(shape, runs) if len(runs) > 1 else []
        whole = next((way for way in ways if _accounted(way) == len(known.points)), None)
        if whole is not None:
            return Run(whole, nothing, nothing, known.completeness, how)
    best = max(_joined(shape, runs), key=lambda run: (run.finite.count, -run.failed.count))
    return Run(best, best.singular.points[:0], best.singular.points, "sampled", how)


def _joined(shape: Shape, runs: list[Solutions]) -> list[Solutions]:
    """Every way with the regular ends of all of them; those it lost and others found are no longer lost."""
    finite = runs[0].finite
    for other in runs[1:]:
        again = _found_again(shape.tensors(other.finite.points), shape.tensors(finite.points))
        fresh = [s for s, old in zip(other.finite, again, strict=True) if not old]
        finite = SolutionSet((*finite, *fresh), finite.n)
    return [_with_finite(run, finite) for run in runs]


def _with_finite(run: Solutions, finite: SolutionSet) -> Solutions:
    still = max(run.failed.count - (finite.count - run.finite.count), 0)
    return replace(run, finite=finite, failed=SolutionSet(tuple(run.failed)[:still], finite.n))


def _accounted(way: Solutions) -> int:
    """How many paths end at regular points or at infinity; 0 when some are singular, which needs a second look."""
    return 0 if way.singular.count else way.finite.count + way.at_infinity.count


def _one_way(
    members: CompiledFamily, known: SolvedMember, wanted: Complex, seed: int, detour: bool, tell: Tell
) -> Solutions | None:
    """All paths to the wanted member; None when the random member in between was not reached."""
    try:
        return solve_member(
            members,
            known.points,
            known.parameters.tolist(),
            wanted.tolist(),
            rng=seed,
            detour=detour,
            on_incomplete="return",
            settings=SETTINGS,
            give_up=FEW,
            progress=tell,
        )
    except IncompleteChart:
        return None


def _regular_after_all(shape: Shape, solutions: Solutions, regular: Regular) -> Solutions:
    """Simple ends that looked singular in double precision, but are proved regular and new, join the finite ones."""
    simple = [s for s in solutions.singular if s.multiplicity == 1]
    if not simple:
        return solutions
    ends, proved = regular(np.array([s.point for s in simple]))
    fresh = ~_found_again(shape.tensors(ends), shape.tensors(solutions.finite.points))
    moved = {s.path: x for s, x, good in zip(simple, ends, proved & fresh, strict=True) if good}
    n = solutions.finite.n
    stay = tuple(s for s in solutions.singular if s.path not in moved)
    join = tuple(replace(s, point=moved[s.path]) for s in simple if s.path in moved)
    return replace(
        solutions, finite=SolutionSet((*solutions.finite, *join), n), singular=SolutionSet(stay, n)
    )


def _agree(first: Solutions, second: Solutions) -> bool:
    """Whether two ways round lost nothing and found the same numbers of regular and singular ends."""
    if first.failed.count or second.failed.count or first.finite.count != second.finite.count:
        return False
    return sum(first.singular.multiplicities) == sum(second.singular.multiplicities)


def _found_again(tensors: Complex, others: Complex) -> NDArray[np.bool_]:
    """Which of the tensors are, to the accuracy of a multiple root, among the others."""
    if not len(tensors) or not len(others):
        return np.zeros(len(tensors), bool)
    gaps = np.abs(tensors[:, None, :] - others[None, :, :]).max(axis=2)
    return np.asarray(gaps.min(axis=1) < AGREE * np.maximum(np.abs(tensors).max(axis=1), 1e-300))
