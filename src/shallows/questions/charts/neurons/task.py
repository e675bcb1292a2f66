"""A chart of neurons that is being made: of which problem, how, and what its strata have brought so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.found import Found
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.stratum import NeuronStratum, neuron_stratum, own_neuron
from shallows.support.checks import Array
from shallows.support.progress import Shown, status_line

#: Finds the networks of one number of neurons: `neuron_stratum`, or `exact_stratum`.
Engine = Callable[[Problem, PolynomialSpace, int, Array | None, bool, int, Shown], NeuronStratum]


@dataclass(frozen=True, eq=False)
class Task:
    """`certify`, `seed` and `progress` are those of the chart; `found` is filled."""

    problem: Problem
    space: PolynomialSpace
    certify: bool
    seed: int
    progress: bool
    engine: Engine = neuron_stratum
    found: Found = field(default_factory=Found)

    @property
    def by_paths(self) -> bool:
        """Whether the engine is homotopy, which special strata are written for."""
        return self.engine is neuron_stratum

    @property
    def neuron(self) -> Neuron:
        """ψ."""
        return own_neuron(self.problem)

    def stratum(
        self, words: str, r: int, space: PolynomialSpace | None = None, outer: Array | None = None
    ) -> NeuronStratum:
        """All critical networks of r neurons, a trained or fixed; `words` are shown meanwhile."""
        with status_line(words, self.progress) as tell:
            given = self.problem, self.space if space is None else space, r, outer
            return self.engine(*given, self.certify, self.seed, tell)
