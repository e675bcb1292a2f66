"""Singular ends of paths with several outputs: families of critical networks, degenerate ones, or nothing real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shallows.mathematics.signature import signature
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import ExaminedEnds, StratumLoss, examine_with
from shallows.questions.charts.outputs.point import OutputPoint
from shallows.questions.charts.outputs.system import OutputSystem
from shallows.questions.charts.singular_ends import FLAT
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class _Space:
    """The loss of all outputs one after the other, in the frame of the system: I ⊗ PᵀGP."""

    gram: Array
    right: Array
    target: Array
    energy: float

    @classmethod
    def of(cls, system: OutputSystem) -> _Space:
        """That of a system."""
        P = system.action
        gram = np.asarray(P.T @ system.loss.gram.astype(float) @ P)
        right = system.loss.right.astype(float) @ P
        target = np.linalg.lstsq(gram, right.T, rcond=None)[0].T
        whole = np.kron(np.eye(len(right)), gram)
        return cls(whole, right.ravel(), target.ravel(), float(target.ravel() @ right.ravel()))


class _OutputLoss(StratumLoss):
    """The loss of r neurons of several outputs on their stratum; a point's unknowns are kept as one long neuron."""

    def __init__(self, outputs: OutputSystem) -> None:
        self.space, self.equations, self.outputs = _Space.of(outputs), outputs.equations, outputs

    def hessian(self, x: Array) -> Array:
        return self.outputs.hessian(x)

    def seen(self, x: Array) -> NeuronPoint:
        signs = signature(np.linalg.eigvalsh(self.hessian(x)), FLAT)
        return NeuronPoint(x[None], np.zeros(1), self.entries(x), signs)

    def proved(self, x: Array) -> list[NeuronPoint]:
        return [self.seen(x)]


def examine_output_ends(
    system: OutputSystem, singular: Complex, known: Sequence[OutputPoint]
) -> tuple[list[OutputPoint], ExaminedEnds]:
    """Real points and families that singular ends belong to, beside the `known` points, and how many of each."""
    there = [NeuronPoint(p.W, p.A[0], _in_frame(system, p.entries), p.signature) for p in known]
    examined = examine_with(_OutputLoss(system), singular, there)
    found = [_point(system, point) for point in examined.points]
    found += [_point(system, f.point, f.dimension, f.description) for f in examined.families]
    return found, examined


def _in_frame(system: OutputSystem, entries: Array) -> Array:
    tensors = entries.reshape(system.equations.outputs, -1)
    return np.asarray(np.linalg.solve(system.action, tensors.T).T.ravel())


def _point(
    system: OutputSystem, point: NeuronPoint, dimension: int = 0, description: str = ""
) -> OutputPoint:
    x = point.W[0]
    A, W = system.network(x)
    return OutputPoint(A, W, system.entries(x), point.signature, dimension=dimension, description=description)
