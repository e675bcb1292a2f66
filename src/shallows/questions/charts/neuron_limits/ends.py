"""Where a neuron a p(L), L = w·x or b + w·x, leaves its set: at infinity, at zeros of p, and at constants.

Near an end neurons are c (v^e₀ + Σ κᵢ ε^gᵢ v^eᵢ), gᵢ = |eᵢ − e₀|, v linear (affine with a bias):

- *at infinity* L = z₀ + v/ε: powers d, and below; with a bias z₀ is where c_(d−1) = 0;
- *at a zero* z₀ of p, L = z₀ + εv, the powers of p about z₀ (without a bias z₀ = 0);
- *at a constant*, the same at a z₀ with p(z₀) ≠ 0 and p′(z₀) = 0: e₀ = 0. (Where p′(z₀) ≠ 0 the closure goes on.)

ε may have both signs. Where g₁ is odd the set goes on through the limits c v^e₀; where it is even they are a boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from shallows.mathematics.exact.binary_forms import affine, real_roots
from shallows.model.activations import PolynomialActivation, polynomial_of
from shallows.model.problem import Problem

#: The name of the end at infinity.
AT_INFINITY = "at infinity"
#: A vector of rationals.
Exact = tuple[Fraction, ...]
#: Coefficients of the moved activation below this share of the largest are rounding of the shift.
NO_COEFFICIENT = Fraction(1, 10**12)


@dataclass(frozen=True)
class End:
    """p(place + z) = Σ c z^e over `powers` e and `coefficients` c, in the order in which they matter there."""

    name: str
    place: Fraction
    powers: tuple[int, ...]
    coefficients: tuple[Fraction, ...]

    @property
    def own(self) -> int:
        """e₀."""
        return self.powers[0]

    @property
    def beside(self) -> int:
        """e₁."""
        return self.powers[1]

    @property
    def is_boundary(self) -> bool:
        """Whether g₁ is even."""
        return (self.beside - self.own) % 2 == 0

    @property
    def odd(self) -> int | None:
        """Which of the powers is the first with an odd gap, None where there is none: p is even or odd about z₀."""
        gaps = [abs(power - self.own) for power in self.powers]
        return next((i for i, gap in enumerate(gaps) if gap % 2), None)

    def share(self, i: int) -> Fraction:
        """κᵢ."""
        return self.coefficients[i] / self.coefficients[0]

    def neuron(self, weight: Fraction, v: Exact, epsilon: Fraction) -> tuple[Fraction, Exact]:
        """a and the coefficients of L for c and v, ε from the end; v's first entry is the constant."""
        at_infinity = self.powers[0] > self.powers[1]
        stretch = 1 / epsilon if at_infinity else epsilon
        a = weight / (self.coefficients[0] * stretch**self.own)
        first, *rest = (stretch * x for x in v)
        return a, (first + self.place, *rest)


def ends(problem: Problem) -> list[End]:
    """All ends of a problem's neurons at which p has two powers at least.

    >>> p = sh.Problem(np.eye(3), sh.Gaussian(2), 2, sh.Polynomial([0, 1, 0, 1]), bias=True)
    >>> [(end.name, end.powers, end.is_boundary) for end in ends(p)]
    [('at infinity', (3, 1), True), ('at a zero', (1, 3), True)]
    """
    c = [Fraction(float(x)) for x in polynomial_of(problem.activation).coefficients]
    q, centre = centred_activation(problem)
    found = [_end(AT_INFINITY, centre, q, down=True)]
    if problem.bias:
        found += _near_zeros("at a zero", c, c)
        found += [end for end in _near_zeros("at a constant", c, _slope(c)) if end.own == 0]
    else:
        found.append(_end("at a constant" if c[0] else "at a zero", Fraction(0), c))
    return [end for end in found if len(end.powers) > 1]


def _end(name: str, place: Fraction, q: list[Fraction], down: bool = False) -> End:
    powers = [j for j, value in enumerate(q) if value]
    powers = powers[::-1] if down else powers
    return End(name, place, tuple(powers), tuple(q[j] for j in powers))


def centred_activation(problem: Problem) -> tuple[list[Fraction], Fraction]:
    """The coefficients of p, with a bias about the place where the power d − 1 vanishes, and that place.

    What is left there of rounded coefficients is no power.
    """
    c = [Fraction(float(x)) for x in polynomial_of(problem.activation).coefficients]
    if not problem.bias or len(c) < 2:
        return c, Fraction(0)
    centre, most = -c[-2] / ((len(c) - 1) * c[-1]), NO_COEFFICIENT * max(map(abs, c))
    return [x if abs(x) >= most else Fraction(0) for x in about(c, centre)], centre


def about(c: list[Fraction], place: Fraction) -> list[Fraction]:
    """The coefficients of p(place + z)."""
    return [
        sum((comb(j, i) * c[j] * place ** (j - i) for j in range(i, len(c))), Fraction(0))
        for i in range(len(c))
    ]


def _slope(c: list[Fraction]) -> list[Fraction]:
    return [j * c[j] for j in range(1, len(c))]


def _near_zeros(name: str, c: list[Fraction], zero_of: list[Fraction]) -> list[End]:
    """Ends at the real zeros of a polynomial: places are rounded, which powers p has there is decided exactly.

    >>> [(end.powers, float(end.place)) for end in _near_zeros("", *[[Fraction(x) for x in (0, 0, -2, 1)]] * 2)]
    [((2, 3), 0.0), ((1, 2, 3), 2.0)]
    """
    found = []
    for zero, there in zeros_with_powers(c, zero_of):
        place = Fraction(float(zero.mid()))
        q = [x if is_there else Fraction(0) for x, is_there in zip(about(c, place), there, strict=True)]
        found.append(_end(name, place, q))
    return found


def zeros_with_powers(c: list[Fraction], zero_of: list[Fraction]) -> list[tuple[Any, list[bool]]]:
    """The real zeros of a polynomial, balls, and which powers p has about each of them, decided exactly."""
    own, slopes = affine(zero_of), [affine(c)]  # p⁽ʲ⁾
    for _ in c[1:]:
        slopes.append(slopes[-1].derivative())
    return [
        (zero, [not own.gcd(slope).numer()(zero).contains(0) for slope in slopes])
        for zero, _ in real_roots(own)
    ]


def has_searched_limits(problem: Problem) -> bool:
    """Whether limits of several trained neurons of this problem are looked for: one output, degree 3 or more, not a
    power with a bias, and no more neurons than a function determines (limits are known there)."""
    activation = problem.activation
    if not isinstance(activation, PolynomialActivation) or problem.outer is not None:
        return False
    wanted = problem.width > 1 and problem.outputs == 1 and activation.degree > 2
    return bool(wanted and np.count_nonzero(activation.coefficients) > 1)
