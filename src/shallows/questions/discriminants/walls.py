"""The vertex wall of rank-one tensors: teachers for which a critical point is at the zero tensor."""

from __future__ import annotations

import numpy as np

from shallows.questions.discriminants.curves import RankOneCurve, power_rows
from shallows.questions.discriminants.envelope import FocalCurve, affine, envelope, gram_array
from shallows.questions.discriminants.polynomial import Discriminant, as_discriminant
from shallows.support.checks import positive_integer
from shallows.support.errors import InvalidProblem


def vertex_curve(discriminant: Discriminant, samples: int = 4000, **values: object) -> FocalCurve:
    """The teachers of a slice for which p(φ) = ⟨w^⊗d, T⟩ has a double zero, as a curve in the double zero φ.

    There T is orthogonal to a tangent plane of the cone, so that the critical point in that direction is the vertex.
    Under the Frobenius metric p(w) = wᵀTw at degree 2, so that the wall is det T = t00 t11 − t01² = 0:

    >>> P = sh.discriminants.rank_one(2)
    >>> curve = sh.discriminants.vertex_curve(P, samples=12, data=sh.Frobenius(2), t11=1)
    >>> curve
    FocalCurve(t00, t01; 12 points)
    >>> bool(np.nanmax(np.abs(curve.x - curve.y**2)) < 1e-9)
    True
    """
    samples = positive_integer("samples", samples, 8)
    slice_ = as_discriminant(discriminant).specialize(**values)  # type: ignore[arg-type]
    if not isinstance(slice_.curve, RankOneCurve) or len(slice_.variables) != 2 or slice_.metric:
        raise InvalidProblem(
            f"The vertex wall is a curve for rank-one tensors with two teacher entries left; the variables of this "
            f"discriminant ({slice_.curve.title}) are {', '.join(slice_.variables)}."
        )
    matrix, constant = affine(slice_.target, 2)
    angles = np.linspace(0.0, np.pi, samples + 1)
    powers, slopes = power_rows(len(slice_.target) - 1, angles)
    gram = gram_array(slice_)
    zero = np.zeros((len(angles), 1))
    points = envelope(np.hstack([zero, powers @ gram]), np.hstack([zero, slopes @ gram]), matrix, constant)
    return FocalCurve(*slice_.variables, angles, points[:, 0], points[:, 1])
