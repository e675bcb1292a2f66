"""What `chart` refuses before any work starts: too many critical points, or students that are not isolated."""

from __future__ import annotations

from math import factorial

from shallows.mathematics.ed_degree import (
    low_rank_degree,
    osculating_degree,
    pair_beside_neuron_degree,
    powers_degree,
    tangential_degree,
)
from shallows.mathematics.tensors import coordinates
from shallows.model.problem import Problem
from shallows.questions.charts.isolation import require_identifiable
from shallows.support.budget import allowed_seconds, require

#: Seconds on one core for a complex critical point, tracked and certified: of rank one at degree 2, of rank one at
#: higher degree, and of other ranks, which monodromy finds several times.
SQUARE_SECONDS, POWER_SECONDS, MEMBER_SECONDS = 0.036, 0.018, 0.144
#: They hold for equations of up to so many coefficients, and grow with this power of their number; measured at n = 3
#: with degrees 4 to 8 (0.004 s a point at 45 coefficients, 0.010 at 153, and monodromy takes four times as long).
SMALL, GROWTH = 91, 1.65


def require_chartable(problem: Problem, rank: int, known: int | None = None) -> None:
    """Refuse a rank with too many points, or, at degree d ≥ 3, one whose sums of powers are not identifiable.

    `known` is the number of points under the problem's own metric, where that is not generic.
    """
    degree, n = problem.degree, problem.n
    if degree == 2:
        count = 1 if rank == n else low_rank_degree(n, rank)
        _require_few(count, f"rank {rank} at n = {n}", SQUARE_SECONDS if rank == 1 else MEMBER_SECONDS)
        return
    require_identifiable(degree, n, rank)
    count = known or powers_degree(degree, n, rank) or estimated_count(degree, n, rank)
    _require_few(count, f"rank {rank} at degree {degree}, n = {n}", _seconds(degree, n, rank))


def require_begun(problem: Problem) -> None:
    """Refuse degrees whose rank-one points alone are too many, before even the Gram matrix is made.

    Under no metric of those known are there fewer than ((d−1)ⁿ−1)/(d−2), d ≥ 3 (Cartwright and Sturmfels 2013).
    """
    degree, n = problem.degree, problem.n
    if degree > 2:
        least = ((degree - 1) ** n - 1) // (degree - 2)
        _require_few(least, f"rank 1 at degree {degree}, n = {n}", _seconds(degree, n, 1))


def _seconds(degree: int, n: int, rank: int) -> float:
    """Seconds for a point at degree d ≥ 3."""
    coefficients = coordinates.dimension(n, 2 * degree)
    return float((POWER_SECONDS if rank == 1 else MEMBER_SECONDS) * max(1.0, coefficients / SMALL) ** GROWTH)


def estimated_count(degree: int, n: int, r: int) -> int:
    """A guess at the generic ED degree of sums of r powers, where it is not known.

    If neurons did not interact, there would be (count of one)^r / r! points; each pair is taken to lower that as it
    does for two neurons, where the number is known.
    """
    one, two = powers_degree(degree, n, 1), powers_degree(degree, n, 2)
    assert one is not None and two is not None
    guess: float = one**r / factorial(r) * (2 * two / one**2) ** (r * (r - 1) / 2)
    return round(guess)


def too_many_limits(degree: int, n: int, blocks: tuple[int, ...]) -> bool:
    """Whether limits of three neurons, merged or a pair beside one, take more time than there is.

    The number of pairs beside a neuron is known for ternary cubics only; elsewhere it is guessed as in
    `estimated_count`, the neuron meeting each of the two (measured: 45 in two inputs at degree 5, guessed 36).

    >>> too_many_limits(3, 3, (2, 1)), too_many_limits(3, 5, (3,))
    (False, True)
    """
    if blocks == (2,):
        return False
    if blocks == (3,):
        count: float = osculating_degree(degree, n)
    else:
        one, two = powers_degree(degree, n, 1), powers_degree(degree, n, 2)
        assert one is not None and two is not None
        guess = one * tangential_degree(degree, n) * (2 * two / one**2) ** 2
        count = pair_beside_neuron_degree(degree, n) or guess
    return count * _seconds(degree, n, sum(blocks)) > allowed_seconds()


def most_points() -> int:
    """How many points a member may have that is solved by monodromy, where their number is not known beforehand."""
    return int(allowed_seconds() / MEMBER_SECONDS)


def require_few(count: int, where: str) -> None:
    """Refuse more points than the budget has time for, at what a point of higher degree takes."""
    _require_few(count, where, POWER_SECONDS)


def _require_few(count: int, where: str, seconds: float) -> None:
    require(
        f"Finding about {count:,} complex critical points of {where}",
        seconds=count * seconds,
        fix='Use a smaller width, or method="descent".',
    )
