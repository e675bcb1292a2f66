"""What a choice of eigenvalues leaves out, exactly: the signs of σ + c_I, and of the slope of the loss along a vector.

With q_g of each eigenvalue σ_g kept, c = Σ (m_g − q_g) σ_g / d under a rotation-invariant metric, and the loss at
S_I falls along ±ℓℓᵀ as Σ (σ_g + c) |P_g ℓ|² does, P_g the projection on the eigenvectors of σ_g that are left out. All
of these are numbers in the field of the eigenvalues, whose signs `mathematics.exact.real_roots` decides.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

from flint import arb, fmpz_mat, fmpz_poly
from numpy.typing import NDArray

from shallows.mathematics.exact.real_roots import RealRoots, exact_sign


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Eigenvalues of a matrix similar to the target; with ℓ also their weights |P_g ℓ|² = g/p′ at σ_g, up to a factor.

    The `divisor` that methods are given is d, which is one for each rank; None where c = 0.
    """

    roots: RealRoots
    numerator: fmpz_poly

    @classmethod
    def of(
        cls, table: NDArray[Any], left: NDArray[Any] | None = None, right: NDArray[Any] | None = None
    ) -> LeftOut | None:
        """ΣT for a covariance Σ, with ℓ and Σℓ; None where eigenvalues are not told apart."""
        roots = RealRoots.of(table)
        if roots is None:
            return None
        if left is None or right is None:
            return cls(roots, fmpz_poly([0]))
        return cls(roots, _resolvent(roots, left, right))

    def shift_sign(self, group: int, left: Sequence[int], divisor: Fraction | None) -> int | None:
        """The sign of σ_g + c, with so many of each eigenvalue left out; None where it is not decided."""
        above, below = _parts(divisor)
        labels = [(count, place == group) for place, count in enumerate(left)]

        def value(bits: int) -> arb:
            at = self.roots.at(bits)
            return above * at[group] + below * sum((c * x for c, x in zip(left, at, strict=True)), arb(0))

        size = (abs(above) + abs(below) * sum(left)) * self.roots.size
        return _turned(exact_sign(value, size, self.roots.arrangements(labels)), above)

    def slope_sign(
        self, groups: Collection[int], left: Sequence[int], divisor: Fraction | None
    ) -> int | None:
        """The sign of Σ (σ_g + c)|P_g ℓ|² over these eigenvalues, of which all vectors count."""
        above, below = _parts(divisor)
        labels = [(count, place in groups) for place, count in enumerate(left)]
        p, size = self.roots.polynomial, abs(above) + abs(below) * sum(left)
        slope, discriminant = p.derivative(), abs(int(p.discriminant())) if p.degree() > 1 else 1

        def value(bits: int) -> arb:
            at = self.roots.at(bits)
            c = below * sum((k * x for k, x in zip(left, at, strict=True)), arb(0))
            return discriminant * sum(
                ((above * at[g] + c) * _at(self.numerator, at[g]) / _at(slope, at[g]) for g in groups), arb(0)
            )

        whole = size * self.roots.size * self._total * discriminant
        return _turned(exact_sign(value, whole, self.roots.arrangements(labels)), above)

    @cached_property
    def seen(self) -> tuple[bool, ...]:
        """Whether ℓ has a part among the eigenvectors of each eigenvalue: of all of a factor or of none."""
        some = [self.numerator.gcd(factor).degree() == 0 for factor in self.roots.factors]
        return tuple(some[owner] and self._total != 0 for owner in self.roots.owners)

    @property
    def _total(self) -> int:
        """Σ |P_g ℓ|², ℓᵀΣℓ up to the factor: the leading coefficient of g."""
        degree = self.roots.polynomial.degree() - 1
        return int(self.numerator[degree])


def _parts(divisor: Fraction | None) -> tuple[int, int]:
    """σ + c = σ + Σ/d is (above σ + below Σ)/above."""
    return (1, 0) if divisor is None else (divisor.numerator, divisor.denominator)


def _turned(sign: int | None, above: int) -> int | None:
    return None if sign is None else sign if above > 0 else -sign


def _at(polynomial: fmpz_poly, place: arb) -> arb:
    """Horner's rule in balls."""
    value = arb(0)
    for c in reversed(polynomial.coeffs()):
        value = value * place + c
    return value


def _resolvent(roots: RealRoots, left: NDArray[Any], right: NDArray[Any]) -> fmpz_poly:
    """g with ℓᵀ(λ − A)⁻¹s = g(λ)/p(λ), p the product of different factors: with integers for ℓ and s."""
    scales = [lcm(*(x.denominator for x in part)) for part in (left, right)]
    row = fmpz_mat([[int(x * scales[0]) for x in left.tolist()]])
    column = fmpz_mat([[int(x * scales[1])] for x in right.tolist()])
    p, made = roots.polynomial.coeffs(), fmpz_poly([0])
    for power in range(len(p) - 1):
        moment = (row * column)[0, 0]
        made += moment * fmpz_poly(p[power + 1 :])
        column = roots.integral * column
    return made
