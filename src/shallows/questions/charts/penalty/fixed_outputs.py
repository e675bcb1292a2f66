"""Squares with fixed outer weights, a vector for each neuron, beside norm neurons or under the orthogonality penalty.

Outputs s_m = Σ a_mi wᵢwᵢᵀ are seen up to ‖x‖² where there are norm neurons, and a penalty sees P = Σ wᵢwᵢᵀ, one more
output with outer weights 1 and a metric of its own (`one_more_output`). A stratum is which neurons are in use, the
others are zero. Unknowns are the wᵢ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import ClassVar

import numpy as np

from shallows.model.reduced_problem import identity
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.neuron import Neuron, Outer, whole_network
from shallows.questions.charts.penalty.joined_members import SeveralOutputs
from shallows.questions.charts.penalty.metrics import PenalisedMetrics
from shallows.support.checks import Array
from shallows.support.seeds import complex_normal


@dataclass(frozen=True, repr=False)
class FixedOutputs(SeveralOutputs):
    """The critical equations of neurons with these outer weights, one row a neuron, P the last output."""

    moves: ClassVar[bool] = True
    inputs: int = 0
    weights: Outer = ()
    constants: int = 0
    norm: bool = False

    @classmethod
    def of(cls, n: int, weights: Outer, constants: int = 0, norm: bool = False) -> FixedOutputs:
        """In n inputs; `norm` says that outputs are seen up to ‖x‖², of inputs that are no constants."""
        rows = tuple((*row, 1.0) for row in weights)
        neuron = whole_network(squares(n), len(rows), len(rows[0]), rows)
        return cls(neuron, 1, outer=((1.0,),), inputs=n, weights=weights, constants=constants, norm=norm)

    @property
    def neurons(self) -> int:
        """How many."""
        return len(self.weights)

    def orbit(self, x: Complex) -> Complex:
        """All changes of sign."""
        table = x.reshape(self.neurons, -1)
        signs = product((1.0, -1.0), repeat=self.neurons)
        return np.array([(np.array(sign)[:, None] * table).ravel() for sign in signs])

    def seen(self, penalty: bool) -> int:
        """The rank of the derivative of what is seen, at almost every network."""
        x = complex_normal(np.random.default_rng(0), self.unknowns)
        rows = self.tangents(x).reshape(self.unknowns, -1, squares(self.inputs).size)
        q = identity(rows.shape[2], self.constants)
        outputs = rows[:, :-1]
        if self.norm:
            outputs = outputs - (outputs @ q)[..., None] * q / (q @ q)
        parts = [outputs.reshape(self.unknowns, -1), *([rows[:, -1]] if penalty else [])]
        return int(np.linalg.matrix_rank(np.concatenate(parts, axis=1)))

    def first_of(
        self, metrics: PenalisedMetrics, u: Complex, rng: np.random.Generator
    ) -> tuple[Complex, Complex]:
        """Random neurons, and random (g, v), v the multiple of the identity, for which they are critical."""
        gram, size = metrics.at(u).high, metrics.size
        x = complex_normal(rng, self.unknowns)
        C, s = self.conditions(x), self.tensors(x[None])[0]
        q = np.concatenate([np.zeros(size), identity(metrics.second)])
        table = np.concatenate([C[:, :size], (C @ q)[:, None]], axis=1)  # of g and v in C(Gs − g − vq) = 0
        kernel = np.linalg.svd(table)[2][np.linalg.matrix_rank(table) :].conj()
        return x, np.asarray(
            np.linalg.lstsq(table, C @ gram @ s, rcond=None)[0] + complex_normal(rng, len(kernel)) @ kernel
        )

    def __repr__(self) -> str:
        return f"FixedOutputs(n={self.inputs}, weights={self.weights}, constants={self.constants}, norm={self.norm})"


def squares(n: int) -> Neuron:
    """w ↦ ww, ±w alike."""
    return replace(Neuron.of_degrees([2], n), turns=2)


def in_use(outer: Array) -> Iterator[tuple[int, ...]]:
    """Which neurons are in use, at least one: all of them but those with outer weights zero."""
    useful = np.flatnonzero(outer.any(axis=0)).tolist()
    for count in range(1, len(useful) + 1):
        yield from combinations(useful, count)
