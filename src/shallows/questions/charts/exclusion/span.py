"""An orthonormal frame of the span of vectors, under the inner product vᵀΣw of the data: decided over Q, in balls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb, fmpq, fmpq_mat

from shallows.mathematics.balls.systems import rational
from shallows.mathematics.exact import linear_algebra

Rows = list[list[Fraction]]


def exact_rows(matrix: Any) -> Rows:
    """Doubles as fractions."""
    return [[Fraction(float(x)) for x in row] for row in matrix]


def product(v: list[Fraction], w: list[Fraction], metric: Rows) -> Fraction:
    """vᵀΣw."""
    return sum(
        (
            x * sum((s * y for s, y in zip(row, w, strict=True) if y), Fraction(0))
            for x, row in zip(v, metric, strict=True)
            if x
        ),
        Fraction(0),
    )


class Frame:
    """Gram and Schmidt: over Q to decide what is new, in balls for the orthonormal vectors."""

    def __init__(self, metric: Rows) -> None:
        self.metric = metric
        self.exact: Rows = []
        self.rows: list[list[Any]] = []

    @classmethod
    def spanning(cls, vectors: Rows, metric: Rows, dimension: int) -> tuple[Frame, int]:
        """The frame of a span, longest vectors first, and its rank; then one vector across, if there is room."""
        frame = cls(metric)
        for vector in sorted(vectors, key=lambda v: -product(v, v, metric)):
            frame.add(vector)
        rank = len(frame.rows)
        axes = ([Fraction(int(i == j)) for j in range(len(metric))] for i in range(len(metric)))
        if dimension > rank:
            any(frame.add(axis) for axis in axes)
        return frame, rank

    def add(self, vector: list[Fraction]) -> bool:
        """Another vector of the frame, unless it lies in the span."""
        gram = [*self.exact, vector]
        table = [[linear_algebra.to_flint(product(v, w, self.metric)) for w in gram] for v in gram]
        if fmpq_mat(table).det() == fmpq(0):
            return False
        self.exact.append(vector)
        self.rows = self._orthonormal()
        return True

    def _orthonormal(self) -> list[list[Any]]:
        """q_i = (v_i − Σ ⟨q_j, v_i⟩ q_j)/‖…‖."""
        rows: list[list[Any]] = []
        for vector in self.exact:
            rest = [arb(rational(x)) for x in vector]
            for row in rows:
                along = self._inner(row, vector)
                rest = [x - along * y for x, y in zip(rest, row, strict=True)]
            square = self._inner(rest, vector)  # the rest is orthogonal to what was taken away
            rows.append([x / square.sqrt() for x in rest])
        return rows

    def _inner(self, row: list[Any], vector: list[Fraction]) -> Any:
        image = [sum((s * y for s, y in zip(line, vector, strict=True)), Fraction(0)) for line in self.metric]
        return sum((x * arb(rational(y)) for x, y in zip(row, image, strict=True) if y), arb(0))

    def coordinates(self, vector: list[Fraction]) -> list[Any]:
        """⟨q_i, v⟩."""
        return [self._inner(row, vector) for row in self.rows]
