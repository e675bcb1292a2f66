"""The loss of Σ_j ε_j w_j^⊗d as a function of the neurons w_j, their signs ε_j held: where paths down are followed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class Neurons:
    """Vectors w_j, a row each, and their signs ε_j = ±1: the tensor Σ ε_j w_j^⊗d."""

    vectors: Array
    signs: Array

    @classmethod
    def of(cls, net: Network) -> Neurons:
        """The neurons of a power network that are not idle, |a|^(1/d) w with the sign of a (odd degrees: inside w)."""
        degree = net.activation.degree  # type: ignore[attr-defined]
        a = np.ravel(net.a)
        busy = (a != 0) & np.any(net.W != 0, axis=1)
        vectors, signs = net.W[busy] * np.abs(a[busy, None]) ** (1 / degree), np.sign(a[busy])
        return cls(vectors, signs) if degree % 2 == 0 else cls(vectors * signs[:, None], np.ones(len(signs)))

    @property
    def rank(self) -> int:
        """How many there are."""
        return len(self.vectors)

    def with_neuron(self, vector: Array, sign: float) -> Neurons:
        """One more."""
        return Neurons(np.vstack([self.vectors, vector]), np.append(self.signs, sign))

    def at(self, vectors: Array) -> Neurons:
        """The same signs at other vectors."""
        return Neurons(vectors.reshape(self.vectors.shape), self.signs)

    def __repr__(self) -> str:
        return f"Neurons({self.rank} in {self.vectors.shape[1]} inputs)"


@dataclass(frozen=True, eq=False)
class NeuronLoss:
    """ℓ(s) − floor = (s − t)ᵀG(s − t) with s = Σ ε_j w_j^⊗d, and its derivatives by the w_j."""

    gram: Array
    target: Array
    n: int
    degree: int

    @classmethod
    def of(cls, problem: Problem) -> NeuronLoss:
        """A problem's own."""
        return cls(problem.gram(), problem.target_tensor().entries, problem.n, problem.degree)

    @cached_property
    def energy(self) -> float:
        """‖t‖², the loss of the zero network: the unit in which losses are small."""
        return float(self.target @ self.gram @ self.target)

    def tensor(self, neurons: Neurons) -> Array:
        """Σ ε_j w_j^⊗d."""
        return np.asarray(self.tensors(neurons.vectors[None], neurons.signs)[0])

    def tensors(self, vectors: Array, signs: Array) -> Array:
        """The same at many places: vectors (m, r, n)."""
        return np.asarray(signs @ coordinates.monomials(vectors, self.degree))

    def values(self, vectors: Array, signs: Array) -> Array:
        """The loss at vectors (m, r, n)."""
        gap = self.tensors(vectors, signs) - self.target
        return np.asarray(np.einsum("mi,mi->m", gap, gap @ self.gram))

    def value(self, neurons: Neurons) -> float:
        """The loss at one place."""
        return float(self.values(neurons.vectors[None], neurons.signs)[0])

    def slope(self, neurons: Neurons) -> Array:
        """∇ℓ on entries, 2G(s − t)."""
        return np.asarray(2 * self.gram @ (self.tensor(neurons) - self.target))

    def derivatives(self, neurons: Neurons) -> tuple[Array, Array]:
        """Gradient (rn,) and Hessian (rn, rn): Dᵀ∇ℓ and 2DGDᵀ + Σ ε_j ∂²(∇ℓ·w_j^⊗d)."""
        W, signs, n, d = neurons.vectors, neurons.signs, self.n, self.degree
        slope = self.slope(neurons)
        size = W.size
        D = coordinates.monomials_jvp(W[:, None, :], np.eye(n)[None], d) * signs[:, None, None]
        D = D.reshape(size, -1)
        hessian = 2 * D @ self.gram @ D.T
        first = coordinates.gradient_matrix(slope, n, d)
        second = coordinates.gradient_matrix(first.T, n, d - 1)
        for j in range(len(W)):
            block = slice(j * n, (j + 1) * n)
            hessian[block, block] += signs[j] * np.einsum(
                "m,xmy->xy", coordinates.monomials(W[j], d - 2), second
            )
        return D @ slope, (hessian + hessian.T) / 2

    def distance(self, first: Array, second: Array) -> float:
        """‖s − s′‖ of two tensors in the data's inner product."""
        gap = first - second
        return float(np.sqrt(max(float(gap @ self.gram @ gap), 0.0)))
