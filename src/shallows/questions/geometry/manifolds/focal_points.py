"""Focal points: where a critical point degenerates on its way to the teacher (paper 000, section 3.2).

s + γv is a focal point of (X, s) when the Hessian 2(G − γ(v·E)) of the distance to it is singular, that is when
γ = 1/κ for an eigenvalue κ > 0 of v·E with respect to G; its multiplicity is that of κ (Remark 24). The index of
s for the teacher s + v is the number of focal points on the open segment, with multiplicities (Theorem 26).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.model.equivalent_power import as_powers
from shallows.questions.geometry.manifolds.local_geometry import NULL_TOLERANCE, LocalGeometry
from shallows.questions.geometry.manifolds.strata import stratum
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_number
from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.model.problem import Problem


@dataclass(frozen=True)
class FocalPoint:
    """The focal point s + position · v of multiplicity m; v = t − s on a segment to the teacher t.

    The index of a critical point is the number of focal points on the segment (paper 000, Theorem 26):

    >>> chart = sh.chart(sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), width=1))
    >>> point = chart.points[2]
    >>> sh.focal_points(chart.problem, point), point.index
    ([FocalPoint(position=0.571429, multiplicity=1), FocalPoint(position=0.727273, multiplicity=1)], 2)
    """

    position: float
    multiplicity: int

    def __repr__(self) -> str:
        return f"FocalPoint(position={self.position:.6g}, multiplicity={self.multiplicity})"


@typed
def focal_points(
    problem: Problem, point: Any, rank: int | None = None, tolerance: float = NULL_TOLERANCE
) -> list[FocalPoint]:
    """The focal points on the segment from a critical point s to the teacher t, nearest to s first.

    At a focal point s + γ(t − s) the Hessian 2(G − γ((t − s)·E)) of the distance is singular, G and E the first and
    second fundamental forms; those on the open segment count the index of s (paper 000, Remark 24 and Theorem 26).
    Positions are γ in (0, 1] of s + γ(t − s); position 1 means that t itself is a focal point, so that s is
    degenerate. `point` is a critical point of a chart, a SymmetricTensor, a Network or a symmetric matrix, and it
    must be critical on its rank stratum: the tangential part of t − s, in the problem's metric, is at most
    `tolerance` times the largest of ‖s‖, ‖t‖ and ‖t−s‖. Two focal points closer than `tolerance` (in 1/γ, relative
    to the largest) are one of higher multiplicity. See `stratum` for `rank`.

    >>> from shallows import Frobenius
    >>> from shallows import Problem
    >>> problem = Problem(np.diag([3.0, 2.0, 1.0]), Frobenius(3), width=1)
    >>> focal_points(problem, np.diag([0.0, 0.0, 1.0]))       # Prop. 33: eigenvalues of S + γ(T − S) meet
    [FocalPoint(position=0.333333, multiplicity=1), FocalPoint(position=0.5, multiplicity=1)]
    """
    geometry = stratum(problem, point, rank, tolerance)
    return segment_focal_points(geometry, as_powers(problem).target_tensor().entries, tolerance)


@typed
def segment_focal_points(
    geometry: LocalGeometry, target: ArrayLike, tolerance: float = NULL_TOLERANCE
) -> list[FocalPoint]:
    """The focal points on the segment from the critical point s of a manifold to the teacher t.

    >>> from shallows.geometry import LocalGeometry, ParametricChart
    >>> circle = ParametricChart(lambda u: np.array([np.cos(u[0]), np.sin(u[0])]), at=0.0)
    >>> segment_focal_points(LocalGeometry(circle, np.eye(2)), [-1.0, 0.0])   # the centre, half-way to the other side
    [FocalPoint(position=0.5, multiplicity=1)]
    """
    return _points(geometry, geometry.normal_to(target, tolerance), 1.0, tolerance)


@typed
def ray_focal_points(
    geometry: LocalGeometry,
    direction: ArrayLike,
    length: float = np.inf,
    tolerance: float = NULL_TOLERANCE,
) -> list[FocalPoint]:
    """The focal points s + γv, 0 < γ ≤ length, on the normal ray in the direction v.

    A curvature below `tolerance` times the largest one, or a radius of curvature above 1/`tolerance` times the
    distance that a unit of the chart's parameters covers, counts as flat: its focal point is at infinity.

    >>> from shallows.geometry import LocalGeometry, ParametricChart
    >>> circle = ParametricChart(lambda u: np.array([np.cos(u[0]), np.sin(u[0])]), at=0.0)
    >>> ray_focal_points(LocalGeometry(circle, np.eye(2)), [-0.5, 0.0])   # the centre is two steps of ½ away
    [FocalPoint(position=2, multiplicity=1)]
    """
    if not length > 0:
        raise InvalidProblem(f"length is {length}; expected a positive number (or infinity).")
    if geometry.length(direction) == 0:
        raise InvalidProblem("direction is zero; expected a non-zero normal vector.")
    return _points(geometry, geometry.require_normal(direction, tolerance), length, tolerance)


@typed
def index_by_focal_points(
    problem: Problem, point: Any, rank: int | None = None, tolerance: float = NULL_TOLERANCE
) -> int:
    """The index of a critical point on its rank stratum, counted on the open segment (Theorem 26).

    >>> problem = sh.Problem(np.diag([4.0, 2.0, 1.0]), sh.Frobenius(3), width=1)
    >>> [index_by_focal_points(problem, np.diag(kept)) for kept in ([4.0, 0, 0], [0, 2.0, 0], [0, 0, 1.0])]
    [0, 1, 2]
    """
    return sum(f.multiplicity for f in focal_points(problem, point, rank, tolerance) if f.position < 1)


@typed
def index_by_eigenvalues(
    problem: Problem, point: Any, rank: int | None = None, tolerance: float = NULL_TOLERANCE
) -> int:
    """The index of a critical point on its rank stratum, as the number of negative eigenvalues of the Hessian.

    >>> problem = sh.Problem(np.diag([4.0, 2.0, 1.0]), sh.Frobenius(3), width=1)
    >>> [index_by_eigenvalues(problem, np.diag(kept)) for kept in ([4.0, 0, 0], [0, 2.0, 0], [0, 0, 1.0])]
    [0, 1, 2]
    """
    geometry = stratum(problem, point, rank, tolerance)
    return geometry.signature(as_powers(problem).target_tensor().entries, tolerance)[2]


def _points(geometry: LocalGeometry, v: Array, length: float, tolerance: float) -> list[FocalPoint]:
    """Clusters of eigenvalues κ of the shape operator, as positions 1/κ up to `length`."""
    tolerance = finite_number("tolerance", tolerance, minimum=0.0)
    curvatures = np.asarray(np.linalg.eigvalsh(geometry.shape_operator(v))[::-1], dtype=np.float64)
    nearest = 1 / length
    largest = float(np.max(np.abs(curvatures), initial=nearest))
    flat = tolerance * max(largest, geometry.length(v) / geometry.parameter_speed)
    found = []
    for cluster in _clusters(curvatures[curvatures > flat], tolerance * largest):
        kappa = float(np.mean(cluster))
        if abs(kappa - nearest) <= tolerance * largest and nearest > 0:
            found.append(FocalPoint(float(length), len(cluster)))
        elif kappa > nearest:
            found.append(FocalPoint(1 / kappa, len(cluster)))
    return found


def _clusters(values: Array, gap: float) -> list[Array]:
    """Runs of a decreasing sequence whose neighbours differ by at most `gap`."""
    if not len(values):
        return []
    return np.split(values, np.flatnonzero(-np.diff(values) > gap) + 1)
