"""Two dimensions: the neuron v = w|a|^(1/d) itself is the place on the disc, and a direction is a ray."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shallows.support.checks import Array
from shallows.support.tolerances import TINY
from shallows.uses.landscape.direction_loss import DirectionLoss
from shallows.uses.landscape.morse import apart, descended

#: The disc reaches so much farther than the longest critical neuron.
ROOM = 1.35
#: Rays on which basins are asked for, and places a side of their map.
RAYS, SIDE = 360, 65


def radius_of(lengths: Sequence[float]) -> float:
    """The radius of the disc."""
    return ROOM * max([length for length in lengths if np.isfinite(length)], default=1.0) or 1.0


def ridges(tops: Array, radius: float) -> list[Array]:
    """The rays on which basins end: those of the highest best neurons, on both sides."""
    return [radius * np.array([u, np.zeros(2), -u]) for u in tops]


def circle_basins(loss: DirectionLoss, minima: Array) -> NDArray[np.uint8]:
    """Which minimum (a row, plus one) each place of the square around the disc belongs to, rows from the top."""
    angle = np.pi * (np.arange(RAYS) + 0.5) / RAYS
    rays = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    labels = apart(descended(loss, rays), minima).argmin(axis=1) + 1
    grid = np.linspace(-1, 1, SIDE)
    y, x = np.meshgrid(-grid, grid, indexing="ij")
    place = np.arctan2(y, x + TINY) % np.pi
    return np.asarray(labels[np.minimum((place / np.pi * RAYS).astype(int), RAYS - 1)], dtype=np.uint8)
