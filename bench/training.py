"""Training: a batch of runs against a loop over the starts, two cores against one, polishing against plain descent."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

import shallows as sh
from bench.report import Row, show_time, side_by_side
from shallows import ensemble, starts
from shallows.questions.descent.evaluate import evaluator
from shallows.questions.descent.methods.gradient import fixed_step
from shallows.questions.descent.results.run import Batch
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array

RUNS, N, WIDTH, ITERATIONS, STEP = 1000, 10, 10, 40, 1e-3
#: Polishing looks for saddles besides, and plain descent of ten weights in compiled lanes takes no longer than that.
PROMISED_POLISHED = {"ReLU, n=k=10": 2.0, "quadratic, n=4, width 2": 0.8}
#: What an ensemble is to gain from a second core of what a pure compute loop gains at the same time, 2 at best.
OF_TWO_CORES = 0.85
Gradient = Callable[[Array], tuple[float, Array]]


def run() -> list[Row]:
    """What the training machinery promises."""
    return [quadratic(), cubic(), heavy_tails(), two_cores(), *polishing()]


def plain_descent(gradient: Gradient, begin: Array) -> Array:
    """Fixed-step descent, one start after the other, as one would write it down in NumPy."""
    ends = np.empty_like(begin)
    for i, theta in enumerate(begin):
        for _ in range(ITERATIONS):
            _, slope = gradient(theta)
            if slope @ slope <= 1e-24:
                break
            theta = theta - STEP * slope
        ends[i] = theta
    return ends


def against_loop(name: str, problem: sh.Problem, gradient: Gradient) -> Row:
    """The same steps from the same starts: our batch of 1,000 against the loop over 100 of them, times ten."""
    begin = starts(problem, RUNS)
    evaluate = evaluator(problem)

    def ours() -> Array:
        batch = Batch.start(begin)
        fixed_step(evaluate, batch, STEP, Stopping(1e-12, ITERATIONS))
        return batch.thetas

    few = begin[: RUNS // 10]
    assert np.max(np.abs(ours()[: len(few)] - plain_descent(gradient, few))) < 1e-10
    time_ours, time_peer = side_by_side(ours, lambda: plain_descent(gradient, few), rounds=5)
    time_peer *= RUNS / len(few)
    return Row(name, show_time(time_ours), show_time(time_peer), time_peer / time_ours, 20, "one core each")


def quadratic() -> Row:
    """n = width = 10, Gaussian data, matrix teacher; the peer uses L = 2‖S−T‖² + tr(S−T)²."""
    T = np.diag(np.linspace(1.0, 0.2, N))
    problem = sh.Problem(T, sh.Gaussian(N), WIDTH)
    size = N * WIDTH

    def gradient(theta: Array) -> tuple[float, Array]:
        W, a = theta[:size].reshape(WIDTH, N), theta[size:]
        D = (W.T * a) @ W - T
        trace = np.trace(D)
        G = 4 * D
        G[np.diag_indices(N)] += 2 * trace
        WG = W @ G
        slope = np.concatenate([(2 * a[:, None] * WG).ravel(), np.einsum("ij,ij->i", WG, W)])
        return 2 * float(np.vdot(D, D)) + trace**2, slope

    return against_loop(
        "quadratic, n=width=10, 1,000 runs in a batch against a NumPy loop", problem, gradient
    )


def cubic() -> Row:
    """n = width = 10, Gaussian data, 10 teacher neurons; the peer uses k = 6ρ³ + 9pqρ."""
    rng = np.random.default_rng(0)
    V = rng.standard_normal((WIDTH, N)) / 3
    problem = sh.Problem(sh.Network(V, activation=sh.Power(3)), sh.Gaussian(N), WIDTH)
    size, q = N * WIDTH, np.sum(V**2, axis=1)

    def gradient(theta: Array) -> tuple[float, Array]:
        W, a = theta[:size].reshape(WIDTH, N), theta[size:]
        U, e = np.concatenate([W, V]), np.concatenate([a, -np.ones(WIDTH)])
        p = np.sum(W**2, axis=1)
        both = np.concatenate([p, q])
        rho = W @ U.T
        along = (18 * rho**2 + 9 * np.outer(p, both)) * e
        across = (18 * both * rho) @ e
        z = along @ U + across[:, None] * W
        slope = np.concatenate([(2 * a[:, None] * z).ravel(), 2 * np.einsum("ij,ij->i", W, z) / 3])
        return 0.0, slope

    return against_loop("cubic, n=width=10, 1,000 runs in a batch against a NumPy loop", problem, gradient)


def heavy_tails() -> Row:
    """n = width = 6, i.i.d. Laplace inputs; both sides use L = (s − t)ᵀG(s − t), s the upper triangle of Σ aᵢ wᵢwᵢᵀ."""
    n = width = 6
    T, data = np.diag(np.linspace(1.0, 0.2, n)), sh.IID.laplace(n)
    G, rows, columns = data.gram(2), *np.triu_indices(n)
    target = T[rows, columns]

    def gradient(theta: Array) -> tuple[float, Array]:
        W, a = theta[: n * width].reshape(width, n), theta[n * width :]
        difference = ((W.T * a) @ W)[rows, columns] - target
        y = G @ difference
        M = np.zeros((n, n))
        M[rows, columns] = y
        WM = W @ (M + M.T)
        slope = np.concatenate([(2 * a[:, None] * WM).ravel(), np.einsum("ij,ij->i", WM, W)])
        return float(difference @ y), slope

    name = "quadratic, i.i.d. Laplace data, n=width=6, 1,000 runs in a batch against a NumPy loop"
    return against_loop(name, sh.Problem(T, data, width), gradient)


def two_cores() -> Row:
    """The same ensemble on one thread and on two, beside what the machine gives a pure compute loop at that moment."""
    problem = sh.Problem(np.diag(np.linspace(1.0, 0.2, N)), sh.Gaussian(N), WIDTH)

    def on(cores: int) -> Callable[[], object]:
        return lambda: ensemble(problem, RUNS, cores=cores, tolerance=1e-6)

    two, one, busy_two, busy_one = side_by_side(on(2), on(1), busy(2), busy(1), rounds=5, budget=1.0)
    gained = 2 * busy_one / busy_two
    note = f"a pure compute loop gains {gained:.2f}× from the second thread at the same time"
    question, promised = "ensemble of 1,000 runs, two cores against one", round(OF_TWO_CORES * gained, 2)
    return Row(question, show_time(two), show_time(one), one / two, promised, note)


def busy(threads: int) -> Callable[[], object]:
    """As many threads in compiled code that holds no lock, each with the same work."""
    problem = sh.Problem(np.diag(np.linspace(1.0, 0.2, N)), sh.Gaussian(N), WIDTH)
    evaluate, thetas = evaluator(problem), starts(problem, RUNS // 8)

    def work(_: int) -> None:
        for _ in range(400):
            evaluate(thetas)

    def call() -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))

    return call


def polishing() -> list[Row]:
    """To ‖g‖ ≤ 1e-12 with Newton-CG at the end, against descent all the way; the same end points."""
    rows = []
    relu = sh.Network(np.eye(10), activation=sh.ReLU())
    problems = {
        "ReLU, n=k=10": sh.Problem(relu, sh.Gaussian(10), 10, outer="ones"),
        "quadratic, n=4, width 2": sh.Problem(np.diag([1.0, 0.8, 0.6, 0.3]), sh.Gaussian(4), 2),
    }
    for name, problem in problems.items():
        polished, plain = (
            partial(ensemble, problem, 250, cores=1, polish=polish) for polish in (True, False)
        )
        gap = np.abs(polished().losses - plain().losses)
        ours, peer = side_by_side(polished, plain, rounds=5)
        note = f"the same end point in {np.count_nonzero(gap < 1e-9)} of 250 runs"
        question = f"polished against plain descent to 1e-12: {name}"
        rows.append(
            Row(question, show_time(ours), show_time(peer), peer / ours, PROMISED_POLISHED[name], note)
        )
    return rows
