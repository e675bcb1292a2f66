"""Explicit directions of negative curvature at stationary points of quadratic networks (paper 002, Lemmas C.4, C.9).

Three constructions, strongest claim first; each is checked by the exact second derivative ½dᵀ∇²L d:

1. v with QΛv = 0 and u with (uᵀRu)(vᵀΛv) > 0: moving Q along U = uvᵀ gives −2(uᵀRu)(vᵀΛv)  (equation C.19);
2. a neuron with aⱼ = 0 and Rwⱼ ≠ 0: moving wⱼ along Rwⱼ while aⱼ grows (the mixed derivative, beyond the paper);
3. the lowest eigenvector of the whole Hessian.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shallows.mathematics.numerical_rank import rank_of
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.checks import Array

#: Singular values of QΛ, and outer weights, below this share of the largest give candidates for null vectors; each
#: direction is then checked by its exact curvature, so that a generous number costs nothing but a try.
NULL = 1e-6


@dataclass(frozen=True, eq=False)
class Descent:
    """A direction in parameters, L(θ + t·direction) ≈ L + curvature·t² (curvature < 0), and where it comes from.

    Paper 002, Lemmas C.4 and C.9: with QΛv = 0 and (uᵀRu)(vᵀΛv) > 0, moving Q along uvᵀ has curvature −2(uᵀRu)(vᵀΛv).

    >>> problem = sh.Problem(np.eye(2), sh.Gaussian(2), width=2)
    >>> origin = sh.Network(np.zeros((2, 2)), a=[1.0, 1.0])
    >>> sh.quadratic.inspect(problem, origin).direction
    descends with curvature -8 by U = uvᵀ with QΛv = 0 (C.19)
    """

    direction: Array
    curvature: float
    reason: str

    def __repr__(self) -> str:
        return f"descends with curvature {self.curvature:.3g} by {self.reason}"


def descent_direction(problem: Problem, net: Network, R: Array, zero: float) -> Descent | None:
    """The first construction that gives a curvature below −`zero`, or None."""
    theta = problem.pack(net)
    for direction, reason in _candidates(problem, net, R):
        unit = direction / np.linalg.norm(direction)
        curvature = 0.5 * float(unit @ problem.hessian_product(theta, unit))
        if curvature < -zero:
            return Descent(unit, curvature, reason)
    return None


def _candidates(problem: Problem, net: Network, R: Array) -> Iterator[tuple[Array, str]]:
    if problem.outputs == 1:
        yield from _along_null_vectors(problem, net, R[0])
        if problem.outer is None:
            yield from _switching_on(problem, net, R[0])
    yield np.linalg.eigh(problem.hessian(net))[1][:, 0], "the Hessian's lowest eigenvector"


def _along_null_vectors(problem: Problem, net: Network, R: Array) -> Iterator[tuple[Array, str]]:
    """U = uvᵀ with QΛv = 0, for the extreme eigenvectors v of Λ on the null space and u of R."""
    _, values, rows = np.linalg.svd(net.W.T * net.a, full_matrices=True)
    rank = rank_of(values, NULL)
    null = rows[rank:].T
    if not null.shape[1]:
        return
    weights, mixing = np.linalg.eigh((null.T * net.a) @ null)
    sizes, vectors = np.linalg.eigh(R)
    for i, j in ((-1, -1), (0, 0)):
        if weights[i] * sizes[j] > 0:
            U = np.outer(null @ mixing[:, i], vectors[:, j])
            yield _join(problem, U, np.zeros(problem.width)), "U = uvᵀ with QΛv = 0 (C.19)"


def _switching_on(problem: Problem, net: Network, R: Array) -> Iterator[tuple[Array, str]]:
    """A neuron with aⱼ = 0: (daⱼ, dwⱼ) = (1, tRwⱼ) has curvature E(wⱼᵀXwⱼ)² − 4t‖Rwⱼ‖²."""
    size = float(np.max(np.abs(net.a), initial=0.0))
    for j in np.flatnonzero(np.abs(net.a) <= NULL * max(size, 1.0)):
        slope = R @ net.W[j]
        if not np.any(slope):
            continue
        outer, inner = np.zeros(problem.width), np.zeros_like(net.W)
        outer[j], inner[j] = 1.0, slope
        first = _join(problem, np.zeros_like(net.W), outer)
        quadratic = 0.5 * float(first @ problem.hessian_product(problem.pack(net), first))
        factor = max(1.0, quadratic) / float(slope @ slope)
        yield _join(problem, factor * inner, outer), f"switching on neuron {j}, aⱼ = 0 and Rwⱼ ≠ 0"


def _join(problem: Problem, inner: Array, outer: Array) -> Array:
    return problem.layout.join(inner, outer[None, :], np.zeros(problem.outputs))
