"""Gradient descent with a line search on ReLU losses, in compiled code; its slow twin is `gradient.line_search`.

Nothing here holds the interpreter's lock, so threads train at full speed. `flag[0] ≠ 0` asks all runs to stop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.model.kernels._compiled.kinds import FLOAT, FLOATS, INT, MATRIX, VECTOR, VOID
from shallows.model.kernels._compiled.relu_loop import (
    ONE_ARRAYS,
    ONE_SPACE,
    OneSpace,
    one_in,
    one_pass,
    one_space,
    teacher_rows,
)
from shallows.questions.descent._compiled.decisions import falls, verdict
from shallows.questions.descent._compiled.relu_fixed_step import (
    ENDS_ARRAYS,
    MODEL,
    MODEL_ARRAYS,
    RULES_ARRAYS,
    ReLUModel,
    ends_in,
    model_in,
    rules_in,
)
from shallows.questions.descent.thresholds import (
    FIRST_MOVE,
    GOING,
    GROWTH,
    SHORTEST_THETA,
    SHRINK,
    SMALLEST_STEP,
    STALLED,
)
from shallows.support.checks import Array
from shallows.support.compiling import entry, pointer, unit
from shallows.support.tolerances import TINY


@unit(FLOAT(VECTOR, VECTOR, MODEL, ONE_SPACE, VECTOR))
def _evaluate(theta: Array, gradient: Array, model: ReLUModel, one: OneSpace, unused: Array) -> float:
    """L and ∇L of one θ."""
    k, n, inner = model.k, model.n, model.k * model.n
    weights, slopes = theta[:inner].reshape(k, n), gradient[:inner].reshape(k, n)
    if model.free:
        value, _ = one_pass(weights, theta[inner:], model.teacher, model.c, one, slopes, gradient[inner:])
    else:
        value, _ = one_pass(weights, model.outer, model.teacher, model.c, one, slopes, unused)
    return float(max(value + model.energy, 0.0))


@unit(FLOAT(FLOATS, FLOATS, INT), fastmath={"reassoc", "contract"})
def dot(x: Any, y: Any, count: int) -> float:
    """Σ xᵢyᵢ."""
    total = 0.0
    for i in range(count):
        total += x[i] * y[i]
    return total


@entry(VOID(MODEL_ARRAYS, RULES_ARRAYS, ENDS_ARRAYS, ONE_ARRAYS, MATRIX))
def train(model_arrays: Any, rules_arrays: Any, ends_arrays: Any, one_arrays: Any, room: Any) -> None:
    """Train each row of the ends in place; `room` has four rows as long as they are."""
    model, rules, ends, one = (
        model_in(model_arrays),
        rules_in(rules_arrays),
        ends_in(ends_arrays),
        one_in(one_arrays),
    )
    gradient, trial, new, unused = room[0], room[1], room[2], room[3]
    p = room.shape[1]
    for row in range(len(ends.thetas)):
        theta = ends.thetas[row]
        loss = _evaluate(theta, gradient, model, one, unused)
        norm = np.sqrt(dot(pointer(gradient), pointer(gradient), p))
        s = FIRST_MOVE * (np.sqrt(dot(pointer(theta), pointer(theta), p)) + SHORTEST_THETA) / max(norm, TINY)
        smallest, iteration, code = SMALLEST_STEP * s, 0, GOING
        while code == GOING:
            code = verdict(
                loss, norm, iteration, rules.tolerances[row], rules.limits[row], rules.goal, rules.flag
            )
            if code == GOING and s < smallest:
                code = STALLED
            if code != GOING:
                break
            for i in range(p):
                trial[i] = theta[i] - s * gradient[i]
            value = _evaluate(trial, new, model, one, unused)
            size = np.sqrt(dot(pointer(new), pointer(new), p))
            iteration += 1
            slope = dot(pointer(new), pointer(gradient), p)
            taken = falls(loss, norm, s, value, slope, rules.scale) and np.isfinite(size)
            s = GROWTH * s if taken else SHRINK * s
            if taken:
                loss, norm = value, size
                for i in range(p):
                    theta[i], gradient[i] = trial[i], new[i]
        ends.losses[row], ends.norms[row], ends.status[row] = loss, norm, code
        ends.iterations[row] += iteration


def line_search_loop(
    thetas: Array, k: int, n: int, outer: Array, free: bool, V: Array, b: Array, c: Array,
    energy: float, tolerances: Array, limits: np.ndarray, goal: float, scale: float, flag: np.ndarray,
    losses: Array, norms: Array, status: np.ndarray, iterations: np.ndarray,
) -> None:  # fmt: skip
    """Train each row of `thetas` in place."""
    model = (k, n, outer, free, teacher_rows(V, b), c, energy)
    rules = (0.0, tolerances, limits, goal, scale, flag)
    ends = (thetas, losses, norms, status, iterations)
    train(model, rules, ends, one_space(k, n, len(V)), np.empty((4, thetas.shape[1])))
