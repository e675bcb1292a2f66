"""Special data: coordinates in which their metric is one of `metrics`, and how many rank-one critical points it has.

Let x ~ N(μ, Σ), Σ = LLᵀ, and m = ‖L⁻¹μ‖. Neurons w = L⁻ᵀRw′, R a rotation that takes e₁ to the direction of L⁻¹μ,
turn x into (z₁ + m, z₂, …, z_n), z standard normal, and

    N(w) = E[(w·x)^{2d}] = Σ_j (2d choose 2j) (2d−2j−1)!! q^{d−j} l^{2j},    q = ‖w′‖², l = m w′₁,

is a product of d quadrics q = c_i l², all tangent along {q = l = 0}: so some of the generic critical points are at
infinity. The same holds when the mean is a random multiple of μ: mixtures of Gaussians with one covariance and their
means on a line through the origin, such as two symmetric clusters.

The number of critical points v^⊗d for a generic target is (−1)^{n−1} χ(P^{n−1} ∖ (Q ∪ H)), Q = {N = 0}, H a generic
hypersurface of degree d (P. Aluffi, C. Harris, "The Euclidean distance degree of smooth complex projective varieties",
Algebra Number Theory 12, 2018, Theorem 8.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.model.data.base import InnerProduct
from shallows.model.data.gaussian import Gaussian, isserlis
from shallows.model.data.metric import Frobenius
from shallows.model.data.mixture import Mixture
from shallows.model.data.radial import Radial
from shallows.questions.charts.continuation.metrics import SpecialMetrics
from shallows.support.checks import Array

#: The smallest eigenvalue of a covariance, relative to the largest, for which coordinates are whitened.
THINNEST = 1e-10


@dataclass(frozen=True)
class SpecialData:
    """In the coordinates w = frame · w′ the metric is that of `metrics` with these parameters."""

    metrics: SpecialMetrics
    parameters: Array
    frame: Array


def special_data(data: InnerProduct, degree: int) -> SpecialData | None:
    """How these data are special; None when nothing is known."""
    n = data.n
    if isinstance(data, Frobenius):
        return SpecialData(SpecialMetrics("Frobenius", degree, n), np.ones(1), np.eye(n))
    if isinstance(data, Radial):
        ratio = np.array([data.gaussian_ratio(2 * degree)])
        return SpecialData(SpecialMetrics("Gaussian", degree, n), ratio, np.eye(n))
    line = _line(data)
    return None if line is None else _in_white_coordinates(line, degree)


@dataclass(frozen=True)
class _Line:
    """Inputs s·a + z: z ~ N(0, Σ), a random number s independent of it, with these values and probabilities."""

    covariance: Array
    direction: Array
    values: Array
    weights: Array


def _line(data: InnerProduct) -> _Line | None:
    """A Gaussian, or a mixture of Gaussians with one covariance and their means on a line through the origin."""
    parts = data.parts if isinstance(data, Mixture) else (data,)
    weights = data.weights if isinstance(data, Mixture) else np.ones(1)
    gaussians = [part for part in parts if isinstance(part, Gaussian)]
    if len(gaussians) < len(parts):
        return None
    covariance = gaussians[0].covariance
    means = np.array([part.mean for part in gaussians])
    longest = means[np.argmax(np.linalg.norm(means, axis=1))]
    square = float(longest @ longest)
    values = means @ longest / square if square else np.zeros(len(means))
    one = all(np.array_equal(part.covariance, covariance) for part in gaussians)
    spectrum = np.linalg.eigvalsh(covariance)
    if not (
        one and np.array_equal(np.outer(values, longest), means) and spectrum[0] > THINNEST * spectrum[-1]
    ):
        return None
    return _Line(covariance, longest, values, weights)


def _in_white_coordinates(line: _Line, degree: int) -> SpecialData | None:
    """Coordinates in which the inputs are (c(z₁ + m s), z₂, …, z_n), z standard normal."""
    n = len(line.direction)
    L = np.asarray(np.linalg.cholesky(line.covariance), np.float64)
    mean = np.asarray(np.linalg.solve(L, line.direction), np.float64)
    m = float(np.linalg.norm(mean))
    if n == 2 and m:
        return None  # as many points as under a generic metric: {q = l = 0} is empty
    if not m:
        white = np.asarray(np.linalg.inv(L.T), np.float64)
        return SpecialData(SpecialMetrics("Gaussian", degree, n), np.ones(1), white)
    rotation = np.asarray(np.linalg.qr(np.column_stack([mean / m, np.eye(n)]))[0])  # first column ±mean/m
    moments = [
        sum(w * _normal_moment(2 * j, m * s) for w, s in zip(line.weights, line.values, strict=True))
        for j in range(degree + 1)
    ]
    metrics = SpecialMetrics("moved Gaussian", degree, n)
    c = _stretch(metrics, np.array(moments))
    frame = np.linalg.solve(L.T, rotation) * np.array([c, *[1.0] * (n - 1)])
    return SpecialData(metrics, np.array(moments) * c ** (2.0 * np.arange(degree + 1)), np.asarray(frame))


def _stretch(metrics: SpecialMetrics, moments: Array) -> float:
    """c with E[x₁² ‖x‖^{2(d−1)}] about E[x₂² ‖x‖^{2(d−1)}]: all directions count alike (see `balance`)."""
    from shallows.questions.charts.continuation.balance import balanced_frame

    gram = metrics.at(moments.astype(np.complex128)).high.real
    frame = balanced_frame(gram, metrics.n, metrics.degree)
    return float(frame[0, 0] / frame[-1, -1])


def moved_gaussian(data: InnerProduct, degree: int) -> SpecialData | None:
    """Only Gaussians moved along a line: the others have closed forms at degree 2."""
    special = special_data(data, degree)
    return special if special is not None and special.metrics.kind == "moved Gaussian" else None


def _normal_moment(order: int, mean: float) -> float:
    """E[(z + m)^k] = Σ_j (k choose 2j) (2j−1)!! m^{k−2j}."""
    terms = range(order // 2 + 1)
    return sum(comb(order, 2 * j) * prod(range(1, 2 * j, 2)) * mean ** (order - 2 * j) for j in terms)


def exact_gram(data: InnerProduct, degree: int) -> NDArray[Any]:
    """G as the exact numbers that Σ, μ, weights and radii give, as fractions; the doubles of `data.gram` otherwise.

    A theorem about Gaussian metrics is no theorem about their rounded Gram matrices: proofs use this one.
    """
    moments = _exact_moments(data, 2 * degree)
    if moments is None:
        return data.gram(degree)
    weights = coordinates.multiplicities(data.n, degree).astype(int).astype(object)
    return np.asarray(np.outer(weights, weights) * moments[coordinates.product_table(data.n, degree, degree)])


def _exact_moments(data: InnerProduct, order: int) -> NDArray[Any] | None:
    """E[x^K] as fractions for Gaussians, their mixtures and rotation-invariant data."""
    if isinstance(data, Gaussian):
        mean = np.array([Fraction(x) for x in data.mean.tolist()], dtype=object)
        covariance = np.array([[Fraction(x) for x in row] for row in data.covariance.tolist()], dtype=object)
        return isserlis(mean, covariance, order)
    if isinstance(data, Radial):
        standard = _exact_moments(Gaussian(data.n), order)
        return None if standard is None else standard * Fraction(data.gaussian_ratio(order))
    if not isinstance(data, Mixture):
        return None
    parts = [_exact_moments(part, order) for part in data.parts]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return np.asarray(sum(Fraction(w) * part for w, part in zip(data.weights.tolist(), known, strict=True)))


def rank_one_count(metrics: SpecialMetrics) -> int:
    """How many rank-one critical points a generic target has under such a metric.

    >>> [rank_one_count(SpecialMetrics(kind, 3, 3)) for kind in ("Frobenius", "Gaussian", "moved Gaussian")]
    [7, 7, 19]
    """
    d, n = metrics.degree, metrics.n
    if metrics.kind == "moved Gaussian":
        return moved_gaussian_degree(d, n)
    return n if d == 2 else ((d - 1) ** n - 1) // (d - 2)


def count_source(metrics: SpecialMetrics) -> str:
    """Where `rank_one_count` comes from."""
    if metrics.kind == "moved Gaussian":
        return "non-central Gaussian: Euler characteristics, Aluffi and Harris 2018"
    return "((d−1)ⁿ−1)/(d−2) eigenvectors of a tensor, Cartwright and Sturmfels 2013"


@lru_cache(maxsize=256)
def moved_gaussian_degree(degree: int, n: int) -> int:
    """How many rank-one critical points of degree d ≥ 2 a generic target has under a Gaussian moved along a line.

    For generic parameters, and for one Gaussian, the quadrics q = c_i l² are smooth and different (c_i < 0, and Hermite
    polynomials have simple roots); special ones have at most as many isolated points. Any two quadrics meet in B =
    {q = l = 0}, a smooth quadric of P^{n−2}. So χ(Q) = d χ(quadric) − (d−1) χ(B), and alike on H.

    >>> moved_gaussian_degree(3, 3), [moved_gaussian_degree(2, n) for n in (2, 3, 4, 5)]
    (19, [4, 7, 10, 13])
    """
    whole = euler_number(n - 1, ()) - euler_number(n - 1, (degree,))
    inside = degree * euler_number(n - 1, (2,)) - (degree - 1) * euler_number(n - 1, (1, 2))
    both = degree * euler_number(n - 1, (2, degree)) - (degree - 1) * euler_number(n - 1, (1, 2, degree))
    return int((-1) ** (n - 1) * (whole - inside + both))


@lru_cache(maxsize=1024)
def euler_number(dimension: int, degrees: tuple[int, ...]) -> int:
    """χ of a smooth complete intersection of these degrees in P^m: the h^m part of (1+h)^{m+1} ∏ d h/(1 + d h).

    >>> euler_number(2, (3,)), euler_number(3, (4,)), euler_number(2, (2, 3))   # an elliptic curve, a K3, six points
    (0, 24, 6)
    """
    left = dimension - len(degrees)
    if left < 0:
        return 0
    series = [comb(dimension + 1, k) for k in range(left + 1)]
    for d in degrees:
        for k in range(1, left + 1):
            series[k] -= d * series[k - 1]
    return prod(degrees) * series[left]
