"""Critical networks of two neurons on a component apart: where paths from generic neurons do not lead.

A network that has more weights than its function has dimensions is one of many of its function, and pairs of a target
and such a critical network can be a component of their own. Their functions are solved for in parameters that they
determine, sorted and proved; which of these functions are critical networks each kind says (`ApartSetting`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from shallows.mathematics.same_points import is_among, most_real
from shallows.model.exact_loss import ExactLoss
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.closure.equations import TermEquations
from shallows.questions.charts.closure.term_map import TermMap
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.generic_members import generic_member
from shallows.questions.charts.continuation.lost_paths import Settled, settle
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.real import NeuronPoint, sort_neurons
from shallows.questions.charts.neurons.singular import NeuronFamily, Quadratic, examine_ends
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL
from shallows.support.checks import Array
from shallows.support.progress import Shown


@dataclass(frozen=True)
class ApartEquations(TermEquations):
    """The critical equations of such functions in n inputs with `shown` outputs."""

    n: int
    degrees: tuple[int, ...]
    shown: int

    @property
    def outputs(self) -> int:
        """M."""
        return self.shown


class Whole(Quadratic, Protocol):
    """The loss of all outputs, exactly."""

    @property
    def exact(self) -> ExactLoss:
        """I ⊗ G and all b_m."""
        ...

    @property
    def first(self) -> PolynomialSpace:
        """The space of output 0."""
        ...


@dataclass(frozen=True, eq=False)
class ApartNetwork:
    """A critical network of a component apart: outer weights (M, 2), neurons (2, n), its function; `still` if no
    network of the function has a slope."""

    A: Array
    W: Array
    point: NeuronPoint
    family: NeuronFamily | None
    still: bool


@dataclass
class ApartStratum:
    """What was found on a component apart."""

    found: list[ApartNetwork] = field(default_factory=list)
    count: int = 0
    completeness: str = "proved"
    notes: list[str] = field(default_factory=list)

    def beside(self, known: Sequence[Array]) -> list[ApartNetwork]:
        """Those whose functions are none of these."""

        def is_new(entries: Array) -> bool:
            return not is_among(entries, list(known), POINT_ERROR * float(np.abs(entries).max()))

        return [item for item in self.found if is_new(item.point.entries)]


class Moving(Protocol):
    """The way back from a problem's own coordinates."""

    def moved(self, equations: Any, x: Complex) -> tuple[TermMap, Complex]:
        """A solution in the problem's coordinates: the map that has good parameters for it, and these."""
        ...

    def network(self, map_: Any, point: NeuronPoint, family: NeuronFamily | None) -> ApartNetwork | None:
        """The network of a critical function, if it has one that is critical."""
        ...


class ApartSetting(Moving, Protocol):
    """A problem in coordinates of its own, and the way back."""

    @property
    def member(self) -> Member:
        """The problem in these coordinates."""
        ...


def apart_stratum(
    setting: ApartSetting,
    equations: ApartEquations,
    whole: Whole,
    names: tuple[str, str],
    certify_points: bool,
    seed: int,
    tell: Shown = False,
) -> ApartStratum:
    """All critical networks of one kind; `names` are those of the stratum and of its functions, for notes."""
    run = settle(Detours(equations, generic_member(equations, tell), setting.member, seed, tell))
    return listed(setting, equations, whole, names, run, certify_points, tell)


class Functions(Protocol):
    """Parameters of functions."""

    def tensors(self, points: Complex) -> Complex:
        """Their entries, a row a point."""
        ...


def listed(
    setting: Moving,
    equations: Functions,
    whole: Whole,
    names: tuple[str, str],
    run: Settled,
    certify_points: bool,
    tell: Shown = False,
) -> ApartStratum:
    """What the ends of all paths are."""
    points = most_real(run.finite.points, equations.tensors)
    result = ApartStratum(count=len(points), completeness=run.completeness)
    for map_, ends, singular in _by_map(setting, equations, points, run.singular.points):
        system = NeuronSystem(NeuronEquations(map_.neuron, 1, outer=((1.0,),)), whole.exact)
        known = sort_neurons(system, ends, certify_points, tell).found
        examined = examine_ends(whole, system, singular, known)
        rows: list[tuple[NeuronPoint, NeuronFamily | None]] = [(p, None) for p in [*known, *examined.points]]
        for point, family in [*rows, *((family.point, family) for family in examined.families)]:
            item = setting.network(map_, point, family)
            result.found += [] if item is None else [item]
    result.notes = run.notes(names[0], f"{len(points)} complex critical functions {names[1]}")
    return result


def _by_map(
    setting: Moving, equations: Functions, points: Complex, singular: Complex
) -> list[tuple[TermMap, Complex, Complex]]:
    """Real ends, and singular ones, in the problem's coordinates, by their maps."""
    groups: dict[TermMap, tuple[list[Complex], list[Complex]]] = {}
    for k, given in enumerate((points, singular)):
        for x in given:
            if k == 0 and np.abs(x.imag).max() > REAL * np.abs(x).max():
                continue
            map_, moved = setting.moved(equations, x)
            groups.setdefault(map_, ([], []))[k].append(moved)

    def table(map_: TermMap, rows: list[Complex]) -> Complex:
        return np.array(rows, np.complex128).reshape(-1, map_.unknowns)

    return [(map_, table(map_, ends), table(map_, others)) for map_, (ends, others) in groups.items()]


def apart_kind(problem: Problem, item: ApartNetwork, net: Network) -> str:
    """A saddle where networks of the same function have a slope, or the loss bends down."""
    if not item.still:
        return "saddle"
    values = np.linalg.eigvalsh(problem.hessian(net))
    return "saddle" if values[0] < -REAL * float(np.abs(values).max()) else "degenerate"
