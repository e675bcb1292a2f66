"""How long a step may be: the largest Hessian eigenvalue along a descent, and what follows from it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from shallows.mathematics.solvers.rows import row_norms
from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.methods.gradient import line_search
from shallows.questions.descent.methods.polish import hessian_products
from shallows.questions.descent.results.run import Batch
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Of power iteration: the largest eigenvalue to a few percent.
POWER_STEPS = 40
#: Iterations of a line-search descent after which the curvature is looked at.
STAGES = (0, 10, 100, 1000)
#: The gradient norm at which that descent ends: the curvature changes no more where nothing moves.
ENOUGH = 1e-9


def largest_curvature(evaluate: Evaluate, thetas: Array) -> Array:
    """The largest |eigenvalue| of ∇²L at each θ, by 40 steps of power iteration (within a few percent)."""
    q = np.broadcast_to(np.random.default_rng(1).standard_normal(thetas.shape[1]), thetas.shape)
    q = q / row_norms(q)[:, None]
    size = np.zeros(len(thetas))
    for _ in range(POWER_STEPS):
        image = hessian_products(evaluate, thetas, q)
        size = row_norms(image)
        q = image / np.maximum(size, TINY)[:, None]
    return size


def stable_step(evaluate: Evaluate, thetas: Array, iterations: int) -> float:
    """1/λ, λ the largest Hessian eigenvalue met on a line-search descent from these points.

    A fixed step below 2/λ is stable there; half of that leaves room. The descent is no longer than the run is to be.
    """
    batch = Batch.start(thetas)
    steepest = 0.0
    for stage, following in pairwise(min(stage, iterations) for stage in STAGES):
        if following == stage:
            break
        steepest = max(steepest, float(largest_curvature(evaluate, batch.thetas).max()))
        line_search(evaluate, batch, Stopping(ENOUGH, following - stage))
        batch = Batch.start(batch.thetas)
    steepest = max(steepest, float(largest_curvature(evaluate, batch.thetas).max()))
    return 1.0 / steepest if steepest > 0 else np.inf
