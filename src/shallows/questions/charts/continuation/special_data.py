"""Special data: coordinates in which their metric is one of `metrics`.

Let x ~ N(μ, Σ), Σ = LLᵀ, and m = ‖L⁻¹μ‖. Neurons w = L⁻ᵀRw′, R a rotation that takes e₁ to the direction of L⁻¹μ,
turn x into (z₁ + m, z₂, …, z_n), z standard normal, and

    N(w) = E[(w·x)^{2d}] = Σ_j (2d choose 2j) (2d−2j−1)!! q^{d−j} l^{2j},    q = ‖w′‖², l = m w′₁,

is a product of d quadrics q = c_i l², all tangent along {q = l = 0}: so some of the generic critical points are at
infinity (`special_counts`). The same holds when the mean is a random multiple of μ: mixtures of Gaussians with one
covariance and their means on a line through the origin, such as two symmetric clusters.

And it holds for (1, x), the inputs of a Gaussian problem with bias, where Σ has rank n − 1 and μ is not in its range:
Σ = LLᵀ with n − 1 columns, and w′ = (μ·w, Lᵀw) turns the inputs into (1, z₂, …, z_n).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod

import numpy as np

from shallows.model.data.base import InnerProduct
from shallows.model.data.gaussian_line import GaussianLine
from shallows.questions.charts.continuation.balanced_coordinates import balanced_frame, power_action
from shallows.questions.charts.continuation.metrics import MOVED, SpecialMetrics
from shallows.questions.charts.continuation.rotation_invariant import degree_pairs, rotation_invariant_weights
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON

#: The smallest eigenvalue of a covariance, relative to the largest, for which coordinates are whitened: L has a
#: condition of 10⁵ then.
THINNEST = 1e-10


@dataclass(frozen=True)
class SpecialData:
    """In the coordinates w = frame · w′ the metric is that of `metrics` with these parameters."""

    metrics: SpecialMetrics
    parameters: Array
    frame: Array


def special_data(data: InnerProduct, degree: int) -> SpecialData | None:
    """How these data are special; None when nothing is known."""
    affine = data.affine_invariance(degree)
    if affine is not None:
        return _affine(data, affine, degree)
    metric, line = data.rotation_invariance(degree), data.gaussian_line()
    if metric is not None and metric.family != "isotropic":
        white = np.eye(data.n) if metric.covariance is None else _whitening(metric.covariance)
        metrics = SpecialMetrics(metric.family, degree, data.n)
        return None if white is None else SpecialData(metrics, np.array([metric.scale]), white)
    return None if line is None else _in_white_coordinates(line, degree)


def _affine(data: InnerProduct, covariance: Array, degree: int) -> SpecialData | None:
    """The first input stands for the constant, the others have this covariance: whitened, and brought to one size."""
    white = (
        None if data.n == 2 else _whitening(covariance)
    )  # at n = 2 as many points as under a generic metric
    if white is None:
        return None
    frame = np.eye(data.n)
    frame[1:, 1:] = white
    metrics = SpecialMetrics("affine Gaussian", degree, data.n)
    P = power_action(frame, degree)
    degrees = tuple(range(degree + 1))
    u = rotation_invariant_weights(P.T @ data.gram(degree) @ P, degrees, data.n - 1)
    c = _stretch(metrics, u)
    zeros = np.array([2 * degree - i - j for i, j in degree_pairs(degrees)])
    return SpecialData(metrics, u * c**zeros, frame * np.array([c, *[1.0] * (data.n - 1)]))


def _whitening(covariance: Array) -> Array | None:
    """L⁻ᵀ of Σ = LLᵀ; None where Σ is too thin to invert."""
    spectrum = np.linalg.eigvalsh(covariance)
    if spectrum[0] <= THINNEST * spectrum[-1]:
        return None
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance).T), np.float64)


def _in_white_coordinates(line: GaussianLine, degree: int) -> SpecialData | None:
    """Coordinates in which the inputs are (c x₁, z₂, …, z_n), z standard normal, x₁ = z₁ + m s or x₁ = s."""
    n = len(line.direction)
    if n == 2:
        return None  # as many points as under a generic metric: {q = l = 0} is empty
    found = _along_the_mean(line) or _across_the_mean(line)
    if found is None:
        return None
    frame, m, spread = found
    moments = [
        sum(w * _normal_moment(2 * j, m * s, spread) for w, s in zip(line.weights, line.values, strict=True))
        for j in range(degree + 1)
    ]
    metrics = SpecialMetrics("moved Gaussian", degree, n)
    c = _stretch(metrics, np.array(moments))
    frame = frame * np.array([c, *[1.0] * (n - 1)])
    return SpecialData(metrics, np.array(moments) * c ** (2.0 * np.arange(degree + 1)), np.asarray(frame))


def _along_the_mean(line: GaussianLine) -> tuple[Array, float, float] | None:
    """L⁻ᵀR, m = ‖L⁻¹μ‖ and the deviation 1 of x₁ = z₁ + m s; None where Σ is too thin to invert."""
    if _whitening(line.covariance) is None:
        return None
    L = np.asarray(np.linalg.cholesky(line.covariance), np.float64)
    mean = np.asarray(np.linalg.solve(L, line.direction), np.float64)
    m = float(np.linalg.norm(mean))
    rotation = np.linalg.qr(np.column_stack([mean / m, np.eye(len(mean))]))[0]  # first column ±mean/m
    return np.asarray(np.linalg.solve(L.T, rotation)), m, 1.0


def _across_the_mean(line: GaussianLine) -> tuple[Array, float, float] | None:
    """The inverse of w ↦ (μ·w, Lᵀw), m = 1 and the deviation 0 of x₁ = s, where Σ = LLᵀ has rank n − 1.

    None for other ranks, and where μ is (nearly) in the range of Σ.
    """
    values, vectors = np.linalg.eigh(line.covariance)
    if abs(values[0]) > EPSILON * len(values) * values[-1] or values[1] <= THINNEST * values[-1]:
        return None
    rows = np.vstack([line.direction, (vectors[:, 1:] * np.sqrt(values[1:])).T])
    spectrum = np.linalg.svd(rows, compute_uv=False)
    if spectrum[-1] ** 2 <= THINNEST * spectrum[0] ** 2:
        return None
    return np.asarray(np.linalg.inv(rows)), 1.0, 0.0


def _stretch(metrics: SpecialMetrics, moments: Array) -> float:
    """c with E[x₁² ‖x‖^{2(d−1)}] about E[x₂² ‖x‖^{2(d−1)}]: all directions count alike."""
    gram = metrics.at(moments.astype(np.complex128)).high.real
    frame = balanced_frame(gram, metrics.n, metrics.degree)
    return float(frame[0, 0] / frame[-1, -1])


def moved_gaussian(data: InnerProduct, degree: int) -> SpecialData | None:
    """Only Gaussians moved along a line: the others have closed forms at degree 2."""
    special = special_data(data, degree)
    return special if special is not None and special.metrics.kind in MOVED else None


def _normal_moment(order: int, mean: float, spread: float) -> float:
    """E[(τz + m)^k] = Σ_j (k choose 2j) (2j−1)!! τ^{2j} m^{k−2j}."""
    terms = range(order // 2 + 1)
    factors = [comb(order, 2 * j) * prod(range(1, 2 * j, 2)) * spread ** (2 * j) for j in terms]
    return sum(factor * mean ** (order - 2 * j) for j, factor in zip(terms, factors, strict=True))
