"""Theorem 36 of paper 000 in closed form: i.i.d. data, one quadratic neuron, a diagonal teacher.

With S = ε vvᵀ and T = diag(t), criticality on the support I of v is linear in v²: for i ∈ I,

    ε v_i² = β + γ t_i,   γ = (μ4 − μ2²)/(μ4 − 3μ2²),   β = μ2² (⟨t,1⟩ − 3γ⟨t_I,1⟩) / (μ4 + 3(|I|−1)μ2²).

So S is real exactly when β + γ t_i has one sign ε on I; each such I gives 2^(|I|−1) points, one a sign pattern of v up
to ±. That is valid for all t, beyond the theorem's sufficient condition μ4 ≥ 10nμ2², t positive with ratio at most 2,
which makes all (3ⁿ−1)/2 of them real. Near μ4 = 3μ2² the terms of β + γ t_i cancel, so they are computed as rationals,
from the floats given, and rounded once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product

import numpy as np
from flint import arb, arb_mat, fmpq

from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.systems import precision
from shallows.mathematics.signature import signature
from shallows.model.problem import Problem
from shallows.questions.charts.chart_of_points import chart_of_points
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import Counts, RealPoint, origin
from shallows.questions.charts.result import Chart
from shallows.support.tolerances import EPSILON

#: The roots of the exact squares are enclosed with so many bits, and then rounded to doubles.
BITS = 128
#: Roundings between the exact ε v_i v_j and the entry of the point's tensor: one of each root, one of the product.
ENTRY_ROUNDINGS = 4


@dataclass(frozen=True)
class Law:
    """The teacher's diagonal, μ2² = E[x₁²x₂²] and μ4, as the rationals they are."""

    t: tuple[Fraction, ...]
    second: Fraction
    mu4: Fraction

    @property
    def heavy(self) -> Fraction:
        """μ4 − 3μ2², zero for Gaussian moments."""
        return self.mu4 - 3 * self.second


def law_of(problem: Problem) -> Law | None:
    """Teacher and moments when the closed form is for this problem: width one, degree two, centred i.i.d. data,
    a diagonal target, and moments that are not a Gaussian's."""
    if problem.degree != 2 or problem.width != 1:
        return None
    moments = problem.data.coordinate_moments(4)
    matrix = problem.target_tensor().to_matrix()
    if moments is None or moments[1] != 0 or np.any(matrix - np.diag(np.diag(matrix))):
        return None
    gram = problem.data.exact_gram(2)
    second = gram[0, -1] if problem.n > 1 else float(moments[2]) ** 2  # with one input it cancels
    law = Law(tuple(Fraction(x) for x in np.diag(matrix).tolist()), Fraction(second), Fraction(gram[0, 0]))
    return law if law.heavy else None


def iid_diagonal_chart(problem: Problem, law: Law, certify: bool) -> Chart:
    """All critical points of rank at most one."""
    found, notes, complex_count = [origin(problem)], [], 0
    for support in _supports(problem.n):
        values = squares(law, support)
        if not all(values):
            notes.append(_fallen(support))
            continue
        complex_count += 2 ** (len(support) - 1)
        if len({value > 0 for value in values}) == 1:
            found += _points(law, support, values, certify)
    counts = {
        0: Counts(1, 1, "the zero tensor"),
        1: Counts(complex_count, (3**problem.n - 1) // 2, "(3ⁿ−1)/2, paper 000 Theorem 36 (generic metric)"),
    }
    return chart_of_points(problem, found, counts, completeness="proved", method="closed-form", notes=notes)


def _supports(n: int) -> chain[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1))


def squares(law: Law, support: tuple[int, ...]) -> list[Fraction]:
    """β + γ t_i on the support (equations 43, 45 to 48), exactly."""
    second = law.second
    gamma = (law.mu4 - second) / law.heavy
    inside = sum((law.t[i] for i in support), Fraction(0))
    beta = second * (sum(law.t) - 3 * gamma * inside) / (law.mu4 + 3 * (len(support) - 1) * second)
    return [beta + gamma * law.t[i] for i in support]


def _points(law: Law, support: tuple[int, ...], values: list[Fraction], certify: bool) -> list[RealPoint]:
    """One point a sign pattern; they are related by reflections, so one signature serves all."""
    sign = 1 if values[0] > 0 else -1
    with precision(BITS):
        roots = [arb(0)] * len(law.t)
        for i, value in zip(support, values, strict=True):
            roots[i] = _ball(abs(value)).sqrt()
        matrix = hessian(law, roots, sign)
        proof = inertia(matrix)
    v = np.array([float(root.mid()) for root in roots])
    middle = np.array([[float(entry.mid()) for entry in row] for row in matrix.tolist()])
    seen = signature(np.linalg.eigvalsh(middle))
    if proof.certified:
        seen = (proof.positive, 0, proof.negative)
    radius = ENTRY_ROUNDINGS * EPSILON * float(np.max(v) ** 2)
    method = "exact squares, interval signature (Theorem 36)"
    certificate = Certificate(radius, proof.certified, True, method) if certify else None
    points = []
    for pattern in product((1.0, -1.0), repeat=len(support) - 1):
        turned = v.copy()
        turned[list(support[1:])] *= pattern
        points.append(RealPoint(turned[None, :], np.array([float(sign)]), seen, certificate))
    return points


def hessian(law: Law, v: list[arb], sign: int) -> arb_mat:
    """The Hessian in v of ℓ(ε vvᵀ), on the rank-one stratum, in balls:

    12 μ2² ‖v‖² I + 24 μ2² vvᵀ + 12 (μ4 − 3μ2²) diag(v²) − 4ε ((μ4 − μ2²) diag(t) + μ2² ⟨t,1⟩ I).
    """
    second, total = law.second, sum(law.t, Fraction(0))
    length = sum((x * x for x in v), arb(0))
    rows = [[_ball(24 * second) * x * y for y in v] for x in v]
    for i, x in enumerate(v):
        form = _ball(4 * sign * ((law.mu4 - second) * law.t[i] + second * total))
        rows[i][i] += _ball(12 * second) * length + _ball(12 * law.heavy) * x * x - form
    return arb_mat(rows)


def _ball(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def _fallen(support: tuple[int, ...]) -> str:
    """β + γ t_i = 0 somewhere on the support: the point belongs to a smaller support."""
    names = ", ".join(str(i + 1) for i in support)
    return (
        f"rank 1: on the support {{{names}}} a coordinate vanishes, so the point belongs to a smaller support"
    )
