"""What `solve` needs from a problem: how many paths, a homotopy with its start points, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.codes import PathStatus
from shallows.mathematics.homotopy.paths import Homotopy, Paths, TrackerSettings, track
from shallows.mathematics.homotopy.polyhedral import direct_ends, polyhedral_start
from shallows.mathematics.homotopy.sparse import scaled, scaled_exactly, scaling, sharpened, straight_line
from shallows.mathematics.homotopy.start_systems import StartSystem, linear_product, total_degree, unit
from shallows.mathematics.homotopy.starts import Start
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.support.progress import Shown

if TYPE_CHECKING:
    from shallows.mathematics.homotopy.multiple_precision import PreciseHomotopy


#: Roots of sparse systems have coordinates of very different sizes: steps are measured in all of those above this share
#: of the largest (HomotopyContinuation.jl's weighted norm has 10⁻⁴ too, its `scale_min`).
SMALL_COORDINATE = 1e-4
#: So many paths are looked at before all are followed boldly: most systems with ends that are singular or at infinity
#: have them among these.
SAMPLE = 24


class SparseProblem:
    """A polynomial system with a start system: total degree, unless another one is given."""

    def __init__(
        self,
        system: PolynomialSystem,
        start: Start | None = None,
        threads: int | None = None,
        progress: Shown = False,
    ) -> None:
        self.system, self.n = system, system.n
        self._chosen = start or Start("total degree", system.bezout_number)
        self._threads, self._progress = threads, progress
        self.start, self.path_count = self._chosen.name, self._chosen.paths
        self._scaling = scaling(system)
        self._solved: tuple[Any, StartSystem, Any] | None = None

    def prepare(self, rng: np.random.Generator) -> tuple[Homotopy, NDArray[np.complex128]]:
        """(1−t)·F + γ t·G, homogenised, and the solutions of G."""
        start, gamma = self._start(rng)
        homotopy = straight_line(scaled(self.system, self._scaling), start.times(gamma), self.n)
        if self._chosen.cells is not None:
            homotopy = replace(homotopy, floor=SMALL_COORDINATE)
        return homotopy, _lifted(start.points)

    def boldly(
        self, rng: np.random.Generator, settings: TrackerSettings
    ) -> tuple[Homotopy, Paths, bool] | None:
        """Paths on the shortest way, a homotopy with the same target, and whether these are the paths of `prepare`;
        None as soon as one is lost: when none is, and all ends differ, these are all solutions there can be."""
        bold = settings.bolder()
        if self._chosen.cells is None:
            homotopy, starts = self.prepare(rng)
            few = track(homotopy, starts[:: max(1, len(starts) // SAMPLE)], bold, threads=self._threads)
            if (few.status != PathStatus.ARRIVED).any():
                return None
            return (
                homotopy,
                track(homotopy, starts, bold, threads=self._threads, progress=self._progress),
                True,
            )
        target = scaled(self.system, self._scaling)
        found = direct_ends(self._chosen.cells, target, rng, bold, self._threads, self._progress)
        if found is None:
            return None
        homotopy = replace(straight_line(target, target, self.n), floor=SMALL_COORDINATE)
        return homotopy, Paths.converged(_lifted(found[0]), found[1]), False

    def sharply(self, rng: np.random.Generator) -> Homotopy:
        """The homotopy of `prepare` (same rng), evaluated in double-double from the exact system."""
        start, gamma = self._start(rng)
        origin = start.times(gamma)
        homotopy = straight_line(scaled(self.system, self._scaling), origin, self.n)
        homotopy = sharpened(homotopy, self.scaled_system().equations, origin, self.n)
        return replace(homotopy, floor=SMALL_COORDINATE)

    def precisely(self, rng: np.random.Generator, rows: NDArray[np.int64], steps: int) -> Paths:
        """Track these rows of the same start points (same rng) in multiple precision."""
        from shallows.mathematics.homotopy.multiple_precision import track_precisely

        homotopy, starts = self._precise_homotopy(rng)
        return track_precisely(homotopy, starts[rows], steps)

    def precise_ends(
        self, rng: np.random.Generator, rows: Sequence[int], steps: int
    ) -> list[list[Any] | None]:
        """The regular ends of these rows, in multiple precision and scaled coordinates."""
        from shallows.mathematics.homotopy.multiple_precision import precise_ends

        homotopy, starts = self._precise_homotopy(rng)
        return precise_ends(homotopy, starts[list(rows)], steps)

    def _precise_homotopy(self, rng: np.random.Generator) -> tuple[PreciseHomotopy, NDArray[np.complex128]]:
        from shallows.mathematics.homotopy.multiple_precision import PreciseHomotopy

        start, gamma = self._start(rng)
        exact = self.scaled_system().equations
        return PreciseHomotopy.build(exact, start.times(gamma), self.n), _lifted(start.points)

    def scaled_system(self) -> PolynomialSystem:
        """The exact system in the tracker's coordinates."""
        return PolynomialSystem(self.system.variables, tuple(scaled_exactly(self.system, self._scaling)))

    def _start(self, rng: np.random.Generator) -> tuple[StartSystem, complex]:
        if self._chosen.cells is not None:
            return self._polyhedral(rng), 1.0  # generic in itself: no γ, which would turn coefficients away
        elif self._chosen.groups is not None:
            start = linear_product(self.system, self._chosen.groups, rng)
        else:
            start = total_degree(self.system.degrees, rng)
        return start, complex(unit(rng))

    def _polyhedral(self, rng: np.random.Generator) -> StartSystem:
        """A generic system with all its roots; the last one is kept for those who come with the same rng again."""
        assert self._chosen.cells is not None
        state = rng.bit_generator.state
        if self._solved is not None and self._solved[0] == state:
            rng.bit_generator.state = self._solved[2]
            return self._solved[1]
        start = polyhedral_start(
            self._chosen.cells, scaled(self.system, self._scaling), rng, self._threads, self._progress
        )
        self._solved = (state, start, rng.bit_generator.state)
        return start

    def unscale(self, points: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """From the scaled coordinates of the tracker to the user's."""
        return self._scaling.out(points)

    def rescale(self, points: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """From the user's coordinates to the scaled ones."""
        return self._scaling.into(points)


def _lifted(points: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """(x, 1)."""
    return np.hstack([points, np.ones((len(points), 1), np.complex128)])
