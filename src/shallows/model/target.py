"""Targets: what a student is to match, and the activation that goes with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, Power, checked_activation
from shallows.model.network import Network
from shallows.support.checks import describe
from shallows.support.errors import InvalidProblem

#: None: the labels of samples.
Target = Network | SymmetricTensor | None


def checked_target(target: Any) -> Target:
    """What was given as a target, a symmetric matrix as the tensor of its form."""
    if target is None or isinstance(target, Network | SymmetricTensor):
        return target
    if not isinstance(target, str) and np.ndim(target) == 2:
        rows, columns = np.shape(target)
        if rows != columns:
            raise InvalidProblem(
                f"target is a matrix of shape {(rows, columns)}; expected the symmetric matrix T of a form xᵀTx. "
                "Fix: sh.Network(W), if its rows are the neurons of the teacher."
            )
        return SymmetricTensor.from_matrix(target)
    raise InvalidProblem(
        f"target is {describe(target)}; expected a Network, a SymmetricTensor, a symmetric matrix, or None with "
        "labelled Samples."
    )


def student_activation(activation: Activation | None, target: Target) -> Activation:
    """The student's activation: the one given, or the target's; `Power(2)` for labels alone."""
    if activation is None:
        if isinstance(target, Network):
            return target.activation
        return Power(2 if target is None else target.degree)
    return checked_activation(activation)
