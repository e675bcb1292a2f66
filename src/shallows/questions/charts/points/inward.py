"""The loss to first order from a limit of merged neurons into the networks: the boundary that the limits are.

Near w^(d−1)v, v not parallel to w, the tensors of border rank two are a manifold (they are singular at powers only, for
d ≥ 3), with tangent space ⟨w^(d−1)b, w^(d−2)v a, w^(d−3)v³⟩, and the limits are a hypersurface in it. On one side of it

    ((w + tv)^d − (w − tv)^d)/(2dt) = w^(d−1)v + t² (d−1)(d−2)/6 w^(d−3)v³ + …,

are real networks, on the other (t imaginary) those with neurons in conjugate pairs, which are none. So networks and
limits are a manifold with boundary, and a critical point of the loss on the boundary is a local minimum among them
exactly when it is one on the boundary and ℓ′(w^(d−3)v³) ≥ 0, where > 0 and a definite Hessian are enough.

Three merged neurons are roots of a cubic x³ + αx + β that is nearly x³, on a curve f(t) = (w + tv + t²z)^d: with
z = (d−1)u/2 the limit w^(d−2)v² + w^(d−1)u is f″(0)/(d(d−1)). Networks are where all roots are real, 4α³ + 27β² ≤ 0:
a cusp, whose only directions are those of α < 0, roots 0 and ±h,

    (f(h) − 2f(0) + f(−h))/h² = f″(0) + h²/12 f⁗(0) + …,

and of limits with such a triple. So ℓ′(f⁗(0)) takes the place of ℓ′(w^(d−3)v³); f⁗ is that up to directions along the
limits, whichever curve is taken.
"""

from __future__ import annotations

from math import comb, inf
from typing import Any

import numpy as np

from shallows.mathematics.tensors.curves import curve_coefficients
from shallows.questions.charts.points.stratum import RealPoint
from shallows.support.checks import Array


def inward_direction(w: Any, v: Any, degree: int) -> Any:
    """The entries of w^(d−3)u³, w of length one and u the unit vector of v across w; complex ones too, and many."""
    w = w / np.linalg.norm(w, axis=-1, keepdims=True)
    across = v - np.sum(w.conj() * v, axis=-1, keepdims=True) * w
    across = across / np.linalg.norm(across, axis=-1, keepdims=True)
    return curve_coefficients(w, across, 0 * across, degree)[..., 3, :] / comb(degree, 3)


def triple_direction(turn: float, w: Array, v: Array, u: Array, degree: int) -> Array:
    """The entries of ± f⁗(0), divided by the largest, for the limit turn·w^(d−2)v² + w^(d−1)u."""
    length = float(np.linalg.norm(w))
    w, v, u = w / length, v * length ** (degree / 2 - 1), u * length ** (degree - 1)
    along = float(w @ v)
    v, u = v - along * w, u + turn * (2 * along * v - along**2 * w)
    entries = turn * curve_coefficients(w, v, turn * (degree - 1) / 2 * u, degree)[4]
    return np.asarray(entries / np.max(np.abs(entries)))


def inward_slope(found: RealPoint, slope: Array, degree: int) -> float:
    """The least ℓ′ into the networks over the point's merged pairs, triples and jets; ∞ where none has merged."""
    slopes = [float(slope @ inward_direction(w, v, degree)) for w, v in found.merged]
    for turn, (w, v, u) in zip(found.turns.tolist(), found.triples, strict=True):
        slopes.append(float(slope @ triple_direction(turn, w, v, u, degree)))
    slopes += [float(slope @ jet.inward(degree)) for jet in found.jets]
    return min(slopes, default=inf)
