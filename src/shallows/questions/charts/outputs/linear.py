"""Linear networks, f(x) = AWx with M outputs: the classical landscape in closed form (Eckart, Young; Baldi, Hornik).

The loss of S = AW is tr (S − T)C(S − T)ᵀ + L*, C = E[xxᵀ]. With the eigenpairs σ², u of Q = TCTᵀ (singular values of
TC^½, left singular vectors), the critical points of rank r are, for each set I of r eigenvalues that are not zero,

    S_I = Σ_{i∈I} uᵢuᵢᵀ T,    loss L* + Σ_{j∉I} σ_j²,

with one negative direction for each pair i ∈ I, j ∉ I with σ_j > σᵢ: only the r largest are a minimum. Equal singular
values give families (products of Grassmannians). With fixed outer weights A the loss is convex in W, and its minimum
has S = AA⁺T.

One input is a linear network at every degree: a w^d is any number.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from shallows.mathematics.balls.eigenpairs import BITS, EigenEnclosure, enclose
from shallows.mathematics.balls.systems import precision
from shallows.mathematics.exact.linear_algebra import distinct_eigenvalues
from shallows.mathematics.exact.rational_arrays import fractions
from shallows.model.problem import Problem
from shallows.questions.charts.closed_form.rotation_invariant import LARGEST_CHART, NEARLY_EQUAL
from shallows.questions.charts.outputs.assembly import assembled
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.point import OutputPoint
from shallows.questions.charts.points.kinds import ROUNDINGS
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import Counts
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON

METHOD = "eigenvalue enclosures (Eckart and Young)"


@dataclass(frozen=True, eq=False)
class Triples:
    """T exactly and as doubles; eigenpairs of TCTᵀ, ascending, those that are exactly zero first.

    Equal eigenvalues have one label, `exact` when labels are those of exact arithmetic.
    """

    T: NDArray[Any]
    matrix: Array
    squares: Array
    vectors: Array
    zeros: int
    labels: NDArray[np.intp]
    exact: bool
    enclosure: EigenEnclosure | None

    @classmethod
    def of(cls, loss: OutputsLoss, certify: bool) -> Triples:
        """From the exact loss."""
        M, T = len(loss.right), loss.targets
        Q = loss.right @ T.T
        squares, vectors = np.linalg.eigh(Q.astype(float))
        zeros = M - loss.rank
        enclosure = enclose(Q, squares, vectors) if certify else None
        rounding = ROUNDINGS * M * EPSILON * float(np.abs(squares).max(initial=0.0))
        resolution = rounding if enclosure is None else max(rounding, enclosure.margin(squares))
        apart = np.diff(squares) > resolution
        apart[: max(zeros - 1, 0)] = False
        if 0 < zeros < M:
            apart[zeros - 1] = True
        labels = np.concatenate([[0], np.cumsum(apart)]).astype(np.intp)
        exact = distinct_eigenvalues(Q) == int(labels[-1]) + 1
        return cls(T, T.astype(float), squares, vectors, zeros, labels, exact, enclosure)

    def choices(self, rank: int) -> list[tuple[list[int], int]]:
        """Sets of eigenvalues that are not zero, q of m equal ones, with the dimensions Σ q(m − q) of their sets."""
        places = np.arange(self.zeros, len(self.squares))
        clusters = [places[self.labels[places] == label] for label in np.unique(self.labels[places])]
        found = []
        for counts in product(*(range(len(c) + 1) for c in clusters)):
            if sum(counts) == rank:
                chosen = [int(i) for c, q in zip(clusters, counts, strict=True) for i in c[:q]]
                found.append((chosen, sum(q * (len(c) - q) for c, q in zip(clusters, counts, strict=True))))
        return found

    def point(self, chosen: list[int], dimension: int) -> OutputPoint:
        """S_I with its signature on the matrices of its rank."""
        (M, n), r = self.matrix.shape, len(chosen)
        rest = np.setdiff1d(np.arange(M), chosen)
        above = self.labels[rest][None, :] > self.labels[chosen][:, None]
        index = int(above.sum())
        U = self.vectors[:, chosen]
        W = U.T @ self.matrix
        if n == 1:  # a · 1^d, whatever the degree
            U, W = U * W.T, np.ones_like(W)
        text = ""
        if dimension:
            values = ", ".join(f"{x:.6g}" for x in np.sqrt(np.maximum(self.squares[chosen], 0.0)))
            text = f"singular values {values} kept, of which some are repeated: a product of Grassmannians"
        return OutputPoint(
            U,
            W,
            (U @ W).ravel(),
            (r * (M + n - r) - index - dimension, dimension, index),
            self._certificate(chosen, dimension, U @ W),
            dimension,
            text,
        )

    def _certificate(self, chosen: list[int], dimension: int, made: Array) -> Certificate | None:
        """‖Σ ûûᵀT − S_I‖ ≤ Σ (2δ + 5 sin θᵢ)‖T‖, as in `EigenEnclosure.radius`; against `made` exactly."""
        if self.enclosure is None or (dimension and not self.exact):
            return None
        T, total = self.T, np.zeros(self.T.shape, dtype=object) + Fraction(0)
        for i in chosen:
            u = fractions(self.vectors[:, i])
            total = total + np.outer(u, u @ T) / (u @ u)
        gap = np.abs(fractions(made) - total).max()
        with precision(BITS):
            spread = arb(0)
            for i in chosen:
                alone = int(np.sum(self.labels == self.labels[i])) == 1
                spread += (0 if alone else 2 * self.enclosure.defect) + 5 * self.enclosure.angle(
                    i, self.squares, self.labels
                )
            size = arb(float(np.linalg.norm(self.matrix)) * (1 + ROUNDINGS * EPSILON))
            radius = float((spread * size).upper()) + (
                float(np.nextafter(float(gap), np.inf)) if gap else 0.0
            )
        return Certificate(radius, True, True, METHOD) if np.isfinite(radius) else None


def linear_chart(problem: Problem, certify: bool) -> Chart:
    """Every critical point of a linear network, at every width."""
    loss = OutputsLoss.of(problem)
    if problem.outer is not None:
        return _convex(problem, loss)
    triples = Triples.of(loss, certify)
    count = loss.rank
    top = min(problem.width, count)
    total = sum(comb(count, r) for r in range(top + 1))
    if total > LARGEST_CHART:
        raise InvalidProblem(
            f"There are {total:,} critical points of rank up to {top} with {count} singular values, more than the "
            f"limit of {LARGEST_CHART:,}. Use a smaller width."
        )
    found, counts = [], {}
    for rank in range(top + 1):
        choices = triples.choices(rank)
        found += [triples.point(*choice) for choice in choices]
        points = sum(not dimension for _, dimension in choices)
        counts[rank] = Counts(points, comb(count, rank), "C(rank T, r), Eckart and Young")
    notes = [] if triples.exact else [NEARLY_EQUAL.replace("eigenvalues", "singular values")]
    level = "proved" if triples.exact else "count-matched"
    return assembled(problem, loss, found, counts, level, notes, method="closed-form", closed=True)


def _convex(problem: Problem, loss: OutputsLoss) -> Chart:
    """Fixed outer weights: one critical function, the projection of T on what A reaches."""
    A = problem.outer
    assert A is not None
    W = np.linalg.pinv(A) @ problem._optimum[0]
    reach, rank = int(np.linalg.matrix_rank(A)), int(np.linalg.matrix_rank(A @ W))
    point = OutputPoint(A, W, (A @ W).ravel(), (reach * problem.n, 0, 0))
    counts = {rank: Counts(1, 1, "a convex problem in W")}
    return assembled(
        problem, loss, [point], counts, "proved", [], method="closed-form", closed=True, ranks=[rank]
    )
