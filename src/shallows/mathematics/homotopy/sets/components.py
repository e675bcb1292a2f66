"""Irreducible components of a solution set, as a decomposition lists them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.homotopy.paths import TrackerSettings
from shallows.mathematics.homotopy.sets.local_systems import ZERO, LocalSystems
from shallows.mathematics.homotopy.sets.membership import Membership, WitnessSet
from shallows.mathematics.homotopy.sets.slicing import Sliced, random_slice
from shallows.support.checks import positive_integer
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.seeds import generator

Vector = NDArray[np.complex128]
#: An equation that keeps more than this share of its terms' sizes at a point does not vanish there: points that people
#: give are often known to six digits.
NOT_ZERO = 1e-4
#: Slices that `sample` draws, in multiples of those it needs, before it gives up.
PATIENCE = 10


@dataclass(frozen=True)
class Component:
    """One irreducible component over the complex numbers: its points on a random slice, and what is known of it.

    dimension, degree: the slice has `dimension` linear forms (rows of `slice`, the constant last), and meets the
    component in `degree` points. multiplicity: of the component in the given equations, by local algebra at one of
    its points; 1 is regular, None was not determined. confirmed: whether the trace test says that these points are
    one whole irreducible component; `trace_defect` is what it measured, 0 on a point.

    >>> cubic = sh.homotopy.decompose(["y - x^2", "z - x^3"]).components[0]
    >>> cubic
    Component(dimension 1, degree 3, multiplicity 1, confirmed by the trace test)
    >>> cubic.contains([2, 4, 8]), cubic.contains([2, 4, 7])
    (True, False)
    >>> points = cubic.sample(5, rng=0)
    >>> points.shape, bool(np.allclose(points[:, 2], points[:, 0] ** 3))
    ((5, 3), True)
    """

    dimension: int
    degree: int
    multiplicity: int | None
    confirmed: bool
    trace_defect: float
    witness: WitnessSet = field(repr=False, compare=False)
    systems: LocalSystems = field(repr=False, compare=False)

    @property
    def points(self) -> Vector:
        """The witness points, one a row; of an isolated point, that point."""
        return self.witness.points

    @property
    def slice(self) -> Vector:
        """The linear forms that vanish at the points, one a row: coefficients, then the constant."""
        return self.witness.forms

    def contains(self, point: ArrayLike, rng: int | np.random.Generator = 0) -> bool:
        """Whether a point lies on the component: numerically, to about five digits.

        The slice is moved until it passes through the point; `NotConverged` says that this did not decide.
        """
        place = np.asarray(point, np.complex128)
        if place.shape != (self.witness.n,) or not np.isfinite(place).all():
            raise InvalidProblem(
                f"point has shape {place.shape}; expected {self.witness.n} finite coordinates, in the variables' order"
            )
        if (self.systems.system.share(place) > NOT_ZERO).any():
            return False
        test = Membership(self.witness, self.systems, generator(rng), TrackerSettings())
        answer = test.contains(place)
        if answer is None:
            raise NotConverged(
                "Whether the point is on the component is not decided: paths to slices through it were lost, or end "
                "near it but not at it. Fix: give more digits of the point, or another rng"
            )
        return answer

    def sample(self, count: int = 1, rng: int | np.random.Generator = 0) -> Vector:
        """Points of the component on random complex slices, `degree` of them on each, one a row.

        They are generic complex points, not a sample of a distribution, and real points are not sought.
        """
        count = positive_integer("count", count)
        if self.dimension == 0:
            return np.repeat(self.points, count, axis=0)
        random = generator(rng)
        system = self.systems.of(self.witness.ranks)
        sliced = Sliced(system, self.witness.n, self.dimension, random)
        found: list[Vector] = []
        for _ in range(PATIENCE * (1 + count // self.degree)):
            forms = random_slice(self.witness.n, self.dimension, random)
            paths = sliced.move(self.witness.places, self.witness.forms, forms, TrackerSettings())
            ends = paths.ends[paths.status == 0]
            found += [end[: self.witness.n] for end in ends if (system.share(end) < ZERO).all()]
            if len(found) >= count:
                return np.array(found[:count])
        raise NotConverged(f"Only {len(found)} of {count} points were reached. Fix: another rng")

    def __repr__(self) -> str:
        known = "not determined" if self.multiplicity is None else str(self.multiplicity)
        if self.dimension == 0:
            return f"Component(an isolated point, multiplicity {known})"
        test = "confirmed by the trace test" if self.confirmed else "NOT confirmed by the trace test"
        return f"Component(dimension {self.dimension}, degree {self.degree}, multiplicity {known}, {test})"
