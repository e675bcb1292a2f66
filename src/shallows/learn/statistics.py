"""Sufficient statistics of least squares on polynomial features: additive, so data may come in pieces.

The loss Σ w (y − aᵀψ(z))² of a polynomial network sees the data only through G = Σ w ψψᵀ, b = Σ w yψ and Σ w y²
(paper 002, equation 2.5), whose size does not depend on the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows import coordinates
from shallows._checks import Array
from shallows.errors import InvalidProblem
from shallows.learn.frame import Frame, chunks, features

LARGEST = 8000


@dataclass(frozen=True, eq=False)
class Statistics:
    """G, b, Σ w y² (one a output) of samples seen in a frame; `a + b` are the statistics of both data sets together."""

    frame: Frame
    degree: int
    gram: Array
    moment: Array
    energy: Array
    weight: float
    count: int

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
        gram, moment = self.gram.copy(), self.moment.copy()
        for rows in chunks(len(X), len(gram), 1 << 21):
            root = np.sqrt(weights[rows])
            block = features(self.frame.apply(X[rows]), self.degree) * root[:, None]
            gram += block.T @ block
            moment += block.T @ (root[:, None] * Y[rows])
        return Statistics(
            self.frame,
            self.degree,
            gram,
            moment,
            self.energy + weights @ Y**2,
            self.weight + float(weights.sum()),
            self.count + len(X),
        )

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
        return Statistics(
            self.frame,
            self.degree,
            self.gram + other.gram,
            self.moment + other.moment,
            self.energy + other.energy,
            self.weight + other.weight,
            self.count + other.count,
        )

    def __repr__(self) -> str:
        return f"Statistics({self.count:,} samples, degree {self.degree}, {len(self.gram):,} features)"
