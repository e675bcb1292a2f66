"""The sign of a discriminant on a grid: floats with an error bound, exact arithmetic where they cannot decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq, fmpz_mpoly
from numpy.typing import NDArray

from shallows.questions.discriminants.values import over_rationals
from shallows.support.checks import Array, finite_array
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from shallows.questions.discriminants.polynomial import Discriminant

#: What underflow can cost a term, with room: products below 2⁻¹⁰²² lose at most 2⁻¹⁰⁷⁴ ≈ 5e-324, times powers that are
#: bounded below.
_UNDERFLOW = 1e-280


@dataclass(frozen=True, eq=False)
class SignSlice:
    """The sign of P on a grid: `signs[i, j]` is −1, 0 or 1 at (x[j], y[i]), exactly.

    `exact` counts the points at which floating point could not decide.

    >>> P = sh.discriminants.rank_one(2)
    >>> found = P.sign_slice(("t00", [-1, 0, 1, 2]), ("t01", [-1, 0, 1]), data=sh.Frobenius(2), t11=1)
    >>> found.signs                             # zero at T = I only
    array([[1, 1, 1, 1],
           [1, 1, 0, 1],
           [1, 1, 1, 1]], dtype=int8)
    """

    horizontal: str
    vertical: str
    x: Array
    y: Array
    signs: NDArray[np.int8]
    exact: int

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{name} {np.mean(self.signs == s):.1%}" for name, s in (("P>0", 1), ("P<0", -1), ("P=0", 0))
        )
        return (
            f"SignSlice({self.horizontal} × {self.vertical}, {len(self.x)} × {len(self.y)} points: {shares}; "
            f"{self.exact} decided in exact arithmetic)"
        )


def axis(name: str, values: Sequence[float] | Array) -> Array:
    """Grid coordinates: a finite vector, strictly increasing."""
    array = finite_array(f"the grid of {name}", values, 1)
    if len(array) < 2 or np.any(np.diff(array) <= 0):
        raise InvalidProblem(
            f"the grid of {name} has {len(array)} values; expected at least two, strictly increasing."
        )
    return array


def sign_slice(
    discriminant: Discriminant, horizontal: tuple[str, Sequence[float]], vertical: tuple[str, Sequence[float]]
) -> SignSlice:
    """The sign of a discriminant with exactly two variables left on the grid of their values.

    With powers Xᵢ = xⁱ, Yⱼ = yʲ the values are X C Yᵀ, and their rounding error is at most (6·deg + 16) 2⁻⁵³ times
    |X||C||Y|ᵀ: two matrix products each. Points below the bound are evaluated exactly.
    """
    (name_x, values_x), (name_y, values_y) = horizontal, vertical
    x, y = axis(name_x, values_x), axis(name_y, values_y)
    if {name_x, name_y} != set(discriminant.variables) or name_x == name_y:
        raise InvalidProblem(
            f"The slice is in {name_x} and {name_y}, but the variables are {', '.join(discriminant.variables)}. "
            "Fix: give numbers for all the others."
        )
    signs, exact = polynomial_signs(discriminant._expanded(), (name_x, name_y), x, y)
    return SignSlice(name_x, name_y, x, y, signs, exact)


def polynomial_signs(
    polynomial: fmpz_mpoly, names: tuple[str, str], x: Array, y: Array
) -> tuple[NDArray[np.int8], int]:
    """The signs of a polynomial in two variables on a grid, and at how many points exact arithmetic decided."""
    if not polynomial:
        return np.zeros((len(y), len(x)), dtype=np.int8), 0
    (table,) = joint_tables([polynomial], names)
    value, bound = table_values(table, x, y, (6 * sum(table.shape) + 16) * UNIT_ROUNDOFF)
    signs = (value > bound).view(np.int8) - (value < -bound).view(np.int8)
    undecided = np.argwhere(signs == 0)
    rational: Any = over_rationals(polynomial) if len(undecided) else None
    order = [polynomial.context().names().index(name) for name in names]
    for i, j in undecided:
        point: list[fmpq] = [fmpq(0), fmpq(0)]
        point[order[0]], point[order[1]] = _exact(x[j]), _exact(y[i])
        exact = rational(*point)
        signs[i, j] = (exact > 0) - (exact < 0)
    return signs, len(undecided)


def joint_tables(polynomials: Sequence[fmpz_mpoly], names: tuple[str, str]) -> list[Array]:
    """The coefficients over one power of two that makes the largest about 1, as floats: rows are powers of names[1]."""
    order = [list(polynomials[0].context().names()).index(name) for name in names]
    lists = [
        [([int(e[k]) for k in order], int(value)) for e, value in polynomial.to_dict().items()]
        for polynomial in polynomials
    ]
    shift = max((abs(value).bit_length() for terms in lists for _, value in terms), default=0)
    tables = []
    for terms in lists:
        degrees = [max((powers[k] for powers, _ in terms), default=0) for k in (0, 1)]
        table = np.zeros((degrees[1] + 1, degrees[0] + 1))
        for (i, j), value in terms:
            table[j, i] = value / (1 << shift)  # int / int is correctly rounded, whatever their size
        tables.append(table)
    return tables


def table_values(table: Array, x: Array, y: Array, factor: float = 1.0) -> tuple[Array, Array]:
    """Σ C_ji xⁱ yʲ on the grid, and `factor` times Σ |C_ji xⁱ yʲ| with a margin for underflow."""
    powers_x, powers_y = _powers(x, table.shape[1]), _powers(y, table.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        value = (powers_y @ table) @ powers_x.T
        sizes_x, sizes_y = np.abs(powers_x), np.abs(powers_y)
        size = (factor * sizes_y @ np.abs(table)) @ sizes_x.T
        size += _UNDERFLOW * table.size * max(1.0, float(np.max(sizes_x))) * max(1.0, float(np.max(sizes_y)))
    return value, size


def _powers(values: Array, count: int) -> Array:
    result = np.ones((len(values), count))
    with np.errstate(over="ignore", under="ignore"):
        for k in range(1, count):
            result[:, k] = result[:, k - 1] * values
    return result


def _exact(value: float) -> fmpq:
    top, bottom = float(value).as_integer_ratio()
    return fmpq(top, bottom)
