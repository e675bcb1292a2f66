"""Gradient descent with a fixed step on ReLU losses, in compiled code; its slow twin is `gradient.fixed_step`.

Small networks train side by side: a lane whose run has ended takes the next run from the queue, and when the queue is
empty the last lane moves into the gap. Large ones, and the last few of a batch, train one after the other. Nothing
here holds the interpreter's lock. `flag[0] ≠ 0` asks all runs to stop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shallows.model.kernels._compiled.relu_lanes import (
    FEWEST_LANES,
    Teacher,
    lane_space,
    lanes_for,
    relu_lanes,
)
from shallows.model.kernels._compiled.relu_loop import OneSpace, one_pass, one_space, teacher_rows
from shallows.questions.descent._compiled.decisions import patience, verdict
from shallows.questions.descent.thresholds import BLOW_UP, DIVERGED, GOING, STALLED
from shallows.support.checks import Array

#: Lanes below which one run at a time is faster (measured).
HAND_OVER = 16


class ReLUModel(NamedTuple):
    """The loss: a student of k×n weights (and its k outer ones if `free`) against a teacher of energy E y²."""

    k: int
    n: int
    outer: Array
    free: bool
    teacher: Teacher
    c: Array
    energy: float


class Rules(NamedTuple):
    """The step, and when to stop."""

    step: float
    tolerances: Array
    limits: np.ndarray
    goal: float
    scale: float
    flag: np.ndarray


class Ends(NamedTuple):
    """Where the runs end: filled in place."""

    thetas: Array
    losses: Array
    norms: Array
    status: np.ndarray
    iterations: np.ndarray


class Lanes(NamedTuple):
    """Points, slopes and history of the runs that train side by side; the lanes are the last axis."""

    W: Array
    a: Array
    dW: Array
    da: Array
    loss: Array
    square: Array
    run: np.ndarray
    iteration: np.ndarray
    since: np.ndarray
    best: Array
    cap: Array


@njit(cache=True, nogil=True, error_model="numpy")
def _verdict(
    loss: float, norm: float, iteration: int, since: int, best: float, row: int, rules: Rules
) -> tuple[int, int, float]:
    """The status of a run at a sound point (GOING when it goes on), and its history for the stall test."""
    code = verdict(loss, norm, iteration, rules.tolerances[row], rules.limits[row], rules.goal, rules.flag)
    if code == GOING:
        stuck, since, best = patience(norm, iteration, since, best, rules.scale)
        code = STALLED if stuck else GOING
    return code, since, best


@njit(cache=True, nogil=True, error_model="numpy")
def _one_run(
    row: int, iteration: int, since: int, best: float, cap: float, model: ReLUModel, rules: Rules, ends: Ends,
    space: OneSpace,
) -> None:  # fmt: skip
    """Train one row from where it is; cap = 0 stands for a fresh run. A run that blows up keeps its last point."""
    inner = model.k * model.n
    theta = ends.thetas[row]
    W, trial = np.empty((model.k, model.n)), np.empty((model.k, model.n))
    slope, new = np.empty((model.k, model.n)), np.empty((model.k, model.n))
    a, da, new_da = model.outer.copy(), np.empty(model.k), np.empty(model.k)
    W.ravel()[:] = theta[:inner]
    if model.free:
        a[:] = theta[inner:]
    value, _ = one_pass(W, a, model.teacher, model.c, space, slope, da)
    loss, norm = max(value + model.energy, 0.0), _length(slope, da, model.free)
    cap = cap if cap > 0 else BLOW_UP * (1 + loss)
    code, since, best = _verdict(loss, norm, iteration, since, best, row, rules)
    moved = a.copy()
    while code == GOING:
        _step(W, slope, rules.step, trial)
        if model.free:
            for i in range(model.k):
                moved[i] = a[i] - rules.step * da[i]
        value, _ = one_pass(trial, moved, model.teacher, model.c, space, new, new_da)
        value, size = max(value + model.energy, 0.0), _length(new, new_da, model.free)
        iteration += 1
        if not (value <= cap and np.isfinite(size)):
            code = DIVERGED
            break
        W, trial, slope, new = trial, W, new, slope
        a, moved, da, new_da = moved, a, new_da, da
        loss, norm = value, size
        code, since, best = _verdict(loss, norm, iteration, since, best, row, rules)
    theta[:inner] = W.ravel()
    if model.free:
        theta[inner:] = a
    ends.losses[row], ends.norms[row], ends.status[row] = loss, norm, code
    ends.iterations[row] += iteration


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _length(slope: Array, da: Array, free: bool) -> float:
    total = 0.0
    for x in slope.ravel():
        total += x * x
    if free:
        for x in da:
            total += x * x
    return float(np.sqrt(total))


@njit(cache=True, nogil=True, error_model="numpy")
def _step(W: Array, slope: Array, step: float, trial: Array) -> None:
    w, s, t = W.ravel(), slope.ravel(), trial.ravel()
    for i in range(len(w)):
        t[i] = w[i] - step * s[i]


@njit(cache=True)
def _new_lanes(k: int, n: int, lanes: int) -> Lanes:
    return Lanes(
        np.empty((k, n, lanes)), np.empty((k, lanes)), np.empty((k, n, lanes)), np.empty((k, lanes)),
        np.empty(lanes), np.empty(lanes), np.zeros(lanes, np.int64), np.zeros(lanes, np.int64),
        np.zeros(lanes, np.int64), np.empty(lanes), np.empty(lanes),
    )  # fmt: skip


@njit(cache=True)
def _load(lanes: Lanes, l: int, row: int, model: ReLUModel, theta: Array) -> None:
    """Put a fresh run into lane l."""
    k, n = model.k, model.n
    for i in range(k):
        lanes.a[i, l] = theta[k * n + i] if model.free else model.outer[i]
        for m in range(n):
            lanes.W[i, m, l] = theta[i * n + m]
    lanes.run[l], lanes.iteration[l], lanes.since[l] = row, 0, 0
    lanes.best[l], lanes.cap[l] = np.inf, 0.0


@njit(cache=True)
def _unload(lanes: Lanes, l: int, model: ReLUModel, theta: Array) -> None:
    """Write the point of lane l back."""
    k, n = model.k, model.n
    for i in range(k):
        if model.free:
            theta[k * n + i] = lanes.a[i, l]
        for m in range(n):
            theta[i * n + m] = lanes.W[i, m, l]


@njit(cache=True)
def _move(lanes: Lanes, source: int, to: int) -> None:
    """Copy one lane, with the slope it has just been given, into another."""
    k, n, _ = lanes.W.shape
    for i in range(k):
        lanes.a[i, to], lanes.da[i, to] = lanes.a[i, source], lanes.da[i, source]
        for m in range(n):
            lanes.W[i, m, to], lanes.dW[i, m, to] = lanes.W[i, m, source], lanes.dW[i, m, source]
    lanes.run[to], lanes.iteration[to] = lanes.run[source], lanes.iteration[source]
    lanes.since[to], lanes.best[to], lanes.cap[to] = (
        lanes.since[source],
        lanes.best[source],
        lanes.cap[source],
    )
    lanes.loss[to], lanes.square[to] = lanes.loss[source], lanes.square[source]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _squares(lanes: Lanes, active: int, free: bool) -> None:
    """‖∇L‖² of every lane."""
    k, n, _ = lanes.W.shape
    square = lanes.square
    for l in range(active):
        square[l] = 0.0
    for i in range(k):
        for m in range(n):
            row = lanes.dW[i, m]
            for l in range(active):
                square[l] += row[l] * row[l]
        if free:
            for l in range(active):
                square[l] += lanes.da[i, l] * lanes.da[i, l]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _advance(lanes: Lanes, active: int, step: float, free: bool) -> None:
    """θ ← θ − s∇L in every lane."""
    k, n, _ = lanes.W.shape
    for i in range(k):
        for m in range(n):
            row, slope = lanes.W[i, m], lanes.dW[i, m]
            for l in range(active):
                row[l] -= step * slope[l]
        if free:
            for l in range(active):
                lanes.a[i, l] -= step * lanes.da[i, l]
    for l in range(active):
        lanes.iteration[l] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _judge(lanes: Lanes, l: int, model: ReLUModel, rules: Rules, ends: Ends, one: OneSpace) -> bool:
    """Whether the run of lane l has ended; a run that blew up is run again alone, which keeps its last sound point."""
    row = lanes.run[l]
    loss, norm = max(lanes.loss[l] + model.energy, 0.0), np.sqrt(lanes.square[l])
    if lanes.iteration[l] == 0:
        lanes.cap[l] = BLOW_UP * (1 + loss)
    if not (loss <= lanes.cap[l] and np.isfinite(norm)):
        _one_run(row, 0, 0, np.inf, 0.0, model, rules, ends, one)
        return True
    code, lanes.since[l], lanes.best[l] = _verdict(
        loss, norm, lanes.iteration[l], lanes.since[l], lanes.best[l], row, rules
    )
    if code == GOING:
        return False
    _unload(lanes, l, model, ends.thetas[row])
    ends.losses[row], ends.norms[row], ends.status[row] = loss, norm, code
    ends.iterations[row] += lanes.iteration[l]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _side_by_side(width: int, model: ReLUModel, rules: Rules, ends: Ends, one: OneSpace) -> None:
    """Train all rows in `width` lanes."""
    count = len(ends.thetas)
    lanes, space = _new_lanes(model.k, model.n, width), lane_space(model.k, width)
    active = min(width, count)
    for l in range(active):
        _load(lanes, l, l, model, ends.thetas[l])
    waiting = active
    while active >= HAND_OVER:
        relu_lanes(lanes.W, lanes.a, model.teacher, model.c, active, space, lanes.loss, lanes.dW, lanes.da)
        _squares(lanes, active, model.free)
        fresh = 0  # runs just loaded have no slope yet: they wait at the end for the next evaluation
        l = 0
        while l < active - fresh:
            if not _judge(lanes, l, model, rules, ends, one):
                l += 1
                continue
            last = active - fresh - 1
            if last != l:
                _move(lanes, last, l)
            if waiting < count:
                _load(lanes, last, waiting, model, ends.thetas[waiting])
                waiting += 1
                fresh += 1
            else:
                active -= 1
                if fresh:
                    _move(lanes, active, last)
        _advance(lanes, active - fresh, rules.step, model.free)
    for l in range(active):
        row = lanes.run[l]
        _unload(lanes, l, model, ends.thetas[row])
        _one_run(
            row, lanes.iteration[l], lanes.since[l], lanes.best[l], lanes.cap[l], model, rules, ends, one
        )


@njit(cache=True, nogil=True, error_model="numpy")
def fixed_step_loop(
    thetas: Array, k: int, n: int, outer: Array, free: bool, V: Array, b: Array, c: Array, energy: float, step: float,
    tolerances: Array, limits: np.ndarray, goal: float, scale: float, flag: np.ndarray, losses: Array, norms: Array,
    status: np.ndarray, iterations: np.ndarray,
) -> None:  # fmt: skip
    """Train each row of `thetas` in place with a fixed step."""
    model = ReLUModel(k, n, outer, free, teacher_rows(V, b), c, energy)
    rules = Rules(step, tolerances, limits, goal, scale, flag)
    ends = Ends(thetas, losses, norms, status, iterations)
    one, width = one_space(k, n, len(V)), lanes_for(k, n)
    if width and len(thetas) >= FEWEST_LANES:
        _side_by_side(width, model, rules, ends, one)
        return
    for row in range(len(thetas)):
        _one_run(row, 0, 0, np.inf, 0.0, model, rules, ends, one)
