"""Random points of a fiber, built without the library's own fiber code: products in O(p, q), paddings, cancellations.

Tests reach them through the `samples` fixture.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import expm

from shallows import Network


def symmetric_of_signature(rng, n, plus, minus, spread=0.0):
    """A random symmetric matrix with `plus` positive and `minus` negative eigenvalues, others exactly dropped."""
    rank = plus + minus
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0][:, :rank]
    sizes = (0.5 + rng.random(rank)) * 10.0 ** (-spread * rng.random(rank))
    return (Q * (sizes * np.r_[np.ones(plus), -np.ones(minus)])) @ Q.T


def indefinite_orthogonal(rng, p, q, boost=1.0):
    """A random M with MᵀJM = J: exp of a symmetric off-diagonal block, times O(p) × O(q) (both determinants)."""
    Y = boost * rng.normal(size=(p, q)) / np.sqrt(max(p, q, 1))
    M = expm(np.block([[np.zeros((p, p)), Y], [Y.T, np.zeros((q, q))]]))
    K = np.zeros((p + q, p + q))
    K[:p, :p] = np.linalg.qr(rng.normal(size=(p, p)))[0] * rng.choice([-1, 1], size=p)
    K[p:, p:] = np.linalg.qr(rng.normal(size=(q, q)))[0] * rng.choice([-1, 1], size=q)
    return M @ K


def random_network(rng, S, width, boost=1.0, extra=None):
    """A random network with Σ a w wᵀ = S: `extra` = (cancelling positive, negative) neurons, the others idle.

    With a cancelling pair and a null vector x of S, an isotropic combination of the pair carries x: the isotropic case.
    """
    n = len(S)
    values, vectors = np.linalg.eigh(S)
    floor = 1e-9 * np.max(np.abs(values), initial=0.0)
    up, down = values > floor, values < -floor
    spare = width - int(up.sum() + down.sum())
    if extra is None:
        positive = int(rng.integers(0, spare + 1))
        extra = (positive, int(rng.integers(0, spare - positive + 1)))
    D = np.vstack(
        [
            (vectors[:, up] * np.sqrt(values[up])).T,
            np.zeros((extra[0], n)),
            (vectors[:, down] * np.sqrt(-values[down])).T,
            np.zeros((extra[1], n)),
        ]
    )
    p, q = int(up.sum()) + extra[0], int(down.sum()) + extra[1]
    if all(extra) and np.any(~up & ~down):
        null = vectors[:, ~up & ~down] @ rng.normal(size=int(np.sum(~up & ~down)))
        D[p - 1] += null
        D[p + q - 1] += null
    W = indefinite_orthogonal(rng, p, q, boost) @ D
    a = np.r_[np.ones(p), -np.ones(q)]
    scales = np.exp(rng.normal(size=p + q))
    W, a = W * scales[:, None], a / scales**2
    idle = width - p - q
    asleep = rng.random(idle) < 0.5  # w = 0 with a ≠ 0, or a = 0 with w ≠ 0
    W = np.vstack([W, np.where(asleep[:, None], 0.0, rng.normal(size=(idle, n)))])
    a = np.r_[a, np.where(asleep, rng.normal(size=idle), 0.0)]
    order = rng.permutation(width)
    return Network(W[order], a[order])


def plain_matrix(net):
    """Σᵢ aᵢ wᵢwᵢᵀ, neuron by neuron."""
    return sum(a * np.outer(w, w) for a, w in zip(net.a, net.W, strict=True))


def energy(net):
    """Σᵢ |aᵢ|‖wᵢ‖²."""
    return float(sum(abs(a) * (w @ w) for a, w in zip(net.a, net.W, strict=True)))


@pytest.fixture(scope="session")
def samples():
    """The functions above."""
    return SimpleNamespace(
        symmetric=symmetric_of_signature, network=random_network, matrix=plain_matrix, energy=energy
    )
