"""The Cauchy endgame in multiple precision: where doubles cannot walk around t = 0.

As in doubles (`_compiled.endgame`): a path x(t) = Σ cₖ t^(k/w) closes after w loops of a circle |t| = r, and the mean
over the closed walk is its end c₀. Here points are midpoints of balls of as many bits as the path takes, so that
circles may be as small as it needs, and means of two circles agree to half of these bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import acb

from shallows.mathematics.homotopy._compiled.endgame import CLOSED, VERTICES

#: |t| from which on a path that has not arrived is walked around: a step leads through each decade before, a walk takes
#: hundreds, and the simple roots of Wilkinson's polynomials have arrived. From one circle to the next means of windings
#: w are better by 64^(16/w).
ENDGAME, SMALLER = 1e-16, 64.0
#: How often the side of a circle's polygon is halved before the walk is given up: a sixteenth of the circle is a short
#: way for t^(1/w), whatever w is, and a path that needs a thousandth has come upon another branch point.
HALVINGS = 6
#: A mean solves the equations when the residual is below so many times its error, which is what two circles differ by,
#: or this share of the bits: two roots around which a walk closes as around a double one have a mean that does not.
SOLVED, ROUNDED = 100.0, 0.9

#: The point, the value and the tangent dz/dt at t, from a prediction; None when Newton's method refuses it.
Corrected = Callable[[Any, Any], "tuple[Any, Any] | None"]


@dataclass(frozen=True)
class Walk:
    """A closed walk: how many loops it took, and the mean of its corners."""

    winding: int
    mean: Any

    def gap(self, other: Walk | None) -> float:
        """How far the means of two walks of the same winding number are apart."""
        return (
            float("inf") if other is None or other.winding != self.winding else size(self.mean - other.mean)
        )


def size(vector: Any) -> float:
    """The largest entry."""
    return max(abs(complex(entry)) for entry in vector.entries())


def walk(corrected: Corrected, z: Any, tangent: Any, radius: float, most: int) -> Walk | None:
    """Around |t| = radius from (z, radius), until the path closes, within `most` loops; None when it does not."""
    start, here, extent = z, acb(radius), 0.0
    total = z * 0
    for loop in range(1, most + 1):
        for k in range(VERTICES):
            total = (total + z).mid()
            there = (acb(radius) * (acb(2 * (k + 1)) / VERTICES).exp_pi_i()).mid()
            moved = _side(corrected, z, tangent, here, there, HALVINGS)
            if moved is None:
                return None
            (z, tangent), here = moved, there
            extent = max(extent, size(z - start))
        if size(z - start) <= CLOSED * extent:
            return Walk(loop, (total * (acb(1) / (loop * VERTICES))).mid())
    return None


def _side(
    corrected: Corrected, z: Any, tangent: Any, here: Any, there: Any, halvings: int
) -> tuple[Any, Any] | None:
    """From t = here to t = there along the tangent, in halves where that is too far."""
    found = corrected((z + tangent * (there - here)).mid(), there)
    if found is not None or not halvings:
        return found
    middle = ((here + there) / 2).mid()
    half = _side(corrected, z, tangent, here, middle, halvings - 1)
    return None if half is None else _side(corrected, *half, middle, there, halvings - 1)
