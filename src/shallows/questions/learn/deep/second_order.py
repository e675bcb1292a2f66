"""Gradient and Hessian of the loss of a deep quadratic network: the same formulas in floats and in balls.

With v_l = (v_{l−1}ᵀA_i v_{l−1})_i, D_l = ∂v_l/∂θ and the adjoints λ_L = share·(v_L − y) and
λ_{l−1} = 2 Σ_i λ_{l,i} A_i v_{l−1},

    ∇L  = 2 Σ_n D_Lᵀλ_L,
    ∇²L = 2 Σ_n [share·D_LᵀD_L + Σ_l (2 D_{l−1}ᵀ(Σ_i λ_{l,i}A_i)D_{l−1} + C_l + C_lᵀ)],

C_l the derivative of ψ₂(v_{l−1}), weighted by λ_l, in the rows of layer l's own parameters. Of the penalty γ‖AAᵀ − I‖²
of a layer: 4γ(AAᵀ − I)A and 4γ(I⊗AᵀA + A_{ig}A_{jf} + (AAᵀ − I)⊗I).

`Numbers` is what formulas are written in: arrays, or `Ball`s, which have the same operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shallows.questions.learn.deep.layers import Shape
from shallows.questions.learn.fitting.frame import to_matrix
from shallows.support.checks import Array

Numbers = Any
#: Roundings in an entry of `to_matrix`: a root and a division.
ROUNDINGS = 2


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """θ ↦ (∇L, ∇²L) on samples: `Z` (N, h₀), `Y` (N, outputs), `share` (N, 1), all arrays or all balls.

    `exact` takes an array of whole numbers to `Numbers`, `rounded` one that was computed with some roundings.
    """

    shape: Shape
    Z: Numbers
    Y: Numbers
    share: Numbers
    gamma: Numbers
    exact: Callable[[Array], Numbers]
    rounded: Callable[[Array, int], Numbers]

    def __call__(self, theta: Numbers) -> tuple[Numbers, Numbers]:
        """The gradient, (p,), and the Hessian, (p, p)."""
        layers = self._split(theta)
        passes = [self._forward(0, layers, [self.Z, None])]
        for number in range(1, len(layers)):
            passes.append(self._forward(number, layers, passes[-1].out))
        v, D = passes[-1].out
        slope = self.share * (v - self.Y)
        count, outputs, p = D.shape
        flat, weighted = (
            D.reshape(count * outputs, p),
            (D * self.share.reshape(count, 1, 1)).reshape(count * outputs, p),
        )
        gradient = (flat.T @ slope.reshape(count * outputs, 1)).reshape(p)
        hessian = weighted.T @ flat
        for number in reversed(range(1, len(layers))):
            here = passes[number]
            mixed = (slope @ here.A.reshape(here.h, here.s * here.s)).reshape(count, here.s, here.s)
            hessian = hessian + self._bent(here, mixed, slope, number)
            slope = _twice(mixed @ here.v.reshape(count, here.s, 1)).reshape(count, here.s)
        gradient, hessian = _twice(gradient), _twice(hessian)
        for number, layer in enumerate(layers[:-1]):
            added, bent = self._penalty(layer, self._place(number))
            gradient, hessian = gradient + added, hessian + bent
        return gradient, hessian

    def _split(self, theta: Numbers) -> list[Numbers]:
        """The layers, (h_l, F_{l−1}) each."""
        ends = np.cumsum([rows * columns for rows, columns in self.shape.parts])
        return [
            theta[end - rows * columns : end].reshape(rows, columns)
            for (rows, columns), end in zip(self.shape.parts, ends.tolist(), strict=True)
        ]

    def _place(self, number: int) -> Array:
        """The 0/1 matrix (h_l F_{l−1}, p) with layer = place @ θ."""
        sizes = [rows * columns for rows, columns in self.shape.parts]
        place = np.zeros((sizes[number], self.shape.size))
        start = sum(sizes[:number])
        place[:, start : start + sizes[number]] = np.eye(sizes[number])
        return place

    def _forward(self, number: int, layers: Sequence[Numbers], before: Sequence[Numbers]) -> _Pass:
        v, D = before
        (h, F), s, p = self.shape.parts[number], self.shape.sizes[number], self.shape.size
        forms = to_matrix(np.eye(F), s)
        P = self.rounded(forms.reshape(F, s * s), ROUNDINGS)
        A = (layers[number] @ P).reshape(h, s, s)
        squares = v.reshape(-1, s, 1) * v.reshape(-1, 1, s)
        psi = squares.reshape(-1, s * s) @ P.T
        own = self.exact(self._place(number).reshape(h, F, p))
        jacobian = (psi @ own).swapaxes(0, 1)
        bend = self.rounded(np.moveaxis(forms, 0, 2).reshape(s, s * F), ROUNDINGS)
        if D is not None:
            images = _twice(v @ A.reshape(h * s, s).T).reshape(-1, h, s)
            jacobian = jacobian + images @ D
        return _Pass(h, F, s, v, D, A, bend, [psi @ layers[number].T, jacobian])

    def _bent(self, here: _Pass, mixed: Numbers, slope: Numbers, number: int) -> Numbers:
        """2 Σ Dᵀ(Σ λ_iA_i)D + C + Cᵀ."""
        h, F, s, p = here.h, here.F, here.s, self.shape.size
        around = _twice(here.D.reshape(-1, p).T @ (mixed @ here.D).reshape(-1, p))
        turned = _twice(here.v @ here.bend).reshape(-1, s, F).swapaxes(1, 2) @ here.D
        rows = (slope.T @ turned.reshape(-1, F * p)).reshape(h * F, p)
        cross = self.exact(self._place(number)).T @ rows
        return around + cross + cross.T

    def _penalty(self, A: Numbers, place: Array) -> tuple[Numbers, Numbers]:
        h, F = A.shape
        eye, flat = self.exact(np.eye(h)), self.exact(np.eye(F))
        excess, inner = A @ A.T - eye, A.T @ A
        slope = (excess @ A).reshape(h * F)
        curvature = (
            eye.reshape(h, 1, h, 1) * inner.reshape(1, F, 1, F)
            + A.T.reshape(1, F, h, 1) * A.reshape(h, 1, 1, F)
            + excess.reshape(h, 1, h, 1) * flat.reshape(1, F, 1, F)
        ).reshape(h * F, h * F)
        chosen, weight = self.exact(place), _twice(_twice(self.gamma))
        return weight * (chosen.T @ slope), weight * (chosen.T @ curvature @ chosen)


@dataclass(frozen=True, eq=False)
class _Pass:
    """One layer on all samples: what comes in, its forms, and what goes out with its derivative."""

    h: int
    F: int
    s: int
    v: Numbers
    D: Numbers
    A: Numbers
    bend: Numbers
    out: list[Numbers]


def in_floats(shape: Shape, Z: Array, Y: Array, weights: Array, gamma: float) -> SecondOrder:
    """The formulas in floating point."""
    share = (weights / weights.sum())[:, None]
    return SecondOrder(shape, Z, Y, share, np.asarray(gamma), np.asarray, lambda array, _: array)


def _twice(x: Numbers) -> Numbers:
    return x + x
