"""The part of a linear form across a quadratic one, and the slope of the loss that way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shallows.mathematics.tensors.coordinates import slope_matrices
from shallows.model.problem import Problem
from shallows.questions.charts.quadratics.students import QuadraticStudents
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Where it is not decided exactly (`bends`), ℓ is outside the range of Q when its part across is more than this share
#: of it, and uᵀEu is zero when it is below this share of what it is the sum of: points are known to ten digits, and
#: both are linear in them.
ACROSS = 1e-8
#: The share of Q that the vanished square has in the network that stands for a limit.
NEARLY = 1e-4


class Across(NamedTuple):
    """At (ℓ, Q): eigenvectors of Q in use, their values, u across them, (ℓ, Q) as entries, G, E, uᵀEu and its unit."""

    own: Array
    values: Array
    u: Array
    rest: Array
    gram: Array
    slope: Array
    bend: float
    unit: float


def across(
    students: QuadraticStudents, squares: Problem, used: int, linear: Array, Q: Array, outside: bool = False
) -> Across | None:
    """ℓ against `used` eigenvectors of Q; None where it is in their span to rounding and not known to be `outside`."""
    n = len(Q)
    values, basis = np.linalg.eigh(Q)
    order = np.argsort(-np.abs(values))[:used]
    own = basis[:, order]
    part = linear - own @ (own.T @ linear)
    if not outside and np.linalg.norm(part) <= ACROSS * max(float(np.linalg.norm(linear)), TINY):
        return None
    u = part / (np.linalg.norm(part) + TINY)
    rest = np.concatenate([linear, Q[np.triu_indices(n)]])
    gram, right = (np.asarray(part.astype(np.float64)) for part in students.without_constant())
    slope = gram @ rest - right
    bend = float(u @ slope_matrices(slope[n:], squares.n) @ u)
    unit = max(float(np.abs(right[n:]).max()), float(np.abs(gram[n:] @ rest).max()), TINY)
    return Across(own, values[order], u, rest, gram, slope, bend, unit)


def near_limit(linear: Array, Q: Array, u: Array, side: float) -> Array:
    """A matrix of (1, x) near ℓ + Q in which the vanished square is back, with this sign, and no constant is left."""
    n = len(Q)
    M = np.zeros((n + 1, n + 1))
    M[0, 1:] = M[1:, 0] = linear / 2
    size = NEARLY * max(float(np.abs(Q).max()), float(np.abs(linear).max()))
    M[1:, 1:] = Q + side * size * np.outer(u, u)
    M[0, 0] = float(M[0, 1:] @ np.linalg.pinv(M[1:, 1:], rcond=ACROSS) @ M[1:, 0])
    return M
