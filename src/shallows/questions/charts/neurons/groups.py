"""Fixed outer weights: which neurons coincide or are mirror images, which are constant, and which cancel.

Neurons at one w, or at its mirror image, have one condition together, a · E[r p′(w·x) x] = 0 with the residual r, if
their outer weights a are parallel: they are a group, and for every target there are networks with that group. Where the
weights of a group add up to zero, the function does not show it, but its condition is still there (`weightless`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from shallows.mathematics.homotopy.partitions import set_partitions
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.constants import ConstantNeuron, constant_neurons
from shallows.questions.charts.neurons.mirrored import Mirror, mirror_of
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON, TINY

#: Sums of outer weights below this share of their sizes are zero: 0.1 + 0.2 − 0.3 is meant to be, a few roundings off.
CANCELLED = 8 * EPSILON
#: Constants that agree in so many digits are one.
DIGITS = 12


@dataclass(frozen=True)
class Group:
    """Neurons at one w, those with sign −1 at its mirror image: `weights` times p(w·x), one an output, and `constant`.

    `along` are the outer weights of one of its neurons: those of the others are multiples.
    """

    members: tuple[int, ...]
    signs: tuple[int, ...]
    weights: tuple[float, ...]
    constant: tuple[float, ...]
    along: tuple[float, ...]

    @classmethod
    def of(cls, a: Array, members: tuple[int, ...], signs: tuple[int, ...], value: float) -> Group:
        """Of outer weights (outputs, neurons), and p at the centre of its mirror."""
        own, turned = a[:, list(members)], np.array(signs) < 0
        weights = own @ np.array(signs)
        weights[np.abs(weights) <= CANCELLED * np.abs(own).sum(axis=1)] = 0.0
        constant = 2 * value * own[:, turned].sum(axis=1)
        along = own[:, np.abs(own).sum(axis=0).argmax()]
        return cls(members, signs, *(tuple(v.tolist()) for v in (weights, constant, along)))

    def key(self, mirror: Mirror | None) -> tuple[tuple[float, ...], Array]:
        """Weights and constant, of the image where that has the first weight positive."""
        weights, constant = np.array(self.weights), np.array(self.constant)
        first = weights[np.flatnonzero(weights)[0]]
        if mirror is not None and first < 0:
            weights, constant = -weights, constant + 2 * mirror.value * weights
        return tuple(weights.tolist()), constant


@dataclass(frozen=True)
class Arrangement:
    """Groups with weights, groups whose weights cancel, and `still` neurons, which are constant at their weights.

    `constant` is what all of them give besides the groups' neurons, one number an output.
    """

    groups: tuple[Group, ...]
    weightless: tuple[Group, ...]
    still: tuple[tuple[int, ConstantNeuron], ...]
    constant: tuple[float, ...]
    mirror: Mirror | None

    @property
    def weights(self) -> tuple[tuple[float, ...], ...]:
        """One row a group, one number an output."""
        return tuple(group.weights for group in self.groups)

    @property
    def restless(self) -> int:
        """How many weightless groups need a place of their own."""
        return sum(self.at_rest(group, np.zeros((len(self.groups), 0))) is None for group in self.weightless)

    def at_rest(self, group: Group, W: Array) -> Array | None:
        """Where a weightless group is critical, the others being at W: at a constant, or with parallel weights."""
        if self.still:
            return self.still[0][1].w
        for other, w in zip(self.groups, W, strict=True):
            if np.linalg.matrix_rank(np.array([other.along, group.along])) < 2:
                return np.asarray(w)
        return None

    def network(self, problem: Problem, W: Array, resting: Sequence[Array] = ()) -> Network:
        """The network with these neurons, one a group, and those of weightless groups."""
        assert problem.outer is not None
        full = np.zeros((problem.width, problem.n + problem.bias))
        for group, w in zip((*self.groups, *self.weightless), (*W, *resting), strict=True):
            for i, sign in zip(group.members, group.signs, strict=True):
                full[i] = w if sign > 0 or self.mirror is None else self.mirror.image(w)
        for i, neuron in self.still:
            full[i] = neuron.w
        outer = problem.outer[0] if problem.outputs == 1 else problem.outer
        bias = full[:, 0] if problem.bias else None
        return Network(full[:, 1:] if problem.bias else full, outer, problem.activation, bias=bias)


def all_different(problem: Problem) -> tuple[tuple[float, ...], ...]:
    """The outer weights of neurons that are all different, one row a neuron: to look at before all arrangements."""
    assert problem.outer is not None
    return tuple(tuple(column) for column in problem.outer.T.tolist() if any(column))


def arrangements(problem: Problem) -> list[Arrangement]:
    """All of them, one of each kind: neurons of equal weight are exchangeable, and groups with their images."""
    assert problem.outer is not None
    a, mirror, constants = problem.outer, mirror_of(problem), constant_neurons(problem)
    size = max(float(np.abs(a).sum()), TINY)
    found: dict[tuple[object, ...], Arrangement] = {}
    for groups, places in _ways(a, mirror, len(constants)):
        kept = sorted((group for group in groups if any(group.weights)), key=lambda group: group.weights)
        weightless = tuple(group for group in groups if not any(group.weights))
        still = tuple((i, constants[k]) for i, k in places)
        beside = sum((np.array(group.constant) for group in weightless), np.zeros(len(a)))
        beside = sum((a[:, i] * neuron.value for i, neuron in still), beside)
        constant = sum((np.array(group.constant) for group in kept), beside)
        item = Arrangement(tuple(kept), weightless, still, tuple(constant.tolist()), mirror)
        keys = [group.key(mirror) for group in kept]
        level = sum((own for _, own in keys), beside)
        key = (tuple(sorted(w for w, _ in keys)), tuple(np.round(level / size, DIGITS).tolist()))
        if key not in found or item.restless < found[key].restless:
            found[key] = item
    return list(found.values())


def _ways(
    a: Array, mirror: Mirror | None, constants: int
) -> Iterator[tuple[list[Group], list[tuple[int, int]]]]:
    """Groups, and which of the others are which constant; ways without images first."""
    value = 0.0 if mirror is None else mirror.value
    turned = []
    for places in assignments(a.shape[1], constants):
        still = [(i, k) for i, k in enumerate(places) if k is not None]
        for partition in set_partitions([i for i, k in enumerate(places) if k is None]):
            if any(np.linalg.matrix_rank(a[:, list(members)]) > 1 for members in partition):
                continue  # each of them has a condition of its own: with different neurons, not here
            for signs in product(*(_signs(len(members), mirror) for members in partition)):
                groups = [Group.of(a, *own, value) for own in zip(partition, signs, strict=True)]
                if all(min(own) > 0 for own in signs):
                    yield groups, still
                else:
                    turned.append((groups, still))
    yield from turned


def _signs(count: int, mirror: Mirror | None) -> Iterator[tuple[int, ...]]:
    """Of a group, the first neuron not being an image."""
    yield from product((1,), *[(1,) if mirror is None else (1, -1)] * (count - 1))


def assignments(count: int, constants: int) -> Iterator[tuple[int | None, ...]]:
    """Each neuron is free (None) or one of the constants."""
    if count == 0:
        yield ()
        return
    for rest in assignments(count - 1, constants):
        for own in (None, *range(constants)):
            yield (*rest, own)
