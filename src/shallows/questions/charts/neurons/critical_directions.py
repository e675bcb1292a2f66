"""Critical functions Σ_j C_j (u·x)^j of one direction u in two inputs: the zeros of one form, exactly.

For each u the best C_m is K(u)⁻¹ β_m(u), K_jk = E (u·x)^(j+k), β_mj = E y_m (u·x)^j, and what it takes off the loss

    Σ_m β_mᵀ K⁻¹ β_m = N(u) / D(u),    N = Σ_m β_mᵀ adj(K) β_m,    D = det K,

is a rational function on the projective line without real poles. With u = (1, r) + s(−r, 1), r such that s = ∞ is none
of them, critical directions are the zeros of N′D − ND′ in lowest terms, without those of D, and of the zero function,
where all β vanish: a polynomial over Q, whose real zeros are isolated exactly. It vanishes identically where all
directions are as good.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import flint
import numpy as np

from shallows.mathematics.exact.linear_algebra import to_flint
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.checks import Array

#: r = (2k + 1)/SLANT for k = 0, 1, …: directions that few problems have anything at.
SLANT = 13


@dataclass(frozen=True)
class DirectionMap:
    """(u, C) ↦ s for u of any length: directions in which no coordinate need be one."""

    n: int
    degrees: tuple[int, ...]
    outputs: int

    @property
    def unknowns(self) -> int:
        """n + M J."""
        return self.n + self.outputs * len(self.degrees)

    def join(self, u: Complex, C: Complex) -> Complex:
        """One row a direction."""
        return np.concatenate([u, C.reshape(len(u), -1)], axis=1)

    def split(self, x: Complex) -> tuple[Complex, Complex]:
        """u (…, n) and C (…, M, J)."""
        return x[..., : self.n], x[..., self.n :].reshape(*x.shape[:-1], self.outputs, len(self.degrees))

    def tensors(self, points: Complex) -> Complex:
        """The entries of Σ_j C_mj (u·x)^j, one output after the other."""
        u, C = self.split(points)
        neuron = Neuron.of_degrees(self.degrees, self.n)
        at = [sum(row) for _, _, row in neuron.terms]
        shares = C[..., [self.degrees.index(j) for j in at]] * neuron.values(u)[:, None, :]
        return np.asarray(shares.reshape(len(points), -1))


@dataclass(frozen=True, eq=False)
class CriticalDirections:
    """All u, one a row, of length about one, with their multiplicities; real ones have no imaginary part."""

    u: Complex
    multiplicities: tuple[int, ...]

    @classmethod
    def of(cls, degrees: tuple[int, ...], exact: ExactLoss) -> CriticalDirections | None:
        """Those under G and the b_m, one output after the other; None where all directions are as good."""
        for k in range(len(exact.right) ** 2 + SLANT):
            r = Fraction(2 * k + 1, SLANT)
            form, degree = _slope(degrees, exact, r)
            if not form:
                return None
            if form.degree() == degree:
                break
        roots = form.numer().complex_roots() if degree > 0 else []
        s = np.array([complex(root) for root, _ in roots], np.complex128)
        u = np.stack([1 - float(r) * s, float(r) + s], axis=1).reshape(-1, 2)
        return cls(u / np.abs(u).max(axis=1, keepdims=True), tuple(power for _, power in roots))

    def best(self, degrees: tuple[int, ...], gram: Array, rights: Array) -> Complex:
        """C (count, M, J) at each u, for the metric and the b_m, one a row."""
        neuron = Neuron.of_degrees(degrees, 2)
        at, psi = np.array([sum(row) for _, _, row in neuron.terms]), neuron.values(self.u)
        parts = np.stack([np.where(at == j, psi, 0.0) for j in degrees], axis=1)
        K = parts @ gram @ np.swapaxes(parts, 1, 2)
        return np.asarray(np.swapaxes(np.linalg.solve(K, parts @ rights.T), 1, 2), np.complex128)


def _slope(degrees: tuple[int, ...], exact: ExactLoss, r: Fraction) -> tuple[Any, int]:
    """N′D − ND′ without the zeros of D and of the zero function, and its degree with those at s = ∞."""
    u = flint.fmpq_poly([1, -to_flint(r)]), flint.fmpq_poly([to_flint(r), 1])
    psi = [[u[0] ** a * u[1] ** b for a, b in coordinates.exponents(2, j).tolist()] for j in degrees]
    starts = np.cumsum([0, *map(len, psi)]).tolist()
    powers = range(len(degrees))
    K = [[_bilinear(exact, starts, psi, j, k) for k in powers] for j in powers]
    rights = exact.right.reshape(-1, starts[-1])
    beta = [
        [_total(p * to_flint(x) for p, x in zip(psi[j], b[starts[j] :], strict=False)) for j in powers]
        for b in rights
    ]
    D = _determinant(K)
    N = _total(row[j] * _cofactor(K, j, k) * row[k] for row in beta for j in powers for k in powers)
    common = N.gcd(D)
    N, D = N // common, D // common
    form, degree = N.derivative() * D - N * D.derivative(), 2 * D.degree() - 2
    for other in (D, reduce(lambda p, q: p.gcd(q), [p for row in beta for p in row])):
        while form and (shared := form.gcd(other)).degree() > 0:
            form, degree = form // shared, degree - shared.degree()
    return form, degree


def _bilinear(exact: ExactLoss, starts: Sequence[int], psi: list[list[Any]], j: int, k: int) -> Any:
    """K_jk = ψ_j·Gψ_k."""
    block = exact.gram[starts[j] : starts[j + 1], starts[k] : starts[k + 1]]
    return _total(
        p * q * to_flint(x)
        for p, row in zip(psi[j], block, strict=True)
        for q, x in zip(psi[k], row, strict=True)
    )


def _total(parts: Iterable[Any]) -> Any:
    return sum(parts, flint.fmpq_poly([]))


def _determinant(K: list[list[Any]]) -> Any:
    """By the first row: there are two or three powers."""
    if not K:
        return flint.fmpq_poly([1])
    return _total(K[0][k] * _cofactor(K, 0, k) for k in range(len(K)))


def _cofactor(K: list[list[Any]], j: int, k: int) -> Any:
    """(−1)^(j+k) times the determinant without row j and column k."""
    rest = [[x for b, x in enumerate(row) if b != k] for a, row in enumerate(K) if a != j]
    return _determinant(rest) * (-1) ** (j + k)
