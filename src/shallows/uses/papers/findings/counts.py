"""Finding 9: how many critical points one quadratic neuron has under Gaussian data that is not centred.

Rank one, degree two: X = P^{n−1}, embedded by v ↦ v ⊗ v, is smooth, and the number of complex critical points of the
distance to a general matrix in a metric with isotropic quadric {q = 0} is (Aluffi and Harris 2018, Theorem 8.1)

    (−1)^{n−1} χ(P^{n−1} ∖ ({q = 0} ∪ {b = 0})),     q(v) = E(v·x)⁴,  b a general quadric.

N(m, Σ), Σ = I by a change of inputs: v·x has mean μ = v·m and variance σ² = ‖v‖², and q = 3σ⁴ + 6σ²μ² + μ⁴ = 3(σ² +
μ²)² − 2μ⁴ is the product of the quadrics Q± = √3(σ² + μ²) ± √2μ². Both are smooth (m is real), and they meet where σ²
= μ = 0: along a smooth quadric of the hyperplane μ = 0. With the neuron's bias, (1, x) has mean (1, m) and a variance
of rank n in n + 1 inputs: μ = b, σ² = ‖w‖², and the same holds. Let e(D) be the Euler characteristic of a smooth
quadric of dimension D, D + 1 for odd and D + 2 for even D, and c(D) that of a smooth intersection of two quadrics, 0
for odd and 2D + 4 for even D (e(−1) = c(−1) = 0). A general b meets all of these transversally, so that by inclusion
and exclusion

    χ = n − 3e(n−2) + e(n−3) + 2c(n−3) − c(n−4),

which is −3n + 2 for even n, (n) − 3(n) + (n−2) + 0 − (2n−4), and 3n − 2 for odd n, n − 3(n−1) + (n−1) + (4n−4) − 0. So
there are 3n − 2 points for n inputs with a mean, and 3n + 1 for n inputs and a bias. Without a mean, q = 3σ⁴ has one
quadric: n − 2e(n−2) + c(n−3), up to the sign n, as in Theorem 35; and for a general metric, where q is smooth, (3ⁿ −
1)/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import prod

import numpy as np

import shallows as sh
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import MISSING_POINT, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, fact, proof

#: A solution of the explicit equations is the zero vector below this length, of others' lengths of order one.
ZERO = 1e-8


def quadric(dimension: int) -> int:
    """χ of a smooth quadric."""
    return 0 if dimension < 0 else dimension + 1 + (dimension % 2 == 0)


def two_quadrics(dimension: int) -> int:
    """χ of a smooth intersection of two quadrics."""
    return 0 if dimension < 0 or dimension % 2 else 2 * dimension + 4


def with_mean(n: int) -> int:
    """(−1)^{n−1}χ of the complement of Q₊, Q₋ and b, for n ≥ 2 inputs with a mean."""
    chi = n - 3 * quadric(n - 2) + quadric(n - 3) + 2 * two_quadrics(n - 3) - two_quadrics(n - 4)
    return chi if n % 2 else -chi


def centred(n: int) -> int:
    """The same without a mean: q is the square of one quadric."""
    chi = n - 2 * quadric(n - 2) + two_quadrics(n - 3)
    return chi if n % 2 else -chi


@finding(
    9,
    "3n + 1 critical points of a quadratic neuron with bias",
    "One quadratic neuron a(w·x + b)² under Gaussian data, a general teacher: exactly 3n + 1 complex critical points "
    "of rank one for n inputs (10 at n = 3); 3n − 2 without bias for data with a mean; n for centred data; (3ⁿ − "
    "1)/2 for a general metric.",
    basis="proved",
    known="The formula by Euler characteristics is Aluffi and Harris (2018); (3ⁿ − 1)/2 is the generic ED degree of "
    "the Veronese surface and its kin; n is Theorem 35 of paper 000. The two counts for data with a mean are ours.",
    control=("centred data without bias", {"bias": False}),
    tests={
        "shallows.chart": (
            MISSING_POINT,
            of_field("complex_count", Mutation("one fewer", lambda c: {r: x - 1 for r, x in c.items()})),
        )
    },
)
def counts(trial: Trial, bias: bool = True) -> Iterator[Outcome]:
    """The two formulas for n to 40; charts of random teachers, n to 4, with a bias and with a mean; and the equations
    written out, solved from a start of Bézout's number of paths, n = 1, 2 inputs and a bias."""
    for n in range(2, 41):
        yield proof(
            with_mean(n) == 3 * n - 2 and centred(n) == n, f"n={n}: χ gives {with_mean(n)} and {centred(n)}"
        )
    for n in (1, 2, 3, 4):
        for _ in trial.times(1, 10):
            yield _charted(trial, n, 3 * n + 1, bias)
            if n > 1:
                yield _charted_with_mean(trial, n)
    for n in (1, 2):
        yield _written_out(trial, n)


def _charted(trial: Trial, n: int, expected: int, bias: bool) -> Outcome:
    width = n + 2
    teacher = sh.Network(
        trial.rng.standard_normal((width, n)),
        trial.rng.standard_normal(width),
        bias=trial.rng.standard_normal(width) if bias else None,
    )
    found = sh.chart(sh.Problem(teacher, sh.Gaussian(n), 1, bias=bias), method="homotopy")
    return _judged(found, expected, f"n={n}, a bias")


def _charted_with_mean(trial: Trial, n: int) -> Outcome:
    teacher = sh.Network(trial.rng.standard_normal((n + 1, n)), trial.rng.standard_normal(n + 1))
    data = sh.Gaussian(n, mean=trial.rng.standard_normal(n))
    found = sh.chart(sh.Problem(teacher, data, 1), method="homotopy")
    return _judged(found, 3 * n - 2, f"n={n}, a mean")


def _judged(found: sh.Chart, expected: int, what: str) -> Outcome:
    real = sum(point.rank == 1 for point in found.points)
    right = found.complex_count.get(1) == expected and found.real_count.get(1) == real
    return fact(
        right, f"{what}: {found.complex_count.get(1)} of {expected}, {real} real, {found.completeness}"
    )


def _written_out(trial: Trial, n: int) -> Outcome:
    """∇(q/4 − b/2) = 0 in v = (b, w), q = b⁴ + 6b²‖w‖² + 3‖w‖⁴: solutions ±v, and 0."""
    target = trial.rng.standard_normal((n + 1, n + 1))
    equations = [_equation(i, n, target + target.T) for i in range(n + 1)]
    found = sh.homotopy.solve(equations, rng=int(trial.rng.integers(2**31)))
    nonzero = int(np.sum([np.linalg.norm(each.point) > ZERO for each in found.finite]))
    return fact(nonzero == 2 * (3 * n + 1), f"n={n}: {nonzero} solutions ±v of the equations, 2(3n + 1)")


def _equation(i: int, n: int, target: Array) -> dict[tuple[int, ...], float]:
    """∂/∂vᵢ of q/4 − vᵀTv/2 as {exponents: coefficient}; q by the moments E b^j w^k of (1, x), x ~ N(0, I)."""
    terms: dict[tuple[int, ...], float] = {}
    for chosen in combinations_with_replacement(range(n + 1), 4):
        powers = [chosen.count(j) for j in range(n + 1)]
        moment = prod(0 if p % 2 else prod(range(1, p, 2)) for p in powers[1:])
        if moment and powers[i]:
            times = 24 // prod(prod(range(1, p + 1)) for p in powers)
            key = tuple(p - (j == i) for j, p in enumerate(powers))
            terms[key] = terms.get(key, 0.0) + times * moment * powers[i] / 4
    for j in range(n + 1):
        key = tuple(int(axis == j) for axis in range(n + 1))
        terms[key] = terms.get(key, 0.0) - float(target[i, j])
    return terms
