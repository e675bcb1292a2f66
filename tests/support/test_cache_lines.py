"""Arrays at the beginning of a line of the cache: where they begin, what they hold, that they keep their memory."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from shallows.support.cache_lines import LINE, zeros


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.complex128, np.uint8])
@pytest.mark.parametrize("shape", [0, 1, 7, (), (0, 3), (3, 5), (110, 100), (2, 3, 4)])
def test_zeros_at_the_beginning_of_a_line(shape, kind):
    for _ in range(5):
        found, expected = zeros(shape, kind), np.zeros(shape, kind)
        assert found.__array_interface__["data"][0] % LINE == 0 or not found.size
        assert found.shape == expected.shape and found.dtype == expected.dtype
        assert found.flags.c_contiguous and found.flags.writeable and not found.any()


def test_arrays_keep_their_own_memory():
    arrays = [zeros((17, 9)) for _ in range(50)]
    for number, array in enumerate(arrays):
        array[:] = number
    gc.collect()
    assert [set(array.ravel()) for array in arrays] == [{float(number)} for number in range(50)]
