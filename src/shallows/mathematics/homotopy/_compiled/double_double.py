"""Complex numbers of about 31 digits in compiled code, each the unevaluated sum of two doubles a part.

A residual that cancels needs more digits than its derivatives: Newton's method with accurate residuals and a Jacobian
in double precision converges to full double precision while the condition number stays well below 10¹⁶ (S. Timme,
"Mixed precision path tracking for polynomial homotopy continuation", Adv. Comput. Math. 47, 2021). Error-free sums as
in `mathematics.error_free`, products by fused multiply-add.

A number takes four places of an array of doubles: real part (high, low), imaginary part (high, low). Importing this
module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from shallows.mathematics import error_free
from shallows.mathematics.homotopy._compiled.kinds import COMPLEX, FLOAT, FLOATS, INT
from shallows.support.compiling import part, unit

#: Doubles a number takes.
PLACES = 4


def _fma(_context: Any, a: Any, b: Any, c: Any) -> Any:
    """a · b + c, rounded once: one instruction where the processor has it."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


fma: Any = intrinsic(_fma)


two_sum: Any = part(error_free.two_sum)


@part
def two_product(a: float, b: float) -> tuple[float, float]:
    """a · b as the rounded product and what rounding lost."""
    product = a * b
    return product, fma(a, b, -product)


@part
def add(a: float, a_low: float, b: float, b_low: float) -> Any:
    """The sum of two real numbers."""
    high, lost = two_sum(a, b)
    low, less = two_sum(a_low, b_low)
    high, lost = two_sum(high, lost + low)
    return two_sum(high, lost + less)


@part
def multiply(a: float, a_low: float, b: float, b_low: float) -> Any:
    """The product of two real numbers."""
    high, lost = two_product(a, b)
    return two_sum(high, lost + (a * b_low + a_low * b))


@unit(types.void(FLOATS, INT, COMPLEX))
def store(out: Any, at: int, z: complex) -> None:
    """out[at] = z, a double."""
    out[at], out[at + 1], out[at + 2], out[at + 3] = z.real, 0.0, z.imag, 0.0


@unit(COMPLEX(FLOATS, INT))
def rounded(numbers: Any, at: int) -> complex:
    """The nearest complex double."""
    return complex(numbers[at] + numbers[at + 1], numbers[at + 2] + numbers[at + 3])


@unit(types.void(FLOATS, INT, INT))
def add_number(numbers: Any, total: int, a: int) -> None:
    """numbers[total] += numbers[a]."""
    numbers[total], numbers[total + 1] = add(numbers[total], numbers[total + 1], numbers[a], numbers[a + 1])
    numbers[total + 2], numbers[total + 3] = add(
        numbers[total + 2], numbers[total + 3], numbers[a + 2], numbers[a + 3]
    )


@unit(types.void(FLOATS, INT, FLOAT))
def scale(numbers: Any, at: int, factor: float) -> None:
    """numbers[at] *= factor, a double."""
    numbers[at], numbers[at + 1] = multiply(numbers[at], numbers[at + 1], factor, 0.0)
    numbers[at + 2], numbers[at + 3] = multiply(numbers[at + 2], numbers[at + 3], factor, 0.0)


@unit(types.void(FLOATS, INT, INT, INT))
def add_product(numbers: Any, total: int, a: int, b: int) -> None:
    """numbers[total] += numbers[a] · numbers[b]."""
    ar, al, ai, am = numbers[a], numbers[a + 1], numbers[a + 2], numbers[a + 3]
    br, bl, bi, bm = numbers[b], numbers[b + 1], numbers[b + 2], numbers[b + 3]
    pr, pl = multiply(ar, al, br, bl)
    qr, ql = multiply(ai, am, bi, bm)
    pr, pl = add(pr, pl, -qr, -ql)
    numbers[total], numbers[total + 1] = add(numbers[total], numbers[total + 1], pr, pl)
    pr, pl = multiply(ar, al, bi, bm)
    qr, ql = multiply(ai, am, br, bl)
    pr, pl = add(pr, pl, qr, ql)
    numbers[total + 2], numbers[total + 3] = add(numbers[total + 2], numbers[total + 3], pr, pl)
