"""The matrices K(δ) = T + δ eeᵀ on which everything under an axial metric depends, e the axis, in white coordinates.

The target N^½ T N^½ is split by exact rational arithmetic. The space that e spans under it is *active*: there it is a
Jacobi matrix J (Lanczos) whose first vector is e, so that the eigenvalues of K(δ) are simple for every real δ, rise
with it, and are interlaced by those of J without its first row. Across it δ changes nothing: these eigenvalues are
*passive*, some of them repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import acb, arb, fmpq_mat, fmpq_poly
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball, raised
from shallows.mathematics.balls.systems import BITS, precision
from shallows.mathematics.exact.linear_algebra import SIMPLE_DENOMINATOR, from_flint, kernel, to_flint
from shallows.mathematics.exact.rational_arrays import rational_array, rational_matrix
from shallows.questions.charts.closed_form.axial_metric import AxialMetric
from shallows.support.checks import Array

#: Eigenvectors that are further from orthonormal than this give no bounds; rounding is 10⁻¹² of it.
SKEW = 1e-3


@dataclass(frozen=True, eq=False)
class Passive:
    """An eigenvalue, in a ball, its orthonormal eigenvectors, white columns, and its irreducible polynomial."""

    ball: arb
    vectors: Array
    polynomial: fmpq_poly

    @property
    def value(self) -> float:
        """The eigenvalue."""
        return float(self.ball.mid())

    @property
    def size(self) -> int:
        """How often it is repeated."""
        return int(self.vectors.shape[1])

    @cached_property
    def rational(self) -> Fraction | None:
        """The eigenvalue itself, where it is a fraction."""
        if self.polynomial.degree() > 1:
            return None
        return from_flint(-self.polynomial[0] / self.polynomial[1])

    def turned(self, seed: int) -> Array:
        """Other orthonormal eigenvectors, at random; the same for a seed, and the first for seed 0."""
        if not seed:
            return self.vectors
        turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((self.size, self.size)))[0]
        return np.asarray(self.vectors @ turn)


@dataclass(frozen=True, eq=False)
class Pencil:
    """J by its diagonal and the squares beside it, exactly; the active vectors, and what is passive.

    `root` is R with N = RRᵀ: S = R⁻ᵀ S′ R⁻¹ for S′ in white coordinates. `whole` is tr T = tr NT.
    """

    diagonal: list[Fraction]
    squares: list[Fraction]
    active: Array
    passive: list[Passive]
    root: Array
    whole: Fraction

    @property
    def size(self) -> int:
        """The number of active eigenvalues."""
        return len(self.diagonal)

    @cached_property
    def polynomials(self) -> tuple[fmpq_poly, fmpq_poly]:
        """P = det(J − λ) and Q, the same without the first row: active eigenvalues are roots of P + δQ."""
        inner, outer = fmpq_poly([0]), fmpq_poly([1])
        squares = [*self.squares, Fraction(0)]
        for a, b in zip(reversed(self.diagonal), reversed(squares), strict=True):
            inner, outer = outer, fmpq_poly([to_flint(a), -1]) * outer - to_flint(b) * inner
        return outer, inner

    @cached_property
    def jacobi(self) -> Ball:
        """J, every rounding inside its radius."""
        m = self.size
        J = Ball.of_fractions([self.diagonal])
        squares = Ball.of_fractions([self.squares]) if self.squares else Ball.exact(np.zeros((1, 0)))
        beside = np.sqrt(squares.mid[0])
        mid = np.diag(J.mid[0]) + np.diag(beside, 1) + np.diag(beside, -1)
        # |√x − √y| ≤ |x − y|/√y, and one rounding of the root
        loose = raised(
            squares.rad[0] / np.maximum(beside, np.finfo(float).tiny) + Ball.rounded(beside, 1).rad, 3
        )
        rad = np.diag(J.rad[0]) + np.diag(loose, 1) + np.diag(loose, -1)
        return Ball(mid, rad) if m else Ball.exact(np.zeros((0, 0)))

    @cached_property
    def poles(self) -> Ball:
        """The eigenvalues of J without its first row and column: those of K(δ) as δ → ∞, but for one."""
        return eigenvalues(self.jacobi[1:, 1:][None])[0]

    def at(self, shifts: Array) -> Ball:
        """The eigenvalues of K(δ) at these δ, a row each, ascending."""
        J = self.jacobi
        first = np.zeros(J.mid.shape)
        first[0, 0] = 1.0
        moved = Ball(
            np.broadcast_to(J.mid, (len(shifts), *J.mid.shape)),
            np.broadcast_to(J.rad, (len(shifts), *J.mid.shape)),
        )
        return eigenvalues(moved + Ball.exact(shifts[:, None, None] * first))

    def eigenpairs(self, shift: float) -> tuple[Array, Array]:
        """Active eigenvalues at δ and their vectors, columns in white coordinates, in doubles."""
        K = self.jacobi.mid.copy()
        K[0, 0] += shift
        values, vectors = np.linalg.eigh(K)
        return values, np.asarray(self.active @ vectors)


def near_fraction(value: float) -> Fraction:
    """A simple fraction next to a number: a guess, to be verified."""
    return Fraction(value).limit_denominator(SIMPLE_DENOMINATOR)


def eigenvalues(matrices: Ball) -> Ball:
    """Bounds on the eigenvalues of symmetric matrices, ascending, a row a matrix.

    With QᵀKQ = D + E and QᵀQ = I + F they are off by at most (‖E‖ + |d|‖F‖)/(1 − ‖F‖) (Weyl, Ostrowski).
    """
    if not matrices.mid.shape[-1]:
        return Ball.exact(np.zeros(matrices.mid.shape[:2]))
    values, vectors = np.linalg.eigh(matrices.mid)
    Q, n = Ball.exact(vectors), values.shape[-1]
    turned = Q.swapaxes(1, 2) @ (matrices @ Q)
    D = np.zeros(turned.mid.shape)
    D[:, range(n), range(n)] = values
    error = _norms(turned - Ball.exact(D))
    defect = _norms(Q.swapaxes(1, 2) @ Q - Ball.exact(np.eye(n)))
    off = raised(
        (error[:, None] + np.abs(values) * defect[:, None]) / np.maximum(1 - defect[:, None] * 2, SKEW), 6
    )
    return Ball(values, np.where(defect[:, None] < SKEW, off, np.inf))


def _norms(matrices: Ball) -> Array:
    """Upper bounds on Frobenius norms."""
    size = matrices.mid.shape[-1] ** 2
    return raised(np.sqrt(raised(np.sum(matrices.size**2, axis=(1, 2)), size + 2)), 2)


def pencil_of(metric: AxialMetric, target: NDArray[Any]) -> Pencil | None:
    """The pencil of a target, a matrix of fractions; None where N is too thin for doubles."""
    chain, diagonal, squares, lengths = _lanczos(metric, target)
    try:
        root = np.asarray(np.linalg.cholesky(metric.second.astype(np.float64)))
    except np.linalg.LinAlgError:
        return None
    scaled = np.array([v.astype(np.float64) / np.sqrt(float(s)) for v, s in zip(chain, lengths, strict=True)])
    active = np.linalg.solve(root, scaled.T)
    whole = Fraction(np.sum(metric.second * target))
    return Pencil(diagonal, squares, active, _passive(metric, target, chain, root), root, whole)


def _lanczos(
    metric: AxialMetric, target: NDArray[Any]
) -> tuple[list[NDArray[Any]], list[Fraction], list[Fraction], list[Fraction]]:
    """Monic Lanczos vectors of v ↦ NTv from the axis, orthogonal under N⁻¹; α_k, β_k and squares of lengths."""
    L, inverse = rational_matrix(metric.second) * rational_matrix(target), rational_matrix(metric.inverse)
    v, before = rational_matrix(metric.axis[:, None]), None
    chain: list[fmpq_mat] = []
    diagonal: list[Fraction] = []
    squares: list[Fraction] = []
    lengths: list[Fraction] = []
    while any(x != 0 for x in v.entries()):
        length, moved = _product(v, inverse, v), L * v
        a = _product(v, inverse, moved) / length
        chain.append(v)
        diagonal.append(a)
        lengths.append(length)
        following = moved - v * to_flint(a)
        if before is not None:
            squares.append(length / lengths[-2])
            following = following - before * to_flint(squares[-1])
        v, before = following, v
    return [rational_array(w) for w in chain], diagonal, squares, lengths


def roots_of(polynomial: fmpq_poly) -> list[tuple[acb, int]]:
    """All complex roots, in balls, with their multiplicities."""
    found: Any = polynomial.complex_roots()
    return [(root, int(count)) for root, count in found]


def _product(left: fmpq_mat, inverse: fmpq_mat, right: fmpq_mat) -> Fraction:
    return from_flint((left.transpose() * inverse * right)[0, 0])


def _passive(
    metric: AxialMetric, target: NDArray[Any], chain: list[NDArray[Any]], root: Array
) -> list[Passive]:
    """Eigenvalues across the active space; how many are different, and how often each, is decided exactly."""
    rows = rational_matrix(np.array([v @ metric.inverse for v in chain]))
    basis = kernel(rows)
    if not basis:
        return []
    B = fmpq_mat([list(v) for v in basis]).transpose()  # columns
    inner = B.transpose() * rational_matrix(metric.inverse) * B
    form = B.transpose() * rational_matrix(target) * B
    polynomial = fmpq_poly(list(inner.solve(form).charpoly()))
    with precision(BITS):
        roots = [
            (root.real, int(count), factor)
            for factor, count in polynomial.factor()[1]
            for root, _ in roots_of(factor)
        ]
    white = np.linalg.solve(root, rational_array(B).reshape(metric.n, -1).astype(np.float64))
    frame = np.linalg.qr(white)[0]
    T = root.T @ target.astype(np.float64) @ root
    turn = np.linalg.eigh(frame.T @ T @ frame)[1]
    found, start = [], 0
    for place, count, factor in sorted(roots, key=lambda root: float(root[0].mid())):
        vectors = (frame @ turn)[:, start : start + count]
        found.append(Passive(place, vectors, factor))
        start += count
    return found
