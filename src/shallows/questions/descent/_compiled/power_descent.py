"""Gradient descent of many Power networks side by side in compiled code; its slow twins are in `gradient`.

Runs wait in a queue. A lane whose run has ended takes the next one; when the queue is empty the last lane moves into
the gap, so that no lane idles. Nothing here holds the interpreter's lock.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import COUNTS, FLOAT, FLOATS, INT, VOID
from shallows.questions.descent._compiled.decisions import conclude, falls, patience, verdict
from shallows.questions.descent._compiled.lanes import EXACT, lane_products, strided
from shallows.questions.descent._compiled.power_losses import evaluate_lanes, model_at, space_at
from shallows.questions.descent._compiled.runs import RUNS, runs_at
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
from shallows.support.compiling import behind, entry, unit
from shallows.support.in_memory import Room, at, in_memory
from shallows.support.tolerances import TINY


class State(NamedTuple):
    """`row` lanes: their points and trials with both slopes, the trials' loss, squared slope, slope along the step,
    whether they are taken (1.0) and how the run stands; and what each lane remembers of its run."""

    row: int
    theta: Array
    gradient: Array
    trial: Array
    new: Array
    value: Array
    square: Array
    along: Array
    taken: Array
    loss: Array
    norm: Array
    step: Array
    smallest: Array
    cap: Array
    best: Array
    code: np.ndarray
    run: np.ndarray
    fresh: np.ndarray
    iteration: np.ndarray
    since: np.ndarray


STATE = in_memory(State, INT, *(FLOATS,) * 14, *(COUNTS,) * 5)
state_at = at(STATE)


def new_state(k: int, n: int, outer: Array, lanes: int) -> Room:
    """Room for runs side by side; every lane has the outer weights, which stay where they are not trained."""
    room = Room(STATE, lanes, *((k * n + k) * lanes,) * 4, *(lanes,) * 15)
    room.array("trial")[k * n * lanes :] = np.repeat(outer, lanes)
    return room


@unit(VOID(STATE, RUNS, INT, INT))
def _load(state: Any, runs: Any, l: int, run: int) -> None:
    """Put a start into lane l; with a step of zero the next trial is the start itself."""
    strided(behind(runs.thetas, run * runs.size), 1, behind(state.theta, l), state.row, runs.size)
    for i in range(runs.size):
        state.gradient[i * state.row + l] = 0.0
    state.run[l], state.fresh[l], state.iteration[l], state.since[l] = run, 1, 0, 0
    state.step[l], state.best[l] = 0.0, np.inf


@unit(VOID(STATE, INT, INT, INT))
def _move(state: Any, size: int, source: int, to: int) -> None:
    """Copy one lane into another."""
    row = state.row
    strided(behind(state.theta, source), row, behind(state.theta, to), row, size)
    strided(behind(state.gradient, source), row, behind(state.gradient, to), row, size)
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


@unit(VOID(STATE, RUNS, INT, FLOAT))
def _begin(state: Any, runs: Any, l: int, size: float) -> None:
    """The first evaluation of a run: its loss, the loss that counts as a blow-up, and its first step."""
    square, theta, value = 0.0, behind(state.theta, l), state.value[l]
    for i in range(runs.size):
        square += theta[i * state.row] * theta[i * state.row]
    step = FIRST_MOVE * (np.sqrt(square) + SHORTEST_THETA) / max(size, TINY)
    step = runs.step if runs.step > 0 else step
    state.fresh[l] = 0
    state.loss[l], state.norm[l], state.cap[l] = value, size, BLOW_UP * (1 + value)
    state.step[l], state.smallest[l] = step, SMALLEST_STEP * step


@unit(VOID(STATE, RUNS, INT))
def _judge(state: Any, runs: Any, lanes: int) -> None:
    """Take or refuse the trial of each lane; DIVERGED when a fixed step blew up."""
    searching = runs.step <= 0
    for l in range(lanes):
        size, value, step = np.sqrt(state.square[l]), state.value[l], state.step[l]
        state.code[l], state.taken[l] = GOING, 1.0
        if state.fresh[l] != 0:
            _begin(state, runs, l, size)
            continue
        state.iteration[l] += 1
        if searching:
            good = falls(state.loss[l], state.norm[l], step, value, state.along[l], runs.scale)
            good = good and np.isfinite(size)
            state.step[l] = GROWTH * step if good else SHRINK * step
        else:
            good = value <= state.cap[l] and np.isfinite(size)
            state.code[l] = GOING if good else DIVERGED
        if good:
            state.loss[l], state.norm[l] = value, size
        else:
            state.taken[l] = 0.0


@unit(VOID(STATE, RUNS, INT))
def _end(state: Any, runs: Any, lanes: int) -> None:
    """Give a status to each run that ends at its present point."""
    for l in range(lanes):
        norm, iteration = state.norm[l], state.iteration[l]
        if state.code[l] == GOING:
            state.code[l] = verdict(runs, state.run[l], state.loss[l], norm, iteration)
        if state.code[l] != GOING:
            continue
        if runs.step <= 0:
            stuck = state.step[l] < state.smallest[l]
        else:
            stuck, state.since[l], state.best[l] = patience(
                norm, iteration, state.since[l], state.best[l], runs.scale
            )
        if stuck:
            state.code[l] = STALLED


@unit(VOID(STATE, INT, INT), fastmath=EXACT)
def _propose(state: Any, size: int, lanes: int) -> None:
    """θ − s∇L in all lanes."""
    row, step = state.row, state.step
    for i in range(size):
        theta, gradient = behind(state.theta, i * row), behind(state.gradient, i * row)
        trial = behind(state.trial, i * row)
        for l in range(lanes):
            trial[l] = theta[l] - step[l] * gradient[l]


@unit(VOID(STATE, INT, INT))
def _accept(state: Any, size: int, lanes: int) -> None:
    """Move the lanes that took their trial (taken = 1, a float so that the choice is one vector instruction)."""
    row, taken = state.row, state.taken
    for i in range(size):
        theta, trial = behind(state.theta, i * row), behind(state.trial, i * row)
        gradient, new = behind(state.gradient, i * row), behind(state.new, i * row)
        for l in range(
            lanes
        ):  # both are read, whichever is kept: a read that depends is no vector instruction
            here, there = theta[l], trial[l]
            theta[l] = there if taken[l] > 0 else here
        for l in range(lanes):
            here, there = gradient[l], new[l]
            gradient[l] = there if taken[l] > 0 else here


@unit(VOID(STATE, RUNS, INT))
def _measure(state: Any, runs: Any, lanes: int) -> None:
    """‖∇L‖² at the trials, and for a line search its product with the slope at the points."""
    for l in range(lanes):
        state.square[l], state.along[l] = 0.0, 0.0
    lane_products(state.new, state.new, runs.size, state.row, lanes, state.square)
    if runs.step <= 0:
        lane_products(state.new, state.gradient, runs.size, state.row, lanes, state.along)


@entry(VOID(INT, INT, INT, INT, INT))
def descent_lanes(form: int, model_place: int, space_place: int, runs_place: int, state_place: int) -> None:
    """Train each row in place, as many at a time as there are lanes; `form` is the loss's address."""
    model, space, runs, state = (
        model_at(model_place),
        space_at(space_place),
        runs_at(runs_place),
        state_at(state_place),
    )
    size, inner = runs.size, model.k * model.n * state.row
    outer, slopes = behind(state.trial, inner), behind(state.new, inner)
    lanes = min(state.row, runs.rows)
    for l in range(lanes):
        _load(state, runs, l, l)
    waiting = lanes
    while lanes > 0:
        _propose(state, size, lanes)
        evaluate_lanes(form, model, space, lanes, state.trial, outer, state.new, slopes, state.value)
        _measure(state, runs, lanes)
        _judge(state, runs, lanes)
        _end(state, runs, lanes)
        _accept(state, size, lanes)
        for l in range(lanes - 1, -1, -1):
            if state.code[l] == GOING:
                continue
            run = state.run[l]
            strided(behind(state.theta, l), state.row, behind(runs.thetas, run * size), 1, size)
            conclude(runs, run, state.code[l], state.loss[l], state.norm[l], state.iteration[l])
            if waiting < runs.rows:
                _load(state, runs, l, waiting)
                waiting += 1
            else:
                lanes -= 1
                _move(state, size, lanes, l)
