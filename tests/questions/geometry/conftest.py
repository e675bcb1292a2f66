"""Random points of a fiber, built without the library's own fiber code: products in O(p, q), paddings, cancellations;
and what the tests of escape paths share. Tests reach them through the fixtures `samples` and `escaping`.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import minimize

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network


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


# -- escape paths -----------------------------------------------------------------------------------------------


EPS = float(np.finfo(float).eps)


def falls(escape, net, loss=None, points=400, problem=None):
    """Never increasing, lower at the end, starting at the network; returns the losses.

    Two sources of rounding, told apart. The *path* is exact to 1e-13 of the first loss: with `problem`, its networks,
    the doubles that they are, are put into ℓ in extended precision. A loss *evaluated* in doubles is known less well:
    as a sum of kernels it cancels terms as large as the square of Σ|aᵢ|‖wᵢ‖^d, which may be larger on the way than at
    the ends; the teacher's own terms, not counted here, can be as large (16 units in the last place for both).
    """
    assert escape, escape.reason
    nets = escape.path.networks(points)
    losses = escape.path.losses(points, loss)
    degree = net.activation.degree
    terms = max(float(np.sum(np.abs(p.a) * np.linalg.norm(p.W, axis=1) ** degree)) for p in nets)
    assert np.all(np.diff(losses) <= 1e-12 * abs(losses[0]) + 16 * EPS * terms**2)
    if problem is not None:
        exact = np.array([extended_loss(problem, p) for p in nets])
        assert np.all(np.diff(exact) <= 1e-13 * exact[0])
    assert losses[-1] < losses[0]
    assert np.array_equal(escape.path(0).W, net.W) and np.array_equal(escape.path(0).a, net.a)
    return losses


def extended_loss(problem, net):
    """(s − s*)ᵀ G (s − s*) + L*, term by term in extended precision, for the parameters as they stand."""
    a, W = net.a.astype(np.longdouble), net.W.astype(np.longdouble)
    powers = np.prod(W[:, coordinates.indices(net.n, problem.degree)], axis=2)
    gap = a @ powers - problem.target_tensor().entries
    return gap @ (problem.gram().astype(np.longdouble) @ gap) + problem.floor


class LogCosh:
    """Σ log cosh(T(xⱼ) − yⱼ): convex, smooth, not quadratic."""

    def __init__(self, rng, n, degree, count=60):
        self.X, self.y = rng.normal(size=(count, n)), rng.normal(size=count)
        self.powers = coordinates.monomials(self.X, degree)

    def value(self, tensor):
        r = tensor(self.X) - self.y
        return float(np.sum(np.logaddexp(r, -r) - np.log(2)))

    def gradient(self, tensor):
        r = tensor(self.X) - self.y
        return SymmetricTensor(np.tanh(r) @ self.powers, tensor.n, tensor.degree)


def random_tensor(rng, n, degree):
    return SymmetricTensor(rng.normal(size=coordinates.dimension(n, degree)), n, degree)


def random_student(rng, problem):
    return problem.unpack(rng.normal(size=problem.size))


def trained(problem, net, steps=5000):
    """Where L-BFGS stops."""
    found = minimize(
        lambda x: tuple(map(np.asarray, problem.value_and_gradient(x))),
        problem.pack(net),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": steps, "gtol": 1e-10, "ftol": 0.0},
    )
    return problem.unpack(found.x)


def frozen(problem, net, steps=30):
    """A critical point near `net`: L-BFGS, then Newton on the gradient."""
    theta = problem.pack(trained(problem, net))
    for _ in range(steps):
        here = problem.unpack(theta)
        theta = theta - np.linalg.lstsq(problem.hessian(here), problem.gradient(here), rcond=1e-9)[0]
    net = problem.unpack(theta)
    assert np.linalg.norm(problem.gradient(net)) < 1e-10
    return net


@pytest.fixture(scope="session")
def escaping():
    """The functions above."""
    return SimpleNamespace(
        falls=falls,
        LogCosh=LogCosh,
        random_tensor=random_tensor,
        random_student=random_student,
        trained=trained,
        frozen=frozen,
    )
