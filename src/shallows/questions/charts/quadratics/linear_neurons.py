"""Neurons that have become linear: a → ∞, w → 0, so that a square vanishes beside a linear part that stays.

Quadrics modulo constants with rank (ℓ Q) = j are a manifold. If rank Q = j − 1 and ℓ is outside its range they are no
networks of j neurons, but of j + 1. There ℓ can change in all directions, so a critical point has E_ℓ = 0, E the
slope of the loss; hence Q is critical among matrices of rank j − 1 under the metric with ℓ eliminated. One condition
more is uᵀE_Q u = 0 for the part u of ℓ across Q: generic data have no such points, Gaussian data with simple teachers
have. The square that vanishes may have either sign, so the constant is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from shallows.mathematics.signature import signature
from shallows.model.problem import Problem
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import CriticalFamily
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.quadratics.across import ACROSS, across, beside
from shallows.questions.charts.quadratics.rows import Row, full_entries, realised
from shallows.questions.charts.quadratics.students import QuadraticStudents
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array


def linear_rows(
    students: QuadraticStudents, ranks: list[int], charted: Callable[[Problem], Chart]
) -> Iterator[Row]:
    """The critical functions with a linear neuron of these ranks."""
    squares, best, slope = students.without_linear(max(max(ranks) - 1, 1))
    chart = charted(squares)
    for point in chart.critical:
        if point.rank + 1 not in ranks:
            continue
        samples = point.samples if isinstance(point, CriticalFamily) else (point.tensor,)
        places = [(best - slope @ q.entries, q.to_matrix()) for q in samples]
        found = [_row(students, squares, point.rank + 1, *place) for place in places]
        first = found[0]
        if first is not None and all(row is not None for row in found):
            yield first if not isinstance(point, CriticalFamily) else _moving(students, first, found, point)


def _moving(students: QuadraticStudents, row: Row, found: Sequence[Row | None], point: CriticalFamily) -> Row:
    """A row that stands for a family, whose own directions are zeros of its signature."""
    tensors = tuple(students.space.tensor(other.entries) for other in found if other is not None)
    kind = "local minimum" if row.kind == "degenerate" and row.signature[1] == point.dimension else row.kind
    return replace(row, kind=kind, dimension=point.dimension, family=(point.description, tensors))


def _row(students: QuadraticStudents, squares: Problem, rank: int, linear: Array, Q: Array) -> Row | None:
    """The function ℓ + Q where it is critical and ℓ is outside the range of Q."""
    n = len(Q)
    found = across(students, squares, rank - 1, linear, Q)
    if found is None or abs(found.bend) > ACROSS * found.unit:
        return None
    frame = np.column_stack([found.own, found.u])
    seen = _signature(found.gram, found.slope, frame, Q, linear)
    attained = rank < students.problem.width
    flat = float(np.abs(found.slope).max()) <= POINT_ERROR * found.unit
    if attained:
        M = np.zeros((n + 1, n + 1))
        M[0, 1:] = M[1:, 0] = linear / 2
        M[1:, 1:] = Q
    else:
        side = -1.0 if found.values.min(initial=0.0) >= 0.0 else 1.0  # squares of both signs
        M = beside(linear, Q, found.u, side)
    vectors, signs = spectral_terms(M, rank + attained)
    entries, constant = full_entries(students, found.rest)
    kind = "global minimum" if flat else "saddle" if attained or seen[2] else "local minimum"
    kind = "degenerate" if kind == "local minimum" and seen[1] else kind
    made = realised(students, vectors, signs, constant)[0]
    seen = (seen[0] + students.free_constant, *seen[1:])
    return Row(entries, vectors, signs, rank, seen, kind, made, limit=not attained)


def _signature(gram: Array, slope: Array, frame: Array, Q: Array, linear: Array) -> tuple[int, int, int]:
    """That of the Hessian on the manifold (Uc, UAUᵀ), U = (frame + its complement · Z).

    Entries are cubic in (c, A, Z): the differences are derivatives exactly.
    """
    n, r = frame.shape
    complement = np.linalg.qr(frame, mode="complete")[0][:, r:]
    heads = np.triu_indices(r)
    A, c = frame.T @ Q @ frame, frame.T @ linear

    def entries(x: Array) -> Array:
        parts = np.split(x, [r, r + len(heads[0])])
        B = np.zeros((r, r))
        B[heads] = parts[1]
        B = A + B + np.triu(B, 1).T
        U = frame + complement @ parts[2].reshape(n - r, r)
        made = U @ B @ U.T
        return np.concatenate([U @ (c + parts[0]), made[np.triu_indices(n)]])

    size = r + len(heads[0]) + (n - r) * r
    steps = np.eye(size)
    J = np.array([(8 * (entries(e) - entries(-e)) - entries(2 * e) + entries(-2 * e)) / 12 for e in steps])
    curved = np.array(
        [
            [slope @ (entries(e + f) - entries(e - f) - entries(f - e) + entries(-e - f)) / 4 for f in steps]
            for e in steps
        ]
    )
    return signature(np.linalg.eigvalsh(J @ gram @ J.T + curved), POINT_ERROR)
