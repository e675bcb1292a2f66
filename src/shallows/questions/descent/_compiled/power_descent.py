"""Gradient descent of many Power networks side by side in compiled code; its slow twins are in `gradient`.

Runs wait in a queue. A lane whose run has ended takes the next one; when the queue is empty the last lane moves into
the gap, so that no lane idles. Nothing here holds the interpreter's lock. `flag[0] ≠ 0` asks all runs to stop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shallows.questions.descent._compiled.decisions import falls, patience, verdict
from shallows.questions.descent._compiled.power_losses import EXACT, Model, evaluate_lanes, work_space
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


@njit(cache=True)
def _new_state(lanes: int) -> State:
    return State(
        np.zeros(lanes, np.int64), np.zeros(lanes, np.bool_), np.zeros(lanes, np.int64), np.zeros(lanes, np.int64),
        np.zeros(lanes), np.zeros(lanes), np.zeros(lanes), np.zeros(lanes), np.zeros(lanes), np.zeros(lanes),
    )  # fmt: skip


@njit(cache=True)
def _load(state: State, theta: Array, gradient: Array, l: int, start: Array, run: int) -> None:
    """Put a start into lane l; with a step of zero the next trial is the start itself."""
    for i in range(len(start)):
        theta[i, l], gradient[i, l] = start[i], 0.0
    state.run[l], state.fresh[l], state.iteration[l], state.since[l] = run, True, 0, 0
    state.step[l], state.best[l] = 0.0, np.inf


@njit(cache=True)
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


@njit(cache=True, error_model="numpy")
def _begin(state: State, theta: Array, l: int, value: float, size: float, step: float) -> None:
    """The first evaluation of a run: its loss, the loss that counts as a blow-up, and its first step."""
    length = np.sqrt(np.sum(theta[:, l] ** 2))
    state.fresh[l] = False
    state.loss[l], state.norm[l], state.cap[l] = value, size, BLOW_UP * (1 + value)
    state.step[l] = step if step > 0 else FIRST_MOVE * (length + SHORTEST_THETA) / max(size, TINY)
    state.smallest[l] = SMALLEST_STEP * state.step[l]


@njit(cache=True, error_model="numpy")
def _judge(
    state: State, theta: Array, lanes: int, value: Array, square: Array, slope: Array, rules: Rules, taken: Array,
    code: np.ndarray,
) -> None:  # fmt: skip
    """Take or refuse the trial of each lane; DIVERGED when a fixed step blew up."""
    searching = rules.step <= 0
    for l in range(lanes):
        size = np.sqrt(square[l])
        code[l], taken[l] = GOING, 1.0
        if state.fresh[l]:
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


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, fastmath=EXACT, error_model="numpy")
def _products(x: Array, y: Array, lanes: int, out: Array) -> None:
    """x·y of each lane."""
    for l in range(lanes):
        out[l] = 0.0
    for i in range(len(x)):
        for l in range(lanes):
            out[l] += x[i, l] * y[i, l]


@njit(cache=True, fastmath=EXACT, error_model="numpy")
def _propose(theta: Array, gradient: Array, steps: Array, lanes: int, trial: Array) -> None:
    """θ − s∇L in all lanes."""
    for i in range(len(theta)):
        for l in range(lanes):
            trial[i, l] = theta[i, l] - steps[l] * gradient[i, l]


@njit(cache=True)
def _accept(trial: Array, new: Array, taken: Array, lanes: int, theta: Array, gradient: Array) -> None:
    """Move the lanes that took their trial (taken = 1, a float so that the choice is one vector instruction)."""
    if np.all(taken[:lanes] > 0):
        theta[:], gradient[:] = trial, new
        return
    for i in range(len(theta)):
        for l in range(lanes):
            theta[i, l] = trial[i, l] if taken[l] > 0 else theta[i, l]
            gradient[i, l] = new[i, l] if taken[l] > 0 else gradient[i, l]


@njit(cache=True, nogil=True, error_model="numpy")
def descent_lanes(
    thetas: Array, k: int, n: int, outer: Array, free: bool, model: Model, block: int, rules: Rules,
    tolerances: Array, limits: np.ndarray, losses: Array, norms: Array, status: np.ndarray, iterations: np.ndarray,
) -> None:  # fmt: skip
    """Train each row of `thetas` in place, up to `block` of them at a time."""
    runs, size = thetas.shape
    lanes = min(block, runs)
    theta, gradient = np.empty((size, lanes)), np.empty((size, lanes))
    trial, new = np.empty((size, lanes)), np.empty((size, lanes))
    fixed, unused = np.empty((k, lanes)), np.empty((k, lanes))
    for i in range(k):
        fixed[i] = outer[i]
    W, dW = trial[: k * n].reshape(k, n, lanes), new[: k * n].reshape(k, n, lanes)
    a, da = (trial[k * n :], new[k * n :]) if free else (fixed, unused)
    space, state = work_space(model, k, n, lanes), _new_state(lanes)
    value, square, slope, taken = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    code, searching = np.empty(lanes, np.int64), rules.step <= 0
    for l in range(lanes):
        _load(state, theta, gradient, l, thetas[l], l)
    waiting = lanes
    while lanes > 0:
        _propose(theta, gradient, state.step, lanes, trial)
        evaluate_lanes(W, a, lanes, model, space, dW, da, value)
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
            thetas[run] = theta[:, l]
            losses[run], norms[run], status[run] = state.loss[l], state.norm[l], code[l]
            iterations[run] += state.iteration[l]
            if waiting < runs:
                _load(state, theta, gradient, l, thetas[waiting], waiting)
                waiting += 1
            else:
                lanes -= 1
                _move(state, theta, gradient, lanes, l)
