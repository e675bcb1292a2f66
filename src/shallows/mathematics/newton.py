"""Newton's method: in doubles for one equation at many places, in multiple precision for systems.

(Compiled for paths: `homotopy._compiled.equations.polish`. With a proof: `balls.krawczyk`, `balls.contraction`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from flint import acb_mat

from shallows.support.checks import Array


def zeros(function: Callable[[Array], tuple[Array, Array]], x: Array, steps: int, longest: float) -> Array:
    """x ← x − f/f′ from each start, steps cut to `longest`; f itself is the step where f′ is 0."""
    for _ in range(steps):
        value, slope = function(x)
        x = x - np.clip(value / np.where(slope == 0, 1.0, slope), -longest, longest)
    return x


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
