"""Neurons in ball arithmetic against complex steps through the loss of numpy's neurons: no terms in common."""

from math import factorial, prod

import numpy as np
import pytest
from flint import arb

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.systems import precision
from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.neuron import Neuron

#: The activation as a polynomial: b + w·x in it, powers of w·x, and a map without second derivatives.
CASES = {
    "affine cubic": (lambda z: 0.5 * z**2 + z**3, True, 2, 2, None, [0.0, 0.0, 0.5, 1.0]),
    "odd powers": (lambda z: z + 2 * z**3, False, 3, 2, None, [0.0, 1.0, 0.0, 2.0]),
    "fixed weights": (lambda z: z**2 - z, True, 2, 2, ((1.0,), (-2.5,)), [0.0, -1.0, 1.0]),
    "one linear neuron": (lambda z: z, False, 2, 1, ((2.0,),), [0.0, 1.0]),
}


def features(p, bias, n, c, x):
    """p(b + w·x) at inputs x, from its coordinates: the matrix that maps ψ(w) to values."""
    if bias:
        neuron = Neuron.affine(c, n - 1)
        monomials = Neuron.of_degrees(range(len(c)), n - 1)
        multiplicity = np.concatenate([[1.0]] + [_multinomials(n - 1, j) for j in range(1, len(c))])
        return neuron, monomials.values(x) * multiplicity
    degrees = [j for j, value in enumerate(c) if value]
    neuron = Neuron.of_degrees(degrees, n)
    parts = [c[j] * Neuron.of_degrees([j], n).values(x) * _multinomials(n, j) for j in degrees]
    return neuron, np.concatenate(parts, axis=1)


def _multinomials(n, j):
    return np.array(
        [factorial(j) / prod(map(factorial, row)) for row in coordinates.exponents(n, j).tolist()]
    )


@pytest.mark.parametrize("name", CASES)
def test_values_and_jacobians_are_derivatives_of_the_loss(name):
    p, bias, n, r, outer, c = CASES[name]
    rng = np.random.default_rng([1, len(name)])
    inputs = rng.standard_normal((40, n - bias))
    y = rng.standard_normal(40)
    neuron, table = features(p, bias, n, c, inputs)
    gram, right = table.T @ table / 40, table.T @ y / 40
    system = NeuronSystem(
        NeuronEquations(neuron, r, outer=outer), ExactLoss(fractions(gram), fractions(right))
    )
    m = system.equations.unknowns
    assert m == r * (n + (outer is None))
    full = np.hstack([np.ones((40, 1)), inputs]) if bias else inputs

    def half_loss(x):
        rows = x.reshape(r, -1)
        a, W = (rows[:, 0], rows[:, 1:]) if outer is None else (np.array(outer)[:, 0], rows)
        return np.sum((p(full @ W.T) @ a - y) ** 2) / 80

    def half_gradient(x):
        step = 1e-30
        return np.array([half_loss(x + 1j * step * unit).imag / step for unit in np.eye(m)])

    x = rng.standard_normal(m)
    slopes = half_gradient(x)
    h = 1e-5
    curved = np.array([(half_gradient(x + h * u) - half_gradient(x - h * u)) / (2 * h) for u in np.eye(m)])
    value, jacobian = system.ball_batch()(Ball.exact(x[None]))
    np.testing.assert_allclose(value.mid[0], slopes, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(jacobian.mid[0], curved, rtol=1e-6, atol=1e-6)
    assert value.rad.max() < 1e-9 and jacobian.rad.max() < 1e-9
    with precision(128):
        there, second = system.ball_evaluator(128)([arb(z) for z in x.tolist()])
    np.testing.assert_allclose([float(v) for v in there.entries()], slopes, rtol=1e-10, atol=1e-11)
    exact = np.array([float(v) for v in second.entries()]).reshape(m, m)
    np.testing.assert_allclose(exact, curved, rtol=1e-6, atol=1e-6)
    assert np.all(np.abs(exact - jacobian.mid[0]) <= jacobian.rad[0] + 1e-15 * np.abs(exact))
