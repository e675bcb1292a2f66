"""Binary forms F₀ x^D + F₁ x^(D−1) y + … + F_D y^D: discriminants and real zeros, exactly.

A form is the sequence of its coefficients. Zeros are counted on the projective line, so that y alone vanishing
(z = y/x at infinity) is a zero like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any, cast

from flint import Ordering, fmpz_mpoly, fmpz_mpoly_ctx, fmpz_poly

from shallows.support.errors import InvalidProblem


def quartic_discriminant(form: Sequence[Any]) -> Any:
    """27 Disc of a quartic, 4I³ − J², by its invariants; over any commutative ring.

    I = 12ae − 3bd + c², J = 72ace + 9bcd − 27ad² − 27eb² − 2c³ for ax⁴ + bx³y + cx²y² + dxy³ + ey⁴.
    """
    a, b, c, d, e = form
    first = 12 * a * e - 3 * b * d + c * c
    second = 72 * a * c * e + 9 * b * c * d - 27 * a * d * d - 27 * e * b * b - 2 * c * c * c
    return 4 * first * first * first - second * second


def symbolic_discriminant(form: Sequence[fmpz_mpoly], names: Sequence[str]) -> fmpz_mpoly:
    """A positive multiple of Disc F, with coefficients in Z[names]; quartics by their invariants."""
    if len(form) == 5:
        return cast(fmpz_mpoly, quartic_discriminant(form))
    zero = fmpz_mpoly_ctx.get(list(names), Ordering.lex).constant(0)
    if not form[-1]:  # Disc(F₀ … F_{D−1}, 0) = F_{D−1}² Disc(F₀ … F_{D−1})
        return form[-2] ** 2 * symbolic_discriminant(form[:-1], names) if len(form) > 2 else zero + 1
    if len(form) <= 2:
        return zero + 1
    context = fmpz_mpoly_ctx.get([*names, "_z"], Ordering.lex)
    z = context.gens()[-1]
    whole = context.constant(0)
    for i, coefficient in enumerate(form):
        whole += context.from_dict({(*e, 0): v for e, v in coefficient.to_dict().items()}) * z**i
    result = whole.discriminant("_z")
    return zero.context().from_dict({e[:-1]: v for e, v in result.to_dict().items()})


def integers(form: Sequence[Fraction]) -> tuple[list[int], int]:
    """Integers L·Fᵢ and the smallest positive L that makes them so."""
    bottom = lcm(*(value.denominator for value in form))
    return [int(value * bottom) for value in form], bottom


def discriminant(form: Sequence[Fraction]) -> Fraction:
    """Disc F of a form with rational coefficients."""
    degree = len(form) - 1
    if degree < 2:
        return Fraction(1)
    if not form[-1]:
        return form[-2] ** 2 * discriminant(form[:-1])
    whole, bottom = integers(form)
    return Fraction(int(fmpz_poly(whole).discriminant()), bottom ** (2 * degree - 2))


def primitive(form: Sequence[Fraction]) -> list[int]:
    """The form times a positive rational, as integers with no common factor."""
    whole, _ = integers(form)
    common = gcd(*whole)
    return [value // common for value in whole] if common else whole


def real_zeros(form: Sequence[Fraction]) -> tuple[int, int]:
    """The number of distinct real zeros on the projective line, and how many of them are multiple; both proved.

    The zeros are isolated by Arb: a real zero has imaginary part exactly 0. The zero form is refused.
    """
    whole = primitive(form)
    if not any(whole):
        raise InvalidProblem("The form is identically zero: every direction is a zero of it.")
    at_infinity = next(i for i, value in enumerate(reversed(whole)) if value)
    count, multiple = int(at_infinity > 0), int(at_infinity > 1)
    for factor, multiplicity in fmpz_poly(whole).factor_squarefree()[1]:
        roots: Any = factor.complex_roots()
        real = sum(root.imag == 0 for root, _ in roots)
        count += real
        multiple += real if multiplicity > 1 else 0
    return count, multiple


def divide(
    form: Sequence[Any], divisor: Sequence[Fraction], scale: Callable[[Any, Fraction], Any]
) -> list[Any]:
    """F(1, z) / g(z) for a monic g that divides F, over a ring in which `scale` multiplies by rationals."""
    left, steps = list(form), len(form) - len(divisor) + 1
    quotient: list[Any] = [None] * steps
    for i in reversed(range(steps)):
        quotient[i] = left[i + len(divisor) - 1]
        for j, value in enumerate(divisor[:-1]):
            if value:
                left[i + j] = left[i + j] - scale(quotient[i], value)
    return quotient


def repeated_factor(form: Sequence[Fraction]) -> list[Fraction]:
    """gcd(f, f′) of f = F(1, z), monic, lowest coefficient first; [1] when f has no repeated factor."""
    polynomial = fmpz_poly(primitive(form))
    common = polynomial.gcd(polynomial.derivative())
    lead = int(common.leading_coefficient())
    return [Fraction(int(value), lead) for value in common.coeffs()]
