"""The trace test: whether a set of solutions of a generic member is all of them, without knowing the number.

Along a line p(t) = p + t·q of parameters the solutions form a curve C in (x, t)-space. Its sections by the
bilinear equation t·(ℓ·x + ℓ₀) = s are hyperplane sections of C in the Segre coordinates (x, t, t·x), so the
sum of x (or t) over a complete section is an affine function of s, and over no proper subset of it. At s = 0 the
section is the set to be tested, at t = 0, together with the points of C where ℓ vanishes; those are found
by monodromy in (ℓ, s). (A. Leykin, J. Rodriguez, F. Sottile, "Trace test", Arnold Math. J. 4, 2018.)

Where no solution runs to infinity at finite parameters and the growth of the sum is known to be linear, the section is
not needed: `linear_trace_test` looks at the solutions at three parameters of one line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.codes import PENCIL
from shallows.mathematics.homotopy.carrying import carried
from shallows.mathematics.homotopy.families import Family, Vector
from shallows.mathematics.homotopy.parameter import random_parameters
from shallows.mathematics.homotopy.paths import Paths, TrackerSettings, track
from shallows.mathematics.same_points import Invariants, PointSet
from shallows.support.arguments import typed
from shallows.support.checks import counted
from shallows.support.tolerances import TINY

#: Lengths, relative to the parameters, of the lines that `linear_trace_test` tries: a short one loses fewer paths.
LENGTHS = (0.2, 0.2, 0.05)
#: Second differences of a trace, relative to the changes in it, that count as zero. Of a complete set they are
#: rounding, of an incomplete one a share of the changes: 10⁻¹⁵ for the three roots of a cubic, 4·10⁻³ for two of them.
#: A part of the solutions that is all but independent of the others, for being of another size, bends less: 2·10⁻¹⁰ for
#: one of four points under N(μ, 1), ‖μ‖ = 1000; all four bend by 4·10⁻¹⁵ in balanced coordinates.
LINE_TOLERANCE, PENCIL_TOLERANCE = 1e-9, 1e-11
#: Points of a section that came back to t = 0: the others end on ℓ = 0, at values of t of the size of the parameters.
AT_ZERO = 1e-7
#: So many loops without a new point of the section are enough.
IDLE = 12
#: How far the section moves, as a share of s.
SHIFT = 0.3


@dataclass(frozen=True)
class TraceTest:
    """The outcome of a trace test: `defect` is the second difference of the trace, relative to the changes in it.

    missing: solutions at the tested parameters that were not among the points given, when any turned up.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^3 - a*x + b"], ["x"], ["a", "b"])
    >>> roots = np.array([[1.0], [2.0], [-3.0]], complex)               # of x³ − 7x + 6
    >>> test = sh.homotopy.trace_test(family, roots[:2], np.array([7, 6], complex), np.random.default_rng(0))
    >>> test
    TraceTest(failed: defect ..., section of ... points, ... loops, 1 solution missing)
    >>> test.missing.real.round(6).tolist()
    [[-3.0]]
    """

    passed: bool
    defect: float
    section: int
    loops: int
    missing: NDArray[np.complex128]

    def __repr__(self) -> str:
        verdict = "passed" if self.passed else "failed"
        lacking = f", {counted(len(self.missing), 'solution')} missing" if len(self.missing) else ""
        return (
            f"TraceTest({verdict}: defect {self.defect:.2g}, section of {counted(self.section, 'point')}, "
            f"{counted(self.loops, 'loop')}{lacking})"
        )


@typed
def trace_test(
    family: Family,
    points: NDArray[np.complex128],
    parameters: Vector,
    rng: np.random.Generator,
    *,
    tolerance: float = PENCIL_TOLERANCE,
    max_loops: int = 60,
    traced: int | None = None,
    threads: int | None = None,
    settings: TrackerSettings | None = None,
) -> TraceTest:
    """The trace test: whether `points` are all solutions at the generic `parameters`, without knowing their number.

    Along a line of parameters the solutions form a curve; the sum of its points over a complete hyperplane section is
    affine in the section, over no proper subset of it (A. Leykin, J. Rodriguez, F. Sottile, Arnold Math. J. 4, 2018).
    A pass means that no solution on the components of the curve met by the known points is missing, up to
    the numerical tolerance; a failure may also mean that the section was not completed in `max_loops`.
    The completed section is carried back to s = 0: its points with t = 0 must be the points given. Where the first
    `traced` unknowns tell solutions apart, the curve may be looked at in these alone: the others, multipliers for
    example, then may have poles on it.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^3 - a*x + b"], ["x"], ["a", "b"])
    >>> roots = np.array([[1.0], [2.0], [-3.0]], complex)               # of x³ − 7x + 6
    >>> sh.homotopy.trace_test(family, roots, np.array([7, 6], complex), np.random.default_rng(0)).passed
    True
    """
    settings = settings or TrackerSettings()
    size = float(np.abs(parameters).max())
    line = family.segment(parameters + random_parameters(family, rng, size), parameters)
    pencil = replace(line, unknowns=line.unknowns + 1, mode=PENCIL)
    n = family.n
    ignored = slice(n if traced is None else traced, n)
    weights = rng.standard_normal((2, n + 1))
    functional = weights[0] + 1j * weights[1]
    functional[ignored] = 0.0

    def section() -> Vector:
        """A random (ℓ, ℓ₀, s)."""
        real, imaginary = rng.standard_normal((2, n + 2))
        drawn = np.asarray(real + 1j * imaginary)
        drawn[ignored] = 0.0
        return drawn

    def move(table: NDArray[np.complex128], begin: Vector, end: Vector) -> Paths:
        chart = np.concatenate([end, begin - end, [0.0]])
        return track(pencil, table, settings, threads=threads, chart=chart, endgame=False)

    nothing = np.zeros((0, n), np.complex128)
    base = section()
    flat = base.copy()
    flat[n + 1] = 0.0
    lifted = np.hstack([points, np.zeros((len(points), 1))])
    first = move(lifted, flat, base)
    if (first.status != 0).any():
        return TraceTest(False, np.inf, len(points), 0, nothing)
    found = PointSet(first.ends)
    defect, loops, idle = np.inf, 0, 0
    while loops < max_loops:
        defect = _defect(found.points, base, move, functional)
        if defect < tolerance:
            back = move(found.points, base, flat)
            known = PointSet(points)
            before = len(known.points)
            known.add(back.ends[np.abs(back.ends[:, n]) < AT_ZERO][:, :n])
            missing = known.points[before:]
            whole = not len(missing) and bool((back.status == 0).all())
            return TraceTest(whole, defect, len(found.points), loops, missing)
        if idle >= IDLE:
            break
        one, two = section(), section()
        table = found.points
        for begin, end in ((base, one), (one, two), (two, base)):
            paths = move(table, begin, end)
            table = paths.ends[paths.status == 0]
        idle = 0 if found.add(table) else idle + 1
        loops += 1
    return TraceTest(False, defect, len(found.points), loops, nothing)


@typed
def linear_trace_test(
    family: Family,
    points: NDArray[np.complex128],
    parameters: Vector,
    invariants: Invariants,
    rng: np.random.Generator,
    *,
    tolerance: float = LINE_TOLERANCE,
    threads: int | None = None,
    settings: TrackerSettings | None = None,
) -> TraceTest:
    """The trace test for `points`, one an orbit, where the sum of `invariants` over all solutions is affine in p.

    That is so when the sum is a polynomial (no solution runs to infinity at a finite p) and grows no faster than p.
    Over a proper subset the sum has branch points unless it happens to be invariant under the monodromy of the line,
    which is impossible when the monodromy group is doubly transitive: expected, not proved, so a pass is no proof.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^3 - a*x + b"], ["x"], ["a", "b"])
    >>> roots = np.array([[1.0], [2.0], [-3.0]], complex)               # of x³ − 7x + 6
    >>> for points in (roots, roots[:2]):       # the squares of all three roots have the sum 2a, affine in (a, b)
    ...     test = sh.homotopy.linear_trace_test(
    ...         family, points, np.array([7, 6], complex), np.square, np.random.default_rng(0)
    ...     )
    ...     print(test.passed)
    True
    False
    """
    settings = settings or TrackerSettings()
    here = invariants(points)
    there = None
    for length in LENGTHS:
        direction = random_parameters(family, rng, length * float(np.abs(parameters).max()))
        there = _both_ways(family, points, parameters, direction, settings, threads)
        if there is not None:
            break
    if there is None:
        return TraceTest(False, np.inf, len(points), 0, points[:0])
    there = [invariants(ends) for ends in there]
    bend = np.abs((there[0] + there[1] - 2 * here).sum(axis=0)).max()
    change = max(float(np.abs(moved - here).sum(axis=0).max()) for moved in there)
    defect = float(bend / max(change, TINY))
    return TraceTest(defect < tolerance, defect, len(points), 0, points[:0])


def _both_ways(
    family: Family,
    points: NDArray[np.complex128],
    parameters: Vector,
    direction: Vector,
    settings: TrackerSettings,
    threads: int | None,
) -> list[NDArray[np.complex128]] | None:
    """The solutions at p + q and at p − q; None when some stay lost."""
    reached = []
    for way in (direction, -direction):
        paths = carried(family, points, parameters, parameters + way, settings, threads=threads)
        if (paths.status != 0).any():
            return None
        reached.append(paths.ends)
    return reached


def _defect(points: NDArray[np.complex128], base: Vector, move: object, functional: Vector) -> float:
    """|T(s−h) − 2T(s) + T(s+h)| over the size of the changes, T the trace of a linear functional."""
    totals = []
    for shift in (-SHIFT, 0.0, SHIFT):
        end = base.copy()
        end[-1] = base[-1] * (1 + shift)
        if shift:
            paths = move(points, base, end)  # type: ignore[operator]
            if (paths.status != 0).any():
                return float("inf")
            table = paths.ends
        else:
            table = points
        totals.append(table @ functional)
    change = np.abs(totals[0] - totals[1]).sum() + np.abs(totals[2] - totals[1]).sum()
    return float(abs(totals[0].sum() - 2 * totals[1].sum() + totals[2].sum()) / max(change, TINY))
