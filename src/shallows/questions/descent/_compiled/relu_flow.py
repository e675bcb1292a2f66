"""Long steps along the gradient flow of ReLU losses, in compiled code, for the slow middle part of a descent.

After a short transient, descent at 2.5/k creeps: the step is bound by a few stiff directions, while the path winds
slowly through all others. The stiff part of ∇²L is known (paper 003's kernel at right angles): with u = (aᵢwᵢ/‖wᵢ‖)ᵢ,

    A = ½ aaᵀ ⊗ I + uuᵀ/π + shift·I.

ROS2 (Verwer, Spee, Blom and Hundsdorfer 1999) integrates θ' = −∇L with this A in place of the Hessian: it is of second
order for any A, and stiff directions do not bound its step. With M = I + γhA:

    M k₁ = −∇L(θ),   M k₂ = −∇L(θ + hk₁) − 2k₁,   θ ← θ + h(3k₁ + k₂)/2,

accepted when the second order changes the first by no more than the accuracy asked for: ½‖k₁ + k₂‖ ≤ η‖k₁‖. Runs go
side by side as in `relu_fixed_step`; the lanes are the last axis. The slow twin is in the tests.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import (
    BOOL,
    CUBE,
    FIXED,
    FLOAT,
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    VOID,
)
from shallows.model.kernels._compiled.relu_angles import FAST
from shallows.model.kernels._compiled.relu_lanes import (
    FEWEST_LANES,
    LANE_ARRAYS,
    LANE_SPACE,
    LaneSpace,
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
    teacher_rows,
)
from shallows.questions.descent._compiled.decisions import verdict
from shallows.questions.descent._compiled.relu_fixed_step import (
    ENDS,
    ENDS_ARRAYS,
    MODEL,
    MODEL_ARRAYS,
    RULES,
    RULES_ARRAYS,
    Ends,
    ReLUModel,
    Rules,
    ends_in,
    model_in,
    rules_in,
)
from shallows.questions.descent.thresholds import GOING
from shallows.support.checks import Array
from shallows.support.compiling import entry, part, record, several, unit

#: γ of ROS2: 1 − 1/√2 makes it L-stable (Verwer, Spee, Blom and Hundsdorfer 1999).
GAMMA = 1 - np.sqrt(0.5)
#: The shift of A, in units of the mean squared outer weight: it stands for the rest of the Hessian; the order of
#: the method does not depend on it.
SHIFT = 0.3
#: Steps in units of the flow's time: the first, the longest, and the one below which plain descent is quicker.
FIRST_STEP, LONGEST, SHORTEST = 0.5, 50.0, 1e-3
#: How the next step follows from the change of second order (linear in the step), and how far it may grow or shrink.
SAFETY, GROWTH, SHRINK = 0.8, 1.5, 0.3
#: A change below this is taken for this: the next step is then bound by GROWTH alone.
LEAST_CHANGE = 1e-9
#: Evaluations after which plain descent goes on.
MOST = 4000


class Flow(NamedTuple):
    """The runs that follow the flow side by side: points, slopes, work arrays (k, n, lanes), (n, lanes), (lanes,)."""

    W: Array
    slope: Array
    first: Array
    trial: Array
    new: Array
    radial: Array
    total: Array
    outer: Array
    da: Array
    loss: Array
    square: Array
    h: Array
    damping: Array
    share: Array
    weight: Array
    inner: Array
    moved: Array
    changed: Array
    run: np.ndarray
    spent: np.ndarray


_FIELDS = (*(CUBE,) * 6, MATRIX, MATRIX, MATRIX, *(VECTOR,) * 9, INTEGERS, INTEGERS)
FLOW, FLOW_ARRAYS = record(Flow, *_FIELDS), several(*_FIELDS)


def new_flow(k: int, n: int, outer: Array, lanes: int) -> tuple[np.ndarray, ...]:
    """Fresh arrays for runs side by side, as `flow_in` takes them; every lane has the outer weights."""
    cubes, vectors = [np.empty((k, n, lanes)) for _ in range(6)], [np.empty(lanes) for _ in range(9)]
    counts = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
    every = np.repeat(outer[:, None], lanes, axis=1)
    return (*cubes, np.empty((n, lanes)), every, np.empty((k, lanes)), *vectors, *counts)


@part
def flow_in(arrays: Any) -> Flow:
    """The arrays by name."""
    (
        W,
        slope,
        first,
        trial,
        new,
        radial,
        total,
        outer,
        da,
        loss,
        square,
        h,
        damping,
        share,
        weight,
        inner,
        moved,
        changed,
        run,
        spent,
    ) = arrays
    return Flow(
        W,
        slope,
        first,
        trial,
        new,
        radial,
        total,
        outer,
        da,
        loss,
        square,
        h,
        damping,
        share,
        weight,
        inner,
        moved,
        changed,
        run,
        spent,
    )


@unit(VOID(CUBE, CUBE, INT, VECTOR), fastmath=FAST)
def _inner(x: Array, y: Array, lanes: int, out: Array) -> None:
    """⟨x, y⟩ in every lane."""
    k, n, _ = x.shape
    for l in range(lanes):
        out[l] = 0.0
    for i in range(k):
        for m in range(n):
            p, q = x[i, m], y[i, m]
            for l in range(lanes):
                out[l] += p[l] * q[l]


@unit(VOID(CUBE, FIXED, FLOW, INT), fastmath=FAST)
def _damped(x: Array, a: Array, flow: Flow, lanes: int) -> None:
    """x ← (d⁻¹I + ½γh aaᵀ)⁻¹x = d(x − f a(aᵀx)), with d the damping and f the share of each lane."""
    k, n, _ = x.shape
    total = flow.total
    for m in range(n):
        for l in range(lanes):
            total[m, l] = 0.0
    for i in range(k):
        for m in range(n):
            row, column, weight = total[m], x[i, m], a[i]
            for l in range(lanes):
                row[l] += weight * column[l]
    for i in range(k):
        for m in range(n):
            row, column, weight = total[m], x[i, m], a[i]
            for l in range(lanes):
                column[l] = flow.damping[l] * (column[l] - flow.share[l] * weight * row[l])


@unit(VOID(CUBE, FIXED, FLOW, INT), fastmath=FAST)
def _solve(x: Array, a: Array, flow: Flow, lanes: int) -> None:
    """x ← M⁻¹x, after `_factor`."""
    k, n, _ = x.shape
    _inner(flow.radial, x, lanes, flow.inner)
    _damped(x, a, flow, lanes)
    for l in range(lanes):
        flow.inner[l] *= flow.weight[l]
    for i in range(k):
        for m in range(n):
            row, radial = x[i, m], flow.radial[i, m]
            for l in range(lanes):
                row[l] -= flow.inner[l] * radial[l]


@unit(VOID(FIXED, FLOW, INT), fastmath=FAST)
def _factor(a: Array, flow: Flow, lanes: int) -> None:
    """What `_solve` needs: v = (M − γh uuᵀ/π)⁻¹u, in place of u, and the weight of vvᵀ (Sherman and Morrison)."""
    k, n, _ = flow.W.shape
    square = 0.0
    for i in range(k):
        square += a[i] * a[i]
    for l in range(lanes):
        flow.damping[l] = 1 / (1 + GAMMA * flow.h[l] * SHIFT * square / k)
        stiff = 0.5 * GAMMA * flow.h[l] * flow.damping[l]
        flow.share[l] = stiff / (1 + stiff * square)
    for i in range(k):
        for l in range(lanes):
            flow.inner[l] = 0.0
        for m in range(n):
            for l in range(lanes):
                flow.inner[l] += flow.W[i, m, l] * flow.W[i, m, l]
        for l in range(lanes):
            flow.inner[l] = a[i] / np.sqrt(flow.inner[l]) if flow.inner[l] > 0 else 0.0
        for m in range(n):
            for l in range(lanes):
                flow.radial[i, m, l] = flow.W[i, m, l] * flow.inner[l]
                flow.trial[i, m, l] = flow.radial[i, m, l]
    _damped(flow.radial, a, flow, lanes)
    _inner(flow.trial, flow.radial, lanes, flow.inner)
    for l in range(lanes):
        stiff = GAMMA * flow.h[l] / np.pi
        flow.weight[l] = stiff / (1 + stiff * flow.inner[l])


@unit(VOID(CUBE, CUBE, FLOW, INT, MODEL, LANE_SPACE, ONE_SPACE))
def _evaluate(
    W: Array, slope: Array, flow: Flow, lanes: int, model: ReLUModel, space: LaneSpace, one: OneSpace
) -> None:
    """Losses and slopes at W."""
    if W.shape[2] > 1:
        relu_lanes(W, flow.outer, model.teacher, model.c, lanes, space, flow.loss, slope, flow.da)
        return
    shape = (model.k, model.n)
    flow.loss[0], _ = one_pass(
        W.reshape(shape),
        model.outer,
        model.teacher,
        model.c,
        one,
        slope.reshape(shape),
        flow.da.reshape(model.k),
    )


@unit(VOID(FIXED, FLOW, INT), fastmath=FAST)
def _first_stage(a: Array, flow: Flow, lanes: int) -> None:
    """k₁ and the trial point θ + hk₁."""
    k, n, _ = flow.W.shape
    _factor(a, flow, lanes)
    for i in range(k):
        for m in range(n):
            for l in range(lanes):
                flow.first[i, m, l] = -flow.slope[i, m, l]
    _solve(flow.first, a, flow, lanes)
    for i in range(k):
        for m in range(n):
            for l in range(lanes):
                flow.trial[i, m, l] = flow.W[i, m, l] + flow.h[l] * flow.first[i, m, l]


@unit(VOID(FIXED, FLOW, INT), fastmath=FAST)
def _second_stage(a: Array, flow: Flow, lanes: int) -> None:
    """k₂ in place of the new slope, and ‖k₁‖², ‖k₁ + k₂‖²."""
    k, n, _ = flow.W.shape
    for i in range(k):
        for m in range(n):
            for l in range(lanes):
                flow.new[i, m, l] = -flow.new[i, m, l] - 2 * flow.first[i, m, l]
    _solve(flow.new, a, flow, lanes)
    for l in range(lanes):
        flow.moved[l], flow.changed[l] = 0.0, 0.0
    for i in range(k):
        for m in range(n):
            for l in range(lanes):
                p, q = flow.first[i, m, l], flow.first[i, m, l] + flow.new[i, m, l]
                flow.moved[l] += p * p
                flow.changed[l] += q * q


@unit(VOID(FLOW, INT, FLOAT), fastmath=FAST)
def _move_on(flow: Flow, lanes: int, accuracy: float) -> None:
    """Take the steps that are accurate enough, and choose the next lengths; a run without a slope yet stays."""
    k, n, _ = flow.W.shape
    for l in range(lanes):
        flow.inner[l] = 0.0
        if flow.moved[l] == 0:
            continue
        change = 0.5 * np.sqrt(flow.changed[l] / flow.moved[l])
        if change <= accuracy:
            flow.inner[l] = 0.5 * flow.h[l]
            flow.h[l] = min(flow.h[l] * min(SAFETY * accuracy / max(change, LEAST_CHANGE), GROWTH), LONGEST)
        elif np.isfinite(change):
            flow.h[l] *= max(SAFETY * accuracy / change, SHRINK)
        else:
            flow.h[l] *= SHRINK
    for i in range(k):
        for m in range(n):
            for l in range(lanes):
                to = flow.W[i, m, l] + flow.inner[l] * (3 * flow.first[i, m, l] + flow.new[i, m, l])
                flow.W[i, m, l] = to if flow.inner[l] > 0 else flow.W[i, m, l]


@unit(VOID(FLOW, INT, INT, VECTOR, FLOAT))
def _load(flow: Flow, l: int, row: int, theta: Array, step: float) -> None:
    """Put a run into lane l; it has no slope yet."""
    k, n, _ = flow.W.shape
    for i in range(k):
        for m in range(n):
            flow.W[i, m, l], flow.slope[i, m, l] = theta[i * n + m], 0.0
    flow.h[l], flow.run[l], flow.spent[l] = step, row, 0


@unit(VOID(FLOW, INT, INT))
def _replace(flow: Flow, l: int, last: int) -> None:
    """Move the last lane into a gap."""
    k, n, _ = flow.W.shape
    for i in range(k):
        for m in range(n):
            flow.W[i, m, l], flow.slope[i, m, l] = flow.W[i, m, last], flow.slope[i, m, last]
    flow.h[l], flow.run[l], flow.spent[l] = flow.h[last], flow.run[last], flow.spent[last]
    flow.loss[l], flow.square[l] = flow.loss[last], flow.square[last]


@unit(several(INT, BOOL)(FLOAT, FLOAT, INT, FLOAT, INT, RULES))
def _code(loss: float, norm: float, count: int, h: float, row: int, rules: Rules) -> tuple[int, bool]:
    """The status of a run, and whether it stops here; GOING and stopped: plain descent has to go on."""
    if not (np.isfinite(loss) and np.isfinite(norm)):
        return GOING, True
    code = verdict(loss, norm, count, rules.tolerances[row], rules.limits[row], rules.goal, rules.flag)
    return code, code != GOING or count >= MOST or h < SHORTEST


@unit(VOID(FLOW, INT, INT, FLOAT, FLOAT, ENDS))
def _store(flow: Flow, l: int, code: int, loss: float, norm: float, ends: Ends) -> None:
    k, n, _ = flow.W.shape
    row = flow.run[l]
    for i in range(k):
        for m in range(n):
            ends.thetas[row, i * n + m] = flow.W[i, m, l]
    ends.losses[row], ends.norms[row], ends.status[row] = loss, norm, code
    ends.iterations[row] += flow.spent[l]


@entry(
    INT(
        INTEGERS,
        VECTOR,
        INT,
        FLOAT,
        MODEL_ARRAYS,
        RULES_ARRAYS,
        ENDS_ARRAYS,
        ONE_ARRAYS,
        LANE_ARRAYS,
        FLOW_ARRAYS,
    )
)
def follow(
    rows: np.ndarray, steps: Array, fewest: int, accuracy: float, model_arrays: Any, rules_arrays: Any,
    ends_arrays: Any, one_arrays: Any, lane_arrays: Any, flow_arrays: Any,
) -> int:  # fmt: skip
    """Follow the flow side by side while at least `fewest` rows are left; returns how many, their steps kept.

    The rows that are left are those of the first lanes.
    """
    model, rules, ends = model_in(model_arrays), rules_in(rules_arrays), ends_in(ends_arrays)
    one, space, flow = one_in(one_arrays), lanes_in(lane_arrays), flow_in(flow_arrays)
    width = len(flow.loss)
    active = min(width, len(rows))
    for l in range(active):
        _load(flow, l, rows[l], ends.thetas[rows[l]], steps[rows[l]])
    waiting = active
    while active and active >= fewest:
        _first_stage(model.outer, flow, active)
        _evaluate(flow.trial, flow.new, flow, active, model, space, one)
        _second_stage(model.outer, flow, active)
        _move_on(flow, active, accuracy)
        _evaluate(flow.W, flow.slope, flow, active, model, space, one)
        _inner(flow.slope, flow.slope, active, flow.square)
        for l in range(active - 1, -1, -1):
            flow.spent[l] += 2
            loss, norm = max(flow.loss[l] + model.energy, 0.0), np.sqrt(flow.square[l])
            code, stop = _code(loss, norm, flow.spent[l], flow.h[l], flow.run[l], rules)
            if not stop:
                continue
            _store(flow, l, code, loss, norm, ends)
            if waiting < len(rows):
                _load(flow, l, rows[waiting], ends.thetas[rows[waiting]], steps[rows[waiting]])
                waiting += 1
            else:
                active -= 1
                _replace(flow, l, active)
    for l in range(active):
        _store(flow, l, GOING, max(flow.loss[l] + model.energy, 0.0), np.sqrt(flow.square[l]), ends)
        steps[flow.run[l]] = flow.h[l]
    return active


def flow_loop(
    thetas: Array, k: int, n: int, outer: Array, V: Array, b: Array, c: Array, energy: float, accuracy: float,
    tolerances: Array, limits: np.ndarray, goal: float, scale: float, flag: np.ndarray, losses: Array, norms: Array,
    status: np.ndarray, iterations: np.ndarray,
) -> None:  # fmt: skip
    """Follow the flow from each row of `thetas` in place; a status of GOING leaves the row to plain descent."""
    model = (k, n, outer, False, teacher_rows(V, b), c, energy)
    rules = (0.0, tolerances, limits, goal, scale, flag)
    ends, one = (thetas, losses, norms, status, iterations), one_space(k, n, len(V))
    rows, steps = np.arange(len(thetas)), np.full(len(thetas), FIRST_STEP)
    width = lanes_for(k, n)
    if len(rows) < FEWEST_LANES or width == 0:
        width = 1
    while len(rows):  # side by side, and then the last few one by one
        flow, space = new_flow(k, n, outer, width), lane_space(k, width)
        fewest = min(width, FEWEST_LANES)
        left = follow(rows, steps, fewest, accuracy, model, rules, ends, one, space, flow)
        rows, width = flow[-2][:left].copy(), 1
