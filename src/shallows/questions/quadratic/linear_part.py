"""The barrier for activations αz²+βz+γ with β ≠ 0 (paper 001, Corollary 2.2), by numerical minimisation.

With all outer weights 1 and x ~ N(0, I), A = WᵀW − VᵀV and θ = Wᵀ1 − Vᵀ1,

    L = α²(2‖A‖² + (tr A)²) + β²‖θ‖².

The second term cannot vanish together with the first at rank below d, so α² times the quadratic barrier is a strict
lower bound (the errata of the paper); the minimum over W = PQᵀ of rank r is found by descents from many starts.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from shallows.model.data.base import InnerProduct
from shallows.model.network import Network
from shallows.questions.quadratic.closed_form_barrier import Barrier, standard_barrier
from shallows.questions.quadratic.teachers import quadratic_coefficients
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

#: Random starts beside the two that are known to be good.
STARTS = 10
#: L-BFGS goes as far as doubles do: until the loss changes by a few ε relatively, or the gradient is this small.
_OPTIONS = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-11}


def barrier_with_linear_part(
    teacher: Network, T: Array, rank: int, law: InnerProduct, rng: int | np.random.Generator
) -> Barrier:
    """Lower bound, the paper's example and the lowest loss found."""
    if not np.all(teacher.a == 1.0) or not _is_standard(law):
        raise InvalidProblem(
            "Corollary 2.2 is for outer weights 1 and x ~ N(0, I); use β = 0 for anything else."
        )
    if np.any(teacher.norm):
        raise InvalidProblem(
            f"The teacher has a norm neuron of weight {teacher.norm:g}; Corollary 2.2 with β ≠ 0 is for Σ σ(wᵢ·x) "
            "alone. Fix: norm=0.0, or an activation with β = 0."
        )
    alpha, beta, _ = quadratic_coefficients(teacher)
    quadratic = standard_barrier(T, rank)
    W, loss = _minimise(teacher.W, rank, alpha, beta, generator(rng))
    example = quadratic.example + beta**2 * _example_shift(teacher, rank)
    return Barrier(
        quadratic.lower,
        loss,
        example,
        Network(W, activation=teacher.activation),
        rank,
        "numerical",
        "sampled",
    )


def _is_standard(law: InnerProduct) -> bool:
    """Whether the moments of orders 2 to 4 are those of N(0, I): that is what the formula needs."""
    metrics = [law.rotation_invariance(degree) for degree in (1, 2)]
    alike = all(
        m is not None and m.coefficients.tolist() == s
        for m, s in zip(metrics, ([1.0], [2.0, 1.0]), strict=True)
    )
    white = alike and all(m is not None and m.covariance is None for m in metrics)
    return white and not np.any(law.cross_gram(1, 2))


def _example_shift(teacher: Network, rank: int) -> float:
    """‖θ‖² when the teacher's W is truncated to its r largest singular values (so that WᵀW drops the smallest)."""
    U, values, rows = np.linalg.svd(teacher.W, full_matrices=False)
    gone = (U[:, rank:] * values[rank:]) @ rows[rank:]
    return float(np.sum(np.sum(gone, axis=0) ** 2))


def _minimise(
    V: Array, rank: int, alpha: float, beta: float, source: np.random.Generator
) -> tuple[Array, float]:
    """The lowest of many L-BFGS runs over W = PQᵀ; starts: the truncated teacher, the quadratic optimum, random."""
    m, d = V.shape
    target, shift = V.T @ V, np.sum(V, axis=0)
    split = m * rank

    def value(z: Array) -> tuple[float, Array]:
        P, Q = z[:split].reshape(m, rank), z[split:].reshape(d, rank)
        W = P @ Q.T
        A, theta = W.T @ W - target, np.sum(W, axis=0) - shift
        trace = np.trace(A)
        loss = alpha**2 * (2 * np.sum(A**2) + trace**2) + beta**2 * np.sum(theta**2)
        dW = alpha**2 * (8 * W @ A + 4 * trace * W) + 2 * beta**2 * theta
        return float(loss), np.concatenate([(dW @ Q).ravel(), (dW.T @ P).ravel()])

    best: tuple[float, Array] = (np.inf, np.zeros((m, d)))
    for start in _starts(V, rank, source):
        U, s, R = np.linalg.svd(start, full_matrices=False)
        root = np.sqrt(s[:rank])
        z0 = np.concatenate([(U[:, :rank] * root).ravel(), (R[:rank].T * root).ravel()])
        found = minimize(value, z0, jac=True, method="L-BFGS-B", options=_OPTIONS)
        if found.fun < best[0]:
            z = found.x
            best = (float(found.fun), z[:split].reshape(m, rank) @ z[split:].reshape(d, rank).T)
    return best[1], best[0]


def _starts(V: Array, rank: int, source: np.random.Generator) -> list[Array]:
    """The teacher, the quadratic optimum in the teacher's frame, and the teacher with noise."""
    U, _, R = np.linalg.svd(V, full_matrices=False)
    values, vectors = np.linalg.eigh(standard_barrier(V.T @ V, rank).network.tensor().to_matrix())
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    noise = np.linalg.norm(V) / np.sqrt(V.size)
    return [V, U @ R @ root, *(V + noise * source.standard_normal(V.shape) for _ in range(STARTS))]
