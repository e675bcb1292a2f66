"""Numeric following: critical points at positions of a path, their continuation, and events between samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, root

from shallows.mathematics.tensors import coordinates
from shallows.model.problem import Problem
from shallows.questions.discriminants.following.result import Event
from shallows.questions.discriminants.rank_one_family import RankOneFamily, RankOnePoints
from shallows.support.checks import Array
from shallows.support.errors import IncompleteChart

#: Bisection stops at this width; collisions are then refined by Newton's method on the fold equations.
BRACKET = 1e-6
#: Far more halvings than a bracket needs (20 from a path's whole length).
LARGEST_DEPTH = 60
#: Where an interval is cut: in its middle, and beside it when that is an event itself.
_CUTS = (0.5, 0.4876, 0.27, 0.73)
#: What it costs to match a point with none, more than any distance between tensors.
_UNMATCHED = 1e12
#: MINPACK's relative step: as far as doubles go.
_FOLD_STEP = 1e-14
#: Newton's method on the fold equations has worked when they shrank by this factor: it takes them to rounding, many
#: orders below their size at a bracket's middle; an iteration that wandered off does not.
_FOLD_GAIN = 1e-3
#: A fold farther from the bracket than so many of its widths is another one.
NEAR = 10


@dataclass(frozen=True, eq=False)
class Segment:
    """The path of Gram matrices and teachers, and the family that solves each of its members."""

    family: RankOneFamily
    grams: tuple[Array, Array]
    targets: tuple[Array, Array]

    @classmethod
    def between(cls, problem0: Problem, problem1: Problem) -> Segment:
        """From the first problem to the second."""
        family = RankOneFamily.of(problem0.n, problem0.degree)
        targets = (problem0.target_tensor().entries, problem1.target_tensor().entries)
        return cls(family, (problem0.gram(), problem1.gram()), targets)

    def member(self, tau: float) -> tuple[Array, Array]:
        """G(τ) and t(τ)."""
        (g0, g1), (t0, t1) = self.grams, self.targets
        return (1 - tau) * g0 + tau * g1, (1 - tau) * t0 + tau * t1

    def at(self, tau: float) -> RankOnePoints:
        """All critical points at τ."""
        return self.family.at(*self.member(tau))


def tracks(points: Sequence[RankOnePoints]) -> tuple[NDArray[np.complex128], NDArray[np.bool_]]:
    """Tensors of shape (positions, points, N), each next to where it was before, and which are real.

    Where fewer points than usual were found (two have met, or some are at infinity), rows are NaN.
    """
    width = max(len(p.tensors) for p in points)
    size = points[0].tensors.shape[1]
    tensors = np.full((len(points), width, size), np.nan + 0j)
    real = np.zeros((len(points), width), dtype=bool)
    last: NDArray[np.complex128] | None = None
    for k, found in enumerate(points):
        order = np.arange(len(found.tensors))
        if last is not None:
            cost = np.linalg.norm(found.tensors[:, None, :] - last[None, :, :], axis=2)
            rows, order = linear_sum_assignment(np.nan_to_num(cost, nan=_UNMATCHED))
            tensors[k, order], real[k, order] = found.tensors[rows], found.real[rows]
        else:
            tensors[k, order], real[k, order] = found.tensors, found.real
        last = tensors[k] if last is None else np.where(np.isnan(tensors[k]), last, tensors[k])
    return tensors, real


def discriminant_sign(points: RankOnePoints) -> int:
    """(−1)^(number of complex conjugate pairs): the sign, up to a fixed one, of Π over pairs of squared differences."""
    pairs = (len(points.tensors) - points.real_count) // 2
    return -1 if pairs % 2 else 1


def sampled_events(segment: Segment, positions: Array, points: Sequence[RankOnePoints]) -> tuple[Event, ...]:
    """Events between neighbouring samples with different counts, bracketed by bisection."""
    events: list[Event] = []
    for k in range(len(positions) - 1):
        ends = (float(positions[k]), float(positions[k + 1]))
        _bisect(segment, ends, (points[k], points[k + 1]), events, 0)
    return tuple(events)


def _counts(points: RankOnePoints) -> tuple[int, int]:
    return points.real_count, points.local_minima


def _bisect(
    segment: Segment,
    ends: tuple[float, float],
    points: tuple[RankOnePoints, RankOnePoints],
    events: list[Event],
    depth: int,
) -> None:
    if _counts(points[0]) == _counts(points[1]):
        return
    if ends[1] - ends[0] <= BRACKET:
        events.append(_event(segment, ends, points))
        return
    if depth > LARGEST_DEPTH:
        raise IncompleteChart(f"No event could be bracketed in {ends}. Fix: try other samples")
    found = _between(segment, ends, min(len(p.tensors) for p in points))
    if found is None:
        events.append(_event(segment, ends, points))
        return
    middle, between = found
    _bisect(segment, (ends[0], middle), (points[0], between), events, depth + 1)
    _bisect(segment, (middle, ends[1]), (between, points[1]), events, depth + 1)


def _between(
    segment: Segment, ends: tuple[float, float], expected: int
) -> tuple[float, RankOnePoints] | None:
    """A position inside at which no point is missing; None where the event takes all of the interval.

    A point that is nearly zero is not told from the zero tensor, so that one is missing around a vertex.
    """
    for share in _CUTS:
        middle = ends[0] + share * (ends[1] - ends[0])
        points = segment.at(middle)
        if len(points.tensors) >= expected:
            return middle, points
    return None


def _event(segment: Segment, ends: tuple[float, float], points: tuple[RankOnePoints, RankOnePoints]) -> Event:
    first, second = points
    real = (first.real_count, second.real_count)
    minima = (first.local_minima, second.local_minima)
    signs = (discriminant_sign(first), discriminant_sign(second))
    middle, width = (ends[0] + ends[1]) / 2, ends[1] - ends[0]
    if real[0] == real[1]:
        return Event("vertex", middle, width / 2, signs, real, minima, np.zeros(segment.targets[0].shape))
    richer = first if real[0] > real[1] else second
    position, tensor = _fold(segment, middle, richer)
    if not abs(position - middle) <= NEAR * width:  # Newton went elsewhere: the bracket is what is known
        position = middle
    return Event("collision", position, width, signs, real, minima, tensor)


def _fold(segment: Segment, tau: float, points: RankOnePoints) -> tuple[float, Array]:
    """Solve g(u, τ) = 0, H(u, τ)ν = 0, ν·ν₀ = 1 from the closest pair of real critical points."""
    family = segment.family
    chosen = np.flatnonzero(points.real)
    gaps = [
        (float(np.linalg.norm(points.tensors[i] - points.tensors[j])), int(i), int(j))
        for a, i in enumerate(chosen)
        for j in chosen[a + 1 :]
    ]
    _, i, j = min(gaps)
    sign = float(points.signs[i])
    left, right = points.neurons[i], points.neurons[j]
    if left @ right < 0:
        right = -right
    u = (left + right) / 2
    gram, target = segment.member(tau)
    null = np.linalg.eigh(family.hessian(u, sign, gram, target))
    direction = null[1][:, int(np.argmin(np.abs(null[0])))]

    def equations(z: Array) -> Array:
        at, vector, where = z[: family.n], z[family.n : 2 * family.n], float(z[-1])
        G, t = segment.member(where)
        return np.concatenate(
            [
                family.gradient(at, sign, G, t),
                family.hessian(at, sign, G, t) @ vector,
                [vector @ direction - 1],
            ]
        )

    begin = np.concatenate([u, direction, [tau]])
    found = root(equations, begin, tol=_FOLD_STEP).x
    if np.max(np.abs(equations(found))) > _FOLD_GAIN * np.max(np.abs(equations(begin))):
        return tau, sign * coordinates.monomials(u, family.degree)
    return float(found[-1]), sign * coordinates.monomials(found[: family.n], family.degree)
