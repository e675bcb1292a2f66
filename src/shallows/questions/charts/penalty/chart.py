"""Charts of quadratic networks under the orthogonality penalty, with outer weights that differ or are trained.

The loss is a quadratic function of the pair (s, P) = (Σ aᵢ wᵢwᵢᵀ, Σ wᵢwᵢᵀ), s − t under the data's metric and P − I
under γ times Frobenius'. With a fixed its critical pairs are found stratum by stratum (`students`), and the penalty
holds all weights in a bounded set, so that the lowest point is a global minimum. With a trained they are those without
penalty, those of equal weights, which go by homotopy, and those with weights zero (`trained`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.model.reduced_problem import identity
from shallows.questions.charts.chart_of_rows import Gathered, chart_of_rows
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.isolation import refuse_moving
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.outputs.point import Seen
from shallows.questions.charts.penalty.equal_biased import PLAIN, equal_pairs
from shallows.questions.charts.penalty.equal_weights import equal_weights
from shallows.questions.charts.penalty.loss import PenalisedLoss, without_penalty
from shallows.questions.charts.penalty.spectral import spectral_stratum
from shallows.questions.charts.penalty.stratum import penalised_stratum
from shallows.questions.charts.penalty.students import (
    Group,
    PenalisedEquations,
    fixed_strata,
    trained_strata,
    zero_diagonal,
)
from shallows.questions.charts.penalty.trained import NO_LIMITS, network_of, neurons_of, orthonormal_rows
from shallows.questions.charts.penalty.with_bias import biased_chart, plain_problem
from shallows.questions.charts.penalty.zero_weights import with_zero_weights, zero_weight_lines
from shallows.questions.charts.points.kinds import Levels, hessian_kind, kinds_of
from shallows.questions.charts.points.point import EXACT
from shallows.questions.charts.points.rows import FoundRow, in_order
from shallows.questions.charts.points.stratum import Part
from shallows.questions.charts.result import Chart
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown, status_line

COUNTED = "not known beforehand; all strata of so many neurons"
#: How equal weights are found under rotation-invariant data.
ONE_EQUATION = "all roots of one equation in that weight for each choice of eigenvectors"


def penalised_chart(
    problem: Problem,
    charted: Callable[[Problem], Chart],
    certify: bool,
    seed: int,
    progress: bool,
    method: str,
) -> Chart:
    """All critical pairs of a quadratic problem with an orthogonality penalty, read as networks.

    `charted` makes charts without penalty.
    """
    if problem.bias:
        return _with_bias(problem, charted, certify, seed, progress)
    if method not in ("auto", "homotopy") and (problem.outer is not None or problem.width > 1):
        raise InvalidProblem(
            "With an orthogonality penalty and outer weights that differ or are trained, critical points are those of "
            f'pairs (Wᵀdiag(a)W, WᵀW), which go by homotopy only; method is {method!r}. Fix: method="auto".'
        )
    loss = PenalisedLoss.of(problem)
    if problem.outer is None:
        found = _trained(loss, charted(without_penalty(problem)), certify, seed, progress)
    else:
        found = _fixed(loss, certify, seed, progress)
    return _chart(loss, found, method)


def _with_bias(
    problem: Problem, charted: Callable[[Problem], Chart], certify: bool, seed: int, progress: bool
) -> Chart:
    if problem.outer is not None:
        _require_one_sign(problem)
        loss = PenalisedLoss.of(problem)
        return _chart(loss, _fixed(loss, certify, seed, progress), "homotopy")
    bare = without_penalty(problem)
    equal = equal_pairs(problem, certify, seed, progress)
    return biased_chart(problem, plain_problem(bare), charted(bare), equal)


def _require_one_sign(problem: Problem) -> None:
    """Refuse, with biases, weights of both signs, and so many neurons that constants stand beside others."""
    assert problem.outer is not None
    a, n = problem.outer[0], problem.n
    if not (np.all(a > 0) or np.all(a < 0)):
        raise InvalidProblem(
            "Biases, a penalty and fixed outer weights that differ: loss and penalty see pairs of matrices "
            "(Σ aᵢ(bᵢ, wᵢ)(bᵢ, wᵢ)ᵀ, WᵀW) of two sizes, and weights of opposite signs have limits, such as two neurons "
            "a = 1, −1 with w = 0 and biases that grow alike: their pair is zero at any size, unseen by the penalty. "
            'Fix: outer="free", weights of one sign, bias=False, or method="descent" (sampled).'
        )
    if problem.width > n:
        raise InvalidProblem(
            "Biases, a penalty and fixed outer weights that differ: a neuron with w = 0 asks for a slope E whose first "
            f"row is zero, {n + 1} conditions, and then the {problem.width - 1} others have one condition less each "
            f"than weights, so that such networks are a set of dimension {problem.width - 1 - n} beside those of the "
            f'equations. Fix: a width up to {n}, outer="free", equal weights, bias=False, or method="descent".'
        )


def _fixed(loss: PenalisedLoss, certify: bool, seed: int, progress: bool) -> Gathered:
    problem, found = loss.problem, Gathered()
    assert problem.outer is not None
    strata = [
        PenalisedEquations.of(loss.n, groups, int(problem.bias))
        for groups in fixed_strata(loss.n, problem.outer[0])
    ]
    for equations in strata:
        _require_isolated(loss, equations)
    nothing = np.zeros(len(loss.target))
    norm = loss.norm(nothing)
    zero = _made(problem, np.zeros((problem.width, loss.n)), norm)
    seen = (int(problem.norm_neuron), 0, 0)
    found.rows.append(FoundRow(nothing, zero, 0, seen, certificate=EXACT))
    found.count(0, 1, "the zero network", expected=1)
    for equations in strata:
        with status_line(f"{equations!r}", progress) as tell:
            stratum = _stratum(loss, equations, certify, seed, tell)
        _add(found, equations, stratum, _rows(loss, equations, stratum))
    return found


def _trained(loss: PenalisedLoss, plain: Chart, certify: bool, seed: int, progress: bool) -> Gathered:
    problem, found = loss.problem, Gathered()
    found.rows += orthonormal_rows(loss, plain)
    for r, count in plain.complex_count.items():
        found.count(r, count, plain.expected_source[r], plain.expected_count[r])
    lines = zero_weight_lines(loss, plain.complex_count.get(problem.n - 2, 0), found.rows)
    if lines:
        rank, known = problem.n - 1, plain.expected_count.get(problem.n - 1)
        found.count(
            rank,
            lines,
            f"{plain.expected_source.get(rank, COUNTED)}; two with a weight 0 for each of rank {rank - 1}",
            None if known is None else known + lines,
        )
    found.say(plain.notes, plain.completeness)
    slope = PLAIN * float(np.abs(loss.gram @ loss.target).max())
    for groups in trained_strata(problem.n, problem.width):
        equations = PenalisedEquations.of(problem.n, groups)
        if loss.isotropic and sum(group.size > 1 for group in groups) == 1:
            rows, count = equal_weights(loss, groups[0].size, len(groups) - 1, certify)
            stratum = Part[Seen]([], count, [f"{_shown(groups)}: {ONE_EQUATION}"], "count-matched")
        else:
            with status_line(f"{equations!r}", progress) as tell:
                stratum = _stratum(loss, equations, certify, seed, tell)
            rows = _rows(loss, equations, stratum)
        new = [row for row in rows if np.abs(neurons_of(row) @ loss.slope(row.entries)).max() > slope]
        _add(found, equations, stratum, new)
    found.rows += [new for row in list(found.rows) for new in with_zero_weights(loss, row, certify)]
    found.notes.append(NO_LIMITS)
    return found


def _add(found: Gathered, equations: PenalisedEquations, stratum: Part[Seen], rows: list[FoundRow]) -> None:
    found.rows += rows
    found.count(sum(group.size for group in equations.groups), stratum.count, COUNTED)
    found.say(stratum.notes, stratum.completeness)


def _shown(groups: tuple[Group, ...]) -> str:
    used, equal = sum(group.size for group in groups), groups[0].size
    return f"rank {used}, {equal} outer weights equal"


def _stratum(
    loss: PenalisedLoss, equations: PenalisedEquations, certify: bool, seed: int, tell: Shown
) -> Part[Seen]:
    few = sum(group.size for group in equations.groups) < loss.n
    few = few and all(group.weight != 0.0 for group in equations.groups)
    made = spectral_stratum if loss.isotropic and few else penalised_stratum
    return made(loss, equations, certify, seed, tell)


def _require_isolated(loss: PenalisedLoss, equations: PenalisedEquations) -> None:
    """Refuse so many neurons that infinitely many networks have one pair, up to the norm neuron's (‖x‖², 0)."""
    problem, used = loss.problem, sum(group.size for group in equations.groups)
    which, pair = f"{counted(used, 'neuron')} in {counted(problem.n, 'input')}", "pair (Wᵀdiag(a)W, WᵀW)"
    if not problem.norm_neuron:
        return refuse_moving(equations, which, pair)
    q = identity(loss.size, int(problem.bias))
    free = np.concatenate([q, np.zeros(len(loss.target) - loss.size)])
    return refuse_moving(equations, f"{which} beside a norm neuron", pair, ", up to ‖x‖² in the first", free)


def _rows(loss: PenalisedLoss, equations: PenalisedEquations, stratum: Part[Seen]) -> list[FoundRow]:
    """A stratum's points and families; trained groups are saddles (`trained`), the rest is for the Hessian to tell."""
    kind = "saddle" if loss.problem.outer is None else ""
    norm, rows = int(loss.problem.norm_neuron), []
    for point, family in stratum.found:
        net = _network(loss, point, equations)
        rank = int(np.any(net.neurons != 0, axis=1).sum())
        positive, zero, negative = point.signature
        dimension = 0 if family is None else family.dimension
        about = (
            None if family is None else (family.description, tuple(_tensor(loss, s) for s in family.samples))
        )
        seen = (positive + norm, zero, negative)
        rows.append(FoundRow(point.entries, net, rank, seen, kind, point.certificate, dimension, about))
    return rows


def _network(loss: PenalisedLoss, point: NeuronPoint, equations: PenalisedEquations) -> Network:
    """The network of a pair: neurons of equal trained weight are rotated until each weight is critical."""
    problem = loss.problem
    own, rows = equations.network(point.W[0])
    if problem.outer is not None:
        W, start = np.zeros((problem.width, loss.n)), 0
        for group in equations.groups:
            places = np.flatnonzero(problem.outer[0] == group.weight)[: group.size]
            W[places] = rows[start : start + group.size]
            start += group.size
        return _made(problem, W, loss.norm(point.entries))
    start = 0
    for group in equations.groups:
        members = slice(start, start + group.size)
        rows[members] = zero_diagonal(rows[members], loss.slope(point.entries))
        start += group.size
    return network_of(loss, own, rows)


def _made(problem: Problem, V: NDArray[np.float64], norm: float) -> Network:
    """The network of fixed weights with these neurons, (b, w) with a bias."""
    assert problem.outer is not None
    W, bias = (V[:, 1:], V[:, 0]) if problem.bias else (V, None)
    return Network(W, problem.outer[0], problem.activation, norm, bias)


def _tensor(loss: PenalisedLoss, pair: NDArray[np.float64]) -> SymmetricTensor:
    """s and the norm neuron's part."""
    own = identity(loss.size, int(loss.problem.bias))
    return SymmetricTensor(pair[: loss.size] + loss.norm(pair) * own, loss.n, 2)


def _judged(loss: PenalisedLoss, row: FoundRow) -> str:
    """Fixed weights, by the Hessian in all of them: only rotations of equal neurons are flat for sure."""
    net, flat = row.network, row.dimension
    for weight in np.unique(net.a):
        rows = net.neurons[net.a == weight]
        m, p = len(rows), int(np.any(rows != 0, axis=1).sum())
        flat += m * (m - 1) // 2 - (m - p) * (m - p - 1) // 2
    return hessian_kind(loss.problem.hessian(net), turns=flat)


def _chart(loss: PenalisedLoss, found: Gathered, method: str) -> Chart:
    problem, rows = loss.problem, found.rows
    completeness = weakest(found.levels)
    excess = loss.excess(np.array([row.entries for row in rows]))
    closed = problem.outer is not None and completeness != "sampled"
    levels, judge = Levels(excess, loss.energy), partial(_judged, loss)
    kind = kinds_of(levels, rows, judge, closed, among=("local minimum",))
    floor = loss.plain.floor if problem.bias else problem.floor
    tensors = [_tensor(loss, row.entries) for row in rows]
    rows = [
        replace(row, family=(row.family[0], row.family[1] or (tensor,))) if row.family else row
        for row, tensor in zip(rows, tensors, strict=True)
    ]
    return chart_of_rows(
        problem,
        in_order(rows, excess, floor, kind, tensors),
        found.counts,
        completeness=completeness,
        method=method if method == "exact" else "homotopy",
        notes=found.notes,
    )
