"""Monodromy: from one solution of a generic member of a family to all of them.

Carrying solutions around loops in parameter space permutes them, and transitively when the solution variety
is irreducible. The loops are those of a complete graph: its nodes are the given member and random ones, and every
solution known at a node is tracked along every edge once, in one of its two directions. When nothing is left to track
all nodes have the same number of solutions, found with about (nodes)²/2 paths a solution. A symmetry group of the
system is divided out: one representative an orbit is tracked.
(T. Duff, C. Hill, A. Jensen, K. Lee, A. Leykin, J. Sommars, "Solving polynomial systems via homotopy
continuation and monodromy", IMA J. Numer. Anal. 39, 2019.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.homotopy.carrying import carried
from shallows.mathematics.homotopy.families import Family, Vector
from shallows.mathematics.homotopy.parameter import random_parameters
from shallows.mathematics.homotopy.paths import TrackerSettings
from shallows.mathematics.homotopy.start_pairs import start_pair
from shallows.mathematics.homotopy.trace import TraceTest, trace_test
from shallows.mathematics.same_points import Invariants, Orbit, PointSet, orbit_of
from shallows.support.arguments import typed
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown
from shallows.support.seeds import seed_of

#: Nodes before anything is tracked: on three the loops are powers of one, which finds solutions one by one.
FIRST = 4
Test = Callable[[PointSet, np.random.Generator], TraceTest]


@dataclass(frozen=True)
class MonodromyResult:
    """Solutions found at `parameters`, one an orbit, and what is known about completeness.

    completeness: "count-matched" when the target count was reached, "trace-tested" when the trace test
    passed, "sampled" otherwise: loops stopped bringing new ones, which proves nothing.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^5 - a*x + b"], ["x"], ["a", "b"])
    >>> sh.homotopy.monodromy(family, [[1.0]], [2, 1], target=5)
    MonodromyResult: 5 solutions (count-matched), ... paths between ... members, 0 of them lost, seed 0
    """

    points: NDArray[np.complex128]
    parameters: Vector
    members: int
    paths: int
    lost: int
    completeness: str
    seed: int

    @property
    def count(self) -> int:
        """The number of orbits found."""
        return len(self.points)

    def __repr__(self) -> str:
        return (
            f"MonodromyResult: {self.count} solutions ({self.completeness}), {self.paths} paths between "
            f"{self.members} members, {self.lost} of them lost, seed {self.seed}"
        )


class _Graph:
    """Members of a family as nodes, the solutions known at each, and which of them went along which edge."""

    def __init__(
        self, family: Family, threads: int | None, settings: TrackerSettings, progress: Shown = False
    ) -> None:
        self.family, self.threads, self.settings = family, threads, settings
        self.progress = progress
        self.parameters: list[Vector] = []
        self.known: list[PointSet] = []
        self.sent: dict[tuple[int, int], NDArray[np.bool_]] = {}
        self.paths = self.lost = 0

    def add_node(self, parameters: Vector, known: PointSet) -> None:
        """A further member, joined to all others."""
        new = len(self.known)
        self.parameters.append(parameters)
        self.known.append(known)
        for node in range(new):
            self.sent[node, new] = self.sent[new, node] = np.zeros(0, bool)

    def widest(self) -> tuple[int, int] | None:
        """The edge (begin, end) that the most solutions still have to take; None when all have."""
        waiting = {edge: len(self.known[edge[0]]) - int(done.sum()) for edge, done in self.sent.items()}
        edge = max(waiting, key=lambda key: waiting[key])
        return edge if waiting[edge] else None

    def carry(self, edge: tuple[int, int]) -> None:
        """Track what has to go along an edge; what arrives need not come back along it."""
        begin, end = edge
        done = self._grown(edge)
        rows = np.flatnonzero(~done)
        ends, arrived = self._track(edge, self.known[begin].points[rows])
        done[rows] = True
        numbers = self.known[end].place(ends[arrived])
        self._grown((end, begin))[numbers] = True

    def _grown(self, edge: tuple[int, int]) -> NDArray[np.bool_]:
        """Which of the solutions at the edge's begin, all that are known by now, went along it."""
        done = self.sent[edge]
        more = np.zeros(len(self.known[edge[0]]) - len(done), bool)
        self.sent[edge] = np.concatenate([done, more])
        return self.sent[edge]

    def _track(
        self, edge: tuple[int, int], starts: NDArray[np.complex128]
    ) -> tuple[Vector, NDArray[np.bool_]]:
        """End points, and which of them arrived."""
        begin, end = (self.parameters[node] for node in edge)
        told = self._told(edge)
        paths = carried(self.family, starts, begin, end, self.settings, threads=self.threads, progress=told)
        self.paths += len(starts)
        self.lost += int(np.count_nonzero(paths.status))
        return paths.ends, paths.status == 0

    def _told(self, edge: tuple[int, int]) -> Shown:
        """Whoever asked is told how many solutions there are, and how far this edge is."""
        tell = self.progress
        if isinstance(tell, bool):
            return tell
        known = f"monodromy, {len(self.known[0]):,} solutions, member {edge[0] + 1} to {edge[1] + 1}"
        return lambda text: tell(f"{known}: {text}")


@typed
def monodromy(
    family: Family,
    solutions: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    rng: int | np.random.Generator = 0,
    *,
    group: Orbit | Sequence[ArrayLike] | None = None,
    invariants: Invariants | None = None,
    target: int | None = None,
    members: int = 5,
    max_members: int = 10,
    limit: int | None = None,
    trace: bool | Test = True,
    threads: int | None = None,
    settings: TrackerSettings | None = None,
    progress: Shown = False,
) -> MonodromyResult:
    """All solutions at generic complex `parameters`, from one or more known ones, or from none.

    Without `solutions` and `parameters` a random pair is found by Newton's method in both; the solutions found
    are then those on the component of the family's incidence variety that it lies on.

    Solutions are carried around loops in parameter space, along the edges of a complete graph of random members (T.
    Duff, C. Hill, A. Jensen, K. Lee, A. Leykin, J. Sommars, IMA J. Numer. Anal. 39, 2019). It stops at `target`
    solutions (orbits, with a symmetry `group`, or `invariants` that tell its orbits apart), or when the graph on
    `members` nodes has no solution left to track; then, with `trace`, the trace test tells whether any are missing,
    and if so the graph gets another node, up to `max_members`. `trace` may be a test of one's own. More than `limit`
    solutions are refused when the limit is crossed.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^5 - a*x + b"], ["x"], ["a", "b"])
    >>> found = sh.homotopy.monodromy(family, [[1.0]], [2, 1])          # x = 1 solves x⁵ − 2x + 1 = 0
    >>> found.count, found.completeness
    (5, 'trace-tested')
    >>> sh.homotopy.monodromy(family).count                             # finds a start by itself
    5
    """
    seed = seed_of(rng)
    generator = np.random.default_rng(seed)
    settings = settings or TrackerSettings()
    known, base = _start_pair(family, solutions, parameters, generator)
    if callable(trace):
        test: Test | None = trace
    else:
        test = _pencil_test(family, base, threads, settings) if trace else None
    orbit, nothing = orbit_of(group), known[:0]
    graph = _Graph(family, threads, settings, progress)
    graph.add_node(base, PointSet(known, orbit, invariants))
    found = graph.known[0]
    size = float(np.abs(base).max())
    for count in range(2, max_members + 1):
        graph.add_node(random_parameters(family, generator, size), PointSet(nothing, orbit, invariants))
        if count < min(FIRST, members):
            continue
        _saturate(graph, target, limit)
        if target is not None and len(found) >= target:
            return _result(graph, "count-matched", seed)
        if count >= members and test is None and target is None:
            break
        if count >= members and test is not None:
            outcome = test(found, generator)
            if outcome.passed:
                return _result(graph, "trace-tested", seed)
            found.add(outcome.missing)
    return _result(graph, "sampled", seed)


def _start_pair(
    family: Family, solutions: ArrayLike | None, parameters: ArrayLike | None, rng: np.random.Generator
) -> tuple[Vector, Vector]:
    """The known solutions, one a row, and the parameters they belong to; found here when neither is given."""
    if solutions is None and parameters is None:
        point, base = start_pair(family, rng)
        return point[None], base
    if solutions is None or parameters is None:
        raise InvalidProblem(
            f"monodromy starts from one known solution ({counted(family.n, 'coordinate')}) and its parameters "
            f"({family.parameter_count} of them); {'no parameters' if parameters is None else 'no solution'} given. "
            "Fix: give both, monodromy(family, [x], p) with F(x; p) = 0, or neither: then a pair is found."
        )
    base = np.array(parameters, dtype=np.complex128)
    if base.shape != (family.parameter_count,):
        raise InvalidProblem(
            f"parameters has shape {base.shape}; expected {family.parameter_count} numbers, in the family's order."
        )
    known = np.array(solutions, dtype=np.complex128, ndmin=2)
    if known.shape[1:] != (family.n,) or not len(known):
        raise InvalidProblem(
            f"solutions has shape {known.shape}; expected one solution a row, {counted(family.n, 'coordinate')} each."
        )
    return known, base


def _saturate(graph: _Graph, target: int | None, limit: int | None) -> None:
    """Track until nothing is left to do, or the target is reached."""
    found = graph.known[0]
    while target is None or len(found) < target:
        edge = graph.widest()
        if edge is None:
            return
        graph.carry(edge)
        if limit is not None and len(found) > limit:
            raise InvalidProblem(
                f"More than {limit:,} solutions were found ({len(found):,}, and not all), which is the limit."
            )


def _pencil_test(
    family: Family, base: Vector, threads: int | None, settings: TrackerSettings
) -> Callable[[PointSet, np.random.Generator], TraceTest]:
    def test(found: PointSet, rng: np.random.Generator) -> TraceTest:
        return trace_test(family, found.full(), base, rng, threads=threads, settings=settings)

    return test


def _result(graph: _Graph, completeness: str, seed: int) -> MonodromyResult:
    points, parameters = graph.known[0].points, graph.parameters[0]
    return MonodromyResult(points, parameters, len(graph.known), graph.paths, graph.lost, completeness, seed)
