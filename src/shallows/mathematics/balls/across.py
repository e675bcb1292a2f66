"""Critical points of a function that is constant along orbits of a group, proved on a slice across the orbit.

The orbit through θ has tangents T(θ) (columns). On a slice θ = c + Nu Krawczyk's operator proves that one u has
Nᵀ∇L = 0. Invariance gives T(θ)ᵀ∇L = 0 at every θ, so where the columns of T(θ) and N together span R^p, which balls
decide over the whole box, ∇L = 0 there. The Hessian at a critical point has T(θ) in its kernel, and its inertia on a
complement is that of Nᵀ∇²L N. More flat directions than these make that singular, and nothing is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.balls.inertia import Inertia, inertia
from shallows.mathematics.balls.krawczyk import certify_point
from shallows.mathematics.balls.rounding import longest
from shallows.mathematics.balls.systems import BallEvaluator, precision
from shallows.support.checks import Array

#: Tangents shorter than this share of the longest do not count: the orbit is of lower dimension there.
SHORT = 1e-8
Moves = Callable[[Sequence[Any]], arb_mat]


@dataclass(frozen=True, eq=False)
class CriticalBox:
    """A box around θ that holds a critical point, exactly one of the slice; `hessian` is Nᵀ∇²L N over the box.

    `flat` counts the orbit's directions, `radius` bounds the distance of θ from the point.
    """

    box: tuple[Any, ...]
    hessian: arb_mat
    signs: Inertia
    flat: int
    radius: float


class _Slice:
    """Nᵀ∇L and Nᵀ∇²L N at θ = centre + Nu."""

    is_real = True

    def __init__(self, system: BallEvaluator, centre: Array, frame: Array) -> None:
        self.system, self.n = system, frame.shape[1]
        self.centre = arb_mat(len(centre), 1, centre.tolist())
        self.frame = arb_mat(frame.tolist())

    def ball_evaluator(self, bits: int) -> _Slice:
        """Itself: for the bits at which it was asked for."""
        return self

    def point(self, u: Sequence[Any]) -> list[Any]:
        """θ of slice coordinates."""
        moved: list[Any] = (self.centre + self.frame * arb_mat([[x] for x in u])).entries()
        return moved

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """The gradient (n×1) and Hessian (n×n) on the slice."""
        gradient, hessian = self.system(self.point(x))
        turned = self.frame.transpose()
        return turned * gradient, turned * hessian * self.frame


def critical_box(
    system: BallEvaluator, theta: Array, bits: int, moves: Moves | None = None
) -> CriticalBox | None:
    """Prove a critical point next to θ; `moves` has the orbit's tangents at balls, as columns. None without a proof."""
    with precision(bits):
        exact = [arb(float(x)) for x in theta]
        frame = np.eye(len(theta)) if moves is None else _complement(moves(exact))
        if frame is None or not frame.shape[1]:
            return None
        if moves is None:
            root = certify_point(system, system, theta.astype(np.complex128), bits, real=True)
            if root is None:
                return None
            box, hessian = tuple(root.box), system(root.box)[1]
        else:
            u = frame.T @ theta
            slices = _Slice(system, theta - frame @ u, frame)
            root = certify_point(slices, slices, u.astype(np.complex128), bits, real=True)
            if root is None:
                return None
            box, hessian = tuple(slices.point(root.box)), slices(root.box)[1]
            if not _span(moves(box), slices.frame):
                return None
        radius = longest([x - t for x, t in zip(box, exact, strict=True)])
        return CriticalBox(box, hessian, inertia(hessian, bits), len(theta) - frame.shape[1], radius)


def _span(tangents: arb_mat, frame: arb_mat) -> bool:
    """Whether orbit and slice together span everything, at every point of the box."""
    columns = tangents.transpose().tolist() + frame.transpose().tolist()
    whole = arb_mat(columns)
    return inertia(whole * whole.transpose()).positive == len(columns) == whole.ncols()


def _complement(tangents: arb_mat) -> Array | None:
    """An orthonormal basis (p, p − g) across the orbit; None where the orbit has a lower dimension than its group."""
    moves = np.array([[float(x.mid()) for x in row] for row in tangents.tolist()])
    left, lengths, _ = np.linalg.svd(moves, full_matrices=True)
    if len(lengths) < moves.shape[1] or lengths[-1] <= SHORT * lengths[0]:
        return None
    return np.asarray(left[:, moves.shape[1] :])
