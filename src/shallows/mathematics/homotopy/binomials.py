"""All roots of binomial systems y^{eᵢ} = exp(2πi φᵢ), by exact arithmetic on angles.

With y = exp(2πi θ) the equations are M θ = φ modulo whole numbers, M the matrix of the rows eᵢ: θ = M⁻¹(φ + k), one for
each k in Zⁿ / M Zⁿ. Hermite's normal form of Mᵀ has the box of representatives on its diagonal, |det M| of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
#: Whole numbers that 64 bits hold with room for a sum of two; beyond that numbers of any size are taken.
LARGEST = 2**62
#: So many classes are tried as generators, with entries below this.
TRIED = 8


def unit_roots(matrices: Whole, angles: Whole, turn: int) -> tuple[NDArray[np.complex128], Whole]:
    """The |det| roots of each system, one a row, all of modulus 1, and the number of the system that each belongs to;
    a row of `angles` each, in units of 1/turn.

    >>> from shallows.mathematics.homotopy.binomials import unit_roots
    >>> roots, owners = unit_roots(np.array([[[2, 0], [1, 3]]]), np.array([[0, 1]]), turn=2)     # x² = 1, xy³ = −1
    >>> len(roots), bool(np.abs(roots[:, 0] * roots[:, 1] ** 3 + 1).max() < 1e-12)
    (6, True)
    """
    count, n = angles.shape
    dets, adjugates, exact = _adjugates(matrices)
    largest = np.abs(adjugates).max(axis=(1, 2), initial=0).astype(float)
    fits = n * largest * float(np.abs(angles).max(initial=0)) < LARGEST
    easy = exact & fits & (dets.astype(float) * np.maximum(np.maximum(dets, turn), n * TRIED) < LARGEST)
    modulus = np.where(easy, dets, 1)[:, None]
    whole = np.where(easy[:, None, None], adjugates, 0)
    firsts = (whole @ angles[:, :, None])[:, :, 0] % (modulus * turn) / (modulus * turn)
    # the classes M⁻¹k are a group; where it is cyclic one of them has |det| multiples, mostly one of these
    classes = whole % modulus[:, :, None] @ _trials(n) % modulus[:, :, None]
    generates = np.gcd(np.gcd.reduce(classes, axis=1), modulus) == 1
    cyclic = easy & generates.any(axis=1)
    column = classes[np.arange(count), :, np.argmax(generates, axis=1)]
    parts, owners = [], []
    many = np.where(cyclic, dets, 0)
    rows = np.repeat(np.arange(count), many)
    multiple = np.arange(len(rows)) - np.repeat(np.cumsum(many) - many, many)
    parts.append(multiple[:, None] * column[rows] % modulus[rows] / modulus[rows] + firsts[rows])
    owners.append(rows)
    for k in np.flatnonzero(~cyclic):
        if easy[k]:
            parts.append(_shifted(matrices[k], adjugates[k], int(dets[k])) + firsts[k])
        else:
            parts.append(_turns(matrices[k], angles[k], turn))
        owners.append(np.full(len(parts[-1]), k))
    order = np.argsort(owner := np.concatenate(owners), kind="stable")
    return np.asarray(np.exp(2j * np.pi * np.concatenate(parts)[order])), owner[order]


def _trials(n: int) -> Whole:
    """Some k to try: units, and small random ones."""
    return np.hstack([np.eye(n, dtype=np.int64), np.random.default_rng(0).integers(0, TRIED, (n, TRIED))])


def _adjugates(matrices: Whole) -> tuple[Whole, Whole, NDArray[np.bool_]]:
    """|det| and |det|·M⁻¹ of each, rounded; and where whole numbers show that this is exact."""
    n, most = matrices.shape[1], float(np.abs(matrices).max(initial=1))
    dets = np.rint(np.abs(np.linalg.det(matrices.astype(np.float64))))
    invertible = np.where((dets > 0)[:, None, None], matrices, np.eye(n))  # in doubles
    near = np.rint(np.linalg.inv(invertible) * dets[:, None, None])
    small = (dets > 0) & (dets < LARGEST) & (n * most * np.abs(near).max(axis=(1, 2), initial=0.0) < LARGEST)
    whole = np.where(small[:, None, None], near, 0.0).astype(np.int64)
    own = np.where(small, dets, 1.0).astype(np.int64)
    unit = own[:, None, None] * np.eye(n, dtype=np.int64)
    return own, whole, small & (matrices @ whole == unit).all(axis=(1, 2))


def _turns(matrix: Whole, angles: Whole, turn: int) -> NDArray[np.float64]:
    """The roots of one system, as turns, in numbers of any size."""
    det, adjugate = _exactly(matrix)
    first = np.asarray(adjugate @ angles.astype(object) % (det * turn) / (det * turn), np.float64)
    return first[None] if det == 1 else _shifted(matrix, adjugate, det) + first


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
    box = [abs(int(form[j, j])) for j in range(n)]
    shifts = np.stack(np.unravel_index(np.arange(det), box), axis=1)
    residues = (adjugate % det).astype(np.int64)  # they matter modulo det only
    return np.asarray((shifts @ residues.T % det) / det)
