"""When samples determine a quadratic network: span{xᵢxᵢᵀ} against all symmetric matrices (paper 001, section 2.3).

Theorem 2.6: every interpolating network equals the teacher exactly when the matrices xᵢxᵢᵀ span Sym²(R^d), of
dimension n* = d(d+1)/2. Theorem 2.8: n* samples from any density do so almost surely, fewer never do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.exact.linear_algebra import kernel, matrix
from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array, counted, finite_array, positive_integer, require_no_graph
from shallows.support.errors import InvalidProblem

#: Singular values of the scaled features below this share of the largest are zero: they are known to about ε times the
#: larger side, 1e-13 for hundreds of samples, and a direction that is missing leaves no more than that.
NUMERICAL_ZERO = 1e-11
#: Terms of a printed form below this share of its largest entry are left out.
_PRINTED_ZERO = 1e-6


@dataclass(frozen=True, eq=False)
class Span:
    """span{xᵢxᵢᵀ} in Sym²(R^d): `rank` of the `needed` = d(d+1)/2 dimensions, `missing` of them not reached.

    It is everything exactly when the samples determine every quadratic network (paper 001, Theorem 2.6). `margin` is
    None for an exact rank. On floats it is the smallest singular value counted as non-zero, relative to the largest
    one, of the features of the samples scaled to unit columns and rows: a full span survives relative errors below it;
    `dropped` is the largest one counted as zero. `directions` (missing, d, d) is an orthonormal basis of the symmetric
    M with xᵢᵀMxᵢ = 0 for all i.

    >>> span = sh.spans_symmetric([[1, 0], [0, 1], [2, 0]])
    >>> bool(span), span.rank, span.needed, span.exact
    (False, 2, 3, True)
    >>> abs(span.directions).round(6).tolist()   # no sample sees x₀x₁
    [[[0.0, 0.707107], [0.707107, 0.0]]]
    """

    full: bool
    rank: int
    missing: int
    margin: float | None
    needed: int
    samples: int
    directions: Array = field(repr=False)
    constant_columns: tuple[int, ...] = ()
    zero_columns: tuple[int, ...] = ()
    dropped: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the rank was decided in exact arithmetic."""
        return self.margin is None

    def __bool__(self) -> bool:
        return self.full

    def __repr__(self) -> str:
        how = "exact" if self.margin is None else f"margin {self.margin:.2g}"
        lacking = "" if self.full else f", {self.missing} missing"
        return f"Span({counted(self.samples, 'sample')}: rank {self.rank} of {self.needed}{lacking}, {how})"

    def _span(self) -> str:
        return "spans" if self.samples == 1 else "span"

    def explain(self) -> str:
        """What is missing, in words: how many samples at least, along which forms, and which columns are to blame."""
        if self.full:
            return (
                f"{counted(self.samples, 'sample')} {self._span()} everything ({counted(self.needed, 'dimension')}): "
                "every interpolator generalises."
            )
        text = (
            f"{counted(self.samples, 'sample')} {self._span()} {self.rank} of the {self.needed} = d(d+1)/2 dimensions "
            f"of symmetric matrices: at least {self.missing} more {'is' if self.missing == 1 else 'are'} missing, and "
            f"none sees the form {_form(self.directions[0])}"
        )
        text += f" (nor {counted(self.missing - 1, 'other')})." if self.missing > 1 else "."
        if self.zero_columns:
            text += f" Drop the columns that are zero: {_names(self.zero_columns)}."
        elif len(self.constant_columns) > 1:
            names = _names(self.constant_columns)
            text += f" Columns {names} are constant, so their products coincide: keep one of them."
        return text


def sample_threshold(d: int) -> int:
    """n* = d(d+1)/2, the critical number of samples (paper 001, Theorem 2.8).

    >>> [sh.quadratic.sample_threshold(d) for d in (1, 5, 8)]
    [1, 15, 36]
    """
    d = positive_integer("d", d)
    return d * (d + 1) // 2


def prime_points(d: int, count: int | None = None) -> NDArray[np.object_]:
    """The points (p₁^(t−1), …, p_d^(t−1)), t = 1, …, n*, of the proof of paper 001, Theorem 2.8.

    They are exact integers; their features are a Vandermonde matrix with nodes pᵢpⱼ, distinct by unique factorisation.

    >>> sh.quadratic.prime_points(2).tolist()
    [[1, 1], [2, 3], [4, 9]]
    """
    d = positive_integer("d", d)
    count = sample_threshold(d) if count is None else positive_integer("count", count)
    primes = _first_primes(d)
    return np.array([[p**t for p in primes] for t in range(count)], dtype=object)


def _first_primes(count: int) -> list[int]:
    primes: list[int] = []
    candidate = 2
    while len(primes) < count:
        if all(candidate % p for p in primes):
            primes.append(candidate)
        candidate += 1
    return primes


def spans_symmetric(X: ArrayLike | Sequence[Sequence[Any]]) -> Span:
    """Whether the samples (rows of X) determine every quadratic network (paper 001, Theorem 2.6).

    Integers and `Fraction`s are decided exactly; floats by a singular value decomposition, with its margin.

    >>> bool(sh.spans_symmetric([[1, 0], [0, 1], [1, 1]]))
    True
    >>> sh.spans_symmetric([[1, 0], [0, 1], [2, 0]])
    Span(3 samples: rank 2 of 3, 1 missing, exact)
    """
    require_no_graph("X", X)
    rational = _as_rational(X)
    return _numerical_span(finite_array("X", X, 2)) if rational is None else _exact_span(rational)


def _as_rational(X: Any) -> list[list[Fraction]] | None:
    """The entries as fractions when all are integers or fractions, else None."""
    table = np.asarray(X)
    if table.dtype.kind in "iu":
        table = table.astype(object)
    if table.dtype != object or table.ndim != 2 or 0 in table.shape:
        return None
    if not all(isinstance(value, int | Fraction) for value in table.flat):
        return None
    return [[Fraction(value) for value in row] for row in table]


def _exact_span(rows: list[list[Fraction]]) -> Span:
    d = len(rows[0])
    pairs = coordinates.indices(d, 2)
    features = [[row[i] * row[j] * (1 if i == j else 2) for i, j in pairs] for row in rows]
    basis = kernel(matrix(features))
    needed = sample_threshold(d)
    vectors = np.array([[_scaled(value, vector) for value in vector] for vector in basis], dtype=np.float64)
    constant = tuple(j for j in range(d) if len({row[j] for row in rows}) == 1 and len(rows) > 1)
    zero = tuple(j for j in range(d) if not any(row[j] for row in rows))
    null = vectors.reshape(len(basis), needed)
    return _span(needed - len(basis), len(rows), None, null, d, constant, zero)


def _scaled(value: Any, vector: list[Any]) -> float:
    """value / max |vector| as a float: entries of exact kernels may exceed the range of floats."""
    largest = max(abs(entry) for entry in vector)
    ratio = value / largest
    return int(ratio.p) / int(ratio.q)


def _numerical_span(X: Array) -> Span:
    if 0 in X.shape:
        raise InvalidProblem(f"X has shape {X.shape}; expected at least one sample and one input.")
    count, d = X.shape
    coordinates.require_storable(d, 2, coordinates.FACTORS)
    columns = np.sqrt(np.mean(X**2, axis=0))
    columns = np.where(columns > 0, columns, 1.0)
    scaled = X / columns
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit = scaled / np.where(lengths > 0, lengths, 1.0)
    weights = np.sqrt(coordinates.multiplicities(d, 2))
    _, values, rows = np.linalg.svd(coordinates.monomials(unit, 2) * weights, full_matrices=True)
    largest = float(values[0])
    rank = rank_of(values, NUMERICAL_ZERO)
    margin = float(values[rank - 1] / largest) if rank else 0.0
    dropped = float(values[rank] / largest) if rank < len(values) and largest > 0 else 0.0
    pairs = coordinates.indices(d, 2)
    null = rows[rank:] / weights / (columns[pairs[:, 0]] * columns[pairs[:, 1]])
    constant = tuple(int(j) for j in np.flatnonzero(np.ptp(X, axis=0) == 0)) if count > 1 else ()
    zero = tuple(int(j) for j in np.flatnonzero(~np.any(X, axis=0)))
    return _span(rank, count, margin, null, d, constant, zero, dropped)


def _span(
    rank: int, count: int, margin: float | None, null: Array, d: int, constant: tuple[int, ...],
    zero: tuple[int, ...], dropped: float = 0.0,
) -> Span:  # fmt: skip
    """Assemble the result; the null vectors (entries M_{i≤j}) become an orthonormal basis of matrices."""
    weights = np.sqrt(coordinates.multiplicities(d, 2))
    basis = np.linalg.qr((null * weights).T)[0].T / weights if len(null) else null
    pairs = coordinates.indices(d, 2)
    matrices = np.zeros((len(basis), d, d))
    matrices[:, pairs[:, 0], pairs[:, 1]] = basis
    matrices[:, pairs[:, 1], pairs[:, 0]] = basis
    matrices.setflags(write=False)
    needed = sample_threshold(d)
    return Span(rank == needed, rank, needed - rank, margin, needed, count, matrices, constant, zero, dropped)


def _names(columns: tuple[int, ...]) -> str:
    return ", ".join(map(str, columns))


def _form(M: Array) -> str:
    """The largest terms of xᵀMx."""
    d = len(M)
    size = float(np.max(np.abs(M)))
    terms = [(M[i, j] * (1 if i == j else 2), i, j) for i in range(d) for j in range(i, d)]
    large = sorted((t for t in terms if abs(t[0]) > _PRINTED_ZERO * size), key=lambda t: -abs(t[0]))
    shown = " ".join(f"{c:+.3g}·x{i}x{j}" for c, i, j in large[:4])
    return shown.removeprefix("+") + (" + …" if len(large) > 4 else "")


def require_span(X: ArrayLike) -> None:
    """Refuse samples whose span is not everything, with what is missing."""
    span = spans_symmetric(X)
    if not span:
        raise InvalidProblem(
            f"The least-squares optimum is not determined by these samples. {span.explain()}"
        )
