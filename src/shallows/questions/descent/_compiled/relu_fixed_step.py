"""Gradient descent with a fixed step on ReLU losses, in compiled code; its slow twin is `gradient.fixed_step`.

Small networks train side by side: a lane whose run has ended takes the next run from the queue, and when the queue is
empty the last lane moves into the gap. Large ones, and the last few of a batch, train one after the other. Nothing
here holds the interpreter's lock. `flag[0] ≠ 0` asks all runs to stop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import (
    BOOL,
    CUBE,
    FIXED,
    FLOAT,
    FLOATS,
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    VOID,
)
from shallows.model.kernels._compiled.relu_lanes import (
    FEWEST_LANES,
    LANE_ARRAYS,
    TEACHER,
    TEACHER_ARRAYS,
    Teacher,
    lane_space,
    lanes_for,
    lanes_in,
    relu_lanes,
)
from shallows.model.kernels._compiled.relu_loop import (
    ONE_ARRAYS,
    ONE_SPACE,
    OneSpace,
    one_in,
    one_pass,
    one_space,
    teacher_in,
    teacher_rows,
)
from shallows.questions.descent._compiled.decisions import patience, verdict
from shallows.questions.descent.thresholds import BLOW_UP, DIVERGED, GOING, STALLED
from shallows.support.checks import Array
from shallows.support.compiling import entry, part, pointer, record, several, unit

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


MODEL = record(ReLUModel, INT, INT, FIXED, BOOL, TEACHER, FIXED, FLOAT)
RULES = record(Rules, FLOAT, VECTOR, INTEGERS, FLOAT, FLOAT, INTEGERS)
ENDS = record(Ends, MATRIX, VECTOR, VECTOR, INTEGERS, INTEGERS)
LANES = record(
    Lanes, CUBE, MATRIX, CUBE, MATRIX, VECTOR, VECTOR, INTEGERS, INTEGERS, INTEGERS, VECTOR, VECTOR
)  # fmt: skip
#: The same as plain tuples, which Python hands over: the model's sizes, outer weights, ...; rules; ends; lanes.
MODEL_ARRAYS = several(INT, INT, FIXED, BOOL, TEACHER_ARRAYS, FIXED, FLOAT)
RULES_ARRAYS = several(FLOAT, VECTOR, INTEGERS, FLOAT, FLOAT, INTEGERS)
ENDS_ARRAYS = several(MATRIX, VECTOR, VECTOR, INTEGERS, INTEGERS)
RUN_ARRAYS = several(
    CUBE, MATRIX, CUBE, MATRIX, VECTOR, VECTOR, INTEGERS, INTEGERS, INTEGERS, VECTOR, VECTOR
)  # fmt: skip


@part
def model_in(arrays: Any) -> ReLUModel:
    """The model by name."""
    k, n, outer, free, rows, c, energy = arrays
    return ReLUModel(k, n, outer, free, teacher_in(rows), c, energy)


@part
def rules_in(arrays: Any) -> Rules:
    """The rules by name."""
    step, tolerances, limits, goal, scale, flag = arrays
    return Rules(step, tolerances, limits, goal, scale, flag)


@part
def ends_in(arrays: Any) -> Ends:
    """The ends by name."""
    thetas, losses, norms, status, iterations = arrays
    return Ends(thetas, losses, norms, status, iterations)


@unit(several(INT, INT, FLOAT)(FLOAT, FLOAT, INT, INT, FLOAT, INT, RULES))
def _verdict(
    loss: float, norm: float, iteration: int, since: int, best: float, row: int, rules: Rules
) -> tuple[int, int, float]:
    """The status of a run at a sound point (GOING when it goes on), and its history for the stall test."""
    code = verdict(loss, norm, iteration, rules.tolerances[row], rules.limits[row], rules.goal, rules.flag)
    if code == GOING:
        stuck, since, best = patience(norm, iteration, since, best, rules.scale)
        code = STALLED if stuck else GOING
    return code, since, best


@unit(VOID(INT, INT, INT, FLOAT, FLOAT, MODEL, RULES, ENDS, ONE_SPACE))
def _one_run(
    row: int, iteration: int, since: int, best: float, cap: float, model: ReLUModel, rules: Rules, ends: Ends,
    space: OneSpace,
) -> None:  # fmt: skip
    """Train one row from where it is; cap = 0 stands for a fresh run. A run that blows up keeps its last point."""
    inner, theta = model.k * model.n, ends.thetas[row]
    W, trial = np.empty((model.k, model.n)), np.empty((model.k, model.n))
    slope, new = np.empty((model.k, model.n)), np.empty((model.k, model.n))
    a, moved, da, new_da = np.empty(model.k), np.empty(model.k), np.empty(model.k), np.empty(model.k)
    _copy(pointer(theta), pointer(W), inner)
    for i in range(model.k):
        a[i] = theta[inner + i] if model.free else model.outer[i]
        moved[i] = a[i]
    value, _ = one_pass(W, a, model.teacher, model.c, space, slope, da)
    loss, norm = max(value + model.energy, 0.0), _length(slope, da, model.free)
    cap = cap if cap > 0 else BLOW_UP * (1 + loss)
    code, since, best = _verdict(loss, norm, iteration, since, best, row, rules)
    while code == GOING:
        _step(pointer(W), pointer(slope), rules.step, pointer(trial), inner)
        if model.free:
            _step(pointer(a), pointer(da), rules.step, pointer(moved), model.k)
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
    _copy(pointer(W), pointer(theta), inner)
    if model.free:
        for i in range(model.k):
            theta[inner + i] = a[i]
    ends.losses[row], ends.norms[row], ends.status[row] = loss, norm, code
    ends.iterations[row] += iteration


@unit(FLOAT(MATRIX, VECTOR, BOOL), fastmath={"reassoc", "contract"})
def _length(slope: Array, da: Array, free: bool) -> float:
    """‖∇L‖."""
    total, slopes = 0.0, pointer(slope)
    for i in range(slope.size):
        total += slopes[i] * slopes[i]
    if free:
        for i in range(len(da)):
            total += da[i] * da[i]
    return float(np.sqrt(total))


@unit(VOID(FLOATS, FLOATS, FLOAT, FLOATS, INT))
def _step(x: Any, slope: Any, step: float, trial: Any, count: int) -> None:
    """x − s∇L."""
    for i in range(count):
        trial[i] = x[i] - step * slope[i]


@unit(VOID(FLOATS, FLOATS, INT))
def _copy(source: Any, out: Any, count: int) -> None:
    """out ← source."""
    for i in range(count):
        out[i] = source[i]


def new_lanes(k: int, n: int, lanes: int) -> tuple[np.ndarray, ...]:
    """Fresh arrays for runs side by side, as `runs_in` takes them."""
    shapes = ((k, n, lanes), (k, lanes), (k, n, lanes), (k, lanes), (lanes,), (lanes,))
    floats, counts = [np.empty(shape) for shape in shapes], [np.zeros(lanes, np.int64) for _ in range(3)]
    return (*floats, *counts, np.empty(lanes), np.empty(lanes))


@part
def runs_in(arrays: Any) -> Lanes:
    """The arrays by name."""
    W, a, dW, da, loss, square, run, iteration, since, best, cap = arrays
    return Lanes(W, a, dW, da, loss, square, run, iteration, since, best, cap)


@unit(VOID(LANES, INT, INT, MODEL, VECTOR))
def _load(lanes: Lanes, l: int, row: int, model: ReLUModel, theta: Array) -> None:
    """Put a fresh run into lane l."""
    k, n = model.k, model.n
    for i in range(k):
        lanes.a[i, l] = theta[k * n + i] if model.free else model.outer[i]
        for m in range(n):
            lanes.W[i, m, l] = theta[i * n + m]
    lanes.run[l], lanes.iteration[l], lanes.since[l] = row, 0, 0
    lanes.best[l], lanes.cap[l] = np.inf, 0.0


@unit(VOID(LANES, INT, MODEL, VECTOR))
def _unload(lanes: Lanes, l: int, model: ReLUModel, theta: Array) -> None:
    """Write the point of lane l back."""
    k, n = model.k, model.n
    for i in range(k):
        if model.free:
            theta[k * n + i] = lanes.a[i, l]
        for m in range(n):
            theta[i * n + m] = lanes.W[i, m, l]


@unit(VOID(LANES, INT, INT))
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


@unit(VOID(LANES, INT, BOOL), fastmath={"contract"})
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


@unit(VOID(LANES, INT, FLOAT, BOOL), fastmath={"contract"})
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


@unit(BOOL(LANES, INT, MODEL, RULES, ENDS, ONE_SPACE))
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


@entry(VOID(MODEL_ARRAYS, RULES_ARRAYS, ENDS_ARRAYS, ONE_ARRAYS, LANE_ARRAYS, RUN_ARRAYS))
def side_by_side(
    model_arrays: Any, rules_arrays: Any, ends_arrays: Any, one_arrays: Any, lane_arrays: Any, run_arrays: Any
) -> None:
    """Train all rows in as many lanes as there is room for."""
    model, rules, ends = model_in(model_arrays), rules_in(rules_arrays), ends_in(ends_arrays)
    one, space, lanes = one_in(one_arrays), lanes_in(lane_arrays), runs_in(run_arrays)
    count, width = len(ends.thetas), len(lanes.loss)
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


@entry(VOID(MODEL_ARRAYS, RULES_ARRAYS, ENDS_ARRAYS, ONE_ARRAYS))
def one_by_one(model_arrays: Any, rules_arrays: Any, ends_arrays: Any, one_arrays: Any) -> None:
    """Train all rows one after the other."""
    model, rules, ends = model_in(model_arrays), rules_in(rules_arrays), ends_in(ends_arrays)
    one = one_in(one_arrays)
    for row in range(len(ends.thetas)):
        _one_run(row, 0, 0, np.inf, 0.0, model, rules, ends, one)


def fixed_step_loop(
    thetas: Array, k: int, n: int, outer: Array, free: bool, V: Array, b: Array, c: Array, energy: float, step: float,
    tolerances: Array, limits: np.ndarray, goal: float, scale: float, flag: np.ndarray, losses: Array, norms: Array,
    status: np.ndarray, iterations: np.ndarray,
) -> None:  # fmt: skip
    """Train each row of `thetas` in place with a fixed step."""
    model = (k, n, outer, free, teacher_rows(V, b), c, energy)
    rules = (step, tolerances, limits, goal, scale, flag)
    ends = (thetas, losses, norms, status, iterations)
    one, width = one_space(k, n, len(V)), lanes_for(k, n)
    if width and len(thetas) >= FEWEST_LANES:
        side_by_side(model, rules, ends, one, lane_space(k, width), new_lanes(k, n, width))
    else:
        one_by_one(model, rules, ends, one)
