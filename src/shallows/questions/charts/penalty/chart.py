"""Charts of quadratic networks under the orthogonality penalty, with outer weights that differ or are trained.

The loss is a quadratic function of the pair (s, P) = (Σ aᵢ wᵢwᵢᵀ, Σ wᵢwᵢᵀ), s − t under the data's metric and P − I
under γ times Frobenius'; its critical pairs are found stratum by stratum (`students`). With a fixed the penalty holds
all weights in a bounded set, so that the lowest point is a global minimum. With a trained, a neuron may shrink while
its outer weight grows, to a limit (±vvᵀ, 0) that no network has. At width one such a limit is never lowest: with P = 0
the penalty falls to first order when the neuron gets a length. Otherwise it may be: `scope` says it is not charted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.signature import signature
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.data.metric import Frobenius
from shallows.model.exact_loss import ExactLoss, fractions
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedProblem, identity, reduced
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.penalty.stratum import PenalisedStratum, penalised_stratum
from shallows.questions.charts.penalty.students import (
    Group,
    PenalisedEquations,
    fixed_strata,
    trained_strata,
    zero_diagonal,
)
from shallows.questions.charts.points.kinds import Levels
from shallows.questions.charts.points.point import Certificate, Points, PointTable, Stored
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.progress import status_line

#: What such a chart leaves out where outer weights are trained.
SCOPE = "networks, not limits of networks whose neurons shrink while their outer weights grow"
COUNTED = "not known beforehand; all strata of so many neurons"


@dataclass(frozen=True, eq=False)
class PenalisedLoss:
    """The exact quadratic function of (s, P), a norm neuron's weight already eliminated."""

    problem: Problem
    plain: Problem
    exact: ExactLoss
    gram: Array
    target: Array

    @classmethod
    def of(cls, problem: Problem) -> PenalisedLoss:
        """That of a problem with a penalty."""
        outer: Any = "free" if problem.outer is None else problem.outer
        plain = reduced(
            Problem(problem.target, problem.data, problem.width, outer=outer, norm_neuron=problem.norm_neuron)
        )
        own, gamma = ExactLoss.of(plain), Fraction(problem.orthogonality)
        size, q = len(own.right), fractions(identity(len(own.right)))
        gram = np.full((2 * size, 2 * size), Fraction(0), dtype=object)
        gram[:size, :size] = own.gram
        gram[size:, size:] = fractions(Frobenius(problem.n).gram(2)) * gamma
        right = np.concatenate([own.right, q * gamma])
        target = np.concatenate([plain.target_tensor().entries, identity(size)])
        return cls(problem, plain, ExactLoss(gram, right), gram.astype(np.float64), target)

    def excess(self, pairs: Array) -> Array:
        """The loss above the floor of each pair."""
        gap = pairs - self.target
        return np.asarray(np.maximum(np.einsum("ij,jk,ik->i", gap, self.gram, gap), 0.0))

    @property
    def energy(self) -> float:
        """The loss of the zero network above the floor."""
        return float(self.target @ self.gram @ self.target)

    def slope(self, pair: Array) -> Array:
        """Half the slope in s, as a symmetric matrix."""
        n, size = self.problem.n, len(pair) // 2
        e = (self.gram @ (pair - self.target))[:size]
        E = np.zeros((n, n))
        rows, columns = np.triu_indices(n)
        E[rows, columns] = E[columns, rows] = e * np.where(rows == columns, 1.0, 0.5)
        return E


@dataclass
class _Found:
    placed: list[tuple[NeuronPoint, PenalisedEquations | None]] = field(default_factory=list)
    complex: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    levels: list[str] = field(default_factory=lambda: ["proved"])

    def add(self, equations: PenalisedEquations, stratum: PenalisedStratum) -> None:
        rank = sum(group.size for group in equations.groups)
        self.placed += [(point, equations) for point in stratum.found]
        self.complex[rank] = self.complex.get(rank, 0) + stratum.count
        self.levels.append(stratum.completeness)
        self.notes += stratum.notes


def needs_pairs(problem: Problem) -> bool:
    """Whether the penalty is no function of the student's matrix, so that pairs are charted."""
    if not problem.orthogonality or problem.outputs != 1 or problem.activation != Power(2):
        return False
    return problem.outer is None or bool(np.any(problem.outer != problem.outer[0, 0]))


def penalised_chart(problem: Problem, certify: bool, seed: int, progress: bool, method: str) -> Chart:
    """All critical pairs of a quadratic problem with an orthogonality penalty, read as networks."""
    if method not in ("auto", "homotopy"):
        raise InvalidProblem(
            "With an orthogonality penalty and outer weights that differ or are trained, critical points are those of "
            f'pairs (Wᵀdiag(a)W, WᵀW), which go by homotopy only; method is {method!r}. Fix: method="auto".'
        )
    loss, n = PenalisedLoss.of(problem), problem.n
    strata = list(
        trained_strata(n, problem.width) if problem.outer is None else fixed_strata(n, problem.outer[0])
    )
    for groups in strata:
        _require_isolated(problem, groups)
    found = _Found()
    nothing = np.zeros(len(loss.target))
    zero = NeuronPoint(
        np.zeros((0, n)), np.zeros(0), nothing, (0, 0, 0), Certificate(0.0, True, True, "exact")
    )
    found.placed.append((zero, None))
    found.complex[0] = 1
    for groups in strata:
        equations = PenalisedEquations.of(n, groups)
        with status_line(f"{equations!r}", progress) as tell:
            system = NeuronSystem(equations, loss.exact)
            found.add(equations, penalised_stratum(problem, system, equations, certify, seed, tell))
    return _chart(loss, found, seed)


def _require_isolated(problem: Problem, groups: tuple[Group, ...]) -> None:
    equations = PenalisedEquations.of(problem.n, groups)
    if not equations.is_isolated():
        used = sum(group.size for group in groups)
        raise InvalidProblem(
            f"{used} neurons in {problem.n} inputs have infinitely many networks with the same Wᵀdiag(a)W and WᵀW, "
            "on which loss and penalty depend, so their critical points are not isolated in the neurons. Use a smaller "
            'width, or method="descent".'
        )


def _network(loss: PenalisedLoss, point: NeuronPoint, equations: PenalisedEquations | None) -> Network:
    """The network of a pair: neurons of equal trained weight are rotated until each weight is critical."""
    problem, n = loss.problem, loss.problem.n
    W = np.zeros((problem.width, n))
    a = np.zeros(problem.width) if problem.outer is None else np.array(problem.outer[0])
    if equations is not None:
        own, rows = equations.network(point.W[0])
        places, start = [], 0
        for group in equations.groups:
            members = slice(start, start + group.size)
            start += group.size
            if group.weight is None:
                rows[members] = zero_diagonal(rows[members], loss.slope(point.entries))
                places += list(range(members.start, members.stop))
            else:
                places += np.flatnonzero(a == group.weight)[: group.size].tolist()
        W[places], a[places] = rows, own
    norm = 0.0
    if isinstance(loss.plain, ReducedProblem):
        h, best = loss.plain.optimal_norm
        norm = best - float(h @ point.entries[: len(h)])
    return Network(W, a, problem.activation, norm)


def _kind(
    loss: PenalisedLoss,
    point: NeuronPoint,
    equations: PenalisedEquations | None,
    net: Network,
    at_floor: bool,
) -> str:
    """By the Hessian in all weights: only rotations of equal neurons, and weights of idle ones, are flat for sure."""
    problem = loss.problem
    if at_floor:
        return "global minimum"
    rank = int(np.any(net.W != 0, axis=1).sum())
    slope = loss.slope(point.entries)
    size = POINT_ERROR * float(np.abs(loss.gram @ loss.target).max())
    if problem.outer is None and rank < problem.width and np.abs(slope).max() > size:
        return "saddle"  # an idle neuron with a large weight of the right sign decreases the loss
    flat = problem.width - rank if problem.outer is None else 0
    for weight in np.unique(net.a) if problem.outer is not None else []:
        rows = net.W[net.a == weight]
        m, p = len(rows), int(np.any(rows != 0, axis=1).sum())
        flat += m * (m - 1) // 2 - (m - p) * (m - p - 1) // 2
    positive, zero, negative = signature(np.linalg.eigvalsh(problem.hessian(net)), POINT_ERROR)
    if negative:
        return "local maximum" if not positive and zero <= flat else "saddle"
    return "degenerate" if zero > flat else "local minimum"


def _kinds(
    loss: PenalisedLoss, found: _Found, nets: list[Network], excess: Array, closed: bool
) -> NDArray[np.str_]:
    levels = Levels(excess, loss.energy)
    floor = levels.same(0.0)
    kind = np.array(
        [
            _kind(loss, point, equations, net, bool(low))
            for (point, equations), net, low in zip(found.placed, nets, floor, strict=True)
        ],
        dtype="<U14",
    )
    lowest = levels.same(float(excess.min()))
    kind[(kind == "local minimum") & lowest & closed] = "global minimum"
    return kind


def _chart(loss: PenalisedLoss, found: _Found, seed: int) -> Chart:
    problem, placed = loss.problem, found.placed
    completeness = weakest(found.levels)
    bounded = problem.outer is not None or problem.width == 1
    nets = [_network(loss, *item) for item in placed]
    excess = loss.excess(np.array([point.entries for point, _ in placed]))
    kind = _kinds(loss, found, nets, excess, bounded and completeness != "sampled")
    rank = np.array([int(np.any(net.W != 0, axis=1).sum()) for net in nets], dtype=np.intp)
    order = np.lexsort((rank, excess))
    size, norm = len(loss.target) // 2, np.array([int(problem.norm_neuron), 0, 0])
    q = identity(size)
    tensors = [
        SymmetricTensor(placed[i][0].entries[:size] + float(np.ravel(nets[i].norm)[0]) * q, problem.n, 2)
        for i in order
    ]
    maker = Stored(
        tensors, [nets[i] for i in order], [placed[i][0].certificate for i in order], [None] * len(order)
    )
    signatures = np.array([placed[i][0].signature for i in order], dtype=np.intp) + norm
    table = PointTable(
        (excess + problem.floor)[order], rank[order], signatures, kind[order], np.zeros(len(order), np.intp)
    )
    known = kind[order][0] == "global minimum" and completeness != "sampled"
    return Chart(
        critical=Points(table, maker, problem),
        completeness=completeness,
        method="homotopy",
        complex_count=found.complex,
        real_count={r: int(np.sum(rank == r)) for r in found.complex},
        expected_count={r: None if r else 1 for r in found.complex},
        expected_source={r: COUNTED if r else "the zero network" for r in found.complex},
        notes=tuple(found.notes),
        attained=True if known else None,
        scope="" if bounded else SCOPE,
        seed=seed,
        title=f"{problem!r}",
        problem=problem,
    )
