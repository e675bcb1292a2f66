"""Trained outer weights of ReLU networks divided out: aσ(w·x) = sign(a) σ(|a| w·x), so only |a|w and signs matter."""

from __future__ import annotations

import numpy as np

from shallows.model.activations import ReLU
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.errors import InvalidProblem


def scale_free(problem: Problem, net: Network) -> tuple[Problem, Network]:
    """The problem with outer weights fixed to the network's signs, and the network |a|w of it.

    (a, w) ↦ |a|w is a submersion where a ≠ 0, and the loss depends on its image alone: critical points, their kinds and
    strictness (up to the scaling) are the same. A problem whose outer weights are fixed is returned as it is.

    >>> teacher = sh.Network(np.eye(2), activation=sh.ReLU())
    >>> problem = sh.Problem(teacher, sh.Gaussian(2), width=2)
    >>> plain, moved = scale_free(problem, sh.Network([[0.5, 0.0], [0.0, 4.0]], [2.0, 0.25], sh.ReLU()))
    >>> moved.W.tolist(), plain.outer.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0]])
    """
    if problem.outer is not None:
        return problem, net
    if not isinstance(problem.activation, ReLU) or problem.outputs != 1 or problem.bias:
        raise InvalidProblem(
            f"Only ReLU neurons without bias and of one output are scaled freely; this is {problem!r}. Fix: "
            'outer="ones".'
        )
    problem.pack(net)
    if np.any(net.a == 0):
        raise InvalidProblem(
            "An outer weight is zero: that neuron's direction is free, and the point is not isolated. Fix: a narrower "
            "network."
        )
    signs = np.sign(net.a)
    plain = Problem(problem.target, problem.data, problem.width, problem.activation, outer=signs)
    return plain, Network(np.abs(net.a)[:, None] * net.W, signs, problem.activation)
