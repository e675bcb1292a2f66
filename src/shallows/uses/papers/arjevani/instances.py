"""Random instances that the checks of paper 000 share."""

from __future__ import annotations

from math import prod

import numpy as np

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array


def integer_network(rng: np.random.Generator, width: int, n: int, degree: int) -> sh.Network:
    """Small non-zero integer weights: ranks at such a network are decided exactly."""
    W = rng.integers(-9, 10, size=(width, n)).astype(float)
    W[:, 0] += W[:, 0] == 0
    return sh.Network(W, rng.choice([-2.0, -1.0, 1.0, 3.0], size=width), sh.Power(degree))


def gaussian_network(rng: np.random.Generator, width: int, n: int, degree: int) -> sh.Network:
    """Standard normal weights, scaled neuron by neuron so that E f² is of order one for standard Gaussian data."""
    typical = prod(range(1, 2 * degree, 2)) * n**degree  # E z^{2d} times E‖w‖^{2d}, roughly
    W = rng.standard_normal((width, n)) * (width * typical) ** (-0.5 / (degree + 1))
    return sh.Network(
        W, rng.standard_normal(width) * (width * typical) ** (-0.5 / (degree + 1)), sh.Power(degree)
    )


def symmetric(rng: np.random.Generator, eigenvalues: Array) -> Array:
    """A matrix with these eigenvalues in a random frame."""
    n = len(eigenvalues)
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    M = (Q * eigenvalues) @ Q.T
    return np.asarray((M + M.T) / 2)


def separated(rng: np.random.Generator, n: int, signs: Array | None = None) -> Array:
    """n eigenvalues of different absolute value, none near zero, with random (or given) signs."""
    sizes = np.cumsum(rng.uniform(0.3, 1.0, n))
    return np.asarray(sizes * (rng.choice([-1.0, 1.0], n) if signs is None else signs))


def random_tensor(rng: np.random.Generator, n: int, degree: int) -> sh.SymmetricTensor:
    """Random entries, with E T(x)² = 1 for standard Gaussian data."""
    raw = sh.SymmetricTensor(rng.standard_normal(coordinates.dimension(n, degree)), n, degree)
    return sh.SymmetricTensor(raw.entries / raw.norm(sh.Gaussian(n)), n, degree)


def random_metric(rng: np.random.Generator, n: int, degree: int) -> sh.Metric:
    """A well-conditioned Gram matrix without any structure."""
    size = coordinates.dimension(n, degree)
    A = rng.standard_normal((size, size))
    return sh.Metric(n, degree, A @ A.T + size * np.eye(size))


def laws(n: int) -> list[sh.Gaussian | sh.IID | sh.Sphere]:
    """Distributions of different shape."""
    return [sh.Gaussian(n), sh.IID.uniform(n), sh.IID.laplace(n), sh.Sphere(n)]


def gradient_matrix(problem: sh.Problem, S: Array) -> Array:
    """∇ℓ(S), the Frobenius gradient of ℓ(S) = (s−t)ᵀG(s−t): derivatives by entries over their multiplicities."""
    n = S.shape[0]
    difference = sh.SymmetricTensor.from_matrix(S).entries - problem.target_tensor().entries
    entries = 2 * problem.gram() @ difference / coordinates.multiplicities(n, 2)
    return sh.SymmetricTensor(entries, n, 2).to_matrix()


class LogCosh:
    """A convex loss that is no square: ℓ(S) = mean over k of log cosh(S(x_k) − T(x_k)), with its Frobenius gradient.

    The samples span, so T is the only minimum; far out ℓ grows linearly.
    """

    def __init__(self, rng: np.random.Generator, target: sh.SymmetricTensor) -> None:
        n, d = target.n, target.degree
        self.target = target
        self.X = rng.standard_normal((3 * coordinates.dimension(n, d), n))
        self.powers = coordinates.monomials(self.X, d)

    def value(self, tensor: sh.SymmetricTensor) -> float:
        """ℓ(S)."""
        return float(self.at((tensor - self.target).entries))

    def at(self, gaps: Array) -> Array:
        """ℓ at the entries of S − T along the last axis, without overflow."""
        weights = coordinates.multiplicities(self.target.n, self.target.degree)
        sizes = np.abs((gaps * weights) @ self.powers.T)
        return np.asarray(np.mean(sizes + np.log1p(np.exp(-2 * sizes)) - np.log(2), axis=-1))

    def gradient(self, tensor: sh.SymmetricTensor) -> sh.SymmetricTensor:
        """mean of tanh(S(x) − T(x)) x^⊗d."""
        slopes = np.tanh((tensor - self.target)(self.X))
        return sh.SymmetricTensor(slopes @ self.powers / len(self.X), tensor.n, tensor.degree)


def with_idle(net: sh.Network, width: int) -> sh.Network:
    """The same function with idle neurons, α = 0 and w = 0."""
    spare = width - net.width
    W = np.vstack([net.W, np.zeros((spare, net.n))])
    return sh.Network(W, np.append(net.a, np.zeros(spare)), net.activation)
