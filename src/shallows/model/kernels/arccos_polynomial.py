"""The polynomial Q with arccos(a) = √(1−a²) · Q(2a−1) on [0, 1], one for all compiled ReLU loops.

It is the interpolant of degree 21 of θ/sin θ, which is analytic there.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev

from shallows.support.checks import Array

#: The degree at which the interpolant of θ/sin θ is exact to rounding (see `test_relu`).
DEGREE = 21


@lru_cache(maxsize=1)
def arccos_polynomial() -> Array:
    """Q in the monomial basis, lowest power first: Q(t) = arcsin(u) / u√(1−u²), u = √((1−a)/2), a = (1+t)/2.

    Interpolated in Chebyshev points through the cosine sums, in extended precision where the machine has it.
    """
    angles = np.acos(np.longdouble(-1)) * (2 * np.arange(DEGREE + 1) + 1) / (2 * DEGREE + 2)
    u = np.sin(angles / 2) / np.sqrt(np.longdouble(2))  # √((1−t)/4) at t = cos(angle), without cancellation
    values = np.arcsin(u) / (u * np.sqrt(1 - u * u))
    series = 2 * np.cos(np.outer(np.arange(DEGREE + 1), angles)) @ values / (DEGREE + 1)
    series[0] /= 2
    coefficients = np.asarray(chebyshev.cheb2poly(series), dtype=np.float64)
    coefficients.setflags(write=False)
    return coefficients
