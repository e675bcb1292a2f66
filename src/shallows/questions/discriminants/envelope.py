"""Focal curves in closed form: the envelope of the lines F(φ; t) = 0.

F is linear in the teacher, so the teachers for which φ is a critical direction form a line (a hyperplane), and φ is a
double zero where F = ∂F/∂φ = 0: two linear equations. On a slice with two free teacher entries they have one
solution for each φ. That is the real part of P = 0 with a real double zero; isolated points of P = 0, where only
complex critical points meet, are not on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq_mpoly

from shallows.questions.discriminants.curves import EllipseCurve, ReducedRankOneCurve, StudentCurve
from shallows.questions.discriminants.metrics import number
from shallows.questions.discriminants.polynomial import Discriminant, as_discriminant
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import TINY

#: A determinant of two rows is a difference of products, known to a few ε of their size: below this share of it less
#: than three of its digits are right, and the point is too far out to draw.
PARALLEL = 1e-12


@dataclass(frozen=True, eq=False)
class FocalCurve:
    """The focal curve on a slice, as (x(φ), y(φ)); NaN separates branches that go to infinity.

    >>> ellipse = sh.discriminants.ellipse(4, 1)                # paper 000, Example 27
    >>> curve = sh.discriminants.focal_curve(ellipse, samples=8, m11=1, m12=0, m22=1)
    >>> np.stack([curve.x, curve.y])[:, :8:2].round(9) + 0.0    # cusps at ±((a²−b²)/a, 0), ±(0, (b²−a²)/b)
    array([[ 1.5,  0. , -1.5,  0. ],
           [ 0. , -3. ,  0. ,  3. ]])
    """

    horizontal: str
    vertical: str
    angles: Array
    x: Array
    y: Array

    def __repr__(self) -> str:
        return f"FocalCurve({self.horizontal}, {self.vertical}; {np.sum(np.isfinite(self.x))} points)"


def focal_curve(discriminant: Discriminant, samples: int = 4000, **values: object) -> FocalCurve:
    """The focal curve of a discriminant with two teacher variables left and a numeric metric.

    F(φ; t), whose zeros φ are the critical directions, is linear in the teacher t: F = ∂F/∂φ = 0 are two linear
    equations for t, one solution for each φ (the envelope of the normals, paper 000, Example 27).

    >>> from shallows.discriminants import ellipse
    >>> curve = focal_curve(ellipse(4, 1), m11=1, m12=0, m22=1)
    >>> astroid = np.cbrt(2 * curve.x) ** 2 + np.cbrt(curve.y) ** 2     # (2x)^(2/3) + y^(2/3) = 3^(2/3)
    >>> bool(np.allclose(astroid, 3 ** (2 / 3)))
    True
    """
    samples = positive_integer("samples", samples, 8)
    slice_ = as_discriminant(discriminant).specialize(**values)  # type: ignore[arg-type]
    if len(slice_.variables) != 2 or slice_.metric:
        raise InvalidProblem(
            f"The variables without a value are {', '.join(slice_.variables)}; a focal curve needs exactly two teacher "
            "entries. Fix: give numbers for the metric and for the others."
        )
    matrix, constant = affine(slice_.target, len(slice_.variables))
    gram = gram_array(slice_)
    period = 2 * np.pi if isinstance(slice_.curve, EllipseCurve) else np.pi
    angles = np.linspace(0.0, period, samples + 1)
    value, slope = lines(slice_.curve, gram, angles)
    points = envelope(value, slope, matrix, constant)
    return FocalCurve(*slice_.variables, angles, points[:, 0], points[:, 1])


def lines(curve: StudentCurve, gram: Array, angles: Array) -> tuple[Array, Array]:
    """`curve.lines`, where a fixed positive factor of F may be left in: it does not move the envelope."""
    plain = curve if not isinstance(curve, ReducedRankOneCurve) else curve.whole
    return plain.lines(gram, angles)


def envelope(value: Array, slope: Array, matrix: Array, constant: Array) -> Array:
    """Solve r₀ + r·(A(x, y) + c) = 0 and the same for the derivative, one φ a row; NaN where they are parallel.

    A sign change of the determinant between neighbours is a branch that goes through infinity: a NaN is put there.
    """
    left = np.stack([value[:, 1:] @ matrix, slope[:, 1:] @ matrix], axis=1)
    right = -np.stack([value[:, 0] + value[:, 1:] @ constant, slope[:, 0] + slope[:, 1:] @ constant], axis=1)
    det = left[:, 0, 0] * left[:, 1, 1] - left[:, 0, 1] * left[:, 1, 0]
    scale = np.max(np.abs(left), axis=(1, 2)) ** 2
    parallel = np.abs(det) <= PARALLEL * np.maximum(scale, TINY)
    safe = np.where(parallel, 1.0, det)
    x = (right[:, 0] * left[:, 1, 1] - left[:, 0, 1] * right[:, 1]) / safe
    y = (left[:, 0, 0] * right[:, 1] - right[:, 0] * left[:, 1, 0]) / safe
    points = np.stack([x, y], axis=1)
    points[parallel] = np.nan
    jump = np.flatnonzero(np.sign(det[1:]) * np.sign(det[:-1]) < 0)
    points[jump] = np.nan
    return points


def affine(target: Sequence[fmpq_mpoly], count: int) -> tuple[Array, Array]:
    """The teacher's entries as A·(free variables) + c; refused when they are not linear in them."""
    matrix, constant = np.zeros((len(target), count)), np.zeros(len(target))
    for i, entry in enumerate(target):
        for powers, value in entry.to_dict().items():
            coefficient = int(value.p) / int(value.q)
            total = sum(int(e) for e in powers)
            if total > 1:
                raise InvalidProblem(
                    f"The teacher's entry {entry} is not linear; a focal curve needs linear ones."
                )
            if total == 0:
                constant[i] = coefficient
            else:
                matrix[i, [int(e) for e in powers].index(1)] = coefficient
    return matrix, constant


def gram_array(discriminant: Discriminant) -> Array:
    """The Gram matrix of a discriminant whose metric is all numbers."""
    return np.array([[float(number(entry)) for entry in row] for row in discriminant.gram])
