"""The sign of uᵀE_Q u at critical squares Q beside their best linear part ℓ, u the part of ℓ across Q: decided exactly.

EQ = 0, so that it has the sign of ℓᵀEℓ = Σ slope_ij ℓ_iℓ_j, a cubic polynomial in Q with rational coefficients. It is
decided

- where rotations leave the metric alone, by the eigenvalues that Q keeps: Σ (σ_g + c)|P_g ℓ|² (`closed_form.left_out`).
  On a family |P_g ℓ|² takes all values between 0 and that of the whole eigenspace, for each eigenspace by itself.
- where Q is of simple fractions next to the listed point, and critical, both of which are verified exactly.
- by balls, from the radius in which a true critical point is proved to be: zero is not decided so.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import BITS, precision
from shallows.mathematics.exact.linear_algebra import SIMPLE_DENOMINATOR
from shallows.mathematics.exact.rational_arrays import fractions, rational_matrix
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closed_form.left_out import LeftOut
from shallows.questions.charts.closed_form.spectrum import Spectrum, left_out_of, spectrum_of
from shallows.questions.charts.points.point import CriticalFamily, CriticalPoint
from shallows.questions.charts.quadratics.across import ACROSS
from shallows.questions.charts.quadratics.students import BesideLinear
from shallows.support.checks import Array

#: How often an eigenvalue is kept is an integer; rounding moves it by 10⁻⁸ where eigenvalues are told apart at all.
WHOLE = 1e-3


class Bend(Enum):
    """What uᵀE_Q u is at a point, or on all of a family; `INSIDE` is ℓ in the range of Q, where there is no u."""

    INSIDE = "no part across"
    NEGATIVE = "negative"
    ZERO = "zero"
    POSITIVE = "positive"
    PART = "zero on a part of a family"


#: The bend that has a sign.
OF_SIGN = {-1: Bend.NEGATIVE, 0: Bend.ZERO, 1: Bend.POSITIVE}


@dataclass(frozen=True, eq=False)
class Bends:
    """The squares beside a linear part, their loss as fractions, and their eigenvalues where those are all."""

    beside: BesideLinear
    exact: ExactLoss
    spectrum: Spectrum | None
    left_out: LeftOut | None

    @classmethod
    def of(cls, beside: BesideLinear) -> Bends:
        """With a rotation-invariant metric ℓ is the same beside all squares."""
        spectrum = None if beside.lift.any() else spectrum_of(beside.squares)
        exact = None if spectrum is None else left_out_of(beside.squares, spectrum, beside.best)
        return cls(beside, ExactLoss.of(beside.squares), spectrum, exact)

    def at(self, point: CriticalPoint) -> Bend | None:
        """None where it is not decided."""
        if not self.beside.best.any() and not self.beside.lift.any():
            return Bend.INSIDE
        if self.spectrum is not None and self.left_out is not None:
            return self._by_eigenvalues(self.spectrum, self.left_out, point)
        if isinstance(point, CriticalFamily):
            return None
        near = self._simple(point.tensor.entries, point.rank)
        return self._by_balls(point) if near is None else self._of_fractions(near, point.rank)

    def _by_eigenvalues(self, spectrum: Spectrum, exact: LeftOut, point: CriticalPoint) -> Bend | None:
        kept = _kept(spectrum, exact, point)
        if kept is None:
            return None
        sizes, divisor = exact.roots.multiplicities, spectrum.divisor(point.rank)
        left = [size - q for size, q in zip(sizes, kept, strict=True)]
        seen = [g for g, some in enumerate(exact.seen) if some and left[g]]
        fixed = [g for g in seen if not kept[g]]
        signs = {g: exact.shift_sign(g, left, divisor) for g in seen if kept[g]}

        def end(sign: int) -> int | None:
            """The sign of the least, or the largest, there is on the family: (σ_g + c)|P_g ℓ|² none or all."""
            return exact.slope_sign([*fixed, *(g for g in signs if signs[g] == sign)], left, divisor)

        least, most = end(-1), end(1)
        if None in signs.values() or least is None or most is None:
            return None
        if not seen:
            return Bend.INSIDE
        if least == most:
            found = OF_SIGN[-least]
        elif least * most < 0 or fixed:
            found = Bend.PART
        else:  # zero at an end where ℓ is in the range of Q, and only there
            found = OF_SIGN[-(least + most)]
        return found

    def _simple(self, q: Array, rank: int) -> NDArray[Any] | None:
        """A critical matrix of this rank, of simple fractions in units of a power of two, next to this one."""
        size = Fraction(2) ** int(np.frexp(np.abs(q).max())[1])
        guess = np.array(
            [(Fraction(x) / size).limit_denominator(SIMPLE_DENOMINATOR) * size for x in q.tolist()]
        )
        if float(np.abs((guess - fractions(q)).astype(np.float64)).max()) > ACROSS * float(size):
            return None
        Q, slope = _matrix(guess, 1), _matrix(self.exact.gram @ guess - self.exact.right, 2)
        critical = not any(x != 0 for x in (rational_matrix(slope) * rational_matrix(Q)).entries())
        return guess if critical and rational_matrix(Q).rank() == rank else None

    def _of_fractions(self, q: NDArray[Any], rank: int) -> Bend:
        line = self.beside.best - self.beside.lift @ q
        whole = np.concatenate([_matrix(q, 1), line[None]])
        if rational_matrix(whole).rank() == rank:
            return Bend.INSIDE
        value = (self.exact.gram @ q - self.exact.right) @ _square(line)
        return OF_SIGN[(value > 0) - (value < 0)]

    def _by_balls(self, point: CriticalPoint) -> Bend | None:
        """From a box around the listed point that a true one is in."""
        proof = point.certificate
        if proof is None:
            return None
        with precision(BITS):
            q = arb_mat([[arb(x, proof.radius)] for x in point.tensor.entries.tolist()])
            slope = arb_mat(rational_matrix(self.exact.gram)) * q - arb_mat(
                rational_matrix(self.exact.right[:, None])
            )
            lift, best = (rational_matrix(part) for part in (self.beside.lift, self.beside.best[:, None]))
            line = np.array((arb_mat(best) - arb_mat(lift) * q).entries(), dtype=object)
            value = sum((s * x for s, x in zip(slope.entries(), _square(line), strict=True)), arb(0))
            return Bend.POSITIVE if value > 0 else Bend.NEGATIVE if value < 0 else None


def _kept(spectrum: Spectrum, exact: LeftOut, point: CriticalPoint) -> list[int] | None:
    """How many eigenvectors of each eigenvalue Q keeps; None where it is not seen."""
    white = spectrum.white
    root = np.eye(spectrum.n) if spectrum.covariance is None else np.linalg.cholesky(spectrum.covariance)
    values, basis = np.linalg.eigh(root.T @ point.tensor.to_matrix() @ root)
    own = basis[:, np.argsort(-np.abs(values))[: point.rank]]
    share = np.bincount(
        exact.roots.groups, ((own.T @ white) ** 2).sum(axis=0), len(exact.roots.multiplicities)
    )
    counts = np.round(share).astype(int)
    return counts.tolist() if np.abs(share - counts).max() < WHOLE else None


def _matrix(entries: NDArray[Any], off: int) -> NDArray[Any]:
    """The symmetric matrix with these entries, those off the diagonal divided by this."""
    rows, columns = coordinates.indices(coordinates.inputs_of(len(entries)), 2).T
    return coordinates.symmetric_matrices(entries / np.where(rows == columns, 1, off).astype(object))


def _square(line: NDArray[Any]) -> NDArray[Any]:
    """The entries of ℓℓᵀ."""
    rows, columns = coordinates.indices(len(line), 2).T
    return np.asarray(line[rows] * line[columns])
