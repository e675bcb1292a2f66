"""The constant of neurons that all have one sign: it has that sign too, and so the functions have a boundary.

With κ ≠ 0 a network is Σ aᵢα(w·x + bᵢ)² + κΣ aᵢ. Where its squares need all neurons and are definite, all aᵢ have one
sign, and the constant is κΣ aᵢ on one side of 0 (side = sign κ/α for positive squares). On the other side is no network
of this width; at 0 itself are limits, w → ∞ and a → 0. The loss on that boundary is that of squares alone, and a
critical point of it is a local minimum among all functions if it is one on the boundary and the loss grows inwards.

A matrix of one rank less leaves one neuron, for its constant or for a further square. If the constant is on the wrong
side, squares of the same sign cannot be added; if others do not help either, the point is a minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from shallows.mathematics.tensors.coordinates import slope_matrices
from shallows.model.problem import Problem
from shallows.questions.charts.points.stratum import POINT_ERROR, RealPoint
from shallows.questions.charts.quadratics.rows import Row, realised
from shallows.questions.charts.quadratics.students import QuadraticStudents
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Constants below this share of what they are the difference of are taken for zero: points are known to ten digits.
NO_CONSTANT = 1e-9
#: What a family of limits is called.
FAMILY = "limits without a constant: a family of squares"
#: What a chart says of points on the wrong side.
BEYOND = "have a constant that no outer weights of their sign give: no networks"


def side(students: QuadraticStudents, row: Row) -> int:
    """1 where the constant is on the side that neurons of one sign give, −1 on the other, 0 at the boundary; 1 for
    squares of both signs."""
    if not row.sign:
        return 1
    gap = float(row.entries[0]) - row.constant
    size = abs(row.entries[0]) + abs(row.constant) + abs(students.best_constant[1])
    if abs(gap) <= NO_CONSTANT * size:
        return 0
    return int(np.sign(gap * row.sign * float(students.own) * students.square))


def within(students: QuadraticStudents, problem: Problem, rows: list[Row]) -> tuple[list[Row], int]:
    """The rows on the right side, limits and blocked minima marked; and how many are beyond."""
    kept, beyond = [], 0
    for row in rows:
        place = side(students, row)
        if row.rank == students.problem.width and place < 1:
            beyond += place < 0
            kept += [replace(row, limit=True)] if place == 0 else []
        elif row.rank == students.problem.width - 1 and row.rank and place < 0:
            kept.append(_blocked(problem, row))
        else:
            kept.append(row)
    return kept, beyond


def _blocked(problem: Problem, row: Row) -> Row:
    """A point to which only squares of the other sign can be added.

    Where the loss has a slope in ℓ, ∓(εu + e₁/ε)² of that sign makes it fall, whatever its square does.
    """
    linear = problem.n == row.vectors.shape[1]
    vectors = np.roll(row.vectors, -1, axis=1) if linear else row.vectors[:, 1:]
    entries = RealPoint(vectors, row.signs, row.signature).entries(problem.n, 2)
    slope = 2 * (entries - problem.target_tensor().entries) @ problem.gram()
    tolerance = POINT_ERROR * float(np.abs(2 * problem.gram() @ problem.target_tensor().entries).max())
    E = slope_matrices(slope, problem.n)
    if np.abs(slope).max() <= tolerance or (linear and np.abs(E[-1]).max() > tolerance):
        return row  # the target itself, or a saddle
    inputs = problem.n - linear
    across = np.linalg.qr(vectors[:, :inputs].T, mode="complete")[0][:, row.rank :]
    values = np.linalg.eigvalsh(across.T @ E[:inputs, :inputs] @ across) * row.sign
    most = float(values.max(initial=-np.inf))
    if most > tolerance:
        return row
    kind = kind_of(row.signature, row.dimension, 1.0 if most < -tolerance else 0.0)
    return replace(row, kind=kind, escape=None)


def kind_of(signature: tuple[int, int, int], dimension: int, inward: float) -> str:
    """The kind from a signature and the sign of the slope into the functions; 0 is open."""
    if signature[2] or inward < 0:
        return "saddle"
    return "degenerate" if signature[1] > dimension or not inward else "local minimum"


def boundary(students: QuadraticStudents, charted: Callable[[Problem], Chart]) -> tuple[list[Row], Chart]:
    """Limits without a constant: critical squares of one sign that take all neurons; and the chart they are from."""
    width = students.problem.width
    chart = charted(students.squares())
    rows = []
    for point in chart.critical:
        net = point.network
        used = net.a != 0
        signs = np.sign(net.a[used])
        if point.rank != width or abs(signs.sum()) != width:
            continue
        V = net.W[used] * np.sqrt(np.abs(net.a[used]))[:, None]
        V = V if students.linear else np.concatenate([np.zeros((width, 1)), V], axis=1)
        entries = _entries(students, V, signs)
        gap = (students.space.gram @ (entries - students.space.target))[0]
        inward = float(gap * signs[0] * np.sign(float(students.own) * students.square))
        if abs(inward) <= NO_CONSTANT * float(np.abs(students.space.right).max() + TINY):
            continue  # the loss is critical for functions with a constant too: listed among those
        kind = kind_of(point.signature, point.dimension, np.sign(inward))
        made = realised(students, V, signs, float(entries[0]))[0]
        proof, dimension = point.certificate, point.dimension
        about = (FAMILY, (students.space.tensor(entries),)) if dimension else None
        seen = point.signature
        rows.append(
            Row(entries, made, width, seen, kind, proof, dimension, about, True, vectors=V, signs=signs)
        )
    return rows, chart


def _entries(students: QuadraticStudents, V: Array, signs: Array) -> Array:
    """(c, ℓ, Q) of Σ signs vvᵀ."""
    M = (V.T * signs) @ V
    n = students.problem.n
    parts = [M[:1, 0], 2 * M[0, 1:], M[1:, 1:][np.triu_indices(n)]]
    return np.concatenate([parts[j] for j in students.space.degrees])
