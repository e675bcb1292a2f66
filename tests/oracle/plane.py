"""The truth about two polynomials in two unknowns, or one in one, by resultants and gcds over Q (FLINT).

After a generic shear u = x + k y, the resultant of f and g with respect to y has the isolated common zeros as its
roots, with their intersection multiplicities, and a zero is real exactly when its root is. A common factor h is a
curve of zeros; then f/h and g/h are met, and zeros on h are not isolated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import Ordering, ctx, fmpq, fmpq_mpoly_ctx, fmpq_poly

#: A shear that no example is special for.
SHEAR = fmpq(314159, 271828)


@dataclass(frozen=True)
class Truth:
    """`curve`: infinitely many zeros. `points`: how many isolated ones there are of each (multiplicity, real)."""

    curve: bool
    points: Counter[tuple[int, bool]]


def truth(texts: Sequence[str]) -> Truth:
    """Of polynomials written in x and y with +, −, *, ^ and decimal numbers."""
    if len(texts) == 1:
        return Truth(False, _roots(_one(texts[0])))
    ring = fmpq_mpoly_ctx.get(("u", "y"), Ordering.lex)
    u, y = ring.gens()
    f, g = (_read(text, u - SHEAR * y, y) for text in texts)
    h = f.gcd(g)
    curve = h.total_degree() > 0
    if not curve:
        return Truth(False, _roots(_eliminated(f, g)))
    f, g = f / h, g / h
    if f.total_degree() == 0 or g.total_degree() == 0:
        return Truth(True, Counter())
    met = _eliminated(f, g)
    on_curve = [_eliminated(p, h) for p in (f, g)]
    beside = met.gcd(on_curve[0].gcd(on_curve[1]))
    while beside.degree() > 0:
        met = met / beside
        beside = met.gcd(beside)
    return Truth(True, _roots(met))


def _one(text: str) -> Any:
    return _read(text, fmpq_poly([0, 1]), fmpq_poly([0]))


def _read(text: str, x: Any, y: Any) -> Any:
    """By Python's own parser, numbers exactly: the texts are those of the tests."""
    import re

    exact = re.sub(r"(?<![\w.])(\d+\.?\d*(?:e-?\d+)?)", lambda m: f"N('{m[1]}')", text.replace("^", "**"))
    exact = re.sub(r"\*\*N\('(\d+)'\)", r"**\1", exact)
    return eval(exact, {"N": _number, "x": x, "y": y, "__builtins__": {}})


def _number(text: str) -> fmpq:
    value = Fraction(text)
    return fmpq(value.numerator, value.denominator)


def _eliminated(f: Any, g: Any) -> Any:
    """res_y(f, g) as a polynomial in u."""
    resultant = f.resultant(g, "y")
    entries = {key[0]: value for key, value in resultant.terms()}
    return fmpq_poly([entries.get(k, 0) for k in range(max(entries, default=0) + 1)])


def _roots(p: Any) -> Counter[tuple[int, bool]]:
    """Roots by multiplicity and realness, isolated with proof."""
    before, ctx.prec = ctx.prec, 2000
    try:
        found: Counter[tuple[int, bool]] = Counter()
        for root, multiplicity in p.numer().complex_roots():
            found[multiplicity, bool(root.imag.contains(0))] += 1
        return found
    finally:
        ctx.prec = before
