"""Fixed outer weights: which neurons coincide, and which are constant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.constants import ConstantNeuron, constant_neurons
from shallows.support.checks import Array


@dataclass(frozen=True)
class Arrangement:
    """Neurons in groups that coincide, with the sums of their `weights`; the others are `still`, constant, at their
    weights, and give `constant` together. Groups whose weights cancel are anywhere."""

    groups: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    still: tuple[tuple[int, ConstantNeuron], ...]
    constant: float
    cancelled: tuple[int, ...]

    def network(self, problem: Problem, W: Array) -> Network:
        """The network with these neurons, one a group."""
        return grouped_network(problem, W, self.groups, self.still, self.cancelled)


def grouped_network(
    problem: Problem,
    W: Array,
    groups: tuple[tuple[int, ...], ...],
    still: tuple[tuple[int, ConstantNeuron], ...],
    cancelled: tuple[int, ...],
) -> Network:
    """The network with the neurons W, one a group; cancelled ones join the first that there is."""
    assert problem.outer is not None
    full = np.zeros((problem.width, problem.n + problem.bias))
    for members, w in zip(groups, W, strict=True):
        full[list(members)] = w
    for i, neuron in still:
        full[i] = neuron.w
    if len(W) or still:
        full[list(cancelled)] = W[0] if len(W) else still[0][1].w
    outer = problem.outer[0] if problem.outputs == 1 else problem.outer
    bias = full[:, 0] if problem.bias else None
    return Network(full[:, 1:] if problem.bias else full, outer, problem.activation, bias=bias)


def arrangements(problem: Problem) -> list[Arrangement]:
    """All of them, one of each kind: neurons of equal weight are exchangeable."""
    assert problem.outer is not None
    a = problem.outer[0]
    constants = constant_neurons(problem)
    found: dict[tuple[object, ...], Arrangement] = {}
    for places in assignments(len(a), len(constants)):
        still = tuple((i, constants[k]) for i, k in enumerate(places) if k is not None)
        rest = [i for i, k in enumerate(places) if k is None]
        for partition in partitions(rest):
            sums = [float(np.sum(a[list(group)])) for group in partition]
            kept = sorted((s, group) for s, group in zip(sums, partition, strict=True) if s)
            cancelled = tuple(i for s, group in zip(sums, partition, strict=True) if not s for i in group)
            constant = float(sum(a[i] * neuron.value for i, neuron in still))
            if cancelled and not kept and not still:
                still_zero: tuple[tuple[int, ConstantNeuron], ...] = ()
                found.setdefault(("zero",), Arrangement((), (), still_zero, 0.0, cancelled))
                continue
            key = (tuple(s for s, _ in kept), round(constant, 12))
            found.setdefault(
                key,
                Arrangement(tuple(g for _, g in kept), tuple(s for s, _ in kept), still, constant, cancelled),
            )
    return list(found.values())


def assignments(count: int, constants: int) -> Iterator[tuple[int | None, ...]]:
    """Each neuron is free (None) or one of the constants."""
    if count == 0:
        yield ()
        return
    for rest in assignments(count - 1, constants):
        for own in (None, *range(constants)):
            yield (*rest, own)


def partitions(items: list[int]) -> Iterator[list[tuple[int, ...]]]:
    """All set partitions."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in partitions(rest):
        yield [(first,), *partition]
        for i, group in enumerate(partition):
            yield [*partition[:i], (first, *group), *partition[i + 1 :]]
