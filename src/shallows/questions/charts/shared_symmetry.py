"""The symmetries that a problem's metric and target share: exactly, to rounding, or only nearly.

A shared symmetry makes families of critical points. One that holds to rounding (samples at the corners of an
icosahedron, whose coordinates are no rationals) is one for all that doubles can tell, and families say "to rounding".
One that holds to 10⁻⁹ is none: its orbits carry a few isolated points, as close to degenerate as the symmetry is near.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.tensors.symmetry import NEARLY_SINGULAR, Symmetry, exact_algebra, symmetry_algebra
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem

#: A symmetry that is broken by more than this share is not one to rounding: numbers given in doubles are off by ε each.
#: Measured: 10⁻¹⁶ for corners of an icosahedron and for whitened Gaussian metrics of condition 10¹⁴; 2·10⁻¹⁴ for the
#: target diag(1, 1 + 10⁻¹², 3).
ROUNDED = 1e-15


@dataclass(frozen=True)
class SharedSymmetry:
    """`own` symmetries, exact or to rounding; `nearly`, when there are more that doubles take for symmetries, all of
    these."""

    own: Symmetry
    nearly: Symmetry | None = None

    @classmethod
    def of(cls, problem: Problem) -> SharedSymmetry:
        """By linear algebra in doubles; where the two tolerances disagree, the exact numbers decide."""
        gram, target = problem.gram(), problem.target_tensor().entries
        loose = symmetry_algebra(gram, target, problem.n, problem.degree, NEARLY_SINGULAR)
        tight = symmetry_algebra(gram, target, problem.n, problem.degree, ROUNDED)
        if tight.dimension == loose.dimension:
            return cls(loose)
        exact = ExactLoss.of(problem)
        basis = exact_algebra(exact.gram.tolist(), exact.right.tolist(), problem.n, problem.degree)
        if len(basis) == loose.dimension:
            return cls(loose)
        if len(basis) <= tight.dimension:
            return cls(tight, loose)
        return cls(Symmetry(np.array(basis, dtype=np.float64), gram, problem.degree), loose)
