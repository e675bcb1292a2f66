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
from shallows.support.compiling import part, several, unit


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


@unit(types.void(FLOATS, INT, COMPLEX), rare=True)
def store(out: Any, at: int, z: complex) -> None:
    """out[at] = z, a double."""
    out[at], out[at + 1], out[at + 2], out[at + 3] = z.real, 0.0, z.imag, 0.0


@unit(COMPLEX(FLOATS, INT), rare=True)
def rounded(numbers: Any, at: int) -> complex:
    """The nearest complex double."""
    return complex(numbers[at] + numbers[at + 1], numbers[at + 2] + numbers[at + 3])


@unit(types.void(FLOATS, INT, INT), rare=True)
def add_real(numbers: Any, total: int, a: int) -> None:
    """numbers[total] += numbers[a], real."""
    numbers[total], numbers[total + 1] = add(numbers[total], numbers[total + 1], numbers[a], numbers[a + 1])


@unit(types.void(FLOATS, INT, INT), rare=True)
def add_number(numbers: Any, total: int, a: int) -> None:
    """numbers[total] += numbers[a]."""
    add_real(numbers, total, a)
    add_real(numbers, total + 2, a + 2)


@unit(types.void(FLOATS, INT, FLOAT), rare=True)
def scale_real(numbers: Any, at: int, factor: float) -> None:
    """numbers[at] *= factor, real, a double."""
    numbers[at], numbers[at + 1] = multiply(numbers[at], numbers[at + 1], factor, 0.0)


@unit(types.void(FLOATS, INT, FLOAT), rare=True)
def scale(numbers: Any, at: int, factor: float) -> None:
    """numbers[at] *= factor, a double."""
    scale_real(numbers, at, factor)
    scale_real(numbers, at + 2, factor)


@unit(types.void(FLOATS, INT, several(INT, INT, INT, INT), FLOAT), rare=True)
def add_two_products(numbers: Any, total: int, factors: Any, sign: float) -> None:
    """numbers[total] += numbers[a] · numbers[b] + sign · numbers[c] · numbers[d], real, for factors (a, b, c, d)."""
    a, b, c, d = factors
    p, p_low = multiply(numbers[a], numbers[a + 1], numbers[b], numbers[b + 1])
    q, q_low = multiply(numbers[c], numbers[c + 1], numbers[d], numbers[d + 1])
    p, p_low = add(p, p_low, sign * q, sign * q_low)
    numbers[total], numbers[total + 1] = add(numbers[total], numbers[total + 1], p, p_low)


@unit(types.void(FLOATS, INT, INT, INT), rare=True)
def add_product(numbers: Any, total: int, a: int, b: int) -> None:
    """numbers[total] += numbers[a] · numbers[b]."""
    add_two_products(numbers, total, (a, b, a + 2, b + 2), -1.0)
    add_two_products(numbers, total + 2, (a, b + 2, a + 2, b), 1.0)
