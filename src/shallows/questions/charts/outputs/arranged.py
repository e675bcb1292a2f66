"""Fixed outer weights of several outputs: which neurons coincide, and which are constant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.constants import ConstantNeuron, constant_neurons
from shallows.questions.charts.neurons.groups import assignments, grouped_network, partitions
from shallows.questions.charts.outputs.neuron_system import OutputSpaces
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class Arranged:
    """Fixed outer weights: groups of neurons that coincide, and those that are constant, with what these give."""

    groups: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[float, ...], ...]
    still: tuple[tuple[int, ConstantNeuron], ...]
    cancelled: tuple[int, ...]

    def network(self, problem: Problem, W: Array) -> Network:
        """The network with these neurons, one a group."""
        return grouped_network(problem, W, self.groups, self.still, self.cancelled)


def arranged(problem: Problem) -> Iterator[Arranged]:
    """Which neurons coincide and which are constant, one of each kind; groups whose weights cancel are anywhere."""
    assert problem.outer is not None
    a, constants = problem.outer, constant_neurons(problem)
    seen = set()
    for places in assignments(problem.width, len(constants)):
        still = tuple((i, constants[k]) for i, k in enumerate(places) if k is not None)
        for partition in partitions([i for i, k in enumerate(places) if k is None]):
            if any(np.linalg.matrix_rank(a[:, list(group)]) > 1 for group in partition):
                continue  # each of them has a condition of its own: with different neurons, not here
            sums = [tuple(a[:, list(group)].sum(axis=1).tolist()) for group in partition]
            kept = sorted((s, group) for s, group in zip(sums, partition, strict=True) if any(s))
            constant = sum((a[:, i] * c.value for i, c in still), np.zeros(len(a)))
            key = (tuple(s for s, _ in kept), tuple(np.round(constant, 12).tolist()))
            if key in seen:
                continue
            seen.add(key)
            cancelled = tuple(i for s, g in zip(sums, partition, strict=True) if not any(s) for i in g)
            yield Arranged(tuple(g for _, g in kept), tuple(s for s, _ in kept), still, cancelled)


def shifted(spaces: OutputSpaces, problem: Problem, way: Arranged) -> Array:
    """The constants of still neurons as entries of all outputs."""
    assert problem.outer is not None
    moved = np.zeros(spaces.rights.shape)
    for i, neuron in way.still:
        if neuron.value:
            moved[:, spaces.first.at == 0] += (problem.outer[:, i] * neuron.value)[:, None]
    return np.asarray(moved.ravel())
