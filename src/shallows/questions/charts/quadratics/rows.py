"""What a chart of quadratic networks lists, row by row: functions, and the networks that have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.network import Network
from shallows.questions.charts.neurons.equivalent_power import NEARLY, finite_neurons
from shallows.questions.charts.neurons.idle import network
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.rows import FoundRow
from shallows.questions.charts.quadratics.students import QuadraticStudents
from shallows.support.checks import Array
from shallows.support.tolerances import TINY


@dataclass(frozen=True, eq=False, kw_only=True)
class Row(FoundRow):
    """A critical function: entries (c, ℓ, Q) as far as they are seen, and Σ signs vvᵀ in (1, x), v a row of `vectors`,
    which is the function but for a constant."""

    vectors: Array
    signs: Array

    @property
    def constant(self) -> float:
        """The constant of the squares alone."""
        return float(self.signs @ self.vectors[:, 0] ** 2)

    @property
    def sign(self) -> float:
        """1 or −1 where all squares have that sign, else 0."""
        return float(self.signs[0]) if len(self.signs) and abs(self.signs.sum()) == len(self.signs) else 0.0


def realised(
    students: QuadraticStudents, vectors: Array, signs: Array, constant: float
) -> tuple[Network, bool]:
    """A network with the quadric Σ signs vvᵀ, v in (1, x), but for its constant, which is `constant` where networks
    have one; and whether it is only near it, as for a limit.

    aα vvᵀ is a square and aκ its constant: outer weights of one sign are those that make it, else two groups of them
    balance; a neuron that is not needed adds what is missing.
    """
    problem, alpha = students.problem, students.square
    if not students.free_constant:
        W, a, far = finite_neurons(Network(vectors, signs), 2)
        return network(problem, W * students.slope, a / (alpha * students.slope**2)), far
    wanted = (constant - float(signs @ vectors[:, 0] ** 2)) / float(students.own)
    a, far = _weights(np.sign(signs * alpha), wanted, problem.width - len(signs))
    V = np.zeros((problem.width, vectors.shape[1]))
    V[: len(signs)] = vectors / np.sqrt(np.abs(a[: len(signs), None] * alpha))
    if problem.bias:
        return Network(V[:, 1:], a, problem.activation, bias=V[:, 0] - students.shift), far
    return Network(V[:, 1:], a, problem.activation), far


def _weights(signs: Array, total: float, idle: int) -> tuple[Array, bool]:
    """Outer weights of these signs and of `idle` more neurons with this sum, and whether they are only near one."""
    if idle:
        return np.concatenate([signs, [total - signs.sum()], np.zeros(idle - 1)]), False
    plus, minus = int(np.sum(signs > 0)), int(np.sum(signs < 0))
    if plus and minus:
        above = max(total, 0.0) + 1.0
        return np.where(signs > 0, above / plus, (total - above) / minus), False
    if total * signs[0] > 0:
        return np.full(len(signs), total / len(signs)), False
    return signs * NEARLY, True


def full_entries(students: QuadraticStudents, rest: Array) -> tuple[Array, float]:
    """(c, ℓ, Q) with the best constant where that is free, and the constant."""
    if not students.free_constant:
        return rest, 0.0
    h, start = students.best_constant
    constant = start - float(h @ rest)
    return np.append(constant, rest), constant


def with_constant_error(students: QuadraticStudents, proof: Certificate | None) -> Certificate | None:
    """The certificate of a function whose constant c₀ − hᵀs is off by Σ|h| times as much as the rest."""
    if proof is None or not students.free_constant:
        return proof
    h, start = students.best_constant
    factor = max(1.0, float(np.abs(h).sum()))
    rounding = len(h) * float(np.spacing(abs(start) + TINY))
    return Certificate(
        proof.radius * factor + rounding, proof.signature_certified, proof.rank_certified, proof.method
    )
