"""Several outputs with trained weights under the orthogonality penalty: P = WᵀW is one more output.

With wᵢ = √xᵢ uᵢ and aᵢ = bᵢ/xᵢ outputs and penalty are

    s_m = Σ b_mi uᵢuᵢᵀ,    P = Σ xᵢ uᵢuᵢᵀ,    loss Σ_m ‖s_m − t_m‖²_G + γ‖P − I‖²_F,

a network of M + 1 outputs with outer weights (bᵢ, xᵢ), the last under a metric of its own and with the identity for its
target. Lengths of uᵢ are anything, so one coordinate of each is 1 in a random frame, a rotation, which Frobenius'
metric and the identity do not see. Real networks are those with x > 0.

*One neuron*, u of length 1: x = 1. The penalty is γ(n − 1) whatever a and u are, and critical points are those
without it.
*Two neurons*, κ the cosine between them: x₁ = x₂ = 1/(1 + κ²), so that lengths are positive, and the penalty is
γ(n − 2/(1 + κ²)): neurons of critical points are orthogonal for special targets only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product
from typing import ClassVar

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.model.data.metric import Frobenius
from shallows.model.reduced_problem import identity
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.penalty.joined_members import SeveralOutputs
from shallows.questions.charts.penalty.metrics import PenalisedMetrics
from shallows.support.checks import Array
from shallows.support.seeds import complex_normal


@dataclass(frozen=True, repr=False)
class JoinedEquations(SeveralOutputs):
    """The critical equations of r neurons with M outputs and P, unknowns (bᵢ, xᵢ, zᵢ) with uᵢ = (1, zᵢ)."""

    moves: ClassVar[bool] = False
    inputs: int = 0
    neurons: int = 0
    trained: int = 0

    @classmethod
    def of(cls, n: int, r: int, outputs: int) -> JoinedEquations:
        """r neurons in n inputs."""
        neuron = joined_neuron(n, r, outputs)
        return cls(neuron, 1, outer=((1.0,),), inputs=n, neurons=r, trained=outputs)

    def orbit(self, x: Complex) -> Complex:
        """All orders of the neurons."""
        table = x.reshape(self.neurons, -1)
        return np.array([table[list(order)].ravel() for order in permutations(range(self.neurons))])

    def parts(self, points: Complex) -> tuple[Complex, Complex, Complex]:
        """b (…, r, M), x (…, r) and u (…, r, n)."""
        table = points.reshape(*points.shape[:-1], self.neurons, self.trained + self.inputs)
        Z = table[..., self.trained + 1 :]
        U = np.concatenate([np.ones((*Z.shape[:-1], 1)), Z], axis=-1)
        return table[..., : self.trained], table[..., self.trained], U

    def first_of(
        self, metrics: PenalisedMetrics, u: Complex, rng: np.random.Generator
    ) -> tuple[Complex, Complex]:
        """Random neurons and weights b, the x that P asks for, and (g, v), v the identity's multiple, that make them
        critical: equations in the slopes of the outputs, which P's slope is known beside."""
        n, r, M = self.inputs, self.neurons, self.trained
        gram, v = metrics.at(u).high, complex_normal(rng, 1)[0]
        Z, b = complex_normal(rng, r, n - 1), complex_normal(rng, r, M)
        psi = coordinates.monomials(np.concatenate([np.ones((r, 1)), Z], axis=1), 2)
        F, q, last = Frobenius(n).gram(2), identity(psi.shape[1]), metrics.size
        gamma = gram[last, last]
        x = np.linalg.solve(psi @ F @ psi.T, v / gamma * (psi @ q))
        point = np.concatenate([b, x[:, None], Z], axis=1).ravel()
        slope = gamma * (F @ (x @ psi)) - v * q
        conditions = self.conditions(point)
        own, moved = conditions[:, :last], -conditions[:, last:] @ slope
        kernel = np.linalg.svd(own)[2][np.linalg.matrix_rank(own) :].conj()
        free = complex_normal(rng, len(kernel)) @ kernel if len(kernel) else 0.0
        e = np.linalg.lstsq(own, moved, rcond=None)[0] + free
        g = (gram @ self.tensors(point[None])[0])[:last] - e
        return point, np.append(g, v)

    def __repr__(self) -> str:
        return f"JoinedEquations(n={self.inputs}, r={self.neurons}, outputs={self.trained})"


def joined_neuron(n: int, r: int, outputs: int) -> Neuron:
    """(b₁, x₁, z₁, b₂, …) ↦ the entries of (s₁, …, s_M, P).

    >>> joined_neuron(1, 1, 2).values(np.array([3.0, 5.0, 2.0]))
    array([3., 5., 2.])
    """
    own, size = outputs + n, coordinates.dimension(n, 2)
    squares = list(enumerate(coordinates.indices(n, 2).tolist()))
    products = []
    for i, m, (k, pair) in product(range(r), range(outputs + 1), squares):
        factors = [i * own + outputs + p for p in pair if p]
        products.append((m * size + k, 1.0, (i * own + m, *factors)))
    return Neuron.of_products(r * own, (outputs + 1) * size, products)


def network_neuron(n: int, r: int, outputs: int) -> Neuron:
    """(a₁, w₁, a₂, …) ↦ the entries of (s₁, …, s_M, P): the weights themselves, for proofs.

    >>> network_neuron(1, 1, 2).values(np.array([3.0, 5.0, 2.0]))
    array([12., 20.,  4.])
    """
    own, size = outputs + n, coordinates.dimension(n, 2)
    squares = list(enumerate(coordinates.indices(n, 2).tolist()))
    products: list[tuple[int, float, tuple[int, ...]]] = []
    for i, (k, (p, q)) in product(range(r), squares):
        square = (i * own + outputs + p, i * own + outputs + q)
        products += [(m * size + k, 1.0, (i * own + m, *square)) for m in range(outputs)]
        products.append((outputs * size + k, 1.0, square))
    return Neuron.of_products(r * own, (outputs + 1) * size, products)


def entries_of(A: Array, W: Array) -> Array:
    """(s₁, …, s_M, P) of outer weights (M, r) and neurons (r, n).

    >>> entries_of(np.array([[3.0], [5.0]]), np.array([[2.0]]))
    array([12., 20.,  4.])
    """
    squares = coordinates.monomials(W, 2)
    return np.concatenate([(A @ squares).ravel(), squares.sum(axis=0)])
