"""All roots of binomial systems y^{eᵢ} = exp(2πi φᵢ), by exact arithmetic on angles.

With y = exp(2πi θ) the equations are M θ = φ modulo whole numbers, M the matrix of the rows eᵢ: θ = M⁻¹(φ + k), one for
each k in Zⁿ / M Zⁿ. Hermite's normal form of Mᵀ has the box of representatives on its diagonal, |det M| of them.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
#: Whole numbers that 64 bits hold with room for a sum of two; beyond that numbers of any size are taken.
LARGEST = 2**62


def unit_roots(matrices: Whole, angles: Whole, turn: int) -> list[NDArray[np.complex128]]:
    """The |det| roots of each system, one a row, all of modulus 1; a row of `angles` each, in units of 1/turn.

    >>> from shallows.mathematics.homotopy.binomials import unit_roots
    >>> (roots,) = unit_roots(np.array([[[2, 0], [1, 3]]]), np.array([[0, 1]]), turn=2)     # x² = 1, xy³ = −1
    >>> len(roots), bool(np.abs(roots[:, 0] * roots[:, 1] ** 3 + 1).max() < 1e-12)
    (6, True)
    """
    found = []
    for k, (det, adjugate) in enumerate(_adjugates(matrices)):
        whole = angles[k].astype(object) if adjugate.dtype == object else angles[k]
        if adjugate.dtype != object:
            sizes = int(np.abs(adjugate).max()), int(np.abs(whole).max(initial=0))
            if len(whole) * sizes[0] * sizes[1] > LARGEST or det * turn > LARGEST:
                adjugate, whole = adjugate.astype(object), whole.astype(object)
        first = (adjugate @ whole % (det * turn) / (det * turn)).astype(np.float64)
        turns = first[None] if det == 1 else _shifted(matrices[k], adjugate, det) + first
        found.append(np.asarray(np.exp(2j * np.pi * turns)))
    return found


def _adjugates(matrices: Whole) -> list[tuple[int, NDArray[np.generic]]]:
    """|det| and |det|·M⁻¹ of each: rounded, where whole numbers show that this is exact, else by exact elimination."""
    dets = np.rint(np.abs(np.linalg.det(matrices.astype(np.float64))))
    near = np.rint(np.linalg.inv(matrices.astype(np.float64)) * dets[:, None, None])
    small = (dets < LARGEST) & (np.abs(near).max(axis=(1, 2), initial=0.0) < LARGEST)
    n, most = matrices.shape[1], int(np.abs(matrices).max(initial=1))
    result: list[tuple[int, NDArray[np.generic]]] = []
    for matrix, det, entries, possible in zip(matrices, dets, near, small, strict=True):
        if possible and n * most * float(np.abs(entries).max()) < LARGEST:
            adjugate = entries.astype(np.int64)
            if np.array_equal(matrix @ adjugate, int(det) * np.eye(n, dtype=np.int64)):
                result.append((int(det), adjugate))
                continue
        result.append(_exactly(matrix))
    return result


def _exactly(matrix: Whole) -> tuple[int, NDArray[np.generic]]:
    from flint import fmpz_mat

    exact = fmpz_mat(len(matrix), len(matrix), [int(entry) for entry in matrix.ravel()])
    det = abs(int(exact.det()))
    entries = [int((entry * det).p) for entry in exact.inv().entries()]
    return det, np.array(entries, dtype=object).reshape(matrix.shape)


def _shifted(matrix: Whole, adjugate: NDArray[np.generic], det: int) -> NDArray[np.float64]:
    """M⁻¹k, in turns, for each k."""
    from flint import fmpz_mat

    n = len(matrix)
    form = fmpz_mat(n, n, [int(entry) for entry in matrix.T.ravel()]).hnf()
    box = [range(abs(int(form[j, j]))) for j in range(n)]
    shifts = np.array(list(itertools.product(*box)), dtype=np.int64)
    residues = (adjugate % det).astype(np.int64)  # they matter modulo det only
    return np.asarray((shifts @ residues.T % det) / det)
