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
from shallows.mathematics.exact.polynomials import Polynomial
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.mathematics.semidefinite_root import semidefinite_root
from shallows.questions.charts.continuation.balanced_coordinates import power_action
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
    def polynomials(self) -> list[Polynomial]:
        """Half the gradient of Σ_m (s_mᵀG s_m − 2 b_mᵀs_m)."""
        loss = self._objective()
        return [_half_slope(loss, k) for k in range(self.equations.unknowns)]

    @cached_property
    def system(self) -> PolynomialSystem:
        """For `certify`."""
        return PolynomialSystem.read(self.polynomials)

    def _objective(self) -> Polynomial:
        equations, P = self.equations, _integers(self.action)
        gram, right = P.T @ self.loss.gram @ P, self.loss.right @ P
        n, M, r = equations.neuron.n, equations.outputs, equations.r
        rows = [row for _, _, row in equations.neuron.terms]
        own = M + n
        total: Polynomial = {}

        def add(value: Fraction, *places: tuple[int, tuple[int, ...]], outer: list[int]) -> None:
            key = [0] * equations.unknowns
            for k in outer:
                key[k] += 1
            for i, row in places:
                for x, power in enumerate(row):
                    key[i * own + M + x] += power
            total[tuple(key)] = total.get(tuple(key), Fraction(0)) + value

        for m in range(M):
            for i in range(r):
                for I, row in enumerate(rows):
                    add(-2 * right[m, I], (i, row), outer=[i * own + m])
                    for j in range(r):
                        for J, other in enumerate(rows):
                            if gram[I, J]:
                                add(gram[I, J], (i, row), (j, other), outer=[i * own + m, j * own + m])
        return {key: value for key, value in total.items() if value}

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
        equations = self.equations
        n, M, own = equations.neuron.n, equations.outputs, equations.outputs + equations.neuron.n
        sums: list[Ball] = []
        for m in range(M):
            terms = []
            for i in range(equations.r):
                powers = [self._monomial(box, i * own + M, row, n) for _, _, row in equations.neuron.terms]
                psi = Ball(np.stack([p.mid for p in powers], -1), np.stack([p.rad for p in powers], -1))
                weight = box[:, i * own + m]
                terms.append(psi * Ball(weight.mid[:, None], weight.rad[:, None]))
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            sums.append(total @ Ball.exact(self.action.T))
        return Ball(np.concatenate([s.mid for s in sums], 1), np.concatenate([s.rad for s in sums], 1))

    @staticmethod
    def _monomial(box: Ball, start: int, row: tuple[int, ...], n: int) -> Ball:
        term = Ball.exact(np.ones(len(box.mid)))
        for x in range(n):
            for _ in range(row[x]):
                term = term * box[:, start + x]
        return term


def _integers(action: Array) -> NDArray[Any]:
    return np.array([[Fraction(int(x)) for x in row] for row in np.rint(action).tolist()], dtype=object)


def _half_slope(form: Polynomial, x: int) -> Polynomial:
    """Half the derivative."""
    return {
        tuple(k - (i == x) for i, k in enumerate(key)): value * key[x] / 2
        for key, value in form.items()
        if key[x]
    }
