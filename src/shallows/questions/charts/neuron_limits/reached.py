"""How low random networks descend: a check of lists that a search has found, which may miss what is lowest."""

from __future__ import annotations

import numpy as np

from shallows.model.activations import polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neuron_limits.blocks import Single
from shallows.questions.charts.neuron_limits.search import descended
from shallows.questions.charts.neuron_limits.searched_limits import drawn_starts
from shallows.questions.charts.neurons.kinds import Placed

#: So many random networks take so many steps: a second. The lowest is within 10⁻² of what they tend to, most often.
RUNS, STEPS = 96, 1000
#: Listed losses are known to many more digits than this share of the target's size.
LOWER = 1e-6


def unlisted(problem: Problem, space: PolynomialSpace, placed: list[Placed], seed: int) -> list[str]:
    """What is said where some networks have a lower loss than all that is listed."""
    excess = space.excess(
        np.array([item.row(space).entries for item in placed]).reshape(-1, len(space.right))
    )
    reached = _lowest(problem, space, seed)
    if reached >= excess.min(initial=np.inf) - LOWER * float(space.energy):
        return []
    value = reached + space.floor
    return [f"what is lowest is missing: networks have losses down to {value:.6g}, less than all listed"]


def _lowest(problem: Problem, space: PolynomialSpace, seed: int) -> float:
    """The least excess of the loss that descents come to."""
    blocks = (Single(tuple(polynomial_of(problem.activation).coefficients.tolist())),) * problem.width
    ((map_, starts),) = drawn_starts(problem, space, blocks, RUNS, np.random.default_rng([seed, 12])).items()
    return float(descended(map_, map_.linear, np.array(starts), space.gram, space.right, STEPS).min())
