"""Certified inertia of a real symmetric matrix given in balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.balls.arrays import SLACK, Ball, raised
from shallows.mathematics.balls.systems import precision
from shallows.support.arguments import typed
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True)
class Inertia:
    """Numbers of positive and negative eigenvalues that are proved, and of those whose sign is not.

    >>> singular = sh.certify.inertia([[1, 1], [1, 1]])         # eigenvalues 2 and 0: balls never prove a zero
    >>> singular, singular.certified
    (Inertia(positive=1, undecided=1, negative=0), False)
    """

    positive: int
    undecided: int
    negative: int

    @property
    def certified(self) -> bool:
        """Whether every sign is proved (the matrix is then nonsingular)."""
        return self.undecided == 0


@typed
def inertia(matrix: arb_mat | Sequence[Sequence[Any]], bits: int = 128) -> Inertia:
    """Signs of the eigenvalues of every symmetric matrix within the given balls.

    Sylvester: A and CᵀAC have the same inertia. With C the rounded eigenvectors of the midpoint, CᵀAC is
    nearly diagonal; interval LDLᵀ of it, the entries of D in decreasing size, then meets no cancellation,
    and a pivot that excludes 0 counts with its sign. C need not be orthogonal, but must be invertible:
    that is checked by Gershgorin on CᵀC. What is left after the last pivot that excludes 0 is undecided:
    by Cauchy interlacing (LDLᵀ is a congruence) the signs found before stay proved.

    >>> from flint import arb
    >>> ball = arb(2, 0.1)                      # any number in [1.9, 2.1]
    >>> sh.certify.inertia([[ball, 1], [1, -3]])
    Inertia(positive=1, undecided=0, negative=1)
    """
    a = matrix if isinstance(matrix, arb_mat) else arb_mat([[arb(entry) for entry in row] for row in matrix])
    n = a.nrows()
    if a.ncols() != n:
        raise InvalidProblem(f"the matrix is {n}×{a.ncols()}. Fix: give a square symmetric matrix")
    if any(not a[i, j].overlaps(a[j, i]) for i in range(n) for j in range(i)):
        raise InvalidProblem("the matrix is not symmetric: entries i,j and j,i do not overlap")
    if n == 0:
        return Inertia(0, 0, 0)
    middle = np.array([[float(a[i, j].mid()) for j in range(n)] for i in range(n)])
    if not np.isfinite(middle).all():
        return Inertia(0, n, 0)
    values, vectors = np.linalg.eigh((middle + middle.T) / 2)
    order = np.argsort(-np.abs(values))
    with precision(bits):
        frame = arb_mat(n, n, vectors[:, order].ravel().tolist())
        if not _invertible(frame):
            return Inertia(0, n, 0)
        symmetric = (a + a.transpose()) / 2
        work = (frame.transpose() * symmetric * frame).tolist()
        positive = negative = 0
        for k in range(n):
            pivot = work[k][k]
            if pivot > 0:
                positive += 1
            elif pivot < 0:
                negative += 1
            else:
                break
            for i in range(k + 1, n):
                ratio = work[i][k] / pivot
                for j in range(k + 1, i + 1):
                    work[i][j] = work[i][j] - ratio * work[j][k]
                    work[j][i] = work[i][j]
    return Inertia(positive, n - positive - negative, negative)


def inertias(matrices: Ball) -> list[Inertia]:
    """The same for many real symmetric matrices (m, n, n) at once, in float64.

    With C the rounded eigenvectors of a midpoint, CᵀAC is nearly diagonal. When all of it is strictly diagonally
    dominant, Gershgorin's discs do not meet 0: the signs of its diagonal are its inertia, and C is invertible because
    CᵀAC is. Signs are counted for all rows or for none: what is undecided here may be decided in Arb (`inertia`).
    """
    n = matrices.mid.shape[-1]
    usable = np.isfinite(matrices.mid).all(axis=(1, 2))
    middle = np.where(usable[:, None, None], matrices.mid, 0.0)
    frame = Ball.exact(np.linalg.eigh((middle + middle.transpose(0, 2, 1)) / 2)[1])
    turned = Ball(frame.mid.transpose(0, 2, 1), frame.rad) @ matrices @ frame
    diagonal = np.abs(np.einsum("kii->ki", turned.mid))
    radius = np.einsum("kii->ki", turned.rad)
    others = raised(turned.size.sum(axis=2) - np.einsum("kii->ki", turned.size) + radius, n + 4)
    dominant = usable & (diagonal * (1 - SLACK) > others * (1 + SLACK)).all(axis=1)
    positive = (np.einsum("kii->ki", turned.mid) > 0).sum(axis=1)
    return [
        Inertia(int(p), 0, n - int(p)) if d else Inertia(0, n, 0)
        for p, d in zip(positive, dominant, strict=True)
    ]


def _invertible(frame: arb_mat) -> bool:
    """CᵀC strictly diagonally dominant: then C is invertible."""
    product = frame.transpose() * frame
    n = product.nrows()
    for i in range(n):
        others = sum((product[i, j].abs_upper() for j in range(n) if j != i), arb(0))
        if not product[i, i].abs_lower() > others:
            return False
    return True
