"""The critical equations of limits of neurons with several outputs, under one metric for all outputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from shallows.questions.charts.closure.equations import TermEquations
from shallows.questions.charts.continuation.metrics import Complex
from shallows.questions.charts.outputs.merged_map import OutputBlocks
from shallows.support.checks import Array


@dataclass(frozen=True)
class MergedOutputEquations(TermEquations):
    """Sums of blocks of merged neurons, at least one of them of two neurons or more, with `shown` outputs."""

    degree: int
    n: int
    shown: int
    blocks: tuple[int, ...]

    @cached_property
    def map(self) -> OutputBlocks:
        """x ↦ s, w₁ = 1."""
        return OutputBlocks(self.degree, self.n, self.shown, self.blocks)

    @property
    def outputs(self) -> int:
        """M."""
        return self.shown

    @property
    def poles(self) -> int:
        """Two, as of networks (`OutputEquations`)."""
        return 2

    @property
    def r(self) -> int:
        """How many neurons take part."""
        return sum(map(abs, self.blocks))

    def orbit(self, x: Complex) -> Complex:
        """All orders of equal blocks."""
        places = self.map.places(x)
        orders = [
            order
            for order in permutations(range(len(places)))
            if all(self.blocks[a] == self.blocks[b] for a, b in enumerate(order))
        ]
        images = [self.map.parameters([places[k] for k in order]) for order in orders]
        return np.array(images, np.complex128)

    def turned(self, points: Complex, frame: Array) -> Complex:
        """Points in the coordinates w = frame · w′, one a row."""
        back = np.linalg.inv(frame)
        moved = [[one.turned(back) for one in self.map.places(x)] for x in points]
        return np.array([self.map.parameters(one) for one in moved], np.complex128).reshape(points.shape)
