"""Lost paths that were on their way to infinity: the homogenising coordinate shrinks as a power of t.

Where a set at infinity is positive-dimensional, the Jacobian degenerates so fast that a path stops, in doubles, before
the endgame sees where it goes; but from there back the exponent d log|x₀| / d log t has settled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.paths import Homotopy, TrackerSettings, track

#: Multiples of |t| at the stop where the path is looked at again: before the last steps, which were taken blindly, and
#: within a factor of two of each other, so that higher terms of the series cancel in the comparison.
BEFORE = (2.5, 1.8, 1.3)
#: |x₀|, of a point of length 1, that is on its way to 0; the least exponent; and the share by which the last two may
#: differ. Near t = 0 a path is a series in t^(1/w), so |x₀| falls as t^(m/w); where it has a limit the exponent goes to
#: 0. A fifth leaves room for windings w of up to five. Of 160 different lost paths in the decompositions of the tests
#: all had |x₀| of 10⁻⁵ to 6·10⁻⁴ and exponents near 3/2, 7/3 or 3, which changed by 0.02 to 2.9 % between the places.
SMALL, LEAST, SETTLED = 1e-3, 0.2, 0.1


def diverging(
    homotopy: Homotopy,
    starts: NDArray[np.complex128],
    radii: NDArray[np.float64],
    settings: TrackerSettings,
) -> NDArray[np.bool_]:
    """Which of these projective paths, lost at these |t|, run to infinity."""
    return np.array([_runs_away(homotopy, s, r, settings) for s, r in zip(starts, radii, strict=True)], bool)


def _runs_away(
    homotopy: Homotopy, start: NDArray[np.complex128], radius: float, settings: TrackerSettings
) -> bool:
    times = radius * np.array(BEFORE)
    if not radius or times[0] >= 1:
        return False
    sizes = []
    for t in times:
        path = track(homotopy, start[None], settings.tighter(), threads=1, endgame=False, end=float(t))
        size = abs(path.ends[0, -1]) / float(np.linalg.norm(path.ends[0]))
        if path.status[0] or not size > 0:
            return False
        sizes.append(size)
    first, second = np.diff(np.log(sizes)) / np.diff(np.log(times))
    return bool(sizes[-1] < SMALL and second > LEAST and abs(first - second) < SETTLED * second)
