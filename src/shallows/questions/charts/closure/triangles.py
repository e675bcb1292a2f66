"""Limits of cubic neurons in three inputs at which paths of three neurons end: they are lost, and no network is.

Sums of three cubes w₁³ + w₂³ + w₃³ and the slopes e = G(s − t) that make them critical are pairs (s, e) of a bundle: e
is a cubic with nodes at all wᵢ, hence a triangle, the product of the three lines through two of them each, and s is any
of the space of their cubes. Triangles l₁l₂l₃ of different lines are a manifold of dimension 7, with tangent space
⟨l₁l₂, l₁l₃, l₂l₃⟩·(linear forms), also where the lines have a point w in common: in coordinates with w = (0, 0, 1)
these are all forms in x and y alone, and z times all quadrics in them. What vanishes on it is of dimension 3 there,
too: z³, z²x and z²y, all w²v. So the bundle goes on smoothly over such triangles, as pairs of w²v and three lines
through w: where the slope at a limit w²v of two neurons is one, the limit is the end of one path of three.

A cubic is three lines through w when e(w, ·, ·) = 0. At a limit of two neurons e(w, w, ·) = e(w, v, ·) = 0 anyway: this
is one condition more, which generic targets do not meet and symmetric ones do.

A target that is itself a limit of three merged neurons, a conic with a tangent line z(y² + xz), is the end of one path
as well: sums of three cubes are the zeros of Aronhold's invariant S, and S(z(y² + xz) + εx³) has order one in ε.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from shallows.mathematics.tensors.curves import curve_coefficients

#: Degree and inputs of these limits.
CUBIC, INPUTS = 3, 3
#: Lines closer than this, by the discriminant of the form of unit size, are not taken to be different: it is of size
#: one for a random form, and 10⁻⁸ where two of its roots are known to agree to 10⁻⁴.
DIFFERENT = 1e-8


def stars(w: Any, slopes: Any, small: float) -> int:
    """At how many limits w²v, one a row, the slope is a product of three different lines through w.

    `slopes` are the entries of e that act on those of a cubic; numbers below `small` are zero.
    """
    w = w / np.linalg.norm(w, axis=1, keepdims=True)
    e = np.eye(INPUTS)
    pairs = np.array([e[i] + e[j] for i, j in combinations_with_replacement(range(INPUTS), 2)]) + 0j
    across = curve_coefficients(w[:, None], pairs, 0 * pairs, CUBIC)[..., 2, :]
    through = np.abs(np.einsum("pkn,pn->pk", across, slopes)).max(axis=1, initial=0.0) <= small
    return sum(_different(one, slope, small) for one, slope in zip(w[through], slopes[through], strict=True))


def _different(w: Any, slope: Any, small: float) -> bool:
    """Whether three lines through w are."""
    basis = np.linalg.svd(w[None])[2][1:].conj()
    form = curve_coefficients(basis[0], basis[1], 0 * basis[0], CUBIC)[: CUBIC + 1] @ slope
    size = float(np.abs(form).max())
    if size <= small:
        return False
    a, b, c, d = form / size
    p, q, r = b * b - 3 * a * c, b * c - 9 * a * d, c * c - 3 * b * d  # of the Hessian; 4pr − q² is 3 Disc
    return bool(abs(q * q - 4 * p * r) > DIFFERENT)
