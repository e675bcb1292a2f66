"""Polynomial-linear networks of any depth (paper 002, appendix G): layers v ↦ Λ(Qv)^p, the power entry by entry.

L layers are a form of degree p^L. Equation G.1 penalises γ‖(QQᵀ)^{∘p} − I‖², the Gram matrix of the tensors q_i^{⊗p}
(rows of Q here); with several layers each has its own. Theorem G.1 starts at all q_I = e_{i1} + … + e_{ip}, whose
p-th powers span every form, and Λ = 0; remark 3 carries it over to depth: hidden layers start as the features ψ of
degree p of what comes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors import coordinates
from shallows.questions.descent.stopping import Stopping
from shallows.questions.learn.deep.losses import Evaluate
from shallows.questions.learn.deep.problem import checked_samples, convex_counterpart
from shallows.questions.learn.deep.training import STATIONARY, checked_method, run_batch
from shallows.questions.learn.fitting.frame import homogenise
from shallows.questions.learn.fitting.solve import mean_square
from shallows.questions.learn.fitting.spanning_powers import realise, spanning_directions
from shallows.support.checks import Array, counted, finite_array, finite_number, positive_integer
from shallows.support.errors import InvalidProblem

#: Neurons of a layer at most: its directions are solved with once, and trained.
LARGEST_LAYER = 2000


@dataclass(frozen=True)
class PolynomialLinear:
    """Sizes h_0, …, h_L, neurons m_1, …, m_L, the power p; θ holds Q (m_l, h_{l−1}) and Λ (h_l, m_l) of each layer."""

    sizes: tuple[int, ...]
    neurons: tuple[int, ...]
    power: int

    @classmethod
    def spanning(cls, inputs: int, power: int, depth: int, outputs: int) -> PolynomialLinear:
        """As many neurons a layer as Theorem G.1 asks for: C(h+p−1, p)."""
        sizes = [inputs]
        for _ in range(depth):
            sizes.append(coordinates.dimension(sizes[-1], power))
            if sizes[-1] > LARGEST_LAYER:
                raise InvalidProblem(
                    f"Depth {depth} and power {power} on {inputs} inputs ask for a layer of {sizes[-1]:,} neurons "
                    f"(Theorem G.1); at most {LARGEST_LAYER:,} are trained. Use fewer columns, layers or a lower power."
                )
        return cls((*sizes[:-1], outputs), tuple(sizes[1:]), power)

    @property
    def degree(self) -> int:
        """p^L."""
        return int(self.power ** len(self.neurons))

    def split(self, theta: Array) -> list[tuple[Array, Array]]:
        """(Q, Λ) of each layer."""
        parts, start = [], 0
        for (before, after), m in zip(pairwise(self.sizes), self.neurons, strict=True):
            middle, end = start + m * before, start + m * (before + after)
            parts.append((theta[start:middle].reshape(m, before), theta[middle:end].reshape(after, m)))
            start = end
        return parts

    def join(self, parts: Sequence[tuple[Array, Array]]) -> Array:
        """The layers as θ."""
        return np.concatenate([piece.ravel() for part in parts for piece in part])

    def start(self) -> Array:
        """Theorem G.1: all q_I, features in hidden layers, Λ = 0 in the last."""
        parts = []
        for number, (before, after) in enumerate(pairwise(self.sizes), 1):
            if number == len(self.neurons):
                parts.append((spanning_directions(before, self.power), np.zeros((after, self.neurons[-1]))))
            else:
                parts.append(realise(np.eye(after), before, self.power))
        return self.join(parts)

    def forward(self, theta: Array, Z: Array) -> Array:
        """The outputs at homogenised inputs, (rows, outputs)."""
        v = Z
        for Q, weights in self.split(theta):
            v = (v @ Q.T) ** self.power @ weights.T
        return np.asarray(v)

    def evaluate(self, Z: Array, Y: Array, weights: Array, gamma: float) -> Evaluate:
        """θ ↦ mean loss with γ Σ_l ‖(QQᵀ)^{∘p} − I‖², and its gradient, run by run."""
        share = (weights / weights.sum())[:, None]

        def one(theta: Array) -> tuple[float, Array]:
            parts, inputs, inner = self.split(theta), [Z], []
            for Q, outer in parts:
                inner.append(inputs[-1] @ Q.T)
                inputs.append(inner[-1] ** self.power @ outer.T)
            r = inputs.pop() - Y
            value, slope, slopes = float(np.sum(share * r**2)), 2 * share * r, []
            for (Q, outer), v, u in zip(reversed(parts), reversed(inputs), reversed(inner), strict=True):
                du = self.power * u ** (self.power - 1) * (slope @ outer)
                extra, dQ = tensor_penalty(Q, self.power, gamma)
                slopes.append((du.T @ v + dQ, slope.T @ u**self.power))
                slope, value = du @ Q, value + extra
            return value, self.join(slopes[::-1])

        def evaluate(thetas: Array) -> tuple[Array, Array]:
            found = [one(theta) for theta in thetas]
            return np.array([value for value, _ in found]), np.array([slope for _, slope in found])

        return evaluate


def tensor_penalty(Q: Array, power: int, gamma: float) -> tuple[float, Array]:
    """γ‖(QQᵀ)^{∘p} − I‖² of equation G.1, rows of Q the neurons, and its gradient."""
    gram = Q @ Q.T
    excess = gram**power - np.eye(len(Q))
    return gamma * float(np.sum(excess**2)), 4 * gamma * power * (excess * gram ** (power - 1)) @ Q


@dataclass(frozen=True, eq=False)
class PolynomialRun:
    """Where training from the start of paper 002, Theorem G.1, ended.

    `optimum` is that of least squares on features of degree p^L, None when there are too many of them.

    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> run = sh.learn.train_polynomial(X, X[:, 0] ** 4 - X[:, 1] ** 4, power=2, depth=2)
    >>> run.network.degree, run.network.neurons, f"{run.nmse:.8f}"   # C(3, 2) and C(4, 2) neurons
    (4, (3, 6), '0.00000000')
    >>> run.predict([[2.0, 1.0]]).round(4).tolist()   # 16 − 1
    [[15.0]]
    """

    network: PolynomialLinear
    theta: Array
    affine: bool
    loss: float
    energy: float
    optimum: float | None
    gradient_norm: float
    iterations: int

    @property
    def nmse(self) -> float:
        """Loss / mean y²."""
        return self.loss / self.energy

    def predict(self, X: ArrayLike) -> Array:
        """The outputs, (rows, outputs)."""
        return self.network.forward(self.theta, homogenise(finite_array("X", X, 2), self.affine))

    def __repr__(self) -> str:
        optimum = "unknown" if self.optimum is None else f"{self.optimum / self.energy:.6g}"
        return (
            f"PolynomialRun({counted(len(self.network.neurons), 'layer')} of power {self.network.power}: "
            f"NMSE {self.nmse:.6g}, least-squares optimum {optimum}; {counted(self.iterations, 'iteration')})"
        )


def train_polynomial(
    X: ArrayLike,
    y: ArrayLike,
    power: int = 3,
    depth: int = 1,
    *,
    affine: bool = False,
    penalty: float = 0.0,
    method: str = "lbfgs",
    iterations: int = 2000,
    progress: bool = True,
) -> PolynomialRun:
    """Train layers v ↦ Λ(Qv)^p, all of Q and Λ, from the start of paper 002, Theorem G.1 (remark 3 for depth > 1).

    `penalty` is γ of equation G.1. The start is not random, so there is one run. Training Λ alone is least squares:
    `PolynomialNetRegressor`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> run = sh.learn.train_polynomial(X, X[:, 0] ** 3 - 2 * X[:, 0] * X[:, 1] ** 2, power=3)
    >>> f"{run.nmse:.12f}"
    '0.000000000000'
    """
    checked_method(method)
    samples, labels = checked_samples(X, y)
    gamma, iterations = (
        finite_number("penalty", penalty, minimum=0.0),
        positive_integer("iterations", iterations),
    )
    Z, weights = homogenise(samples, affine), np.ones(len(samples))
    network = PolynomialLinear.spanning(
        Z.shape[1], positive_integer("power", power, 2), positive_integer("depth", depth), labels.shape[1]
    )
    evaluate = network.evaluate(Z, labels, weights, gamma)
    batch = run_batch(evaluate, network.start()[None], method, Stopping(STATIONARY, iterations), progress)
    counterpart = convex_counterpart(Z, labels, weights, network.degree)
    theta = batch.thetas[0]
    return PolynomialRun(
        network,
        theta,
        affine,
        mean_square(labels - network.forward(theta, Z), weights),
        mean_square(labels, weights),
        None if counterpart is None else counterpart.floor,
        float(batch.norms[0]),
        int(batch.iterations[0]),
    )
