"""Systems that are written down for traced unknowns: one tape for values, one for values and slopes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.system import Plain
from shallows.mathematics.exclusion.tape import Tape


class Taped(Plain):
    """`values` and `slopes`, row by row, as sums and products of unknowns; all unknowns are bisected."""

    @abstractmethod
    def values(self, box: Any) -> Iterable[Any]:
        """The n equations at traced unknowns (…, n)."""

    @abstractmethod
    def slopes(self, box: Any) -> Iterable[Any]:
        """Their n² derivatives."""

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """Values (m, n), and derivatives (m, n, n) where asked for."""
        if not derivative:
            return self._alone(box), None
        both = self._both(box)
        shape = (len(box), self.n, self.n)
        slopes = both[:, self.n :]
        return both[:, : self.n], Intervals(slopes.lo.reshape(shape), slopes.hi.reshape(shape))

    @cached_property
    def _alone(self) -> Tape:
        return Tape(lambda box: list(self.values(box)), self.n)

    @cached_property
    def _both(self) -> Tape:
        return Tape(lambda box: [*self.values(box), *self.slopes(box)], self.n)
