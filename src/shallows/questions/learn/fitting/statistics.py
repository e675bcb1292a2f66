"""Sufficient statistics of least squares on polynomial features: additive, so data may come in pieces.

The loss Σ w (y − aᵀψ(z))² of a polynomial network sees the data only through G = Σ w ψψᵀ, b = Σ w yψ and Σ w y²
(paper 002, equation 2.5), whose size does not depend on the number of samples.

Their rounding is bounded while they are gathered (`Rounding`), so that an optimum found from them alone can be proved.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from shallows.mathematics.balls.arrays import gamma, raised, raised_number
from shallows.mathematics.tensors import coordinates
from shallows.model.data.metric import Metric
from shallows.questions.learn.fitting.frame import Frame, chunks, features
from shallows.questions.learn.proofs.form import transformed
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON

#: Features of the largest Gram matrix: half a gigabyte.
LARGEST = 8000
#: Directions that the data leaves open get this share of the mean curvature, since a metric must be definite: the share
#: below which least squares calls them undetermined.
TIE_BREAK = 1e-10


@dataclass(frozen=True)
class Rounding:
    """Bounds on what rounding did to G (spectral norm), b (Frobenius norm), Σ w y² and Σ w."""

    gram: float = 0.0
    moment: float = 0.0
    energy: float = 0.0
    weight: float = 0.0

    def __add__(self, other: Rounding) -> Rounding:
        mine, others = astuple(self), astuple(other)
        return Rounding(*(raised_number(a + b) for a, b in zip(mine, others, strict=True)))


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sufficient statistics of least squares on polynomial features ψ: G = Σ w ψψᵀ, b = Σ w yψ and Σ w y².

    b and Σ w y² have one column an output. `a + b` are the statistics of both data sets together, so data may come in
    pieces (paper 002, equation 2.5).

    >>> X, ones = np.random.default_rng(0).standard_normal((100, 2)), np.ones(100)
    >>> y = (X[:, :1] + X[:, 1:]) ** 2
    >>> empty = sh.learn.Statistics.empty(sh.learn.Frame.identity(2, affine=False), degree=2, outputs=1)
    >>> both = empty.add(X[:60], y[:60], ones[:60]) + empty.add(X[60:], y[60:], ones[60:])
    >>> both
    Statistics(100 samples, degree 2, 3 features)
    >>> np.linalg.solve(both.gram, both.moment)[:, 0].round(6).tolist()   # of x₀², √2x₀x₁, x₁²
    [1.0, 1.414214, 1.0]
    """

    frame: Frame
    degree: int
    gram: Array
    moment: Array
    energy: Array
    weight: float
    count: int
    rounding: Rounding = Rounding()

    @classmethod
    def empty(cls, frame: Frame, degree: int, outputs: int) -> Statistics:
        """No samples yet."""
        size = coordinates.dimension(frame.size, degree)
        if size > LARGEST:
            raise InvalidProblem(
                f"Degree {degree} in {frame.size} homogenised inputs has {size:,} features, and their Gram matrix "
                f"{size:,}² entries; statistics are kept up to {LARGEST:,} features. Use fewer columns, or fit without "
                "streaming."
            )
        return cls(
            frame, degree, np.zeros((size, size)), np.zeros((size, outputs)), np.zeros(outputs), 0.0, 0
        )

    def add(self, X: Array, Y: Array, weights: Array) -> Statistics:
        """The statistics with these samples too; memory is bounded by a chunk of features."""
        result = self
        for rows in chunks(len(X), len(self.gram), 1 << 21):
            result = result + self._of_chunk(X[rows], Y[rows], weights[rows])
        return result

    def _of_chunk(self, X: Array, Y: Array, weights: Array) -> Statistics:
        """Statistics of a few samples: products of P = √w ψ and √w y."""
        Z, root = transformed(self.frame, X), np.sqrt(weights)
        block, labels = features(Z.mid, self.degree) * root[:, None], root[:, None] * Y
        moved = feature_movement(Z.mid, Z.rad, weights, self.degree)
        energy, total = np.asarray(weights @ Y**2), float(weights.sum())
        gram, moment = block.T @ block, block.T @ labels
        rounding = _product_rounding(block.shape, float(np.trace(gram)), float(energy.sum()), total, moved)
        return Statistics(self.frame, self.degree, gram, moment, energy, total, len(X), rounding)

    def __add__(self, other: Statistics) -> Statistics:
        if (
            self.degree != other.degree
            or self.frame.T.shape != other.frame.T.shape
            or not np.array_equal(self.frame.T, other.frame.T)
            or self.moment.shape != other.moment.shape
        ):
            raise InvalidProblem(
                f"{self!r} and {other!r} were gathered in different frames, degrees or outputs; statistics add up only "
                "in the same ones. Start both from the same Statistics.empty(frame, degree, outputs)."
            )
        gram, energy = self.gram + other.gram, self.energy + other.energy
        weight = self.weight + other.weight
        return Statistics(
            self.frame,
            self.degree,
            gram,
            self.moment + other.moment,
            energy,
            weight,
            self.count + other.count,
            self.rounding
            + other.rounding
            + _sum_rounding(float(np.trace(gram)), float(energy.sum()), weight),
        )

    def metric(self) -> Metric:
        """The metric that the samples induce on forms of this degree, definite whatever they leave open."""
        root = np.sqrt(coordinates.multiplicities(self.frame.size, self.degree))
        gram = self.gram / self.weight
        gram = gram + TIE_BREAK * float(np.trace(gram)) / len(gram) * np.eye(len(gram))
        return Metric(self.frame.size, self.degree, gram * np.outer(root, root))

    def __repr__(self) -> str:
        return f"Statistics({self.count:,} samples, degree {self.degree}, {len(self.gram):,} features)"


def feature_movement(Z: Array, radius: Array, weights: Array, degree: int) -> float:
    """A bound on √Σ w‖ψ̂ − ψ‖² for features computed at z′ within `radius` of Z and scaled by √w.

    With δ = ‖radius‖, ‖ẑ^{⊗d} − z^{⊗d}‖ ≤ dδ(‖ẑ‖ + δ)^{d−1}; products, √mult and √w round a feature at most d+4 times.
    """
    off = raised(np.linalg.norm(radius, axis=1), Z.shape[1] + 2)
    length = raised(np.linalg.norm(Z, axis=1), Z.shape[1] + 2) + off
    moved = degree * off * length ** (degree - 1) + gamma(degree + 4) * length**degree
    squares = float(weights @ raised(moved, 4 * degree + 8) ** 2)
    return raised_number(float(np.sqrt(squares)), len(Z) + 6)


def _product_rounding(
    shape: tuple[int, ...], trace: float, energy: float, weight: float, moved: float
) -> Rounding:
    """Rounding of PᵀP and Pᵀ(√w y): γ‖P‖²_F for the sums, 2‖P‖_F e + e² for features that moved by e."""
    rows, slack = shape[0], 4 * sum(shape) + 16
    size = raised_number(float(np.sqrt(raised_number(trace, slack))), 2) + moved
    labels = raised_number(float(np.sqrt(raised_number(energy, slack))), 2)
    gram = gamma(rows) * size**2 + 2 * size * moved
    moment = gamma(rows + 3) * size * labels + moved * labels
    return Rounding(
        raised_number(gram, 8),
        raised_number(moment, 8),
        raised_number(gamma(rows + 4) * energy, slack),
        raised_number(gamma(rows) * weight, slack),
    )


def _sum_rounding(trace: float, energy: float, weight: float) -> Rounding:
    """One more rounding, u, of each sum: ‖|G|‖ ≤ ‖P‖²_F = tr G, ‖|b|‖ ≤ √(tr G · Σ w y²), ε = 2u for their rounding."""
    mixed = float(np.sqrt(trace * energy))
    return Rounding(EPSILON * trace, EPSILON * mixed, EPSILON * energy, EPSILON * weight)
