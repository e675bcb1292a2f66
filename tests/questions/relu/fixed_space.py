"""Critical points of a block form by Newton's method on the library's dense gradient, to hold complete lists to."""

from __future__ import annotations

import dataclasses

import numpy as np
from tests.questions.damped_newton import damped_newton

import shallows as sh
from shallows.questions.relu.block_system import BlockSystem


def newton_ends(sizes: list[int], starts: int, seed: int) -> np.ndarray:
    """Networks (m, k, k) where Newton's method ends from random ones.

    Without those that have a zero row or, with two blocks, all rows within 0.01 rad of each other.
    """
    k, rng = sum(sizes), np.random.default_rng(seed)
    home, own = np.repeat(np.arange(len(sizes)), sizes), np.eye(k, dtype=bool)
    masks = []
    for a in range(len(sizes)):
        for c in range(len(sizes)):
            cell = np.outer(home == a, home == c)
            masks += [cell & own, cell & ~own] if a == c else [cell]
    masks = [mask for mask in masks if mask.any()]
    basis = np.stack([mask.ravel() / np.sqrt(mask.sum()) for mask in masks])
    problem = sh.relu_problem(k)
    x = rng.standard_normal((starts, len(masks))) * np.sqrt([mask.sum() / k for mask in masks])
    x *= rng.choice([0.5, 1.0, 2.0], (starts, 1))

    def gradient(points: np.ndarray) -> np.ndarray:
        return np.asarray(problem.value_and_gradient(points @ basis)[1] @ basis.T)

    x = damped_newton(gradient, x)
    x = x[np.linalg.norm(gradient(x), axis=1) < 1e-9]
    W = (x @ basis).reshape(-1, k, k)
    lengths = np.linalg.norm(W, axis=2)
    unit = W / np.maximum(lengths, 1e-12)[:, :, None]
    kept = lengths.min(axis=1) > 1e-6
    if len(sizes) > 1:
        kept &= np.einsum("mia,mja->mij", unit, unit).min(axis=(1, 2)) < np.cos(0.01)
    return W[kept]


def distinct(W: np.ndarray) -> list[np.ndarray]:
    """Each once."""
    found: list[np.ndarray] = []
    for network in W:
        if not any(np.abs(network - other).max() < 1e-6 for other in found):
            found.append(network)
    return found


def missing(chart: sh.relu.SymmetricChart, W: np.ndarray) -> int:
    """How many of these networks are not in the list."""
    listed = np.array([point.form.network().W for point in chart.symmetric])
    away = np.array([np.abs(network - listed).max(axis=(1, 2)).min(initial=np.inf) for network in W])
    return int((away > 1e-6).sum())


def without(chart: sh.relu.SymmetricChart, i: int) -> sh.relu.SymmetricChart:
    """The list with one of its points deleted."""
    return dataclasses.replace(chart, symmetric=chart.symmetric[:i] + chart.symmetric[i + 1 :])


def tables(system: BlockSystem, ends: np.ndarray) -> list[np.ndarray]:
    """The values of Newton's ends whose directions are on this cell's side."""
    first = np.cumsum([0, *system.sizes])[:-1]
    found = []
    for W in ends:
        values = np.zeros((len(system.sizes), len(system.sizes) + 1))
        values[:, :-1] = W[np.ix_(first, first)]
        values[:, -1] = [W[i, i + 1] if p > 1 else 0.0 for i, p in zip(first, system.sizes, strict=True)]
        rows = [
            [values[a, e.block if e.block != a else -1] if e.block >= 0 else values[a, a] for e in entries]
            for a, entries in enumerate(system.entries)
        ]
        if all(row[face] * sign > 0 for row, (face, sign) in zip(rows, system.faces, strict=True)):
            found.append(values)
    return found
