"""A straight way down from a saddle, along the direction of the most negative curvature: for every activation."""

from __future__ import annotations

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.geometry.escape.escape import SADDLE, Escape
from shallows.questions.geometry.paths import Path, Straight
from shallows.support.checks import Array
from shallows.support.errors import NotDifferentiable

#: Places at which the slope along the line is looked at, and halvings after which the line is given up.
PROBES, HALVINGS = 65, 40
LABEL = "along the most negative curvature"


def curvature_step(problem: Problem, net: Network) -> Escape | None:
    """A line along which the loss falls, from a saddle without bias or norm neuron; None where there is no such line.

    The slope is negative at 64 places of it: looked at, not proved.

    >>> problem = sh.relu_problem(2)
    >>> saddle = sh.nearest_critical(problem, sh.Network([[0.8, 0.8], [0.81, 0.8]], activation=sh.ReLU()))
    >>> curvature_step(problem, saddle.network)
    Escape(strict saddle: the lowest curvature is -8.32: a straight step along it, ...)
    """
    theta = problem.pack(net)
    try:
        values, vectors = np.linalg.eigh(problem.hessian(net))
    except NotDifferentiable:
        return None
    if not values[0] < -SADDLE * np.abs(values).max():
        return None
    lines = [_line(problem, theta, sign * vectors[:, 0]) for sign in (1.0, -1.0)]
    found = [line for line in lines if line is not None]
    if not found:
        return None
    end = problem.unpack(min(found, key=lambda place: float(problem.value(place))))
    path = Path([Straight(LABEL, (net.a, net.W), (end.a, end.W))], net.activation, 0.0, problem.loss)
    how = (
        f"the lowest curvature is {values[0]:.3g}: a straight step along it, looked at in {PROBES - 1} places"
    )
    return Escape(path, "strict saddle", how)


def _line(problem: Problem, theta: Array, way: Array) -> Array | None:
    """The end of the line, halved until the loss falls all along it."""
    reach = 1.0 + float(np.linalg.norm(theta))
    shares = np.linspace(0.0, 1.0, PROBES)[1:, None]
    for _ in range(HALVINGS):
        try:
            slopes = problem.value_and_gradient(theta + shares * reach * way)[1] @ way
        except NotDifferentiable:
            slopes = np.array([1.0])
        if np.all(slopes < 0.0):
            return np.asarray(theta + reach * way)
        reach /= 2
    return None
