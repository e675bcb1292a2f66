"""Trained neurons beside a constant: critical networks Σ aᵢ p(wᵢ·x) + B without bias.

Where p has no slope at 0, a constant neuron sits at w = 0, where the equations in w hold by themselves. Where p is odd
but for a constant, 1 + z + z³, neurons w and −w have one slope, and differ by a constant: their equations in w are one
(`mirrored`). In both cases B is any number and the others are neurons modulo constants: their loss has the metric
G − G₀G₀ᵀ/G₀₀ on the powers above 0, and b − b₀G₀/G₀₀. A network of them that is critical is so with
B = (b₀ − G₀·s)/G₀₀ beside it; its signature has one positive number more. No path between generic networks leads there.

Where two neurons have as many weights as p has powers, or more, such networks are among those with parallel weights
(`on_one_line`), a constant being a polynomial of every w·x, and in one input among double roots (`double_roots`).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from shallows.model.activations import Polynomial, polynomial_of
from shallows.model.exact_loss import ExactLoss
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.constants import constant_neurons
from shallows.questions.charts.neurons.mirrored import mirror_of
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.stratum import own_neuron
from shallows.questions.charts.neurons.wide_line import PAIRED, is_cubic, is_wide_line
from shallows.support.checks import Array

#: What is left out where networks with a constant neuron are not charted.
WITHOUT_CONSTANTS = "networks none of whose neurons is constant beside others"


#: And where those with neurons that differ by a constant are not.
WITHOUT_MIRRORED = (
    "networks no two of whose neurons are mirror images about a point where the activation is odd"
)


def has_constants_beside(problem: Problem) -> bool:
    """Whether a neuron of several can be constant and stay so."""
    return problem.width > 1 and problem.outer is None and any(c.value for c in constant_neurons(problem))


def has_mirrored_beside(problem: Problem) -> bool:
    """Whether two of several neurons can differ by a constant, and no other networks have their functions.

    In one input those of up to four powers are known, and of cubics with a bias.
    """
    mirror = mirror_of(problem)
    if problem.outer is not None or problem.width == 1 or mirror is None or not mirror.value:
        return False
    if problem.bias:
        return not (is_wide_line(problem) and is_cubic(problem))
    powers = np.count_nonzero(polynomial_of(problem.activation).coefficients)
    return not constant_neurons(problem) and (problem.n > 1 or bool(powers > PAIRED))


def without_constant(problem: Problem) -> Problem:
    """The problem of the other neurons: an activation without a constant, but for a bias, at one neuron fewer."""
    c = polynomial_of(problem.activation).coefficients.copy()
    c[0] = c[0] if problem.bias else 0.0
    activation = Polynomial(c.tolist())
    return Problem(problem.target, problem.data, problem.width - 1, activation, bias=problem.bias)


def modulo_constants(space: PolynomialSpace) -> PolynomialSpace:
    """The loss of neurons beside the best constant, on the powers above 0."""
    gram, right = space.exact.gram, space.exact.right
    rows = space.at > 0
    row, own = gram[0, rows], gram[0, 0]
    quotient = gram[np.ix_(rows, rows)] - np.multiply.outer(row, row) / own
    rest = ExactLoss(quotient, right[rows] - right[0] * row / own)
    energy = space.energy - Fraction(right[0]) ** 2 / Fraction(own)
    return PolynomialSpace(space.n, space.degree, space.degrees[1:], rest, energy)


def beside_constant(problem: Problem, space: PolynomialSpace, point: NeuronPoint) -> list[NeuronPoint]:
    """A critical network modulo constants with its constant, which the last neuron makes: where it is constant, or with
    any of the others as its mirror image."""
    gram, right = space.gram, space.right
    shares = gram[0, 1:] / gram[0, 0]
    value = float(right[0] / gram[0, 0] - shares @ point.entries)
    positive, zero, negative = point.signature
    proof = point.certificate
    if proof is not None:
        radius = max(
            proof.radius, proof.radius * float(np.abs(shares).sum()) + 2 * float(np.spacing(abs(value)))
        )
        proof = replace(proof, radius=radius)
    entries: Array = np.concatenate([[value], point.entries])
    missing = value - float(point.a @ own_neuron(problem).values(point.W)[:, 0])
    ways = [
        (np.append(point.a, missing / constant.value), constant.w)
        for constant in constant_neurons(problem)
        if constant.value
    ]
    mirror = mirror_of(problem) if has_mirrored_beside(problem) else None
    if mirror is not None:
        half = missing / (2 * mirror.value)
        ways += [
            (np.append(point.a + np.eye(point.rank)[i] * half, half), mirror.image(w))
            for i, w in enumerate(point.W)
        ]
    seen = (positive + 1, zero, negative)
    return [NeuronPoint(np.concatenate([point.W, w[None]]), a, entries, seen, proof) for a, w in ways]
