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


def least(angles, problem):
    """The least loss of networks with neurons in these directions, and of their limits: every output is projected."""
    gram, target = problem.gram(), problem._optimum[0]
    root = np.linalg.cholesky(gram).T
    Q = np.linalg.qr(root @ annihilated(angles, problem.degree))[0]
    given = root @ target.T
    return float(np.sum(given**2) - np.sum((Q.T @ given) ** 2) + problem.floor)


def critical_levels(problem, merged, count=600):
    """All critical values of φ(θ, …, θ), the least loss of so many merged neurons, by golden sections from a grid."""
    grid = np.pi * np.arange(count) / count
    f = np.array([least([x] * merged, problem) for x in grid])
    found = []
    for sign in (1, -1):
        inside = (sign * f < sign * np.roll(f, 1)) & (sign * f <= sign * np.roll(f, -1))
        for theta in grid[inside]:
            a, b = theta - np.pi / count, theta + np.pi / count
            for _ in range(45):
                x, y = a + 0.382 * (b - a), a + 0.618 * (b - a)
                lower = sign * least([x] * merged, problem) < sign * least([y] * merged, problem)
                a, b = (a, y) if lower else (x, b)
            found.append(least([(a + b) / 2] * merged, problem))
    return np.sort(found)
