"""How many singular values count: those that are more than a share of the largest.

By Weyl a matrix that is known up to E has singular values off by ‖E‖ at most. What the share stands for, the callers
say: rounding, digits of what was given, or how well a point is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.support.tolerances import TINY


def rank_of(values: NDArray[Any], share: float, least: float = TINY) -> int:
    """How many singular values are above this share of the largest, or of `least` where that is larger.

    >>> rank_of(np.array([2.0, 1e-3, 1e-9]), 1e-6), rank_of(np.zeros(3), 1e-6), rank_of(np.zeros(0), 1e-6)
    (2, 0, 0)
    >>> rank_of(np.array([1e-7, 1e-8]), 1e-6, least=1.0)
    0
    """
    return int(np.count_nonzero(values > share * max(float(np.max(values, initial=0.0)), least)))
