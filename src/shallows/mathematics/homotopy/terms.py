"""Polynomials as sums of terms, {monomial: exact coefficient}: what the parser and `Expression` calculate with."""

from __future__ import annotations

from shallows.mathematics.homotopy.coefficients import ONE, GaussianRational

#: A monomial: sorted pairs (name, exponent).
Monomial = tuple[tuple[str, int], ...]
Polynomial = dict[Monomial, GaussianRational]


def product(left: Polynomial, right: Polynomial) -> Polynomial:
    """The product, without terms that cancel."""
    total: Polynomial = {}
    for a, x in left.items():
        for b, y in right.items():
            key = merge(a, b)
            value = x * y
            total[key] = total[key] + value if key in total else value
    return {monomial: value for monomial, value in total.items() if value}


def merge(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    if not a or not b:
        return a or b
    exponents = dict(a)
    for name, exponent in b:
        exponents[name] = exponents.get(name, 0) + exponent
    return tuple(sorted(exponents.items()))


def add_to(total: Polynomial, right: Polynomial, sign: int) -> None:
    """Add (or subtract) in place: a sum of many terms is not copied for each of them."""
    for monomial, value in right.items():
        change = value if sign > 0 else -value
        change = total[monomial] + change if monomial in total else change
        if change:
            total[monomial] = change
        else:
            total.pop(monomial, None)


def power(value: GaussianRational, exponent: int) -> GaussianRational:
    """By squaring; a real number by Fraction's own power, which cancels nothing."""
    if not value.imag:
        return GaussianRational(value.real**exponent)
    result = ONE
    while exponent:
        if exponent & 1:
            result = result * value
        exponent >>= 1
        value = value * value if exponent else value
    return result
