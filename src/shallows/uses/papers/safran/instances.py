"""What the checks of paper 003 share: the paper's objective is ½E, half of the library's loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

import shallows as sh
from shallows.mathematics.balls.systems import precision
from shallows.questions.relu.balls import ReLUBalls
from shallows.questions.relu.rotated_pair import directional_ball
from shallows.questions.relu.setting import relu_problem
from shallows.questions.relu.symmetric import SymmetricMinimum, symmetric_minimum
from shallows.support.checks import Array

#: Bits of the balls in which instances are decided.
BITS = 128


def relu(W: Array) -> sh.Network:
    """A ReLU network with outer weights one."""
    return sh.Network(W, activation=sh.ReLU())


def half_hessian(problem: sh.Problem, W: Array) -> Array:
    """The Hessian of ½E."""
    return problem.hessian(relu(W)) / 2


def blocks(hessian: Array, width: int) -> Array:
    """H[i, j] = the d×d block of neurons i and j."""
    d = len(hessian) // width
    return hessian.reshape(width, d, width, d).transpose(0, 2, 1, 3)


def h1(w: Array, v: Array) -> Array:
    """h₁(w, v) of equation 6 as the library has it: ½I minus the Hessian of one neuron w against a teacher v."""
    problem = sh.Problem(relu(v[None]), sh.Gaussian(len(v)), width=1, outer="ones")
    return np.eye(len(v)) / 2 - half_hessian(problem, w[None])


def h2(w: Array, v: Array) -> Array:
    """h₂(w, v) of equation 7 as the library has it: the mixed block of the Hessian of two neurons."""
    problem = sh.Problem(relu(v[None]), sh.Gaussian(len(v)), width=2, outer="ones")
    return np.asarray(blocks(half_hessian(problem, np.stack([w, v])), 2)[0, 1])


def minima(largest: int) -> list[SymmetricMinimum]:
    """Non-global minima of known block form, k = 6 to `largest`."""
    shapes = [(k, (1, k - 1)) for k in range(6, largest + 1)] + [
        (k, (2, k - 2)) for k in range(10, largest + 1)
    ]
    return [symmetric_minimum(k, shape) for k, shape in shapes]


def padded(net: sh.Network, inputs: int) -> sh.Network:
    """The same network in more inputs: d > k."""
    return relu(np.pad(net.W, ((0, 0), (0, inputs - net.n))))


def orthogonal_steps(rng: np.random.Generator, W: Array, epsilon: float) -> Array:
    """Steps g with gᵢ ⊥ wᵢ and ‖gᵢ‖ ≤ ε: the ε-orthogonal neighbourhood of Definition 2."""
    g = rng.standard_normal(W.shape)
    g -= np.sum(g * W, axis=1, keepdims=True) / np.sum(W * W, axis=1, keepdims=True) * W
    return np.asarray(epsilon * rng.random((len(W), 1)) * g / np.linalg.norm(g, axis=1, keepdims=True))


def rational(table: Array) -> list[list[Any]]:
    """Doubles as the rationals that they are."""
    return [[fmpq(*float(entry).as_integer_ratio()) for entry in row] for row in np.atleast_2d(table)]


def curvature_ball(problem: sh.Problem, W: Array, direction: Array) -> Any:
    """A ball around the second derivative of ½E at the doubles W along the doubles `direction`."""
    assert isinstance(problem.target, sh.Network)
    with precision(BITS):
        return directional_ball(
            rational(problem.target.W), rational(W), rational(direction.reshape(np.shape(W)))
        )


def relu_balls(problem: sh.Problem) -> ReLUBalls:
    """Loss, gradient and Hessian of E in balls."""
    assert isinstance(problem.target, sh.Network) and problem.outer is not None
    return ReLUBalls(
        (problem.width, problem.n), problem.outer[0], problem.target.W, np.ones(len(problem.target.W))
    )


def box(W: Array, radius: float = 0.0) -> list[Any]:
    """The entries of W, row by row, as balls of this radius."""
    return [arb(float(entry), radius) for entry in W.ravel()]


__all__ = [
    "BITS", "blocks", "box", "curvature_ball", "h1", "h2", "half_hessian", "minima", "orthogonal_steps", "padded",
    "rational", "relu", "relu_balls", "relu_problem",
]  # fmt: skip
