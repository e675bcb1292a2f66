"""Gradient descent with a fixed step on ReLU losses, in compiled code; its slow twin is `gradient.fixed_step`.

Small networks train side by side: a lane whose run has ended takes the next run from the queue, and when the queue is
empty the last lane moves into the gap. Large ones, and the last few of a batch, train one after the other. Nothing
here holds the interpreter's lock.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import BOOL, COUNTS, FLOAT, FLOATS, INT, VOID
from shallows.model.kernels._compiled.relu_lanes import (
    FEWEST_LANES,
    lane_space,
    lanes_at,
    lanes_for,
    relu_lanes,
)
from shallows.model.kernels._compiled.relu_loop import ONE_SPACE, one_at, one_pass, one_space
from shallows.model.kernels._compiled.relu_model import MODEL, model_at
from shallows.model.kernels._compiled.vectors import inner, moved, scaled
from shallows.questions.descent._compiled.decisions import conclude, patience, verdict
from shallows.questions.descent._compiled.lanes import EXACT, lane_products, strided
from shallows.questions.descent._compiled.runs import RUNS, runs_at
from shallows.questions.descent.thresholds import BLOW_UP, DIVERGED, GOING, STALLED
from shallows.support.checks import Array
from shallows.support.compiling import behind, entry, several, unit
from shallows.support.in_memory import Held, Room, at, in_memory

#: Lanes below which one run at a time is faster (measured).
HAND_OVER = 16


class Points(NamedTuple):
    """A point, the next one and their slopes, of a run that trains alone: inner and outer weights behind each other."""

    theta: Array
    trial: Array
    slope: Array
    new: Array


class Lanes(NamedTuple):
    """Points, slopes and history of the runs that train side by side; the lanes are the last axis."""

    row: int
    theta: Array
    slope: Array
    loss: Array
    square: Array
    run: np.ndarray
    iteration: np.ndarray
    since: np.ndarray
    best: Array
    cap: Array


POINTS = in_memory(Points, *(FLOATS,) * 4)
LANES = in_memory(Lanes, INT, FLOATS, FLOATS, FLOATS, FLOATS, COUNTS, COUNTS, COUNTS, FLOATS, FLOATS)
points_at, runs_side_by_side_at = at(POINTS), at(LANES)


@unit(several(INT, INT, FLOAT)(RUNS, INT, FLOAT, FLOAT, INT, INT, FLOAT), rare=True)
def _verdict(
    runs: Any, row: int, loss: float, norm: float, iteration: int, since: int, best: float
) -> tuple[int, int, float]:
    """The status of a run at a sound point (GOING when it goes on), and its history for the stall test."""
    code = verdict(runs, row, loss, norm, iteration)
    if code == GOING:
        stuck, since, best = patience(norm, iteration, since, best, runs.scale)
        code = STALLED if stuck else GOING
    return code, since, best


@unit(VOID(MODEL, RUNS, ONE_SPACE, POINTS, INT, INT, INT, FLOAT, FLOAT), rare=True)
def _one_run(
    model: Any, runs: Any, space: Any, points: Any, at_row: int, iteration: int, since: int, best: float, cap: float
) -> None:  # fmt: skip
    """Train one row from where it is; cap = 0 stands for a fresh run. A run that blows up keeps its last point."""
    weights, size = model.k * model.n, runs.size
    theta, trial, slope, new = points.theta, points.trial, points.slope, points.new
    home = behind(runs.thetas, at_row * size)
    scaled(model.outer, 1.0, behind(theta, weights), model.k)
    scaled(model.outer, 1.0, behind(trial, weights), model.k)
    scaled(home, 1.0, theta, size)
    value, _ = one_pass(model, space, theta, behind(theta, weights), slope, behind(slope, weights))
    loss, norm = max(value + model.energy, 0.0), np.sqrt(inner(slope, slope, size))
    cap = cap if cap > 0 else BLOW_UP * (1 + loss)
    code, since, best = _verdict(runs, at_row, loss, norm, iteration, since, best)
    while code == GOING:
        moved(theta, -runs.step, slope, trial, size)
        value, _ = one_pass(model, space, trial, behind(trial, weights), new, behind(new, weights))
        value, extent = max(value + model.energy, 0.0), np.sqrt(inner(new, new, size))
        iteration += 1
        if not (value <= cap and np.isfinite(extent)):
            code = DIVERGED
            break
        theta, trial, slope, new = trial, theta, new, slope
        loss, norm = value, extent
        code, since, best = _verdict(runs, at_row, loss, norm, iteration, since, best)
    scaled(theta, 1.0, home, size)
    conclude(runs, at_row, code, loss, norm, iteration)


def _lanes(k: int, n: int, outer: Array, lanes: int) -> Room:
    """Room for runs side by side; every lane has the outer weights."""
    size = (k * n + k) * lanes
    room = Room(LANES, lanes, size, size, *(lanes,) * 7)
    room.array("theta")[k * n * lanes :] = np.repeat(outer, lanes)
    return room


@unit(VOID(LANES, RUNS, INT, INT), rare=True)
def _load(lanes: Any, runs: Any, l: int, row: int) -> None:
    """Put a fresh run into lane l."""
    strided(behind(runs.thetas, row * runs.size), 1, behind(lanes.theta, l), lanes.row, runs.size)
    lanes.run[l], lanes.iteration[l], lanes.since[l] = row, 0, 0
    lanes.best[l], lanes.cap[l] = np.inf, 0.0


@unit(VOID(LANES, RUNS, INT), rare=True)
def _unload(lanes: Any, runs: Any, l: int) -> None:
    """Write the point of lane l back."""
    strided(behind(lanes.theta, l), lanes.row, behind(runs.thetas, lanes.run[l] * runs.size), 1, runs.size)


@unit(VOID(LANES, INT, INT, INT), rare=True)
def _move(lanes: Any, size: int, source: int, to: int) -> None:
    """Copy one lane, with the slope it has just been given, into another."""
    row = lanes.row
    strided(behind(lanes.theta, source), row, behind(lanes.theta, to), row, size)
    strided(behind(lanes.slope, source), row, behind(lanes.slope, to), row, size)
    lanes.run[to], lanes.iteration[to], lanes.since[to] = (
        lanes.run[source],
        lanes.iteration[source],
        lanes.since[source],
    )
    lanes.best[to], lanes.cap[to] = lanes.best[source], lanes.cap[source]
    lanes.loss[to], lanes.square[to] = lanes.loss[source], lanes.square[source]


@unit(VOID(LANES, INT, INT, FLOAT), fastmath=EXACT)
def _advance(lanes: Any, size: int, active: int, step: float) -> None:
    """θ ← θ − s∇L in every lane."""
    for i in range(size):
        theta, slope = behind(lanes.theta, i * lanes.row), behind(lanes.slope, i * lanes.row)
        for l in range(active):
            theta[l] -= step * slope[l]
    for l in range(active):
        lanes.iteration[l] += 1


@unit(BOOL(LANES, MODEL, RUNS, ONE_SPACE, POINTS, INT), rare=True)
def _judge(lanes: Any, model: Any, runs: Any, one: Any, points: Any, l: int) -> bool:
    """Whether the run of lane l has ended; a run that blew up is run again alone, which keeps its last sound point."""
    row, iteration = lanes.run[l], lanes.iteration[l]
    loss, norm = max(lanes.loss[l] + model.energy, 0.0), np.sqrt(lanes.square[l])
    if iteration == 0:
        lanes.cap[l] = BLOW_UP * (1 + loss)
    if not (loss <= lanes.cap[l] and np.isfinite(norm)):
        _one_run(model, runs, one, points, row, 0, 0, np.inf, 0.0)
        return True
    code, lanes.since[l], lanes.best[l] = _verdict(
        runs, row, loss, norm, iteration, lanes.since[l], lanes.best[l]
    )
    if code == GOING:
        return False
    _unload(lanes, runs, l)
    conclude(runs, row, code, loss, norm, iteration)
    return True


@entry(VOID(INT, INT, INT, INT, INT, INT), rare=True)
def side_by_side(
    model_place: int, runs_place: int, one_place: int, points_place: int, space_place: int, lanes_place: int
) -> None:
    """Train all rows in as many lanes as there is room for."""
    model, runs, one, points = (
        model_at(model_place),
        runs_at(runs_place),
        one_at(one_place),
        points_at(points_place),
    )
    space, lanes = lanes_at(space_place), runs_side_by_side_at(lanes_place)
    count, size, row = runs.rows, runs.size, lanes.row
    outer, slopes = behind(lanes.theta, model.k * model.n * row), behind(lanes.slope, model.k * model.n * row)
    active = min(row, count)
    for l in range(active):
        _load(lanes, runs, l, l)
    waiting = active
    while active >= HAND_OVER:
        relu_lanes(model, space, active, lanes.theta, outer, lanes.loss, lanes.slope, slopes)
        for l in range(active):
            lanes.square[l] = 0.0
        lane_products(lanes.slope, lanes.slope, size, row, active, lanes.square)
        fresh = 0  # runs just loaded have no slope yet: they wait at the end for the next evaluation
        l = 0
        while l < active - fresh:
            if not _judge(lanes, model, runs, one, points, l):
                l += 1
                continue
            last = active - fresh - 1
            if last != l:
                _move(lanes, size, last, l)
            if waiting < count:
                _load(lanes, runs, last, waiting)
                waiting += 1
                fresh += 1
            else:
                active -= 1
                if fresh:
                    _move(lanes, size, active, last)
        _advance(lanes, size, active - fresh, runs.step)
    for l in range(active):
        _unload(lanes, runs, l)
        _one_run(
            model, runs, one, points, lanes.run[l], lanes.iteration[l], lanes.since[l], lanes.best[l], lanes.cap[l]
        )  # fmt: skip


@entry(VOID(INT, INT, INT, INT), rare=True)
def one_by_one(model_place: int, runs_place: int, one_place: int, points_place: int) -> None:
    """Train all rows one after the other."""
    model, runs, one, points = (
        model_at(model_place),
        runs_at(runs_place),
        one_at(one_place),
        points_at(points_place),
    )
    for row in range(runs.rows):
        _one_run(model, runs, one, points, row, 0, 0, np.inf, 0.0)


def fixed_step_loop(model: Held, runs: Held) -> None:
    """Train each row in place with a fixed step."""
    k, n, m, outer = model.values.k, model.values.n, model.values.m, model.values.outer
    one, points, width = one_space(k, n, m), Room(POINTS, *(k * n + k,) * 4), lanes_for(k, n)
    places = model.address, runs.address, one.address, points.address
    if width and runs.values.rows >= FEWEST_LANES:
        space, lanes = lane_space(k, width), _lanes(k, n, outer, width)
        side_by_side(*places, space.address, lanes.address)
    else:
        one_by_one(*places)
