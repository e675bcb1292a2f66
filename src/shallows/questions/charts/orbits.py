"""A family proved: the orbit of a critical point under the symmetries that the metric and the target share, exactly.

f(x) = ℓ(Σ ε_j w_j^⊗d), x the r neurons one after the other. It does not change along w_j ↦ exp(X) w_j, X of the exact
symmetry algebra (`mathematics.tensors.symmetry`); nor at degree 2 along W ↦ exp(M) W, ME skew with E = diag(ε), which
does not change the matrix. Both act on x by matrices Y. Of their tangents Yx, k are independent; the columns of a
matrix of doubles N span a complement of them, those of V nearly the tangents themselves.

1. Nᵀ∇f(x) = 0 and Vᵀ(x − x₀) = 0 are as many equations as unknowns, and regular: Krawczyk proves a root x*.
2. ∇f(x*) vanishes on N, and on the tangents Yx*, because f is invariant. Where (N, Yx) is invertible over the root's
   box, ∇f(x*) = 0: a critical point, and all of its orbit is critical.
3. ∇²f(x*) vanishes on the tangents too: its signature is that of Nᵀ∇²f N, proved in balls, and k zeros. So the tangents
   are all of its kernel: the orbit has k dimensions, no more, and no other critical point is near it.

At degree 2 the r(r−1)/2 dimensions of the fiber are no dimensions of the family, and no zeros of its signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import acb, acb_mat, arb_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.inertia import inertia, inertias
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.balls.systems import BITS, precision
from shallows.mathematics.exact.rational_arrays import fractions, rational_matrix
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetry import exact_algebra
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.closure.balls import TermBalls
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.proved_signature import boxes, distances, real_balls
from shallows.questions.charts.points.stratum import RealPoint
from shallows.questions.charts.powers.balls import PowerSystem
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.charts.powers.real import rank_is_proved
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class SliceSystem:
    """Nᵀ∇f(x)/2 = 0 and Vᵀ(x − x₀) = 0, with N, V and x₀ as the doubles that they are."""

    powers: PowerSystem
    normal: Array
    tangent: Array
    start: Array

    def ball_evaluator(self, bits: int) -> SliceBalls:
        """What `certify` asks for."""
        return SliceBalls(self, self.powers.ball_evaluator(bits))


class SliceBalls:
    """Value and Jacobian of the equations at balls x."""

    is_real = True

    def __init__(self, system: SliceSystem, powers: TermBalls) -> None:
        self.powers, self.n = powers, powers.n
        self.across, self.along = arb_mat(system.normal.T.tolist()), arb_mat(system.tangent.T.tolist())
        self.start = arb_mat([[x] for x in system.start.tolist()])

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """Value and Jacobian at the balls x."""
        kind: Any = acb_mat if isinstance(x[0], acb) else arb_mat
        across, along = kind(self.across), kind(self.along)
        value, hessian = self.powers(x)
        gap = kind([[entry] for entry in x]) - kind(self.start)
        values = (across * value).entries() + (along * gap).entries()
        return kind(self.n, 1, values), kind(self.n, self.n, (across * hessian).entries() + along.entries())


@dataclass(frozen=True, eq=False)
class Orbits:
    """The orbits of a problem's exact symmetries: which families of critical points they prove."""

    problem: Problem

    @cached_property
    def _exact(self) -> ExactLoss:
        return ExactLoss.of(self.problem)

    @cached_property
    def algebra(self) -> list[NDArray[Any]]:
        """A basis of the exact symmetry algebra, matrices of fractions."""
        exact = self._exact
        return exact_algebra(exact.gram.tolist(), exact.right.tolist(), self.problem.n, self.problem.degree)

    def proved(self, point: RealPoint, dimension: int) -> RealPoint | None:
        """The point, moved to the middle of a proof that its orbit is a family of this dimension; None without one."""
        found = self._on_slice(point, dimension)
        if found is None:
            return None
        powers, root, across = found
        for box in boxes(root):
            with precision(BITS):
                frame = arb_mat(across.tolist())
                curved = inertia(frame.transpose() * powers.ball_evaluator(BITS)(box)[1] * frame)
            if curved.certified:
                signature = (curved.positive, dimension, curved.negative)
                return _at(powers, root, point.signs, signature)
        return None

    def root(self, point: RealPoint, dimension: int) -> CertifiedRoot | None:
        """A box of neurons with a critical point in it, on a family of this dimension (0: alone but for its fiber)."""
        found = self._on_slice(point, dimension)
        return None if found is None else found[1]

    def _on_slice(self, point: RealPoint, dimension: int) -> tuple[PowerSystem, CertifiedRoot, Array] | None:
        """The equations, the root on the slice across the orbit, and the columns N that the slice leaves."""
        rank, degree, n = point.rank, self.problem.degree, self.problem.n
        independent = dimension + (rank * (rank - 1) // 2 if degree == 2 else 0)
        actions = self._actions(point, dimension > 0)
        if len(actions) < independent:
            return None
        x = point.vectors.ravel()
        chosen, along, across = _split(actions, x, independent)
        equations = PowerEquations(degree, n, rank)
        powers = PowerSystem.of(self.problem, equations, tuple(point.signs.tolist()), lambda: self._exact)
        system = SliceSystem(powers, across, along, x) if independent else powers
        root = certify(system, x[None].astype(np.complex128)).roots[0]
        if root is None or root.real is not True or not rank_is_proved(equations, list(root.box)):
            return None
        if not _transversal(across, chosen, root) or not _immersed(powers, root):
            return None
        return powers, root, across

    def _actions(self, point: RealPoint, moving: bool) -> list[NDArray[Any]]:
        """The matrices Y of fractions: w_j ↦ Xw_j for what moves, and at degree 2 W ↦ E K W, K skew."""
        rank, n = point.rank, self.problem.n
        found = [np.kron(fractions(np.eye(rank)), X) for X in self.algebra] if moving else []
        if self.problem.degree > 2:
            return found
        for i in range(rank):
            for j in range(i):
                M = np.zeros((rank, rank))
                M[i, j], M[j, i] = point.signs[i], -point.signs[j]
                found.append(fractions(np.kron(M, np.eye(n))))
        return found


def _split(
    actions: list[NDArray[Any]], x: Array, independent: int
) -> tuple[list[NDArray[Any]], Array, Array]:
    """So many actions with tangents as independent as can be, and orthonormal columns along and across these."""
    from scipy.linalg import qr

    if not independent:
        return [], np.zeros((len(x), 0)), np.eye(len(x))
    tangents = np.array([action.astype(np.float64) @ x for action in actions])
    lengths = np.linalg.norm(tangents, axis=1, keepdims=True)
    Q, _, order = qr((tangents / np.where(lengths == 0.0, 1.0, lengths)).T, pivoting=True)
    chosen = [actions[i] for i in order[:independent]]
    return chosen, np.asarray(Q[:, :independent]), np.asarray(Q[:, independent:])


def _transversal(across: Array, actions: list[NDArray[Any]], root: CertifiedRoot) -> bool:
    """Whether (N, Yx) is invertible for every x of the box: Arb inverts only what is."""
    with precision(BITS):
        x = arb_mat([[entry] for entry in root.box])
        columns = [(arb_mat(rational_matrix(action)) * x).entries() for action in actions]
        rows = [[*row, *(column[i] for column in columns)] for i, row in enumerate(across.tolist())]
        try:
            arb_mat(rows).inv()
        except ZeroDivisionError:
            return False
    return True


def _immersed(powers: PowerSystem, root: CertifiedRoot) -> bool:
    """Whether x ↦ Σ ε_j w_j^⊗d loses no direction but the fiber; independent neurons of degree 2, or one, never do."""
    if powers.equations.degree == 2 or powers.equations.r == 1:
        return True
    D = powers.ball_batch().tangents(real_balls([root]))
    return inertias(D @ Ball(D.mid.swapaxes(1, 2), D.rad.swapaxes(1, 2)))[0].certified


def _at(powers: PowerSystem, root: CertifiedRoot, signs: Array, signature: tuple[int, int, int]) -> RealPoint:
    """The middle of the root's box as a point, with how far its tensor, in doubles, is off."""
    equations = powers.equations
    vectors = root.point.real.reshape(equations.r, equations.n)
    entries = signs @ coordinates.monomials(vectors, equations.degree)
    radius = float(distances(entries[None], powers.ball_batch().tensors(real_balls([root])))[0])
    method = "an orbit of exact symmetries: Krawczyk on a slice across it"
    return RealPoint(vectors, signs, signature, Certificate(radius, True, True, method))
