"""All directions of a neuron on a disc: Lambert's equal-area map of half a sphere, where u and −u are one network."""

from __future__ import annotations

import numpy as np

from shallows.support.checks import Array

#: The middle of the disc for neurons without a constant: no axis and no plane of symmetry is there, so that what lies
#: on them is seen from the side.
MIDDLE = (1.0, 0.7, 0.45)


def frame_of(lifted: bool) -> Array:
    """Three orthonormal rows: the middle of the disc, its right and its top.

    With a constant the middle is w = 0 and the rim are neurons without one.
    """
    if lifted:
        return np.eye(3)
    first = np.array(MIDDLE) / np.linalg.norm(MIDDLE)
    right = np.array([-first[1], first[0], 0.0]) / np.hypot(first[0], first[1])
    return np.stack([first, right, np.cross(first, right)])


def from_disc(frame: Array, places: Array) -> Array:
    """The directions (…, 3) of places (…, 2) of the disc: of u and −u the one on this side."""
    square = np.sum(places**2, axis=-1, keepdims=True)
    return np.concatenate([1 - square, places * np.sqrt(np.maximum(2 - square, 0.0))], axis=-1) @ frame
