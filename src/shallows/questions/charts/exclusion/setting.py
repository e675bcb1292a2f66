"""What all exclusions over neurons need of a problem: one output, no bias, centred Gaussian data."""

from __future__ import annotations

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem


def beyond(problem: Problem, target: Network) -> str:
    """What the problem has that no exclusion is for; empty where it has nothing."""
    data = problem.data.as_gaussian()
    if problem.affine or target.bias is not None or np.any(target.norm) or problem.norm_neuron:
        return "there is a bias or a norm neuron"
    if problem.outputs != 1 or problem.orthogonality:
        return "there are several outputs, or a penalty"
    if data is None or not data.centred:
        return f"the data are {problem.data!r}, no centred Gaussian"
    return ""
