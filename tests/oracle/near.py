"""Problems next to special ones: near a discriminant, a repeated eigenvalue, Gaussian moments, a singular metric."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from tests.oracle.drawing import Rng, diagonal, floats, law, pick, random_metric, rows, singular, symmetric
from tests.oracle.exact import GaussianLaw, Given, IIDLaw


def near_gaussian_moments(rng: Rng) -> Given:
    n = pick(rng, (2, 2, 3))
    gap = pick(rng, (1e-7, 2.0**-51, 1e-12, 1e-3, 1e-10, 2.0**-40)) * pick(rng, (1.0, -1.0))
    T = pick(rng, (np.diag((2.0, 1.5, 1.0)[:n]), np.diag((2.0, 1.0, 1.0)[:n]), np.eye(n), symmetric(rng, n)))
    return Given(IIDLaw(n, (1.0, 0.0, 1.0, 0.0, 3.0 + gap)), 2, 1, matrix=rows(T))


def near_discriminant(rng: Rng) -> Given:
    """Two inputs: a target for which two critical directions have met, or miss each other by 10^−k."""
    d = pick(rng, (2, 2, 3))
    data = random_metric(rng, 2, d)
    G = data.gram(d)
    z = Fraction(int(rng.integers(-8, 9)), 4)
    # P is linear in the target: P(z) = P′(z) = 0 are two equations
    columns = []
    for k in range(d + 1):
        P = _direction_form(G, [row[k] for row in G], d)
        columns.append((_value(P, z), _value([j * x for j, x in enumerate(P)][1:], z)))
    t = _null_vector(columns, rng)
    scale = max(abs(x) for x in t)
    gap = pick(rng, (0.0, 1e-4, 1e-7, 1e-10, 1e-13)) * pick(rng, (1.0, -1.0))
    entries = [float(x / scale) for x in t]
    entries[int(rng.integers(d + 1))] += gap
    return Given(data, d, 1, entries=tuple(entries))


def _direction_form(G: Any, b: list[Fraction], d: int) -> list[Fraction]:
    """P(1, z) = q_x b_y − q_y b_x."""
    q = [
        sum((G[i][k - i] for i in range(max(0, k - d), min(d, k) + 1)), Fraction(0)) for k in range(2 * d + 1)
    ]
    P = [Fraction(0)] * (3 * d - 1)
    for i, x in enumerate(q):
        for j, y in enumerate(b):
            weight = (2 * d - i) * j - i * (d - j)
            if weight:
                P[i + j - 1] += x * y * weight
    return P


def _value(P: list[Fraction], z: Fraction) -> Fraction:
    return sum((x * z**k for k, x in enumerate(P)), Fraction(0))


def _null_vector(columns: list[tuple[Fraction, Fraction]], rng: Rng) -> list[Fraction]:
    """A t with Σ t_k columns_k = 0; the last d−2 entries are free."""
    size = len(columns)
    free = [Fraction(int(x)) for x in rng.integers(-3, 4, size - 3)] + [Fraction(1)]
    right = [-sum((f * columns[2 + k][e] for k, f in enumerate(free)), Fraction(0)) for e in (0, 1)]
    (a, c), (b, e) = columns[0], columns[1]
    det = a * e - b * c
    if not det:
        return [Fraction(1), *([Fraction(0)] * (size - 1))]
    return [(right[0] * e - b * right[1]) / det, (a * right[1] - c * right[0]) / det, *free]


def near_repeated(rng: Rng) -> Given:
    """Eigenvalues that differ by little, or of very different size."""
    n = pick(rng, (2, 3))
    gap = pick(rng, (1e-4, 1e-7, 1e-9, 1e-11, 1e-13))
    values = pick(rng, ((1.0, 1.0 + gap, 3.0), (1.0, gap, 2.0), (2.0, 2.0 - gap, gap)))[:n]
    data = law(rng, n, 2, "gaussian", "frobenius", "sphere", "iid", "moved")
    return Given(data, 2, int(rng.integers(1, 3)), matrix=diagonal(*values))


def far_moved(rng: Rng) -> Given:
    """Gaussians far from the origin, and nearly centred ones."""
    n = pick(rng, (2, 3))
    mean = rng.standard_normal(n)
    mean *= pick(rng, (1e-8, 1e-4, 1e-2, 10.0, 30.0, 100.0, 300.0, 1000.0)) / np.linalg.norm(mean)
    data = GaussianLaw(n, mean=floats(mean))
    return Given(data, 2, 1, matrix=rows(symmetric(rng, n)), may_refuse=singular(data, 2))
