"""A ReLU teacher in its smallest form: what one student neuron sees of it, in coordinates of its span.

With σ(z) = (z + |z|)/2 and neurons on one line taken together,

    y(x) = g·x + Σ_ℓ β_ℓ |v_ℓ·x|,        g = ½ Σⱼ bⱼvⱼ,        β_ℓ = ½ Σ_{j on line ℓ} bⱼ|λⱼ|,   vⱼ = λⱼ v_ℓ,

and these functions are linearly independent: y vanishes only where g and all β do. Lines, ranks and zeros are decided
over Q, from the numbers as they are stored, with the inner product vᵀΣv′ of the data; coordinates in an orthonormal
frame of the span of g and the v_ℓ are balls.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

from shallows.mathematics.balls.rounding import longest
from shallows.mathematics.balls.systems import precision, rational
from shallows.mathematics.exact import linear_algebra
from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.questions.charts.exclusion.span import Frame, Rows, exact_rows, product
from shallows.support.checks import Array

#: Bits of the balls: their radii are far below a double's rounding.
BITS = 256


@dataclass(frozen=True, eq=False)
class ReLUTarget:
    """A teacher under N(0, Σ), as y = g·x + Σ β|v·x| in an orthonormal frame of its span; in units of 2^`exponent`.

    `weights` are β_ℓ‖v_ℓ‖, `lines` the unit vectors v_ℓ/‖v_ℓ‖ (balls, one row a line), `linear` is g. `frame` takes
    coordinates to weights: w = frameᵀ u has wᵀΣw = ‖u‖². Its last row, if there is room, is orthogonal to the span.
    `ratio` is g·v/(β v·v) where there is one line: at rank one all is decided by it.
    """

    rank: int
    dimension: int
    exponent: int
    weights: list[Any]
    lines: list[list[Any]]
    linear: list[Any]
    frame: list[list[Any]]
    ratio: Fraction | None

    @classmethod
    def of(cls, V: Array, b: Array, covariance: Array) -> ReLUTarget:
        """From neurons V, outer weights b and the covariance Σ of the data."""
        metric = exact_rows(covariance)
        vectors, betas, gammas = _lines(exact_rows(V), b, metric)
        linear = [
            sum((c * v[i] for c, v in zip(gammas, vectors, strict=True)), Fraction(0))
            for i in range(V.shape[1])
        ]
        kept = [(v, beta) for v, beta in zip(vectors, betas, strict=True) if beta]
        ratio = None
        if len(kept) == 1:
            v, beta = kept[0]
            ratio = product(linear, v, metric) / (product(v, v, metric) * beta)
        dimension = int(linear_algebra.matrix(metric).rank())
        with precision(BITS):
            return cls._embedded(
                [v for v, _ in kept], [beta for _, beta in kept], linear, metric, dimension, ratio
            )

    @classmethod
    def _embedded(
        cls,
        vectors: Rows,
        betas: list[Fraction],
        linear: list[Fraction],
        metric: Rows,
        dimension: int,
        ratio: Any,
    ) -> ReLUTarget:
        frame, rank = Frame.spanning([*vectors, linear], metric, dimension)
        lengths = [arb(rational(product(v, v, metric))).sqrt() for v in vectors]
        lines = [
            [x / size for x in frame.coordinates(v)[:rank]] for v, size in zip(vectors, lengths, strict=True)
        ]
        weights = [arb(rational(beta)) * size for beta, size in zip(betas, lengths, strict=True)]
        g = frame.coordinates(linear)[:rank]
        sizes = [float(abs(w).log().mid()) for w in weights] + [
            float(x.abs_upper().log().mid()) for x in g if not x.is_zero()
        ]
        exponent = round(max(sizes) / np.log(2)) if sizes else 0
        unit = arb(2) ** -exponent
        return cls(
            rank,
            dimension,
            exponent,
            [w * unit for w in weights],
            lines,
            [x * unit for x in g],
            frame.rows,
            ratio,
        )

    @cached_property
    def intervals(self) -> tuple[Intervals, Intervals, Intervals]:
        """Weights (L,), lines (L, m) and g (m,) as intervals of doubles."""
        L, m = len(self.weights), self.rank
        lines = np.array(self.lines, dtype=object).reshape(L, m)
        return (
            of_arb(np.array(self.weights, dtype=object)),
            of_arb(lines),
            of_arb(np.array(self.linear, dtype=object)),
        )

    @cached_property
    def energy(self) -> Any:
        """E y² in units of 4^`exponent`: ‖g‖² + (2/π) Σ ωω′(sin θ + arcsin(cos θ) cos θ)."""
        with precision(BITS):
            total = sum((x * x for x in self.linear), arb(0))
            for i, (w, e) in enumerate(zip(self.weights, self.lines, strict=True)):
                total = total + w * w
                for w2, e2 in zip(self.weights[:i], self.lines[:i], strict=True):
                    c = sum((x * y for x, y in zip(e, e2, strict=True)), arb(0))
                    total = total + 4 / arb.pi() * w * w2 * ((1 - c * c).sqrt() + c.asin() * c)
            return total

    def weight_vector(self, u: list[Any]) -> list[Any]:
        """frameᵀu: the weights of a neuron with these coordinates (balls)."""
        with precision(BITS):
            columns = range(len(self.frame[0])) if self.frame else range(0)
            return [sum((x * row[i] for x, row in zip(u, self.frame, strict=False)), arb(0)) for i in columns]


def _lines(V: Rows, b: Array, metric: Rows) -> tuple[Rows, list[Fraction], list[Fraction]]:
    """One vector a line, with β and γ: the line's neurons add up to γ v·x + β|v·x|."""
    vectors: Rows = []
    betas: list[Fraction] = []
    gammas: list[Fraction] = []
    for v, weight in zip(V, b, strict=True):
        size = product(v, v, metric)
        if not size:
            continue
        half = Fraction(float(weight)) / 2
        for i, other in enumerate(vectors):
            inner, square = product(v, other, metric), product(other, other, metric)
            if inner * inner == size * square:
                gammas[i] += half * inner / square
                betas[i] += half * abs(inner / square)
                break
        else:
            vectors.append(v)
            betas.append(half)
            gammas.append(half)
    return vectors, betas, gammas


def spread(values: list[Any], near: Array) -> float:
    """An upper bound on the distance of balls from doubles."""
    return longest([x - arb(float(y)) for x, y in zip(values, near, strict=True)])
