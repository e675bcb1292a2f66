"""How many rank-one critical points special metrics have.

The number of critical points v^⊗d for a generic target is (−1)^{n−1} χ(P^{n−1} ∖ (Q ∪ H)), Q = {E[(w·x)^{2d}] = 0}, H a
generic hypersurface of degree d (P. Aluffi, C. Harris, "The Euclidean distance degree of smooth complex projective
varieties", Algebra Number Theory 12, 2018, Theorem 8.1).
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, prod

import numpy as np

from shallows.model.data.base import InnerProduct
from shallows.model.data.rotation_invariance import multiple_of
from shallows.model.reduced_problem import ReducedMetric
from shallows.questions.charts.continuation.metrics import MOVED, SpecialMetrics

#: Where the numbers for Gaussians off the origin come from.
EULER = "non-central Gaussian: Euler characteristics, Aluffi and Harris 2018"


def rank_one_count(metrics: SpecialMetrics) -> int:
    """How many rank-one critical points a generic target has under such a metric.

    >>> [rank_one_count(SpecialMetrics(kind, 3, 3)) for kind in ("Frobenius", "Gaussian", "moved Gaussian")]
    [7, 7, 19]
    """
    d, n = metrics.degree, metrics.n
    if metrics.kind in MOVED:
        return moved_gaussian_degree(d, n)
    return n if d == 2 else ((d - 1) ** n - 1) // (d - 2)


def count_source(metrics: SpecialMetrics) -> str:
    """Where `rank_one_count` comes from."""
    if metrics.kind in MOVED:
        return EULER
    return "((d−1)ⁿ−1)/(d−2) eigenvectors of a tensor, Cartwright and Sturmfels 2013"


def round_bias_count(data: InnerProduct) -> int | None:
    """The same for a neuron with bias beside a norm neuron under N(0, sI), n ≥ 2 inputs; None for other metrics.

    With the best norm neuron E(w·x + b)⁴ becomes 2/(n+2) b⁴ + 4 b²u + (2n−2)/n u², u = s‖w‖²: two quadrics u = c b²
    with different c ≠ 0, as without it (b⁴ + 6b²u + 3u²), and so the same Euler characteristics.

    >>> problem = sh.Problem(np.eye(3), sh.Gaussian(3), 1, norm_neuron=True, bias=True)
    >>> from shallows.model.reduced_problem import reduced
    >>> round_bias_count(reduced(problem).data)
    10
    """
    if not isinstance(data, ReducedMetric) or not data.reduction.constants or data.reduction.penalty:
        return None
    law, unit = data.law.as_gaussian(), np.eye(data.n - 1)
    if law is None or data.n < 3 or np.any(law.mean[1:]):
        return None
    if multiple_of(law.covariance[1:, 1:], unit) is None:
        return None
    return moved_gaussian_degree(2, data.n)


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
