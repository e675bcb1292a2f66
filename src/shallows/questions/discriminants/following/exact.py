"""Exact following for two inputs: the discriminant along a path is a polynomial in τ, and its roots are isolated."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import numpy as np
from flint import Ordering, fmpz_mpoly_ctx, fmpz_poly

from shallows.mathematics.newton import zeros
from shallows.model.problem import Problem
from shallows.questions.discriminants.counting import LandscapeCount, count_at
from shallows.questions.discriminants.curves import RankOneCurve, integral
from shallows.questions.discriminants.envelope import gram_array
from shallows.questions.discriminants.following.result import Event
from shallows.questions.discriminants.known import rank_one
from shallows.questions.discriminants.metrics import metric_values, number
from shallows.questions.discriminants.polynomial import Discriminant
from shallows.questions.discriminants.setting import problem_values
from shallows.questions.discriminants.values import rational
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

#: Bits of the balls around the roots of the path's polynomial.
PRECISION = 200
#: Newton steps towards the double zero, each at most this long: a few of the grid's spacings.
_NEWTON_STEPS, _LONGEST_STEP = 50, 0.01
#: The step of central differences, near ε^(1/3): truncation (its square) and rounding (ε over it) are about equal.
_DIFFERENCE = 1e-5


def exact_events(problem0: Problem, problem1: Problem) -> tuple[tuple[Event, ...], Discriminant]:
    """Every event with 0 < τ < 1, proved, and the discriminant along the path.

    An event at an end point itself is refused: the landscape there is degenerate.
    """
    path = path_discriminant(problem0, problem1)
    curve = path.curve
    assert isinstance(curve, RankOneCurve)
    walls = {"collision": _wall(curve.coefficients(path.gram, path.target), path.polynomial)}
    walls["vertex"] = _wall(curve.pairing(path.gram, path.target), None)
    roots: list[tuple[Any, str]] = []
    for kind, polynomial in walls.items():
        roots += [(value, kind) for value in _roots_inside(polynomial, kind)]
    roots.sort(key=lambda item: float(item[0].mid()))
    separators = [Fraction(0), *_between([value for value, _ in roots]), Fraction(1)]
    counts = [_count(path, tau) for tau in separators]
    signs = [_sign(walls["collision"], tau) for tau in separators]
    events = []
    for k, (value, kind) in enumerate(roots):
        changed = counts[k].real_count != counts[k + 1].real_count
        if kind == "collision" and not changed:
            kind = "complex collision"
        position = float(value.mid())
        tensor = _meeting(path, position) if kind == "collision" else np.zeros(len(path.target))
        events.append(
            Event(
                kind,
                position,
                float(value.rad()) + np.spacing(position),
                (signs[k], signs[k + 1]),
                (counts[k].real_count, counts[k + 1].real_count),
                (counts[k].local_minima, counts[k + 1].local_minima),
                None if kind == "complex collision" else tensor,
            )
        )
    return tuple(events), path


def path_discriminant(problem0: Problem, problem1: Problem) -> Discriminant:
    """P(τ) on the segment between two problems, an exact polynomial in `tau`.

    Teachers are the binary numbers they are; a data object's moments are the simple fractions they stand for.
    """
    curve, first = problem_values(problem0)
    _, second = problem_values(problem1)
    ends = (
        {**first, **metric_values(curve, problem0.data)},
        {**second, **metric_values(curve, problem1.data)},
    )
    values: dict[str, object] = {}
    for name in ends[0]:
        start, stop = (rational(name, end[name]) for end in ends)
        values[name] = start if start == stop else f"({start}) + ({stop - start})*tau"
    result = rank_one(curve.tensor_degree).specialize(**values)  # type: ignore[arg-type]
    if not result.variables:
        raise InvalidProblem("The two problems have the same teacher and the same metric: there is no path.")
    return result.reduced() if all(e.is_constant() for row in result.gram for e in row) else result


def _wall(form: list[Any], known: Any) -> fmpz_poly:
    """The discriminant of a form along the path, of its squarefree part when that of the form vanishes identically."""
    polynomial = known if known else _squarefree_discriminant(form)
    return fmpz_poly(_dense(polynomial))


def _squarefree_discriminant(form: list[Any]) -> Any:
    """Disc of the product S of the distinct irreducible factors of F(1, z; τ) that contain z.

    When F has a fixed zero at infinity, S meets it where its leading coefficient vanishes: a factor of Disc too.
    """
    context = fmpz_mpoly_ctx.get(["z", "tau"], Ordering.lex)
    whole = context.constant(0)
    for k, coefficient in enumerate(integral(form, ["tau"])):
        terms = {(k, *(int(e) for e in powers)): value for powers, value in coefficient.to_dict().items()}
        whole += context.from_dict(terms)
    product = context.constant(1)
    for factor, _ in whole.factor_squarefree()[1]:
        if factor.degrees()[0] > 0:
            product *= factor
    degree = int(product.degrees()[0])
    result = product.discriminant("z") if degree > 1 else context.constant(1)
    if int(whole.degrees()[0]) < len(form) - 1:
        top: Any = {(0, e[1]): value for e, value in product.to_dict().items() if int(e[0]) == degree}
        result *= context.from_dict(top) ** 2
    return result


def _dense(polynomial: Any) -> list[int]:
    powers = {int(e[-1]): int(value) for e, value in polynomial.to_dict().items()}
    return [powers.get(k, 0) for k in range(max(powers, default=0) + 1)]


def _roots_inside(polynomial: fmpz_poly, kind: str) -> list[Any]:
    """The distinct real roots in (0, 1), as disjoint balls."""
    for end in (0, 1):
        if polynomial(end) == 0:
            raise InvalidProblem(
                f"The path's end τ = {end} lies on the {kind} wall itself. Fix: move that teacher a little."
            )
    found = []
    with flint.ctx.workprec(PRECISION):
        for factor, _ in polynomial.factor_squarefree()[1]:
            roots: Any = factor.complex_roots()
            found += [value.real for value, _ in roots if value.imag == 0]
    return [value for value in found if value > 0 and value < 1]


def _between(roots: list[Any]) -> list[Fraction]:
    """A rational between each pair of neighbouring roots."""
    result = []
    for left, right in pairwise(roots):
        gap = _exact(right.lower()) - _exact(left.upper())
        if gap <= 0:
            raise InvalidProblem(
                f"Two events at {float(left.mid()):.17g} are too close to separate, or happen at once: the path goes "
                "through a corner of the walls. Fix: move one of the teachers a little."
            )
        result.append(_exact(left.upper()) + gap / 2)
    return result


def _exact(ball: Any) -> Fraction:
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _count(path: Discriminant, tau: Fraction) -> LandscapeCount:
    gram, target = path.numbers(tau=tau)
    return count_at(path.curve, gram, target)


def _sign(polynomial: fmpz_poly, tau: Fraction) -> int:
    value: Any = polynomial(flint.fmpq(tau.numerator, tau.denominator))
    return int(value > 0) - int(value < 0)


def _meeting(path: Discriminant, tau: float) -> Array:
    """The rank-one tensor at which the two closest critical directions meet."""
    member = path.specialize(tau=tau)
    gram = gram_array(member)
    target = np.array([float(number(entry)) for entry in member.target])
    angles = np.linspace(0, np.pi, 4001)[:-1]
    curve = path.curve
    teacher = np.concatenate([[1.0], target])
    value, slope = (row @ teacher for row in curve.lines(gram, angles))
    size = float(np.max(np.abs(value)))
    best = int(np.argmin(np.abs(value) / size + np.abs(slope) / float(np.max(np.abs(slope)))))

    def slopes(angle: Array) -> tuple[Array, Array]:
        """F′ and F″ by differences: the double zero is an extremum of F. Where three points have met F″ is 0."""
        around = curve.lines(gram, angle + _DIFFERENCE * np.array([-1.0, 0.0, 1.0]))[1] @ teacher
        return around[1:2], (around[2:] - around[:1]) / (2 * _DIFFERENCE)

    (start,) = zeros(slopes, angles[best : best + 1], _NEWTON_STEPS, _LONGEST_STEP)
    degree = len(target) - 1
    powers = np.cos(start) ** np.arange(degree, -1, -1) * np.sin(start) ** np.arange(degree + 1)
    return np.asarray(powers * float(powers @ gram @ target / (powers @ gram @ powers)))
