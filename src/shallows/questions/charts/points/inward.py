"""The loss to first order from a limit of merged neurons into the networks: the boundary that the limits are.

Near w^(d−1)v, v not parallel to w, the tensors of border rank two are a manifold (they are singular at powers only, for
d ≥ 3), with tangent space ⟨w^(d−1)b, w^(d−2)v a, w^(d−3)v³⟩, and the limits are a hypersurface in it. On one side of it

    ((w + tv)^d − (w − tv)^d)/(2dt) = w^(d−1)v + t² (d−1)(d−2)/6 w^(d−3)v³ + …,

are real networks, on the other (t imaginary) those with neurons in conjugate pairs, which are none. So networks and
limits are a manifold with boundary, and a critical point of the loss on the boundary is a local minimum among them
exactly when it is one on the boundary and ℓ′(w^(d−3)v³) ≥ 0, where > 0 and a definite Hessian are enough.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.points.stratum import RealPoint
from shallows.support.checks import Array


def inward_direction(w: Any, v: Any, degree: int) -> Any:
    """The entries of w^(d−3)u³, w of length one and u the unit vector of v across w; complex ones too, and many."""
    w = w / np.linalg.norm(w, axis=-1, keepdims=True)
    across = v - np.sum(w.conj() * v, axis=-1, keepdims=True) * w
    across = across / np.linalg.norm(across, axis=-1, keepdims=True)
    nodes = np.arange(degree + 1) / degree  # w^(d−3)u³ is a coefficient of (w + tu)^d, over (d choose 3)
    cubic = np.linalg.inv(np.vander(nodes, increasing=True))[3] / (degree * (degree - 1) * (degree - 2) / 6)
    values = coordinates.monomials(w[..., None, :] + nodes[:, None] * across[..., None, :], degree)
    return np.asarray(np.einsum("t,...tI->...I", cubic, values))


def inward_slope(found: RealPoint, slope: Array, degree: int) -> float:
    """The least ℓ′ into the networks over the point's merged pairs; ∞ where none has merged."""
    return min((float(slope @ inward_direction(w, v, degree)) for w, v in found.merged), default=inf)
