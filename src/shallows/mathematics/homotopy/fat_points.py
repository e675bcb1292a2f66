"""Points at which the Jacobian of a polynomial system has corank two or more: where they are, and their multiplicity.

*Where.* A multiple root is made regular by deflation: its Jacobian J has a kernel of κ dimensions, and (p, Λ) solves

    F(x) = 0,   J(x) Λ = 0,   C Λ = 1      (Λ: n × κ, C: κ × n, any)

with a root of lower multiplicity; after a few rounds Gauss and Newton's method doubles the digits with every step, and
that all of the equations, more than there are unknowns, hold to hundreds of digits shows that the root is multiple, and
no cluster (A. Leykin, J. Verschelde, A. Zhao, "Newton's method with deflation for isolated singularities of polynomial
systems", Theoret. Comput. Sci. 359, 2006).

*Multiplicity.* The functionals Σ c_α ∂^α at p of order ≤ k that vanish on the ideal are the kernel of Macaulay's matrix
of the shifted equations. Their number grows with k up to the multiplicity of an isolated point, otherwise forever;
m paths end at an isolated point of multiplicity m, so m + 1 functionals show that it is none (D. Bates, J. Hauenstein,
C. Peterson, A. Sommese, "A numerical local dimension test", SIAM J. Numer. Anal. 47, 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from flint import acb, ctx
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import PolynomialBalls, exact_ball, precision
from shallows.mathematics.homotopy.close_roots import (
    CURVE,
    OPEN,
    CloseRoot,
    Neighbourhood,
    log2_size,
    separation_bits,
)
from shallows.mathematics.homotopy.coefficients import GaussianRational
from shallows.mathematics.homotopy.sets.numeric import partial
from shallows.mathematics.homotopy.systems import Exponents, PolynomialSystem, Terms
from shallows.mathematics.newton import refined
from shallows.mathematics.numerical_rank import rank_of

#: The work has twice the bits of `separation_bits` and some more; equations and pivots below 2^−(this share of them)
#: are zero: a pair at that separation leaves the square of it.
_SPARE_BITS, _ZERO_SHARE = 160, 0.7
#: Singular values below this share are those of a kernel: ends are known to 10⁻⁵.
_KERNEL = 1e-4
#: Rounds of deflation (a root of multiplicity 2^k takes k of them, or more where all derivatives vanish), the most
#: unknowns of the last, and Newton steps there.
_ROUNDS, _MOST_UNKNOWNS, _NEWTON = 8, 60, 14
#: The deflated root is the end itself: Newton moves it by no more, relatively to its size or 1.
_SAME_POINT = 1e-3
#: The largest Macaulay matrix, by its columns: seconds of work.
_MOST_COLUMNS = 130


def fat_point(system: PolynomialSystem, point: NDArray[np.complex128], count: int) -> Neighbourhood:
    """A point where `count` paths end: one root of that multiplicity, a point of a larger set, or not decided."""
    with precision(2 * separation_bits(system) + _SPARE_BITS):
        place = _deflated(system, point)
        if place is None:
            return OPEN
        multiplicity = _multiplicity(system, place, count)
        if multiplicity is None or multiplicity < count:
            return OPEN
        if multiplicity > count:
            return CURVE
        real: bool | None = None
        if max(log2_size(z.imag) for z in place) > _zero():
            real = False
        elif system.is_real:
            real = True
        rounded = np.array([complex(z) for z in place])
        return Neighbourhood((CloseRoot(rounded.real + 0j if real else rounded, count, real),), True)


def local_multiplicity(system: PolynomialSystem, point: NDArray[np.complex128], most: int) -> int | None:
    """The multiplicity of an isolated point of any system with at least as many equations as unknowns, up to `most`;
    None when it is larger, the point is not found to hundreds of digits, or the work too much."""
    with precision(2 * separation_bits(system) + _SPARE_BITS):
        place = _deflated(system, point)
        if place is None:
            return None
        multiplicity = _multiplicity(system, place, most)
        return multiplicity if multiplicity is not None and multiplicity <= most else None


# -- where ---------------------------------------------------------------------------------------------------


def _deflated(system: PolynomialSystem, point: NDArray[np.complex128]) -> list[Any] | None:
    """The multiple root next to a point, to the present precision; None when there is none."""
    current, x = system, np.asarray(point, np.complex128)
    rng = np.random.default_rng(0)
    for _ in range(_ROUNDS):
        _, values, right = np.linalg.svd(_slope(current, x))
        corank = current.n - rank_of(values, _KERNEL, least=_KERNEL)
        if not corank:
            return _converged(current, x, len(point))
        if corank == current.n:
            current = _with_partials(current)
            continue
        if current.n * (1 + corank) > _MOST_UNKNOWNS:
            return None
        frame = rng.integers(-4, 5, (corank, current.n))
        kernel = right[current.n - corank :].conj().T
        scale = frame @ kernel
        if np.linalg.cond(scale) > 1 / _KERNEL:
            return None
        x = np.concatenate([x, (kernel @ np.linalg.inv(scale)).T.ravel()])
        current = _deflation(current, frame)
    return None


def _slope(system: PolynomialSystem, x: NDArray[np.complex128]) -> NDArray[np.complex128]:
    _, slope = PolynomialBalls(system, ctx.prec)([acb(complex(z)) for z in x])
    entries = [complex(entry) for entry in slope.entries()]
    return np.array(entries).reshape(len(system.equations), system.n)


def _with_partials(system: PolynomialSystem) -> PolynomialSystem:
    """F and all of its partial derivatives: the deflation where J vanishes, and Λ is any invertible matrix."""
    partials = [partial(terms, j) for terms in system.equations for j in range(system.n)]
    return PolynomialSystem(system.variables, (*system.equations, *(terms for terms in partials if terms)))


def _deflation(system: PolynomialSystem, frame: NDArray[np.int64]) -> PolynomialSystem:
    """F, JΛ and CΛ − 1 as polynomials in x and the columns of Λ."""
    n, corank = system.n, len(frame)
    size = n * (1 + corank)

    def place(column: int, j: int) -> int:
        return n * (1 + column) + j

    def unit(k: int) -> Exponents:
        return tuple(int(i == k) for i in range(size))

    more = (0,) * (n * corank)
    equations: list[Terms] = [
        {(*key, *more): value for key, value in terms.items()} for terms in system.equations
    ]
    for column in range(corank):
        for terms in system.equations:
            row: Terms = {}
            for j in range(n):
                for key, value in partial(terms, j).items():
                    along = unit(place(column, j))[n:]
                    row[*key, *along] = value
            equations.append(row)
        for i, line in enumerate(frame):
            row = {
                unit(place(column, j)): GaussianRational(Fraction(int(c))) for j, c in enumerate(line) if c
            }
            if i == column:
                row[(0,) * size] = GaussianRational(Fraction(-1))
            equations.append(row)
    return PolynomialSystem(tuple(f"x{k}" for k in range(size)), tuple(equations))


def _converged(system: PolynomialSystem, x: NDArray[np.complex128], n: int) -> list[Any] | None:
    """Gauss and Newton's method; None unless all equations hold at the end, which is close to x."""
    evaluator = PolynomialBalls(system, ctx.prec)
    z = [acb(complex(entry)) for entry in x]
    for better, _ in refined(evaluator, z, _NEWTON):
        z = better
    value, _ = evaluator(z)
    moved = max(abs(complex(a) - b) for a, b in zip(z[:n], x[:n], strict=True))
    near = moved < _SAME_POINT * max(1.0, float(np.abs(x[:n]).max()))
    return z[:n] if near and max(map(log2_size, value.entries())) < _zero() else None


# -- multiplicity --------------------------------------------------------------------------------------------


def _multiplicity(system: PolynomialSystem, place: Sequence[Any], most: int) -> int | None:
    """How many functionals at the point vanish on the ideal, as far as `most` + 1; None where it is too much work."""
    shifted = [_shifted(terms, place) for terms in system.equations]
    before = 1
    for order in range(1, most + 1):
        if comb(system.n + order, order) > _MOST_COLUMNS:
            return None
        now = _functionals(shifted, system.n, order)
        if now == before or now > most:
            return now
        before = now
    return before


def _shifted(terms: Terms, place: Sequence[Any]) -> dict[Exponents, Any]:
    """The polynomial in y = x − p."""
    total: dict[Exponents, Any] = {}
    for key, value in terms.items():
        part: dict[Exponents, Any] = {(): acb(exact_ball(value))}
        for e, p in zip(key, place, strict=True):
            powers = [p ** (e - k) * comb(e, k) for k in range(e + 1)]
            part = {(*head, k): c * powers[k] for head, c in part.items() for k in range(e + 1)}
        for exponents, c in part.items():
            total[exponents] = total[exponents] + c if exponents in total else c
    return total


def monomials(n: int, order: int) -> list[Exponents]:
    """All of degree ≤ order."""
    return [
        tuple(chosen.count(j) for j in range(n))
        for degree in range(order + 1)
        for chosen in combinations_with_replacement(range(n), degree)
    ]


def _functionals(shifted: Sequence[dict[Exponents, Any]], n: int, order: int) -> int:
    """The dimension of the kernel of Macaulay's matrix of this order."""
    columns = {alpha: k for k, alpha in enumerate(monomials(n, order))}
    rows = []
    for beta in monomials(n, order - 1):
        for terms in shifted:
            row = [acb(0)] * len(columns)
            for key, value in terms.items():
                place = columns.get(tuple(a + b for a, b in zip(beta, key, strict=True)))
                if place is not None:
                    row[place] = value.mid()
            rows.append(row)
    return len(columns) - _rank(rows)


def _zero() -> float:
    """log₂ of what counts as zero at the present precision."""
    return -_ZERO_SHARE * float(ctx.prec)


def _rank(rows: list[list[Any]]) -> int:
    """By elimination with full pivots, at the present precision."""
    rank = 0
    left = [row for row in rows if max(map(log2_size, row)) > _zero()]
    while left:
        sizes = [max((log2_size(entry), k) for k, entry in enumerate(row)) for row in left]
        best = max(range(len(left)), key=lambda i: sizes[i])
        if sizes[best][0] < _zero():
            break
        pivot, column = left.pop(best), sizes[best][1]
        rank += 1
        kept = []
        for row in left:
            factor = row[column] / pivot[column]
            if log2_size(factor) > _zero():
                row = [(a - factor * b).mid() for a, b in zip(row, pivot, strict=True)]
                row[column] = acb(0)
            kept.append(row)
        left = kept
    return rank
