"""A problem of neurons in coordinates where its critical points are of comparable size: the member to be solved.

Without bias w = λBw′, B whitening the inputs; the coefficients c_j of the activation go into the metric, so that all
activations with the same powers are members of one family. With a bias the inputs are centred too, and the activation
moved and scaled to p̂(z′) = z′^d + 0·z′^(d−1) + …, largest coefficient one: (b, w) = (λb′ − h − w·μ, λBw′).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.polynomial import Polynomial as Series

from shallows.mathematics.tensors import coordinates
from shallows.model.activations import polynomial_of
from shallows.model.data.base import Distribution
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.polynomial_target import degree_table
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balanced_coordinates import power_action
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.rotation_invariant import (
    rotation_invariant_basis,
    rotation_invariant_weights,
)
from shallows.questions.charts.neurons.metrics import RotationInvariantMetrics
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.checks import Array
from shallows.support.tolerances import SQRT_EPSILON, TINY

#: Coefficients of the moved activation below this share of the largest are rounding of the shift.
NO_COEFFICIENT = 1e-13


@dataclass(frozen=True, eq=False)
class BalancedNeurons:
    """The wanted member, its neurons, and the way back: w = frame w′, b = stretch b′ − shift − w·mean, a = unit a′."""

    neuron: Neuron
    member: Member
    special: RotationInvariantMetrics | None
    frame: Array
    stretch: float
    shift: float
    mean: Array
    unit: float
    bias: bool

    @classmethod
    def of(
        cls, problem: Problem, space: PolynomialSpace, weight: float = 1.0, rights: Array | None = None
    ) -> BalancedNeurons:
        """`weight` is the fixed outer weight of the first neuron, which goes into the metric; 1 where a is trained.

        `rights` are the b of several outputs, one a row, in place of the space's own.
        """
        made = (_with_bias if problem.bias else _without_bias)(problem, space, weight)
        neuron, T, frame, stretch, shift, mean = made
        gram, g = T.T @ space.gram @ T, ((space.right if rights is None else rights) @ T).ravel()
        gram = (gram + gram.T) / 2
        scale = float(np.abs(gram).max())
        size = (float(np.abs(g).max()) or scale) if problem.outer is None else scale
        special = None
        if is_invariant(problem, space.degree):
            special = invariant_metrics(gram / scale, space.degrees, space.n)
        if special is None:
            member = Member.of(gram / scale, g / size)
        else:
            u = rotation_invariant_weights(gram / scale, space.degrees, space.n)
            member = Member(special, u, g / size)
        return cls(neuron, member, special, frame, stretch, shift, mean, size / scale, problem.bias)

    def restored(self, A: Complex, W: Complex) -> tuple[Complex, Complex]:
        """Outer weights (…, r, M) and neurons (…, r, n) in the problem's coordinates, (b, w) with a bias."""
        if not self.bias:
            return A * self.unit, W @ self.frame.T
        w = W[..., 1:] @ self.frame.T
        b = W[..., :1] * self.stretch - self.shift - w @ self.mean[:, None]
        return A * self.unit, np.concatenate([b, w], axis=-1)


_Parts = tuple[Neuron, Array, Array, float, float, Array]


def second_moments(problem: Problem) -> tuple[Array, Array]:
    """E x and E xxᵀ."""
    assert isinstance(problem.data, Distribution)
    return problem.data.moments(1), problem.data.cross_gram(1, 1)


def whitening(matrix: Array) -> Array:
    """B with BᵀMB = I; directions without spread keep their size."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors / np.sqrt(np.where(values > TINY, values, 1.0)))


def _without_bias(problem: Problem, space: PolynomialSpace, weight: float) -> _Parts:
    B = whitening(second_moments(problem)[1])
    c = polynomial_of(problem.activation).coefficients[space.at]
    T = weight * c[:, None] * blocks_of_degrees(B, space.degrees)
    stretch = _stretch(problem, space, T)
    frame = stretch * B
    neuron = Neuron.of_degrees(space.degrees, problem.n)
    return neuron, T * stretch**space.at, frame, stretch, 0.0, np.zeros(problem.n)


def blocks_of_degrees(B: Array, degrees: tuple[int, ...]) -> Array:
    """How w ↦ Bw acts on the monomials of these degrees."""
    sizes = [coordinates.dimension(len(B), j) for j in degrees]
    result = np.zeros((sum(sizes), sum(sizes)))
    place = 0
    for j, size in zip(degrees, sizes, strict=True):
        block = power_action(B, j) if j else np.ones((1, 1))
        result[place : place + size, place : place + size] = block
        place += size
    return result


def _stretch(problem: Problem, space: PolynomialSpace, T: Array) -> float:
    """λ: with a trained, the blocks of the metric are of one size; with a fixed, the target's parts at most one."""
    if problem.outer is not None:
        parts = np.abs(np.linalg.lstsq(T, space.target)[0])
        sizes = [float(parts[space.at == j].max()) ** (1 / j) for j in space.degrees if j]
        return max(sizes) or 1.0
    diagonal = np.diag(T.T @ space.gram @ T)
    logs = np.array([np.log(diagonal[space.at == j].mean()) for j in space.degrees])
    degrees = np.array(space.degrees, float)
    slope = np.polyfit(degrees, logs, 1)[0] if len(degrees) > 1 else 0.0
    return float(np.exp(-slope / 2))


def _with_bias(problem: Problem, space: PolynomialSpace, weight: float) -> _Parts:
    n, d, c = problem.n, space.degree, polynomial_of(problem.activation).coefficients
    at = degree_table(n, d)
    seen = np.isin(at, space.degrees)  # all, or all but constants
    mean, square = second_moments(problem)
    B = whitening(square - np.outer(mean, mean))
    shift = float(c[-2] / (d * c[-1])) if d > 1 else 0.0
    moved = np.asarray(Series(c)(Series([-shift, 1.0])).coef, np.float64)
    moved[-2] = 0.0 if d > 1 else moved[-2]
    moved[0] = moved[0] if 0 in space.degrees else 0.0
    moved[np.abs(moved) < NO_COEFFICIENT * np.abs(c).max()] = 0.0
    ratios = np.abs(moved[:-1] / moved[-1]) ** (1 / np.arange(d, 0, -1))
    stretch = float(ratios.max()) or 1.0
    leading = moved[-1] * stretch**d
    monic = moved * stretch ** np.arange(d + 1) / leading
    M = np.eye(n + 1)
    M[1:, 1:], M[1:, 0] = B.T, -B.T @ mean
    binomials = np.array([float(comb(d, i)) for i in at])
    T = weight * leading * binomials[:, None] * power_action(M.T, d) / binomials
    neuron = affine_neuron(monic, n, not seen.all())
    return neuron, T[np.ix_(seen, seen)], stretch * B, stretch, shift, mean


def affine_neuron(coefficients: Array, n: int, modulo_constants: bool) -> Neuron:
    """p(b + w·x), or what it is modulo constants."""
    if not modulo_constants:
        return Neuron.affine(coefficients.tolist(), n)
    return Neuron.affine([0.0, *coefficients[1:].tolist()], n).without_constant()


def is_invariant(problem: Problem, degree: int) -> bool:
    """Whether rotations of whitened inputs, with a bias of centred ones, leave all moments of neurons of this degree
    alone; one input has no rotations."""
    data = problem.data
    invariant = all(data.rotation_invariance(j) is not None for j in range(1, degree + 1))
    return problem.n > 1 and (invariant or (problem.bias and data.as_gaussian() is not None))


def invariant_metrics(gram: Array, degrees: tuple[int, ...], n: int) -> RotationInvariantMetrics | None:
    """The kind of a metric with entries up to one, where it is one of polynomials of these degrees."""
    u = rotation_invariant_weights(gram, degrees, n)
    basis = rotation_invariant_basis(degrees, n)
    near = np.abs(np.einsum("p,pij->ij", u, basis) - gram).max() <= SQRT_EPSILON
    return RotationInvariantMetrics(degrees, n) if near else None
