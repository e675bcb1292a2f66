"""Exclusion: complete lists of ReLU networks and proofs of wide ones, against the time that is promised for each."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import shallows as sh
from bench.report import Row, show_time


def run() -> list[Row]:
    """Each on one core: promised processor time over ours, at least 1."""
    rng = np.random.default_rng(0)
    three = sh.Network(rng.standard_normal((5, 3)), rng.standard_normal(5), sh.ReLU())
    plane = sh.Network([[1.0, 0.0], [0.3, 1.0], [-1.0, 0.5]], [1.0, -1.0, 1.0], sh.ReLU())
    wide = sh.symmetric_minimum(50, [1, 49]).network()
    return [
        promised("symmetric networks [k], k=6", 0.02, lambda: sh.relu.symmetric_chart(6, [6])),
        promised("symmetric networks [k], k=1000", 0.05, lambda: sh.relu.symmetric_chart(1000, [1000])),
        promised("symmetric networks [1, 5], stored", 2.0, lambda: sh.relu.symmetric_chart(6, [1, 5])),
        promised(
            "symmetric networks [1, 5], searched",
            120.0,
            lambda: sh.relu.symmetric_chart(6, [1, 5], search=True),
            1,
        ),
        promised(
            "one neuron, teacher of rank 3", 10.0, lambda: sh.chart(sh.Problem(three, sh.Gaussian(3), 1))
        ),
        promised("two neurons in the plane", 10.0, lambda: sh.chart(sh.Problem(plane, sh.Gaussian(2), 2))),
        promised("one erf neuron, n=3", 10.0, lambda: sh.chart(sh.Problem(of("erf", 3), sh.Gaussian(3), 1))),
        promised(
            "one tanh neuron, n=2", 10.0, lambda: sh.chart(sh.Problem(of("tanh", 2), sh.Gaussian(2), 1))
        ),
        promised(
            "certify_minimum, 2,500 weights", 10.0, lambda: sh.certify_minimum(sh.relu_problem(50), wide)
        ),
        pairs(),
    ]


def of(name: str, n: int) -> sh.Network:
    """A teacher of n + 1 smooth neurons."""
    rng = np.random.default_rng(n)
    return sh.Network(rng.standard_normal((n + 1, n)), rng.standard_normal(n + 1), sh.Smooth(name))


def promised(question: str, seconds: float, call: Callable[[], object], rounds: int = 3) -> Row:
    """Processor time of a call that has been made before, against the promise."""
    if rounds > 1:
        call()
    times = []
    for _ in range(rounds):
        clock = time.process_time()
        call()
        times.append(time.process_time() - clock)
    ours = float(np.median(times))
    return Row(question, show_time(ours), f"{show_time(seconds)} promised", seconds / ours, 1.0)


def pairs() -> Row:
    """A gradient at n = k = 100 for each pair of neurons; 5 ns are promised where the products take 3."""
    k, batch = 100, 16
    problem = sh.relu_problem(k)
    thetas = np.random.default_rng(0).standard_normal((batch, k * k)) / np.sqrt(k)
    W, U = thetas[0].reshape(k, k), np.random.default_rng(1).standard_normal((2 * k, k))
    problem.value_and_gradient(thetas)
    ours, products = [], []
    for _ in range(9):
        clock = time.process_time()
        problem.value_and_gradient(thetas)
        ours.append((time.process_time() - clock) / (batch * 2 * k * k))
        clock = time.process_time()
        for _ in range(batch):
            (W @ U.T) @ U
        products.append((time.process_time() - clock) / (batch * 2 * k * k))
    each, alone = float(np.median(ours)), float(np.median(products))
    question = "ReLU gradient at n=k=100 for each pair, against two dense products W Uᵀ U of its size"
    return Row(question, show_time(each), show_time(alone), alone / each, 0.6)
