"""Polynomials from text, read exactly: a tokenizer and a recursive descent, no `eval`.

    sum     = ["+" | "-"] product { ("+" | "-") product }
    product = signed { ("*" | "/") signed }               only numbers may be divided by
    signed  = ("+" | "-") signed | power
    power   = atom [ ("^" | "**") whole number ]
    atom    = number | name | "(" sum ")"

Numbers are integers and decimals with an optional exponent, all read exactly (0.1 is one tenth); a suffix
j, i or I makes one imaginary, and the names I, i and j are the imaginary unit unless they are declared as
variables; where nothing says which names are variables, i and j may be either and are refused. `left = right` stands
for left − right.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from math import comb, log10

from shallows.mathematics.homotopy.coefficients import ONE, UNIT, GaussianRational
from shallows.mathematics.homotopy.terms import Polynomial, add_to, power, product
from shallows.support.budget import READING, require
from shallows.support.errors import InvalidProblem

MAX_DEGREE = 10_000
#: Parentheses may be nested so deep: each level takes five of Python's thousand calls, and callers need theirs.
MAX_DEPTH = 100
#: Letters of a text that an error shows on either side of the place.
SHOWN = 60
#: Seconds and bytes for a product of two terms, measured with coefficients of up to a hundred digits.
TERM_SECONDS, TERM_BYTES = 3e-6, 400.0
#: Seconds for a product of two numbers of a million digits, measured; by Karatsuba, d digits take d^KARATSUBA as long.
MILLION_DIGITS, KARATSUBA = 0.5, 1.585
#: Numbers of terms above this are all the same: nothing can hold them.
MANY = 10**12
#: Digits of a number in a bit.
DIGITS_A_BIT = 0.30103
_IMAGINARY = ("I", "i", "j")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?P<unit>[jiI](?![A-Za-z0-9_]))?"
    r"|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|[-+*/^()=−]))"
)


@dataclass(frozen=True)
class _Token:
    kind: str  # "number", "name", "sign" or "end"
    text: str
    column: int
    imaginary: bool = False


class _Reader:
    """One text, its tokens, and the position of the next one."""

    def __init__(self, text: str, label: str, declared: Collection[str], closed: bool) -> None:
        self.text, self.label, self.declared, self.closed = text, label, frozenset(declared), closed
        self.tokens = self._tokens()
        self.position = self.depth = 0
        self.seconds = 0.0

    def fail(self, message: str, column: int) -> InvalidProblem:
        """The error, with the text and a caret under the place."""
        start = max(0, column - SHOWN)
        line = self.text[start : column + SHOWN].replace("\n", " ").replace("\t", " ")
        return InvalidProblem(
            f"cannot read {self.label}: {message} at column {column + 1}\n    {line}\n    {' ' * (column - start)}^"
        )

    def spend(self, seconds: float, size: float, what: str) -> None:
        """Count what expanding the text costs, and refuse it before it becomes too much."""
        self.seconds += seconds
        require(
            f"Reading {self.label} ({what})",
            seconds=self.seconds,
            size=size,
            limit=READING,
            fix="Write a polynomial that expands to less.",
        )

    def _tokens(self) -> list[_Token]:
        tokens, column, end = [], 0, len(self.text.rstrip())
        while column < end:
            match = _TOKEN.match(self.text, column)
            if not match:
                column = next(i for i in range(column, end) if not self.text[i].isspace())
                raise self.fail(f"unexpected character {self.text[column]!r}", column)
            kind = match.lastgroup or ""
            if match["number"] is not None:
                kind = "number"
            text = match[kind].replace("−", "-")
            tokens.append(_Token(kind, text, match.start(kind), match["unit"] is not None))
            column = match.end()
        tokens.append(_Token("end", "", end))
        return tokens

    @property
    def next(self) -> _Token:
        return self.tokens[self.position]

    def take(self, *signs: str) -> _Token | None:
        """The next token if it is one of these signs, moving past it."""
        token = self.next
        if token.kind == "sign" and token.text in signs:
            self.position += 1
            return token
        return None

    def equation(self) -> Polynomial:
        left = self.sum()
        if self.take("="):
            add_to(left, self.sum(), -1)
        token = self.next
        if token.kind != "end":
            hint = (
                " (write * between factors)" if token.kind in ("name", "number") or token.text == "(" else ""
            )
            raise self.fail(f"expected an operator or the end, found {token.text!r}{hint}", token.column)
        return left

    def sum(self) -> Polynomial:
        total = self.product()
        while sign := self.take("+", "-"):
            add_to(total, self.product(), 1 if sign.text == "+" else -1)
        return total

    def product(self) -> Polynomial:
        total = self.signed()
        while sign := self.take("*", "/"):
            column = self.next.column
            right = self.signed()
            if sign.text == "*":
                total = self._multiply(total, right)
                continue
            if set(right) - {()}:
                raise self.fail("division by something that is not a number", column)
            if not right:
                raise self.fail("division by zero", column)
            inverse = right[()].inverse()
            total = {monomial: value * inverse for monomial, value in total.items()}
        return total

    def signed(self) -> Polynomial:
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign.text == "-"
        inner = self.power()
        return {monomial: -value for monomial, value in inner.items()} if negative else inner

    def power(self) -> Polynomial:
        base = self.atom()
        sign = self.take("^", "**")
        if sign is None:
            return base
        token = self.next
        if token.kind != "number" or token.imaginary or not token.text.isdigit():
            raise self.fail("expected a whole number as exponent", token.column)
        self.position += 1
        exponent = int(token.text)
        if self.next.kind == "sign" and self.next.text in ("^", "**"):
            raise self.fail("a power of a power needs parentheses", self.next.column)
        if exponent > MAX_DEGREE:
            raise self.fail(f"exponent {exponent} is larger than {MAX_DEGREE}", token.column)
        if not base or not exponent:
            return {} if exponent else {(): ONE}
        if len(base) == 1:
            ((monomial, value),) = base.items()
            digits = exponent * _digits(value)
            self.spend(_seconds(digits), digits, f"a number of about {digits:,.0f} digits")
            return {tuple((name, e * exponent) for name, e in monomial if exponent): power(value, exponent)}
        self._spend_power(base, exponent)
        result: Polynomial = {(): ONE}
        while exponent:
            if exponent & 1:
                result = product(result, base)
            exponent >>= 1
            if exponent:
                base = product(base, base)
        return result

    def _spend_power(self, base: Polynomial, exponent: int) -> None:
        """Count what a power costs: nearly all of it is the last product, of two powers of half the exponent."""
        half = min(comb(exponent // 2 + len(base) - 1, len(base) - 1), _monomials(base, {}, exponent // 2))
        whole = min(comb(exponent + len(base) - 1, len(base) - 1), _monomials(base, {}, exponent))
        digits = exponent * (max(map(_digits, base.values())) + log10(len(base)))
        seconds = min(half, MANY) ** 2 * (TERM_SECONDS + _seconds(digits))
        self.spend(
            seconds,
            min(whole, MANY) * (TERM_BYTES + digits),
            f"a power of {min(whole, MANY):,} terms or more",
        )

    def atom(self) -> Polynomial:
        token = self.next
        self.position += 1
        if token.kind == "number":
            value = GaussianRational(self._number(token))
            value = value * UNIT if token.imaginary else value
            return {(): value} if value else {}
        if token.kind == "name":
            if token.text in _IMAGINARY and token.text not in self.declared:
                if not self.closed and token.text != "I":
                    raise self.fail(
                        f"{token.text} may be the imaginary unit or a variable (write I or 1{token.text} for the unit, "
                        f"or list {token.text} in variables),",
                        token.column,
                    )
                return {(): UNIT}
            return {((token.text, 1),): ONE}
        if token.text == "(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise self.fail(f"parentheses are nested deeper than {MAX_DEPTH}", token.column)
            inner = self.sum()
            if not self.take(")"):
                raise self.fail("expected ')'", self.next.column)
            self.depth -= 1
            return inner
        found = "the end of the text" if token.kind == "end" else repr(token.text)
        raise self.fail(f"expected a number, a variable or '(', found {found}", token.column)

    def _number(self, token: _Token) -> Fraction:
        """A number as it is written, if it can be held."""
        mantissa, _, power = token.text.lower().partition("e")
        if len(mantissa) > sys.get_int_max_str_digits() > 0 or len(power) > len(str(sys.maxsize)):
            raise self.fail("a number with too many digits", token.column)
        digits = len(mantissa) + abs(int(power or 0))
        self.spend(_seconds(digits), digits, f"a number of {digits:,} digits")
        return Fraction(token.text)

    def _multiply(self, left: Polynomial, right: Polynomial) -> Polynomial:
        products = len(left) * len(right)
        digits = max(map(_digits, left.values()), default=0) + max(map(_digits, right.values()), default=0)
        each = TERM_SECONDS + _seconds(digits)
        terms = min(products, _monomials(left, right))
        self.spend(products * each, terms * (TERM_BYTES + digits), f"{products:,} products of terms")
        return product(left, right)


def _monomials(left: Polynomial, right: Polynomial, power: int = 1) -> int:
    """How many monomials a product (or a power of it) can have: all of its degree, in its variables."""
    names = {name for monomial in (*left, *right) for name, _ in monomial}
    degree = sum(max((sum(e for _, e in monomial) for monomial in side), default=0) for side in (left, right))
    return comb(power * degree + len(names), len(names))


def _digits(value: GaussianRational) -> float:
    """About how many digits the numbers of a coefficient have."""
    parts = (value.real.numerator, value.real.denominator, value.imag.numerator, value.imag.denominator)
    return DIGITS_A_BIT * max(part.bit_length() for part in parts)


def _seconds(digits: float) -> float:
    """How long a product takes whose result has so many digits."""
    return float(MILLION_DIGITS * (digits / 1e6) ** KARATSUBA)


def parse(
    text: str, label: str = "the polynomial", declared: Collection[str] = (), closed: bool = True
) -> Polynomial:
    """Read one polynomial exactly; not `closed` when names that are not declared may be variables, even i and j.

    >>> parse("x^2*y - 3*y + 1/2")
    {(('x', 2), ('y', 1)): GaussianRational(real=Fraction(1, 1), imag=Fraction(0, 1)), \
(('y', 1),): GaussianRational(real=Fraction(-3, 1), imag=Fraction(0, 1)), \
(): GaussianRational(real=Fraction(1, 2), imag=Fraction(0, 1))}
    """
    return _Reader(text, label, declared, closed).equation()
