"""What singular ends of paths among limits are: families, the orbits of symmetries, or degenerate points.

A singular end is moved to a real critical limit nearby by Newton's method of least squares; zeros of its Hessian that
the symmetries of metric and target explain make it a family, others a degenerate point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shallows.mathematics.newton import gauss_newton
from shallows.mathematics.same_points import is_among
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.mathematics.tensors.symmetry import Symmetry, symmetry_algebra
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.parameterization import Parameterization
from shallows.questions.charts.closure.real import Complex, Vectors, half_hessian, limit_point, real_form
from shallows.questions.charts.points.stratum import RealFamily, RealPoint
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON

#: Steps of Newton's method to a real critical limit: it is linear at a singular one, with a rate of one half.
STEPS = 60
#: A real limit is critical when its gradient is this small against the gradient at zero, and its flat directions are
#: those with curvatures below FLAT: a double root is known to √ε, and its Hessian then.
CRITICAL, FLAT = 1e-9, 1e-6
#: Singular ends farther than this from the real limit they are moved to, relatively, are not real.
NEAR = 1e-2
#: Two limits are one, or on one orbit, when they are so close, relatively.
SAME = 1e-4
#: Tensors of a family that are shown.
SAMPLES = 5


@dataclass
class ExaminedLimits:
    """Families of limits and degenerate limits, each once."""

    families: list[RealFamily] = field(default_factory=list)
    points: list[RealPoint] = field(default_factory=list)


def examine_limits(problem: Problem, blocks: tuple[int, ...], ends: Sequence[Vectors]) -> ExaminedLimits:
    """The real families and degenerate points that singular ends belong to."""
    result = ExaminedLimits()
    if not ends:
        return result
    symmetry = symmetry_algebra(problem.gram(), problem.target_tensor().entries, problem.n, problem.degree)
    exact = ExactLoss.of(problem)
    for end in ends:
        map_, parameters = real_form(problem, blocks, end)
        x = _critical(problem, map_, parameters, symmetry)
        if x is None:
            continue
        point = limit_point(problem, TermSystem(map_, exact), x, None, FLAT)
        _sort_in(problem, point, symmetry, result)
    return result


def _critical(problem: Problem, map_: Parameterization, end: Complex, symmetry: Symmetry) -> Array | None:
    """A real critical point near an end; anywhere near its real part, when symmetries make it one of a family."""
    x = np.real(end).astype(np.float64)
    scale = float(np.max(np.abs(problem.gram() @ problem.target_tensor().entries)))

    def system(at: Array) -> tuple[Array, Array]:
        e = problem.gram() @ (np.real(map_.tensors(at[None])[0]) - problem.target_tensor().entries)
        return np.real(map_.slopes(at)) @ e, half_hessian(problem, map_, at)

    value = np.full(1, np.inf)
    for here in gauss_newton(system, x, STEPS, flat=float(np.sqrt(EPSILON))):
        x, value = here.next, here.value
        if np.max(np.abs(here.step)) <= EPSILON * np.max(np.abs(x)):
            break
    size = max(float(np.max(np.abs(x))), 1.0) ** (map_.degree - 1)
    far = np.max(np.abs(x - end)) > NEAR * np.max(np.abs(end))
    if not np.max(np.abs(value)) <= CRITICAL * scale * size or (far and not symmetry.dimension):
        return None
    return np.asarray(x)


def _sort_in(problem: Problem, point: RealPoint, symmetry: Symmetry, result: ExaminedLimits) -> None:
    entries = point.entries(problem.n, problem.degree)
    if not point.signature[1]:
        return  # a regular point is found without this
    orbit = symmetry.orbit_dimension(entries)
    if not orbit:
        known = [other.entries(problem.n, problem.degree) for other in result.points]
        if not is_among(entries, known, SAME * float(np.max(np.abs(entries)))):
            result.points.append(point)
        return
    for family in result.families:
        if symmetry.same_orbit(family.samples[0].entries, entries, SAME):
            return
    rng = np.random.default_rng(0)
    turns = [np.eye(problem.n)]
    turns += [symmetry.turn(rng.standard_normal(symmetry.dimension)) for _ in range(SAMPLES - 1)]
    samples = tuple(
        SymmetricTensor(_turned(point, M).entries(problem.n, problem.degree), problem.n, problem.degree)
        for M in turns
    )
    text = (
        f"the orbit of {'a symmetry' if orbit == 1 else 'the symmetries'} that the data and the target share"
    )
    result.families.append(RealFamily(point, orbit, text, samples))


def _turned(point: RealPoint, M: Array) -> RealPoint:
    vectors = point.vectors @ M.T if len(point.vectors) else point.vectors
    merged, triples = point.merged @ M.T, point.triples @ M.T
    return RealPoint(vectors, point.signs, point.signature, None, merged, triples, point.turns)
