"""Whether a point lies on a component: the slice moves until it passes through the point.

If the point is on the component, one of the component's points on the moving slice ends there, since generic linear
spaces of the right dimension through a point meet the component in isolated points (A. Sommese, J. Verschelde, C.
Wampler, "Numerical irreducible decomposition using projections from points on the components", 2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.codes import PathStatus
from shallows.mathematics.homotopy.paths import TrackerSettings
from shallows.mathematics.homotopy.sets.local_systems import LocalSystems, Ranks
from shallows.mathematics.homotopy.sets.slicing import Sliced, slice_through
from shallows.mathematics.same_points import chordal_coordinates

Vector = NDArray[np.complex128]
#: Chordal distances of a point to the nearest end. Regular ends are known to 10⁻¹³, singular ones to 10⁻⁶ and in bad
#: cases 10⁻⁴; the others are as far away as random points are.
HERE, NOT_HERE = 1e-5, 1e-3
#: So many slices through the point are tried where one gives no answer.
ATTEMPTS = 3
#: How a path ends that has an end point.
_ENDED = (PathStatus.ARRIVED, PathStatus.CONVERGED)


@dataclass(frozen=True)
class WitnessSet:
    """Points of a slice, all of one dimension and with one local system; multipliers stand after the coordinates."""

    dimension: int
    ranks: Ranks
    places: Vector
    forms: Vector

    @property
    def n(self) -> int:
        """The number of coordinates of a point."""
        return int(self.forms.shape[1]) - 1

    @property
    def points(self) -> Vector:
        """One a row."""
        return self.places[:, : self.n]

    def rows(self, chosen: Sequence[int] | NDArray[np.intp]) -> WitnessSet:
        """Some of the points."""
        return WitnessSet(self.dimension, self.ranks, self.places[np.asarray(chosen, np.intp)], self.forms)


class Membership:
    """The test for one witness set; what it needs is made once."""

    def __init__(
        self,
        witness: WitnessSet,
        systems: LocalSystems,
        rng: np.random.Generator,
        settings: TrackerSettings,
        threads: int | None = None,
    ) -> None:
        self.witness, self.settings, self.threads, self.rng = witness, settings, threads, rng
        system = systems.of(witness.ranks)
        self._sliced = Sliced(system, witness.n, witness.dimension, rng, projective=True)

    def contains(self, point: Vector) -> bool | None:
        """Whether the point is on the set; None when it is not decided: paths were lost, or an end is near it."""
        if self.witness.dimension == 0:
            return self._verdict(self.witness.points, point, True)
        for _ in range(ATTEMPTS):
            forms = slice_through(point, self.witness.dimension, self.rng)
            paths = self._sliced.move(
                self.witness.places, self.witness.forms, forms, self.settings, self.threads, endgame=True
            )
            ended = np.isin(paths.status, _ENDED)
            gone = paths.status == PathStatus.INFINITE
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                ends = paths.ends[ended, : self.witness.n] / paths.ends[ended, -1:]
            answer = self._verdict(ends, point, bool((ended | gone).all()))
            if answer is not None:
                return answer
        return None

    @staticmethod
    def _verdict(ends: Vector, point: Vector, all_ended: bool) -> bool | None:
        ends = ends[np.isfinite(ends).all(axis=1)]
        gap = np.inf
        if len(ends):
            where = chordal_coordinates(np.vstack([point[None], ends]))
            gap = float(np.linalg.norm(where[1:] - where[0], axis=1).min())
        if gap < HERE:
            return True
        return False if gap > NOT_HERE and all_ended else None
