"""Neurons that are mirror images, w and −w, where p is odd but for a constant: p(2h − z) = 2p(h) − p(z).

There ∂p(w·x) is one function for both, so that with fixed outer weights their two conditions are one: networks of such
pairs are critical where a single neuron of weight aᵢ − aⱼ is, beside the constant 2p(h)aⱼ. Paths between generic
networks do not lead to them (`groups`). With a bias h is any point, and a cubic always has one; without, it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.charts.neuron_limits.ends import centred_activation
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.support.checks import Array


@dataclass(frozen=True)
class Mirror:
    """The point about which p is odd, and p there."""

    centre: float
    value: float
    bias: bool

    def image(self, w: Array) -> Array:
        """The neuron whose function is 2p(h) less this one's."""
        image = -w
        if self.bias:
            image[0] += 2 * self.centre
        return image


def mirror_of(problem: Problem) -> Mirror | None:
    """The mirror of an activation that has one; powers have none of their own, all multiples of w being alike there."""
    exact, centre = centred_activation(problem)
    p = np.array(exact, np.float64)
    even = np.abs(p[2::2]).max(initial=0.0)
    if np.count_nonzero(p[1:]) < 2 or even > POINT_ERROR * np.abs(p).max():
        return None
    return Mirror(float(centre), float(p[0]), problem.bias)
