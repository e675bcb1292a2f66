"""How many real critical points and local minima: proved at one teacher, and on whole grids at once.

For rank-one tensors the loss in the direction w is ‖T‖² − g, g = p²/q, so local minima of the loss are local maxima
of g on the projective line. Those are among the r real zeros of F; the minima of g are the other zeros of F and the
ρ real zeros of p, where g = 0. Maxima and minima alternate, hence

    local minima = (r + ρ)/2,    saddles = (r − ρ)/2.

On an ellipse minima and maxima of the distance alternate: r/2 of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq_mpoly
from numpy.typing import NDArray

from shallows.mathematics.exact import binary_forms
from shallows.questions.discriminants.curves import EllipseCurve, RankOneCurve, StudentCurve, integral
from shallows.questions.discriminants.polynomial import Discriminant, as_discriminant
from shallows.questions.discriminants.signs import joint_tables, table_values
from shallows.support.checks import Array
from shallows.support.tolerances import UNIT_ROUNDOFF


@dataclass(frozen=True)
class LandscapeCount:
    """Real critical points of one (teacher, metric), proved.

    `on_discriminant`: critical points have met, so that the counts are of distinct ones and minima are not counted.
    `at_vertex`: how many critical points sit at the zero tensor, which is not a smooth point of the cone of rank-one
    tensors: they are not counted. `infinite`: every direction is critical (T = I under the Frobenius metric); the
    counts are then 0.

    >>> P = sh.discriminants.rank_one(2)
    >>> found = sh.discriminants.landscape_at(P, data=sh.Frobenius(2), t00=2, t01=0, t11=1)     # Eckart-Young
    >>> found.real_count, found.local_minima, found.others
    (2, 1, 1)
    >>> sh.discriminants.landscape_at(P, data=sh.Frobenius(2), t00=1, t01=0, t11=1).infinite
    True
    """

    real_count: int
    local_minima: int
    on_discriminant: bool = False
    at_vertex: int = 0
    infinite: bool = False

    @property
    def others(self) -> int:
        """Critical points that are no local minima: saddles (maxima, on an ellipse)."""
        return self.real_count - self.local_minima


def landscape_at(discriminant: Discriminant, **values: object) -> LandscapeCount:
    """The number of real critical points and of local minima at numbers for all variables, proved.

    With p = ⟨w^⊗d, T⟩ and q = ⟨w^⊗d, w^⊗d⟩ the best rank-one tensor in the direction w has the loss ‖T‖² − p²/q; r real
    zeros of F = 2p′q − pq′ and ρ real zeros of p make (r + ρ)/2 local minima and (r − ρ)/2 saddles. The zeros are
    counted by exact root isolation.

    >>> from shallows import IID
    >>> from shallows.discriminants import rank_one
    >>> landscape_at(rank_one(2), data=IID.laplace(2), t00=1, t01=0, t11=1)
    LandscapeCount(real_count=4, local_minima=2, on_discriminant=False, at_vertex=0, infinite=False)
    """
    gram, target = as_discriminant(discriminant).numbers(**values)  # type: ignore[arg-type]
    return count_at(discriminant.curve, gram, target)


def count_at(
    curve: StudentCurve, gram: Sequence[Sequence[Fraction]], target: Sequence[Fraction]
) -> LandscapeCount:
    """The same from the Gram matrix and the teacher's entries."""
    if not isinstance(curve, RankOneCurve):
        value = curve.discriminant(gram, target)
        if not value:
            return LandscapeCount(0, 0, on_discriminant=True, infinite=_from_the_centre(curve, gram, target))
        (count,) = curve.counts(1 if value > 0 else -1)
        return LandscapeCount(count, count // 2)
    if not any(target):
        return LandscapeCount(
            0, 0, on_discriminant=True
        )  # the zero teacher: no critical point but the zero tensor
    zeros, vertex = binary_forms.real_zeros(curve.pairing(gram, target))
    form = curve.coefficients(gram, target)
    if not any(form):
        return LandscapeCount(0, 0, on_discriminant=True, infinite=True)
    real, multiple = binary_forms.real_zeros(form)
    count = real - vertex  # a multiple zero of p is a zero of F, at the zero tensor
    if multiple:
        return LandscapeCount(count, 0, on_discriminant=True, at_vertex=vertex)
    return LandscapeCount(count, (count + zeros) // 2, at_vertex=vertex)


def _from_the_centre(
    curve: StudentCurve, gram: Sequence[Sequence[Fraction]], target: Sequence[Fraction]
) -> bool:
    """Whether all points of an ellipse have one loss: a circle of the metric (p m11 = q m22, m12 = 0) at its centre."""
    if not isinstance(curve, EllipseCurve) or gram[0][1] or any(target):
        return False
    return bool(curve.p * gram[0][0] == curve.q * gram[1][1])


def count_zeros(form: Array, sizes: Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Real zeros of many forms at once, and where that number is certain.

    `form` holds F₀, …, F_D on its first axis, `sizes` bounds of Σ|terms| of each, so that every coefficient has an
    error of at most a few units of rounding times its size. By Hermite and Hurwitz the number of real zeros of a form
    with simple zeros is 1 + the signature of the Bezoutian of ∂F/∂x and ∂F/∂y.
    """
    degree = len(form) - 1
    matrix, size = _bezoutian(form, np.subtract), _bezoutian(sizes, np.add)
    if degree == 1:
        return np.ones(form.shape[1:], dtype=np.int64), np.abs(form).max(axis=0) > 0
    values = np.linalg.eigvalsh(matrix)
    bound = 200 * degree * UNIT_ROUNDOFF * np.sqrt(np.sum(size**2, axis=(-1, -2)))
    certain = np.min(np.abs(values), axis=-1) > bound
    return 1 + np.sum(np.sign(values), axis=-1).astype(np.int64), certain


def _bezoutian(form: Array, minus: np.ufunc) -> Array:
    """B_ij = Σ_k (a_{j+1+k} b_{i−k} − a_{i−k} b_{j+1+k}) with a, b the coefficients of ∂F/∂x, ∂F/∂y; axes (…, i, j)."""
    degree = len(form) - 1
    order = np.arange(degree).reshape(-1, *[1] * (form.ndim - 1))
    a, b = (degree - order) * form[:-1], (order + 1) * form[1:]
    size = degree - 1
    result = np.zeros((*form.shape[1:], size, size))
    for i in range(size):
        for j in range(i, size):
            total = np.zeros(form.shape[1:])
            for k in range(min(i, size - 1 - j) + 1):
                total = total + minus(a[j + 1 + k] * b[i - k], a[i - k] * b[j + 1 + k])
            result[..., i, j] = result[..., j, i] = total
    return result


def grid_forms(
    coefficients: Sequence[fmpq_mpoly], names: tuple[str, str], x: Array, y: Array
) -> tuple[Array, Array]:
    """The coefficients of a form, polynomials in two variables, on a grid (up to one positive factor), and sizes."""
    polynomials = integral(coefficients, names)
    pairs = [table_values(table, x, y) for table in joint_tables(polynomials, names)]
    return np.array([value for value, _ in pairs]), np.array([size for _, size in pairs])
