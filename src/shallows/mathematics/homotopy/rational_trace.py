"""A trace test where solutions run to infinity at finite parameters: the sum over all of them is a rational function.

Along a line p + λq of parameters the sum of the solutions' invariants is a single-valued algebraic function of λ,
hence rational, N(λ)/D(λ) with D zero where a solution runs to infinity; over a proper subset it changes its value on
the way around a branch point. Where the sum grows no faster than λ, deg N ≤ deg D + 1 = m + 1. All solutions are
carried to many λ of a disk, each by a random point of the disk in between, which takes a subset to another branch
every time, and it is asked whether some N and D of low degree fit what arrives: the least singular value of the
linearised equations N(λₖ) − D(λₖ) T(λₖ) = 0, one D for several functionals T. (Y. Nakatsukasa, O. Sète, L. Trefethen,
"The AAA algorithm for rational approximation", 2018, sect. 2, has the linearised equations; P. Brubeck, Y.
Nakatsukasa, L. Trefethen, "Vandermonde with Arnoldi", 2021, the basis.)

Along straight ways alone the test would be weak: a function that is analytic but for a few cuts is approximated by
rational ones of degree twenty to rounding. m is held to the number of the solutions, and there are three times as many
samples; of many solutions to MOST, since few run to infinity on one line (measured: m = 10 for 715 solutions of two
quartic neurons under a moved Gaussian). Twice as much where poles are double (`poles`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.carrying import carried
from shallows.mathematics.homotopy.families import Family, Vector
from shallows.mathematics.homotopy.paths import TrackerSettings
from shallows.mathematics.homotopy.trace import TraceTest
from shallows.mathematics.same_points import Invariants
from shallows.support.seeds import complex_normal

Complex = NDArray[np.complex128]
#: The radius of the disk, in sizes of the parameters: large, so that branch points lie inside.
RADIUS = 3.0
#: Linear functionals of the invariants that share a denominator.
FUNCTIONALS = 3
#: Samples: so many a solution, and these. Half of them at least must arrive, or half as many of twice as many: where
#: each of 45 paths is lost on one way in 200 as many as every fourth sample is lost.
SAMPLES_EACH, SAMPLES, TURNS = 3, 24, 2
#: Denominators of higher degree are not looked for: of more solutions than this a failure may mean that m is larger.
MOST = 45
#: Lost paths are tried again so often, with smaller steps each time: a sample of 700 paths is lost with one of them.
AGAIN = 2
#: Least singular values below this are rounding. Measured for one neuron z + z³ and two neurons of degree 3 to 7 (6 to
#: 43 solutions) under Gaussian and Frobenius metrics: 2·10⁻¹¹ and less of all solutions, 10⁻¹⁴ mostly; of all but one,
#: 2·10⁻⁸ and more, 10⁻² mostly.
RATIONAL = 1e-10


def rational_trace_test(
    family: Family,
    points: Complex,
    parameters: Vector,
    invariants: Invariants,
    rng: np.random.Generator,
    *,
    poles: int = 1,
    settings: TrackerSettings | None = None,
) -> TraceTest:
    """The trace test for `points`, one an orbit, where the sum of `invariants` grows no faster than the parameters and
    has at most so many poles a point, with multiplicities.

    A pass is no proof: a subset that is invariant under the monodromy of the line passes too, as do points whose
    branch points lie far away; a failure may mean that too few samples were reached.

    >>> family = sh.homotopy.PolynomialFamily.read(["a*x^3 + b*x^2 - x + b"], ["x"], ["a", "b"])
    >>> p = np.array([1 + 1j, 2], complex)          # roots run to infinity where a vanishes, on every line through p
    >>> roots = sh.homotopy.monodromy(family, [[x] for x in np.roots([1 + 1j, 2, -1, 2])], p, target=3).points
    >>> from shallows.mathematics.homotopy.rational_trace import rational_trace_test
    >>> for points in (roots, roots[:2]):
    ...     test = rational_trace_test(family, points, p, lambda x: x, np.random.default_rng(0))
    ...     print(test.passed)
    True
    False
    """
    count = len(points)
    if not count:
        return TraceTest(False, np.inf, 0, 0, points)
    largest = poles * min(count, MOST)
    wanted = SAMPLES_EACH * largest + SAMPLES
    enough = wanted // 2 + largest
    settings = settings or TrackerSettings()
    at, sums = _sampled(family, points, parameters, invariants, rng, (wanted, enough), settings)
    if len(at) < enough:
        return TraceTest(False, np.inf, count, 0, points[:0])
    mixing = complex_normal(rng, sums.shape[1] * FUNCTIONALS).reshape(-1, FUNCTIONALS)
    traces = sums @ mixing
    defect = min(_misfit(at, traces / np.median(np.abs(traces), axis=0), m) for m in range(largest + 1))
    return TraceTest(defect < RATIONAL, defect, count, 0, points[:0])


def _sampled(
    family: Family,
    points: Complex,
    parameters: Vector,
    invariants: Invariants,
    rng: np.random.Generator,
    samples: tuple[int, int],
    settings: TrackerSettings,
) -> tuple[Complex, Complex]:
    """λ in the unit disk (in units of RADIUS) where every point arrived, and the sums of the invariants there.

    `samples`: how many are taken, and how many of these should arrive; more are taken while there are fewer.
    """
    wanted, enough = samples
    direction = complex_normal(rng, len(parameters))
    direction *= RADIUS * np.abs(parameters).max() / np.abs(direction).max()
    at, sums = list[complex](), list[Complex]()
    for k, (between, place) in enumerate(_places(rng, wanted)):
        if k >= wanted and len(at) >= enough:
            break
        ends = _arrived(family, points, parameters, parameters + between * direction, settings)
        if ends is not None:
            ends = _arrived(
                family, ends, parameters + between * direction, parameters + place * direction, settings
            )
        if ends is not None:
            at.append(place)
            sums.append(invariants(ends).sum(axis=0))
    return np.array(at, np.complex128), np.array(sums, np.complex128)


def _places(rng: np.random.Generator, wanted: int) -> Iterator[Complex]:
    """Pairs of random places in the unit disk, TURNS times as many as are wanted."""
    for _ in range(TURNS):
        yield from np.sqrt(rng.uniform(size=(wanted, 2))) * np.exp(2j * np.pi * rng.uniform(size=(wanted, 2)))


def _arrived(
    family: Family, points: Complex, start: Vector, end: Vector, settings: TrackerSettings
) -> Complex | None:
    """Where the points arrive; None when some stay lost."""
    paths = carried(family, points, start, end, settings, again=AGAIN)
    return None if paths.status.any() else paths.ends


def _misfit(at: Complex, traces: Complex, m: int) -> float:
    """The least |N − D T| over D of norm one and degree m and N of degree m + 1, samples weighted by 1/(1 + |T|)."""
    weights = 1.0 / (1.0 + np.abs(traces).max(axis=1))
    basis = _orthonormal(at, weights, m + 1)
    blocks = []
    for trace in traces.T:
        block = trace[:, None] * basis[:, : m + 1]
        blocks.append(block - basis @ (basis.conj().T @ block))
    return float(np.linalg.svd(np.concatenate(blocks), compute_uv=False)[-1])


def _orthonormal(at: Complex, weights: NDArray[np.float64], degree: int) -> Complex:
    """Polynomials of degree 0…degree at these places, times the weights, orthonormal (Arnoldi)."""
    columns = [weights / np.linalg.norm(weights) + 0j]
    for _ in range(degree):
        column = at * columns[-1]
        known = np.array(columns)
        for _ in range(2):
            column = column - known.T @ (known.conj() @ column)
        columns.append(column / np.linalg.norm(column))
    return np.array(columns, np.complex128).T
