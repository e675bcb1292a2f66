"""Conjugate gradients for a batch of symmetric systems Ax = b (Hestenes and Stiefel 1952), preconditioned, truncated.

A is known by its products only and need not be positive: a direction p with pᵀAp ≤ 0 (or too flat to be trusted) ends
the iteration, or, inside a trust region ‖x‖ ≤ radius, is followed to its edge (Steihaug 1983). The compiled twin for
ReLU losses is `_newton_step` in `questions.descent._compiled.relu_newton`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from shallows.mathematics.solvers.rows import row_dots, row_norms
from shallows.support.checks import Array

#: (directions (rows, p), which rows of the batch) ↦ A times each direction.
Product = Callable[[Array, np.ndarray], Array]
Precondition = Callable[[Array], Array]


class End(IntEnum):
    """Why an iteration ended."""

    LIMIT = 0
    REACHED = 1
    FLAT = 2
    EDGE = 3


@dataclass(frozen=True, eq=False)
class Iterates:
    """Where each system of the batch ended: x, b − Ax, steps taken, why.

    `curvature` is pᵀAp/‖p‖² of the last direction, as a share of the largest one met.
    """

    x: Array
    residual: Array
    steps: np.ndarray
    end: np.ndarray
    curvature: Array


def conjugate_gradients(
    product: Product,
    right: Array,
    goal: Array | float,
    limit: int,
    *,
    precondition: Precondition | None = None,
    flat: float = 0.0,
    radius: float = np.inf,
    watch: Callable[[int], None] | None = None,
) -> Iterates:
    """Solve Ax = b for each row b of `right`, from zero, until ‖b − Ax‖ ≤ goal or `limit` steps are taken.

    Directions with pᵀAp ≤ flat · (largest curvature met) · ‖p‖² are not used; `watch(step)` is called after each step.

    >>> A = np.diag([4.0, 2.0, 1.0])
    >>> found = conjugate_gradients(lambda p, rows: p @ A, np.array([[4.0, 2.0, 1.0]]), 1e-12, 10)
    >>> found.x.round(9).tolist(), found.steps.tolist()   # three eigenvalues, three steps
    ([[1.0, 1.0, 1.0]], [3])
    """
    state = _State(np.array(right), precondition or np.asarray, np.broadcast_to(np.asarray(goal), len(right)))
    for step in range(1, limit + 1):
        rows = np.flatnonzero(state.end == End.LIMIT)
        if not len(rows):
            break
        state.advance(rows, product(state.direction[rows], rows), flat, radius)
        if watch is not None:
            watch(step)
    return Iterates(state.x, state.residual, state.steps, state.end, state.curvature)


class _State:
    """Iterates, residuals and directions of a batch; `inner` is r·M⁻¹r, `steepest` the largest |pᵀAp|/‖p‖² so far."""

    def __init__(self, right: Array, precondition: Precondition, goal: Array) -> None:
        size = len(right)
        self.x, self.residual, self.precondition, self.goal = np.zeros_like(right), right, precondition, goal
        self.direction = np.array(precondition(right))  # a copy: it may return what it was given
        self.inner = row_dots(right, self.direction)
        self.steepest, self.curvature = np.zeros(size), np.ones(size)
        self.steps = np.zeros(size, dtype=np.int64)
        self.end = np.where(row_norms(right) <= goal, int(End.REACHED), int(End.LIMIT))

    def advance(self, rows: np.ndarray, image: Array, flat: float, radius: float) -> None:
        """One step of these rows, given A times their directions."""
        p = self.direction[rows]
        square, curvature = row_dots(p, p), row_dots(p, image)
        self.steepest[rows] = np.maximum(self.steepest[rows], np.abs(curvature) / square)
        self.curvature[rows] = curvature / (self.steepest[rows] * square)
        sound = curvature > flat * self.steepest[rows] * square
        length = np.where(sound, self.inner[rows] / np.where(sound, curvature, 1.0), 0.0)
        if np.isfinite(radius):
            outside = ~sound | (row_norms(self.x[rows] + length[:, None] * p) >= radius)
            length[outside] = _to_edge(self.x[rows[outside]], p[outside], radius)
            self._move(rows[outside], length[outside], p[outside], image[outside])
            self.end[rows[outside]] = End.EDGE
            sound &= ~outside
        else:
            self.end[rows[~sound]] = End.FLAT
        if sound.any():
            self._move(rows[sound], length[sound], p[sound], image[sound])
            self._turn(rows[sound], p[sound])

    def _move(self, rows: np.ndarray, length: Array, p: Array, image: Array) -> None:
        """x ← x + tp, r ← r − tAp."""
        self.x[rows] += length[:, None] * p
        self.residual[rows] -= length[:, None] * image
        self.steps[rows] += 1

    def _turn(self, rows: np.ndarray, p: Array) -> None:
        """The next direction M⁻¹r + βp, conjugate to all before it; rows at their goal end."""
        z = self.precondition(self.residual[rows])
        following = row_dots(self.residual[rows], z)
        self.direction[rows] = z + (following / self.inner[rows])[:, None] * p
        self.inner[rows] = following
        self.end[rows[row_norms(self.residual[rows]) <= self.goal[rows]]] = End.REACHED


def _to_edge(x: Array, p: Array, radius: float) -> Array:
    """The larger t with ‖x + tp‖ = radius."""
    a, b, c = row_dots(p, p), 2 * row_dots(x, p), row_dots(x, x) - radius**2
    return np.asarray((-b + np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))) / (2 * a))
