"""Charts by msolve, which isolates every real root symbolically: an engine that shares nothing with homotopy.

msolve computes modulo random primes and does not prove its own answer, so the list is called count-matched, not proved;
each point in it is certified by Krawczyk's operator as any other.

Rank one: S = ε u^⊗d is critical when Σ_I e_I ∂_x(u^I) = 0, e = G(ε u^⊗d − t), with G and t read as the rational
numbers they are. For even degrees both signs ε are solved and u is taken up to sign; u = 0 is always a root and is left
out. All real roots of a zero-dimensional system are in the answer, with the number of complex ones.

Rank r at degree 2: S = R U A Uᵀ Rᵀ in a frame R of small integers (see `exact_rank`). The list is complete when the
system has as many complex solutions as there can be: then none is hidden where S is not transverse to the frame.

Sums of r powers in two variables, 2r ≤ d + 1: by Sylvester's apolarity (see `exact_binary`), complete when no solution
lies at infinity in the frame.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from math import comb

import numpy as np

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.systems import BITS
from shallows.mathematics.exact.msolve import ExactRealRoots, real_roots
from shallows.mathematics.exact.polynomials import Polynomial, in_frame
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedProblem
from shallows.questions.charts.chart_of_strata import chart_of_strata
from shallows.questions.charts.closed_form.full_rank import full_rank_stratum
from shallows.questions.charts.closed_form.norm_neuron import fills_at, norm_neuron_stratum
from shallows.questions.charts.closed_form.spectrum import spectrum_of
from shallows.questions.charts.closure.closure import Closure, merging
from shallows.questions.charts.closure.real import Vectors, is_proper, sort_limits
from shallows.questions.charts.completeness import by_isolation
from shallows.questions.charts.exact.binary import BinaryProblem
from shallows.questions.charts.exact.matrices import integer_frame, rank_equations
from shallows.questions.charts.matrices.balls import LowRankSystem
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.questions.charts.matrices.rank_r import of_full_rank, real_points
from shallows.questions.charts.points.stratum import Counts, RealPoint, Stratum
from shallows.questions.charts.powers.balls import PowerSystem
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.charts.powers.real import sort_real
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

TIMEOUT = 300.0  # seconds, for sums of powers: a quartic takes a few, a quintic a minute
FRAMES = 6
#: Rounding of a gradient at a root that is known to 256 bits: 10⁻¹⁵ of its terms, and their cancellation.
CRITICAL = 1e-9
#: What a chart says where more than two neurons can merge.
FEW_LIMITS = "networks, and limits of two merged neurons without others; other limits are not charted"
#: What a chart says where msolve's list may lack points.
MET = "points may have met (roots are multiple), and some may be missing"


def exact_chart(problem: Problem, seed: int) -> Chart:
    """All real critical points: rank one at any degree, every rank at degree 2, sums of powers in two variables."""
    top = min(problem.width, fills_at(problem))
    if problem.degree > 2 and top > 1:
        _require_binary(problem)
    strata = {rank: _stratum(problem, rank, seed) for rank in range(1, top + 1)}
    limits = _binary_limits(problem, seed) if merging(problem) else Closure()
    return chart_of_strata(problem, strata, limits, method="exact")


def _stratum(problem: Problem, rank: int, seed: int) -> Stratum:
    if (
        isinstance(problem, ReducedProblem)
        and problem.reduction.constants
        and rank == fills_at(problem) < problem.n
    ):
        return norm_neuron_stratum(problem, True)
    if rank == 1:
        return _rank_one_points(problem, seed)
    if problem.degree > 2:
        return _binary_points(problem, rank, seed)
    if rank == problem.n:
        return full_rank_stratum(problem, True)
    return rank_points(problem, LowRankEquations(problem.n, rank), seed)


def _require_binary(problem: Problem) -> None:
    """At degree 3 and more, several neurons are solved exactly in two variables only, while they are identifiable."""
    if problem.n == 2 and 2 * problem.width <= problem.degree + 1:
        return
    raise InvalidProblem(
        f'method="exact" at degree {problem.degree} is for one neuron, or for sums of r powers in two variables with '
        f"2r ≤ d + 1 (Sylvester); this problem has n = {problem.n} and width {problem.width}. In more variables the "
        "equations in the neurons have spurious positive-dimensional components (parallel neurons), out of msolve's "
        'reach. Use method="homotopy".'
    )


def _binary_points(problem: Problem, rank: int, seed: int) -> Stratum:
    """Sums of powers in two variables by apolarity (see `exact_binary`), each certified as a real root in u."""
    binary, whole = _clear_frame(problem, rank, seed)
    roots = _isolated(real_roots(binary.equations(rank), bits=2 * BITS, timeout=TIMEOUT))
    equations = PowerEquations(problem.degree, 2, rank)
    exact = cache(partial(ExactLoss.of, problem))
    found, paired, open_ = [], 0, 0
    for x in roots.points:
        neurons = binary.neurons(rank, x)
        if neurons is None:
            paired += 1
            continue
        vectors, signs = neurons
        system = PowerSystem.of(problem, equations, tuple(signs.tolist()), exact)
        part = sort_real(system, vectors.reshape(1, -1), True)
        found += part.found
        open_ += part.undecided
    notes = (
        [f"rank {rank}: {paired} real tensors with neurons in conjugate pairs: no real networks"]
        if paired
        else []
    )
    if open_:
        notes.append(f"rank {rank}: {open_} points without a certificate")
    counts = Counts(roots.degree, roots.degree, "all roots, counted by msolve")
    if roots.distinct != roots.degree:
        notes.append(f"rank {rank}: {MET}")
    return Stratum(found, counts, [], notes, by_isolation(whole and roots.distinct == roots.degree))


def _binary_limits(problem: Problem, seed: int) -> Closure:
    """Limits of two merged neurons, each certified."""
    binary = BinaryProblem.of(problem, integer_frame(2, seed))
    roots = _isolated(real_roots(binary.limit_equations(), bits=2 * BITS, timeout=TIMEOUT))
    limits: list[Vectors] = [[list(binary.merged(x))] for x in roots.points]
    result = sort_limits(problem, (2,), [limit for limit in limits if is_proper(limit)], True)
    head = "rank 2, limits of two merged neurons"
    notes = [f"{head}: {roots.degree} complex critical points, counted by msolve"]
    whole = roots.distinct == roots.degree
    return Closure(
        result.found,
        notes=notes if whole else [*notes, f"{head}: {MET}"],
        completeness=by_isolation(whole),
        scope=FEW_LIMITS if merging(problem) > 2 else "",
        closed=False,
    )


def _clear_frame(problem: Problem, rank: int, seed: int) -> tuple[BinaryProblem, bool]:
    """A frame in which no critical point has a neuron at infinity, and whether there is one among those tried."""
    for attempt in range(FRAMES):
        binary = BinaryProblem.of(problem, integer_frame(2, seed + attempt))
        if _is_empty(binary.equations(rank, at_infinity=True)):
            return binary, True
    return binary, False


def _is_empty(equations: list[Polynomial]) -> bool:
    """Whether there is no solution, by msolve."""
    if any(not any(map(any, terms)) and terms for terms in equations):  # a number that is not 0
        return True
    return all(equations) and real_roots(equations, timeout=TIMEOUT).degree == 0


def _signs(problem: Problem) -> tuple[int, ...]:
    return (1, -1) if problem.degree % 2 == 0 else (1,)


def rank_points(problem: Problem, equations: LowRankEquations, seed: int) -> Stratum:
    """S = R U A Uᵀ Rᵀ in a frame of integers; complete when there are as many complex solutions as there can be."""
    rank = equations.r
    frame = integer_frame(problem.n, seed)
    roots = _isolated(real_roots(rank_equations(problem, rank, frame), bits=2 * BITS))
    expected = comb(problem.n, rank) if spectrum_of(problem) is not None else equations.count
    source = "C(n,r), paper 000 Theorems 34, 35" if spectrum_of(problem) is not None else "generic ED degree"
    system = LowRankSystem.of(problem, equations, frame)
    points = np.array([_middle(box) for box in roots.boxes or ()]).reshape(-1, equations.unknowns) + 0j
    found = of_full_rank(problem, real_points(system, points, certify(system, points).roots))
    whole = roots.distinct == roots.degree == expected
    notes = [] if whole else [f"rank {rank}: {MET}, or they are not transverse to the frame"]
    return Stratum(found, Counts(roots.degree, expected, source), [], notes, by_isolation(whole))


def _isolated(roots: ExactRealRoots) -> ExactRealRoots:
    if roots.boxes is None:
        raise InvalidProblem(
            'The critical points are not isolated, so msolve cannot list them. Use method="homotopy", which reports '
            "them as a family."
        )
    return roots


def _middle(box: tuple[tuple[Fraction, Fraction], ...]) -> Array:
    return np.array([float((low + high) / 2) for low, high in box])


def critical_equations(problem: Problem, sign: int) -> list[Polynomial]:
    """Half the slopes of the loss of ε τ(u) as exact polynomials in u."""
    equations = PowerEquations(problem.degree, problem.n, 1)
    system = PowerSystem.of(problem, equations, (float(sign),), partial(ExactLoss.of, problem))
    return system.polynomials()


def _rank_one_points(problem: Problem, seed: int) -> Stratum:
    """The real points and how many there are over C; all when these are simple, so that msolve tells them apart.

    Every tensor but 0 is d vectors, u times roots of unity.
    """
    points, whole, count = [], True, 0
    for sign in _signs(problem):
        roots, frame, simple = _told_apart(problem, sign, seed)
        points += _points(problem, sign, roots, frame)
        whole = whole and simple
        count = ((roots.distinct or 1) - 1) // problem.degree  # the same for both signs: −u^⊗d = (ζu)^⊗d
    counts = Counts(count, count, "all roots, counted by msolve")
    return Stratum(points, counts, [], [] if whole else [f"rank 1: {MET}"], by_isolation(whole))


def _told_apart(problem: Problem, sign: int, seed: int) -> tuple[ExactRealRoots, Array, bool]:
    """The roots u′, u = Ru′, in a frame in which as many are told apart as there are simple ones.

    0 counts (d−1)ⁿ times, so that msolve does not notice a linear form that has one value at several of the others.
    """
    equations = critical_equations(problem, sign)
    frames = [np.eye(problem.n), *(integer_frame(problem.n, seed + k) for k in range(1, FRAMES))]
    best = None
    for frame in frames:
        table = frame.astype(int).tolist()
        roots = _isolated(real_roots([in_frame(p, table) for p in equations], bits=2 * BITS))
        if best is None or (roots.distinct or 0) > (best[0].distinct or 0):
            best = roots, frame
        if (roots.degree or 0) - (problem.degree - 1) ** problem.n == (roots.distinct or 0) - 1:
            return roots, frame, True
    assert best is not None
    return *best, False


def _is_critical(problem: Problem, sign: int, u: Array) -> bool:
    """Whether ∇_u vanishes to rounding: of roots that its linear form does not tell apart msolve mixes coordinates."""
    n, d = problem.n, problem.degree
    gram, target = problem.gram(), problem.target_tensor().entries
    student, wanted = (
        coordinates.monomials(u, d - 1) @ coordinates.gradient_matrix(form, n, d)
        for form in (gram @ (sign * coordinates.monomials(u, d)), gram @ target)
    )
    size = np.abs(student).max() + np.abs(wanted).max()
    return bool(np.abs(student - wanted).max() <= CRITICAL * size)


def _points(problem: Problem, sign: int, roots: ExactRealRoots, frame: Array) -> list[RealPoint]:
    vectors: list[Array] = []
    for box in roots.boxes or ():
        lead = next(((low, high) for low, high in box if low > 0 or high < 0), None)
        if lead is None or (problem.degree % 2 == 0 and lead[1] < 0):
            continue
        u = frame @ _middle(box)
        if _is_critical(problem, sign, u):
            vectors.append(u)
    equations = PowerEquations(problem.degree, problem.n, 1)
    system = PowerSystem.of(problem, equations, (float(sign),), partial(ExactLoss.of, problem))
    return sort_real(system, np.array(vectors), True).found if vectors else []
