"""Limits at which squares of one sign lose one: beyond them no network has the constant.

Where κ/α > 0, squares ±(w·x + b)² of one sign that take all r neurons have a constant of that sign besides. Let Q be
semidefinite, rank Q = r − 1, and ℓ outside its range. Near (ℓ, Q) are quadrics of rank (ℓ Q) = r: Q ± εuuᵀ, u the part
of ℓ across Q, whose square has the constant ±(uᵀℓ)²/4ε → ±∞, which the outer weights must take away. Squares of both
signs can, with a → ∞, w → 0 in one neuron and b → ∞ in the other; those of one sign cannot. So (ℓ, Q) is on a wall of
the functions, whatever the constant; no network of r neurons is there, and descent ends there with growing weights.

On the wall ℓ and the constant are free: Q is critical among matrices of rank r − 1 under the metric without them. The
wall is a minimum if Q is one and the loss grows for −uuᵀ (Q ≥ 0), into the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import CriticalFamily, CriticalPoint
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.quadratics.across import across, near_limit
from shallows.questions.charts.quadratics.bends import Bend, Bends
from shallows.questions.charts.quadratics.one_sided import kind_of
from shallows.questions.charts.quadratics.rows import Row, full_entries, realised, with_constant_error
from shallows.questions.charts.quadratics.students import BesideLinear, QuadraticStudents
from shallows.questions.charts.result import Chart


def have_walls(students: QuadraticStudents) -> bool:
    """Whether squares of one sign have a constant of that sign, and a linear part besides."""
    positive = float(students.own) * students.square > 0
    narrow = 2 <= students.problem.width <= students.problem.n
    return students.free_constant and students.linear and not students.even and positive and narrow


def wall_rows(students: QuadraticStudents, charted: Callable[[Problem], Chart]) -> tuple[list[Row], Chart]:
    """The critical limits on walls, and the chart of squares that they are from: "count-matched" at most where a slope
    across a wall is told from zero by doubles."""
    beside = students.without_linear(students.problem.width - 1)
    chart, bends = charted(beside.squares), Bends.of(beside)
    rows, levels = [], [chart.completeness]
    for point in chart.critical:
        signs = np.sign(point.network.a[point.network.a != 0])
        if point.rank != beside.squares.width or abs(signs.sum()) != point.rank:
            continue
        bend = bends.at(point)
        levels += ["count-matched"] * (bend is None) + ["sampled"] * (bend is Bend.PART)
        if bend is Bend.INSIDE or bend is Bend.ZERO:
            continue  # without a slope it is critical among all quadrics, and listed among those
        row = _row(students, beside, point, float(signs[0]), bend)
        rows += [] if row is None else [row]
    return rows, replace(chart, completeness=weakest(levels))


def _row(
    students: QuadraticStudents, beside: BesideLinear, point: CriticalPoint, sign: float, bend: Bend | None
) -> Row | None:
    """The limit ℓ + Q; None where, in doubles, ℓ is in the range of Q, or the loss has no slope across the wall."""
    n, rank, Q = students.problem.n, point.rank + 1, point.tensor.to_matrix()
    linear, lift = beside.linear(point.tensor.entries), beside.lift.astype(np.float64)
    known = bend is Bend.POSITIVE or bend is Bend.NEGATIVE
    found = across(students, beside.squares, rank - 1, linear, Q, outside=known)
    if found is None or (not known and abs(found.bend) <= POINT_ERROR * found.unit):
        return None
    slope = float(np.sign(found.bend)) if not known else 1.0 if bend is Bend.POSITIVE else -1.0
    inward = -sign * slope
    entries, constant = full_entries(students, found.rest)
    M = near_limit(linear, Q, found.u, -sign)
    vectors, signs = spectral_terms(M, rank)
    positive, zero, negative = point.signature
    proof = point.certificate
    if proof is not None:
        wider = proof.radius * (1.0 + float(np.abs(lift).sum(axis=1).max()))
        proof = with_constant_error(students, replace(proof, radius=wider))
    row = Row(
        entries,
        realised(students, vectors, signs, constant)[0],
        rank,
        (positive + n + 1, zero, negative),
        kind_of(point.signature, point.dimension, inward),
        proof,
        point.dimension,
        limit=True,
        vectors=vectors,
        signs=signs,
    )
    if not isinstance(point, CriticalFamily):
        return row
    others = [s.entries for s in point.samples]
    parts = [np.concatenate([linear + lift @ (point.tensor.entries - other), other]) for other in others]
    samples = tuple(students.space.tensor(full_entries(students, part)[0]) for part in parts)
    return replace(row, family=(point.description, samples))
