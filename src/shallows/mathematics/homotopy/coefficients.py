"""Exact coefficients: Gaussian rationals p + q·i, and how a number from outside becomes one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Complex, Rational

from shallows.support.errors import InvalidProblem


@dataclass(frozen=True, slots=True)
class GaussianRational:
    """The exact number real + imag·i with rational parts."""

    real: Fraction
    imag: Fraction = Fraction(0)

    def __add__(self, other: GaussianRational) -> GaussianRational:
        return GaussianRational(self.real + other.real, self.imag + other.imag)

    def __sub__(self, other: GaussianRational) -> GaussianRational:
        return GaussianRational(self.real - other.real, self.imag - other.imag)

    def __neg__(self) -> GaussianRational:
        return GaussianRational(-self.real, -self.imag)

    def __mul__(self, other: GaussianRational) -> GaussianRational:
        if not self.imag and not other.imag:
            return GaussianRational(self.real * other.real)
        return GaussianRational(
            self.real * other.real - self.imag * other.imag, self.real * other.imag + self.imag * other.real
        )

    def inverse(self) -> GaussianRational:
        """1/z; ZeroDivisionError at zero."""
        square = self.real * self.real + self.imag * self.imag
        return GaussianRational(self.real / square, -self.imag / square)

    def __bool__(self) -> bool:
        return bool(self.real) or bool(self.imag)

    def __complex__(self) -> complex:
        return complex(float(self.real), float(self.imag))

    def __str__(self) -> str:
        if not self.imag:
            return str(self.real)
        if not self.real:
            return f"{self.imag}*I"
        return f"({self.real}{'+' if self.imag > 0 else '-'}{abs(self.imag)}*I)"

    def log2_size(self) -> float:
        """log₂ of max(|real|, |imag|), whatever the range of the parts; −∞ at zero."""
        best = max(abs(self.real), abs(self.imag))
        if not best:
            return -math.inf
        shift = best.numerator.bit_length() - best.denominator.bit_length()
        scaled = best / Fraction(2) ** shift if shift >= 0 else best * Fraction(2) ** (-shift)
        return shift + math.log2(scaled)


ZERO, ONE, UNIT = (
    GaussianRational(Fraction(0)),
    GaussianRational(Fraction(1)),
    GaussianRational(Fraction(0), Fraction(1)),
)


def _fraction(value: object, given: object) -> Fraction:
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        raise InvalidProblem(f"coefficient {given!r} is not a finite number. Fix: give finite coefficients")
    return Fraction(number)


def to_gaussian(value: object) -> GaussianRational:
    """Read a coefficient exactly: int, Fraction, Decimal, float or complex (their binary value), or one of these."""
    if isinstance(value, GaussianRational):
        return value
    if isinstance(value, Rational):
        return GaussianRational(Fraction(int(value.numerator), int(value.denominator)))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InvalidProblem(f"coefficient {value!r} is not finite. Fix: give finite coefficients")
        return GaussianRational(Fraction(value))
    if isinstance(value, Complex):
        return GaussianRational(_fraction(value.real, value), _fraction(value.imag, value))
    if hasattr(value, "p") and hasattr(value, "q"):  # python-flint's fmpq
        return GaussianRational(Fraction(int(value.p), int(value.q)))
    raise InvalidProblem(
        f"coefficient {value!r} of type {type(value).__name__} is not a number. "
        "Fix: give an int, Fraction, Decimal, float or complex"
    )
