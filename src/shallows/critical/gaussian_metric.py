"""Non-central Gaussians: coordinates in which the metric is exact to 31 digits, and how many critical points it has.

Let x ~ N(μ, Σ), Σ = LLᵀ, and m = ‖L⁻¹μ‖. Neurons w = L⁻ᵀRw′, R a rotation that takes e₁ to the direction of L⁻¹μ,
turn x into (z₁ + m, z₂, …, z_n), z standard normal, and

    N(w) = E[(w·x)^{2d}] = Σ_j (2d choose 2j) (2d−2j−1)!! q^{d−j} l^{2j},    q = ‖w′‖², l = m w′₁,

is a product of d quadrics q = c_i l², all tangent along {q = l = 0}: so some of the generic critical points are at
infinity. Rounding of the Gram matrix brings them back, to a distance of about 10⁴; this is why its entries are given
as sums of two doubles.

The number of critical points v^⊗d for a generic target is (−1)^{n−1} χ(P^{n−1} ∖ (Q ∪ H)), Q = {N = 0}, H a generic
hypersurface of degree d (P. Aluffi, C. Harris, "The Euclidean distance degree of smooth complex projective varieties",
Algebra Number Theory 12, 2018, Theorem 8.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, prod

import numpy as np

from shallows import coordinates
from shallows._checks import Array
from shallows.data import Gaussian, InnerProduct

#: The smallest eigenvalue of a covariance, relative to the largest, for which coordinates are whitened.
THINNEST = 1e-10


@dataclass(frozen=True)
class ExactGram:
    """gram + low is the metric in the coordinates w = frame · w′, to 31 digits."""

    gram: Array
    low: Array
    frame: Array


def is_moved_gaussian(data: InnerProduct) -> bool:
    """Whether the data are N(μ, Σ) with μ ≠ 0 and Σ invertible, as far as double precision can tell."""
    if not isinstance(data, Gaussian) or data.centred:
        return False
    values = np.linalg.eigvalsh(data.covariance)
    return bool(values[0] > THINNEST * values[-1])


def exact_gram(data: Gaussian, degree: int) -> ExactGram:
    """The metric of degree d in coordinates where the inputs are (c(z₁ + m), z₂, …, z_n)."""
    n = data.n
    L = np.linalg.cholesky(data.covariance)
    mean = np.linalg.solve(L, data.mean)
    m = float(np.linalg.norm(mean))
    white = np.linalg.solve(L.T, _rotation(mean / m))
    c = _stretch(m, n, degree)
    high, low = _moments(Fraction(m), Fraction(c), n, 2 * degree)
    weights = coordinates.multiplicities(n, degree)
    places = coordinates.product_table(n, degree, degree)
    scale = np.outer(weights, weights)
    exact = [[Fraction(w) * (Fraction(a) + Fraction(b)) for w, a, b in zip(*rows, strict=True)]
             for rows in zip(scale, high[places], low[places], strict=True)]
    gram = np.array([[float(x) for x in row] for row in exact])
    rest = np.array([[float(x - Fraction(y)) for x, y in zip(*rows, strict=True)] for rows in zip(exact, gram, strict=True)])
    return ExactGram(gram, rest, white * np.array([c, *[1.0] * (n - 1)]))


def _rotation(direction: Array) -> Array:
    """An orthogonal matrix with this first column."""
    frame = np.linalg.qr(np.column_stack([direction, np.eye(len(direction))]))[0]
    return np.asarray(frame * np.sign(frame[:, 0] @ direction))


def _stretch(m: float, n: int, degree: int) -> float:
    """c with E[x₁² ‖x‖^{2(d−1)}] about E[x₂² ‖x‖^{2(d−1)}]: all directions count alike (see `balance`)."""
    from shallows.critical.balance import balanced_frame

    mean = np.zeros(n)
    mean[0] = m
    frame = balanced_frame(Gaussian(n, mean=mean).gram(degree), n, degree)
    return float(frame[0, 0] / frame[1, 1]) if n > 1 else 1.0


def _moments(m: Fraction, c: Fraction, n: int, order: int) -> tuple[Array, Array]:
    """E[x^K] for all K of this order as high and low doubles: c^{k₁} E[(z+m)^{k₁}] ∏ E[z^{k_i}]."""
    plain = [_normal_moment(k, Fraction(0)) for k in range(order + 1)]
    first = [c**k * _normal_moment(k, m) for k in range(order + 1)]
    table = coordinates.exponents(n, order)
    exact = [first[row[0]] * prod(plain[k] for k in row[1:]) for row in table.tolist()]
    high = np.array([float(x) for x in exact])
    return high, np.array([float(x - Fraction(y)) for x, y in zip(exact, high, strict=True)])


def _normal_moment(order: int, mean: Fraction) -> Fraction:
    """E[(z + m)^k] = Σ_j (k choose 2j) (2j−1)!! m^{k−2j}."""
    odd = [prod(range(1, 2 * j, 2)) for j in range(order // 2 + 1)]
    return sum((comb(order, 2 * j) * odd[j] * mean ** (order - 2 * j) for j in range(len(odd))), Fraction(0))


@lru_cache(maxsize=256)
def moved_gaussian_degree(degree: int, n: int) -> int:
    """How many rank-one critical points of degree d ≥ 2 a generic target has under a non-central Gaussian.

    The quadrics q = c_i l² are smooth, because c_i < 0, and different, because a Hermite polynomial has simple roots;
    any two meet in B = {q = l = 0}, a smooth quadric of P^{n−2}. So χ(Q) = d χ(quadric) − (d−1) χ(B), and alike on H.

    >>> moved_gaussian_degree(3, 3), moved_gaussian_degree(2, 3), moved_gaussian_degree(2, 4)
    (19, 7, 10)
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
