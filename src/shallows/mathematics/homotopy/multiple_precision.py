"""Paths that double precision cannot hold, tracked in multiple precision (python-flint).

The same predictor-corrector as `tracker`, in midpoints of `bits`-bit balls: slow (milliseconds a step), and
meant for the few paths that are lost or end at roots too ill-conditioned for doubles. The precision is raised
until the path holds: nothing is assumed about where it ends, and no end point is taken over from elsewhere.
(D. Bates, J. Hauenstein, A. Sommese, C. Wampler, "Adaptive multiprecision path tracking", SIAM J. Numer.
Anal. 46, 2008.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import PolynomialBalls, precision
from shallows.mathematics.homotopy._compiled.blocks import FIRST_STEP
from shallows.mathematics.homotopy._compiled.codes import PathStatus
from shallows.mathematics.homotopy._compiled.endgame import OUTWARD
from shallows.mathematics.homotopy._compiled.infinity import MARK_EVERY
from shallows.mathematics.homotopy._compiled.tracker import (
    LEAST_CHANGE,
    LONG,
    MOST_CHANGE,
    SAFETY,
    SMALLEST_ERROR,
    WHOLE,
    WORST_CONTRACTION,
)
from shallows.mathematics.homotopy.coefficients import to_gaussian
from shallows.mathematics.homotopy.paths import Paths, TrackerSettings
from shallows.mathematics.homotopy.precise_endgame import ENDGAME, ROUNDED, SMALLER, SOLVED, Walk, size, walk
from shallows.mathematics.homotopy.systems import Exponents, PolynomialSystem, Terms
from shallows.mathematics.newton import refined
from shallows.support.tolerances import TINY

#: Bits that are tried one after the other.
_LADDER = (128, 256, 512)
#: What the step control aims at is the tracker's; the first Newton step is refused beyond this, the tenfold.
_AIM, _WORST_PREDICTION = TrackerSettings(), 0.02
#: Newton steps after a prediction: from 0.02, with ratios of 0.12, squared each time, 512 bits take no more.
_CORRECTIONS = 9
#: What a refused step is cut to, and the shortest share of what is left of the way.
_SHORTER, _SHORTEST = 0.4, 1e-9
#: An end is regular when its Jacobian's inverse, times the accuracy of the point, is below this.
_REGULAR = 1e-3
#: A path that is as close as this to t = 0, has not arrived and could not be walked around ends at a singular point,
#: known to about 10⁻⁸: at a root of multiplicity 3, say, it is t^(1/3) away.
_SMALLEST, _SINGULAR_ERROR = 1e-30, 1e-8
#: Nearness |x₀| at which a path is looked at as one to infinity, nearness below which it may be one, and how far the
#: mark from which its exponent is measured lies behind.
_AT_INFINITY, _NEAR_INFINITY, _MEASURABLE = 1e-20, 1e-4, 1.5


@dataclass(frozen=True)
class PreciseHomotopy:
    """(1−t)·target + t·start, homogenised, with exact coefficients."""

    target: PolynomialSystem
    start: PolynomialSystem

    @classmethod
    def build(
        cls, target: Sequence[Terms], start: Sequence[dict[Exponents, complex]], n: int
    ) -> PreciseHomotopy:
        """Homogenise both to the same degrees, the new variable last."""
        names = (*(f"x{k}" for k in range(n)), "x_0")
        ends: list[Terms] = []
        starts: list[Terms] = []
        for goal, origin in zip(target, start, strict=True):
            degree = max(sum(key) for key in (*goal, *origin))
            ends.append({(*key, degree - sum(key)): value for key, value in goal.items()})
            starts.append({(*key, degree - sum(key)): to_gaussian(value) for key, value in origin.items()})
        return cls(PolynomialSystem(names, tuple(ends)), PolynomialSystem(names, tuple(starts)))


def track_precisely(homotopy: PreciseHomotopy, starts: NDArray[np.complex128], steps: int) -> Paths:
    """Track the rows of `starts` (x, 1) one by one, raising the precision until each path holds."""
    count = len(starts)
    ends = np.array(starts, np.complex128)
    status = np.full(count, int(PathStatus.STEP_TOO_SMALL))
    used = np.zeros(count, np.int64)
    winding, radius, error = np.ones(count, np.int64), np.ones(count), np.zeros(count)
    for row in range(count):
        outcome, path, used[row] = _followed(homotopy, starts[row], steps)
        status[row], radius[row], error[row] = int(outcome), path.t, path.error
        ends[row], winding[row] = path.point(), path.winding
    return Paths(ends, status, winding, used, radius, error)


def precise_ends(
    homotopy: PreciseHomotopy, starts: NDArray[np.complex128], steps: int
) -> list[list[Any] | None]:
    """The affine ends of paths in multiple precision, as exact balls; None where a path has no regular end."""
    ends: list[list[Any] | None] = []
    for start in starts:
        outcome, path, _ = _followed(homotopy, start, steps)
        ends.append(path.affine() if outcome is PathStatus.PRECISE_REGULAR else None)
    return ends


def _followed(
    homotopy: PreciseHomotopy, start: NDArray[np.complex128], steps: int
) -> tuple[PathStatus, _Path, int]:
    """A path with as many bits as it takes, and the steps of all attempts."""
    used = 0
    for bits in _LADDER:
        path = _Path(homotopy, start, bits, steps)
        outcome = path.follow()
        used += path.steps
        if outcome is not PathStatus.STEP_TOO_SMALL:
            break
    return outcome, path, used


class _Path:
    """One path at one precision: its last three points and tangents, and the patch it is on."""

    def __init__(
        self, homotopy: PreciseHomotopy, start: NDArray[np.complex128], bits: int, steps: int
    ) -> None:
        from flint import acb_mat

        self.bits, self.budget, self.steps = bits, steps, 0
        self.fine = 2.0 ** (-bits / 2)
        self.target = PolynomialBalls(homotopy.target, bits)
        self.start = PolynomialBalls(homotopy.start, bits)
        self.precision, self.matrix = precision, acb_mat
        with precision(bits):
            self.z = acb_mat(len(start), 1, start.tolist())
        self.t, self.error = 1.0, 0.0
        self.nodes: list[float] = []
        self.points: list[Any] = []
        self.tangents: list[Any] = []
        self.marks: list[tuple[float, float]] = []
        self.winding, self.next_circle = 1, ENDGAME
        self.walked: Walk | None = None

    def point(self) -> NDArray[np.complex128]:
        """The present point, rounded to double and of unit length."""
        z = np.array([complex(entry) for entry in self.z.entries()])
        return np.asarray(z / np.linalg.norm(z))

    def affine(self) -> list[Any]:
        """The present point with x₀ = 1, as midpoints."""
        with self.precision(self.bits):
            *x, last = self.z.entries()
            return [(entry / last).mid() for entry in x]

    def _linear_system(self, entries: Sequence[Any], at: Any) -> tuple[Any, Any]:
        """Value and Jacobian, the patch as last row, at an exact point; kept with ∂H/∂t for the tangent."""
        from flint import acb

        t = acb(at)
        goal, goal_slope = self.target(entries)
        origin, origin_slope = self.start(entries)
        slope = (goal_slope * (1 - t) + origin_slope * t).tolist()
        value = (goal * (1 - t) + origin * t).entries()
        drift = (origin - goal).entries()
        rows = [*slope, self.patch]
        reached = sum((p * x for p, x in zip(self.patch, entries, strict=True)), -entries[0] * 0) - 1
        size = len(entries)
        self.jacobian = self.matrix(rows).mid()
        self.drift = self.matrix(size, 1, [*drift, 0]).mid()
        return self.matrix(size, 1, [*value, reached]).mid(), self.jacobian

    def _recentre(self) -> None:
        """Unit length, patch through the point; the history starts again."""
        from flint import acb

        norm = float(np.sqrt(sum(abs(complex(e)) ** 2 for e in self.z.entries())))
        self.z = (self.z * (1 / acb(norm))).mid()
        square = sum(abs(complex(e)) ** 2 for e in self.z.entries())
        self.patch = [acb(complex(e).conjugate() / square) for e in self.z.entries()]
        total = sum((p * x for p, x in zip(self.patch, self.z.entries(), strict=True)), acb(0))
        self.z = (self.z * (1 / total)).mid()
        self.nodes, self.points, self.tangents, self.walked = [], [], [], None
        self._linear_system(self.z.entries(), self.t)
        self._remember()

    def _remember(self) -> None:
        """The present point, with the tangent that the last linear system gives."""
        self.nodes = [*self.nodes[-2:], self.t]
        self.points = [*self.points[-2:], self.z]
        self.tangents = [*self.tangents[-2:], self._tangent()]

    def _tangent(self) -> Any:
        """dz/dt, from the last linear system."""
        return (self.jacobian.solve(self.drift) * -1).mid()

    def _predict(self, at: float) -> Any:
        total: Any = None
        for i, node in enumerate(self.nodes):
            basis, slope = 1.0, 0.0
            for j, other in enumerate(self.nodes):
                if j != i:
                    basis *= (at - other) / (node - other)
                    slope += 1.0 / (node - other)
            by_point = (1.0 - 2.0 * slope * (at - node)) * basis * basis
            by_tangent = (at - node) * basis * basis
            part = self.points[i] * by_point + self.tangents[i] * by_tangent
            total = part if total is None else total + part
        return total.mid()

    def _is_regular(self) -> bool:
        """Whether the Jacobian is invertible beyond the accuracy of the point: ‖J⁻¹‖ far below 1/accuracy."""
        size = self.jacobian.nrows()
        probe = self.matrix(size, 1, [(-1) ** k * (1.0 + k / size) for k in range(size)])
        response = self.jacobian.solve(probe).mid().entries()
        return bool(max(abs(complex(entry)) for entry in response) * self.fine < _REGULAR)

    def _away(self) -> float:
        z = self.point()
        return float(abs(z[-1]))

    def follow(self) -> PathStatus:
        """Track from t = 1 towards 0; what became of it."""
        with self.precision(self.bits):
            try:
                return self._follow()
            except ZeroDivisionError:
                return PathStatus.STEP_TOO_SMALL

    def _corrected(self, z: Any, t: Any) -> tuple[Any, float, float, float] | None:
        """Newton from a prediction: the point, its first, largest relative and last step; None when it is refused."""
        first, ratio, previous = 0.0, 0.0, 0.0
        for entries, delta in refined(lambda x: self._linear_system(x, t), z.entries(), _CORRECTIONS):
            if not delta < _WORST_PREDICTION:
                return None
            if not first:
                first = delta
            elif delta > self.fine:
                now = delta / previous
                ratio = max(ratio, now)
                if now > WORST_CONTRACTION * _AIM.contraction:
                    return None
            if delta < self.fine:
                return self.matrix(len(entries), 1, entries), first, ratio, delta
            previous = delta
        return None

    def _follow(self) -> PathStatus:
        self._recentre()
        share = FIRST_STEP
        while self.t > 0.0:
            if self.steps >= self.budget:
                return PathStatus.TOO_MANY_STEPS
            self.steps += 1
            final = share >= WHOLE
            t = 0.0 if final else self.t * (1.0 - share)
            corrected = self._corrected(self._predict(t), t)
            if corrected is None or (final and not self._is_regular()):
                share *= _SHORTER
                if share < _SHORTEST:
                    return self._infinite_or(PathStatus.STEP_TOO_SMALL)
                continue
            self.z, first, ratio, self.error = corrected
            self.t = t
            if final:
                return PathStatus.PRECISE_REGULAR
            order = 2.0 * len(self.nodes)
            self._remember()
            if sum(abs(complex(e)) ** 2 for e in self.z.entries()) > LONG:
                self._recentre()
            error = max(first / _AIM.prediction, ratio / _AIM.contraction, SMALLEST_ERROR)
            done = share / (1.0 - share)  # this step, as a share of what is left now
            share = min(done * min(max(SAFETY * error ** (-1.0 / order), LEAST_CHANGE), MOST_CHANGE), 1.0)
            if not self.marks or self.t < MARK_EVERY * self.marks[-1][0]:
                self.marks.append((self.t, self._away()))
            if self.t < self.next_circle and self._around():
                near = float(abs(complex(self.z.entries()[-1]))) < SOLVED * self.fine
                return PathStatus.INFINITE if near else PathStatus.PRECISE_SINGULAR
            if self._away() < _AT_INFINITY:
                return self._infinite_or(PathStatus.STEP_TOO_SMALL)
            if self.t < _SMALLEST:
                self.error = _SINGULAR_ERROR
                return self._infinite_or(PathStatus.PRECISE_SINGULAR)
        return PathStatus.PRECISE_REGULAR

    def _around(self) -> bool:
        """Walk around |t|: True when the mean is that of the last circle, and solves the equations; it is the end."""

        def corrected(z: Any, t: Any) -> tuple[Any, Any] | None:
            self.steps += 1
            found = self._corrected(z, t) if self.steps < self.budget else None
            return None if found is None else (found[0], self._tangent())

        self.next_circle = self.t / SMALLER
        before, self.walked = self.walked, walk(corrected, self.z, self.tangents[-1], self.t, _AIM.windings)
        gap = float("inf") if self.walked is None else self.walked.gap(before)
        if self.walked is None or not gap < self.fine:
            return False
        mean = self.walked.mean
        value, _ = self._linear_system(mean.entries(), 0.0)
        if not size(value) < SOLVED * max(gap, 2.0 ** (-ROUNDED * self.bits)):
            return False
        self.z, self.winding, self.error = mean, self.walked.winding, gap
        return True

    def _infinite_or(self, otherwise: PathStatus) -> PathStatus:
        """At infinity when x₀ has kept falling like a power of t over the last decades."""
        away = self._away()
        earlier = [mark for mark in self.marks if mark[0] > _MEASURABLE * self.t]
        if earlier and 0 < away < _NEAR_INFINITY:
            t, before = earlier[-1]
            if np.log(before / away) / np.log(t / max(self.t, TINY)) > OUTWARD:
                return PathStatus.INFINITE
        return otherwise
