"""The critical equations F(x; G, g) of one kind of student: a family with a member for every metric G and g = Gt.

The parameter homotopy from a generic (G, g) reaches every isolated critical point of any other (Sommese and Wampler
2005, Theorem 7.1.1). A special metric (Frobenius, Gaussian, i.i.d. at rank two) has fewer: the other paths run to
infinity, and are counted. Where the special metrics of a kind are known (`metrics`), the generic member is taken among
them, and no path runs to infinity for the metric's sake.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.carrying import Elsewhere
from shallows.mathematics.homotopy.paths import Homotopy
from shallows.questions.charts.continuation.balanced_coordinates import power_action
from shallows.questions.charts.continuation.metrics import AllMetrics, Metrics, Pair, SpecialMetrics, turned
from shallows.support.checks import Array
from shallows.support.seeds import complex_normal

Complex = NDArray[np.complex128]
#: The seed of the rotations that lost paths are tracked again in.
TURNS = 7
#: Turned coordinates are tried up to this number. Measured for limits of three cubic neurons: of 76 lost paths two were
#: lost again in the first, none in the third.
ELSEWHERE = 4


class CriticalEquations(Hashable, Protocol):
    """What the critical equations of one kind of student bring: sizes, an evaluator, a first solution."""

    @property
    def entries(self) -> int:
        """How many numbers g has: N, the dimension of Sym^d(R^n), for each output."""
        ...

    @property
    def metric_size(self) -> int:
        """The size N of G."""
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

    def special_count(self, metrics: Metrics) -> int | None:
        """The number of solutions for generic g and a generic one of these special metrics, where it is a theorem."""
        ...

    @property
    def ends_well(self) -> bool:
        """Whether paths from a generic metric to a special one have been seen to end quickly, at infinity too."""
        ...

    @property
    def poles(self) -> int:
        """How many poles a solution the sum of all students may have, at targets that take solutions to infinity."""
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
        """The student's entries, a row a point."""
        ...

    @property
    def repeats(self) -> bool:
        """Whether points that are not in one orbit may have one student."""
        ...

    def marks(self, points: Complex) -> Complex:
        """Numbers that are equal exactly for points of one orbit: the student's entries, unless it `repeats`."""
        ...


@runtime_checkable
class Turnable(Protocol):
    """Equations whose solutions can be written in turned coordinates."""

    @property
    def degree(self) -> int:
        """d."""
        ...

    @property
    def n(self) -> int:
        """How many coordinates there are."""
        ...

    def turned(self, points: Complex, frame: Array) -> Complex:
        """Solutions in the coordinates w = frame · w′, one a row; not finite where they have none."""
        ...


@runtime_checkable
class Rewritable(Protocol):
    """Equations that have other coordinates of their own, in which other solutions are far out."""

    def rewritten(
        self, way: int, start: tuple[Pair, Complex], target: tuple[Pair, Complex]
    ) -> Elsewhere | None:
        """The segment from one (G, g) to another in the coordinates of this number; None when there are none."""
        ...


class CommonEquations(ABC):
    """What most `CriticalEquations` say: one metric on all entries, and no theorem on special ones."""

    @property
    @abstractmethod
    def entries(self) -> int:
        """How many numbers g has."""

    @property
    def metric_size(self) -> int:
        """N."""
        return self.entries

    @property
    def ends_well(self) -> bool:
        """No: some creep."""
        return False

    @property
    def poles(self) -> int:
        """One."""
        return 1

    @property
    def repeats(self) -> bool:
        """No."""
        return False

    @abstractmethod
    def tensors(self, points: Complex) -> Complex:
        """The student's entries, a row a point."""

    def marks(self, points: Complex) -> Complex:
        """The student's entries."""
        return self.tensors(points)

    def special_count(self, metrics: Metrics) -> int | None:
        """Not known beforehand."""
        return None


def segment_numbers(start: tuple[Pair, Complex], target: tuple[Pair, Complex]) -> Complex:
    """G and g at t = 0, the target, and their slopes in t, as evaluators read them: G0, G1 (N×N), g0, g1."""
    (first, g1), (last, g0) = start, target
    return np.concatenate([last.high.ravel(), (first - last).high.ravel(), g0, g1 - g0])


def random_residual(conditions: Complex, rng: np.random.Generator) -> Complex:
    """A random e = Gs − g on which these conditions, a row each, vanish: g = Gs − e makes s critical."""
    kernel = np.linalg.svd(conditions)[2][np.linalg.matrix_rank(conditions) :].conj()
    return np.asarray(complex_normal(rng, len(kernel)) @ kernel)


@dataclass(frozen=True)
class Member:
    """A metric, by its parameters u among metrics of its kind, and g; G and g are of size about one."""

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


@dataclass(frozen=True)
class SolvedMember:
    """All solutions (one an orbit) at some parameters (u, g), and how complete they are known to be."""

    parameters: Complex
    points: Complex
    completeness: str


@dataclass(frozen=True, eq=False)
class EquationFamily:
    """F over all g and some metrics: parameters (u, g)."""

    equations: CriticalEquations
    metrics: Metrics

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.equations.unknowns

    @property
    def parameter_count(self) -> int:
        """How many u, and N of g."""
        return self.metrics.parameters + self.equations.entries

    def segment(self, start: Complex, target: Complex) -> Homotopy:
        """F along the segment from the parameters `start` to `target`."""
        return self.equations.homotopy(self._at(start), self._at(target))

    def _at(self, parameters: Complex) -> tuple[Pair, Complex]:
        given, split = np.asarray(parameters, np.complex128), self.metrics.parameters
        return self.metrics.at(given[:split]), given[split:]

    def elsewhere(self, way: int, start: Complex, target: Complex) -> Elsewhere | None:
        """The segment in other coordinates of the equations, or in some turned at random, where they have no others of
        this number and say how their solutions turn."""
        equations = self.equations
        own = None
        if isinstance(equations, Rewritable):
            own = equations.rewritten(way, self._at(start), self._at(target))
        if own is not None or way >= ELSEWHERE or not isinstance(equations, Turnable):
            return own
        n, d = equations.n, equations.degree
        frame = np.linalg.qr(np.random.default_rng([TURNS, way]).standard_normal((n, n)))[0]
        action = power_action(frame, d)
        outputs = equations.entries // equations.metric_size
        (first, g1), (last, g0) = (
            (turned(gram, action), (g.reshape(outputs, -1) @ action).ravel())
            for gram, g in (self._at(start), self._at(target))
        )
        return Elsewhere(
            equations.homotopy((first, g1), (last, g0)),
            lambda points: equations.turned(points, frame),
            lambda points: equations.turned(points, frame.T),
        )

    def member(self, parameters: Sequence[object]) -> None:
        """No exact system: proofs are of the problem's own equations."""
        return


def family(equations: CriticalEquations, metrics: Metrics | None = None) -> EquationFamily:
    """F over all g and some metrics, all symmetric G by default."""
    return EquationFamily(equations, AllMetrics(equations.metric_size) if metrics is None else metrics)
