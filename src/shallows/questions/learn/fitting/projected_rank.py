"""The best matrix of rank k found by projected gradients, for widths at which factors have too many parameters.

A step A − G(A − A*)/λ_max(G) minimises a quadratic above the loss that touches it at A; the k eigenvalues of largest
size of that are the closest matrix of rank k (Eckart and Young), so the loss never rises (P. Jain, R. Meka, I. Dhillon,
"Guaranteed rank minimization via singular value projection", NeurIPS 2010). Signs of neurons need no guess. A step
costs a product with G and an eigendecomposition of D×D; steps are extrapolated where that lowers the loss further.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import eigsh

from shallows.mathematics.tensors.coordinates import inputs_of
from shallows.questions.learn.fitting.frame import from_matrix, to_matrix
from shallows.questions.learn.fitting.signed_factor import Factor
from shallows.support.checks import Array

#: Steps at most, and the share of the excess that as many as `PATIENCE` of them must still take off together.
STEPS, PATIENCE, PROGRESS = 4000, 25, 1e-7
#: λ_max(G) is estimated from below, to this share: the step is that much shorter.
SAFETY = 1.01


def step_length(gram: Array) -> float:
    """1/λ_max(G)."""
    first = np.ones(len(gram))
    return 1 / (SAFETY * float(eigsh(gram, 1, which="LA", return_eigenvectors=False, v0=first)[0]))


def projected_rank(gram: Array, optimum: Array, width: int, start: Array, step: float) -> Factor:
    """Where steps from `start` (coordinates, like `optimum`) end, with its excess ⟨A − A*, G(A − A*)⟩."""
    size = inputs_of(len(gram))

    def largest(entries: Array) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(to_matrix(entries, size))
        kept = np.argsort(-np.abs(values))[:width]
        return values[kept], vectors[:, kept]

    def project(entries: Array) -> Array:
        values, vectors = largest(entries)
        return from_matrix((vectors * values) @ vectors.T)

    now = project(start)
    slope = gram @ (now - optimum)
    excess, before, momentum = float((now - optimum) @ slope), now, 0
    levels = [excess]
    for _ in range(STEPS):
        ahead = now + momentum / (momentum + 3) * (now - before)
        found = project(ahead - step * (gram @ (ahead - optimum) if momentum else slope))
        image = gram @ (found - optimum)
        level = float((found - optimum) @ image)
        if momentum and level > excess:  # extrapolated too far: a plain step from here never rises
            momentum = 0
            continue
        before, now, slope, excess = now, found, image, min(level, excess)
        momentum += 1
        levels.append(excess)
        if len(levels) > PATIENCE and levels[-PATIENCE] - excess <= PROGRESS * excess:
            break
    values, vectors = largest(now)
    return Factor((vectors * np.sqrt(np.abs(values))).T, np.sign(values), 0.0, excess, len(levels) <= STEPS)
