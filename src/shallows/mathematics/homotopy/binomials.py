"""All roots of a binomial system y^{eᵢ} = exp(2πi φᵢ), by exact arithmetic on angles.

With y = exp(2πi θ) the equations are M θ = φ modulo whole numbers, M the matrix of the rows eᵢ: θ = M⁻¹(φ + k), one for
each k in Zⁿ / M Zⁿ. Hermite's normal form of Mᵀ has the box of representatives on its diagonal, |det M| of them.
"""

from __future__ import annotations

import itertools
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
    inverse = [Fraction(int(entry.p), int(entry.q)) for entry in exact.inv().entries()]
    first = [sum((inverse[i * n + j] * angles[j] for j in range(n)), Fraction(0)) % 1 for i in range(n)]
    if det == 1:
        turns = np.array([[float(angle) for angle in first]])
    else:
        form = exact.transpose().hnf()
        box = [range(abs(int(form[j, j]))) for j in range(n)]
        shifts = np.array(list(itertools.product(*box)), dtype=np.int64)
        # the entries of det·M⁻¹ matter modulo det only
        adjugate = np.array([int(entry * det) % det for entry in inverse], dtype=np.int64).reshape(n, n)
        turns = (shifts @ adjugate.T % det) / det + np.array([float(angle) for angle in first])
    return np.asarray(np.exp(2j * np.pi * turns))
