"""What data with constant, one-hot or repeated columns determines, and the certificate on that.

Where features depend on each other on every sample, coefficients are not determined and λ_min(G) is zero; the loss
does not change along such directions, so the bound ‖g‖²/(W λ_min) holds with the Gram matrix of features that span all
others on the samples. That they span them is proved in integers (`dependent_columns`), never judged by a tolerance:

- a column of one value adds nothing to the constant, one of two values is an indicator (0 and 1) up to the constant;
- other columns are counted from one sample, in units of their last bits: integers, which keep every linear relation;
- columns that depend on others are left out; of the products of the rest, those that depend on others are left out.

Functions that the columns span determine those that their products span, so nothing is lost. The curvature is taken
in coordinates that make the Gram matrix all but the identity, S Gᵣ Sᵀ = I + E, λ ≥ 1 − ‖E‖.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from shallows.mathematics.balls.arrays import Ball, raised_number, stacked
from shallows.mathematics.exact.dependent_columns import independent_columns
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.fitting.frame import chunks
from shallows.support.checks import Array

#: Products of columns, and entries of their table, up to which relations are looked for: a few seconds.
LARGEST_FEATURES, LARGEST_TABLE = 1500, 4_000_000
#: Bits of the integers of a column: beyond, its values differ too much in size for anything to be found.
LARGEST_BITS = 1000
#: ‖E‖ up to which the curvature is taken as proved.
DISTURBED = 0.5


@dataclass(frozen=True, eq=False)
class Quotient:
    """Products of columns that span all others on the samples.

    `columns` are balls that enclose the columns the products are made of (a row a sample), `kept` the products, a row
    each of `degree` places; `dropped` of them are proved to depend on those.
    """

    columns: Ball
    kept: NDArray[np.intp]
    dropped: int

    def features(self, rows: slice) -> Ball:
        """The kept products at some samples."""
        block = self.columns[rows]
        result = block[:, self.kept[:, 0]]
        for places in self.kept.T[1:]:
            result = result * block[:, places]
        return result

    def __repr__(self) -> str:
        return f"Quotient({len(self.kept)} features determine {self.dropped} others)"


def quotient(X: Array, affine: bool, degree: int) -> Quotient | None:
    """The features that determine the others on these samples; None where that is too much to find out."""
    if len(X) * (X.shape[1] + affine) > LARGEST_TABLE:
        return None
    columns, balls = _representatives(X, affine)
    bits = [max(abs(value) for value in column).bit_length() for column in columns]
    if not columns or max(bits) > LARGEST_BITS:
        return None
    integers = np.stack(columns, axis=1)
    kept, _ = independent_columns(lambda p: _residues(integers, p), bits)
    size = coordinates.dimension(len(kept), degree)
    if size > LARGEST_FEATURES or size * len(X) > LARGEST_TABLE:
        return None
    basis, table = integers[:, kept], coordinates.indices(len(kept), degree)
    lengths = [sum(bits[kept[j]] for j in places) for places in table]
    products, _ = independent_columns(lambda p: _products(_residues(basis, p), table, p), lengths)
    spanned = coordinates.dimension(X.shape[1] + affine, degree)
    return Quotient(stacked([balls[j] for j in kept], axis=1), table[products], spanned - len(products))


def reduced_gap(found: Quotient, residuals: Ball, weights: Array, weight: Ball) -> float:
    """A bound on L − L* from residuals (a column an output): ‖Sg‖² / (W λ), or NaN where λ > 0 is not proved."""
    size = len(found.kept)
    gram, gradient = Ball.exact(np.zeros((size, size))), Ball.exact(np.zeros((size, residuals.mid.shape[1])))
    for rows in chunks(len(weights), size, 1 << 18):
        block = found.features(rows)
        weighted = (block * Ball.exact(weights[rows, None])).T
        gram, gradient = gram + weighted @ block, gradient + weighted @ residuals[rows]
    factor, failed = lapack.dpotrf(gram.mid, lower=1, clean=1)
    if failed:
        return float("nan")
    inverse, failed = lapack.dtrtri(factor, lower=1)
    if failed:
        return float("nan")
    S = Ball.exact(inverse)
    disturbed = (S @ gram @ S.T - Ball.exact(np.eye(size))).norm()
    if not disturbed < DISTURBED:
        return float("nan")
    curvature = float(np.nextafter(1 - raised_number(disturbed), 0))
    return raised_number((S @ gradient).norm() ** 2 / (float(weight.lower) * curvature), 4)


def _representatives(X: Array, affine: bool) -> tuple[list[NDArray[np.object_]], list[Ball]]:
    """Columns of integers that span, with the constant where there is one, what the columns span; and as balls."""
    ones = np.ones(len(X))
    origin = _middle(X) if affine else np.zeros(X.shape[1])
    columns, balls = [], []
    if affine:
        columns.append(ones.astype(int).astype(object))
        balls.append(Ball.exact(ones[:, None]))
    for x, zero in zip(X.T, origin, strict=True):
        values = np.unique(x)
        if len(values) == 1 and (affine or values[0] == 0):
            continue
        simple = len(values) == 2 and (affine or 0 in values)
        if simple or len(values) == 1:
            indicator = (x == values[np.argmax(np.abs(values))]).astype(float)
            columns.append(indicator.astype(int).astype(object))
            balls.append(Ball.exact(indicator[:, None]))
        else:
            columns.append(_integers(x, zero))
            moved = Ball.exact(x[:, None]) - Ball.exact(np.full((len(x), 1), zero))
            scale = 2.0 ** -np.frexp(np.abs(moved.mid).max())[1]
            balls.append(moved * Ball.exact(np.full((1, 1), scale)))
    return columns, balls


def _middle(X: Array) -> Array:
    """The sample nearest the mean in units of the columns' spreads: subtracting a sample keeps linear relations."""
    spread = X.std(axis=0)
    away = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(X[int(np.argmin(np.sum(away**2, axis=1)))])


def _integers(x: Array, zero: float) -> NDArray[np.object_]:
    """x − zero in units of its last bits, divided by the common divisor."""
    mantissas, exponents = np.frexp(np.append(x, zero))
    whole = np.ldexp(mantissas, np.finfo(np.float64).nmant + 1).astype(np.int64).tolist()
    lowest = min((int(e) for m, e in zip(whole, exponents, strict=True) if m), default=0)
    exact = [m << (int(e) - lowest) if m else 0 for m, e in zip(whole, exponents, strict=True)]
    moved = [value - exact[-1] for value in exact[:-1]]
    divisor = gcd(*moved) or 1
    return np.array([value // divisor for value in moved], dtype=object)


def _residues(integers: NDArray[np.object_], prime: int) -> NDArray[np.int64]:
    return np.asarray(integers % prime, dtype=np.int64)


def _products(residues: NDArray[np.int64], table: NDArray[np.intp], prime: int) -> NDArray[np.int64]:
    result = residues[:, table[:, 0]]
    for places in table.T[1:]:
        result = result * residues[:, places] % prime
    return result
