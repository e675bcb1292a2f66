"""The distance function of a point to a manifold, to second order (paper 000, section 3.2).

For a chart x(u) of X ⊂ R^N, a teacher t and a positive-definite Σ, L(u) = ‖x(u) − t‖²_Σ has, with v = t − x,

    ∂L/∂uᵢ = −2 ⟨v, ∂ᵢx⟩_Σ,    ∂²L/∂uᵢ∂uⱼ = 2 (Gᵢⱼ − (v·E)ᵢⱼ),
    Gᵢⱼ = ⟨∂ᵢx, ∂ⱼx⟩_Σ,        (v·E)ᵢⱼ = ⟨v, ∂ᵢ∂ⱼx⟩_Σ,

the first and the second fundamental form (equation 24 and Remark 24, there for Σ = Id).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from shallows.mathematics.semidefinite_root import semidefinite_root
from shallows.mathematics.signature import signature
from shallows.questions.geometry.manifolds.rank_manifolds import ManifoldChart
from shallows.support.checks import Array, finite_array, finite_number, symmetric_matrix
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON

#: Curvatures and tangential parts below this, relatively, are zero: √ε, as critical points are found to that or better.
NULL_TOLERANCE = 1e-8
#: A Jacobian whose smallest singular value is below this share of the chart's speed is singular.
IMMERSION_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class LocalGeometry:
    """X to second order at the point x(u) of a chart, under the metric Σ.

    `metric` is Σ (N×N, positive definite; the identity by default) and `parameters` is u (the chart's base point
    by default). Vectors of R^N and covectors are entries, as in `data.gram`.

    >>> from shallows.geometry import ParametricChart
    >>> circle = ParametricChart(lambda u: [2 * np.cos(u[0]), 2 * np.sin(u[0])], at=0.0)
    >>> LocalGeometry(circle).principal_curvatures([-1.0, 0.0]).round(10).tolist()
    [0.5]
    """

    chart: ManifoldChart
    metric: Array | None = None
    parameters: Array | None = None

    def __post_init__(self) -> None:
        size = self.chart.ambient
        metric = np.eye(size) if self.metric is None else positive_definite(self.metric, size)
        given = self.chart.base if self.parameters is None else self.parameters
        u = finite_array("parameters", np.atleast_1d(given), 1)
        if len(u) != self.chart.dimension:
            raise InvalidProblem(
                f"parameters has {len(u)} entries; the chart {self.chart!r} has {self.chart.dimension}."
            )
        object.__setattr__(self, "metric", metric)
        object.__setattr__(self, "parameters", u)
        self._require_immersion()

    def __repr__(self) -> str:
        metric = "the identity" if np.array_equal(self._sigma, np.eye(self.chart.ambient)) else "given"
        u = ", ".join(f"{x:.6g}" for x in self._u)
        return f"LocalGeometry({self.chart!r}, at ({u}), metric {metric})"

    # -- first order -----------------------------------------------------------------------------------

    @cached_property
    def point(self) -> Array:
        """s = x(u)."""
        return self.chart.value(self._u)

    @cached_property
    def jacobian(self) -> Array:
        """J = ∂x/∂u, shape (N, k): its columns span the tangent space."""
        return self.chart.jacobian(self._u)

    @property
    def first_form(self) -> Array:
        """G = JᵀΣJ."""
        return self.jacobian.T @ self._sigma @ self.jacobian

    @cached_property
    def normal_frame(self) -> Array:
        """A Σ-orthonormal basis of the normal space, shape (N, N−k)."""
        full = np.linalg.qr(self._white_jacobian, mode="complete")[0]
        return self._unwhiten(full[:, self.chart.dimension :])

    @property
    def parameter_speed(self) -> float:
        """The largest singular value of J in the metric: the distance that a unit of the parameters covers."""
        return float(np.linalg.norm(self._triangle, 2)) if self._triangle.size else 1.0

    def length(self, vector: ArrayLike) -> float:
        """‖v‖_Σ."""
        return float(np.linalg.norm(self._white(self._vector(vector))))

    def tangential_length(self, vector: ArrayLike) -> float:
        """The Σ-length of the tangential part of a vector: zero exactly for normal vectors."""
        return float(np.linalg.norm(self._tangent_frame.T @ self._white(self._vector(vector))))

    def normal_part(self, vector: ArrayLike) -> Array:
        """The Σ-orthogonal projection of a vector to the normal space."""
        white = self._white(self._vector(vector))
        return self._unwhiten(white - self._tangent_frame @ (self._tangent_frame.T @ white))

    def require_normal(
        self, vector: ArrayLike, tolerance: float = NULL_TOLERANCE, scale: float = 0.0
    ) -> Array:
        """The normal part of a vector whose tangential part is small against the vector (or `scale`)."""
        tolerance = finite_number("tolerance", tolerance, minimum=0.0)
        tangential, size = self.tangential_length(vector), max(self.length(vector), scale)
        if tangential > tolerance * size:
            raise InvalidProblem(
                f"The vector is not normal to {self.chart!r}: its tangential part has length {tangential:.3g}, "
                f"{tangential / size:.3g} relative (tolerance {tolerance:.3g}). For a distance function this means "
                "that the point is not critical."
            )
        return self.normal_part(vector)

    # -- second order ----------------------------------------------------------------------------------

    def second_form(self, direction: ArrayLike) -> Array:
        """v·E, the second fundamental form in the direction v (any length)."""
        return self.chart.second(self._u, self._sigma @ self._vector(direction))

    def shape_operator(self, direction: ArrayLike) -> Array:
        """v·E in coordinates in which G = Id: R⁻ᵀ (v·E) R⁻¹ with G = RᵀR."""
        R = self._triangle
        if not R.size:
            return R
        half = solve_triangular(R, self.second_form(direction), trans="T")
        result = solve_triangular(R, half.T, trans="T")
        return np.asarray((result + result.T) / 2)

    def principal_curvatures(self, direction: ArrayLike, tolerance: float = NULL_TOLERANCE) -> Array:
        """The eigenvalues of v·E with respect to G for the unit normal v/‖v‖_Σ, largest first (Remark 24)."""
        v = self.require_normal(direction, tolerance)
        size = self.length(v)
        if size == 0:
            raise InvalidProblem("direction is zero; expected a non-zero normal vector.")
        return np.asarray(np.linalg.eigvalsh(self.shape_operator(v / size))[::-1])

    # -- the distance function -------------------------------------------------------------------------

    def loss(self, target: ArrayLike) -> float:
        """L = ‖x(u) − t‖²_Σ."""
        return self.length(self._vector(target) - self.point) ** 2

    def gradient(self, target: ArrayLike) -> Array:
        """∂L/∂u = −2 JᵀΣ(t − x)."""
        return -2 * self.jacobian.T @ (self._sigma @ (self._vector(target) - self.point))

    def hessian(self, target: ArrayLike) -> Array:
        """∂²L/∂u² = 2 (G − (t−x)·E). Its signature is the chart's business unless x(u) is a critical point."""
        return 2 * (self.first_form - self.second_form(self._vector(target) - self.point))

    def signature(self, target: ArrayLike, tolerance: float = NULL_TOLERANCE) -> tuple[int, int, int]:
        """(positive, zero, negative) eigenvalues of the Hessian at a critical point.

        In coordinates with G = Id the Hessian is 2(Id − K) with K the shape operator; an eigenvalue 1 − κ counts
        as zero below `tolerance` times the largest of 1 and |1 − κ|. A point that is not critical is refused: its
        signature depends on the chart.
        """
        v = self.normal_to(target, tolerance)
        curvatures = np.linalg.eigvalsh(self.shape_operator(v))
        return signature(1 - curvatures, tolerance, scale=1.0)

    def normal_to(self, target: ArrayLike, tolerance: float = NULL_TOLERANCE) -> Array:
        """v = t − s, which is normal exactly at critical points (equation 20).

        Anything else is refused with the size of the tangential part, allowed up to `tolerance` times the largest
        of ‖s‖_Σ, ‖t‖_Σ and ‖t−s‖_Σ.
        """
        scale = max(self.length(target), self.length(self.point))
        return self.require_normal(self._vector(target) - self.point, tolerance, scale)

    # -- the endpoint map ------------------------------------------------------------------------------

    def endpoint(self, shift: ArrayLike, weights: ArrayLike) -> Array:
        """e(u + shift, γ) = x + Σ_m γ_m w_m, the endpoint map in coordinates of the normal bundle.

        The normal vectors w_m at x(u + shift) are the projections of `normal_frame` at x(u).
        """
        moved = LocalGeometry(self.chart, self._sigma, self._u + np.asarray(shift, dtype=np.float64))
        gamma = finite_array("weights", weights, 1)
        return moved.point + moved.normal_part(self.normal_frame @ gamma)

    def endpoint_differential(self, normal: ArrayLike, tolerance: float = NULL_TOLERANCE) -> Array:
        """d e at (s, v): the N×N matrix [J (Id − G⁻¹ (v·E)), normal frame] (equations 21 and 22).

        The derivative of a normal vector's projection is −J G⁻¹ (∂ᵢJ)ᵀ Σ v.
        """
        v = self.require_normal(normal, tolerance)
        R = self._triangle
        turned = solve_triangular(R, solve_triangular(R, self.second_form(v), trans="T"))
        return np.hstack([self.jacobian @ (np.eye(self.chart.dimension) - turned), self.normal_frame])

    def endpoint_nullity(self, normal: ArrayLike, tolerance: float = NULL_TOLERANCE) -> int:
        """The nullity of d e at (s, v): the multiplicity of s + v as a focal point (Prop. 23).

        Decided by the singular values of the differential between Σ-orthonormal coordinates; those below
        `tolerance` times the largest are zero.
        """
        differential = self.endpoint_differential(normal, tolerance)
        k = self.chart.dimension
        scaled = np.hstack([_right_divide(differential[:, :k], self._triangle), differential[:, k:]])
        values = np.linalg.svd(self._white(scaled), compute_uv=False)
        return int(np.sum(values <= tolerance * values[0]))

    # -- coordinates in which Σ = Id ---------------------------------------------------------------------

    @property
    def _u(self) -> Array:
        assert self.parameters is not None
        return self.parameters

    @property
    def _sigma(self) -> Array:
        assert self.metric is not None
        return self.metric

    @cached_property
    def _factor(self) -> Array:
        """Upper triangular C with Σ = CᵀC, so that ‖v‖_Σ = ‖Cv‖."""
        return semidefinite_root(self._sigma)

    def _white(self, vectors: Array) -> Array:
        return self._factor @ vectors

    def _unwhiten(self, vectors: Array) -> Array:
        if not vectors.size:
            return vectors
        return np.asarray(solve_triangular(self._factor, vectors))

    @cached_property
    def _white_jacobian(self) -> Array:
        return self._white(self.jacobian)

    @cached_property
    def _tangent_frame(self) -> Array:
        return np.linalg.qr(self._white_jacobian)[0]

    @cached_property
    def _triangle(self) -> Array:
        """R with G = RᵀR."""
        return np.linalg.qr(self._white_jacobian)[1]

    # -- checks ----------------------------------------------------------------------------------------

    def _vector(self, value: ArrayLike) -> Array:
        vector = finite_array("vector", value, 1)
        if len(vector) != self.chart.ambient:
            raise InvalidProblem(
                f"A vector of length {len(vector)} was given; {self.chart!r} lies in R^{self.chart.ambient}."
            )
        return vector

    def _require_immersion(self) -> None:
        if self.chart.dimension == 0:
            return
        values = np.zeros(self.chart.dimension)
        nonzero = np.linalg.svd(self._white_jacobian, compute_uv=False)
        values[: len(nonzero)] = nonzero
        speed = self.chart.typical_speed(self._u) * np.linalg.norm(self._factor, 2)
        if values[-1] <= IMMERSION_TOLERANCE * max(values[0], speed):
            raise InvalidProblem(
                f"{self.chart!r} is not an immersion at these parameters: the singular values of its Jacobian go "
                f"from {values[0]:.3g} down to {values[-1]:.3g}, so it is no chart of a manifold there."
            )


def positive_definite(metric: ArrayLike, size: int) -> Array:
    """A symmetric positive-definite matrix of the given size; semidefinite and indefinite ones are refused."""
    matrix = symmetric_matrix("metric", metric)
    if len(matrix) != size:
        raise InvalidProblem(
            f"metric is {len(matrix)} × {len(matrix)}; expected {size} × {size}, acting on the manifold's coordinates."
        )
    values = np.linalg.eigvalsh(matrix)
    if values[0] <= size * EPSILON * max(values[-1], 0.0):
        raise InvalidProblem(
            f"metric is not positive definite: its eigenvalues go from {values[0]:.6g} to {values[-1]:.6g}. A distance "
            "needs all of them positive (with samples: more of them, in general position)."
        )
    return matrix


def _right_divide(matrix: Array, triangle: Array) -> Array:
    """matrix · triangle⁻¹."""
    return np.asarray(solve_triangular(triangle, matrix.T, trans="T").T)
