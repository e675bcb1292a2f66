"""What may stand for a variable: numbers, rationals, polynomials in other variables; all read exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpz_mpoly

from shallows.mathematics.homotopy.coefficients import to_gaussian
from shallows.mathematics.homotopy.parser import parse
from shallows.mathematics.homotopy.terms import Monomial
from shallows.support.errors import InvalidProblem

#: A polynomial as {((name, power), …): rational}.
Terms = dict[Monomial, Fraction]

#: Data are given in floats; a fraction with a denominator up to this, and as close, is what is meant.
_LARGEST_DENOMINATOR = 100_000


def rational(name: str, value: object) -> Fraction:
    """A real number, exactly: int, Fraction, Decimal, fmpq, text such as "9/5", or a float's binary value."""
    if isinstance(value, str):
        terms = terms_of(name, value)
        if set(terms) - {()}:
            raise InvalidProblem(f"{name} is {value!r}; expected a number.")
        return terms.get((), Fraction(0))
    exact = to_gaussian(int(value) if type(value).__name__ == "fmpz" else value)  # type: ignore[call-overload]
    if exact.imag:
        raise InvalidProblem(f"{name} is {value!r}; expected a real number.")
    return exact.real


def simplest(value: float) -> Fraction:
    """The fraction that a computed float stands for: 1.8 is 9/5, when that is within four units in the last place.

    Other floats are the binary numbers they are.
    """
    guess = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    return guess if abs(guess - Fraction(value)) <= 4 * Fraction(math.ulp(value)) else Fraction(value)


def terms_of(name: str, value: object) -> Terms:
    """A number, or text such as "mu2^2" or "m0011 + 1/2", as the terms of a polynomial."""
    if not isinstance(value, str):
        number = rational(name, value)
        return {(): number} if number else {}
    parsed = parse(value, f"the value of {name}")
    if any(coefficient.imag for coefficient in parsed.values()):
        raise InvalidProblem(
            f"{name} is {value!r}, which has imaginary coefficients; expected a real polynomial."
        )
    return {monomial: coefficient.real for monomial, coefficient in parsed.items()}


def variables_in(terms: Terms) -> list[str]:
    """The names in a polynomial, in the order in which they occur."""
    return list(dict.fromkeys(name for monomial in terms for name, _ in monomial))


def ring(names: Sequence[str]) -> fmpq_mpoly_ctx:
    """Polynomials over Q in these variables, in lexicographic order."""
    return fmpq_mpoly_ctx.get(list(names), Ordering.lex)


def over_rationals(polynomial: fmpz_mpoly) -> fmpq_mpoly:
    """The same polynomial over Q, which can be evaluated at rationals."""
    return ring(polynomial.context().names()).from_dict(polynomial.to_dict())


def to_polynomial(terms: Terms, context: fmpq_mpoly_ctx) -> fmpq_mpoly:
    """The terms as an element of a ring that has their variables."""
    names = context.names()
    table = {}
    for monomial, coefficient in terms.items():
        powers = dict(monomial)
        table[tuple(powers.get(name, 0) for name in names)] = fmpq(
            coefficient.numerator, coefficient.denominator
        )
    return context.from_dict(table)


@dataclass(frozen=True)
class Substitution:
    """Values for some of the variables of a ring: the ring that is left, and the image of every variable."""

    teacher: tuple[str, ...]
    metric: tuple[str, ...]
    images: tuple[fmpq_mpoly, ...]
    context: fmpq_mpoly_ctx

    def __call__(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        """The polynomial with the values put in."""
        if polynomial.is_constant():
            return self.context.constant(_constant(polynomial))
        return polynomial.compose(*self.images, ctx=self.context)


def _constant(polynomial: fmpq_mpoly) -> fmpq:
    return polynomial.leading_coefficient() if not polynomial.is_zero() else fmpq(0)


def substitution(teacher: Sequence[str], metric: Sequence[str], values: Mapping[str, object]) -> Substitution:
    """Read the values; new names join the group (teacher or metric) of the variable that they replace."""
    old = (*teacher, *metric)
    unknown = sorted(set(values) - set(old))
    if unknown:
        raise InvalidProblem(
            f"unknown variable {', '.join(unknown)}: the variables are {', '.join(old) or 'all specialised'}. "
            "Fix: correct the name."
        )
    read = {name: terms_of(name, value) for name, value in values.items()}
    groups: list[list[str]] = []
    for names in (teacher, metric):
        group = [name for name in names if name not in read]
        for name in names:
            group += [new for new in variables_in(read.get(name, {})) if new not in group]
        groups.append(group)
    first = tuple(name for name in groups[0] if name not in metric)
    second = tuple(name for name in groups[1] if name not in first)
    moved = tuple(name for name in groups[0] if name in metric and name not in second)
    left = (*first, *second, *moved)
    context = ring(left)
    images = [to_polynomial(read.get(name, {((name, 1),): Fraction(1)}), context) for name in old]
    return Substitution(first, (*second, *moved), tuple(images), context)
