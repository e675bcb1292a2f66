"""Saddles of index one by following the lowest eigenvector up and all others down, refined by Newton, and proved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.newton import saddle_free_step
from shallows.mathematics.signature import signature
from shallows.questions.charts.points.point import Certificate
from shallows.questions.connections.searched import Searched
from shallows.support.checks import Array
from shallows.support.errors import NotDifferentiable
from shallows.support.tolerances import TINY

#: Steps of the search, the longest as a share of the parameters' size, and the gradient (in units of E y² over that
#: size) at which a point is critical: rounding is a hundred times less.
STEPS, REACH, CRITICAL = 300, 0.1, 1e-11
#: Curvatures below this share of the largest are flat: Hessians are exact to rounding, critical points to CRITICAL.
FLAT = 1e-7


@dataclass(frozen=True, eq=False)
class Stationary:
    """A critical point in parameter space with its Hessian's signature, its lowest eigenvector and what is proved."""

    theta: Array
    loss: float
    signature: tuple[int, int, int]
    lowest: Array
    certificate: Certificate | None


def stationary(loss: Searched, theta: Array, index: int) -> Stationary | None:
    """The critical point that Newton's method reaches, up along so many eigenvectors; None if none of that index."""
    size = max(float(np.linalg.norm(theta)), TINY)
    try:
        for _ in range(STEPS):
            gradient = loss.value_and_gradient(theta)[1]
            hessian = loss.hessian(theta)
            if np.max(np.abs(gradient)) * size <= CRITICAL * loss.energy:
                break
            step = saddle_free_step(gradient, hessian, FLAT, uphill=index)
            length = max(float(np.linalg.norm(step)), TINY)
            theta = theta + min(1.0, REACH * size / length) * step
        else:
            return None
    except NotDifferentiable:
        return None
    values, vectors = np.linalg.eigh(hessian)
    signs = signature(values, FLAT)
    if signs[2] != index:
        return None
    proof = loss.proved(theta, index)
    certificate = None if proof is None else proof.certificate
    if proof is not None and proof.certificate.signature_certified:
        signs = (loss.size - index - proof.flat, proof.flat, index)
    return Stationary(theta, float(loss.value(theta)), signs, vectors[:, 0], certificate)
