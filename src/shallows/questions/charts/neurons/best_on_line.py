"""One equation for the best function in a line, or in its complement, that moves with one unknown: u(x)·s.

Where s is the best multiple of u(x), and best for x as well, (u′·b)(uᵀMu) = (u·b)(u′ᵀMu): polynomials in x, over Q or
in balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any


def critical_polynomial(u: Sequence[Any], v: Sequence[Any], b: Sequence[Any], M: Any) -> Any:
    """(v·b)(uᵀMu) − (u·b)(vᵀMu); v is u′, or what s has to vanish on beside u."""
    return along(v, b) * paired(u, u, M) - along(u, b) * paired(v, u, M)


def along(u: Sequence[Any], b: Sequence[Any]) -> Any:
    """u·b."""
    return _sum([p * value for p, value in zip(u, b, strict=True)])


def paired(u: Sequence[Any], v: Sequence[Any], M: Any) -> Any:
    """uᵀMv."""
    return _sum([p * q * M[i, j] for (i, p), (j, q) in product(enumerate(u), enumerate(v))])


def _sum(terms: list[Any]) -> Any:
    return sum(terms[1:], terms[0])
