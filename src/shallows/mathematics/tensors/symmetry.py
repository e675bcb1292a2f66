"""Symmetries that a metric and a target share: the Lie algebra, its orbits, and a real point on a complex orbit.

A matrix X acts on Sym^d(R^n) by the derivation X·w^⊗d = d (Xw) w^(d−1), a matrix D(X) on entries. The loss
(s − t)ᵀG(s − t) does not change along the flow exp(τX) exactly when

    D(X)ᵀG + G D(X) = 0   and   D(X) t = 0,

which is linear in X. These X form the Lie algebra h of the symmetries connected to the identity, a group that preserves
the inner product G, so it is compact. It maps networks to networks of the same width and critical points to critical
points: through a critical point s goes the family of critical points exp(h)·s, of dimension rank {D(X)s : X ∈ h}.

The equations have rational coefficients where G and t have (floats are rationals), so h has a rational basis and
"this is a symmetry" is decided exactly.

A homotopy ends at complex points of such a family. exp(h_C)·s contains real points exactly when its points of least
norm are real (Kempf and Ness 1979): with s = x + iy, the squared G-norm along exp(iτX) has derivative −4τ xᵀG D(X) y
and is geodesically convex, so Newton's method finds the least one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.linear_algebra import kernel, matrix
from shallows.mathematics.newton import shortened
from shallows.mathematics.semidefinite_root import semidefinite_root
from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON, TINY

Complex = NDArray[np.complex128]
#: Singular values of the linear system for X below this share of the largest may be rounding, which leaves about
#: n²·ε·cond(G). Paths cannot tell such an X from a symmetry either; `charts.shared_symmetry` decides whether it is one.
NEARLY_SINGULAR = 1e-9
#: The norm on a complex orbit is at its least when its slope is this small: Newton's method is quadratic, so the
#: next step would be of the size of rounding.
AT_LEAST = 1e-13
#: Newton steps towards the least norm; quadratic convergence needs few, far starts a dozen.
STEPS = 60
#: From how many turns the way from one tensor to another is looked for: orbits are compact, and few starts get stuck.
TURNS = 12
#: The longest step exp(iτX): e² apart in size, where the quadratic model is still of use.
LONGEST_STEP = 2.0


def exponential(matrix: NDArray[Any]) -> NDArray[Any]:
    """e^A of a square matrix; SciPy's linear algebra is loaded when it is first asked for."""
    from scipy.linalg import expm

    return np.asarray(expm(matrix))


@lru_cache(maxsize=32)
def _generators(n: int, degree: int) -> Array:
    """D(E_ab) for the n² matrices with one entry 1, shape (n², N, N): T_I ↦ Σ_slots [i_slot = a] T_(I with b there)."""
    table = coordinates.indices(n, degree)
    size = len(table)
    result = np.zeros((n * n, size, size))
    for slot in range(degree):
        for b in range(n):
            moved = table.copy()
            moved[:, slot] = b
            moved.sort(axis=1)
            target = coordinates.position(moved, n)
            np.add.at(result, (table[:, slot] * n + b, np.arange(size), target), 1.0)
    result.setflags(write=False)
    return result


def derivation(X: Array, degree: int) -> Array:
    """D(X) on the entries of Sym^d(R^n): the derivative of s ↦ exp(τX)·s at τ = 0.

    >>> w, X = np.array([1.0, 2.0]), np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> derivation(X, 2) @ [1.0, 2.0, 4.0]                    # w² = (1, 2, 4) turns: 2 (Xw) w, Xw = (−2, 1)
    array([-4., -3.,  4.])
    """
    return np.asarray(np.tensordot(X.reshape(-1), _generators(len(X), degree), axes=1))


def symmetry_algebra(
    gram: Array, target: Array, n: int, degree: int, share: float = NEARLY_SINGULAR
) -> Symmetry:
    """The symmetries that the metric and the target share, to this share of them; `exact_algebra` decides exactly.

    >>> circle = symmetry_algebra(np.diag([1.0, 2.0, 1.0]), np.array([1.0, 0.0, 1.0]), 2, 2)   # Frobenius, identity
    >>> circle.dimension, circle.orbit_dimension(np.array([1.0, 0.0, 0.0]))                    # all uuᵀ, ‖u‖ = 1
    (1, 1)
    """
    D = _generators(n, degree)
    seen = np.diagonal(gram) > 0  # entries that the metric does not see are in no unit
    balance = 1 / np.sqrt(np.where(seen, np.diagonal(gram), 1.0))
    even = gram * np.outer(balance, balance)
    turned = (
        np.einsum("iab,b->iab", D, balance) / balance[None, :, None]
    )  # D in the same units as the even metric
    rows = np.einsum("ab,ibc->iac", even, turned)
    skew = (rows + rows.transpose(0, 2, 1)).reshape(len(D), -1)
    moved = (D @ target) / balance / max(float(np.linalg.norm(target / balance)), TINY)
    system = np.concatenate([skew, moved], axis=1).T
    _, values, vectors = np.linalg.svd(system, full_matrices=True)
    null = np.concatenate([values, np.zeros(n * n - len(values))]) <= share * max(values[0], TINY)
    basis = vectors[null].reshape(-1, n, n)
    return Symmetry(basis, gram, degree)


def exact_algebra(
    gram: Sequence[Sequence[Fraction]], right: Sequence[Fraction], n: int, degree: int
) -> list[NDArray[Any]]:
    """A rational basis of the symmetry algebra, by exact linear algebra; `right` is b = G t.

    D(X)ᵀb = 0 is asked of X: where D(X)ᵀG + G D(X) = 0 that is D(X)t = 0, and t need not be solved for.
    """
    D = _generators(n, degree)
    size = len(right)
    hits = [[(int(i), int(j), int(d[i, j])) for i, j in np.argwhere(d)] for d in D]
    columns: list[dict[tuple[int, int], Fraction]] = []
    for entries in hits:
        column: dict[tuple[int, int], Fraction] = {}
        for i, j, count in entries:
            for a in range(size):  # (G D)_aj += G_ai D_ij, and its transpose
                for place in ((a, j), (j, a)):
                    column[place] = column.get(place, Fraction(0)) + gram[a][i] * count
            column[(size, j)] = column.get((size, j), Fraction(0)) + count * right[i]
        columns.append(column)
    places = sorted(
        {place for column in columns for place in column if place[0] == size or place[0] <= place[1]}
    )
    rows = [[column.get(place, Fraction(0)) for column in columns] for place in places]
    basis = [[Fraction(int(x.p), int(x.q)) for x in vector] for vector in kernel(matrix(rows))]
    return [np.array(X, dtype=object).reshape(n, n) for X in basis]


@dataclass(frozen=True, eq=False)
class Symmetry:
    """A Lie algebra of symmetries: `basis` holds matrices X, (k, n, n), that preserve the metric and a target."""

    basis: Array
    gram: Array
    degree: int

    @property
    def dimension(self) -> int:
        """The number of independent one-parameter symmetries."""
        return len(self.basis)

    def tangents(self, entries: NDArray[np.inexact]) -> NDArray[np.inexact]:
        """D(X)s for each X of the basis, one a row: the directions of the orbit through s."""
        if not self.dimension:
            return np.zeros((0, len(entries)), entries.dtype)
        return np.stack([derivation(X, self.degree) @ entries for X in self.basis])

    def orbit_dimension(self, entries: NDArray[np.inexact]) -> int:
        """dim exp(h)·s: the rank of its tangents, in the metric's own units."""
        if not self.dimension or not np.any(entries):
            return 0
        root = semidefinite_root(self.gram).T
        size = float(np.linalg.norm(root.T @ entries))
        values = np.linalg.svd((self.tangents(entries) @ root) / size, compute_uv=False)
        return int(np.sum(values > np.sqrt(NEARLY_SINGULAR)))

    def turn(self, coefficients: Sequence[float] | Array) -> Array:
        """exp(Σ cᵢXᵢ), a matrix that acts on neurons: w ↦ Mw."""
        return exponential(np.tensordot(np.asarray(coefficients, dtype=np.float64), self.basis, axes=1))

    def same_orbit(self, first: Array, second: Array, tolerance: float) -> bool:
        """Whether a turn takes one tensor to the other, within `tolerance` of its size: looked for from many turns."""
        from scipy.optimize import least_squares

        root = semidefinite_root(self.gram)
        goal, size = root @ second, max(float(np.linalg.norm(root @ second)), TINY)
        generators = [derivation(X, self.degree) for X in self.basis]

        def gap(coefficients: Any) -> Any:
            turned = exponential(np.tensordot(coefficients, generators, axes=1)) @ first
            return (root @ turned - goal) / size

        rng = np.random.default_rng(0)
        starts = np.pi * rng.standard_normal((TURNS, self.dimension))
        return any(np.linalg.norm(least_squares(gap, start).fun) <= tolerance for start in starts)

    def least(self, vectors: Complex) -> Complex:
        """Neurons (rows) of the point of least norm on the complex orbit of Σ wⱼ^⊗d; real neurons stay as they are.

        Real if and only if the orbit has a real point. The order of neurons and their signs are kept.
        """
        w: Any = np.array(vectors, dtype=np.complex128)
        size = max(self._norm(w), TINY)
        for _ in range(STEPS):
            slope, hessian = self._slope(w)
            if not len(slope) or np.max(np.abs(slope)) <= AT_LEAST * size:
                break
            step: Any = -np.linalg.lstsq(hessian, slope, rcond=len(slope) * EPSILON)[0]
            step *= min(1.0, LONGEST_STEP / max(float(np.linalg.norm(self._turned(step))), TINY))
            shorter = self._shortened(w, step)
            if shorter is None:
                break
            w = shorter
        return np.asarray(w)

    def _shortened(self, w: Any, step: Any) -> Any | None:
        """As much of a step as makes the norm no longer, unless that is rounding."""
        if not np.any(step):
            return None
        halvings = max(int(np.ceil(np.log2(np.max(np.abs(step)) / EPSILON))), 0)
        return shortened(
            lambda share: w @ self._boost(share * step).T,
            lambda there: self._norm(there) <= self._norm(w),
            halvings + 1,
        )

    def _turned(self, coefficients: Any) -> Array:
        return np.asarray(np.tensordot(coefficients, self.basis, axes=1))

    def _boost(self, coefficients: Any) -> Any:
        """exp(iX), X = Σ cᵢXᵢ."""
        return exponential(1j * self._turned(coefficients))

    def _norm(self, w: Any) -> float:
        s = coordinates.monomials(w, self.degree).sum(axis=0)
        return float(np.real(np.vdot(s, self.gram @ s)))

    def _slope(self, w: Any) -> tuple[Array, Array]:
        """Derivatives of ‖exp(iX)s‖² at X = 0: −4 xᵀG D(X)y, and 4 Re⟨D(X)s, D(Y)s⟩."""
        s = coordinates.monomials(w, self.degree).sum(axis=0)
        moved = self.tangents(s)
        slope = 2 * np.real(1j * (moved @ self.gram @ s.conj()))
        hessian = 4 * np.real(moved @ self.gram @ moved.conj().T)
        return np.asarray(slope), np.asarray(hessian)
