"""What the checks of paper 003 share: the paper's objective is ½E, half of the library's loss."""

from __future__ import annotations

import numpy as np

import shallows as sh
from shallows.questions.relu.setting import relu_problem
from shallows.questions.relu.symmetric import SymmetricMinimum, symmetric_minimum
from shallows.support.checks import Array


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
    """Non-global minima of known block form, k = 7 to `largest`."""
    shapes = [(k, (1, k - 1)) for k in range(7, largest + 1)] + [
        (k, (2, k - 2)) for k in range(10, largest + 1)
    ]
    return [symmetric_minimum(k, shape) for k, shape in shapes]


def orthogonal_steps(rng: np.random.Generator, W: Array, epsilon: float) -> Array:
    """Steps g with gᵢ ⊥ wᵢ and ‖gᵢ‖ ≤ ε: the ε-orthogonal neighbourhood of Definition 2."""
    g = rng.standard_normal(W.shape)
    g -= np.sum(g * W, axis=1, keepdims=True) / np.sum(W * W, axis=1, keepdims=True) * W
    return np.asarray(epsilon * rng.random((len(W), 1)) * g / np.linalg.norm(g, axis=1, keepdims=True))


__all__ = ["blocks", "h1", "h2", "half_hessian", "minima", "orthogonal_steps", "relu", "relu_problem"]
