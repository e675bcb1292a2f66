"""The critical equations of Σ aᵢ ⊗ wᵢ^⊗d as exact polynomials in (aᵢ, zᵢ), wᵢ = R(1, zᵢ), R a frame of integers.

They are half the gradient of the loss, so that their Jacobian is half its Hessian on the stratum: its signature is
proved over the box of a proved root.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.semidefinite_root import semidefinite_root
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.continuation.balanced_coordinates import power_action
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.outputs.equations import OutputEquations
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.support.checks import Array

Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class OutputSystem:
    """The equations of r neurons, and the way between (A, W) and their unknowns."""

    equations: OutputEquations
    loss: OutputsLoss
    frame: Array

    @cached_property
    def action(self) -> Array:
        """P with (Rv)^⊗d = P v^⊗d: integers."""
        return power_action(self.frame, self.equations.degree)

    def unknowns(self, A: Complex, W: Complex) -> Complex:
        """(aᵢ, zᵢ) of outer weights (…, r, M) and neurons (…, r, n)."""
        V = np.linalg.solve(self.frame, np.swapaxes(W, -1, -2)).swapaxes(-1, -2)
        lead = V[..., :1]
        return self.equations.join(A * lead**self.equations.degree, V[..., 1:] / lead)

    def network(self, x: Array) -> tuple[Array, Array]:
        """Outer weights (M, r) and neurons (r, n) of real unknowns, neurons of unit length."""
        A, Z = (part.real for part in self.equations.split(x.astype(np.complex128)))
        W = np.concatenate([np.ones((len(Z), 1)), Z], axis=1) @ self.frame.T
        lengths = np.linalg.norm(W, axis=1)
        return (A * lengths[:, None] ** self.equations.degree).T, W / lengths[:, None]

    @cached_property
    def system(self) -> TermSystem:
        """Half the gradient of Σ_m (s_mᵀG s_m − 2 b_mᵀs_m), for `certify`."""
        P, M = _integers(self.action), self.equations.outputs
        gram: NDArray[Any] = np.kron(_integers(np.eye(M)), P.T @ self.loss.gram @ P)
        return NeuronSystem(self.equations, ExactLoss(gram, (self.loss.right @ P).ravel()))

    def hessian(self, x: Array) -> Array:
        """Half the Hessian at a real point: the Jacobian's middle at a box without width."""
        jacobian = self.system.ball_batch()(Ball.exact(x[None]))[1].mid[0]
        return np.asarray((jacobian + jacobian.T) / 2)

    def curvatures(self, x: Array) -> Array:
        """Eigenvalues of half the Hessian in an orthonormal frame of the tangent space."""
        tangents = self.equations.tangents(x.astype(np.complex128)).real
        root = semidefinite_root(np.asarray(self.action.T @ self.loss.gram.astype(float) @ self.action))
        white = tangents.reshape(len(x), self.equations.outputs, -1) @ root.T
        factor = np.asarray(np.linalg.qr(white.reshape(len(x), -1).T)[1], np.float64)
        whole = np.linalg.solve(factor.T, np.linalg.solve(factor.T, self.hessian(x)).T)
        return np.asarray(np.linalg.eigvalsh((whole + whole.T) / 2))

    def entries(self, x: Array) -> Array:
        """The tensors, all outputs one after the other, in the problem's coordinates."""
        s = self.equations.tensors(x[None].astype(np.complex128))[0].real
        return np.asarray((s.reshape(self.equations.outputs, -1) @ self.action.T).ravel())

    def entry_balls(self, box: Ball) -> Ball:
        """The same over boxes, one a row."""
        s = self.system.ball_batch().tensors(box).reshape(len(box.mid), self.equations.outputs, -1)
        return (s @ Ball.exact(self.action.T)).reshape(len(box.mid), -1)


def _integers(action: Array) -> NDArray[Any]:
    return np.array([[Fraction(int(x)) for x in row] for row in np.rint(action).tolist()], dtype=object)
