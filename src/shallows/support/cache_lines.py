"""Arrays that begin at a line of the processor's cache.

NumPy begins large arrays 16 bytes behind one, and a vector instruction that reads across the end of a line takes twice
as long: the epochs of Adam on quadratic networks took a fifth longer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Bytes of a line of the processor's cache, on all processors that numba compiles for but a few with twice as many.
LINE = 64


def zeros(shape: int | tuple[int, ...], kind: Any = np.float64) -> np.ndarray[Any, Any]:
    """`np.zeros`, at the beginning of a line.

    >>> from shallows.support.cache_lines import LINE, zeros
    >>> zeros((3, 5)).ctypes.data % LINE, zeros((3, 5)).shape
    (0, (3, 5))
    """
    bytes_ = int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
    memory = np.zeros(bytes_ + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    found: np.ndarray[Any, Any] = memory[first : first + bytes_].view(kind).reshape(shape)
    return found
