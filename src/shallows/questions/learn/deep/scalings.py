"""Scalings between layers: networks that differ by them are one function.

With v_l ↦ gv_l and A^(l+1) ↦ g⁻ᵀA^(l+1)g⁻¹, g invertible, the outputs are the same; equation F.1's penalty γ‖AAᵀ − I‖²
is the same for orthogonal g only. Critical points come as orbits, and Hessians have the orbit's directions as kernel.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from shallows.questions.learn.deep.layers import Shape
from shallows.questions.learn.fitting.frame import from_matrix, to_matrix
from shallows.support.checks import Array

#: Relative roundings in an entry of `tangents`: roots of 2 and their quotients; its sums are of equal sizes, so exact.
ROUNDINGS = 8


def tangents(shape: Shape, orthogonal: bool) -> Array:
    """Matrices K (g, p, p) with K_cθ the directions in which scalings between layers move θ.

    E in gl(h_l) moves A^(l) by EA^(l) and A^(l+1) by −EᵀA − AE; `orthogonal`: only E = −Eᵀ.
    """
    basis = shape.split(np.eye(shape.size))
    found = []
    for l in range(1, shape.depth):
        h = shape.sizes[l]
        pairs = [(i, j) for i in range(h) for j in range(h) if not orthogonal or i < j]
        for i, j in pairs:
            E = np.zeros((h, h))
            E[i, j] = 1.0
            if orthogonal:
                E[j, i] = -1.0
            moved = [np.zeros_like(layer) for layer in basis]
            moved[l - 1] = E @ basis[l - 1]
            M = to_matrix(basis[l], h)
            moved[l] = from_matrix(-(E.T @ M + M @ E))
            found.append(shape.join(moved).T)
    return np.array(found).reshape(-1, shape.size, shape.size)


def aligned(shape: Shape, first: Array, second: Array) -> list[Array]:
    """The second network turned by orthogonal g, layer by layer, to those whose forms are closest to the first's.

    Minimising ‖A − gB‖ is Procrustes' problem: g = UVᵀ with ABᵀ = UΣVᵀ, and with the last singular pair turned round
    for the best g of the other determinant. No path of orthogonal maps joins the two, so both are given: one network a
    choice of determinants.
    """
    return [_turned(shape, first, second, signs) for signs in product((1.0, -1.0), repeat=shape.depth - 1)]


def _turned(shape: Shape, first: Array, second: Array, signs: tuple[float, ...]) -> Array:
    ours, theirs = shape.split(first), shape.split(second)
    for l, sign in enumerate(signs, 1):
        left, _, right = np.linalg.svd(ours[l - 1] @ theirs[l - 1].T)
        left[:, -1] *= sign
        g = left @ right
        theirs[l - 1] = g @ theirs[l - 1]
        theirs[l] = from_matrix(g @ to_matrix(theirs[l], shape.sizes[l]) @ g.T)
    return shape.join(theirs)
