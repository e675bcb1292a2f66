"""The loss of a batch of deep quadratic networks and its gradient, by the cheaper of two exact routes.

- Two layers: f = ψ(z)ᵀBψ(z) with B = AᵀMA, so the loss is (s − s*)ᵀG(s − s*) + L* in the coordinates s of degree 4. An
  evaluation costs O(F₄²) a network however many samples there are, as one matrix product for the whole batch.
- Any depth: backpropagation through the layers on the samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.deep.layers import Shape, penalty
from shallows.questions.learn.fitting.frame import chunks, features
from shallows.support.checks import Array

Evaluate = Callable[[Array], tuple[Array, Array]]
#: Features of the largest form whose Gram matrix is made.
LARGEST_FORM = 2500


@dataclass(frozen=True, eq=False)
class Quadratic:
    """(s − s*)ᵀG(s − s*) + L*: mean loss in orthonormal coordinates of degree 2^L, `optimum` (outputs, F)."""

    gram: Array
    optimum: Array
    floor: float


def in_function_space(shape: Shape, quadratic: Quadratic, gamma: float) -> Evaluate:
    """θ ↦ loss and gradient for two layers, from the statistics of degree 4."""
    n = shape.sizes[0]
    collect = collector(n)
    back = collect.T.tocsr()
    gram, optimum = np.asfortranarray(quadratic.gram), quadratic.optimum
    root = np.sqrt(coordinates.multiplicities(shape.sizes[1], 2))

    def evaluate(thetas: Array) -> tuple[Array, Array]:
        first, last = layers = shape.split(thetas)
        outputs, M = last.shape[1], coordinates.symmetric_matrices(last / root)
        MA = M @ first[:, None]
        B = first[:, None].swapaxes(-1, -2) @ MA
        move = collect @ B.reshape(-1, B.shape[-1] ** 2).T - np.tile(optimum, (len(thetas), 1)).T
        image = gram @ move
        value = np.einsum("ij,ij->j", move, image).reshape(-1, outputs).sum(axis=1) + quadratic.floor
        E = np.ascontiguousarray((back @ (2 * image)).T).reshape(B.shape)
        dM = first[:, None] @ E @ first[:, None].swapaxes(-1, -2)
        extra, slopes = penalty(layers, gamma)
        slopes[0] = slopes[0] + 2 * (MA @ E).sum(axis=1)
        slopes[1] = slopes[1] + coordinates.matrix_entries(dM) * root
        return value + extra, shape.join(slopes)

    return evaluate


def collector(n: int, degree: int = 2) -> Any:
    """The sparse C with ψ_kᵀBψ_k = (C vec B)·ψ_2k: it sums B_pq √(m_p m_q / m_I) over pairs with p ∪ q = I.

    Its rows are orthonormal (Σ m_p m_q = m_I counts the ways to split an index tuple), so B = Cᵀs realises a given s.
    """
    half, whole = coordinates.multiplicities(n, degree), coordinates.multiplicities(n, 2 * degree)
    places = coordinates.product_table(n, degree, degree).ravel()
    values = np.sqrt(np.outer(half, half).ravel() / whole[places])
    return csr_array((values, (places, np.arange(len(places)))), shape=(len(whole), len(places)))


def on_samples(shape: Shape, Z: Array, Y: Array, weights: Array, gamma: float) -> Evaluate:
    """θ ↦ loss and gradient for any depth: forward and backward through the samples, chunk by chunk."""
    share = weights / weights.sum()
    pieces = chunks(len(Z), max(coordinates.dimension(size, 2) for size in shape.sizes[:-1]), 1 << 17)
    first = [features(Z[rows], 2) for rows in pieces]

    def one(theta: Array) -> tuple[float, list[Array]]:
        layers = shape.split(theta)
        value, slopes = 0.0, [np.zeros_like(layer) for layer in layers]
        for rows, block in zip(pieces, first, strict=True):
            inputs, lifted = [Z[rows]], [block]
            for layer in layers[:-1]:
                inputs.append(lifted[-1] @ layer.T)
                lifted.append(features(inputs[-1], 2))
            r = lifted[-1] @ layers[-1].T - Y[rows]
            w = share[rows][:, None]
            value += float(np.sum(w * r**2))
            slope = 2 * w * r
            for number in reversed(range(len(layers))):
                slopes[number] += slope.T @ lifted[number]
                if number:
                    slope = _features_adjoint(inputs[number], slope @ layers[number])
        return value, slopes

    def evaluate(thetas: Array) -> tuple[Array, Array]:
        extra, added = penalty(shape.split(thetas), gamma)
        values, gradients = np.empty(len(thetas)), np.empty_like(thetas)
        for i, theta in enumerate(thetas):
            values[i], slopes = one(theta)
            gradients[i] = shape.join(slopes)
        return values + extra, gradients + shape.join(added)

    return evaluate


def _features_adjoint(v: Array, slope: Array) -> Array:
    """The adjoint of dψ₂ at v: (2Ev) with E the symmetric matrix of the slope in orthonormal coordinates."""
    E = coordinates.symmetric_matrices(slope / np.sqrt(coordinates.multiplicities(v.shape[1], 2)))
    return np.asarray(2 * np.einsum("nij,nj->ni", E, v))
