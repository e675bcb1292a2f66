"""Coordinates in which a metric treats all directions alike, so that its critical points are of comparable size.

Neurons w = B w′ turn the metric G on Sym^d into PᵀGP, P the action of B on tensors. Inputs whose directions differ in
size put some critical points far out, where a path to them looks like one to infinity. B is chosen so that

    M_ij = Σ_K G(e_i e_K, e_j e_K) = E[x_i x_j ‖x‖^{2(d−1)}]   (K runs through the monomials of degree d − 1)

becomes a multiple of the identity: B → B M^{−1/2d} again and again (stretching a direction that dominates by c
multiplies M there by c^{2d}). For a centred Gaussian the result is isotropic.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array

#: Rounds of balancing at most; each brings M closer to a multiple of the identity, a Gaussian's at once.
ROUNDS = 100
#: The ratio of M's eigenvalues that is even enough: sizes of points then differ by less than a percent for its sake.
EVEN = 1.01


def balanced_frame(gram: Array, n: int, degree: int) -> Array:
    """B, n×n, for a positive definite Gram matrix on Sym^d(R^n)."""
    frame = np.eye(n)
    for _ in range(ROUNDS):
        P = power_action(frame, degree)
        values, vectors = np.linalg.eigh(_directions(P.T @ gram @ P, n, degree))
        values = values / values.mean()
        frame = frame @ (vectors * values ** (-0.5 / degree)) @ vectors.T
        if values[-1] <= EVEN * values[0]:
            break
    return frame


def power_action(B: Array, degree: int) -> Array:
    """P with (Bv)^⊗d = P v^⊗d in coordinates, for every v: row I expands the product of the forms (Bv)_i, i ∈ I."""
    n = len(B)
    P = np.array(B, dtype=np.float64)
    for k in range(2, degree + 1):
        index = coordinates.indices(n, k)
        first, rest = index[:, 0], coordinates.position(index[:, 1:], n)
        places = coordinates.product_table(n, 1, k - 1)
        raised = np.zeros((len(first), coordinates.dimension(n, k)))
        for x in range(n):
            np.add.at(raised.T, places[x], (B[first, x][:, None] * P[rest]).T)
        P = raised
    return P


def _directions(gram: Array, n: int, degree: int) -> Array:
    """M: the moments E[x^I x^J] = G_IJ / (multiplicities) summed over common monomials of degree d − 1."""
    weights = coordinates.multiplicities(n, degree)
    moments = gram / np.outer(weights, weights)
    places = coordinates.product_table(n, 1, degree - 1)
    counts = coordinates.multiplicities(n, degree - 1)
    return np.array([[(counts * moments[places[i], places[j]]).sum() for j in range(n)] for i in range(n)])
