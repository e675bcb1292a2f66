"""Sylvester: binary forms that are sums of powers of given directions, or limits of such, by linear algebra."""

import numpy as np


def annihilated(angles, d):
    """A basis of the forms, by entries, that ∏(−sin θᵢ ∂₁ + cos θᵢ ∂₂) annihilates: columns; roots may be repeated."""
    K = np.ones(1)
    for theta in angles:
        K = np.convolve(K, [-np.sin(theta), np.cos(theta)])
    rows = np.zeros((d - len(angles) + 1, d + 1))
    for k, row in enumerate(rows):
        row[k : k + len(K)] = K
    return np.linalg.svd(rows)[2][len(rows) :].T
