"""Newton's method: in doubles for one equation at many places and for systems, in multiple precision for systems.

(Compiled for paths: `homotopy._compiled.equations.polish`. With a proof: `balls.krawczyk`, `balls.contraction`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from flint import acb_mat
from numpy.typing import NDArray

from shallows.support.checks import Array

Vector = NDArray[Any]


def zeros(function: Callable[[Array], tuple[Array, Array]], x: Array, steps: int, longest: float) -> Array:
    """x ← x − f/f′ from each start, steps cut to `longest`; f itself is the step where f′ is 0."""
    for _ in range(steps):
        value, slope = function(x)
        x = x - np.clip(value / np.where(slope == 0, 1.0, slope), -longest, longest)
    return x


def settled(
    system: Callable[[Vector], tuple[Vector, Vector]],
    x: Vector,
    steps: int,
    converged: float,
    regular: float = 0.0,
) -> tuple[Vector, Vector] | None:
    """Where the steps −J⁺F of Gauss and Newton settle, and the last J; None where they do not, or leave the numbers.

    They have settled when a step is shorter than `converged` times the point. Systems may have more equations than
    unknowns, or fewer: steps are the shortest ones that solve them best. None also where the smallest singular value of
    J falls below `regular` times the largest, or below `regular`.

    >>> def circle(x):
    ...     return np.array([x @ x - 2.0]), 2.0 * x[None]
    >>> place, _ = settled(circle, np.array([3.0, 3.0]), 20, 1e-12)
    >>> place.round(9).tolist()
    [1.0, 1.0]
    """
    for _ in range(steps):
        value, jacobian = system(x)
        if not (np.isfinite(value).all() and np.isfinite(jacobian).all()):
            return None
        step, _, _, values = np.linalg.lstsq(jacobian, value, rcond=None)
        if values[-1] < regular * max(values[0], 1.0):
            return None
        x = x - step
        if float(np.abs(step).max()) < converged * max(1.0, float(np.abs(x).max())):
            return x, jacobian
    return None


def refined(
    system: Callable[[Sequence[Any]], tuple[Any, Any]], x: Sequence[Any], steps: int
) -> Iterator[tuple[list[Any], float]]:
    """The iterates x − J⁻¹F and how far each has moved, in midpoints of complex balls at the present precision.

    `system` gives value and Jacobian as flint matrices. It ends where the Jacobian is singular.
    """
    for _ in range(steps):
        value, jacobian = system(x)
        try:
            step = acb_mat(jacobian).solve(acb_mat(value)).mid().entries()
        except ZeroDivisionError:
            return
        x = [(a - b).mid() for a, b in zip(x, step, strict=True)]
        yield x, max(abs(complex(b)) for b in step)
