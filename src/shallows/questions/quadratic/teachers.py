"""Quadratic teachers in all their guises: a network, a symmetric matrix or a tensor of degree two."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.mathematics.signature import signature
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Polynomial, Power
from shallows.model.network import Network
from shallows.support.checks import Array, describe, symmetric_matrix
from shallows.support.errors import InvalidProblem

#: The relative error of a teacher's matrix Σ aᵢ wᵢwᵢᵀ, summed in floating point: 4000 ε, room for as many terms.
RANK_TOLERANCE = 1e-12


def teacher_matrix(teacher: Any) -> Array:
    """T with teacher(x) = xᵀTx: Σ aᵢ wᵢwᵢᵀ of a network (its quadratic part for αz²+βz+γ), or the matrix itself."""
    if isinstance(teacher, SymmetricTensor):
        return teacher.to_matrix()
    if not isinstance(teacher, Network):
        return symmetric_matrix("teacher", teacher)
    if teacher.a.ndim != 1:
        raise InvalidProblem(
            f"The teacher has {teacher.outputs} outputs; use teacher.output(m), one at a time."
        )
    leading = quadratic_coefficients(teacher)[0]
    matrix = leading * (teacher.W.T * teacher.a) @ teacher.W + float(teacher.norm) * np.eye(teacher.n)
    return np.asarray((matrix + matrix.T) / 2)


def quadratic_coefficients(teacher: Network) -> tuple[float, float, float]:
    """(α, β, γ) of the activation αz² + βz + γ; refused when it is no such polynomial or α = 0."""
    activation = teacher.activation
    if activation == Power(2):
        return 1.0, 0.0, 0.0
    if isinstance(activation, Polynomial) and activation.degree == 2:
        gamma, beta, alpha = (float(c) for c in activation.coefficients)
        return alpha, beta, gamma
    raise InvalidProblem(
        f"The teacher's activation is {describe(activation)}; energy barriers are for Power(2) and αz²+βz+γ with α ≠ 0."
    )


def is_positive_semidefinite(matrix: Array) -> bool:
    """Whether no eigenvalue is negative beyond the error of a teacher's matrix."""
    return signature(np.linalg.eigvalsh(matrix), RANK_TOLERANCE)[2] == 0


def matrix_rank(matrix: Array) -> int:
    """The number of eigenvalues that are not zero beyond the error of a teacher's matrix."""
    return len(matrix) - signature(np.linalg.eigvalsh(matrix), RANK_TOLERANCE)[1]


def network_of(matrix: Array, width: int, tolerance: float = RANK_TOLERANCE) -> Network:
    """A network Σ aᵢ(wᵢ·x)² = xᵀSx with aᵢ = ±1 and zero neurons to fill up the width.

    For a positive semidefinite S all aᵢ are 1, the fillers' too.
    """
    values, vectors = np.linalg.eigh(matrix)
    keep = np.flatnonzero(np.abs(values) > tolerance * np.max(np.abs(values), initial=0.0))
    if len(keep) > width:
        raise InvalidProblem(f"A matrix of rank {len(keep)} needs as many neurons; the width is {width}.")
    W = np.zeros((width, len(matrix)))
    a = np.ones(width)
    W[: len(keep)] = (np.sqrt(np.abs(values[keep])) * vectors[:, keep]).T
    a[: len(keep)] = np.sign(values[keep])
    return Network(W, a)
