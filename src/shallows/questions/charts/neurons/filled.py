"""Fixed outer weights, as many neurons as fill the space of functions: folds, which no path between targets leads to.

Where networks have as many weights as functions have coefficients, ∂s has full rank at almost all of them, and there
only the target itself is critical. The others are folds, where ∂s has a rank less: p′(z₁) and p′(z₂) with a root in
common (two cubic neurons with a bias in one input), w₁ + w₂ + w₃ = 0 (three neurons z + z² + z⁴). They are a
hypersurface, and the slopes e that vanish on ∂s a line over each: as many as there are targets, another component of
the critical networks. So the equations ∂s·e = 0, e = G(s − t), of a generic member are solved as they are, by
(2d − 1)^K paths for K weights, instead of by monodromy; solutions in which neurons share their condition, coincide, are
mirror images or constant, belong to `groups`.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from shallows.mathematics.homotopy.solutions import Status
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.same_points import PointSet
from shallows.questions.charts.continuation.equations import Complex, SolvedMember
from shallows.questions.charts.continuation.generic_members import DIGITS, first_whole, solved_once
from shallows.questions.charts.continuation.lost_paths import Settled
from shallows.questions.charts.continuation.metrics import AllMetrics
from shallows.questions.charts.neurons.balls import NeuronMap
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.metrics import RotationInvariantMetrics
from shallows.support.progress import Shown
from shallows.support.seeds import complex_normal

#: A polynomial by its monomials.
Terms = dict[tuple[int, ...], complex]
#: How points are found where there are too many paths for that.
WITHOUT_FOLDS = "the target's own network; folds, which are critical too, are not looked for"
#: More paths than these are not tracked: half of 625, of two cubic neurons with a bias, run to infinity, which takes
#: ten seconds, once a machine.
MOST_PATHS = 2000
#: The random members that are tried, the next where a path is lost. Measured: the first is whole but for two cubic
#: neurons of equal outer weights, of which one path of 625 creeps for minutes.
SEEDS = (0, 3)
#: Slopes of neurons that agree in so many digits span one space: solutions are known to about ten.
ONE_SPACE = 1e-7


def is_filled(equations: NeuronEquations) -> bool:
    """Whether a is fixed and functions fill a flat space, so that folds are critical for every target."""
    return equations.outer is not None and equations.repeats


def is_direct(equations: NeuronEquations) -> bool:
    """Whether the equations of such networks are solved as they are."""
    return is_filled(equations) and (2 * equations.neuron.degree - 1) ** equations.unknowns <= MOST_PATHS


def without_folds(equations: NeuronEquations, run: Settled, how: str) -> tuple[Settled, str]:
    """The ends of paths, and how they were found: others are missing where folds are not looked for."""
    return (run, how) if is_direct(equations) or not is_filled(equations) else (run.sampled, WITHOUT_FOLDS)


def filled_member(
    equations: NeuronEquations, special: RotationInvariantMetrics | None, tell: Shown = False
) -> SolvedMember:
    """A generic (G, g), among all metrics or special ones, with all critical networks whose neurons have a condition
    each; solved once a machine."""
    return solved_once(
        equations,
        special,
        lambda: first_whole(equations, lambda seed: _solved(equations, special, seed, tell), SEEDS),
    )


def _solved(
    equations: NeuronEquations, special: RotationInvariantMetrics | None, seed: int, tell: Shown
) -> SolvedMember:
    rng = np.random.default_rng([seed, equations.unknowns, equations.entries])
    metrics = AllMetrics(equations.metric_size) if special is None else special
    u, g = (
        np.round(complex_normal(rng, size) * DIGITS) / DIGITS
        for size in (metrics.parameters, equations.entries)
    )
    gram = np.asarray(np.kron(np.eye(equations.outputs), metrics.at(u).high), np.complex128)
    found = solve(critical_polynomials(equations, gram, g), rng=seed, on_incomplete="return", progress=tell)
    own = [end.point for end in found.finite if not shares_a_condition(equations, end.point)]
    points = PointSet(np.array(own).reshape(-1, equations.unknowns), invariants=equations.marks).points
    level = "count-matched" if found.status is Status.COMPLETE else "sampled"
    return SolvedMember(np.concatenate([u, g]), points, level)


def critical_polynomials(own: NeuronEquations, gram: Complex, right: Complex) -> list[Terms]:
    """∂s · (Gs − g), by monomials.

    >>> from shallows.questions.charts.neurons.neuron import Neuron
    >>> one = NeuronEquations(Neuron.of_degrees([1, 2], 1), 1, outer=((1.0,),))
    >>> rows = critical_polynomials(one, np.diag([1.0 + 0j, 3.0]), np.array([1.0 + 0j, 2.0]))
    >>> {power: c.real for (power,), c in sorted(rows[0].items())}                # w − 1 + 2w(3w² − 2)
    {0: -1.0, 1: -3.0, 3: 6.0}
    """
    count = own.unknowns
    s: list[Terms] = [{} for _ in range(own.entries)]
    slopes: list[dict[int, Terms]] = [{} for _ in range(count)]
    for term in NeuronMap(own).terms:
        powers = [0] * count
        for x, exponent in term.factors:
            powers[x] = exponent
        _add(s[term.entry], tuple(powers), complex(term.coefficient))
        for x, exponent in term.factors:
            left = tuple(k - (y == x) for y, k in enumerate(powers))
            _add(slopes[x].setdefault(term.entry, {}), left, complex(exponent * term.coefficient))
    gaps: list[Terms] = [{(0,) * count: -complex(b)} for b in right]
    for gap, row in zip(gaps, gram, strict=True):
        for weight, part in zip(row, s, strict=True):
            for key, value in part.items():
                _add(gap, key, complex(weight) * value)
    rows: list[Terms] = [{} for _ in range(count)]
    for result, slope in zip(rows, slopes, strict=True):
        for entry, part in slope.items():
            for (first, c), (second, e) in product(part.items(), gaps[entry].items()):
                _add(result, tuple(a + b for a, b in zip(first, second, strict=True)), c * e)
    return [{key: value for key, value in row.items() if value} for row in rows]


def _add(terms: Terms, key: tuple[int, ...], value: complex) -> None:
    terms[key] = terms.get(key, 0j) + value


def shares_a_condition(own: NeuronEquations, point: Complex) -> bool:
    """Whether a neuron is constant, or two of parallel outer weights have slopes that span one space."""
    A, W = own.split(point[None])
    slopes = own.neuron.slopes(W[0])
    size = 1 + float(np.abs(slopes).max())
    if any(np.abs(slope).max() <= ONE_SPACE * size for slope in slopes):
        return True
    for i, j in combinations(range(own.r), 2):
        if _rank(A[0, [i, j]]) > 1:
            continue
        units = [np.linalg.qr(slopes[k].T)[0].T for k in (i, j)]
        if _rank(np.concatenate(units)) <= own.neuron.n:
            return True
    return False


def _rank(rows: Complex) -> int:
    return rank_of(np.linalg.svd(rows, compute_uv=False), ONE_SPACE)
