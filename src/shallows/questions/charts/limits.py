"""What `chart` refuses before any work starts: too many critical points, or students that are not isolated."""

from __future__ import annotations

from math import factorial

from shallows.mathematics.ed_degree import low_rank_degree, powers_degree
from shallows.mathematics.tensors import coordinates
from shallows.model.problem import Problem
from shallows.questions.geometry.ranks.identifiability import is_identifiable
from shallows.support.errors import InvalidProblem

#: Complex critical points of one rank that are tracked from a start system; from a member solved by monodromy.
LARGEST_START, LARGEST_COUNT = 100_000, 25_000
#: Points a second, tracked and certified on two cores, for the estimate in a refusal only.
POINTS_A_SECOND = 60


def require_chartable(problem: Problem, rank: int, known: int | None = None) -> None:
    """Refuse a rank with too many points, or, at degree d ≥ 3, one whose sums of powers are not identifiable.

    `known` is the number of points under the problem's own metric, where that is not generic.
    """
    degree, n = problem.degree, problem.n
    if degree == 2:
        count = 1 if rank == n else low_rank_degree(n, rank)
        _require_few(count, f"rank {rank} at n = {n}", LARGEST_START if rank == 1 else LARGEST_COUNT)
        return
    if rank > 1 and (rank * n > coordinates.dimension(n, degree) or not is_identifiable(degree, n, rank)):
        raise InvalidProblem(
            f"Sums of {rank} powers of degree {degree} in {n} variables are not identifiable, so their critical "
            'points are not isolated in the neurons. Use a smaller width, or method="descent".'
        )
    count = known or powers_degree(degree, n, rank) or estimated_count(degree, n, rank)
    _require_few(count, f"rank {rank} at degree {degree}, n = {n}", LARGEST_COUNT)


def estimated_count(degree: int, n: int, r: int) -> int:
    """A guess at the generic ED degree of sums of r powers, where it is not known.

    If neurons did not interact, there would be (count of one)^r / r! points; each pair is taken to lower that as it
    does for two neurons, where the number is known.
    """
    one, two = powers_degree(degree, n, 1), powers_degree(degree, n, 2)
    assert one is not None and two is not None
    guess: float = one**r / factorial(r) * (2 * two / one**2) ** (r * (r - 1) / 2)
    return round(guess)


def _require_few(count: int, where: str, limit: int) -> None:
    if count > limit:
        minutes = count / POINTS_A_SECOND / 60
        raise InvalidProblem(
            f"There are about {count:,} complex critical points of {where}, {minutes:,.0f} minutes of work; the limit "
            f'is {limit:,}. Use a smaller width, or method="descent".'
        )
