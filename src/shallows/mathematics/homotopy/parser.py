"""Polynomials from text, read exactly: a tokenizer and a recursive descent, no `eval`.

    sum     = ["+" | "-"] product { ("+" | "-") product }
    product = signed { ("*" | "/") signed }               only numbers may be divided by
    signed  = ("+" | "-") signed | power
    power   = atom [ ("^" | "**") whole number ]
    atom    = number | name | "(" sum ")"

Numbers are integers and decimals with an optional exponent, all read exactly (0.1 is one tenth); a suffix
j, i or I makes one imaginary, and the names I, i and j are the imaginary unit unless they are declared as
variables. `left = right` stands for left − right.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from shallows.mathematics.homotopy.coefficients import ONE, UNIT, Gaussian
from shallows.support.errors import InvalidProblem

#: A monomial while reading: sorted pairs (name, exponent).
Monomial = tuple[tuple[str, int], ...]
Polynomial = dict[Monomial, Gaussian]

MAX_TERMS = 200_000
MAX_DEGREE = 10_000
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

    def __init__(self, text: str, label: str, declared: Collection[str]) -> None:
        self.text, self.label, self.declared = text, label, frozenset(declared)
        self.tokens = self._tokens()
        self.position = 0

    def fail(self, message: str, column: int) -> InvalidProblem:
        """The error, with the text and a caret under the place."""
        line = self.text.replace("\n", " ").replace("\t", " ")
        return InvalidProblem(
            f"cannot read {self.label}: {message} at column {column + 1}\n    {line}\n    {' ' * column}^"
        )

    def _tokens(self) -> list[_Token]:
        tokens, column = [], 0
        while self.text[column:].strip():
            match = _TOKEN.match(self.text, column)
            if not match:
                column += len(self.text[column:]) - len(self.text[column:].lstrip())
                raise self.fail(f"unexpected character {self.text[column]!r}", column)
            kind = match.lastgroup or ""
            if match["number"] is not None:
                kind = "number"
            text = match[kind].replace("−", "-")
            tokens.append(_Token(kind, text, match.start(kind), match["unit"] is not None))
            column = match.end()
        tokens.append(_Token("end", "", len(self.text.rstrip())))
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
            left = _add(left, self.sum(), -1)
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
            total = _add(total, self.product(), 1 if sign.text == "+" else -1)
        return total

    def product(self) -> Polynomial:
        total = self.signed()
        while sign := self.take("*", "/"):
            column = self.next.column
            right = self.signed()
            if sign.text == "*":
                total = self._multiply(total, right, sign.column)
                continue
            if set(right) - {()}:
                raise self.fail("division by something that is not a number", column)
            if not right:
                raise self.fail("division by zero", column)
            inverse = right[()].inverse()
            total = {monomial: value * inverse for monomial, value in total.items()}
        return total

    def signed(self) -> Polynomial:
        sign = self.take("+", "-")
        if sign is None:
            return self.power()
        inner = self.signed()
        return inner if sign.text == "+" else {monomial: -value for monomial, value in inner.items()}

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
        if len(base) == 1:
            ((monomial, value),) = base.items()
            return {tuple((name, e * exponent) for name, e in monomial if exponent): _power(value, exponent)}
        result: Polynomial = {(): ONE}
        while exponent:
            if exponent & 1:
                result = self._multiply(result, base, sign.column)
            exponent >>= 1
            if exponent:
                base = self._multiply(base, base, sign.column)
        return result

    def atom(self) -> Polynomial:
        token = self.next
        self.position += 1
        if token.kind == "number":
            value = Gaussian(Fraction(token.text))
            value = value * UNIT if token.imaginary else value
            return {(): value} if value else {}
        if token.kind == "name":
            if token.text in _IMAGINARY and token.text not in self.declared:
                return {(): UNIT}
            return {((token.text, 1),): ONE}
        if token.text == "(":
            inner = self.sum()
            if not self.take(")"):
                raise self.fail("expected ')'", self.next.column)
            return inner
        found = "the end of the text" if token.kind == "end" else repr(token.text)
        raise self.fail(f"expected a number, a variable or '(', found {found}", token.column)

    def _multiply(self, left: Polynomial, right: Polynomial, column: int) -> Polynomial:
        total: Polynomial = {}
        for a, x in left.items():
            for b, y in right.items():
                key = _merge(a, b)
                value = x * y
                total[key] = total[key] + value if key in total else value
            if len(total) > MAX_TERMS:
                raise self.fail(f"expands to more than {MAX_TERMS} terms", column)
        return {monomial: value for monomial, value in total.items() if value}


def _merge(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    exponents = dict(a)
    for name, exponent in b:
        exponents[name] = exponents.get(name, 0) + exponent
    return tuple(sorted(exponents.items()))


def _add(left: Polynomial, right: Polynomial, sign: int) -> Polynomial:
    total = dict(left)
    for monomial, value in right.items():
        change = value if sign > 0 else -value
        total[monomial] = total[monomial] + change if monomial in total else change
    return {monomial: value for monomial, value in total.items() if value}


def _power(value: Gaussian, exponent: int) -> Gaussian:
    if not value.imag:
        return Gaussian(value.real**exponent)
    result = ONE
    for _ in range(exponent):
        result = result * value
    return result


def parse(text: str, label: str = "the polynomial", declared: Collection[str] = ()) -> Polynomial:
    """Read one polynomial exactly.

    >>> parse("x^2*y - 3*y + 1/2")
    {(('x', 2), ('y', 1)): Gaussian(real=Fraction(1, 1), imag=Fraction(0, 1)), \
(('y', 1),): Gaussian(real=Fraction(-3, 1), imag=Fraction(0, 1)), \
(): Gaussian(real=Fraction(1, 2), imag=Fraction(0, 1))}
    """
    return _Reader(text, label, declared).equation()
