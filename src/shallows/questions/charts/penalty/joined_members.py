"""Solved members that charts of several outputs with a penalty start from (`one_more_output`, `fixed_outputs`).

Networks and targets that make them critical are an affine bundle over (b, u): x is a function of u, and the slopes of
the outputs solve linear equations. So they are irreducible, monodromy over the targets of the outputs alone finds all
solutions, and the sum over a subset of them is no rational function of the target: the trace test tells whether all
are found. Directions u with u·u = 0, which the penalty does not see, are where solutions run to infinity.

With fixed outer weights a network and all targets t_m and multiples of the identity that make it critical are a linear
space, and monodromy is over these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.mathematics.homotopy.rational_trace import rational_trace_test
from shallows.mathematics.homotopy.trace import TraceTest
from shallows.mathematics.same_points import PointSet
from shallows.questions.charts.continuation.equations import Complex, SolvedMember
from shallows.questions.charts.continuation.generic_members import (
    TESTED,
    drawn_metric,
    first_whole,
    solved_once,
)
from shallows.questions.charts.continuation.lost_paths import SETTINGS
from shallows.questions.charts.limits import most_points
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.penalty.members import PinnedFamily, Targets
from shallows.questions.charts.penalty.metrics import PenalisedMetrics
from shallows.support.progress import Shown

#: Of more solutions the trace is not looked at: of 217, two neurons in three inputs under rotation-invariant data, some
#: path is lost on almost every way (measured: 10 of 1,307), so that too few samples arrive. Such members are "sampled".
TESTED_POINTS = 60


@dataclass(frozen=True, repr=False)
class SeveralOutputs(NeuronEquations, ABC):
    """Critical equations of several outputs and P, solved by monodromy over their targets, and over multiples of the
    identity where it `moves` too."""

    moves: ClassVar[bool]

    @property
    def poles(self) -> int:
        """Two, as for several outputs without penalty; measured."""
        return 2

    @abstractmethod
    def first_of(
        self, metrics: PenalisedMetrics, u: Complex, rng: np.random.Generator
    ) -> tuple[Complex, Complex]:
        """A random network, and (g, v), v the multiple of the identity, for which it is critical."""


def joined_start(equations: SeveralOutputs, special: PenalisedMetrics, tell: Shown = False) -> SolvedMember:
    """Where every problem with such networks and metrics starts from; solved once a machine."""
    return solved_once(
        equations,
        special,
        lambda: first_whole(equations, lambda seed: _solved(equations, special, seed, tell)),
    )


def _solved(equations: SeveralOutputs, special: PenalisedMetrics, seed: int, tell: Shown) -> SolvedMember:
    rng, u = drawn_metric(equations, special, seed)
    x, targets = equations.first_of(special, u, rng)
    pinned = PinnedFamily(equations, special)
    held = targets[:0] if equations.moves else targets[-1:]
    family, g = Targets(pinned, u, held), targets[: len(targets) - len(held)]

    def test(found: PointSet, generator: np.random.Generator) -> TraceTest:
        if len(found) > TESTED_POINTS:
            return TraceTest(False, np.inf, len(found), 0, found.points[:0])
        tensors, poles = equations.tensors, equations.poles
        return rational_trace_test(
            family, found.points, g, tensors, generator, poles=poles, settings=SETTINGS
        )

    found = monodromy(
        family,
        x[None, :],
        g,
        rng=seed,
        invariants=equations.tensors,
        limit=most_points(),
        trace=test,
        max_members=TESTED,
        settings=SETTINGS,
        progress=tell,
    )
    return SolvedMember(pinned.full(np.concatenate([u, targets])), found.points, found.completeness)
