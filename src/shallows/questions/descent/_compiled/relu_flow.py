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
    COUNTS,
    FLOAT,
    FLOATS,
    INT,
    INTEGERS,
    VECTOR,
    VOID,
)
from shallows.model.kernels._compiled.relu_angles import FAST
from shallows.model.kernels._compiled.relu_lanes import (
    FEWEST_LANES,
    LANE_SPACE,
    lane_space,
    lanes_at,
    lanes_for,
    relu_lanes,
)
from shallows.model.kernels._compiled.relu_loop import ONE_SPACE, one_at, one_pass, one_space
from shallows.model.kernels._compiled.relu_model import MODEL, model_at
from shallows.questions.descent._compiled.decisions import conclude, verdict
from shallows.questions.descent._compiled.lanes import lane_products, strided
from shallows.questions.descent._compiled.runs import RUNS, runs_at
from shallows.questions.descent.thresholds import GOING
from shallows.support.checks import Array
from shallows.support.compiling import behind, entry, several, unit
from shallows.support.in_memory import Held, Room, at, in_memory

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
    """The runs that follow the flow side by side, `row` of them: points, slopes and work arrays (k, n, row), `total`
    (n, row), outer weights and their slopes (k, row), and what there is one of a run (row,)."""

    row: int
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


FLOW = in_memory(Flow, INT, *(FLOATS,) * 18, COUNTS, COUNTS)
flow_at = at(FLOW)


def new_flow(k: int, n: int, outer: Array, lanes: int) -> Room:
    """Room for runs side by side; every lane has the outer weights."""
    room = Room(FLOW, lanes, *(k * n * lanes,) * 6, n * lanes, k * lanes, k * lanes, *(lanes,) * 11)
    room.array("outer")[:] = np.repeat(outer, lanes)
    return room


@unit(VOID(FLOATS, FLOATS, INT, INT, INT, FLOATS))
def _inner(x: Any, y: Any, size: int, row: int, lanes: int, out: Any) -> None:
    """⟨x, y⟩ in every lane."""
    for l in range(lanes):
        out[l] = 0.0
    lane_products(x, y, size, row, lanes, out)


@unit(VOID(MODEL, FLOW, INT, FLOATS), fastmath=FAST)
def _damped(model: Any, flow: Any, lanes: int, x: Any) -> None:
    """x ← (d⁻¹I + ½γh aaᵀ)⁻¹x = d(x − f a(aᵀx)), with d the damping and f the share of each lane."""
    k, n, row, a, total = model.k, model.n, flow.row, model.outer, flow.total
    damping, share = flow.damping, flow.share
    for m in range(n):
        sums = behind(total, m * row)
        for l in range(lanes):
            sums[l] = 0.0
        for i in range(k):
            column, weight = behind(x, (i * n + m) * row), a[i]
            for l in range(lanes):
                sums[l] += weight * column[l]
        for i in range(k):
            column, weight = behind(x, (i * n + m) * row), a[i]
            for l in range(lanes):
                column[l] = damping[l] * (column[l] - share[l] * weight * sums[l])


@unit(VOID(MODEL, FLOW, INT, FLOATS), fastmath=FAST)
def _solve(model: Any, flow: Any, lanes: int, x: Any) -> None:
    """x ← M⁻¹x, after `_factor`."""
    size, row, inner, weight = model.k * model.n, flow.row, flow.inner, flow.weight
    _inner(flow.radial, x, size, row, lanes, inner)
    _damped(model, flow, lanes, x)
    for l in range(lanes):
        inner[l] *= weight[l]
    for i in range(size):
        to, radial = behind(x, i * row), behind(flow.radial, i * row)
        for l in range(lanes):
            to[l] -= inner[l] * radial[l]


@unit(VOID(MODEL, FLOW, INT), fastmath=FAST)
def _factor(model: Any, flow: Any, lanes: int) -> None:
    """What `_solve` needs: v = (M − γh uuᵀ/π)⁻¹u, in place of u, and the weight of vvᵀ (Sherman and Morrison)."""
    k, n, row, a, inner, h = model.k, model.n, flow.row, model.outer, flow.inner, flow.h
    damping, share, weight = flow.damping, flow.share, flow.weight
    square = 0.0
    for i in range(k):
        square += a[i] * a[i]
    for l in range(lanes):
        damping[l] = 1 / (1 + GAMMA * h[l] * SHIFT * square / k)
        stiff = 0.5 * GAMMA * h[l] * damping[l]
        share[l] = stiff / (1 + stiff * square)
    for i in range(k):
        w, start = behind(flow.W, i * n * row), i * n * row
        _inner(w, w, n, row, lanes, inner)
        for l in range(lanes):
            inner[l] = a[i] / np.sqrt(inner[l]) if inner[l] > 0 else 0.0
        for m in range(n):
            x, radial, trial = (
                behind(w, m * row),
                behind(flow.radial, start + m * row),
                behind(flow.trial, start + m * row),
            )
            for l in range(lanes):
                radial[l] = x[l] * inner[l]
            for l in range(lanes):
                trial[l] = radial[l]
    _damped(model, flow, lanes, flow.radial)
    _inner(flow.trial, flow.radial, k * n, row, lanes, inner)
    for l in range(lanes):
        stiff = GAMMA * h[l] / np.pi
        weight[l] = stiff / (1 + stiff * inner[l])


@unit(VOID(MODEL, FLOW, LANE_SPACE, ONE_SPACE, INT, FLOATS, FLOATS), rare=True)
def _evaluate(model: Any, flow: Any, space: Any, one: Any, lanes: int, W: Any, slope: Any) -> None:
    """Losses and slopes at W."""
    if flow.row > 1:
        relu_lanes(model, space, lanes, W, flow.outer, flow.loss, slope, flow.da)
    else:
        flow.loss[0], _ = one_pass(model, one, W, model.outer, slope, flow.da)


@unit(VOID(MODEL, FLOW, INT), fastmath=FAST)
def _first_stage(model: Any, flow: Any, lanes: int) -> None:
    """k₁ and the trial point θ + hk₁."""
    size, row, h = model.k * model.n, flow.row, flow.h
    _factor(model, flow, lanes)
    for i in range(size):
        first, slope = behind(flow.first, i * row), behind(flow.slope, i * row)
        for l in range(lanes):
            first[l] = -slope[l]
    _solve(model, flow, lanes, flow.first)
    for i in range(size):
        first, w, trial = behind(flow.first, i * row), behind(flow.W, i * row), behind(flow.trial, i * row)
        for l in range(lanes):
            trial[l] = w[l] + h[l] * first[l]


@unit(VOID(MODEL, FLOW, INT), fastmath=FAST)
def _second_stage(model: Any, flow: Any, lanes: int) -> None:
    """k₂ in place of the new slope, and ‖k₁‖², ‖k₁ + k₂‖²."""
    size, row, moved, changed = model.k * model.n, flow.row, flow.moved, flow.changed
    for i in range(size):
        first, new = behind(flow.first, i * row), behind(flow.new, i * row)
        for l in range(lanes):
            new[l] = -new[l] - 2 * first[l]
    _solve(model, flow, lanes, flow.new)
    for l in range(lanes):
        moved[l], changed[l] = 0.0, 0.0
    for i in range(size):
        first, new = behind(flow.first, i * row), behind(flow.new, i * row)
        for l in range(lanes):
            both = first[l] + new[l]
            moved[l] += first[l] * first[l]
            changed[l] += both * both


@unit(VOID(MODEL, FLOW, INT, FLOAT), fastmath=FAST)
def _move_on(model: Any, flow: Any, lanes: int, accuracy: float) -> None:
    """Take the steps that are accurate enough, and choose the next lengths; a run without a slope yet stays."""
    row, inner, h = flow.row, flow.inner, flow.h
    for l in range(lanes):
        inner[l] = 0.0
        if flow.moved[l] == 0:
            continue
        change = 0.5 * np.sqrt(flow.changed[l] / flow.moved[l])
        if change <= accuracy:
            inner[l] = 0.5 * h[l]
            h[l] = min(h[l] * min(SAFETY * accuracy / max(change, LEAST_CHANGE), GROWTH), LONGEST)
        elif np.isfinite(change):
            h[l] *= max(SAFETY * accuracy / change, SHRINK)
        else:
            h[l] *= SHRINK
    for i in range(model.k * model.n):
        w, first, new = behind(flow.W, i * row), behind(flow.first, i * row), behind(flow.new, i * row)
        for l in range(lanes):
            to = w[l] + inner[l] * (3 * first[l] + new[l])
            w[l] = to if inner[l] > 0 else w[l]


@unit(VOID(FLOW, RUNS, INT, INT, FLOAT), rare=True)
def _load(flow: Any, runs: Any, l: int, at_row: int, step: float) -> None:
    """Put a run into lane l; it has no slope yet."""
    strided(behind(runs.thetas, at_row * runs.size), 1, behind(flow.W, l), flow.row, runs.size)
    for i in range(runs.size):
        flow.slope[i * flow.row + l] = 0.0
    flow.h[l], flow.run[l], flow.spent[l] = step, at_row, 0


@unit(VOID(FLOW, INT, INT, INT), rare=True)
def _replace(flow: Any, size: int, l: int, last: int) -> None:
    """Move the last lane into a gap."""
    strided(behind(flow.W, last), flow.row, behind(flow.W, l), flow.row, size)
    strided(behind(flow.slope, last), flow.row, behind(flow.slope, l), flow.row, size)
    flow.h[l], flow.run[l], flow.spent[l] = flow.h[last], flow.run[last], flow.spent[last]
    flow.loss[l], flow.square[l] = flow.loss[last], flow.square[last]


@unit(several(INT, BOOL)(RUNS, FLOW, INT, FLOAT, FLOAT), rare=True)
def _code(runs: Any, flow: Any, l: int, loss: float, norm: float) -> tuple[int, bool]:
    """The status of a run, and whether it stops here; GOING and stopped: plain descent has to go on."""
    if not (np.isfinite(loss) and np.isfinite(norm)):
        return GOING, True
    count = flow.spent[l]
    code = verdict(runs, flow.run[l], loss, norm, count)
    return code, code != GOING or count >= MOST or flow.h[l] < SHORTEST


@unit(VOID(FLOW, RUNS, INT, INT, FLOAT, FLOAT), rare=True)
def _store(flow: Any, runs: Any, l: int, code: int, loss: float, norm: float) -> None:
    """Write a run back."""
    at_row = flow.run[l]
    strided(behind(flow.W, l), flow.row, behind(runs.thetas, at_row * runs.size), 1, runs.size)
    conclude(runs, at_row, code, loss, norm, flow.spent[l])


@entry(INT(INT, INT, INT, INT, INT, INTEGERS, VECTOR, INT, FLOAT), rare=True)
def follow(
    model_place: int, runs_place: int, one_place: int, space_place: int, flow_place: int, rows: Any, steps: Any,
    fewest: int, accuracy: float,
) -> int:  # fmt: skip
    """Follow the flow side by side while at least `fewest` rows are left; returns how many, their steps kept.

    The rows that are left are those of the first lanes.
    """
    model, runs, one = model_at(model_place), runs_at(runs_place), one_at(one_place)
    space, flow = lanes_at(space_place), flow_at(flow_place)
    size, row = runs.size, flow.row
    active = min(row, len(rows))
    for l in range(active):
        _load(flow, runs, l, rows[l], steps[rows[l]])
    waiting = active
    while active and active >= fewest:
        _first_stage(model, flow, active)
        _evaluate(model, flow, space, one, active, flow.trial, flow.new)
        _second_stage(model, flow, active)
        _move_on(model, flow, active, accuracy)
        _evaluate(model, flow, space, one, active, flow.W, flow.slope)
        _inner(flow.slope, flow.slope, size, row, active, flow.square)
        for l in range(active - 1, -1, -1):
            flow.spent[l] += 2
            loss, norm = max(flow.loss[l] + model.energy, 0.0), np.sqrt(flow.square[l])
            code, stop = _code(runs, flow, l, loss, norm)
            if not stop:
                continue
            _store(flow, runs, l, code, loss, norm)
            if waiting < len(rows):
                _load(flow, runs, l, rows[waiting], steps[rows[waiting]])
                waiting += 1
            else:
                active -= 1
                _replace(flow, size, l, active)
    for l in range(active):
        _store(flow, runs, l, GOING, max(flow.loss[l] + model.energy, 0.0), np.sqrt(flow.square[l]))
        steps[flow.run[l]] = flow.h[l]
    return int(active)


def flow_loop(model: Held, runs: Held, accuracy: float) -> None:
    """Follow the flow from each row in place; a status of GOING leaves the row to plain descent."""
    k, n, m, outer, count = (
        *(getattr(model.values, name) for name in ("k", "n", "m", "outer")),
        runs.values.rows,
    )
    one, rows, steps = one_space(k, n, m), np.arange(count), np.full(count, FIRST_STEP)
    width = lanes_for(k, n)
    if count < FEWEST_LANES or width == 0:
        width = 1
    while len(rows):  # side by side, and then the last few one by one
        flow, space = new_flow(k, n, outer, width), lane_space(k, width)
        places = (each.address for each in (model, runs, one, space, flow))
        left = follow(*places, rows, steps, min(width, FEWEST_LANES), accuracy)
        rows, width = flow.array("run")[:left].copy(), 1
