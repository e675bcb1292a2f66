"""Power problems in compiled code: one of three models of the loss, evaluated and descended many runs at a time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.model.problem import Problem
from shallows.questions.descent._compiled.base import Compiled, Outcome
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array

if TYPE_CHECKING:
    from shallows.questions.descent._compiled.power_losses import Model
    from shallows.support.in_memory import Held, Room

BLOCK = 32  # lanes: long enough for vector loops, small enough for the cache


class _Rooms(threading.local):
    """The records of a thread's last model, for each number of lanes: one network takes less time than making them."""

    def __init__(self) -> None:
        self.model: Model | None = None
        self.held: Held | None = None
        self.rooms: dict[int, Room] = {}

    def of(self, model: Model, lanes: int) -> tuple[Held, Room]:
        """The model in memory, and work arrays; their contents are of no account."""
        from shallows.questions.descent._compiled.power_losses import MODEL, work_space
        from shallows.support.in_memory import Held

        if self.held is None or self.model is not model:
            self.model, self.held, self.rooms = model, Held(MODEL, model), {}
        if lanes not in self.rooms:
            self.rooms[lanes] = work_space(model, lanes)
        return self.held, self.rooms[lanes]


_rooms = _Rooms()


class CompiledPowers(Compiled):
    """A Power problem with one output, as the arguments of the lane loops."""

    def __init__(self, problem: Problem, form: Any, model: Model) -> None:
        self.width, self.n, self.free = problem.width, problem.n, problem.outer is None
        self.form, self.model = form, model
        self.outer = np.zeros(problem.width) if problem.outer is None else np.array(problem.outer[0])

    def __call__(self, thetas: Array) -> tuple[Array, Array]:
        """Losses (batch,) and gradients (batch, p)."""
        from shallows.questions.descent._compiled.power_losses import evaluate_rows

        thetas = np.ascontiguousarray(thetas)
        losses, gradients = np.empty(len(thetas)), np.empty_like(thetas)
        lanes, weights = max(min(BLOCK, len(thetas)), 1), self.width * self.n
        block, slopes = np.zeros((weights + self.width, lanes)), np.empty((weights + self.width + 1, lanes))
        block[weights:] = self.outer[:, None]
        model, space = _rooms.of(self.model, lanes)
        evaluate_rows(
            self.form.address, model.address, space.address, thetas.shape[1], thetas, block, slopes, losses, gradients
        )  # fmt: skip
        return losses, gradients

    def loop(
        self, out: Outcome, step: float | None, stopping: Stopping, limits: np.ndarray, tolerances: Array
    ) -> None:
        """Descend from all rows of `out.thetas`."""
        from shallows.questions.descent._compiled.power_descent import descent_lanes, new_state
        from shallows.questions.descent._compiled.runs import held_runs

        lanes = min(BLOCK, len(out.thetas))
        model, space = _rooms.of(self.model, lanes)
        runs = held_runs(out, step, stopping, limits, tolerances)
        state = new_state(self.width, self.n, self.outer, lanes)
        descent_lanes(self.form.address, *(each.address for each in (model, space, runs, state)))


def matrix_model(problem: Problem, coefficients: Array, T: Array) -> tuple[Any, Model]:
    """The form of the loss and its data. Degree 2 under c₀(w·v)² + c₁‖w‖²‖v‖², against a symmetric matrix."""
    from shallows.questions.descent._compiled.power_losses import matrix_lanes

    return matrix_lanes, _model(problem, coefficients, target=T)


def powers_model(
    problem: Problem, coefficients: Array, V: Array, b: Array, energy: float
) -> tuple[Any, Model]:
    """Any degree under Σ_h c_h (‖w‖‖v‖)^(2h) (w·v)^(d−2h), against Σ bⱼ (vⱼ·x)^d."""
    from shallows.questions.descent._compiled.power_losses import powers_lanes

    return powers_lanes, _model(problem, coefficients, V=V, b=b, constant=energy)


def statistics_model(problem: Problem) -> tuple[Any, Model]:
    """(s − s*)ᵀG(s − s*) + L*: any data, any degree whose Gram matrix is small enough to multiply by."""
    from shallows.questions.descent._compiled.power_losses import statistics_lanes

    entries, floor = problem._optimum
    first, rest = monomial_tree(problem.n, problem.degree)
    return statistics_lanes, _model(
        problem, np.zeros(0), target=entries, constant=floor, gram=problem.gram(),
        first=first, rest=rest,
    )  # fmt: skip


def monomial_tree(n: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """The monomials of degrees 1, …, d in a row: q is variable first[q] times monomial rest[q] of one degree less."""
    first, rest = [np.zeros(n, dtype=np.int64)], [np.zeros(n, dtype=np.int64)]
    begin = 0
    for d in range(2, degree + 1):
        table = coordinates.indices(n, d)
        first.append(table[:, 0])
        rest.append(begin + coordinates.position(table[:, 1:], n))
        begin += coordinates.dimension(n, d - 1)
    return np.concatenate(first).astype(np.int64), np.concatenate(rest).astype(np.int64)


def _model(
    problem: Problem,
    c: Array,
    target: Array | None = None,
    V: Array | None = None,
    b: Array | None = None,
    constant: float = 0.0,
    gram: Array | None = None,
    first: np.ndarray | None = None,
    rest: np.ndarray | None = None,
) -> Model:
    """All arrays writable and contiguous: one compiled version of the loops serves all problems."""
    from shallows.questions.descent._compiled.power_losses import Model

    def matrix(given: Array | None) -> Array:
        return np.array(np.zeros((0, 0)) if given is None else given, dtype=np.float64, order="C")

    def integers(given: np.ndarray | None) -> np.ndarray:
        return np.zeros(0, dtype=np.int64) if given is None else given

    padded = np.zeros(max(problem.degree // 2 + 1, len(c)))
    padded[: len(c)] = c
    outer, tree = np.zeros(0) if b is None else np.array(b, dtype=np.float64), integers(first)
    sizes = problem.width, problem.n, len(outer), problem.degree, len(matrix(gram)), len(tree)
    return Model(
        *sizes, float(constant), padded, matrix(target), matrix(V), outer, matrix(gram), tree, integers(rest)
    )
