"""Systems with more equations than variables, or with fewer, by way of a square one.

More: n random combinations of the m equations have all their isolated solutions and others; each end is then held
against every equation. Fewer: every component of the solution set has dimension n − m at least, and n − m random
hyperplanes meet it in points (A. Sommese, C. Wampler, "The Numerical Solution of Systems of Polynomials", 2005,
sections 13.5 and 13.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shallows.mathematics.homotopy.coefficients import ONE, ZERO, GaussianRational
from shallows.mathematics.homotopy.selection import selected
from shallows.mathematics.homotopy.solutions import Solution, Solutions, SolutionSet, Status
from shallows.mathematics.homotopy.systems import PolynomialSystem, Terms
from shallows.support.checks import counted
from shallows.support.tolerances import TINY

if TYPE_CHECKING:
    from shallows.mathematics.balls.krawczyk import CertifiedRoot

#: Random coefficients are multiples of this part of 1, exact and short.
GRID = 2**10
#: An equation does not hold at an end where its value is above this share of its terms: ends are known better.
HOLDS_NOT = 1e-4
#: An end that is proved is sharpened to so many digits; there the share is below this if the equation holds.
DIGITS, HOLDS = 30, 1e-20
#: The same for ends that are not proved, most of them singular and known to 10⁻⁷ or so.
HOLDS_ROUGHLY = 1e-6

Finish = Callable[[Solutions], Solutions]


def squared(system: PolynomialSystem, seed: int) -> tuple[PolynomialSystem, Finish]:
    """A square system, and what makes its solutions an answer for the given one."""
    extra = len(system.equations) - system.n
    rng = np.random.default_rng([seed, len(system.equations), system.n])
    if extra > 0:
        square = _combined(system, rng)
        return square, lambda found: _checked(found, system)
    if extra < 0:
        return _sliced(system, rng), lambda found: _by_dimension(found, -extra)
    return system, lambda found: found


def _random(system: PolynomialSystem, rng: np.random.Generator) -> GaussianRational:
    """A random number, real where the system is: real solutions are told from others then."""
    real, imaginary = (
        Fraction(int(k), GRID) for k in rng.integers(GRID // 2, 2 * GRID, 2) * rng.choice([-1, 1], 2)
    )
    return GaussianRational(real) if system.is_real else GaussianRational(real, imaginary)


def _combined(system: PolynomialSystem, rng: np.random.Generator) -> PolynomialSystem:
    """fᵢ + Σₖ λᵢₖ fₖ with i over the n equations of the highest degrees, k over the others: no degree goes up."""
    order = sorted(range(len(system.equations)), key=lambda i: -system.degrees[i])
    first, rest = order[: system.n], order[system.n :]
    rows = []
    for i in first:
        row: Terms = dict(system.equations[i])
        for k in rest:
            factor = _random(system, rng)
            for key, value in system.equations[k].items():
                row[key] = row.get(key, ZERO) + factor * value
        rows.append({key: value for key, value in row.items() if value})
    return PolynomialSystem(system.variables, tuple(rows))


def _sliced(system: PolynomialSystem, rng: np.random.Generator) -> PolynomialSystem:
    """The equations and random affine-linear ones, as many as are missing."""
    n = system.n
    keys = [tuple(int(j == k) for j in range(n)) for k in range(n)] + [(0,) * n]
    planes = tuple(
        {key: _random(system, rng) if any(key) else -ONE for key in keys}
        for _ in range(n - len(system.equations))
    )
    return PolynomialSystem(system.variables, system.equations + planes)


def _checked(found: Solutions, system: PolynomialSystem) -> Solutions:
    """The solutions at which all equations hold."""
    combinations = f"solutions of {system.n} random combinations of the {len(system.equations)} equations"
    rough = selected(
        found, lambda s: _share(system, s) < HOLDS_NOT, f"{combinations} at which not all of them hold"
    )
    sharp = _sharpened(rough, found.system)
    fine = selected(
        rough,
        lambda s: sharp[id(s)](system) if id(s) in sharp else _share(system, s) < HOLDS_ROUGHLY,
        f"{combinations} near which all of them nearly hold",
    )
    return replace(fine, given=system)


def _share(system: PolynomialSystem, solution: Solution) -> float:
    """The largest |f(x)| as a share of the terms of f at a point whose coordinates are all as large as x, or as 1.

    The terms at x itself are no measure: where coordinates vanish they are rounding.
    """
    worst, size = 0.0, max(float(np.abs(solution.point).max(initial=0.0)), 1.0)
    for terms in system.equations:
        value = sum(
            complex(c) * complex(np.prod(solution.point ** np.array(key))) for key, c in terms.items()
        )
        worst = max(worst, abs(value) / max(_largest(terms, size), TINY))
    return worst


def _largest(terms: Terms, size: float) -> float:
    """Σ |c| size^|a|."""
    return float(sum(abs(complex(c)) * size ** sum(key) for key, c in terms.items()))


def _sharpened(found: Solutions, square: PolynomialSystem) -> dict[int, Callable[[PolynomialSystem], bool]]:
    """For regular solutions that can be proved, by identity: whether a system holds at the sharpened point."""
    from shallows.mathematics.balls.certification import certify

    if not found.finite:
        return {}
    proof = certify(square, found.finite.points, digits=DIGITS)

    def holds(root: CertifiedRoot) -> Callable[[PolynomialSystem], bool]:
        return lambda system: _ball_share(system, root) < HOLDS

    return {
        id(solution): holds(root)
        for solution, root in zip(found.finite, proof.roots, strict=True)
        if root is not None
    }


def _ball_share(system: PolynomialSystem, root: CertifiedRoot) -> float:
    """The same as `_share` at the midpoint of a small box, in its own precision."""
    from flint import acb, fmpq

    from shallows.mathematics.balls.systems import precision

    worst, size = 0.0, max(float(np.abs(root.point).max(initial=0.0)), 1.0)
    with precision(root.bits):
        point = [acb(entry).mid() for entry in root.box]
        for terms in system.equations:
            total = acb(0)
            for key, value in terms.items():
                parts = (fmpq(part.numerator, part.denominator) for part in (value.real, value.imag))
                term = acb(*parts)
                for x, e in zip(point, key, strict=True):
                    term *= x**e
                total += term
            worst = max(worst, float(abs(total).mid()) / max(_largest(terms, size), TINY))
    return worst


def _by_dimension(found: Solutions, dimension: int) -> Solutions:
    """The points of a slice as points of a set of this dimension."""
    empty = SolutionSet((), found.finite.n)
    points = SolutionSet(
        found.finite.solutions + found.singular.solutions + found.continuum.solutions, found.finite.n
    )
    planes = f"{dimension} random hyperplane{'s' if dimension > 1 else ''}"
    notes = found.notes
    if points:
        notes += (
            f"{counted(found.finite.n - dimension, 'equation')} in {found.finite.n} variables: every "
            f"component has dimension {dimension} at least; the points are those on {planes}",
        )
        if found.finite and not (found.singular or found.continuum or found.failed):
            notes += (f"dimension {dimension}, degree {found.finite.count}: the slice is regular",)
        if found.continuum:
            notes += (f"some points lie on sets of a larger dimension than {dimension}",)
    else:
        notes += (f"{planes} meet no solution: there is none",)
    status = found.status
    if points and status is Status.COMPLETE:
        status = Status.POSITIVE_DIMENSIONAL
    return replace(
        found, finite=empty, singular=empty, continuum=points, status=status, notes=notes, dimension=dimension
    )
