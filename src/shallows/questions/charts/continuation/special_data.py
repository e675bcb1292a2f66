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
from functools import lru_cache
from math import comb, prod

import numpy as np

from shallows.model.data.base import InnerProduct
from shallows.model.data.gaussian_line import GaussianLine
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
    metric, line = data.rotation_invariance(degree), data.gaussian_line()
    if metric is not None:
        white = np.eye(data.n) if metric.covariance is None else _whitening(metric.covariance)
        metrics = SpecialMetrics(metric.family, degree, data.n)
        return None if white is None else SpecialData(metrics, np.array([metric.scale]), white)
    return None if line is None else _in_white_coordinates(line, degree)


def _whitening(covariance: Array) -> Array | None:
    """L⁻ᵀ of Σ = LLᵀ; None where Σ is too thin to invert."""
    spectrum = np.linalg.eigvalsh(covariance)
    if spectrum[0] <= THINNEST * spectrum[-1]:
        return None
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance).T), np.float64)


def _in_white_coordinates(line: GaussianLine, degree: int) -> SpecialData | None:
    """Coordinates in which the inputs are (c(z₁ + m s), z₂, …, z_n), z standard normal."""
    n = len(line.direction)
    if n == 2 or _whitening(line.covariance) is None:
        return None  # n = 2: as many points as under a generic metric, {q = l = 0} is empty
    L = np.asarray(np.linalg.cholesky(line.covariance), np.float64)
    mean = np.asarray(np.linalg.solve(L, line.direction), np.float64)
    m = float(np.linalg.norm(mean))
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
