"""Homogeneous polynomials as text: "x1^2*x2 - 1/3*x2^3", read exactly, written readably."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.parser import parse
from shallows.support.checks import Array, describe
from shallows.support.errors import InvalidProblem

Exponents = tuple[int, ...]


def default_names(n: int) -> tuple[str, ...]:
    """x1, …, xn."""
    return tuple(f"x{i + 1}" for i in range(n))


def _natural(name: str) -> tuple[str, int]:
    """x2 before x10."""
    match = re.fullmatch(r"(.*?)(\d*)", name)
    assert match is not None
    return match[1], int(match[2] or 0)


def read_form(
    text: str, variables: Sequence[str] | None = None
) -> tuple[dict[Exponents, Fraction], int, int]:
    """The coefficients {exponents: rational} of a homogeneous polynomial, its number of variables and degree.

    Variables default to the names that occur, in natural order (x2 before x10); give them to fix the order or to
    include one that does not occur.

    >>> read_form("x1*(x1 - x2) + 0*x2^2", ["x1", "x2"])
    ({(2, 0): Fraction(1, 1), (1, 1): Fraction(-1, 1)}, 2, 2)
    """
    parsed = parse(text, declared=variables or (), closed=variables is not None)
    found = {name for monomial in parsed for name, _ in monomial}
    names = list(variables) if variables is not None else sorted(found, key=_natural)
    unknown = sorted(found - set(names), key=_natural)
    if unknown or len(set(names)) != len(names):
        raise InvalidProblem(
            f"The polynomial {text!r} has the variables {sorted(found, key=_natural)}; {names} were declared. "
            "Declare every variable once."
        )
    if any(value.imag for value in parsed.values()):
        raise InvalidProblem(f"The polynomial {text!r} has complex coefficients; a real form is expected.")
    terms = {
        tuple(dict(monomial).get(name, 0) for name in names): value.real for monomial, value in parsed.items()
    }
    degrees = {sum(exponents) for exponents in terms}
    if len(degrees) != 1 or degrees == {0}:
        what = "is zero" if not terms else f"has terms of the degrees {sorted(degrees)}"
        raise InvalidProblem(f"The polynomial {text!r} {what}; expected a form: all terms of one degree ≥ 1.")
    return terms, len(names), degrees.pop()


def checked_terms(terms: Mapping[Exponents, object]) -> tuple[dict[Exponents, Fraction | float], int, int]:
    """A mapping {exponents: coefficient} of a form, checked; with its number of variables and degree."""
    if not terms:
        raise InvalidProblem(
            "No term was given; expected {exponents: coefficient}, for example {(2, 1): 3.0}."
        )
    shapes = {len(exponents) for exponents in terms}
    degrees = {sum(exponents) for exponents in terms}
    low = min(min(exponents, default=-1) for exponents in terms)
    if len(shapes) != 1 or len(degrees) != 1 or low < 0 or degrees == {0}:
        raise InvalidProblem(
            f"The terms {describe(dict(terms))} have {sorted(shapes)} variables and the degrees {sorted(degrees)}; "
            "expected exponents ≥ 0 of one length and one degree ≥ 1."
        )
    values = {tuple(int(e) for e in key): _number(value) for key, value in terms.items()}
    return values, shapes.pop(), degrees.pop()


def _number(value: object) -> Fraction | float:
    if isinstance(value, Fraction | int | float | np.floating | np.integer) and np.isfinite(float(value)):
        return Fraction(int(value)) if isinstance(value, int | np.integer) else value  # type: ignore[return-value]
    raise InvalidProblem(f"A coefficient is {describe(value)}; expected a finite real number.")


def write_form(
    coefficients: Array, exponents: NDArray[np.intp], names: Sequence[str], digits: int | None = None
) -> str:
    """The polynomial Σ c_I x^I as text; exact (`repr` of each float) unless `digits` are asked for."""
    pieces = []
    for value, powers in zip(coefficients, exponents, strict=True):
        size = abs(float(value))
        number = f"{size:.{digits}g}" if digits else repr(size).removesuffix(".0")
        if float(number) == 0:
            continue
        factors = [name if e == 1 else f"{name}^{e}" for name, e in zip(names, powers, strict=True) if e]
        if number != "1":
            factors.insert(0, number)
        pieces.append((" - " if value < 0 else " + ") + "*".join(factors))
    text = "".join(pieces)
    if not text:
        return "0"
    return text[3:] if text.startswith(" + ") else "-" + text[3:]
