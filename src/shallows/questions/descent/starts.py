"""Where training starts: random networks of several kinds, or the user's own.

| name | W | a (when trained) |
| --- | --- | --- |
| "xavier" | N(0, 2/(n+k)) (Glorot and Bengio 2010) | N(0, 1/k) |
| "normal" | N(0, 1) | N(0, 1) |
| "large" | xavier, scaled to Σ‖wᵢ‖ = 2k² (paper 003, section 4.2) | as xavier |
| "orthogonal" | orthonormal rows (k ≤ n) or columns (k > n), Haar | ±1 with equal probability |
| "barrier" | √m Q with QᵀQ = I, Haar: WᵀW = mI (paper 001, Theorem 2.5, with γ = m) | ones |

Glorot's variance 2/(fan-in + fan-out) is meant for layers between layers; the outer weights have nothing behind them,
so theirs is 1/fan-in, which keeps the output's variance the same at every width. The norm neuron and
biases start at zero. Each run has its own generator, spawned from the seed, so that run i starts at the same point
however many runs or cores there are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from shallows.model.problem import Problem
from shallows.support.checks import Array, finite_array, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

Start = Callable[[Problem, np.random.Generator], tuple[Array, Array]]


def sources_of(rng: int | np.random.Generator, runs: int) -> list[np.random.Generator]:
    """One generator a run, spawned from the seed."""
    return generator(rng).spawn(runs)


def _xavier(problem: Problem, source: np.random.Generator) -> tuple[Array, Array]:
    k, n, outputs = problem.width, problem.n, problem.outputs
    W = source.standard_normal((k, n)) * np.sqrt(2 / (n + k))
    return W, source.standard_normal((outputs, k)) / np.sqrt(k)


def _normal(problem: Problem, source: np.random.Generator) -> tuple[Array, Array]:
    W = source.standard_normal((problem.width, problem.n))
    return W, source.standard_normal((problem.outputs, problem.width))


def _large(problem: Problem, source: np.random.Generator) -> tuple[Array, Array]:
    W, a = _xavier(problem, source)
    return W * (2 * problem.width**2 / np.sum(np.linalg.norm(W, axis=1))), a


def _haar(rows: int, columns: int, source: np.random.Generator) -> Array:
    """Orthonormal rows, or orthonormal columns when there are more rows than columns."""
    q, r = np.linalg.qr(source.standard_normal((max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diag(r))
    return q if rows >= columns else q.T


def _orthogonal(problem: Problem, source: np.random.Generator) -> tuple[Array, Array]:
    W = _haar(problem.width, problem.n, source)
    return W, source.choice([-1.0, 1.0], size=(problem.outputs, problem.width))


def _barrier(problem: Problem, source: np.random.Generator) -> tuple[Array, Array]:
    return barrier_weights(problem, float(problem.width), source), np.ones((problem.outputs, problem.width))


def barrier_weights(problem: Problem, gamma: float, source: np.random.Generator) -> Array:
    """W₀ with W₀ᵀW₀ = γI: paper 001, Theorem 2.5 has γ = m+4d (m the width, d the inputs); γ = m starts lower."""
    if problem.width < problem.n:
        raise InvalidProblem(
            f'init "barrier" needs W₀ᵀW₀ = γI, so a width of at least n = {problem.n}; the width is {problem.width}.'
        )
    return np.asarray(np.sqrt(gamma) * _haar(problem.width, problem.n, source))


KINDS: dict[str, Start] = {
    "xavier": _xavier,
    "normal": _normal,
    "large": _large,
    "orthogonal": _orthogonal,
    "barrier": _barrier,
}


def starts(
    problem: Problem,
    runs: int,
    init: str | ArrayLike | Callable[[np.random.Generator], ArrayLike] = "xavier",
    rng: int | np.random.Generator = 0,
) -> Array:
    """Start points θ of shape (runs, p): of a named kind, from callable(rng), or the user's array (checked).

    >>> problem = sh.Problem(np.eye(2), sh.Gaussian(2), width=3, outer="ones")
    >>> thetas = sh.starts(problem, runs=5, init="barrier", rng=0)
    >>> W = problem.unpack(thetas[0]).W
    >>> thetas.shape, f"{np.linalg.norm(W.T @ W - 3 * np.eye(2)):.6f}"   # W₀ᵀW₀ = mI (paper 001, Theorem 2.5)
    ((5, 6), '0.000000')
    >>> np.array_equal(sh.starts(problem, runs=9, init="barrier", rng=0)[:5], thetas)   # run i starts where it did
    True
    """
    runs = positive_integer("runs", runs)
    return starts_from(problem, init, sources_of(rng, runs))


def starts_from(
    problem: Problem,
    init: str | ArrayLike | Callable[[np.random.Generator], ArrayLike],
    sources: list[np.random.Generator],
) -> Array:
    """The same, from one generator a run."""
    if isinstance(init, str):
        if init not in KINDS:
            raise InvalidProblem(
                f"init is {init!r}; expected one of {', '.join(KINDS)}, an array of shape ({len(sources)}, "
                f"{problem.size}), or a function of a generator."
            )
        kind = KINDS[init]
        return np.array([_packed(problem, *kind(problem, source)) for source in sources])
    if callable(init):
        given = [init(source) for source in sources]
        return np.array([_checked(problem, value, "init(rng)") for value in given])
    array = finite_array("init", init, 2)
    if array.shape != (len(sources), problem.size):
        raise InvalidProblem(
            f"init has shape {array.shape}; expected ({len(sources)}, {problem.size}): one row a run, W row by row, "
            "then a if it is trained, then the norm neuron's weight (problem.pack(net) makes a row)."
        )
    return np.array(array)


def _packed(problem: Problem, W: Array, a: Array) -> Array:
    neurons = np.column_stack([np.zeros(len(W)), W]) if problem.bias else W
    return problem.layout.join(neurons, a, np.zeros(problem.outputs))


def _checked(problem: Problem, value: ArrayLike, name: str) -> Array:
    theta = finite_array(name, value, 1)
    if theta.shape != (problem.size,):
        raise InvalidProblem(
            f"{name} has shape {theta.shape}; expected ({problem.size},): W row by row, then a if it is trained, then "
            "the norm neuron's weight. Fix: problem.pack(net)"
        )
    return theta
