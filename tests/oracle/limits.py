"""Limits of two merged neurons, w^(d−1)·v: is a listed one such a product, and critical among them?

The product's entry at the monomial x^e is Σ_k (e_k/d) v_k w^(e−k). It is fitted to the listed tensor by least squares,
and the loss's derivative is taken along its tangents, all in floating point from the exact Gram matrix.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from tests.oracle.exact import Given, exponents

#: A listed tensor is such a product, and critical, to this share: double precision, twice through a square root of the
#: Hessian's condition.
CLOSE = 1e-6
STARTS = 8


def product(theta: np.ndarray, n: int, degree: int) -> np.ndarray:
    """The entries of w^(d−1)·v, θ = (w, v), in the arithmetic of θ."""
    w, v = theta[:n], theta[n:]
    entries = []
    for row in exponents(n, degree):
        terms = [
            row[k]
            / degree
            * v[k]
            * np.prod([w[l] ** (e - (l == k)) for l, e in enumerate(row) if e - (l == k)])
            for k in range(n)
            if row[k]
        ]
        entries.append(sum(terms))
    return np.array(entries)


def jacobian(theta: np.ndarray, n: int, degree: int) -> np.ndarray:
    """Its derivative, by complex steps."""
    steps = 1e-30j * np.eye(2 * n)
    return np.array([product(theta + step, n, degree).imag / 1e-30 for step in steps]).T


def roots_of(s: np.ndarray, n: int, degree: int) -> list[np.ndarray]:
    """Starts (w, v) for a binary form: all roots but one, in the mean, are w, that one is v."""
    if n != 2 or not s[0]:
        return []
    roots = np.roots([math.comb(degree, k) * x for k, x in enumerate(s)])
    starts = []
    for k in range(degree):
        w, v = np.delete(roots, k).mean().real, roots[k].real
        starts.append(np.array([1.0, -w, s[0], -s[0] * v]))
    return starts


def complaints(given: Given, limits: list[Any], seed: int) -> list[str]:
    """What is wrong about listed limits of width 2."""
    n, degree, rng = given.n, given.degree, np.random.default_rng(seed)
    gram = np.array([[float(x) for x in row] for row in given.gram])
    target = np.array([float(x) for x in given.target])
    power = float(target @ gram @ target)
    said = []
    for point in limits:
        s = np.asarray(point.tensor.entries)
        size = max(float(np.abs(s).max()), 1e-300)
        fits = [
            least_squares(
                lambda theta, s=s, size=size: product(theta, n, degree) - s / size,
                start,
                xtol=1e-15,
                ftol=1e-15,
                gtol=1e-15,
            )
            for start in [*rng.standard_normal((STARTS, 2 * n)), *roots_of(s / size, n, degree)]
        ]
        best = min(fits, key=lambda fit: fit.cost)
        if np.sqrt(2 * best.cost) > CLOSE:
            said.append(f"limit of loss {point.loss:.10g}: no product w^(d−1)v")
            continue
        tangents = jacobian(best.x, n, degree) * size
        slope = tangents.T @ (gram @ (s - target))
        lengths = np.sqrt(np.einsum("ij,ik,kj->j", tangents, gram, tangents))
        if np.any(np.abs(slope) > CLOSE * lengths * np.sqrt(power)):
            said.append(f"limit of loss {point.loss:.10g}: not critical among limits")
        floor = float(given.floor)
        loss = float((s - target) @ gram @ (s - target)) + floor
        if abs(loss - point.loss) > CLOSE * (power + floor):
            said.append(f"limit: loss {point.loss:.10g}, but it is {loss:.10g}")
    return said
