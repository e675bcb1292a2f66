"""Operations on intervals by their numbers: tapes note them, and the compiled loop does them."""

from __future__ import annotations

ADD, NEGATE, MULTIPLY, SCALE, DIVIDE, SQUARE, ROOT, ABS, ARCSINE, MEET, MIRROR, CHOOSE = range(12)
