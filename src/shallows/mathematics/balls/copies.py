"""Balls and exact polynomials of python-flint as values that can be copied and pickled, digit by digit.

python-flint gives its numbers no `__reduce__`. Results that hold them (certified roots, discriminants, symmetric
minima) go to other processes and into copies all the same: importing this module teaches `copyreg` how, without a
rounding.
"""

from __future__ import annotations

import copyreg
from typing import Any

from flint import Ordering, acb, acb_mat, arb, arb_mat, fmpq_mpoly, fmpq_mpoly_ctx, fmpz_mpoly, fmpz_mpoly_ctx


def _ball(x: arb) -> tuple[Any, tuple[Any, ...]]:
    """Midpoint and radius as mantissa · 2^exponent: exact whatever the precision is set to."""
    if not x.is_finite():
        return arb, (str(x),)
    return _ball_from, (x.mid().man_exp(), x.rad().man_exp())


def _ball_from(middle: tuple[Any, Any], radius: tuple[Any, Any]) -> arb:
    """arb rounds a radius up, by a unit of its 30 bits even when it fits: one just below it is rounded to it."""
    mantissa, exponent = radius
    below = arb(middle, ((mantissa << 40) - 1, exponent - 40)) if mantissa else arb(middle)
    return below if below.rad().man_exp() == radius else arb(middle, radius)


def _complex_ball(z: acb) -> tuple[Any, tuple[Any, ...]]:
    return acb, (z.real, z.imag)


def _matrix(matrix: Any) -> tuple[Any, tuple[Any, ...]]:
    return type(matrix), (matrix.nrows(), matrix.ncols(), matrix.entries())


def _polynomial(p: Any) -> tuple[Any, tuple[Any, ...]]:
    ring = p.context()
    return _polynomial_from, (
        isinstance(p, fmpz_mpoly),
        ring.names(),
        ring.ordering().value,
        p.to_dict(),
    )


def _polynomial_from(
    integral: bool, names: tuple[str, ...], ordering: str, terms: dict[tuple[int, ...], Any]
) -> Any:
    kind = fmpz_mpoly_ctx if integral else fmpq_mpoly_ctx
    return kind.get(names, Ordering(ordering)).from_dict(terms)


copyreg.pickle(arb, _ball)
copyreg.pickle(acb, _complex_ball)
copyreg.pickle(arb_mat, _matrix)
copyreg.pickle(acb_mat, _matrix)
copyreg.pickle(fmpz_mpoly, _polynomial)
copyreg.pickle(fmpq_mpoly, _polynomial)
