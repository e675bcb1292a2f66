"""Polynomials written in Python: `x, y = variables("x y")`, then x**2 + y, with exact coefficients."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Collection
from math import comb
from typing import Any

from shallows.mathematics.homotopy.coefficients import ONE, GaussianRational, to_gaussian
from shallows.mathematics.homotopy.parser import MANY, MAX_DEGREE, TERM_BYTES, TERM_SECONDS
from shallows.mathematics.homotopy.terms import Polynomial, add_to, product
from shallows.support.arguments import typed
from shallows.support.budget import READING, require
from shallows.support.errors import InvalidProblem

#: Products of so many terms take a hundredth of a second: they are not asked for what they cost.
FREE = 3_000


class Expression:
    """A polynomial in named variables; numbers and other expressions are added, multiplied and so on exactly.

    A float is the binary number it is; write Fraction(1, 10), or x / 10, for a tenth. Only numbers may be divided by.

    >>> x, y = sh.homotopy.variables("x y")
    >>> (x + y) ** 2 - 2 * x * y / 3
    x^2 + 4/3*x*y + y^2
    >>> sh.homotopy.solve([x**2 + y**2 - 5, x * y - 2]).real.count
    4
    """

    __slots__ = ("terms",)
    terms: Polynomial

    def __init__(self, terms: Polynomial) -> None:
        object.__setattr__(self, "terms", terms)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an Expression does not change")

    @property
    def names(self) -> frozenset[str]:
        """The variables that occur."""
        return frozenset(name for monomial in self.terms for name, _ in monomial)

    def __add__(self, other: object) -> Expression:
        return self._sum(other, 1)

    __radd__ = __add__

    def __sub__(self, other: object) -> Expression:
        return self._sum(other, -1)

    def __rsub__(self, other: object) -> Expression:
        return (-self)._sum(other, 1)

    def __neg__(self) -> Expression:
        return Expression({monomial: -value for monomial, value in self.terms.items()})

    def __pos__(self) -> Expression:
        return self

    def __mul__(self, other: object) -> Expression:
        right = _expression(other)
        if right is None:
            raise _foreign(self, other)
        return Expression(_product(self.terms, right.terms))

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Expression:
        right = _expression(other)
        if right is None:
            raise _foreign(self, other)
        if set(right.terms) - {()}:
            raise InvalidProblem(
                f"division by {right!r}, which is not a number. Fix: multiply the equation by it"
            )
        if not right.terms:
            raise InvalidProblem(f"division of {self!r} by zero. Fix: divide by another number")
        inverse = right.terms[()].inverse()
        return Expression({monomial: value * inverse for monomial, value in self.terms.items()})

    def __pow__(self, exponent: object) -> Expression:
        try:
            power = operator.index(exponent)  # type: ignore[arg-type]
        except TypeError:
            power = -1
        if not 0 <= power <= MAX_DEGREE:
            raise InvalidProblem(f"exponent {exponent!r}. Fix: use a whole number from 0 to {MAX_DEGREE}")
        # nearly all the work is the last product, of two powers of half the exponent
        size = len(self.terms) - 1
        _require(comb(power // 2 + size, size) ** 2 if size > 0 else 0)
        result: Polynomial = {(): ONE}
        base = self.terms
        while power:
            if power & 1:
                result = _product(result, base)
            power >>= 1
            base = _product(base, base) if power else base
        return Expression(result)

    def __eq__(self, other: object) -> bool:
        right = _expression(other)
        return right is not None and self.terms == right.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __repr__(self) -> str:
        shown = [_term(monomial, value) for monomial, value in self.terms.items()]
        return " + ".join(shown).replace("+ -", "- ") if shown else "0"

    def _sum(self, other: object, sign: int) -> Expression:
        right = _expression(other)
        if right is None:
            raise _foreign(self, other)
        total = dict(self.terms)
        add_to(total, right.terms, sign)
        return Expression(total)


def _foreign(own: Expression, other: object) -> InvalidProblem:
    kind = type(other).__name__
    return InvalidProblem(f"{own!r} and a {kind}. Fix: calculate with numbers and variables(...) only")


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    _require(len(left) * len(right))
    return product(left, right)


def _require(products: int) -> None:
    """Refuse what would take too long or too much memory."""
    if products > FREE:
        require(
            f"Expanding {min(products, MANY):,} products of terms",
            seconds=min(products, MANY) * TERM_SECONDS,
            size=min(products, MANY) * TERM_BYTES,
            limit=READING,
            fix="Write a polynomial that expands to less.",
        )


def _term(monomial: tuple[tuple[str, int], ...], value: GaussianRational) -> str:
    factors = [name if power == 1 else f"{name}^{power}" for name, power in monomial]
    if not factors:
        return str(value)
    if value in (ONE, -ONE):
        return ("-" if value != ONE else "") + "*".join(factors)
    return "*".join([str(value), *factors])


def _expression(value: object) -> Expression | None:
    """An expression, or a number as one; None for anything else."""
    if isinstance(value, Expression):
        return value
    try:
        number = to_gaussian(value)
    except InvalidProblem:
        if isinstance(value, (float, complex)):  # not finite
            raise
        return None
    return Expression({(): number} if number else {})


@typed
def variables(names: str | Collection[str]) -> tuple[Expression, ...]:
    """Variables by their names, given as text ("x y z" or "x, y, z") or as a list.

    >>> x, y = sh.homotopy.variables("x y")
    >>> sh.homotopy.solve([x**2 - 2 * y, y - 8]).finite.points.real.round(9).tolist()
    [[-4.0, 8.0], [4.0, 8.0]]
    >>> p = sh.homotopy.variables([f"p{k}" for k in range(3)])
    >>> sum(p)
    p0 + p1 + p2
    """
    listed = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    for name in listed:
        if not (isinstance(name, str) and name.isidentifier()):
            raise InvalidProblem(f'variable name {name!r}. Fix: use letters, digits and "_", a letter first')
    if not listed or len(set(listed)) != len(listed):
        raise InvalidProblem(f"variables({names!r}). Fix: give one or more names, each once")
    return tuple(Expression({((name, 1),): ONE}) for name in listed)


def called(function: Callable[..., Any], names: Collection[str] | None) -> tuple[list[Any], list[str]]:
    """What a function of variables returns, as rows, and the names it was called with: its own, or those given."""
    if names is None:
        given = inspect.signature(function).parameters.values()
        if any(p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in given):
            raise InvalidProblem("a function with *, ** or keyword-only arguments. Fix: give variables=[...]")
        names = [p.name for p in given]
    if not names:
        raise InvalidProblem("a function without arguments. Fix: give one argument for each variable")
    listed = list(names)
    result = function(*variables(listed))
    if isinstance(result, (Expression, str)):
        return [result], listed
    try:
        return list(result), listed
    except TypeError:
        raise InvalidProblem(
            f"the function returned {type(result).__name__}. Fix: return a list of polynomials in its arguments"
        ) from None


def name_of(symbol: Any) -> str:
    """The name of a variable given as text, as an `Expression`, or as a symbol of another package."""
    if isinstance(symbol, Expression):
        if len(symbol.names) != 1 or symbol != variables(symbol.names)[0]:
            raise InvalidProblem(f"{symbol!r} is not a variable. Fix: give variables by themselves")
        return next(iter(symbol.names))
    return str(symbol)
