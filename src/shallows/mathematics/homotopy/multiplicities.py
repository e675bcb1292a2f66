"""`multiplicity`: what a multiple solution is, by local algebra, beside the number of paths that end there.

The functionals Σ c_α ∂^α at a point p that vanish on the ideal are the kernel of Macaulay's matrices (`fat_points`).
Their number, up to the order at which no more come, is the multiplicity of p (F. Macaulay, 1916; B. Dayton, Z. Zeng,
"Computing the multiplicity structure in solving polynomial systems", ISSAC 2005). Paths know nothing of this: m of them
end at an isolated solution of multiplicity m. Where p is rational everything is done in exact arithmetic, and is a
proof: that p solves the system, that it is multiple, and how often. At other points of square rational systems that are
not too large the algebra of functions on all solutions proves the same (`quotient_algebra`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.homotopy.coefficients import ONE, GaussianRational
from shallows.mathematics.homotopy.fat_points import local_multiplicity, monomials
from shallows.mathematics.homotopy.quotient_algebra import ExactSolution, exact_solutions
from shallows.mathematics.homotopy.solutions import Solution
from shallows.mathematics.homotopy.systems import Exponents, PolynomialSystem, Terms
from shallows.support.arguments import typed
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem

#: A coordinate may be the rational number next to it, of a denominator up to this, when it is this close: ends of
#: multiple solutions are known to 10⁻⁶ or better. Exact equations decide.
LARGEST_DENOMINATOR, CLOSE = 1000, 1e-4
#: How many times further away all other solutions must be.
APART = 10.0
#: The largest multiplicity that is looked for, and the most columns of an exact matrix: seconds of work.
MOST, MOST_COLUMNS = 200, 300


@dataclass(frozen=True)
class Multiplicity:
    """The multiplicity of a solution, and how it is known.

    multiplicity: by local algebra; None where that is undecided (`reason` says why). proved: in exact arithmetic, at
    the rational point `exact_point`, or at the `exact` solution of this `point` and `degree` over Q; otherwise the
    functionals vanish to hundreds of bits. paths: how many paths ended there, when a `Solution` was given. hilbert: new
    functionals of order 0, 1, 2, …, at a rational point.

    >>> double = sh.homotopy.solve(["x^2 + y^2 - 2", "x*y - 1"]).singular[0]
    >>> sh.homotopy.multiplicity(["x^2 + y^2 - 2", "x*y - 1"], double)
    Multiplicity(2, proved at the rational point (-1, -1), by 2 paths too)
    >>> sh.homotopy.multiplicity(["x^2 - 2", "(y - x)^2"], [1.414213, 1.414213])
    Multiplicity(2, proved at a point of degree 2 over Q)
    """

    multiplicity: int | None
    proved: bool
    exact_point: tuple[str, ...] = ()
    paths: int | None = None
    hilbert: tuple[int, ...] = ()
    reason: str = ""
    exact: ExactSolution | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether paths and local algebra say the same; None when one of them says nothing."""
        return None if self.paths is None or self.multiplicity is None else self.paths == self.multiplicity

    def __repr__(self) -> str:
        if self.multiplicity is None:
            return f"Multiplicity(undecided: {self.reason})"
        where = "to hundreds of bits"
        if self.exact is not None:
            where = f"proved at a point of degree {self.exact.degree} over Q"
        elif self.proved:
            where = f"proved at the rational point ({', '.join(self.exact_point)})"
        paths = (
            ""
            if self.paths is None
            else f", by {self.paths} paths {'too' if self.agrees else '(NOT the same)'}"
        )
        return f"Multiplicity({self.multiplicity}, {where}{paths})"


@typed
def multiplicity(
    polynomials: Any,
    point: ArrayLike | Solution,
    *,
    variables: Sequence[str] | None = None,
) -> Multiplicity:
    """The multiplicity of an isolated solution, next to which `point` is, by local algebra.

    >>> sh.homotopy.multiplicity(["x^3 - y*z", "y^3 - x*z", "z^3 - x*y"], [0, 0, 0]).hilbert
    (1, 3, 3, 3, 1)
    >>> sh.homotopy.multiplicity(["x*y", "x*z", "y*z"], [0, 0, 0])                   # three lines meet there
    Multiplicity(undecided: the functionals do not end before order 11: not isolated, or of a high multiplicity)
    """
    system = PolynomialSystem.read(polynomials, variables, square=False)
    paths = point.multiplicity if isinstance(point, Solution) else None
    place = np.asarray(point.point if isinstance(point, Solution) else point, np.complex128)
    if place.shape != (system.n,) or not np.isfinite(place).all():
        raise InvalidProblem(f"point has shape {place.shape}; expected {system.n} finite coordinates")
    if len(system.equations) < system.n:
        raise InvalidProblem(
            f"{counted(len(system.equations), 'equation')} in {counted(system.n, 'variable')} have no "
            "isolated solutions. Fix: `decompose`"
        )
    exact = [_rational(complex(z)) for z in place]
    if all(value is not None for value in exact):
        rational = [value for value in exact if value is not None]
        if not any(_value(terms, rational) for terms in system.equations):
            many, growth, reason = _exact(system, rational)
            shown = tuple(str(value) for value in rational)
            return Multiplicity(many, many is not None, shown, paths, growth, reason)
    known = _exact_solution(system, place)
    if known is not None:
        return Multiplicity(known.multiplicity, True, (), paths, exact=known)
    found = local_multiplicity(system, place, MOST)
    reason = (
        ""
        if found
        else "no solution was found there to hundreds of digits, or Macaulay's matrix is too large"
    )
    return Multiplicity(found, False, (), paths, (), reason)


def _exact_solution(system: PolynomialSystem, place: np.ndarray) -> ExactSolution | None:
    """The exact solution that the point must be: next to it, and far from all others."""
    every = exact_solutions(system) or ()
    gaps = [float(np.abs(one.point - place).max()) for one in every] + [np.inf] * 2
    first, second = np.partition(gaps, 1)[:2]
    near = first < CLOSE * max(1.0, float(np.abs(place).max())) and first < second / APART
    return every[int(np.argmin(gaps))] if near else None


def _rational(value: complex) -> GaussianRational | None:
    parts = []
    for part in (value.real, value.imag):
        near = Fraction(part).limit_denominator(LARGEST_DENOMINATOR)
        if abs(float(near) - part) > CLOSE / LARGEST_DENOMINATOR * max(1.0, abs(part)):
            return None
        parts.append(near)
    return GaussianRational(parts[0], parts[1])


def _value(terms: Terms, point: Sequence[GaussianRational]) -> GaussianRational:
    return _shifted(terms, point).get((0,) * len(point), GaussianRational(Fraction(0)))


def _shifted(terms: Terms, point: Sequence[GaussianRational]) -> Terms:
    """The polynomial in y = x − p, exactly."""
    total: Terms = {}
    for key, value in terms.items():
        part: dict[Exponents, GaussianRational] = {(): value}
        for e, p in zip(key, point, strict=True):
            powers = [ONE]
            for _ in range(e):
                powers.append(powers[-1] * p)
            factors = [powers[e - k] * GaussianRational(Fraction(comb(e, k))) for k in range(e + 1)]
            part = {
                (*head, k): c * factors[k] for head, c in part.items() for k in range(e + 1) if factors[k]
            }
        for exponents, c in part.items():
            total[exponents] = total[exponents] + c if exponents in total else c
    return {key: c for key, c in total.items() if c}


def _exact(
    system: PolynomialSystem, point: Sequence[GaussianRational]
) -> tuple[int | None, tuple[int, ...], str]:
    """The number of functionals, order by order, over Q or Q(i)."""
    shifted = [_shifted(terms, point) for terms in system.equations]
    n, growth, order = system.n, [1], 0
    while sum(growth) <= MOST:
        order += 1
        if comb(n + order, order) > MOST_COLUMNS:
            break
        fresh = comb(n + order, order) - _rank(shifted, n, order) - sum(growth)
        if not fresh:
            return sum(growth), tuple(growth), ""
        growth.append(fresh)
    return (
        None,
        (),
        f"the functionals do not end before order {order}: not isolated, or of a high multiplicity",
    )


def _rank(shifted: Sequence[Terms], n: int, order: int) -> int:
    """The rank of Macaulay's matrix over Q(i): half of that of its real form."""
    from flint import fmpq, fmpq_mat

    columns = {alpha: k for k, alpha in enumerate(monomials(n, order))}
    width = len(columns)
    real = not any(c.imag for terms in shifted for c in terms.values())
    rows: list[list[Any]] = []
    for beta in monomials(n, order - 1):
        for terms in shifted:
            row = [fmpq(0)] * (width if real else 2 * width)
            turned = [fmpq(0)] * (2 * width)
            for key, c in terms.items():
                place = columns.get(tuple(a + b for a, b in zip(beta, key, strict=True)))
                if place is None:
                    continue
                x, y = (fmpq(part.numerator, part.denominator) for part in (c.real, c.imag))
                row[place] = x
                if not real:
                    row[width + place], turned[place], turned[width + place] = y, -y, x
            rows += [row] if real else [row, turned]
    rank = int(fmpq_mat(len(rows), len(rows[0]), [entry for row in rows for entry in row]).rank())
    return rank if real else rank // 2
