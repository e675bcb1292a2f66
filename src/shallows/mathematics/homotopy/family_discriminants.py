"""The discriminant of a family of systems: the parameters at which two solutions meet.

*Degree, numerically.* On a random line p(s) of parameters the members with a double solution are the s of

    F(x; p(s)) = 0,   J(x; p(s)) v = 0,   h·v = 1,

a square system in (x, v, s); the number of different s is the degree.

*Exactly,* for one unknown by the discriminant of the polynomial, for two by that of their resultant, whose factors are
kept when they vanish at the points found numerically: the others come from solutions that share a coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.homotopy.coefficients import GaussianRational, to_gaussian
from shallows.mathematics.homotopy.families import PolynomialFamily
from shallows.mathematics.homotopy.solutions import Status
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.homotopy.systems import Exponents, PolynomialSystem, Terms
from shallows.mathematics.same_points import classes
from shallows.support.errors import IncompleteChart, InvalidProblem
from shallows.support.seeds import seed_of

#: Values of s on the line that differ by less, relatively to the largest of them or 1, are one member.
SAME_MEMBER = 1e-7
#: A factor vanishes at a point when it is below this share of the sizes of its terms.
VANISHES = 1e-6
#: Exact elimination is tried up to this Bézout number with two unknowns, and this degree with one: seconds of work.
MOST_SOLUTIONS, MOST_DEGREE = 9, 12
#: Random coefficients of the line are multiples of one over this.
GRAIN = 1000


@dataclass(frozen=True)
class FamilyDiscriminant:
    """Where two solutions of a family meet: a hypersurface in its parameters.

    degree: of the (reduced) hypersurface, counted numerically on a random line; `points` are its points there.
    factors: its irreducible factors as exact polynomials in the parameters, as text; empty where elimination would be
    too much, or the coefficients are not real. exact: whether the factors were found and their degrees
    add up to `degree`.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^3 + a*x + b"], ["x"], ["a", "b"])
    >>> found = sh.homotopy.discriminant(family)
    >>> found
    FamilyDiscriminant: degree 3 in a, b: (4*a^3 + 27*b^2)
    >>> found.value([-3, 2]), found.exact
    (0.0, True)
    """

    parameters: tuple[str, ...]
    degree: int
    factors: tuple[str, ...]
    points: NDArray[np.complex128]
    exact: bool
    terms: tuple[Mapping[Exponents, int], ...]
    seed: int = 0

    def value(self, parameters: ArrayLike) -> float | complex:
        """The product of the factors at parameters; `InvalidProblem` where they are not known."""
        if not self.exact:
            raise InvalidProblem("the discriminant is known numerically only. Fix: use `points` and `degree`")
        point = np.asarray(parameters)
        value = complex(np.prod([_value(terms, point)[0] for terms in self.terms]))
        return value if np.iscomplexobj(point) else value.real

    def __repr__(self) -> str:
        known = "*".join(f"({factor})" for factor in self.factors) if self.exact else "known numerically"
        return f"FamilyDiscriminant: degree {self.degree} in {', '.join(self.parameters)}: {known}"


def discriminant(family: PolynomialFamily, rng: int | np.random.Generator = 0) -> FamilyDiscriminant:
    """The parameters at which two solutions of a family meet: the degree, and the polynomial where it is small.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 + y^2 - a", "x*y - b"], ["x", "y"], ["a", "b"])
    >>> sorted(sh.homotopy.discriminant(family).factors)
    ['a + 2*b', 'a - 2*b']
    """
    if not isinstance(family, PolynomialFamily):
        raise InvalidProblem(
            f"family is a {type(family).__name__}; expected a PolynomialFamily, whose equations are known"
        )
    seed = seed_of(rng)
    random = np.random.default_rng(seed)
    names, count = family.system.parameters, family.parameter_count
    line = [
        [
            GaussianRational(*(Fraction(int(k), GRAIN) for k in random.integers(-GRAIN, GRAIN, 2)))
            for _ in range(2)
        ]
        for _ in range(count)
    ]
    values = _members_with_double_solutions(family, line, random, seed)
    at = np.array([[complex(a) + complex(b) * s for a, b in line] for s in values]).reshape(
        len(values), count
    )
    terms = _exact_factors(family, at)
    found = sum(max(sum(key) for key in one) for one in terms)
    exact = (bool(terms) and found == len(values)) or not len(values)
    texts = tuple(_text(one, names) for one in terms) if exact else ()
    return FamilyDiscriminant(names, len(values), texts, at, exact, tuple(terms) if exact else (), seed)


# -- numerically -----------------------------------------------------------------------------------------------


def _members_with_double_solutions(
    family: PolynomialFamily,
    line: Sequence[Sequence[GaussianRational]],
    random: np.random.Generator,
    seed: int,
) -> NDArray[np.complex128]:
    """The different s on the line."""
    n = family.n
    size = 2 * n + 1
    rows = [_on_line(terms, n, line) for terms in family.system.equations]
    equations: list[Terms] = [{(*key[:n], *((0,) * n), key[n]): c for key, c in row.items()} for row in rows]
    for row in rows:
        total: Terms = {}
        for j in range(n):
            for key, c in row.items():
                if key[j]:
                    lowered = [*key[:n], *(int(i == j) for i in range(n)), key[n]]
                    lowered[j] -= 1
                    place = tuple(lowered)
                    value = c * GaussianRational(Fraction(key[j]))
                    total[place] = total[place] + value if place in total else value
        equations.append({key: c for key, c in total.items() if c})
    last: Terms = {
        tuple(int(i == n + j) for i in range(size)): to_gaussian(int(random.integers(1, GRAIN)))
        for j in range(n)
    }
    last[(0,) * size] = to_gaussian(-GRAIN)
    solutions = solve([*equations, last], rng=seed, on_incomplete="return")
    if solutions.status in (Status.INCOMPLETE, Status.UNDECIDED):
        raise IncompleteChart(
            f"The discriminant's degree is not known: on a line of parameters the solve is {solutions.status.value} "
            f"({solutions.message}). Fix: another rng"
        )
    values = solutions.isolated.points[:, -1]
    tolerance = SAME_MEMBER * max(1.0, float(np.abs(values).max(initial=0.0)))
    return np.array([values[rows[0]] for rows in classes(values[:, None], tolerance)], np.complex128)


def _on_line(terms: Terms, n: int, line: Sequence[Sequence[GaussianRational]]) -> Terms:
    """An equation with p(s) = a + b·s put in: a polynomial in (x, s)."""
    total: Terms = {}
    for key, value in terms.items():
        part = {0: value}
        for (a, b), power in zip(line, key[n:], strict=True):
            for _ in range(power):
                grown: dict[int, GaussianRational] = {}
                for k, c in part.items():
                    for step, factor in ((0, a), (1, b)):
                        new = c * factor
                        grown[k + step] = grown[k + step] + new if k + step in grown else new
                part = grown
        for k, c in part.items():
            place = (*key[:n], k)
            total[place] = total[place] + c if place in total else c
    return {key: c for key, c in total.items() if c}


# -- exactly ---------------------------------------------------------------------------------------------------


def _exact_factors(family: PolynomialFamily, points: NDArray[np.complex128]) -> list[dict[Exponents, int]]:
    """The irreducible factors that vanish at some of the points; none where elimination is not tried."""
    system, n = family.system, family.n
    small = system.bezout_number <= (MOST_DEGREE, MOST_SOLUTIONS)[n - 1] if n <= 2 else False
    if not system.is_real or not small or not len(points):
        return []
    whole = _eliminated(system)
    if whole is None or not whole:
        return []
    found = []
    for factor, _ in whole.factor()[1]:
        terms = {tuple(int(e) for e in key[n:]): int(c) for key, c in factor.to_dict().items()}
        if any(_value(terms, point)[1] < VANISHES for point in points):
            found.append(_signed(terms))
    return found


def _eliminated(system: PolynomialSystem) -> Any:
    """A polynomial in the parameters that the discriminant divides."""
    from flint import Ordering, fmpz_mpoly_ctx

    names = (*system.variables, *system.parameters)
    context = fmpz_mpoly_ctx.get([f"s{k}" for k in range(len(names))], Ordering.lex)
    rows = []
    for terms in system.equations:
        scale = lcm(*(value.real.denominator for value in terms.values()))
        rows.append(context.from_dict({key: int(value.real * scale) for key, value in terms.items()}))
    one = rows[0] if system.n == 1 else rows[0].resultant(rows[1], "s1")
    return one.discriminant("s0") if one.degrees()[0] > 0 else None


def _signed(terms: dict[Exponents, int]) -> dict[Exponents, int]:
    first = max(terms, key=lambda key: (sum(key), key))
    return {key: -c for key, c in terms.items()} if terms[first] < 0 else terms


def _value(terms: Mapping[Exponents, int], point: NDArray[Any]) -> tuple[complex, float]:
    """The value, and what share of the sizes of the terms it is."""
    parts = [c * complex(np.prod(point ** np.array(key))) for key, c in terms.items()]
    return sum(parts), abs(sum(parts)) / max(sum(map(abs, parts)), 1.0)


def _text(terms: Mapping[Exponents, int], names: Sequence[str]) -> str:
    shown = ""
    for key in sorted(terms, key=lambda key: (sum(key), key), reverse=True):
        powers = [f"{x}^{e}" if e > 1 else x for x, e in zip(names, key, strict=True) if e]
        size = abs(terms[key])
        body = "*".join([*([str(size)] if size != 1 or not powers else []), *powers])
        sign = "-" if terms[key] < 0 else "+"
        shown += (f" {sign} " if shown else "-" if sign == "-" else "") + body
    return shown
