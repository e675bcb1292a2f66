"""Coordinates in which a metric treats all directions alike, so that its critical points are of comparable size.

Neurons w = B w′ turn the metric G on Sym^d into PᵀGP, P the action of B on tensors. Inputs whose directions differ in
size put some critical points far out, where a path to them looks like one to infinity. B is chosen so that

    M_ij = Σ_K G(e_i e_K, e_j e_K) = E[x_i x_j ‖x‖^{2(d−1)}]   (K runs through the monomials of degree d − 1)

becomes a multiple of the identity: B → B M^{−1/2d} again and again (stretching a direction that dominates by c
multiplies M there by c^{2d}). For a centred Gaussian the result is isotropic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.members import Member
from shallows.questions.charts.continuation.special_data import SpecialData, moved_gaussian, special_data
from shallows.support.checks import Array

ROUNDS = 100
EVEN = 1.01


@dataclass(frozen=True)
class Balanced:
    """A problem's metric and target in coordinates w = unit^{1/d} · frame · w′, where G and Gt are of size one."""

    member: Member
    target: Array
    frame: Array
    unit: float
    degree: int

    @classmethod
    def of(cls, problem: Problem) -> Balanced:
        """In the coordinates of special data, where the data are special; otherwise in balanced ones."""
        special = special_data(problem.data, problem.degree)
        if special is not None:
            return cls._in(problem, special.frame, special)
        return cls._in(problem, balanced_frame(problem.gram(), problem.n, problem.degree))

    @classmethod
    def plain(cls, problem: Problem) -> Balanced:
        """In the problem's own coordinates, unless the data are a non-central Gaussian."""
        special = moved_gaussian(problem.data, problem.degree)
        return cls._in(problem, np.eye(problem.n) if special is None else special.frame, special)

    @classmethod
    def _in(cls, problem: Problem, frame: Array, special: SpecialData | None = None) -> Balanced:
        P = power_action(frame, problem.degree)
        gram = P.T @ problem.gram() @ P
        gram = (gram + gram.T) / 2
        target = np.linalg.solve(P, problem.target_tensor().entries)
        scale, size = float(np.abs(gram).max()), float(np.abs(gram @ target).max()) or 1.0
        g = gram @ target / size
        if special is None:
            member = Member.of(gram / scale, g)
        else:
            member = Member(special.metrics, special.parameters / scale, g)
        return cls(member, np.asarray(target * scale / size), frame, size / scale, problem.degree)

    @property
    def gram(self) -> Array:
        """G."""
        return self.member.gram

    def restored(self, points: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Neurons w′, all of a point in one row, in the problem's coordinates."""
        count, n = len(points), len(self.frame)
        W = points.reshape(count, points.shape[1] // n, n)
        return np.asarray((W @ self.frame.T).reshape(points.shape) * self.unit ** (1 / self.degree))


def balanced_frame(gram: Array, n: int, degree: int) -> Array:
    """B, n×n, for a positive definite Gram matrix on Sym^d(R^n)."""
    frame = np.eye(n)
    for _ in range(ROUNDS):
        P = power_action(frame, degree)
        values, vectors = np.linalg.eigh(_directions(P.T @ gram @ P, n, degree))
        values = values / values.mean()
        frame = frame @ (vectors * values ** (-0.5 / degree)) @ vectors.T
        if values[-1] <= EVEN * values[0]:
            break
    return frame


def power_action(B: Array, degree: int) -> Array:
    """P with (Bv)^⊗d = P v^⊗d in coordinates, for every v: row I expands the product of the forms (Bv)_i, i ∈ I."""
    n = len(B)
    P = np.array(B, dtype=np.float64)
    for k in range(2, degree + 1):
        index = coordinates.indices(n, k)
        first, rest = index[:, 0], coordinates.position(index[:, 1:], n)
        places = coordinates.product_table(n, 1, k - 1)
        raised = np.zeros((len(first), coordinates.dimension(n, k)))
        for x in range(n):
            np.add.at(raised.T, places[x], (B[first, x][:, None] * P[rest]).T)
        P = raised
    return P


def _directions(gram: Array, n: int, degree: int) -> Array:
    """M: the moments E[x^I x^J] = G_IJ / (multiplicities) summed over common monomials of degree d − 1."""
    weights = coordinates.multiplicities(n, degree)
    moments = gram / np.outer(weights, weights)
    places = coordinates.product_table(n, 1, degree - 1)
    counts = coordinates.multiplicities(n, degree - 1)
    return np.array([[(counts * moments[places[i], places[j]]).sum() for j in range(n)] for i in range(n)])
