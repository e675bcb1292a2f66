"""Neurons that are mirror images, w and −w, where p is odd but for a constant and outer weights are fixed.

There ∂p(wᵢ·x) and ∂p(wⱼ·x) are the same function, so that two conditions are one, and networks of such pairs are
critical where a single neuron of weight aᵢ − aⱼ is, beside a constant. Paths between generic networks do not lead to
them. With a bias the mirror is at the point about which p is odd, which a cubic always has.
"""

from __future__ import annotations

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.charts.neurons.one_neuron_limits import centred_activation
from shallows.questions.charts.points.stratum import POINT_ERROR

#: What charts say that leave them out.
MIRRORED = (
    "networks no two of whose neurons are mirror images, w and −w (with a bias about the activation's centre)"
)
#: From this degree on: neurons of degree one are linear networks.
LEAST_DEGREE = 3


def leaves_mirrored_out(problem: Problem) -> bool:
    """Whether a problem has such networks: two fixed outer weights or more, an activation that is odd about a point."""
    if problem.outer is None or np.count_nonzero(problem.outer.any(axis=0)) < 2:
        return False
    p, _ = centred_activation(problem)
    even = np.abs(p[2::2]).max(initial=0.0)
    return len(p) > LEAST_DEGREE and bool(even <= POINT_ERROR * np.abs(p).max())
