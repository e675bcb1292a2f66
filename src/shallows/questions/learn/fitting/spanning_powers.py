"""Theorem G.1 of paper 002: N = C(D+p−1, p) neurons whose p-th powers span all forms of degree p."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array
from shallows.support.errors import NotConverged
from shallows.support.tolerances import TINY

#: How far the network written down may be from the solution, relatively: it is for reading, predictions do not use it.
READABLE = 1e-6


def spanning_directions(n: int, degree: int) -> Array:
    """q_I = e_{i1} + … + e_{ip} for all I, one a row."""
    return np.asarray(coordinates.exponents(n, degree), dtype=np.float64)


def realise(entries: Array, n: int, degree: int) -> tuple[Array, Array]:
    """W = all q_I and outer weights (outputs, N) with Σ λ_I (q_I·z)^p = s·ψ(z) for each row s of `entries`."""
    W = spanning_directions(n, degree)
    root = np.sqrt(coordinates.multiplicities(n, degree))
    powers = coordinates.monomials(W, degree) * root  # row I holds ψ(q_I), and (q_I·z)^p = ψ(q_I)·ψ(z)
    outer = np.linalg.solve(powers.T, entries.T)
    error = np.linalg.norm(powers.T @ outer - entries.T)
    if error > READABLE * max(float(np.linalg.norm(entries)), TINY):
        raise NotConverged(
            f"The powers of the {len(W)} directions of Theorem G.1 are too ill-conditioned in float64 at degree "
            f"{degree} to write the solution as a network; predictions do not use them and are accurate."
        )
    return W, np.ascontiguousarray(outer.T)
