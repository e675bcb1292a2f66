"""A teacher of smooth neurons under N(0, Σ), in coordinates of its span: equal neurons taken together, over Q."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from shallows.mathematics.balls.systems import precision
from shallows.mathematics.exact import linear_algebra
from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.questions.charts.exclusion.polynomial_form import enclosed
from shallows.questions.charts.exclusion.relu_target import BITS
from shallows.questions.charts.exclusion.span import Frame, Rows, exact_rows, product
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class SmoothTarget:
    """y = Σ bⱼ σ(vⱼ·x): `outer` (M,), `vectors` (M, m) in an orthonormal frame, `squares` their norms.

    `frame` takes coordinates to weights: w = frameᵀu has wᵀΣw = ‖u‖². Its last row, if there is room, is orthogonal to
    the span. `exact` are the outer weights as fractions, `images` the Σvⱼ `gram` the vᵢᵀΣvⱼ, `metric` is Σ.
    """

    rank: int
    dimension: int
    exact: list[Fraction]
    outer: Intervals
    vectors: Intervals
    squares: Intervals
    frame: list[list[Any]]
    images: Rows
    gram: Rows
    metric: Rows

    @classmethod
    def of(cls, V: Array, b: Array, covariance: Array, odd: bool, at_zero: bool) -> SmoothTarget:
        """From neurons V, outer weights b and the covariance Σ of the data; neurons at 0 matter if σ(0) does."""
        metric = exact_rows(covariance)
        rows, weights = _merged(exact_rows(V), [Fraction(float(x)) for x in b], metric, odd, at_zero)
        dimension = int(linear_algebra.matrix(metric).rank())
        with precision(BITS):
            frame, rank = Frame.spanning(rows, metric, dimension)
            coordinates = [[arb(0) + x for x in frame.coordinates(v)[:rank]] for v in rows]
        table = np.array(coordinates, dtype=object).reshape(len(rows), rank)
        gram = [[product(v, w, metric) for w in rows] for v in rows]
        squares = [enclosed(line[i]) for i, line in enumerate(gram)]
        outer = [enclosed(x) for x in weights]
        images = [
            [sum((s * x for s, x in zip(line, v, strict=True)), Fraction(0)) for line in metric] for v in rows
        ]
        return cls(
            rank,
            dimension,
            weights,
            _row(outer),
            of_arb(table),
            _row(squares),
            frame.rows,
            images,
            gram,
            metric,
        )

    @property
    def codimension(self) -> int:
        """Dimensions outside the span."""
        return self.dimension - self.rank

    @property
    def norms(self) -> list[Fraction]:
        """The vⱼᵀΣvⱼ."""
        return [line[i] for i, line in enumerate(self.gram)]

    @property
    def longest(self) -> float:
        """A bound on ‖vⱼ‖."""
        return float(self.squares.sqrt().hi.max(initial=0.0))

    def product(self, u: Intervals, j: int) -> Intervals:
        """u·vⱼ of the rows of u, in coordinates of the span."""
        total = Intervals.exact(np.zeros(len(u)))
        for k in range(self.rank):
            total = total + u[:, k] * self.vectors[j, k]
        return total

    def weight_vector(self, u: list[Any]) -> list[Any]:
        """frameᵀu, in balls."""
        with precision(BITS):
            columns = range(len(self.frame[0])) if self.frame else range(0)
            return [sum((x * row[i] for x, row in zip(u, self.frame, strict=False)), arb(0)) for i in columns]


def _row(parts: list[Intervals]) -> Intervals:
    return Intervals.stack(parts, axis=0) if parts else Intervals(np.zeros(0), np.zeros(0))


def _merged(
    V: Rows, b: list[Fraction], metric: Rows, odd: bool, at_zero: bool
) -> tuple[Rows, list[Fraction]]:
    """Neurons that are one function added up; for odd σ opposite ones, too."""
    rows: Rows = []
    weights: list[Fraction] = []
    for v, weight in zip(V, b, strict=True):
        if at_zero and not product(v, v, metric):
            continue
        for i, other in enumerate(rows):
            same = [x - y for x, y in zip(v, other, strict=True)]
            opposite = [x + y for x, y in zip(v, other, strict=True)]
            if not product(same, same, metric):
                weights[i] += weight
                break
            if odd and not product(opposite, opposite, metric):
                weights[i] -= weight
                break
        else:
            rows.append(v)
            weights.append(weight)
    kept = [i for i, weight in enumerate(weights) if weight]
    return [rows[i] for i in kept], [weights[i] for i in kept]
