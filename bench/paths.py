"""Fiber and escape paths at n = width = 30, in eigendecompositions of that size."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import shallows as sh
from bench.report import Row, show_time
from shallows import Path, escape_path, fiber_path
from shallows.support.checks import Array

SIZE = 30
SETUP = 50
POINT = 20
SEEDS = 10
ROUNDS = 15


def run() -> list[Row]:
    """Set-up within 50 eigendecompositions, each point of a path within 20: the worst of ten random instances."""
    costs: dict[str, list[Cost]] = {}
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        for name, net0, net1 in fibers(rng):
            path = fiber_path(net0, net1)
            assert path.drift() <= 1e-10
            costs.setdefault(f"fiber path, {name}", []).append(
                Cost.of(path, partial(fiber_path, net0, net1), seed)
            )
        for name, problem, net in escapes(rng):
            way = escape_path(problem, net)
            assert way is not None
            losses = way.losses(1000)
            assert np.all(np.diff(losses) <= 1e-12 * losses[0]) and losses[-1] <= 1e-10 * losses[0]
            costs.setdefault(f"escape path, {name}", []).append(
                Cost.of(way, partial(escape_path, problem, net), seed)
            )
    return [row for question, found in costs.items() for row in rows_of(question, found)]


@dataclass(frozen=True)
class Cost:
    """What a path costs, in eigendecompositions, and the processor time of one."""

    seed: int
    segments: int
    setup: float
    point: float
    one: float

    @classmethod
    def of(cls, path: Path, setup: Callable[[], object], seed: int) -> Cost:
        """Medians over rounds of the set-up, an eigendecomposition, 21 points, an eigendecomposition, …

        Every ratio is of neighbours in time, and of processor time, so that a busy machine slows both alike.
        """
        S = np.random.default_rng(1).normal(size=(SIZE, SIZE))
        S = S + S.T
        positions = np.linspace(0.0, 1.0, 21)
        setups, points, ones = [], [], []
        for _ in range(ROUNDS):
            one = _processor_time(lambda: np.linalg.eigh(S), 25)
            setups.append(_processor_time(setup, 2) / one)
            one = _processor_time(lambda: np.linalg.eigh(S), 25)
            points.append(_processor_time(lambda: [path(t) for t in positions], 2) / one / len(positions))
            ones.append(one)
        return cls(
            seed,
            len(path.segments),
            float(np.median(setups)),
            float(np.median(points)),
            float(np.median(ones)),
        )


def _processor_time(call: Callable[[], object], number: int) -> float:
    call()
    start = time.process_time()
    for _ in range(number):
        call()
    return (time.process_time() - start) / number


def rows_of(question: str, costs: list[Cost]) -> list[Row]:
    """The worst seed of each kind."""
    setup, point = max(costs, key=lambda cost: cost.setup), max(costs, key=lambda cost: cost.point)
    middle = (
        float(np.median([cost.setup for cost in costs])),
        float(np.median([cost.point for cost in costs])),
    )
    return [
        _row(f"{question}: set-up", setup.setup, middle[0], setup, SETUP),
        _row(f"{question}: a point, mean of 21", point.point, middle[1], point, POINT),
    ]


def _row(question: str, used: float, middle: float, worst: Cost, allowed: int) -> Row:
    """`ratio` is what is allowed over what was used: at least one when the promise is kept."""
    return Row(
        question,
        show_time(used * worst.one),
        f"{allowed} × {show_time(worst.one)}",
        allowed / used,
        1.0,
        f"{used:.1f} eigendecompositions of {allowed} allowed: the worst of {SEEDS} seeds (seed {worst.seed}, "
        f"{worst.segments} segments); their median {middle:.1f}",
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
