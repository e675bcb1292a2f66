"""What is found along a path of problems: the critical points at its positions, and the events between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shallows.questions.discriminants.figures import following_figure
from shallows.questions.discriminants.polynomial import DISCRIMINANT, Discriminant
from shallows.support.checks import Array, counted
from shallows.support.records import Records

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True, eq=False)
class Event:
    """A point τ of the path where the landscape changes.

    kind: "collision" (two critical points meet: the discriminant vanishes), "complex collision" (two that are not real
    meet: nothing real changes), or "vertex" (a critical point goes through the zero tensor, which changes its index).
    `error` bounds |position − τ|; `signs` are those of the discriminant before and after; `tensor` is where they meet.

    >>> start = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1)
    >>> end = sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1)
    >>> sh.follow(start, end, samples=5).events[0]      # 2T + tr(T)·I is singular at T = diag(2, −2/3)
    Event(vertex at 0.833333333333: 2 -> 2 real critical points, 1 -> 2 local minima, discriminant +1 -> +1)
    """

    kind: str
    position: float
    error: float
    signs: tuple[int, int]
    real_counts: tuple[int, int]
    local_minima: tuple[int, int]
    tensor: Array | None

    def __repr__(self) -> str:
        before, after = self.real_counts
        low, high = self.local_minima
        return (
            f"Event({self.kind} at {self.position:.12g}: {before} -> {after} real critical points, "
            f"{low} -> {counted(high, 'local minimum')}, discriminant {self.signs[0]:+d} -> {self.signs[1]:+d})"
        )


@dataclass(frozen=True, eq=False)
class Following:
    """The critical points along t(τ) = (1−τ)t₀ + τt₁, G(τ) = (1−τ)G₀ + τG₁.

    `tensors[k, i]` is the i-th critical point (complex) at `positions[k]`, continued from one position to the next.
    completeness: "proved" when the events are the isolated roots of an exact polynomial in τ (two inputs), "sampled"
    when they were found between samples: two events closer than the samples may be missed.

    >>> start = sh.Problem(np.diag([1.0, 1.0]), sh.IID.laplace(2), width=1)
    >>> end = sh.Problem(np.diag([3.0, 0.5]), sh.IID.laplace(2), width=1)
    >>> path = sh.follow(start, end, samples=5)
    >>> path
    Following: 4 critical points at 5 positions, 4 real at the start, 2 at the end, events proved
      Event(collision at 0.518518518519: 4 -> 2 real critical points, 2 -> 1 local minimum, discriminant -1 -> +1)
    >>> path.positions.tolist(), path.real_counts.tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [4, 4, 4, 2, 2])
    """

    positions: Array
    tensors: NDArray[np.complex128]
    real: NDArray[np.bool_]
    events: tuple[Event, ...]
    completeness: str
    degree: int
    discriminant: Discriminant | None = field(default=None, repr=False)

    @property
    def collisions(self) -> tuple[Event, ...]:
        """The events at which two real critical points meet."""
        return tuple(event for event in self.events if event.kind == "collision")

    @property
    def real_counts(self) -> NDArray[np.int64]:
        """The number of real critical points at each position."""
        return np.asarray(np.sum(self.real, axis=1), dtype=np.int64)

    def save(self, path: str | Path) -> Path:
        """Write `path`.json and `path`.npz; `Following.load` reads them. The path of the first."""
        return RECORDS.save(path, self)

    @classmethod
    def load(cls, path: str | Path) -> Following:
        """What `save` wrote.

        >>> import tempfile
        >>> start = sh.Problem(np.diag([1.0, 1.0]), sh.IID.laplace(2), width=1)
        >>> path = sh.follow(start, sh.Problem(np.diag([3.0, 0.5]), sh.IID.laplace(2), width=1), samples=5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sh.discriminants.Following.load(path.save(f"{folder}/path")).events[0].position
        0.518518518518518...
        """
        following: Following = RECORDS.load(path)
        return following

    def figure(self) -> Figure:
        """Distance of every critical point to zero along the path, real ones solid, events marked."""
        return following_figure(self)

    def __repr__(self) -> str:
        counts = self.real_counts
        lines = [
            f"Following: {self.tensors.shape[1]} critical points at {len(self.positions)} positions, "
            f"{counts[0]} real at the start, {counts[-1]} at the end, events {self.completeness}"
        ]
        return "\n".join(lines + [f"  {event!r}" for event in self.events])


RECORDS = Records("shallows-following", 1, Following, Event, DISCRIMINANT)
