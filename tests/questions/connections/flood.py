"""Flood fill: the merge tree of one neuron's loss by brute force, from nothing but moments. Shares no code with `src`.

A neuron ±|a| (u·x)^d is a point (±ρu) of a cone over the sphere: u and −u are the same at even degree, where the sign
counts, and at odd degree the sign goes into u. The cone is cut into cells (u, ρ), the apex ρ = 0 is one cell, and water
rises: the lowest cells first, each joined to the wet ones beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import ConvexHull


def gaussian_moments(mean: float, variance: float, top: int) -> list[float]:
    """E x^k of N(mean, variance): E x^(k+1) = m E x^k + k v E x^(k−1)."""
    moments = [1.0, mean]
    for k in range(1, top):
        moments.append(mean * moments[k] + k * variance * moments[k - 1])
    return moments


@dataclass
class Cone:
    """The loss of ε ρ u^d on the cone: E(s − t)², coordinates independent with the given moments each."""

    moments: list[list[float]]  # moments[i][k] = E x_i^k
    target: dict[tuple[int, ...], float]  # exponents -> coefficient of the target polynomial
    degree: int

    def inner(self, p: dict, q: dict) -> float:
        """E p q of two polynomials."""
        total = 0.0
        for i, a in p.items():
            for j, b in q.items():
                total += a * b * prod(self.moments[x][i[x] + j[x]] for x in range(len(i)))
        return total

    def along(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """g(u) = E t (u·x)^d, q(u) = E (u·x)^(2d) and E t²."""
        n, d = directions.shape[1], self.degree
        powers = [tuple(c.count(x) for x in range(n)) for c in combinations_with_replacement(range(n), d)]
        weights = [factorial(d) / prod(factorial(k) for k in e) for e in powers]
        basis = (
            np.array([np.prod(directions ** np.array(e), axis=1) for e in powers])
            * np.array(weights)[:, None]
        )
        cross = np.array([self.inner({e: 1.0}, self.target) for e in powers])
        gram = np.array([[self.inner({e: 1.0}, {f: 1.0}) for f in powers] for e in powers])
        return (
            cross @ basis,
            np.einsum("eu,ef,fu->u", basis, gram, basis),
            self.inner(self.target, self.target),
        )


def sphere(n: int, count: int, even: bool) -> tuple[np.ndarray, np.ndarray]:
    """Points on the sphere (up to sign for `even`) and which of them are neighbours."""
    if n == 2:
        angles = (np.arange(count) + 0.5) * ((np.pi if even else 2 * np.pi) / count)
        beside = np.stack([np.arange(count), (np.arange(count) + 1) % count], axis=1)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1), beside
    half = np.arange(count) + 0.5
    turn = np.pi * (1 + 5**0.5) * half
    z = 1 - half / count
    points = np.stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z], axis=1)
    points = np.concatenate([points, -points])
    hull = ConvexHull(points).simplices
    beside = np.concatenate([hull[:, [0, 1]], hull[:, [1, 2]], hull[:, [0, 2]]])
    return (points[:count], np.unique(np.sort(beside % count, axis=1), axis=0)) if even else (points, beside)


def flood(cone: Cone, n: int, *, count: int, radii: int, depth: float, parameters: bool = False):
    """Leaves (losses, ascending) and joins (losses, ascending) that are deeper than `depth`·E t², and E t².

    In parameter space (a, w) and (−a, −w), or (a, −w), are different: two whole spheres, one a sign of a.

    A pool that is less deep when it meets a lower one is a ripple of the grid.
    """
    even = cone.degree % 2 == 0 and not parameters
    u, beside = sphere(n, count, even)
    g, q, energy = cone.along(u)
    rho = np.linspace(0, 1.3 * np.sqrt(energy), radii)[1:]
    sheets = [s * g / np.sqrt(q) for s in ((1, -1) if even or parameters else (1,))]
    values = np.concatenate([(energy - 2 * h[:, None] * rho + rho**2).ravel() for h in sheets] + [[energy]])
    cells = len(u) * len(rho)
    apex = len(values) - 1
    place = np.arange(cells).reshape(len(u), len(rho))
    edges = [np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)]
    for a, b in ((place, place), (place[:, 1:], place[:, :-1]), (place[:, :-1], place[:, 1:])):
        edges.append(np.stack([a[beside[:, 0]].ravel(), b[beside[:, 1]].ravel()], axis=1))
    one = np.concatenate(edges)
    both = np.concatenate([one + k * cells for k in range(len(sheets))])
    rim = np.concatenate([place[:, 0] + k * cells for k in range(len(sheets))])
    both = np.concatenate([both, np.stack([rim, np.full(len(rim), apex)], axis=1)])
    both = both[both[:, 0] != both[:, 1]]
    heights = np.maximum(values[both[:, 0]], values[both[:, 1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    both, heights = both[order], heights[order]
    first = np.concatenate([[True], np.any(np.diff(both, axis=0), axis=1)])
    graph = coo_array((heights[first] + 1.0, (both[first, 0], both[first, 1])), shape=(len(values),) * 2)
    tree = minimum_spanning_tree(graph.tocsr()).tocoo()
    return _merged(values, np.stack([tree.row, tree.col], axis=1), tree.data - 1.0, depth * energy), energy


def _merged(values: np.ndarray, edges: np.ndarray, heights: np.ndarray, depth: float):
    parent = np.arange(len(values))
    lowest = values.copy()

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    joins, leaves = [], []
    for k in np.argsort(heights, kind="stable"):
        a, b = root(int(edges[k, 0])), root(int(edges[k, 1]))
        if lowest[a] > lowest[b]:
            a, b = b, a
        if heights[k] - lowest[b] > depth:
            joins.append(float(heights[k]))
            leaves.append(float(lowest[b]))
        parent[b] = a
    top = root(0)
    return sorted([*leaves, float(lowest[top])]), sorted(joins)
