"""Theorem 36 of paper 000 in closed form: i.i.d. data, one quadratic neuron, a diagonal teacher.

With S = ε vvᵀ and T = diag(t), criticality on the support I of v is linear in v²: for i ∈ I,

    ε v_i² = β + γ t_i,   γ = (μ4 − μ2²)/(μ4 − 3μ2²),   β = μ2² (⟨t,1⟩ − 3γ⟨t_I,1⟩) / (μ4 + 3(|I|−1)μ2²).

So S is real exactly when β + γ t_i has one sign ε on I; each such I gives 2^(|I|−1) points, one a sign pattern of v up
to ±. That is valid for all t, beyond the theorem's sufficient condition μ4 ≥ 10nμ2², t positive with ratio at most 2,
which makes all (3ⁿ−1)/2 of them real.
"""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np

from shallows.mathematics.signature import signature
from shallows.model.problem import Problem
from shallows.questions.charts.chart_of_points import chart_of_points
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import POINT_ERROR, Counts, RealPoint, origin
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON, TINY

#: β + γ t_i below this share of the largest t is zero: what cancellation leaves of ε when μ4 is within 10⁻³ of 3μ2².
ZERO = 1e-12


def applies(problem: Problem) -> bool:
    """Whether the closed form is for this problem: width one, degree two, centred i.i.d. data, diagonal target."""
    if problem.degree != 2 or problem.width != 1:
        return False
    moments = problem.data.coordinate_moments(4)
    matrix = problem.target_tensor().to_matrix()
    diagonal = not np.any(matrix - np.diag(np.diag(matrix)))
    return moments is not None and diagonal and moments[1] == 0 and bool(moments[4] != 3 * moments[2] ** 2)


def iid_diagonal_chart(problem: Problem, certify: bool) -> Chart:
    """All critical points of rank at most one."""
    moments = problem.data.coordinate_moments(4)
    assert moments is not None
    t = np.diag(problem.target_tensor().to_matrix())
    mu2, mu4 = float(moments[2]), float(moments[4])
    found, notes, complex_count = [origin(problem)], [], 0
    scale = max(float(np.max(np.abs(t))), TINY)
    for support in _supports(problem.n):
        values = squares(t, support, mu2, mu4)
        if np.any(np.abs(values) <= ZERO * scale):
            notes.append(_fallen(support))
            continue
        complex_count += 2 ** (len(support) - 1)
        sign = float(np.sign(values[0]))
        if np.all(np.sign(values) == sign):
            found += _points(problem, support, values, sign, (t, mu2, mu4), certify)
    counts = {
        0: Counts(1, 1, "the zero tensor"),
        1: Counts(complex_count, (3**problem.n - 1) // 2, "(3ⁿ−1)/2, paper 000 Theorem 36 (generic metric)"),
    }
    return chart_of_points(problem, found, counts, completeness="proved", method="closed-form", notes=notes)


def _supports(n: int) -> chain[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1))


def squares(t: Array, support: tuple[int, ...], mu2: float, mu4: float) -> Array:
    """β + γ t_i on the support (equations 43, 45 to 48)."""
    inside = t[list(support)]
    gamma = (mu4 - mu2**2) / (mu4 - 3 * mu2**2)
    beta = mu2**2 * (t.sum() - 3 * gamma * inside.sum()) / (mu4 + 3 * (len(support) - 1) * mu2**2)
    return np.asarray(beta + gamma * inside)


def _points(
    problem: Problem,
    support: tuple[int, ...],
    values: Array,
    sign: float,
    law: tuple[Array, float, float],
    certify: bool,
) -> list[RealPoint]:
    """One point a sign pattern; they are related by reflections, so one signature serves all."""
    v = np.zeros(problem.n)
    v[list(support)] = np.sqrt(np.abs(values))
    seen = signature(np.linalg.eigvalsh(hessian(v, sign, *law)), POINT_ERROR)
    certificate = _certificate(support, seen, law) if certify else None
    points = []
    for pattern in product((1.0, -1.0), repeat=len(support) - 1):
        turned = v.copy()
        turned[list(support[1:])] *= pattern
        points.append(RealPoint(turned[None, :], np.array([sign]), seen, certificate))
    return points


def hessian(v: Array, sign: float, t: Array, mu2: float, mu4: float) -> Array:
    """The Hessian in v of ℓ(ε vvᵀ), on the rank-one stratum."""
    heavy = mu4 - 3 * mu2**2
    quartic = (
        12 * mu2**2 * (v @ v) * np.eye(len(v)) + 24 * mu2**2 * np.outer(v, v) + 12 * heavy * np.diag(v**2)
    )
    form = (mu4 - mu2**2) * np.diag(t) + mu2**2 * t.sum() * np.eye(len(t))
    return np.asarray(quartic - 4 * sign * form)


def _certificate(
    support: tuple[int, ...], seen: tuple[int, int, int], law: tuple[Array, float, float]
) -> Certificate | None:
    """The squares as exact rationals, the Hessian in balls around their roots."""
    from fractions import Fraction

    from flint import arb, arb_mat, fmpq

    from shallows.mathematics.balls.inertia import inertia
    from shallows.mathematics.balls.systems import precision

    t = [Fraction(float(x)) for x in law[0]]
    mu2, mu4 = Fraction(law[1]), Fraction(law[2])
    gamma = (mu4 - mu2**2) / (mu4 - 3 * mu2**2)
    beta = (
        mu2**2 * (sum(t) - 3 * gamma * sum(t[i] for i in support)) / (mu4 + 3 * (len(support) - 1) * mu2**2)
    )
    exact = [beta + gamma * t[i] for i in support]
    if len({x > 0 for x in exact}) != 1 or 0 in exact:
        return None
    sign = 1 if exact[0] > 0 else -1
    n = len(t)

    def ball(x: Fraction) -> arb:
        return arb(fmpq(x.numerator, x.denominator))

    with precision(128):
        v = [arb(0)] * n
        for i, x in zip(support, exact, strict=True):
            v[i] = ball(abs(x)).sqrt()
        length, total = ball(sum((abs(x) for x in exact), Fraction(0))), sum(t, Fraction(0))
        rows = [[ball(24 * mu2**2) * v[i] * v[j] for j in range(n)] for i in range(n)]
        for i in range(n):
            level = ball(12 * mu2**2) * length + ball(12 * (mu4 - 3 * mu2**2)) * v[i] * v[i]
            rows[i][i] += level - ball(4 * sign * ((mu4 - mu2**2) * t[i] + mu2**2 * total))
        proof = inertia(arb_mat(rows))
        size = max(float(x.upper()) for x in v)
    agrees = (proof.positive, 0, proof.negative) == seen
    radius = 8 * EPSILON * size**2
    return Certificate(
        radius, proof.certified and agrees, True, "exact squares, interval signature (Theorem 36)"
    )


def _fallen(support: tuple[int, ...]) -> str:
    """β + γ t_i = 0 somewhere on the support: the point belongs to a smaller support."""
    names = ", ".join(str(i + 1) for i in support)
    return (
        f"rank 1: on the support {{{names}}} a coordinate vanishes, so the point belongs to a smaller support"
    )
