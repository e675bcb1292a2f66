"""Signs of numbers made of the eigenvalues of a rational matrix, all of them real: exactly, zero included.

An algebraic integer y ≠ 0 whose conjugates are N at most, and below M ≥ 1 in size, has |y| ≥ M^(1−N): their product is
an integer, and not zero. So a ball around y that is narrower than this, and has zero inside, is zero. Automorphisms
permute the roots of each irreducible factor; a number in which roots carry labels has no more conjugates than there are
ways to hand these labels out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import factorial, lcm, prod
from typing import Any

from flint import arb, fmpz_mat, fmpz_poly
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import precision

#: Bits of the first look: what is not zero is told from it by few.
FIRST_BITS = 256
#: Bits of the last: roots of polynomials of degree six take a tenth of a second in so many.
MOST_BITS = 100_000


@dataclass(frozen=True, eq=False)
class RealRoots:
    """The different roots λ of the characteristic polynomial of cA, c the least that makes A a matrix of integers.

    `factors` are irreducible; `multiplicities` those of the roots, ascending, and `owners` the factors they are of.
    """

    scale: int
    integral: fmpz_mat
    factors: tuple[fmpz_poly, ...]
    owners: tuple[int, ...]
    multiplicities: tuple[int, ...]

    @classmethod
    def of(cls, table: NDArray[Any]) -> RealRoots | None:
        """Those of a table of fractions that is similar to a symmetric matrix; None where they are not told apart."""
        scale = lcm(*(x.denominator for x in table.flat))
        integral = fmpz_mat([[int(x * scale) for x in row] for row in table.tolist()])
        found = integral.charpoly().factor()[1]
        made = cls(scale, integral, tuple(factor for factor, _ in found), (), ())
        places = made._places(MOST_BITS)
        if places is None:
            return None
        owners = tuple(owner for _, owner in places)
        return cls(scale, integral, made.factors, owners, tuple(int(found[owner][1]) for owner in owners))

    def at(self, bits: int) -> list[arb]:
        """The roots, ascending, in balls that are disjoint: with so many bits, or more."""
        places = self._places(MOST_BITS, bits)
        assert places is not None  # they were told apart once
        return [root for root, _ in places]

    def _places(self, most: int, bits: int = FIRST_BITS) -> list[tuple[arb, int]] | None:
        while True:
            with precision(bits):
                roots: list[tuple[arb, int]] = []
                for owner, factor in enumerate(self.factors):
                    ends: Any = factor.complex_roots()
                    roots += [(root.real, owner) for root, _ in ends]
                roots.sort(key=lambda place: place[0].mid())
                if all(low[0] < high[0] for low, high in pairwise(roots)):
                    return roots
            if bits > most:
                return None
            bits *= 2

    @cached_property
    def size(self) -> int:
        """An integer above all |λ|: twice the largest |a_k|^(1/k), by Fujiwara, a_k the coefficients from the top."""
        found = [0]
        for factor in self.factors:
            coefficients = [int(c) for c in reversed(factor.coeffs())]
            found += [-(-abs(c).bit_length() // k) for k, c in enumerate(coefficients) if k]
        return int(2 ** (1 + max(found)))

    @cached_property
    def polynomial(self) -> fmpz_poly:
        """The product of the factors, whose roots are simple."""
        return prod(self.factors, start=fmpz_poly([1]))

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """Which root each eigenvalue is, ascending, repeated ones as often as they are."""
        return tuple(place for place, count in enumerate(self.multiplicities) for _ in range(count))

    def arrangements(self, labels: Sequence[Hashable]) -> int:
        """In how many ways the roots of each factor can have their labels among them."""
        total = 1
        for owner in range(len(self.factors)):
            own = [label for label, place in zip(labels, self.owners, strict=True) if place == owner]
            total *= factorial(len(own)) // prod(map(factorial, Counter(own).values()))
        return total


def exact_sign(value: Callable[[int], arb], size: int, conjugates: int) -> int | None:
    """The sign of an algebraic integer, from balls in so many bits; no more than so many conjugates are of that size.

    None where it takes more bits than MOST_BITS.

    >>> roots = RealRoots.of(np.array([[0, 1], [1, 1]], dtype=object))   # (1 ± √5)/2
    >>> [exact_sign(lambda bits: sum(roots.at(bits)) - k, 4, 1) for k in (0, 1, 2)]
    [1, 0, -1]
    """
    digits = size.bit_length() * (conjugates - 1)
    bits, enough = FIRST_BITS, 4 * (digits + size.bit_length()) if digits <= MOST_BITS else 0
    while True:
        with precision(bits):
            ball = value(bits)
            if ball > 0 or ball < 0:
                return 1 if ball > 0 else -1
            if abs(ball) < arb(2) ** -digits:
                return 0
        if bits > enough:
            return None
        bits *= 2
