"""SymPy expressions, Poly and Eq as exact terms. SymPy is not needed for anything else, and is not imported here."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

from shallows.mathematics.homotopy.coefficients import GaussianRational
from shallows.mathematics.homotopy.terms import Polynomial
from shallows.support.errors import InvalidProblem


def is_sympy(row: object) -> bool:
    """Whether this comes from SymPy, which is then loaded already."""
    return type(row).__module__.partition(".")[0] == "sympy" and hasattr(row, "free_symbols")


def from_sympy(row: Any) -> Polynomial:
    """The terms of a SymPy expression, Poly or Eq; coefficients must be rational, floats, or these with I."""
    sympy: Any = sys.modules["sympy"]
    expression = row.lhs - row.rhs if isinstance(row, sympy.Eq) else row.as_expr()
    symbols = sorted(expression.free_symbols, key=str)
    if not symbols:
        value = _sympy_number(expression)
        return {(): value} if value else {}
    try:
        # floats would make floats of all coefficients: "EX" leaves each as it is
        exact = {"domain": "EX"} if expression.has(sympy.Float) else {}
        poly = sympy.Poly(expression, *symbols, **exact)
    except sympy.PolynomialError as error:
        raise InvalidProblem(
            f"{row} is not a polynomial ({error}). Fix: clear denominators and roots"
        ) from None
    total: Polynomial = {}
    for exponents, coefficient in poly.terms():
        value = _sympy_number(coefficient)
        monomial = sorted((str(s), int(e)) for s, e in zip(symbols, exponents, strict=True) if e)
        if value:
            total[tuple(monomial)] = value
    return total


def _sympy_number(value: Any) -> GaussianRational:
    """An exact number; a Float is the binary number it is."""
    parts = []
    for part in value.as_real_imag():
        if part.is_Rational:
            parts.append(Fraction(int(part.p), int(part.q)))
        elif part.is_Float:
            parts.append(Fraction(float(part)))
        else:
            raise InvalidProblem(
                f"coefficient {value} is neither rational nor a float. "
                "Fix: put in a number with .n(), or a new variable with its own equation, s^2 - 2 for sqrt(2)"
            )
    return GaussianRational(*parts)
