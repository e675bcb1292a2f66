"""Newton's method with 70 digits, from exact rationals: which true critical point is here?

`Precise` is a problem in mpmath numbers. `refine` starts at coordinates on a stratum and gives the true critical point
that Newton's method reaches: its entries, its loss, the signature of the Hessian on the stratum, and whether that is
well decided. At degenerate points (the Hessian is singular) convergence is slow and the result says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from tests.oracle.exact import Given
from tests.oracle.strata import Frames, Powers, Stratum

DIGITS = 70
CONVERGED, SLOW = mpmath.mpf(10) ** -45, mpmath.mpf(10) ** -27
#: Eigenvalues of the whitened Hessian below this are zero; below `FAINT` (of the largest) doubles may not see them.
ZERO, FAINT = 1e-25, 1e-9
STEPS = 40
#: Curvatures, of unit tangents, below which a direction is faint; and how far such a direction may lead (of entries).
STIFF, NEARBY = 1e-9, 1e-9
Array = Any


def number(x: Fraction | float) -> mpmath.mpf:
    """An exact rational or float with 70 digits."""
    value = Fraction(x)
    with mpmath.workdps(DIGITS):
        return mpmath.mpf(value.numerator) / value.denominator


@dataclass(frozen=True)
class Refined:
    """The end of Newton's method. `converged`: at a true critical point; `contracting`: every step was shorter."""

    stratum: Stratum
    p: Array
    entries: Array
    loss: mpmath.mpf
    signature: tuple[int, int, int]
    gap: float
    converged: bool
    contracting: bool
    slope: Array

    @property
    def rank(self) -> int:
        """The rank of the stratum."""
        return self.stratum.rank if isinstance(self.stratum, Frames) else len(self.stratum.signs)

    @property
    def faint(self) -> bool:
        """Whether an eigenvalue of the Hessian is so small that doubles may take it for zero."""
        return self.gap <= FAINT

    @property
    def degenerate(self) -> bool:
        """Whether the Hessian is singular (to 25 digits), or Newton's method did not come to an end."""
        return not self.converged or self.signature[1] > 0

    def distance(self, entries: Sequence[Any]) -> mpmath.mpf:
        """The largest difference of an entry."""
        with mpmath.workdps(DIGITS):
            return max(
                (
                    abs(x - (number(y) if isinstance(y, float | Fraction) else y))
                    for x, y in zip(self.entries, entries, strict=True)
                ),
                default=mpmath.mpf(0),
            )


class Precise:
    """A problem in numbers of 70 digits."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.gram = np.array([[number(x) for x in row] for row in given.gram])
        self.target = np.array([number(x) for x in given.target])
        self.floor = number(given.floor)
        self.power = number(given.power)

    @cached_property
    def size(self) -> mpmath.mpf:
        """The largest entry of the target."""
        return max(abs(x) for x in self.target)

    def loss(self, entries: Array) -> mpmath.mpf:
        """The loss of a tensor."""
        with mpmath.workdps(DIGITS):
            gap = entries - self.target
            return gap.dot(self.gram.dot(gap)) + self.floor

    def slope(self, entries: Array) -> Array:
        """∇ℓ on entries."""
        with mpmath.workdps(DIGITS):
            return 2 * self.gram.dot(entries - self.target)

    def derivatives(self, stratum: Stratum, p: Array) -> tuple[Array, Array, Array, Array]:
        """Entries, Jacobian, gradient and Hessian of the loss in the coordinates of a stratum."""
        value, J = stratum.evaluate(p)
        c = self.gram.dot(value - self.target)
        gradient = 2 * J.T.dot(c)
        hessian = 2 * (J.T.dot(self.gram.dot(J)) + stratum.bend(p, c))
        return value, J, gradient, hessian

    def cosine(self, stratum: Stratum, p: Array) -> float:
        """How far from critical: the largest ⟨tangent, s − t⟩, tangents of unit length, relative to ‖t‖ (or ‖s‖)."""
        with mpmath.workdps(DIGITS):
            p = np.array([mpmath.mpf(x) for x in p])
            value, J = stratum.evaluate(p)
            c = self.gram.dot(value - self.target)
            scale = mpmath.sqrt(max(self.power - self.floor, value.dot(self.gram.dot(value))))
            if not scale:
                return 0.0
            worst = mpmath.mpf(0)
            for column in J.T:
                length = mpmath.sqrt(column.dot(self.gram.dot(column)))
                if length:
                    worst = max(worst, abs(column.dot(c)) / length)
            return float(worst / scale)

    def refine(self, stratum: Stratum, start: Sequence[Any], steps: int = STEPS) -> Refined:
        """Newton's method from a start; once more where it fails, from where only faint directions are off."""
        found = self._newton(stratum, start, steps)
        if not found.converged:
            again = self._newton(stratum, self._stiffly(stratum, start), steps)
            here = self._entries(stratum, start)
            reach = NEARBY * max(map(abs, here), default=0)
            found = again if again.converged and again.distance(here) <= reach else found
        return found

    def _entries(self, stratum: Stratum, p: Sequence[Any]) -> Array:
        with mpmath.workdps(DIGITS):
            return stratum.evaluate(np.array([mpmath.mpf(x) for x in p]))[0]

    def _stiffly(self, stratum: Stratum, start: Sequence[Any]) -> Array:
        """The start after steps −(H² + μ²)⁻¹Hg: directions of small curvature, which rounding of the others would
        throw far off, stay as they are."""
        with mpmath.workdps(DIGITS):
            p = np.array([mpmath.mpf(x) for x in start])
            for _ in range(4):
                _, J, gradient, hessian = self.derivatives(stratum, p)
                metric = J.T.dot(self.gram.dot(J))
                D = np.array(
                    [
                        1 / mpmath.sqrt(metric[i, i]) if metric[i, i] > 0 else mpmath.mpf(1)
                        for i in range(len(p))
                    ]
                )
                H = hessian * D[:, None] * D[None, :]
                damped = H.dot(H) + mpmath.mpf(STIFF) ** 2 * np.eye(len(p), dtype=int)
                step = solve_balanced(damped, -H.dot(gradient * D))
                if step is None:
                    break
                p = p + step * D
            return p

    def _newton(self, stratum: Stratum, start: Sequence[Any], steps: int) -> Refined:
        """It stops when a step changes nothing in 45 digits."""
        with mpmath.workdps(DIGITS):
            p = np.array([mpmath.mpf(x) for x in start])
            lengths: list[mpmath.mpf] = []
            converged = False
            hessian = None
            for _ in range(8 * steps):
                _, _, gradient, hessian = self.derivatives(stratum, p)
                step = solve_balanced(hessian, -gradient)
                if step is None:
                    break
                p = p + step
                size = max(abs(x) for x in p)
                lengths.append(max(abs(x) for x in step) / size if size else mpmath.inf)
                if not mpmath.isfinite(lengths[-1]) or lengths[-1] > 1e30:
                    break
                if lengths[-1] < CONVERGED:
                    converged = True
                    break
                slow = len(lengths) > 8 and all(0.3 < b / a < 0.9 for a, b in pairwise(lengths[-8:]))
                if (
                    slow and lengths[-1] < SLOW
                ):  # a multiple root: digits come one by one, and half of them are lost
                    converged = True
                    break
                if len(lengths) >= steps and not slow:
                    break
            value, J, _, hessian = self.derivatives(stratum, p)
            first = next((k for k, x in enumerate(lengths) if x < CONVERGED), len(lengths))
            contracting = converged and all(
                lengths[k + 1] < lengths[k] / 4 for k in range(min(first, len(lengths) - 1))
            )
            signature, gap = inertia(whitened(hessian, 2 * J.T.dot(self.gram.dot(J))))
            return Refined(
                stratum, p, value, self.loss(value), signature, gap, converged, contracting, self.slope(value)
            )

    def at(self, stratum: Stratum, p: Sequence[Any], zero: float = 1e-8) -> Refined:
        """What is at p, without a step: for members of families; eigenvalues below `zero` count as zero."""
        with mpmath.workdps(DIGITS):
            q = np.array([mpmath.mpf(x) for x in p])
            value, J, _, hessian = self.derivatives(stratum, q)
            M = whitened(hessian, 2 * J.T.dot(self.gram.dot(J)))
            rough = np.linalg.eigvalsh(np.array([[float(x) for x in row] for row in M]))
            limit = zero * max(1.0, float(np.max(np.abs(rough))))
            positive, negative = int(np.sum(rough > limit)), int(np.sum(rough < -limit))
            signature = (positive, len(rough) - positive - negative, negative)
            return Refined(stratum, q, value, self.loss(value), signature, 0.0, True, True, self.slope(value))

    def place(
        self, entries: Sequence[float], rank: int, W: Any = None, a: Any = None
    ) -> tuple[Stratum, Array] | None:
        """Coordinates of a tensor of floats on the stratum of its rank; sums of powers need their neurons."""
        n, d = self.given.n, self.given.degree
        values = np.array([float(x) for x in entries])
        if d == 2:
            S = np.zeros((n, n))
            S[np.triu_indices(n)] = values
            S = S + np.triu(S, 1).T
            if not np.all(np.isfinite(S)) or not np.any(S):
                return None
            try:
                return Frames.at(S, rank)
            except np.linalg.LinAlgError:
                return None
        if W is None:
            return None
        rows, weights = np.asarray(W, float), np.asarray(a, float).ravel()
        used = [i for i in range(len(rows)) if np.any(rows[i]) and weights[i]]
        if len(used) != rank:
            return None
        vectors, signs = [], []
        for i in used:
            size = abs(weights[i]) ** (1.0 / d)
            sign = 1 if weights[i] > 0 else -1
            vectors.append(rows[i] * size * (sign if d % 2 else 1))
            signs.append(1 if d % 2 else sign)
        return Powers(n, d, tuple(signs)), np.concatenate(vectors)


def balance(matrix: Array) -> Array:
    """Positive scales D such that D M D has rows of about unit size; Sylvester: the inertia stays."""
    size = len(matrix)
    scales = np.array([mpmath.mpf(1)] * size)
    for _ in range(6):
        for i in range(size):
            largest = max(abs(matrix[i, j]) * scales[i] * scales[j] for j in range(size))
            if largest:
                scales[i] = scales[i] / mpmath.sqrt(largest)
    return scales


def solve_balanced(matrix: Array, right: Array) -> Array | None:
    """Gaussian elimination with row pivots on the balanced matrix; None when it is singular to 60 digits."""
    D = balance(matrix)
    size = len(right)
    M = np.empty((size, size + 1), object)
    for i in range(size):
        for j in range(size):
            M[i, j] = matrix[i, j] * D[i] * D[j]
        M[i, size] = right[i] * D[i]
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(M[i, k]))
        if abs(M[pivot, k]) < mpmath.mpf(10) ** (10 - DIGITS):
            return None
        if pivot != k:
            M[[k, pivot]] = M[[pivot, k]]
        for i in range(k + 1, size):
            if M[i, k]:
                M[i, k:] = M[i, k:] - (M[i, k] / M[k, k]) * M[k, k:]
    x = np.empty(size, object)
    for k in reversed(range(size)):
        x[k] = (M[k, size] - (M[k, k + 1 : size].dot(x[k + 1 :]) if k + 1 < size else 0)) / M[k, k]
    return x * D


def whitened(matrix: Array, metric: Array) -> Array:
    """L⁻¹ M L⁻ᵀ with metric = LLᵀ: the Hessian in orthonormal tangents; unit ones where tangents are dependent."""
    size = len(matrix)
    scales = [1 / mpmath.sqrt(metric[i, i]) if metric[i, i] > 0 else mpmath.mpf(1) for i in range(size)]
    M = np.array([[matrix[i, j] * scales[i] * scales[j] for j in range(size)] for i in range(size)])
    L = [[mpmath.mpf(0)] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = metric[i, j] * scales[i] * scales[j] - sum(
                (L[i][k] * L[j][k] for k in range(j)), mpmath.mpf(0)
            )
            if i == j:
                if rest < mpmath.mpf(10) ** -40:
                    return M
                L[i][i] = mpmath.sqrt(rest)
            else:
                L[i][j] = rest / L[j][j]
    for _ in range(2):  # L⁻¹ M, then the same from the other side
        for i in range(size):
            for k in range(i):
                M[i] = M[i] - L[i][k] * M[k]
            M[i] = M[i] / L[i][i]
        M = M.T.copy()
    return (M + M.T) / 2


def inertia(M: Array) -> tuple[tuple[int, int, int], float]:
    """(positive, zero, negative) eigenvalues of a whitened Hessian, and the smallest absolute value."""
    size = len(M)
    rough = np.linalg.eigvalsh(np.array([[float(x) for x in row] for row in M]))
    largest = max(float(np.max(np.abs(rough))), 1.0)
    gap = float(np.min(np.abs(rough))) / largest
    if gap > FAINT:
        negative = int(np.sum(rough < 0))
        return (size - negative, 0, negative), gap
    values = list(mpmath.eigsy(mpmath.matrix(M.tolist()), eigvals_only=True))
    largest = max(1, *(abs(x) for x in values))
    limit = mpmath.mpf(
        ZERO
    )  # not relative to the largest: whitened, the scale is one, and 60 digits leave room
    positive, negative = sum(x > limit for x in values), sum(x < -limit for x in values)
    return (positive, size - positive - negative, negative), float(min(abs(x) for x in values) / largest)
