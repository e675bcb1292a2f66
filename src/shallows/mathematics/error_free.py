"""Sums and products without error, as the rounded result and what rounding lost; for numbers and arrays of them.

After Knuth and Dekker (T. J. Dekker, "A floating-point technique for extending the available precision", Numer. Math.
18, 1971). Complex numbers have their parts added apart; `homotopy._compiled.double_double` has the product by fused
multiply-add.
"""

from __future__ import annotations

from typing import Any

#: Dekker's constant splits a double into halves of 26 bits, whose products are exact.
SPLIT = 2.0**27 + 1


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b and what rounding lost."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """a · b and what rounding lost, for real numbers."""
    product = a * b
    high_a, high_b = SPLIT * a - (SPLIT * a - a), SPLIT * b - (SPLIT * b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b
