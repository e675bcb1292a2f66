"""Charts of polynomial activations without a zero coefficient, a trained: those of a power in one input more.

a p(w·x) is a (1, w)^⊗d under another metric (`EquivalentMetric`), so the networks of width k are the sums of k powers
of degree d in n + 1 inputs; v^⊗d with v₀ ≠ 0 is the neuron a = v₀^d, w = v/v₀. A power with v₀ = 0 is none: it is the
limit of neurons with ‖w‖ → ∞, a → 0, unless at degree 2 the same sum is one of other powers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import polynomial_of
from shallows.model.equivalent_power import equivalent_power
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.idle import network, zero_network
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.points.point import Certificate, Points, Reread
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array

#: A neuron v with |v₀| below this share of ‖v‖ is one at infinity: certified points are known to ten digits.
AT_INFINITY = 1e-9
#: The share of ‖v‖ that v₀ has in the network that stands for a neuron at infinity: its tensor is off by so much.
NEARLY = 1e-4
#: How far two neurons are turned, or boosted, into each other: any angle will do that is not small.
TURN = 0.7


def equivalent_chart(problem: Problem, of_powers: Callable[[Problem], Chart]) -> Chart:
    """The chart of a problem from that of its equivalent power, which `of_powers` makes."""
    space = PolynomialSpace.of(problem)
    c = polynomial_of(problem.activation).coefficients
    chart = of_powers(equivalent_power(problem, space))
    neuron = Neuron.of_degrees(space.degrees, problem.n)
    zero = zero_network(problem, neuron, space.right * c[space.at])
    points = chart.critical
    neurons = [finite_neurons(points[i].network, space.degree) for i in range(len(points))]
    kept = np.array([zero is not None or rank > 0 for rank in points.table.rank.tolist()])
    far = points.table.limit | np.array([limit for _, _, limit in neurons], dtype=bool)
    table = replace(points.table, loss=points.table.loss + space.floor, limit=far)
    maker = _Equivalent(points.maker, problem, space, c, neurons, zero)
    critical = Points(table, maker, problem).where(kept)
    notes = chart.notes
    if zero is None:
        notes = (*notes, "the zero function is no critical network: no w was found with E[p(w·x) y] = 0")
    least = (table.kind == "global minimum") & kept
    attained = False if least.any() and far[least].all() else chart.attained
    return replace(chart, critical=critical, problem=problem, notes=notes, attained=attained)


def finite_neurons(net: Network, degree: int) -> tuple[Array, Array, bool]:
    """Neurons w and outer weights of Σ a v^⊗d in n + 1 inputs, and whether it is a limit of networks only."""
    used = net.a != 0
    V, signs = np.array(net.W[used]), np.array(net.a[used])
    if not len(V):
        return V[:, 1:], signs, False
    far = np.abs(V[:, 0]) <= AT_INFINITY * np.linalg.norm(V, axis=1)
    if degree == 2 and not far.all():
        _turn(V, signs, far)
        far[:] = False
    V[far, 0] = NEARLY * np.linalg.norm(V[far], axis=1)
    return V[:, 1:] / V[:, :1], signs * V[:, 0] ** degree, bool(far.any())


def _turn(V: Array, signs: Array, far: Array) -> None:
    """Mix each neuron at infinity with a finite one: Σ signs v vᵀ stays what it is."""
    i = int(np.abs(V[:, 0]).argmax())
    for j in np.flatnonzero(far).tolist():
        alike = signs[i] == signs[j]
        c, s = (np.cos(TURN), np.sin(TURN)) if alike else (np.cosh(TURN), np.sinh(TURN))
        V[i], V[j] = c * V[i] + (-s if alike else s) * V[j], s * V[i] + c * V[j]


@dataclass(frozen=True)
class _Equivalent(Reread):
    """A maker of points on n + 1 inputs, read as networks of a polynomial activation."""

    problem: Problem
    space: PolynomialSpace
    coefficients: Array
    neurons: list[tuple[Array, Array, bool]]
    zero: Network | None

    def read(self, tensor: SymmetricTensor) -> SymmetricTensor:
        """The function, in Sym^d(R^(n+1)), the constant first."""
        return self.space.tensor(tensor.entries * self.coefficients[self.space.at])

    def network(self, i: int) -> Network:
        """A network that realises it; near it, for a limit."""
        W, a, _ = self.neurons[i]
        if not len(W):
            assert self.zero is not None
            return self.zero
        return network(self.problem, W, a)

    def certificate(self, i: int) -> Certificate | None:
        """What is proved about it; the radius grows with the largest coefficient."""
        given = self.inner.certificate(i)
        largest = float(np.abs(self.coefficients).max())
        return None if given is None else replace(given, radius=given.radius * max(largest, 1.0))
