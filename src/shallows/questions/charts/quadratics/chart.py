"""Charts of two and more quadratic neurons: matrices in their stead, read as networks (`students`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.neurons.equivalent_power import AT_INFINITY
from shallows.questions.charts.neurons.idle import zero_network
from shallows.questions.charts.neurons.stratum import own_neuron
from shallows.questions.charts.points.kinds import Levels
from shallows.questions.charts.points.point import (
    EXACT,
    CriticalFamily,
    CriticalPoint,
)
from shallows.questions.charts.points.rows import About, attained, in_order, isolated, points_in_order
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.quadratics.linear_neurons import linear_rows
from shallows.questions.charts.quadratics.one_sided import BEYOND, boundary, within
from shallows.questions.charts.quadratics.rows import Row, full_entries, realised, with_constant_error
from shallows.questions.charts.quadratics.strata import modulo_chart
from shallows.questions.charts.quadratics.students import QuadraticStudents, tensor_order
from shallows.questions.charts.quadratics.walls import have_walls, wall_rows
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array, counted


def quadratics_chart(
    students: QuadraticStudents,
    charted: Callable[[Problem], Chart],
    certify: bool,
    seed: int,
    progress: bool,
    method: str,
) -> Chart:
    """All critical points; `charted` makes charts of matrices of bounded rank."""
    problem = students.problem
    if problem.outer is not None:
        inner = students.with_constant_fixed() if students.linear else students.matrices()
        chart = charted(inner)
        return _assembled(students, chart, [_fixed_row(students, point) for point in chart.critical], [])
    elsewhere: list[int] = []
    if students.linear and not students.even:
        inner = students.modulo_constants()
        chart, elsewhere = modulo_chart(students, inner, certify, seed, progress, method)
    else:
        inner = students.matrices()
        chart = charted(inner)
    rows, notes = [_row(students, point) for point in chart.critical], list[str]()
    if elsewhere:
        linear, level, said = linear_rows(students, elsewhere, charted)
        rows, notes = rows + linear, notes + said
        chart = replace(chart, completeness=weakest([chart.completeness, level]))
    if students.free_constant:
        chart = _with_zero_function(students, chart)
        rows += _zero_function(students)
        rows, beyond = within(students, inner, rows)
        notes += [f"rank {problem.width}: {counted(beyond, 'point')} {BEYOND}"] if beyond else []
        edges = [(boundary, "limits without a constant, from squares alone")] * (problem.width <= problem.n)
        edges += [(wall_rows, "limits of squares of one sign, one of which vanishes")] * have_walls(students)
        for made, words in edges:
            limits, squares = made(students, charted)
            rows += limits
            chart = replace(chart, completeness=weakest([chart.completeness, squares.completeness]))
            notes.append(f"{words} ({squares.completeness})")
    return _assembled(students, chart, rows, notes)


def _fixed_row(students: QuadraticStudents, point: CriticalPoint) -> Row:
    """A point of squares with fixed outer weights as one with their constant."""
    net, problem = point.network, students.problem
    assert problem.outer is not None
    bias = net.W[:, 0] - students.shift if students.linear else None
    W = net.W[:, 1:] if students.linear else net.W
    made = Network(W, problem.outer[0], problem.activation, bias=bias)

    def moved(entries: Array, constant: float) -> Array:
        scaled = entries * np.array([1.0, 2.0, 1.0])[students.space.at] if students.linear else entries
        if students.linear:
            return np.asarray(scaled + np.where(students.space.at == 0, constant, 0.0))
        return np.append(constant, scaled) if 0 in students.space.degrees else np.asarray(scaled)

    constant = float(students.fixed_constant)
    entries = moved(point.tensor.entries, constant)
    return Row(
        entries,
        made,
        point.rank,
        point.signature,
        point.kind,
        point.certificate,
        point.dimension,
        _family(students, point, lambda s: moved(s.entries, constant)),
        point.limit,
        None if point.escape is None else students.space.tensor(moved(point.escape.entries, 0.0)),
        vectors=np.zeros((0, problem.n + 1)),
        signs=np.zeros(0),
    )


def _row(students: QuadraticStudents, point: CriticalPoint) -> Row:
    """A matrix as a network with trained outer weights."""
    n, net = students.problem.n, point.network
    used = net.a != 0
    signs = np.sign(net.a[used])
    V = net.W[used] * np.sqrt(np.abs(net.a[used]))[:, None]
    quotient = students.linear and not students.even
    V = np.roll(V, 1, axis=1) if quotient else np.concatenate([np.zeros((len(V), 1)), V], axis=1)
    entries, constant = full_entries(students, _class_entries(students, point.tensor))
    made, far = (
        _realised(students, V, signs, constant, entries)
        if len(V)
        else (_without_squares(students, constant), False)
    )
    positive, zero, negative = point.signature
    positive += point.rank if students.even else 0
    proof = point.certificate
    proof = proof if proof is None or not quotient else replace(proof, radius=2 * proof.radius)
    escape = point.escape
    if escape is not None:
        rest = _class_entries(students, escape)
        whole = np.append(0.0, rest) if students.free_constant else rest
        escape = students.space.tensor(whole)
    return Row(
        entries,
        made,
        point.rank,
        (positive + students.free_constant, zero, negative),
        point.kind,
        with_constant_error(students, proof),
        point.dimension,
        _family(students, point, lambda s: full_entries(students, _class_entries(students, s))[0]),
        far,
        escape,
        vectors=V if len(V) else np.zeros((0, n + 1)),
        signs=signs,
    )


def _realised(
    students: QuadraticStudents, V: Array, signs: Array, constant: float, entries: Array
) -> tuple[Network, bool]:
    """The network of these squares. Without constants, squares without linear part are neurons at infinity; with one
    neuron more they are finite, Σ aw = 0, but such a network is critical only where the slope in ℓ is zero."""
    linear = np.abs(V[:, 0]) > AT_INFINITY * np.linalg.norm(V, axis=1)
    spare = not students.free_constant and len(V) < students.problem.width
    if not linear.any() and spare and _is_flat(students, entries):
        more = np.zeros((1, V.shape[1]))
        more[0, 0] = float(np.linalg.norm(V, axis=1).max())
        V, signs = np.concatenate([V, more]), np.append(signs, 1.0)
    return realised(students, V, signs, constant)


def _is_flat(students: QuadraticStudents, entries: Array) -> bool:
    """Whether the slope of the loss in the linear part is zero to what points are known to."""
    space = students.space
    slope = (space.gram @ entries - space.right)[space.at == 1]
    return float(np.abs(slope).max(initial=0.0)) <= POINT_ERROR * float(np.abs(space.right).max())


def _with_zero_function(students: QuadraticStudents, chart: Chart) -> Chart:
    """The zero function counted beside the best constant, which is the one of rank 0 already, where that is not 0."""
    if not students.space.right[0]:
        return chart
    return replace(
        chart,
        complex_count=chart.complex_count | {0: 2},
        expected_count=chart.expected_count | {0: 2},
        expected_source=chart.expected_source | {0: "the zero function and the best constant"},
    )


def _zero_function(students: QuadraticStudents) -> list[Row]:
    """a = 0 where all neurons have E[σ(w·x + b) y] = 0: a critical network, although a constant would be better."""
    problem, space = students.problem, students.space
    if not space.right[0]:
        return []  # the best constant is 0
    neuron = own_neuron(problem)
    net = zero_network(problem, neuron, space.right)
    if net is None:
        return []
    nothing, none = np.zeros(len(space.right)), np.zeros((0, problem.n + 1))
    return [Row(nothing, net, 0, (0, 0, 0), "saddle", EXACT, vectors=none, signs=np.zeros(0))]


def _without_squares(students: QuadraticStudents, constant: float) -> Network:
    """The zero function, or a constant: one neuron at the vertex of its parabola."""
    problem = students.problem
    a = np.zeros(problem.width)
    if students.free_constant:
        a[0] = constant / float(students.own)
    bias = np.full(problem.width, -students.shift) if problem.bias else None
    return Network(np.zeros((problem.width, problem.n)), a, problem.activation, bias=bias)


def _class_entries(students: QuadraticStudents, tensor: SymmetricTensor) -> Array:
    """(ℓ, Q), or Q, of a matrix."""
    if not students.linear:
        return tensor.entries
    if students.even:
        return np.concatenate([np.zeros(students.problem.n), tensor.entries])
    order, scales = tensor_order(students.problem.n)
    entries = np.empty(len(order))
    entries[order] = tensor.entries[:-1] * scales
    return entries


def _family(
    students: QuadraticStudents, point: CriticalPoint, entries: Callable[[SymmetricTensor], Array]
) -> About | None:
    if not isinstance(point, CriticalFamily):
        return None
    return point.description, tuple(students.space.tensor(entries(sample)) for sample in point.samples)


def _assembled(students: QuadraticStudents, chart: Chart, rows: list[Row], notes: list[str]) -> Chart:
    """The chart of these rows, sorted; the lowest minimum is global, since all limits are among them."""
    space = students.space
    excess = space.excess(np.array([row.entries for row in rows]))
    levels = Levels(excess, float(space.energy))
    kind = np.array([row.kind for row in rows], dtype="<U14")
    kind[(kind == "global minimum") & ~levels.same(0.0)] = "local minimum"
    lowest = levels.same(float(excess.min()))
    if chart.completeness != "sampled":
        kind[(kind == "local minimum") & lowest] = "global minimum"
    made = in_order(rows, excess, float(space.floor), kind, [space.tensor(row.entries) for row in rows])
    return replace(
        chart,
        critical=points_in_order(students.problem, made),
        real_count=isolated([row for row in made if not row.limit], chart.complex_count),
        notes=(*chart.notes, *notes),
        attained=attained(made),
        problem=students.problem,
    )
