"""Polynomial-linear networks of appendix G: gradients, equation G.1, Theorem G.1's start, the least-squares optimum."""

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.deep.polynomial_linear import PolynomialLinear, tensor_penalty, train_polynomial
from shallows.questions.learn.fitting.frame import features


def test_forward_is_sums_of_powers(rng):
    network = PolynomialLinear((2, 3, 1), (4, 2), 3)
    theta = rng.standard_normal(4 * 2 + 3 * 4 + 2 * 3 + 2)
    (Q, weights), (outer, last) = network.split(theta)
    x = rng.standard_normal(2)
    hidden = [sum(weights[i, j] * (Q[j] @ x) ** 3 for j in range(4)) for i in range(3)]
    assert network.forward(theta, x[None])[0, 0] == pytest.approx(
        sum(last[0, j] * (outer[j] @ hidden) ** 3 for j in range(2))
    )
    assert network.degree == 9 and np.array_equal(network.join(network.split(theta)), theta)
    # a form of degree 9
    assert np.allclose(network.forward(theta, 2 * x[None]), 2**9 * network.forward(theta, x[None]))


@pytest.mark.parametrize(("power", "depth"), [(2, 1), (3, 1), (2, 2)])
def test_gradients_against_finite_differences(rng, power, depth):
    X, Y, weights = rng.standard_normal((30, 2)), rng.standard_normal((30, 2)), rng.random(30) + 0.5
    network = PolynomialLinear.spanning(2, power, depth, 2)
    evaluate = network.evaluate(X, Y, weights, 0.3)
    thetas = network.start() + 0.1 * rng.standard_normal((2, len(network.start())))
    values, gradients = evaluate(thetas)
    r = Y - network.forward(thetas[0], X)
    penalty = sum(np.sum(((Q @ Q.T) ** power - np.eye(len(Q))) ** 2) for Q, _ in network.split(thetas[0]))
    assert values[0] == pytest.approx(weights @ np.sum(r**2, axis=1) / weights.sum() + 0.3 * penalty)
    direction = rng.standard_normal(thetas.shape)
    slope = (evaluate(thetas + 1e-6 * direction)[0] - evaluate(thetas - 1e-6 * direction)[0]) / 2e-6
    assert np.allclose(slope, np.sum(gradients * direction, axis=1), rtol=1e-4)


def test_the_penalty_is_the_gram_matrix_of_tensors(rng):
    """Equation G.2: R holds vec(q^{⊗p}); the penalty vanishes for orthonormal neurons."""
    Q = rng.standard_normal((4, 3))
    R = np.array([np.multiply.outer(np.multiply.outer(q, q), q).ravel() for q in Q]).T
    assert tensor_penalty(Q, 3, 2.0)[0] == pytest.approx(2.0 * np.sum((R.T @ R - np.eye(4)) ** 2))
    value, slope = tensor_penalty(np.eye(3), 3, 1.0)
    assert value == 0.0 and not slope.any()


@pytest.mark.parametrize(("n", "power", "depth"), [(3, 3, 1), (2, 2, 2), (2, 3, 2)])
def test_the_start_spans_every_form(rng, n, power, depth):
    """Training the last Λ alone from this start reaches any form of degree p^L (remarks 2 and 3)."""
    network = PolynomialLinear.spanning(n, power, depth, 1)
    *_, (Q, weights) = network.split(network.start())
    assert not weights.any() and network.neurons[-1] == coordinates.dimension(network.sizes[-2], power)
    X = rng.standard_normal((300, n))
    hidden = X if depth == 1 else features(X, power)
    block = (hidden @ Q.T) ** power
    y = features(X, power**depth) @ rng.standard_normal(coordinates.dimension(n, power**depth))
    residual = y - block @ np.linalg.lstsq(block, y, rcond=1e-13)[0]
    assert np.linalg.norm(residual) < 1e-8 * np.linalg.norm(y)


@pytest.mark.parametrize(("power", "depth", "penalty"), [(3, 1, 0.0), (3, 1, 1e-3), (2, 2, 0.0)])
def test_training_reaches_the_least_squares_optimum(rng, power, depth, penalty):
    """Theorem G.1: while the powers of the neurons span, Λ is stationary at the least-squares optimum only."""
    X, y = rng.standard_normal((80, 2)), rng.standard_normal(80)
    run = train_polynomial(X, y, power, depth, penalty=penalty, iterations=3000)
    block = features(X, power**depth)
    best = np.mean((y - block @ np.linalg.lstsq(block, y, rcond=1e-13)[0]) ** 2)
    assert run.optimum == pytest.approx(best, rel=1e-9)
    assert best * (1 - 1e-9) <= run.loss <= best * (1 + 1e-4)
    assert np.mean((y - run.predict(X)[:, 0]) ** 2) == pytest.approx(run.loss) and "NMSE" in repr(run)


def test_bad_input_is_refused(rng):
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    for settings, what in (
        ({"method": "sgd"}, "method"),
        ({"power": 1}, "power"),
        ({"depth": 0}, "depth"),
        ({"penalty": -1.0}, "penalty"),
        ({"power": 4, "depth": 3}, "Theorem G.1"),
    ):
        with pytest.raises(sh.InvalidProblem, match=what):
            train_polynomial(X, y, **settings)
    with pytest.raises(sh.InvalidProblem, match="rows"):
        train_polynomial(X, y[:5])
