"""L-BFGS (Nocedal 1980) for a batch of runs: the two-loop recursion on ten stored pairs, each run with its own step."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.solvers.rows import row_norms
from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.methods.running import Running
from shallows.questions.descent.results.run import Batch, Recorder
from shallows.questions.descent.stopping import Stopping
from shallows.questions.descent.thresholds import FIRST_MOVE, RESOLUTION, SHORTEST_THETA
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

PAIRS = 10
#: Armijo's share of the decrease (Nocedal and Wright 2006, section 3.1: c₁).
DECREASE = 1e-4
#: A run whose step is halved below this stalls: 43 halvings of a quasi-Newton step, too short to change θ.
SMALLEST_STEP = 1e-13
#: A pair (s, y) with a smaller cosine has a curvature sᵀy that is rounding.
SMALLEST_COSINE = 1e-12


class Memory:
    """The last pairs s = θ₊ − θ, y = g₊ − g of each run, newest last; pairs with s·y ≤ 0 are not stored."""

    def __init__(self, count: int, size: int) -> None:
        self.s, self.y = np.zeros((count, PAIRS, size)), np.zeros((count, PAIRS, size))
        self.product = np.zeros((count, PAIRS))  # s·y, zero for an empty place

    def keep(self, mask: np.ndarray) -> None:
        """Drop runs that have ended."""
        self.s, self.y, self.product = self.s[mask], self.y[mask], self.product[mask]

    def add(self, rows: np.ndarray, s: Array, y: Array) -> None:
        """Store a pair for these rows where its curvature is positive."""
        product = np.einsum("ij,ij->i", s, y)
        sound = product > SMALLEST_COSINE * row_norms(s) * row_norms(y)
        rows, s, y, product = rows[sound], s[sound], y[sound], product[sound]
        for store, new in ((self.s, s), (self.y, y), (self.product, product)):
            store[rows, :-1] = store[rows, 1:]
            store[rows, -1] = new

    def forget(self, rows: np.ndarray) -> None:
        """Start these rows afresh."""
        self.product[rows] = 0.0

    def direction(self, gradient: Array) -> Array:
        """−H g, H the inverse Hessian estimate."""
        q, weights = gradient.copy(), np.zeros(self.product.shape)
        safe = np.where(self.product > 0, self.product, 1.0)
        used = self.product > 0
        for i in reversed(range(PAIRS)):
            weights[:, i] = used[:, i] * np.einsum("bp,bp->b", self.s[:, i], q) / safe[:, i]
            q -= weights[:, i, None] * self.y[:, i]
        squares = np.einsum("bp,bp->b", self.y[:, -1], self.y[:, -1])
        newest = used[:, -1] & (squares > 0)
        q *= np.where(newest, safe[:, -1] / np.where(newest, squares, 1.0), 1.0)[:, None]
        for i in range(PAIRS):
            back = used[:, i] * np.einsum("bp,bp->b", self.y[:, i], q) / safe[:, i]
            q += ((weights[:, i] - back) * used[:, i])[:, None] * self.s[:, i]
        return -q


def lbfgs(evaluate: Evaluate, batch: Batch, stopping: Stopping, recorder: Recorder | None = None) -> None:
    """Minimise from all starts at once. A refused step is halved, and one that keeps being refused ends the run."""
    with np.errstate(over="ignore", invalid="ignore"):
        running = Running(evaluate, batch, stopping, recorder or Recorder(None))
        memory = Memory(len(running), batch.thetas.shape[1])
        steps = np.ones(len(running))
        while len(running):
            kept = running.release(steps < SMALLEST_STEP)
            if kept is not None:
                memory.keep(kept)
                steps = steps[kept]
            if len(running):
                steps = _try(running, memory, steps)


def _try(running: Running, memory: Memory, steps: Array) -> Array:
    """One trial along −H g for all runs; returns the next steps."""
    direction = memory.direction(running.gradient)
    fresh = memory.product[:, -1] == 0
    first = FIRST_MOVE * (row_norms(running.theta) + SHORTEST_THETA) / np.maximum(running.norm, TINY)
    direction[fresh] *= first[fresh, None]
    slope = np.einsum("ij,ij->i", direction, running.gradient)
    memory.forget(np.flatnonzero((slope >= 0) | ~np.isfinite(slope)))
    trial = running.theta + steps[:, None] * direction
    loss, gradient = running.evaluate(trial)
    norm = row_norms(gradient)
    noise = RESOLUTION * (np.abs(running.loss) + running.stopping.scale)
    drop, needed = running.loss - loss, -DECREASE * steps * slope
    hidden = (-steps * slope < noise) & (drop > -noise) & (norm <= 2 * running.norm)
    taken = ((drop >= needed) | hidden) & np.isfinite(norm) & (slope < 0)
    rows = np.flatnonzero(taken)
    memory.add(rows, (trial - running.theta)[rows], (gradient - running.gradient)[rows])
    running.accept(taken, trial, loss, gradient, norm)
    return np.where(taken, 1.0, 0.5 * steps)
