"""A solution of some member of a family, found from nothing: what monodromy starts from.

The pairs (x, p) with F(x; p) = 0 are a variety of the dimension of the parameter space. Newton's method in x and p
together, shortest steps, goes from a random complex pair to a point of it that is as random.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.families import Family, Vector
from shallows.mathematics.newton import settled
from shallows.support.errors import NotConverged
from shallows.support.seeds import complex_normal

#: Random pairs that are tried, Newton steps from each, and the relative step at which they have converged.
ATTEMPTS, NEWTON, CONVERGED = 20, 60, 1e-13
#: The smallest singular value of ∂F/∂x at a start, relative to the largest: worse ones are no good beginning of paths.
REGULAR = 1e-6
#: Points further away than this are on their way to infinity.
FAR = 1e6


def start_pair(family: Family, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """A point x and parameters p with F(x; p) = 0, regular in x; `NotConverged` where none was found.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^3 - a*x + b"], ["x"], ["a", "b"])
    >>> x, p = start_pair(family, np.random.default_rng(0))
    >>> bool(abs(x[0] ** 3 - p[0] * x[0] + p[1]) < 1e-12)
    True
    """
    for _ in range(ATTEMPTS):
        found = _newton(family, complex_normal(rng, family.n), complex_normal(rng, family.parameter_count))
        if found is not None:
            return found
    raise NotConverged(
        f"No solution of any member of the family was found from {ATTEMPTS} random beginnings. Fix: give one, "
        "monodromy(family, [x], p) with F(x; p) = 0; or check that generic members have regular solutions at all"
    )


def _newton(family: Family, x: Vector, p: Vector) -> tuple[Vector, Vector] | None:
    n = family.n

    def system(place: Vector) -> tuple[Vector, NDArray[np.complex128]]:
        value, slope = _at(family, place[:n], place[n:])
        return (value, slope) if np.abs(place).max() <= FAR else (value * np.nan, slope)

    found = settled(system, np.concatenate([x, p]), NEWTON, CONVERGED)
    if found is None:
        return None
    place, slope = found
    values = np.linalg.svd(slope[:, :n], compute_uv=False)
    return (place[:n], place[n:]) if values[-1] > REGULAR * values[0] else None


def _at(family: Family, x: Vector, p: Vector) -> tuple[Vector, NDArray[np.complex128]]:
    """F and [∂F/∂x | ∂F/∂p]: derivatives by parameters are those of segments by t."""
    place = np.append(x, 0.0)
    columns = []
    for k in range(family.parameter_count):
        ahead = p.copy()
        ahead[k] += 1.0
        value, slope = family.segment(ahead, p).at(place)
        columns.append(slope[:, -1])
    return value, np.column_stack([slope[:, :-1], *columns])
