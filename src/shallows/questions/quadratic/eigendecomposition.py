"""Eigenvalues by descent (paper 002, Corollary D.3): min ‖A − QΛQᵀ‖² + γ‖QQᵀ − I‖², γ = ‖A‖², from (0, I).

The minimum is zero, and Q then holds eigenvectors. As printed the corollary fails when A has zeros on its diagonal
(see `orthogonality`); with the repair it holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shallows.model.data.metric import Frobenius
from shallows.model.problem import Problem
from shallows.questions.quadratic.orthogonality import GRADIENT, OrthogonalFit, fit_orthogonal
from shallows.support.checks import Array, symmetric_matrix
from shallows.support.errors import InvalidProblem, NotConverged


@dataclass(frozen=True, eq=False)
class Eigendecomposition:
    """A = vectors · diag(values) · vectorsᵀ, values ascending, found by descent (paper 002, Corollary D.3).

    `residual` is ‖A − QΛQᵀ‖, relative to ‖A‖; `fit` says how the descent went.

    >>> found = sh.quadratic.eigendecompose([[2.0, 1.0], [1.0, 2.0]])
    >>> found.values.round(6).tolist(), abs(found.vectors).round(6).tolist()   # (1, ∓1)/√2 and (1, 1)/√2
    ([1.0, 3.0], [[0.707107, 0.707107], [0.707107, 0.707107]])
    >>> found.residual < 1e-8, found.fit.defect < 1e-6
    (True, True)
    """

    values: Array
    vectors: Array
    residual: float
    fit: OrthogonalFit

    def __repr__(self) -> str:
        return (
            f"Eigendecomposition({len(self.values)} eigenvalues from {self.values[0]:.6g} to {self.values[-1]:.6g}, "
            f"residual {self.residual:.2g}, ‖QQᵀ − I‖ {self.fit.defect:.2g}, {self.fit.run.iterations} iterations)"
        )


def eigendecompose(
    A: ArrayLike, *, repair: bool = True, tolerance: float = GRADIENT, rng: int | np.random.Generator = 0
) -> Eigendecomposition:
    """Eigenvalues and eigenvectors of A by descent on ‖A − QΛQᵀ‖² + γ‖QQᵀ − I‖² from (0, I), γ = ‖A‖².

    Paper 002, Corollary D.3; `repair=False` is the corollary as printed.

    >>> sh.quadratic.eigendecompose([[2.0, 1.0], [1.0, 2.0]]).values.round(8).tolist()
    [1.0, 3.0]
    """
    matrix = symmetric_matrix("A", A)
    size = float(np.linalg.norm(matrix))
    if size == 0:
        raise InvalidProblem("A is zero: every orthogonal Q is an answer.")
    unit = matrix / size
    problem = Problem(unit, Frobenius(len(unit)), len(unit), orthogonality=1.0)
    fit = fit_orthogonal(problem, repair=repair, tolerance=tolerance, rng=rng)
    Q, values = fit.network.W.T, fit.network.a
    residual = float(np.linalg.norm((Q * values) @ Q.T - unit))
    if not fit.inspection.is_global:
        raise NotConverged(
            f"Descent from (0, I) ended at a {fit.inspection.verdict} with ‖A − QΛQᵀ‖ = {residual:.3g}‖A‖"
            + (". Fix: repair=True." if not repair else ".")
        )
    order = np.argsort(values)
    return Eigendecomposition(size * values[order], Q[:, order], residual, fit)
