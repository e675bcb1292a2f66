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
from itertools import combinations, product

import numpy as np

from shallows.mathematics.signature import signature
from shallows.model.problem import Problem
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import CriticalFamily, CriticalPoint
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.quadratics.across import ACROSS, across, beside
from shallows.questions.charts.quadratics.rows import Row, full_entries, realised
from shallows.questions.charts.quadratics.students import QuadraticStudents
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array

#: Where between two members of a family others are looked at, to see whether a sign changes on it.
SHARES = tuple((np.arange(12) + 0.5) / 12)
#: What a chart says where a family of Q meets the condition on ℓ here and there.
PART_OF_A_FAMILY = (
    "a part of a family of squares is critical beside a linear neuron: not all of that part is listed"
)


def linear_rows(
    students: QuadraticStudents, ranks: list[int], charted: Callable[[Problem], Chart]
) -> tuple[list[Row], str, list[str]]:
    """The critical functions with a linear neuron of these ranks, how complete their list is, and what is said of it.

    Where only a part of a family of Q meets the condition the samples that do are listed, and the list is "sampled".
    """
    squares, best, slope = students.without_linear(max(max(ranks) - 1, 1))
    chart = charted(squares)
    rows, completeness, notes = list[Row](), chart.completeness, list[str]()
    for point in chart.critical:
        if point.rank + 1 not in ranks:
            continue
        samples = point.samples if isinstance(point, CriticalFamily) else (point.tensor,)
        places = [(best - slope @ q.entries, q.to_matrix()) for q in samples]
        bends = [_bend(students, squares, point.rank + 1, *place) for place in places]
        found = [
            _row(students, squares, point.rank + 1, *place)
            for place, bend in zip(places, bends, strict=True)
            if bend == 0.0
        ]
        if len(found) == len(places):
            family = isinstance(point, CriticalFamily)
            rows.append(_moving(students, found[0], found, point) if family else found[0])
            continue
        bends += [
            _bend(students, squares, point.rank + 1, best - slope @ Q[np.triu_indices(len(Q))], Q)
            for Q in _between([Q for _, Q in places], point.rank, squares)
        ]
        if found or len({np.sign(bend) for bend in bends if bend is not None}) > 1:
            rows += found
            completeness = "sampled"
            notes.append(PART_OF_A_FAMILY)
    return rows, completeness, notes


def _between(family: list[Array], rank: int, squares: Problem) -> Iterator[Array]:
    """Other members of a family of matrices of a rank with the same loss: eigenvectors turned into one another's."""
    law = squares.data.rotation_invariance(2)
    if law is None or len(family) < 2 or not rank:
        return
    root = np.eye(len(family[0])) if law.covariance is None else np.linalg.cholesky(law.covariance).T
    bases, values = list[Array](), np.zeros(rank)
    for Q in family:
        spectrum, basis = np.linalg.eigh(root @ Q @ root.T)
        order = np.sort(np.argsort(-np.abs(spectrum))[:rank])
        values, bases = spectrum[order], [*bases, basis[:, order]]
    back, level = np.linalg.inv(root), _loss(squares, family[0])
    for (first, other), ends in product(combinations(bases, 2), product((1.0, -1.0), repeat=rank)):
        for share in SHARES:
            mixed = (1 - share) * first + share * other * np.array(ends)
            U, _, V = np.linalg.svd(mixed, full_matrices=False)
            Q = back @ (U @ V) @ np.diag(values) @ (U @ V).T @ back.T
            if abs(_loss(squares, Q) - level) <= ACROSS * max(abs(level), float(np.abs(Q).max()) ** 2):
                yield np.asarray((Q + Q.T) / 2)


def _loss(squares: Problem, Q: Array) -> float:
    """Qᵀ G Q − 2 bᵀQ."""
    q, gram = Q[np.triu_indices(len(Q))], squares.gram()
    return float(q @ gram @ q - 2 * q @ gram @ squares.target_tensor().entries)


def _bend(students: QuadraticStudents, squares: Problem, rank: int, linear: Array, Q: Array) -> float | None:
    """uᵀE_Q u, 0 where it vanishes; None where ℓ is in the range of Q."""
    found = across(students, squares, rank - 1, linear, Q)
    if found is None:
        return None
    return found.bend if abs(found.bend) > ACROSS * found.unit else 0.0


def _moving(students: QuadraticStudents, row: Row, found: Sequence[Row], point: CriticalPoint) -> Row:
    """A row that stands for a family, whose own directions are zeros of its signature."""
    assert isinstance(point, CriticalFamily)
    tensors = tuple(students.space.tensor(other.entries) for other in found)
    kind = "local minimum" if row.kind == "degenerate" and row.signature[1] == point.dimension else row.kind
    return replace(row, kind=kind, dimension=point.dimension, family=(point.description, tensors))


def _row(students: QuadraticStudents, squares: Problem, rank: int, linear: Array, Q: Array) -> Row:
    """The function ℓ + Q, critical, with ℓ outside the range of Q."""
    n = len(Q)
    found = across(students, squares, rank - 1, linear, Q)
    assert found is not None
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
    return Row(entries, made, rank, seen, kind, limit=not attained, vectors=vectors, signs=signs)


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
