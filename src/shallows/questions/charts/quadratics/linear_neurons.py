"""Neurons that have become linear: a → ∞, w → 0, so that a square vanishes beside a linear part that stays.

Quadrics modulo constants with rank (ℓ Q) = j are a manifold. If rank Q = j − 1 and ℓ is outside its range they are no
networks of j neurons, but of j + 1. There ℓ can change in all directions, so a critical point has E_ℓ = 0, E the
slope of the loss; hence Q is critical among matrices of rank j − 1 under the metric with ℓ eliminated. One condition
more is uᵀE_Q u = 0 for the part u of ℓ across Q: generic data have no such points, Gaussian data with simple teachers
have. The square that vanishes may have either sign, so the constant is free.

With a spare neuron ℓ + Q is a network, with squares in the span of Q and u. It is a critical one where E_Q u = 0, and a
limit alone, a saddle, where only uᵀE_Q u is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from shallows.mathematics.signature import signature
from shallows.mathematics.tensors.coordinates import matrix_entries, slope_matrices, symmetric_matrices
from shallows.model.problem import Problem
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import CriticalFamily, CriticalPoint
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.quadratics.across import ACROSS, across, near_limit
from shallows.questions.charts.quadratics.bends import OF_SIGN, Bend, Bends
from shallows.questions.charts.quadratics.rows import Row, full_entries, realised
from shallows.questions.charts.quadratics.students import BesideLinear, QuadraticStudents
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array, counted

#: What a chart says where a family of Q meets the condition on ℓ here and there.
PART_OF_A_FAMILY = (
    "a part of a family of squares is critical beside a linear neuron: not all of that part is listed"
)
#: What it says where the condition on ℓ holds, or fails, in doubles only.
TO_ROUNDING = "beside a linear neuron: whether they are critical is told from doubles, which is no proof"


def linear_rows(
    students: QuadraticStudents, ranks: list[int], charted: Callable[[Problem], Chart]
) -> tuple[list[Row], str, list[str]]:
    """The critical functions with a linear neuron of these ranks, how complete their list is, and what is said of it.

    Where only a part of a family of Q meets the condition the samples that do are listed, and the list is "sampled".
    """
    beside = students.without_linear(max(max(ranks) - 1, 1))
    chart, bends = charted(beside.squares), Bends.of(beside)
    rows, levels, notes, open_ = list[Row](), [chart.completeness], list[str](), 0
    for point in chart.critical:
        if point.rank + 1 not in ranks:
            continue
        samples = point.samples if isinstance(point, CriticalFamily) else (point.tensor,)
        places = [(beside.linear(q.entries), q.to_matrix()) for q in samples]
        exact = bends.at(point)
        bend = bend_of([_bend(students, beside, point.rank, *place) for place in places])
        if exact is None:
            levels.append("count-matched")
            open_ += 1
        else:
            bend = exact
        if bend is Bend.ZERO:
            found = [_row(students, beside, point.rank + 1, *place) for place in places]
            row = _moving(students, found[0], found, point) if isinstance(point, CriticalFamily) else found[0]
            open_kind = exact is None and row.kind == "local minimum"
            rows.append(replace(row, kind="degenerate") if open_kind else row)
        elif bend is Bend.PART:
            zero = [place for place in places if _bend(students, beside, point.rank, *place) == 0.0]
            rows += [_row(students, beside, point.rank + 1, *place) for place in zero]
            levels.append("sampled")
            notes.append(PART_OF_A_FAMILY)
    notes += [f"{counted(open_, 'critical square')} {TO_ROUNDING}"] if open_ else []
    return rows, weakest(levels), notes


def bend_of(seen: list[float | None]) -> Bend:
    """What the bends at some places, as doubles show them, say of all."""
    signs = {int(np.sign(bend)) for bend in seen if bend is not None}
    if not signs:
        return Bend.INSIDE
    whole = len(signs) == 1 and (signs != {0} or None not in seen)
    return OF_SIGN[signs.pop()] if whole else Bend.PART


def _bend(
    students: QuadraticStudents, beside: BesideLinear, used: int, linear: Array, Q: Array
) -> float | None:
    """uᵀE_Q u as doubles show it, 0 where it vanishes; None where ℓ is in the range of Q."""
    found = across(students, beside.squares, used, linear, Q)
    if found is None:
        return None
    return found.bend if abs(found.bend) > ACROSS * found.unit else 0.0


def _moving(students: QuadraticStudents, row: Row, found: Sequence[Row], point: CriticalPoint) -> Row:
    """A row that stands for a family, whose own directions are zeros of its signature."""
    assert isinstance(point, CriticalFamily)
    tensors = tuple(students.space.tensor(other.entries) for other in found)
    kind = "local minimum" if row.kind == "degenerate" and row.signature[1] == point.dimension else row.kind
    return replace(row, kind=kind, dimension=point.dimension, family=(point.description, tensors))


def _row(students: QuadraticStudents, beside: BesideLinear, rank: int, linear: Array, Q: Array) -> Row:
    """The function ℓ + Q, critical, with ℓ outside the range of Q."""
    n = len(Q)
    found = across(students, beside.squares, rank - 1, linear, Q, outside=True)
    assert found is not None
    frame = np.column_stack([found.own, found.u])
    seen = _signature(found.gram, found.slope, frame, Q, linear)
    spare = rank < students.problem.width
    pull = slope_matrices(found.slope[n:], n) @ found.u
    attained = spare and float(np.abs(pull).max()) <= ACROSS * found.unit
    flat = float(np.abs(found.slope).max()) <= POINT_ERROR * found.unit
    if attained:
        M = np.zeros((n + 1, n + 1))
        M[0, 1:] = M[1:, 0] = linear / 2
        M[1:, 1:] = Q
    else:
        side = -1.0 if found.values.min(initial=0.0) >= 0.0 else 1.0  # squares of both signs
        M = near_limit(linear, Q, found.u, side)
    vectors, signs = spectral_terms(M, rank + attained)
    entries, constant = full_entries(students, found.rest)
    kind = "global minimum" if flat else "saddle" if spare or seen[2] else "local minimum"
    kind = "degenerate" if kind == "local minimum" and seen[1] else kind
    made = realised(students, vectors, signs, constant)[0]
    seen = (seen[0] + students.free_constant, *seen[1:])
    return Row(entries, made, rank, seen, kind, limit=not attained, vectors=vectors, signs=signs)


def _signature(gram: Array, slope: Array, frame: Array, Q: Array, linear: Array) -> tuple[int, int, int]:
    """That of the Hessian on the manifold (Uc, UAUᵀ), U = (frame + its complement · Z).

    Entries are cubic in (c, A, Z): the differences are derivatives exactly.
    """
    n, r = frame.shape
    complement = np.linalg.qr(frame, mode="complete")[0][:, r:]
    heads = r * (r + 1) // 2
    A, c = frame.T @ Q @ frame, frame.T @ linear

    def entries(x: Array) -> Array:
        parts = np.split(x, [r, r + heads])
        B = A + symmetric_matrices(parts[1])
        U = frame + complement @ parts[2].reshape(n - r, r)
        made = U @ B @ U.T
        return np.concatenate([U @ (c + parts[0]), matrix_entries(made)])

    size = r + heads + (n - r) * r
    steps = np.eye(size)
    J = np.array([(8 * (entries(e) - entries(-e)) - entries(2 * e) + entries(-2 * e)) / 12 for e in steps])
    curved = np.array(
        [
            [slope @ (entries(e + f) - entries(e - f) - entries(f - e) + entries(-e - f)) / 4 for f in steps]
            for e in steps
        ]
    )
    return signature(np.linalg.eigvalsh(J @ gram @ J.T + curved), POINT_ERROR)
