"""The paper's own parameters of a quadratic-linear layer: neurons Q and linear weights Λ with A_i = QΛ_iQᵀ.

Appendix F.1 has m_l neurons in layer l, the columns of Q^(l) ∈ R^{h_{l−1}×m_l}, and Λ_i^(l) = diag(λ_i1, …, λ_im).
Theorem F.1 asks for m_l = h_{l−1}h_l of them, which reach every choice of symmetric A_i. The penalty of equation F.1 is
on Q̃ = [vec A_1, …, vec A_h] in every layer but the last (`layers.penalty`), and there on Q itself: ‖QᵀQ − I‖².

Training them goes through the forms: with E_i = ∂F/∂A_i, ∂F/∂λ_ij = q_jᵀE_iq_j and ∂F/∂Q = 2 Σ_i E_iQΛ_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.questions.learn.deep.layers import Shape
from shallows.questions.learn.deep.losses import Evaluate
from shallows.questions.learn.fitting.frame import from_matrix, to_matrix
from shallows.support.checks import Array


@dataclass(frozen=True)
class Factors:
    """θ holds Q (h_{l−1}, m_l) and Λ (h_l, m_l) of each layer, one after the other."""

    shape: Shape

    @property
    def neurons(self) -> list[int]:
        """m_l = h_{l−1}h_l, and h_{L−1} in the last layer: an eigendecomposition, which QᵀQ = I allows."""
        sizes = self.shape.sizes
        return [sizes[l] * (sizes[l + 1] if l + 1 < self.shape.depth else 1) for l in range(self.shape.depth)]

    def split(self, thetas: Array) -> list[tuple[Array, Array]]:
        """(Q, Λ) of each layer, for a batch."""
        parts, start = [], 0
        for before, after, m in zip(self.shape.sizes, self.shape.sizes[1:], self.neurons, strict=False):
            middle, end = start + before * m, start + (before + after) * m
            Q = thetas[..., start:middle].reshape(*thetas.shape[:-1], before, m)
            parts.append((Q, thetas[..., middle:end].reshape(*thetas.shape[:-1], after, m)))
            start = end
        return parts

    def forms(self, thetas: Array) -> Array:
        """The same networks as parameters of `Shape`: the coordinates of A_i = QΛ_iQᵀ."""
        return self.shape.join([from_matrix(_forms(Q, weights)) for Q, weights in self.split(thetas)])

    def start(self, rng: np.random.Generator) -> Array:
        """The start of `Shape.start`, factored: eigenvectors of each orthonormal A_i; a zero last Λ, orthogonal Q."""
        parts = []
        for number, (layer, size) in enumerate(
            zip(self.shape.split(self.shape.start(rng)), self.shape.sizes, strict=False), 1
        ):
            m = self.neurons[number - 1]
            if number == self.shape.depth:
                Q, _ = np.linalg.qr(rng.standard_normal((size, size)))
                parts += [Q.ravel(), np.zeros(len(layer) * m)]
                continue
            values, vectors = np.linalg.eigh(to_matrix(layer, size))
            weights = np.zeros((len(layer), m))
            for i, row in enumerate(values):
                weights[i, i * size : (i + 1) * size] = row
            parts += [np.concatenate(list(vectors), axis=1).ravel(), weights.ravel()]
        return np.concatenate(parts)


def through_forms(factors: Factors, evaluate: Evaluate, gamma: float) -> Evaluate:
    """θ = (Q, Λ) ↦ loss and gradient, from those of the forms, with γ‖QᵀQ − I‖² of the last layer."""

    def evaluate_factors(thetas: Array) -> tuple[Array, Array]:
        parts = factors.split(thetas)
        values, slopes = evaluate(factors.forms(thetas))
        pieces = []
        layers = zip(parts, factors.shape.split(slopes), factors.shape.sizes, strict=False)
        for number, ((Q, weights), slope, size) in enumerate(layers, 1):
            E = to_matrix(slope, size)
            image = E @ Q[..., None, :, :]  # E_i Q
            dQ = 2 * np.sum(image * weights[..., :, None, :], axis=-3)
            if number == len(parts) and gamma:
                excess = Q.swapaxes(-1, -2) @ Q - np.eye(Q.shape[-1])
                values = values + gamma * np.sum(excess**2, axis=(-1, -2))
                dQ = dQ + 4 * gamma * Q @ excess
            dW = np.sum(image * Q[..., None, :, :], axis=-2)
            pieces += [dQ.reshape(len(thetas), -1), dW.reshape(len(thetas), -1)]
        return values, np.concatenate(pieces, axis=1)

    return evaluate_factors


def _forms(Q: Array, weights: Array) -> Array:
    """A_i = QΛ_iQᵀ, (…, h, n, n)."""
    return np.asarray((Q[..., None, :, :] * weights[..., :, None, :]) @ Q[..., None, :, :].swapaxes(-1, -2))
