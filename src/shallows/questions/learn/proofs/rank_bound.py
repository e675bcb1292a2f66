"""What a bound on the rank costs at least, proved: every matrix A of rank ≤ k has L(A) ≥ L* + μ Σ_{i>k} σᵢ(DA*D)².

With L(A) = L* + ⟨A − A*, G(A − A*)⟩ and G ≽ μH for the metric H(A) = ‖DAD‖² of a diagonal D, this is Eckart and Young's
theorem. D = diag(1, …, 1, τ) weighs the homogenising coordinate; the best τ is taken. A* itself is not known, but the
relaxation's certificate says L(Â) − L* ≤ δ, so ‖D(A* − Â)D‖ ≤ √(δ/μ) and Weyl's inequality takes that off each σᵢ.

For whitened Gaussian data without constant term G ≽ 2‖·‖², and the bound misses only the trace term of the exact
minimum 2Σs² + 2(Σs)²/(k+2), s the left-out eigenvalues.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.balls.arrays import Ball, gamma, raised_number
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.coordinates import inputs_of
from shallows.questions.learn.proofs.form import matrix_ball
from shallows.questions.learn.proofs.gram_curvature import smallest_eigenvalue_bound
from shallows.support.checks import Array

#: The τ that are tried: powers of two, so that scaling by them is exact.
WEIGHTS_OF_CONSTANT = (1.0, 0.5, 0.25, 0.125)


def least_excess(
    gram: Array, error: float, optimum: Array, width: int, affine: bool, distance: float = 0.0
) -> float:
    """A lower bound on ⟨A − A*, G(A − A*)⟩ over rank(A) ≤ width, for every G within `error` of `gram`.

    `optimum` holds the coordinates of Â, with ⟨Â − A*, G(Â − A*)⟩ ≤ `distance`.
    """
    size = inputs_of(len(gram))
    exponents, matrix, best = coordinates.exponents(size, 2), matrix_ball(optimum, size), 0.0
    for tau in WEIGHTS_OF_CONSTANT if affine else WEIGHTS_OF_CONSTANT[:1]:
        weights = np.append(np.ones(size - 1), tau)
        scale = np.prod(weights**exponents, axis=1)
        smallest = float(scale.min())
        mu = smallest_eigenvalue_bound(gram / np.outer(scale, scale), error / smallest**2)
        if mu <= 0:
            continue
        weighted = matrix * Ball.exact(np.outer(weights, weights))
        off = raised_number(float(np.sqrt(distance / mu)), 3) if distance else 0.0
        tail = np.maximum(np.sort(singular_value_bounds(weighted))[: size - width] - off, 0.0)
        best = max(best, mu * float(np.sum(tail**2)) * (1 - gamma(2 * size + 20)))
    return best


def singular_value_bounds(matrix: Ball) -> Array:
    """Lower bounds on the singular values of a symmetric matrix, in the order of its computed eigenvalues.

    B = VΛVᵀ + E with a computed V: σᵢ(B) ≥ σ_min(V)²|λᵢ| − ‖E‖ and σ_min(V)² ≥ 1 − ‖VᵀV − I‖.
    """
    values, vectors = np.linalg.eigh(matrix.mid)
    V = Ball.exact(vectors)
    rest = (matrix - (V * Ball.exact(values)) @ V.T).norm()
    skew = (V.T @ V - Ball.exact(np.eye(len(values)))).norm()
    lowered = (1 - raised_number(skew, 2)) * np.abs(values) * (1 - gamma(6))
    return np.asarray(np.maximum(np.nextafter(lowered - rest, -np.inf), 0.0))
