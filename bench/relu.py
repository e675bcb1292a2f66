"""ReLU landscapes: ensembles against the paper's NumPy loop, scaling with k, two cores, symmetric families."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from bench.report import Row, show_time, side_by_side
from shallows import ensemble, relu_problem, starts, symmetric_minimum
from shallows.questions.descent.evaluate import evaluator
from shallows.questions.descent.methods.gradient import fixed_step
from shallows.questions.descent.results.run import Batch
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array

#: k, our runs, how many of them the peer repeats, and the promised ratio.
SIZES = ((10, 500, 40, 60.0), (20, 125, 12, 40.0), (50, 40, 3, 8.0))
LIMIT = 100_000
SAME_POINT = 1e-4


def run() -> list[Row]:
    """Speed against the published procedure, and how it grows."""
    rows = [against_the_paper(*size) for size in SIZES]
    return [*rows, *scaling(), two_cores(), *families()]


def paper_gradient(W: Array) -> Array:
    """∇(½E) for the coordinate teacher, as one writes it down in NumPy; neurons are rows."""
    norms = np.linalg.norm(W, axis=1)
    unit = W / norms[:, None]
    own = np.arccos(np.clip(unit @ unit.T, -1, 1))
    teacher = np.arccos(np.clip(unit, -1, 1))
    radial = np.sin(own) @ norms - np.sin(teacher).sum(axis=1)
    return np.asarray((radial[:, None] * unit + (np.pi - own) @ W - (np.pi - teacher)) / (2 * np.pi))


def paper_descent(theta: Array, k: int) -> Array:
    """Steps of 5/k on ½E until the gradient norm is at most 1e-12 (or 100,000 steps)."""
    W = theta.reshape(k, k)
    slope = paper_gradient(W)
    for _ in range(LIMIT):
        if np.linalg.norm(slope) <= 1e-12:
            break
        W = W - 5 / k * slope
        slope = paper_gradient(W)
    return W.ravel()


def against_the_paper(k: int, runs: int, few: int, promised: float) -> Row:
    """The same starts on one thread: our ensemble of `runs`, and the loop over the first `few`, scaled up.

    Run lengths differ from start to start: the peer's time for all is that for the few × (plain iterations of all / of
    the few). Both sides are charged processor time, and ours runs before, amid and after the peer: the median counts.
    """
    problem = relu_problem(k)
    begin = starts(problem, runs, rng=1)
    ensemble(problem, 20, init=begin[:20], cores=1)
    plain = ensemble(problem, runs, init=begin, cores=1, polish=False, iterations=LIMIT, tolerance=2e-12)
    times, ends, peer_time = [], [], 0.0
    for part in np.array_split(begin[:few], 3):
        clock = time.process_time()
        ours = ensemble(problem, runs, init=begin, cores=1)
        times.append(time.process_time() - clock)
        clock = time.process_time()
        ends += [paper_descent(theta, k) for theta in part]
        peer_time += time.process_time() - clock
    ours_time = float(np.median(times))
    weight = plain.iterations.sum() / plain.iterations[:few].sum()
    same = np.mean(np.abs(ours.thetas - plain.thetas).max(axis=1) < SAME_POINT)
    close = np.sum(np.abs(ours.thetas[:few] - np.array(ends)).max(axis=1) < SAME_POINT)
    ratio = float(peer_time * weight / ours_time)
    note = (
        f"same end point as plain descent for {same:.1%} of {runs} starts, as the loop for {close} of {few}; "
        f"{ours.iterations.mean():.0f} gradients a run before Newton-CG, {plain.iterations.mean():.0f} without"
    )
    if same < 0.995:
        note, ratio = f"MISSED the promised 99.5%: {note}", 0.0
    question = f"n=k={k}, {runs} Xavier starts to 1e-12 against the paper's NumPy loop"
    return Row(question, show_time(ours_time), show_time(peer_time * weight), ratio, promised, note)


def scaling() -> list[Row]:
    """One gradient step of 64 runs side by side, against the NumPy gradient, for k up to 100."""
    rows = []
    for k in (6, 10, 20, 50, 100):
        problem = relu_problem(k)
        begin, evaluate = starts(problem, 64, rng=1), evaluator(problem)
        steps = 20 if k < 50 else 4

        def ours(begin: Array = begin, steps: int = steps, k: int = k, evaluate: Callable = evaluate) -> None:
            fixed_step(evaluate, Batch.start(begin), 2.5 / k, Stopping(1e-12, steps))

        W = begin[0].reshape(k, k)
        time_ours, time_peer = side_by_side(ours, lambda W=W: paper_gradient(W), rounds=5)
        each = time_ours / (64 * (steps + 1))
        rows.append(
            Row(f"one gradient step at n=k={k}", show_time(each), show_time(time_peer), time_peer / each)
        )
    return rows


def two_cores() -> Row:
    """The same ensemble on one thread and on two."""
    problem = relu_problem(12)
    begin = starts(problem, 500, rng=1)
    two, one = side_by_side(
        lambda: ensemble(problem, 500, init=begin, cores=2),
        lambda: ensemble(problem, 500, init=begin, cores=1),
        rounds=3,
        budget=1.0,
    )
    return Row("n=k=12, 500 starts, two cores against one", show_time(two), show_time(one), one / two)


def families() -> list[Row]:
    """The proved [1, k−1] minimum: a handful of unknowns whatever k is."""
    rows = []
    for k in (10, 100, 1_000, 10_000):
        clock = time.perf_counter()
        found = symmetric_minimum(k, [1, k - 1])
        seconds = time.perf_counter() - clock
        note = f"½E = {found.half_loss:.6g}, λ = {found.half_smallest_eigenvalue:.6g}, proved {found.is_certified}"
        rows.append(Row(f"minimum [1, k−1] with proof, k={k:,}", show_time(seconds), "", None, None, note))
    return rows
