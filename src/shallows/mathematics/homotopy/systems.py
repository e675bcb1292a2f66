"""Square polynomial systems with exact coefficients: reading, checking, degrees and root bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.batched import PolynomialBatch
from shallows.mathematics.homotopy.coefficients import GaussianRational, to_gaussian
from shallows.mathematics.homotopy.expressions import Expression, called, name_of
from shallows.mathematics.homotopy.parser import parse
from shallows.mathematics.homotopy.sympy_rows import from_sympy, is_sympy
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem

Exponents = tuple[int, ...]
Terms = dict[Exponents, GaussianRational]


@dataclass(frozen=True)
class PolynomialSystem:
    """n polynomials in n variables (and possibly parameters), coefficients exact Gaussian rationals.

    Build one with `PolynomialSystem.read`. Exponents run over the variables, then the parameters.

    >>> system = sh.homotopy.PolynomialSystem.read(["x^2*y - 0.5*y + 1", "x*y - 3"])
    >>> print(system)
    (1)*x^2*y + (-1/2)*y + (1)
    (1)*x*y + (-3)
    >>> system.bezout_number, system.multihomogeneous_number([["x"], ["y"]])
    (6, 3)
    """

    variables: tuple[str, ...]
    equations: tuple[Terms, ...] = field(repr=False)
    parameters: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        polynomials: Any,
        variables: Sequence[Any] | None = None,
        parameters: Sequence[Any] = (),
        *,
        square: bool = True,
    ) -> PolynomialSystem:
        """From polynomials in any of their forms, or a function that returns them; checked here.

        Strings (`"x^2*y - 3*y + 1"`), expressions in `variables("x y")`, SymPy expressions, `Poly` and `Eq`, these also
        mixed; or {exponents: coefficient} dictionaries. `square`: refuse a system with more or fewer equations than
        variables.
        """
        if isinstance(polynomials, PolynomialSystem):
            return polynomials
        symbols = tuple(name_of(symbol) for symbol in parameters)
        names = None if variables is None else [name_of(symbol) for symbol in variables]
        if callable(polynomials) and not is_sympy(polynomials):
            polynomials, arguments = called(polynomials, None if names is None else [*names, *symbols])
            names = [name for name in arguments if name not in symbols]
        if isinstance(polynomials, (str, Mapping, Expression)) or is_sympy(polynomials):
            polynomials = [polynomials]
        if not isinstance(polynomials, Iterable):
            raise InvalidProblem(
                f"expected a sequence of polynomials, got {type(polynomials).__name__}. "
                'Fix: give strings such as ["x^2 - y", "y - 1"] or {exponents: coefficient} dictionaries'
            )
        rows = list(polynomials)
        if not rows:
            raise InvalidProblem("the system has no equations. Fix: give at least one polynomial")
        if all(isinstance(row, (str, Expression)) or is_sympy(row) for row in rows):
            system = _from_names(rows, names, symbols)
        elif all(isinstance(row, Mapping) for row in rows):
            system = _from_dictionaries(rows, names, symbols)
        else:
            kinds = ", ".join(sorted({type(row).__name__ for row in rows}))
            raise InvalidProblem(
                f"the equations are of types {kinds}. Fix: give strings, expressions in variables(...) or SymPy's, or "
                "all of them as dictionaries"
            )
        _check(system, square)
        return system

    @property
    def n(self) -> int:
        """The number of variables, and of equations."""
        return len(self.variables)

    @cached_property
    def degrees(self) -> tuple[int, ...]:
        """The degree of each equation in the variables."""
        n = self.n
        return tuple(max(sum(exponents[:n]) for exponents in terms) for terms in self.equations)

    @property
    def bezout_number(self) -> int:
        """Π deg fᵢ: the largest possible number of isolated solutions, with multiplicity."""
        return math.prod(self.degrees)

    @cached_property
    def height(self) -> int:
        """The most bits that a numerator or a denominator of a coefficient has."""
        parts = [x for terms in self.equations for c in terms.values() for x in (c.real, c.imag)]
        return max(max(x.numerator.bit_length(), x.denominator.bit_length()) for x in parts)

    @cached_property
    def is_real(self) -> bool:
        """Whether every coefficient is real."""
        return all(not value.imag for terms in self.equations for value in terms.values())

    def ball_batch(self) -> Any:
        """Values and Jacobians at many boxes at once, in float64: see `balls.batched`."""
        return PolynomialBatch(self)

    def group_degrees(self, groups: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        """degrees[i, j]: the degree of equation i in the variables of group j."""
        places = self.check_groups(groups)
        return np.array(
            [[max(sum(e[k] for k in group) for e in terms) for group in places] for terms in self.equations],
            dtype=np.int64,
        )

    def check_groups(self, groups: Sequence[Sequence[str]]) -> list[list[int]]:
        """The variable groups as positions; refused unless each variable is in exactly one."""
        names = [name for group in groups for name in group]
        if sorted(names) != sorted(self.variables):
            raise InvalidProblem(
                f"groups {[list(g) for g in groups]} do not split the variables {list(self.variables)}. "
                "Fix: put each variable in exactly one group"
            )
        return [[self.variables.index(name) for name in group] for group in groups]

    def multihomogeneous_number(self, groups: Sequence[Sequence[str]]) -> int:
        """The coefficient of Π αⱼ^|group j| in Πᵢ Σⱼ dᵢⱼ αⱼ: a bound on the isolated solutions.

        (A. Morgan, A. Sommese, "A homotopy for solving general polynomial systems that respects
        m-homogeneous structures", Appl. Math. Comput. 24, 1987.)
        """
        degrees = self.group_degrees(groups)
        sizes = tuple(len(group) for group in groups)
        counts: dict[tuple[int, ...], int] = {(0,) * len(sizes): 1}
        for row in degrees:
            longer: dict[tuple[int, ...], int] = {}
            for used, count in counts.items():
                for j, degree in enumerate(row):
                    if degree and used[j] < sizes[j]:
                        key = (*used[:j], used[j] + 1, *used[j + 1 :])
                        longer[key] = longer.get(key, 0) + count * int(degree)
            counts = longer
        return counts.get(sizes, 0)

    def __call__(self, point: Sequence[complex] | NDArray[np.complex128]) -> NDArray[np.complex128]:
        """The value at a point, in plain NumPy: the slow twin of the compiled evaluator."""
        x = np.asarray(point, dtype=np.complex128)
        return np.array(
            [
                sum(complex(c) * np.prod(x ** np.array(e)) for e, c in terms.items())
                for terms in self.equations
            ]
        )

    def specialize(self, values: Sequence[object]) -> PolynomialSystem:
        """The system with numbers put in for the parameters, exactly."""
        if len(values) != len(self.parameters):
            raise InvalidProblem(
                f"got {len(values)} parameter values for {len(self.parameters)} parameters {self.parameters}"
            )
        exact = [to_gaussian(value) for value in values]
        equations = []
        for terms in self.equations:
            total: Terms = {}
            for exponents, coefficient in terms.items():
                value = coefficient
                for base, power in zip(exact, exponents[self.n :], strict=True):
                    for _ in range(power):
                        value = value * base
                key = exponents[: self.n]
                total[key] = total[key] + value if key in total else value
            equations.append({key: value for key, value in total.items() if value})
        system = PolynomialSystem(self.variables, tuple(equations))
        _check(system, square=len(self.equations) == self.n)
        return system

    def __str__(self) -> str:
        return "\n".join(_show(terms, self.variables + self.parameters) for terms in self.equations)


def _show(terms: Terms, names: Sequence[str]) -> str:
    shown = []
    for exponents, value in terms.items():
        factors = [
            name if power == 1 else f"{name}^{power}"
            for name, power in zip(names, exponents, strict=True)
            if power
        ]
        shown.append("*".join([f"({value})", *factors]))
    return " + ".join(shown) if shown else "0"


def _from_names(
    rows: Sequence[Any], variables: Sequence[str] | None, parameters: tuple[str, ...]
) -> PolynomialSystem:
    declared = [*(variables or ()), *parameters]
    parsed = []
    for i, row in enumerate(rows):
        if isinstance(row, Expression):
            parsed.append(row.terms)
        else:
            closed = variables is not None
            parsed.append(
                from_sympy(row) if is_sympy(row) else parse(row, f"equation {i + 1}", declared, closed)
            )
    found = {name for polynomial in parsed for monomial in polynomial for name, _ in monomial}
    names = (
        tuple(variables) if variables is not None else tuple(sorted(found - set(parameters), key=_natural))
    )
    symbols = (*names, *parameters)
    if len(set(symbols)) != len(symbols):
        raise InvalidProblem(f"a name occurs twice in the variables and parameters {symbols}")
    unknown = sorted(found - set(symbols))
    if unknown:
        raise InvalidProblem(
            f"unknown symbol {', '.join(unknown)}: the variables are {', '.join(names)}"
            + (f" and the parameters {', '.join(parameters)}" if parameters else "")
            + ". Fix: correct the name, or list it in variables"
        )
    place = {name: k for k, name in enumerate(symbols)}
    equations = []
    for polynomial in parsed:
        terms: Terms = {}
        for monomial, value in polynomial.items():
            exponents = [0] * len(symbols)
            for name, power in monomial:
                exponents[place[name]] = power
            terms[tuple(exponents)] = value
        equations.append(terms)
    return PolynomialSystem(names, tuple(equations), parameters)


def _natural(name: str) -> tuple[str, int, str]:
    """x2 before x10."""
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or -1), name


def _from_dictionaries(
    rows: Sequence[Mapping[Exponents, object]], variables: Sequence[str] | None, parameters: tuple[str, ...]
) -> PolynomialSystem:
    equations = []
    width = len(variables) + len(parameters) if variables is not None else None
    for i, row in enumerate(rows):
        terms: Terms = {}
        for key, coefficient in row.items():
            exponents = tuple(key) if isinstance(key, Iterable) else (key,)
            whole = all(isinstance(e, (int, np.integer)) and not isinstance(e, bool) for e in exponents)
            if not whole or any(e < 0 for e in exponents):
                raise InvalidProblem(
                    f"equation {i + 1}: exponents {key!r} are not a tuple of whole numbers ≥ 0. "
                    "Fix: write x²y as (2, 1)"
                )
            width = len(exponents) if width is None else width
            if len(exponents) != width:
                raise InvalidProblem(
                    f"equation {i + 1}: exponents {key!r} have length {len(exponents)}, expected {width}. "
                    "Fix: give one exponent for every variable in every term"
                )
            value = to_gaussian(coefficient)
            place = tuple(int(e) for e in exponents)
            if value:
                terms[place] = terms[place] + value if place in terms else value
        equations.append(terms)
    count = (width or 0) - len(parameters)
    names = tuple(variables) if variables is not None else tuple(f"x{k + 1}" for k in range(count))
    return PolynomialSystem(names, tuple(equations), parameters)


def _check(system: PolynomialSystem, square: bool = True) -> None:
    n = system.n
    if square and len(system.equations) != n:
        more = (
            "more equations than variables" if len(system.equations) > n else "fewer equations than variables"
        )
        raise InvalidProblem(
            f"the system is not square: {counted(len(system.equations), 'equation')} in {counted(n, 'variable')} "
            f"({', '.join(system.variables)}), {more}. Fix: give as many equations as variables"
        )
    for i, terms in enumerate(system.equations):
        if not any(any(exponents[:n]) for exponents in terms):
            value = _show(terms, system.variables + system.parameters)
            raise InvalidProblem(
                f"equation {i + 1} is the constant {value}: it has no variable in it. "
                "Fix: remove it or correct it"
            )
