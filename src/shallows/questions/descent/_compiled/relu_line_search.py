"""Gradient descent with a line search on ReLU losses, in compiled code; its slow twin is `gradient.line_search`.

Nothing here holds the interpreter's lock, so threads train at full speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.model.kernels._compiled.kinds import FLOAT, FLOATS, INT, MATRIX, VOID
from shallows.model.kernels._compiled.relu_loop import ONE_SPACE, one_at, one_pass, one_space
from shallows.model.kernels._compiled.relu_model import MODEL, model_at
from shallows.model.kernels._compiled.vectors import inner, moved, scaled
from shallows.questions.descent._compiled.decisions import conclude, falls, verdict
from shallows.questions.descent._compiled.runs import runs_at
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
from shallows.support.compiling import behind, entry, pointer, unit
from shallows.support.in_memory import Held
from shallows.support.tolerances import TINY


@unit(FLOAT(MODEL, ONE_SPACE, FLOATS, FLOATS, FLOATS))
def _evaluate(model: Any, one: Any, theta: Any, gradient: Any, unused: Any) -> float:
    """L and ∇L of one θ."""
    size = model.k * model.n
    outer = behind(theta, size) if model.free else model.outer
    value, _ = one_pass(model, one, theta, outer, gradient, behind(gradient, size) if model.free else unused)
    return float(max(value + model.energy, 0.0))


@entry(VOID(INT, INT, INT, MATRIX), rare=True)
def train(model_place: int, runs_place: int, one_place: int, room: Array) -> None:
    """Train each row in place; `room` has four rows of so many numbers, and as many as there are outer weights."""
    model, runs, one = model_at(model_place), runs_at(runs_place), one_at(one_place)
    p, places = runs.size, room.shape[1]
    gradient = pointer(room)
    trial, new, unused = behind(gradient, places), behind(gradient, 2 * places), behind(gradient, 3 * places)
    for row in range(runs.rows):
        theta = behind(runs.thetas, row * p)
        loss = _evaluate(model, one, theta, gradient, unused)
        norm = np.sqrt(inner(gradient, gradient, p))
        s = FIRST_MOVE * (np.sqrt(inner(theta, theta, p)) + SHORTEST_THETA) / max(norm, TINY)
        smallest, iteration, code = SMALLEST_STEP * s, 0, GOING
        while code == GOING:
            code = verdict(runs, row, loss, norm, iteration)
            if code == GOING and s < smallest:
                code = STALLED
            if code != GOING:
                break
            moved(theta, -s, gradient, trial, p)
            value = _evaluate(model, one, trial, new, unused)
            size = np.sqrt(inner(new, new, p))
            iteration += 1
            slope = inner(new, gradient, p)
            taken = falls(loss, norm, s, value, slope, runs.scale) and np.isfinite(size)
            s = GROWTH * s if taken else SHRINK * s
            if taken:
                loss, norm = value, size
                scaled(trial, 1.0, theta, p)
                scaled(new, 1.0, gradient, p)
        conclude(runs, row, code, loss, norm, iteration)


def line_search_loop(model: Held, runs: Held) -> None:
    """Train each row in place."""
    k, n, m = model.values.k, model.values.n, model.values.m
    one = one_space(k, n, m)
    train(model.address, runs.address, one.address, np.empty((4, k * n + k)))
