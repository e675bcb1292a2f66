"""Random data that the checks of paper 002 share. The paper's Q is our Wᵀ, its λ our a, its α the norm neuron."""

from __future__ import annotations

import numpy as np

import shallows as sh
from shallows.support.checks import Array


def samples(rng: np.random.Generator, d: int, count: int, outputs: int = 1) -> sh.Samples:
    """Gaussian inputs with independent labels: nothing is planted, E y² = 1."""
    X = rng.standard_normal((count, d)) / np.sqrt(d)
    y = rng.standard_normal((count, outputs))
    y /= np.sqrt(np.mean(y**2))
    return sh.Samples(X, y[:, 0] if outputs == 1 else y)


def random_network(rng: np.random.Generator, width: int, d: int, norm: float = 0.0) -> sh.Network:
    """Standard normal weights."""
    return sh.Network(rng.standard_normal((width, d)), rng.standard_normal(width), norm=norm)


def stationary_point(rng: np.random.Generator, problem: sh.Problem) -> sh.Network:
    """Where a descent from a random start ends (global or a trap)."""
    start = problem.unpack(0.5 * rng.standard_normal(problem.size))
    return sh.descend(problem, start, method="newton", tolerance=1e-10).network


def low_rank_chart(problem: sh.Problem, width: int) -> sh.Chart:
    """All critical points of fewer neurons; labelled samples are replaced by their least-squares target."""
    samples = problem.data.as_samples()
    data = problem.data if samples is None else sh.Samples(samples.X)
    return sh.chart(sh.Problem(problem.target_tensor(), data, width), certify=False)


def trapped_point(problem: sh.Problem, zeros: int) -> sh.Network:
    """A stationary point with `zeros` neurons w = 0 of the losing sign, the others optimal (a low-rank minimum)."""
    chart = low_rank_chart(problem, problem.width - zeros)
    best = min((p for p in chart.points if p.rank == problem.width - zeros), key=lambda p: p.loss)
    net = best.network
    W = np.vstack([net.W, np.zeros((zeros, problem.n))])
    return sh.Network(W, np.append(net.a, -np.ones(zeros)))


def differences(problem: sh.Problem, theta: Array, h: float = 1e-5) -> Array:
    """Central differences of the loss."""
    steps = h * np.eye(len(theta))
    return np.asarray((problem.value(theta + steps) - problem.value(theta - steps)) / (2 * h))


def least_squares(problem: sh.Problem) -> tuple[float, float]:
    """The least E(y − xᵀAx)², summed over outputs, and E‖y‖², by their definitions: zero where the target is a
    network."""
    data = problem.data.as_samples()
    if data is None or data.y is None:
        return 0.0, float(problem.value(_nothing(problem)))
    X, y = data.X, np.asarray(data.y).reshape(len(data.X), -1)
    rows, columns = np.triu_indices(problem.n)
    features = X[:, rows] * X[:, columns]
    solution, *_ = np.linalg.lstsq(features, y, rcond=None)
    return float(np.sum((y - features @ solution) ** 2) / len(y)), float(np.sum(y**2) / len(y))


def _nothing(problem: sh.Problem) -> Array:
    """The zero function, with orthonormal neurons so that a penalty is zero too."""
    return problem.pack(sh.Network(np.eye(problem.width, problem.n), np.zeros(problem.width)))
