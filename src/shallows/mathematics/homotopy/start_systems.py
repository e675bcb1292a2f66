"""Start systems whose solutions are known: total degree, and products of linear forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.systems import Exponents, PolynomialSystem


@dataclass(frozen=True)
class StartSystem:
    """A system with generic coefficients and all its solutions, one a row."""

    equations: list[dict[Exponents, complex]]
    points: NDArray[np.complex128]

    def times(self, factor: complex) -> list[dict[Exponents, complex]]:
        """The equations times a constant: the γ of the γ-trick."""
        return [{key: factor * value for key, value in row.items()} for row in self.equations]


def unit(rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> NDArray[np.complex128]:
    """Random complex numbers on the unit circle."""
    return np.asarray(np.exp(2j * np.pi * rng.random(size)))


def total_degree(degrees: Sequence[int], rng: np.random.Generator) -> StartSystem:
    """xᵢ^dᵢ = cᵢ with |cᵢ| = 1: Π dᵢ solutions."""
    n = len(degrees)
    constants = unit(rng, n)
    equations: list[dict[Exponents, complex]] = []
    roots = []
    for i, degree in enumerate(degrees):
        power = tuple(degree if j == i else 0 for j in range(n))
        equations.append({power: 1.0 + 0j, (0,) * n: -complex(constants[i])})
        angle = np.angle(constants[i]) + 2 * np.pi * np.arange(degree)
        roots.append(np.exp(1j * angle / degree))
    grid = np.meshgrid(*roots, indexing="ij")
    return StartSystem(equations, np.stack([axis.ravel() for axis in grid], axis=1))


def linear_product(
    system: PolynomialSystem, groups: Sequence[Sequence[str]], rng: np.random.Generator
) -> StartSystem:
    """Πⱼ Πₖ (random linear form in group j), dᵢⱼ of them in equation i: as many solutions as the
    multihomogeneous Bézout number.

    A solution picks one factor in each equation so that every group gets as many as it has variables.
    """
    n = system.n
    places = system.check_groups(groups)
    degrees = system.group_degrees(groups)
    factors: list[list[tuple[int, NDArray[np.complex128]]]] = []
    equations = []
    for i in range(n):
        row = []
        product: dict[Exponents, complex] = {(0,) * n: 1.0 + 0j}
        for j, group in enumerate(places):
            for _ in range(degrees[i, j]):
                form = np.zeros(n + 1, np.complex128)
                form[group] = unit(rng, len(group)) / np.sqrt(len(group))
                form[n] = unit(rng)
                row.append((j, form))
                product = _times(product, form)
        factors.append(row)
        equations.append(product)
    chosen = list(_choices(factors, [len(group) for group in places]))
    matrices = np.array([[factors[i][k][1][:n] for i, k in enumerate(choice)] for choice in chosen])
    right = np.array([[-factors[i][k][1][n] for i, k in enumerate(choice)] for choice in chosen])
    if not chosen:
        return StartSystem(equations, np.zeros((0, n), np.complex128))
    return StartSystem(equations, np.linalg.solve(matrices, right[..., None])[..., 0])


def _times(polynomial: dict[Exponents, complex], form: NDArray[np.complex128]) -> dict[Exponents, complex]:
    n = len(form) - 1
    total: dict[Exponents, complex] = {}
    for key, value in polynomial.items():
        total[key] = total.get(key, 0.0) + value * complex(form[n])
        for j in np.flatnonzero(form[:n]):
            raised = (*key[:j], key[j] + 1, *key[j + 1 :])
            total[raised] = total.get(raised, 0.0) + value * complex(form[j])
    return total


def _choices(
    factors: Sequence[Sequence[tuple[int, NDArray[np.complex128]]]], room: list[int], row: int = 0
) -> Iterator[tuple[int, ...]]:
    if row == len(factors):
        yield ()
        return
    for k, (group, _) in enumerate(factors[row]):
        if room[group]:
            room[group] -= 1
            for rest in _choices(factors, room, row + 1):
                yield (k, *rest)
            room[group] += 1
