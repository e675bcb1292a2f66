"""Targets of problems with a bias, as functions of (1, x): networks without bias, and forms, in n + 1 inputs."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.data.base import InnerProduct
from shallows.model.network import Network
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem

Target = Network | SymmetricTensor | None


def has_constant(target: Target, n: int) -> bool:
    """Whether the target is a function of (1, x) rather than of n inputs x: it has a bias, or n + 1 inputs."""
    if isinstance(target, Network):
        return target.bias is not None
    return target is not None and target.n == n + 1


def require_inputs(target: Target, data: InnerProduct, constant: bool) -> None:
    """A target has the data's inputs; where a `constant` makes sense a tensor may have one more, the 1 first."""
    if target is None or target.n == data.n:
        return
    tensor = constant and isinstance(target, SymmetricTensor)
    if tensor and has_constant(target, data.n):
        return
    raise InvalidProblem(
        f"The target has {counted(target.n, 'input')} and the data {data.n}; they must agree. Fix: "
        f"{type(data).__name__}({target.n}, ...), or a target with {counted(data.n, 'input')}"
        + (f" (or {data.n + 1}, the constant 1 first)." if tensor else ".")
    )


def lifted_target(target: Target, n: int) -> Target:
    """The target as a function of (1, x), x of n inputs."""
    if isinstance(target, Network):
        return target.homogeneous()
    if target is None or target.n == n + 1:
        return target
    entries = np.zeros(coordinates.dimension(n + 1, target.degree))
    entries[-len(target.entries) :] = target.entries  # indices without a zero come last
    return SymmetricTensor(entries, n + 1, target.degree)
