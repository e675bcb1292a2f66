"""Gradient descent of many Power networks side by side in compiled code; its slow twins are in `gradient`.

Runs wait in a queue. A lane whose run has ended takes the next one; when the queue is empty the last lane moves into
the gap, so that no lane idles. Nothing here holds the interpreter's lock. `flag[0] ≠ 0` asks all runs to stop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import BOOL, FIXED, FLOAT, INT, INTEGERS, MATRIX, VECTOR, VOID
from shallows.questions.descent._compiled.decisions import falls, patience, verdict
from shallows.questions.descent._compiled.power_losses import (
    EXACT,
    MODEL_ARRAYS,
    SPACE,
    WorkSpace,
    evaluate_lanes,
    model_in,
)
from shallows.questions.descent.thresholds import (
    BLOW_UP,
    DIVERGED,
    FIRST_MOVE,
    GOING,
    GROWTH,
    SHORTEST_THETA,
    SHRINK,
    SMALLEST_STEP,
    STALLED,
)  # fmt: skip
from shallows.support.checks import Array
from shallows.support.compiling import entry, part, record, several, unit
from shallows.support.tolerances import TINY


class Rules(NamedTuple):
    """When to stop, and how: step ≤ 0 asks for the line search of `gradient.line_search`."""

    step: float
    goal: float
    scale: float
    flag: np.ndarray


class State(NamedTuple):
    """What each lane remembers beside its point: the run, its step and its history."""

    run: np.ndarray
    fresh: np.ndarray
    iteration: np.ndarray
    since: np.ndarray
    loss: Array
    norm: Array
    step: Array
    smallest: Array
    cap: Array
    best: Array


RULES, RULES_ARRAYS = record(Rules, FLOAT, FLOAT, FLOAT, INTEGERS), several(FLOAT, FLOAT, FLOAT, INTEGERS)
_FIELDS = (*(INTEGERS,) * 4, *(VECTOR,) * 6)
STATE, STATE_ARRAYS = record(State, *_FIELDS), several(*_FIELDS)


def new_state(lanes: int) -> tuple[np.ndarray, ...]:
    """Fresh arrays, as `state_in` takes them."""
    return (*(np.zeros(lanes, np.int64) for _ in range(4)), *(np.zeros(lanes) for _ in range(6)))


@part
def state_in(arrays: Any) -> State:
    """The arrays by name."""
    run, fresh, iteration, since, loss, norm, step, smallest, cap, best = arrays
    return State(run, fresh, iteration, since, loss, norm, step, smallest, cap, best)


@unit(VOID(STATE, MATRIX, MATRIX, INT, VECTOR, INT))
def _load(state: State, theta: Array, gradient: Array, l: int, start: Array, run: int) -> None:
    """Put a start into lane l; with a step of zero the next trial is the start itself."""
    for i in range(len(start)):
        theta[i, l], gradient[i, l] = start[i], 0.0
    state.run[l], state.fresh[l], state.iteration[l], state.since[l] = run, 1, 0, 0
    state.step[l], state.best[l] = 0.0, np.inf


@unit(VOID(STATE, MATRIX, MATRIX, INT, INT))
def _move(state: State, theta: Array, gradient: Array, source: int, to: int) -> None:
    """Copy one lane into another."""
    for i in range(len(theta)):
        theta[i, to], gradient[i, to] = theta[i, source], gradient[i, source]
    state.run[to], state.fresh[to] = state.run[source], state.fresh[source]
    state.iteration[to], state.since[to] = state.iteration[source], state.since[source]
    state.loss[to], state.norm[to], state.step[to] = (
        state.loss[source],
        state.norm[source],
        state.step[source],
    )
    state.smallest[to], state.cap[to], state.best[to] = (
        state.smallest[source],
        state.cap[source],
        state.best[source],
    )


@unit(VOID(STATE, MATRIX, INT, FLOAT, FLOAT, FLOAT))
def _begin(state: State, theta: Array, l: int, value: float, size: float, step: float) -> None:
    """The first evaluation of a run: its loss, the loss that counts as a blow-up, and its first step."""
    square = 0.0
    for i in range(len(theta)):
        square += theta[i, l] * theta[i, l]
    length = np.sqrt(square)
    state.fresh[l] = 0
    state.loss[l], state.norm[l], state.cap[l] = value, size, BLOW_UP * (1 + value)
    state.step[l] = step if step > 0 else FIRST_MOVE * (length + SHORTEST_THETA) / max(size, TINY)
    state.smallest[l] = SMALLEST_STEP * state.step[l]


@unit(VOID(STATE, MATRIX, INT, VECTOR, VECTOR, VECTOR, RULES, VECTOR, INTEGERS))
def _judge(
    state: State, theta: Array, lanes: int, value: Array, square: Array, slope: Array, rules: Rules, taken: Array,
    code: np.ndarray,
) -> None:  # fmt: skip
    """Take or refuse the trial of each lane; DIVERGED when a fixed step blew up."""
    searching = rules.step <= 0
    for l in range(lanes):
        size = np.sqrt(square[l])
        code[l], taken[l] = GOING, 1.0
        if state.fresh[l] != 0:
            _begin(state, theta, l, value[l], size, rules.step)
            continue
        state.iteration[l] += 1
        if searching:
            step = state.step[l]
            good = falls(state.loss[l], state.norm[l], step, value[l], slope[l], rules.scale)
            good = good and np.isfinite(size)
            state.step[l] = GROWTH * step if good else SHRINK * step
        else:
            good = value[l] <= state.cap[l] and np.isfinite(size)
            code[l] = GOING if good else DIVERGED
        if good:
            state.loss[l], state.norm[l] = value[l], size
        else:
            taken[l] = 0.0


@unit(VOID(STATE, INT, VECTOR, INTEGERS, RULES, INTEGERS))
def _end(
    state: State, lanes: int, tolerances: Array, limits: np.ndarray, rules: Rules, code: np.ndarray
) -> None:
    """Give a status to each run that ends at its present point."""
    for l in range(lanes):
        if code[l] != GOING:
            continue
        norm, iteration, run = state.norm[l], state.iteration[l], state.run[l]
        code[l] = verdict(
            state.loss[l], norm, iteration, tolerances[run], limits[run], rules.goal, rules.flag
        )
        if code[l] != GOING:
            continue
        if rules.step <= 0:
            stuck = state.step[l] < state.smallest[l]
        else:
            stuck, state.since[l], state.best[l] = patience(
                norm, iteration, state.since[l], state.best[l], rules.scale
            )
        if stuck:
            code[l] = STALLED


@unit(VOID(MATRIX, MATRIX, INT, VECTOR), fastmath=EXACT)
def _products(x: Array, y: Array, lanes: int, out: Array) -> None:
    """x·y of each lane."""
    for l in range(lanes):
        out[l] = 0.0
    for i in range(len(x)):
        for l in range(lanes):
            out[l] += x[i, l] * y[i, l]


@unit(VOID(MATRIX, MATRIX, VECTOR, INT, MATRIX), fastmath=EXACT)
def _propose(theta: Array, gradient: Array, steps: Array, lanes: int, trial: Array) -> None:
    """θ − s∇L in all lanes."""
    for i in range(len(theta)):
        for l in range(lanes):
            trial[i, l] = theta[i, l] - steps[l] * gradient[i, l]


@unit(VOID(MATRIX, MATRIX, VECTOR, INT, MATRIX, MATRIX))
def _accept(trial: Array, new: Array, taken: Array, lanes: int, theta: Array, gradient: Array) -> None:
    """Move the lanes that took their trial (taken = 1, a float so that the choice is one vector instruction)."""
    for i in range(len(theta)):
        for l in range(lanes):
            theta[i, l] = trial[i, l] if taken[l] > 0 else theta[i, l]
            gradient[i, l] = new[i, l] if taken[l] > 0 else gradient[i, l]


@entry(
    VOID(
        INT, MATRIX, INT, INT, FIXED, BOOL, MODEL_ARRAYS, SPACE, RULES_ARRAYS, VECTOR, INTEGERS, VECTOR, VECTOR,
        INTEGERS, INTEGERS, STATE_ARRAYS, several(MATRIX, MATRIX, MATRIX, MATRIX), MATRIX, INTEGERS,
    )
)  # fmt: skip
def descent_lanes(
    form: int, thetas: Array, k: int, n: int, outer: Array, free: bool, model_arrays: Any, space: WorkSpace,
    rule_arrays: Any, tolerances: Array, limits: np.ndarray, losses: Array, norms: Array, status: np.ndarray,
    iterations: np.ndarray, state_arrays: Any, points: Any, room: Array, code: np.ndarray,
) -> None:  # fmt: skip
    """Train each row of `thetas` in place, as many at a time as there are lanes; `form` is the loss's address.

    `points` are θ, ∇L, the trials and their slopes, the latter two with k rows more for outer weights that are fixed.
    """
    model, state = model_in(model_arrays), state_in(state_arrays)
    rules = Rules(rule_arrays[0], rule_arrays[1], rule_arrays[2], rule_arrays[3])
    theta, gradient, trials, slopes = points
    runs, size = thetas.shape
    lanes = theta.shape[1]
    trial, new = trials[:size], slopes[:size]
    W, dW = trial[: k * n].reshape(k, n, lanes), new[: k * n].reshape(k, n, lanes)
    a, da = (trial[k * n :], new[k * n :]) if free else (trials[size:], slopes[size:])
    if not free:
        for i in range(k):
            for l in range(lanes):
                a[i, l] = outer[i]
    value, square, slope, taken = room[0], room[1], room[2], room[3]
    searching = rules.step <= 0
    for l in range(lanes):
        _load(state, theta, gradient, l, thetas[l], l)
    waiting = lanes
    while lanes > 0:
        _propose(theta, gradient, state.step, lanes, trial)
        evaluate_lanes(form, W, a, lanes, model, space, dW, da, value)
        _products(new, new, lanes, square)
        if searching:
            _products(new, gradient, lanes, slope)
        _judge(state, theta, lanes, value, square, slope, rules, taken, code)
        _end(state, lanes, tolerances, limits, rules, code)
        _accept(trial, new, taken, lanes, theta, gradient)
        for l in range(lanes - 1, -1, -1):
            if code[l] == GOING:
                continue
            run = state.run[l]
            for i in range(size):
                thetas[run, i] = theta[i, l]
            losses[run], norms[run], status[run] = state.loss[l], state.norm[l], code[l]
            iterations[run] += state.iteration[l]
            if waiting < runs:
                _load(state, theta, gradient, l, thetas[waiting], waiting)
                waiting += 1
            else:
                lanes -= 1
                _move(state, theta, gradient, lanes, l)
