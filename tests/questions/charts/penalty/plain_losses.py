"""Losses of quadratic networks with several outputs and a penalty in plain NumPy: gradients, and their zeros by search.

It shares no code with the library: sums over samples, derivatives by complex steps, least squares from random weights.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.optimize import least_squares, minimize

#: Where SciPy stops, when a gradient is zero, weights that run away, and steps that lose no digits.
STOP, CRITICAL, FAR, STEP = 1e-15, 1e-9, 60.0, 1e-30


@dataclass
class PlainLoss:
    """Mean squares over samples of Σ a (w·x + b)² + ν‖x‖² − y, and γ‖WᵀW − I‖²; `outer` (M, k) where a is fixed."""

    X: np.ndarray
    Y: np.ndarray
    width: int
    gamma: float = 0.0
    outer: np.ndarray | None = None
    norm: bool = False
    bias: bool = False

    @property
    def sizes(self):
        n, M, k = self.X.shape[1], self.Y.shape[1], self.width
        return [k * n, k if self.bias else 0, 0 if self.outer is not None else M * k, M if self.norm else 0]

    def parts(self, theta):
        W, b, a, norm = np.split(theta, np.cumsum(self.sizes)[:-1])
        n, M, k = self.X.shape[1], self.Y.shape[1], self.width
        A = self.outer if self.outer is not None else a.reshape(M, k)
        return W.reshape(k, n), b if self.bias else np.zeros(k), A, norm if self.norm else np.zeros(M)

    def gaps(self, theta):
        W, b, A, norm = self.parts(theta)
        Z = self.X @ W.T + b
        return Z, Z**2 @ A.T + np.outer((self.X**2).sum(1), norm) - self.Y

    def value(self, theta):
        W = self.parts(theta)[0]
        R, P = self.gaps(theta)[1], W.T @ W - np.eye(W.shape[1])
        return float((R**2).sum() / len(R) + self.gamma * (P**2).sum())

    def gradient(self, theta):
        W, _, A, _ = self.parts(theta)
        Z, R = self.gaps(theta)
        m = len(R)
        back = 4 * (R @ A) * Z / m
        slope = back.T @ self.X + 4 * self.gamma * W @ (W.T @ W - np.eye(W.shape[1]))
        parts = [slope.ravel()]
        parts += [back.sum(0)] if self.bias else []
        parts += [(2 * R.T @ Z**2 / m).ravel()] if self.outer is None else []
        parts += [2 * R.T @ (self.X**2).sum(1) / m] if self.norm else []
        return np.concatenate(parts)

    def hessian(self, theta):
        steps = STEP * np.eye(len(theta))
        return np.column_stack([np.imag(self.gradient(theta + 1j * step)) / STEP for step in steps])

    def seen(self, theta):
        """What the loss sees: all outputs' matrices, up to norm neurons, on (1, x), and WᵀW."""
        W, b, A, _ = self.parts(theta)
        V = np.column_stack([b, W])
        return np.concatenate([np.einsum("mk,ki,kj->mij", A, V, V).ravel(), (W.T @ W).ravel()])

    def minima(self, starts, rng):
        """Where descents end: the lowest network may draw few of the searches for zeros."""
        for _ in range(starts):
            start = rng.standard_normal(sum(self.sizes))
            down = minimize(self.value, start, jac=self.gradient, method="L-BFGS-B", tol=STOP)
            end = least_squares(self.gradient, down.x, self.hessian, xtol=STOP, ftol=STOP, gtol=STOP)
            if np.abs(end.fun).max() < CRITICAL and np.abs(end.x).max() < FAR:
                yield end.x

    def zeros(self, starts, rng, sizes=(0.3, 1.0, 3.0)):
        """Weights of critical networks."""
        for _ in range(starts):
            start = rng.standard_normal(sum(self.sizes)) * rng.choice(sizes)
            with np.errstate(all="ignore"):
                end = least_squares(
                    self.gradient, start, self.hessian, xtol=STOP, ftol=STOP, gtol=STOP, max_nfev=200
                )
            if np.abs(end.fun).max() < CRITICAL and np.abs(end.x).max() < FAR:
                yield end.x

    def weights(self, net):
        """Those of a network."""
        parts = [net.W.ravel()]
        parts += [net.bias] if self.bias else []
        parts += [np.asarray(net.a).ravel()] if self.outer is None else []
        parts += [np.ones(self.Y.shape[1]) * net.norm] if self.norm else []
        return np.concatenate(parts)


def compared(loss, chart, starts, seed=0):
    """How many rows of a chart the search met; every critical network it found is a row, or on a family's level."""
    rows = [(p.loss, loss.seen(loss.weights(p.network)), p.dimension) for p in chart.critical]
    met = set()
    rng = np.random.default_rng(seed)
    for theta in chain(loss.zeros(starts, rng), loss.minima(starts // 10, rng)):
        seen, value = loss.seen(theta), loss.value(theta)
        near = [
            i
            for i, (level, entries, dimension) in enumerate(rows)
            if np.abs(entries - seen).max() <= 1e-5 * (1 + np.abs(seen).max())
            or (dimension and abs(level - value) <= 1e-7 * (1 + value))
        ]
        assert near, f"missing: a critical network of loss {value}"
        met.update(near)
    return met


def are_critical(loss, chart):
    """Every row that is no limit is a zero of the plain gradient with the loss that it says."""
    for point in chart.critical:
        theta = loss.weights(point.network)
        if not point.limit:
            assert np.abs(loss.gradient(theta)).max() <= 1e-7 * (1 + np.abs(theta).max() ** 3)
        assert abs(loss.value(theta) - point.loss) <= 1e-5 * (1 + point.loss)
