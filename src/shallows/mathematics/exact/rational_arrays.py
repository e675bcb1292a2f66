"""Arrays of fractions: from doubles, which are rationals, and products and solutions of them through python-flint."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

#: Doubles, or anything that is a rational already, as fractions.
fractions: Any = np.vectorize(Fraction, otypes=[object])


def rational_matrix(values: NDArray[Any]) -> fmpq_mat:
    """A table of fractions for flint."""
    return fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in values.tolist()])


def rational_array(matrix: fmpq_mat) -> NDArray[Any]:
    """A matrix of flint as fractions, row after row."""
    entries = [Fraction(int(x.p), int(x.q)) for x in matrix.entries()]
    return np.array(entries, dtype=object)


def block_diagonal(*blocks: NDArray[Any]) -> NDArray[Any]:
    """Square tables of fractions along the diagonal of one."""
    size, start = sum(map(len, blocks)), 0
    whole = np.full((size, size), Fraction(0), dtype=object)
    for block in blocks:
        whole[start : start + len(block), start : start + len(block)] = block
        start += len(block)
    return whole


def exact_product(matrix: NDArray[Any], vector: NDArray[Any]) -> NDArray[Any]:
    """A x of fractions.

    >>> exact_product(fractions([[0.5, 2.0]]), fractions([3.0, 0.25]))
    array([Fraction(2, 1)], dtype=object)
    """
    return rational_array(rational_matrix(matrix) * rational_matrix(vector[:, None]))


def exact_solution(matrix: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """A⁻¹b of fractions."""
    return rational_array(rational_matrix(matrix).solve(rational_matrix(right[:, None])))


def one_solution(matrix: NDArray[Any], right: NDArray[Any]) -> NDArray[Any] | None:
    """A solution of A x = b of fractions, A square: A⁻¹b, or where A is singular the one that is zero in the columns
    that depend on columns before them; None where there is none.

    >>> one_solution(fractions([[1.0, 2.0], [2.0, 4.0]]), fractions([3.0, 6.0]))
    array([Fraction(3, 1), Fraction(0, 1)], dtype=object)
    >>> one_solution(fractions([[1.0, 2.0], [2.0, 4.0]]), fractions([3.0, 5.0])) is None
    True
    """
    size = len(right)
    whole = np.concatenate([matrix, right[:, None]], axis=1)
    reduced, rank = rational_matrix(whole).rref()
    rows = rational_array(reduced).reshape(size, size + 1)[:rank]
    leads = [int(np.flatnonzero(row)[0]) for row in rows]
    if size in leads:
        return None
    solution = np.full(size, Fraction(0), dtype=object)
    solution[leads] = rows[:, size]
    return solution
