"""Networks that fit all samples and generalise badly (paper 001, Theorems 2.6(b), 2.9(b) and Corollary 2.7).

Below n* = d(d+1)/2 samples there is a symmetric M ≠ 0 with xᵢᵀMxᵢ = 0 for all i. With ‖M‖₂ = 1 and δ = σ_min(W*)²,
WᵀW = W*ᵀW* + δM is positive semidefinite: the network W has the teacher's outputs on all samples and, for
x ~ N(0, I), L(W) = δ²(2‖M‖² + (tr M)²) ≥ 2σ_min⁴. Positive outer weights a are absorbed as √aⱼ wⱼ (Corollary 2.7,
which needs W* of rank d too).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.questions.quadratic.sample_span import Span, spans_symmetric
from shallows.support.checks import Array, finite_array
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True, eq=False)
class BadInterpolator:
    """A network that agrees with the teacher on all samples (paper 001, Theorem 2.9(b)).

    `population_loss` is its E(f − y)² under N(0, I), at least `bound` = 2σ_min⁴; `largest_residual` the largest
    |f(xᵢ) − yᵢ| that rounding leaves; `direction` the matrix M.

    >>> teacher, X = sh.Network(np.eye(2)), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> bad = sh.quadratic.bad_interpolator(teacher, X)
    >>> f"{bad.population_loss:.6f} ≥ {bad.bound:.6f}", bad.largest_residual < 1e-12
    ('4.000000 ≥ 2.000000', True)
    >>> f"{abs(bad.network([[1.0, 1.0]]) - teacher([[1.0, 1.0]]))[0]:.6f}"   # wrong where it was not asked
    '2.000000'
    """

    network: Network
    population_loss: float
    bound: float
    largest_residual: float
    direction: Array
    span: Span

    def __repr__(self) -> str:
        return (
            f"BadInterpolator(generalisation error {self.population_loss:.6g} ≥ 2σ⁴ = {self.bound:.6g}, samples "
            f"fitted to {self.largest_residual:.2g}, {self.span!r})"
        )


def bad_interpolator(teacher: Network, X: ArrayLike) -> BadInterpolator:
    """A network that fits all samples and generalises badly (paper 001, Theorem 2.9(b) made explicit).

    With xᵢᵀMxᵢ = 0 for all samples, ‖M‖₂ = 1 and `δ = σ_min(W*)²`, `WᵀW = W*ᵀW* + δM` fits them and has the loss
    δ²(2‖M‖² + (tr M)²); of the missing directions ±M the one with the largest loss is taken. Refused when the samples
    span all symmetric matrices: then every interpolator equals the teacher (Theorem 2.9(a)).

    >>> teacher, X = sh.Network(np.eye(2)), np.array([[1.0, 0.0], [0.0, 1.0]])   # 2 of the n* = 3 samples
    >>> bad = sh.quadratic.bad_interpolator(teacher, X)
    >>> bad.network(X).round(6).tolist(), f"{bad.population_loss:.6f}"   # M = ±[[0, 1], [1, 0]], δ = 1: 2‖M‖² = 4
    ([1.0, 1.0], '4.000000')
    """
    V = _absorbed(teacher)
    points = finite_array("X", X, 2)
    if points.shape[1] != teacher.n:
        raise InvalidProblem(
            f"The samples have {points.shape[1]} inputs and the teacher {teacher.n}; they must agree."
        )
    span = spans_symmetric(X)
    if span:
        raise InvalidProblem(
            f"{span!r}: the samples determine the network, every interpolator equals the teacher (Theorem 2.9a). There "
            f"are bad ones below {span.needed} samples."
        )
    U, sigma, R = np.linalg.svd(V, full_matrices=False)
    delta = float(sigma[-1]) ** 2
    M = _worst(span.directions)
    network = _network(teacher, U @ R, V.T @ V + delta * M)
    residual = network(points) - teacher(points)
    loss = delta**2 * _gaussian_loss(M)
    return BadInterpolator(network, loss, 2 * delta**2, float(np.max(np.abs(residual))), M, span)


def _absorbed(teacher: Network) -> Array:
    """The rows √aⱼ wⱼ; refused unless the weights are positive and the rank is d."""
    if not isinstance(teacher, Network) or teacher.activation != Power(2) or teacher.a.ndim != 1:
        raise InvalidProblem(f"teacher is {teacher!r}; expected a quadratic Network with one output.")
    if np.any(teacher.a <= 0) or np.any(teacher.norm):
        raise InvalidProblem("The outer weights must be positive (Corollary 2.7) and the norm neuron absent.")
    V = np.sqrt(teacher.a)[:, None] * teacher.W
    rank = int(np.linalg.matrix_rank(V))
    if rank < teacher.n:
        raise InvalidProblem(f"The teacher has rank {rank}; Theorem 2.9(b) needs rank d = {teacher.n}.")
    return V


def _gaussian_loss(M: Array) -> float:
    """E(xᵀMx)² = 2‖M‖² + (tr M)² for x ~ N(0, I)."""
    return 2 * float(np.sum(M**2)) + float(np.trace(M)) ** 2


def _worst(directions: Array) -> Array:
    """Of the basis directions, scaled to ‖M‖₂ = 1, the one with the largest loss, its extreme eigenvalue positive."""
    scaled = []
    for M in directions:
        values = np.linalg.eigvalsh(M)
        extreme = values[np.argmax(np.abs(values))]
        scaled.append(M / extreme)
    return max(scaled, key=_gaussian_loss)


def _network(teacher: Network, frame: Array, gram: Array) -> Network:
    """W = frame · gram^(1/2) with the teacher's outer weights taken out again; frameᵀframe = I."""
    values, vectors = np.linalg.eigh(gram)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return Network((frame @ root) / np.sqrt(teacher.a)[:, None], teacher.a)
