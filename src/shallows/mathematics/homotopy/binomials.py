"""All roots of a binomial system y^{eᵢ} = exp(2πi φᵢ), by exact arithmetic on angles.

With y = exp(2πi θ) the equations are M θ = φ modulo whole numbers, M the matrix of the rows eᵢ: θ = M⁻¹(φ + k), one for
each k in Zⁿ / M Zⁿ. Hermite's normal form of Mᵀ has the box of representatives on its diagonal, |det M| of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def unit_roots(matrix: NDArray[np.int64], angles: Sequence[Fraction]) -> NDArray[np.complex128]:
    """The |det| roots, one a row, all of modulus 1; `angles` in turns.

    >>> from shallows.mathematics.homotopy.binomials import unit_roots
    >>> roots = unit_roots(np.array([[2, 0], [1, 3]]), [Fraction(0), Fraction(1, 2)])
    >>> len(roots), bool(np.abs(roots[:, 0] * roots[:, 1] ** 3 + 1).max() < 1e-12)
    (6, True)
    """
    from flint import fmpz_mat

    n = len(matrix)
    exact = fmpz_mat(n, n, [int(entry) for entry in matrix.ravel()])
    det = abs(int(exact.det()))
    adjugate = [int((entry * det).p) for entry in exact.inv().entries()]  # det·M⁻¹
    turn = math.lcm(*(angle.denominator for angle in angles))
    whole = [angle.numerator * (turn // angle.denominator) for angle in angles]
    first = np.array(
        [
            sum(adjugate[i * n + j] * whole[j] for j in range(n)) % (det * turn) / (det * turn)
            for i in range(n)
        ]
    )
    if det == 1:
        turns = first[None]
    else:
        form = exact.transpose().hnf()
        box = [range(abs(int(form[j, j]))) for j in range(n)]
        shifts = np.array(list(itertools.product(*box)), dtype=np.int64)
        # the entries of det·M⁻¹ matter modulo det only
        residues = np.array([entry % det for entry in adjugate], dtype=np.int64).reshape(n, n)
        turns = (shifts @ residues.T % det) / det + first
    return np.asarray(np.exp(2j * np.pi * turns))
