"""The loss over whole segments: a polynomial of degree 2d, bounded by its coefficients in Bernstein's basis.

On w_j(t) = (1−t)w_j + t w_j′ the loss is p(t), of degree m = 2d. Written Σ b_k C(m,k) t^k (1−t)^(m−k), it lies between
the least and the largest b_k on all of [0, 1]: these are its values at t = k/m times a fixed matrix of rationals.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.linear_algebra import matrix
from shallows.questions.connections.neuron_loss import NeuronLoss, Neurons
from shallows.support.checks import Array


@lru_cache(maxsize=16)
def to_bernstein(degree: int) -> tuple[tuple[Fraction, ...], ...]:
    """The matrix from values at k/m to Bernstein coefficients, exactly: the inverse of C(m,k) t^k (1−t)^(m−k)."""
    basis = [
        [comb(degree, k) * Fraction(j, degree) ** k * (1 - Fraction(j, degree)) ** (degree - k)
         for k in range(degree + 1)]
        for j in range(degree + 1)
    ]  # fmt: skip
    inverse = matrix(basis).inv()
    size = degree + 1
    return tuple(
        tuple(Fraction(int(inverse[i, j].p), int(inverse[i, j].q)) for j in range(size)) for i in range(size)
    )


@lru_cache(maxsize=16)
def _rounded(degree: int) -> Array:
    return np.array([[float(x) for x in row] for row in to_bernstein(degree)])


def places(degree: int) -> NDArray[np.float64]:
    """t = 0, 1/m, …, 1."""
    return np.asarray(np.arange(degree + 1) / degree)


def coefficients(loss: NeuronLoss, begin: Neurons, end: Neurons) -> Array:
    """The Bernstein coefficients of the loss on the segment, in doubles; the largest bounds it from above."""
    degree = 2 * loss.degree
    t = places(degree)[:, None, None]
    values = loss.values((1 - t) * begin.vectors + t * end.vectors, begin.signs)
    return np.asarray(_rounded(degree) @ values)
