"""Gaussians moved along a line: inputs s·a + z, z ~ N(0, Σ), s a random number independent of z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shallows.support.checks import Array

if TYPE_CHECKING:
    from shallows.model.data.gaussian import Gaussian


@dataclass(frozen=True, eq=False)
class GaussianLine:
    """N(s·a, Σ), a = `direction`, with s random: it takes `values` with the probabilities `weights`."""

    covariance: Array
    direction: Array
    values: Array
    weights: Array


def line_through(parts: Sequence[tuple[float, Gaussian]]) -> GaussianLine | None:
    """A mixture of Gaussians with one covariance and their means on a line through the origin; None for others."""
    covariance = parts[0][1].covariance
    means = np.array([part.mean for _, part in parts])
    longest = means[np.argmax(np.linalg.norm(means, axis=1))]
    square = float(longest @ longest)
    values = means @ longest / square if square else np.zeros(len(means))
    if not all(np.array_equal(part.covariance, covariance) for _, part in parts):
        return None
    if not np.array_equal(np.outer(values, longest), means):
        return None
    return GaussianLine(covariance, longest, values, np.array([weight for weight, _ in parts]))
