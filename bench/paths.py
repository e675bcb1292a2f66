"""Fiber and escape paths at n = width = 30, in eigendecompositions of that size."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import shallows as sh
from bench.report import Row, show_time, side_by_side
from shallows._checks import Array
from shallows.geometry.escape import escape_path
from shallows.geometry.fiber_path import fiber_path
from shallows.geometry.paths import Path

SIZE = 30
SETUP = 50
POINT = 20


def run() -> list[Row]:
    """Set-up within 50 eigendecompositions, each point of a path within 20."""
    rng = np.random.default_rng(0)
    rows = []
    for name, net0, net1 in fibers(rng):
        path = fiber_path(net0, net1)
        assert path.drift() <= 1e-10
        rows += rows_of(f"fiber path, {name}", path, partial(fiber_path, net0, net1))
    for name, problem, net in escapes(rng):
        way = escape_path(problem, net)
        assert way is not None
        losses = way.losses(1000)
        assert np.all(np.diff(losses) <= 1e-11 * losses[0]) and losses[-1] <= 1e-10 * losses[0]
        rows += rows_of(f"escape path, {name}", way, partial(escape_path, problem, net))
    return rows


def rows_of(question: str, path: Path, setup: Callable[[], object]) -> list[Row]:
    """The set-up and the mean of 21 points, against one numpy.linalg.eigh of a random symmetric matrix."""
    S = np.random.default_rng(1).normal(size=(SIZE, SIZE))
    S = S + S.T
    positions = np.linspace(0.0, 1.0, 21)
    time_setup, time_points, one = side_by_side(
        setup, lambda: [path(t) for t in positions], lambda: np.linalg.eigh(S), rounds=15, budget=3.0
    )
    time_point = time_points / len(positions)
    note = f"{len(path.segments)} segments"
    return [
        _row(f"{question}: set-up", time_setup, one, SETUP, note),
        _row(f"{question}: a point, mean of 21", time_point, one, POINT, note),
    ]


def _row(question: str, ours: float, one: float, allowed: int, note: str) -> Row:
    """`ratio` is what is allowed over what was used: at least one when the promise is kept."""
    used = ours / one
    return Row(
        question,
        show_time(ours),
        f"{allowed} × {show_time(one)}",
        allowed / used,
        1.0,
        f"{used:.1f} eigendecompositions of {allowed} allowed; {note}",
    )


def fibers(rng: np.random.Generator) -> list[tuple[str, sh.Network, sh.Network]]:
    """Full rank in one component, and rank 28 with cancelling neurons, rows in any order."""
    full = _signed(rng, SIZE // 2, SIZE // 2)
    J = np.sign(full.a)
    A = rng.normal(size=(SIZE, SIZE)) / SIZE
    X = J[:, None] * (A - A.T)
    moved = np.linalg.solve(np.eye(SIZE) - X, np.eye(SIZE) + X) @ (full.W * np.sqrt(np.abs(full.a))[:, None])
    narrow = _signed(rng, 14, 14)
    W = np.vstack([narrow.W, np.zeros((2, SIZE))])
    a = np.concatenate([narrow.a, [0.0, 0.0]])
    order = rng.permutation(SIZE)
    V = W[order].copy()
    V[np.flatnonzero(a[order] == 0.0)] = rng.normal(size=(2, SIZE))
    return [
        ("rank 30, signature (15, 15)", full, sh.Network(moved, J)),
        ("rank 28, rows permuted", sh.Network(W, a), sh.Network(V, a[order])),
    ]


def _signed(rng: np.random.Generator, plus: int, minus: int) -> sh.Network:
    W: Array = rng.normal(size=(plus + minus, SIZE))
    return sh.Network(
        W, np.concatenate([np.ones(plus), -np.ones(minus)]) * np.exp(rng.normal(size=plus + minus))
    )


def escapes(rng: np.random.Generator) -> list[tuple[str, sh.Problem, sh.Network]]:
    """A random student, the bad minimum of Example 15 (W = 0, a < 0), and the worst cases: degenerate pencils."""
    teacher = sh.Network(rng.normal(size=(SIZE, SIZE)), rng.normal(size=SIZE))
    student = sh.Network(rng.normal(size=(SIZE, SIZE)), rng.normal(size=SIZE))
    positive = sh.Network(rng.normal(size=(2 * SIZE, SIZE)))
    stuck = sh.Network(np.zeros((SIZE, SIZE)), -np.ones(SIZE))
    return [
        ("Theorem 12, random student", sh.Problem(teacher, sh.Gaussian(SIZE), SIZE), student),
        ("Theorem 12, Example 15", sh.Problem(positive, sh.Gaussian(SIZE), SIZE), stuck),
        _degenerate(rng, "defective pencil", [[0, 1], [1, 0]], [[1, 1], [1, 0]]),
        _degenerate(
            rng, "singular pencil", [[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
        ),
    ]


def _degenerate(
    rng: np.random.Generator, name: str, first: list[list[int]], last: list[list[int]]
) -> tuple[str, sh.Problem, sh.Network]:
    """S₀ and S₁ made of the same small blocks throughout, in a random frame: their segment has no lift."""
    frame = rng.normal(size=(SIZE, SIZE)) / np.sqrt(SIZE)
    S0, S1 = (frame @ np.kron(np.eye(SIZE // len(block)), block) @ frame.T for block in (first, last))
    values, vectors = np.linalg.eigh((S0 + S0.T) / 2)
    net = sh.Network(vectors.T, values)
    return f"Theorem 12, {name}", sh.Problem((S1 + S1.T) / 2, sh.Gaussian(SIZE), SIZE), net
