"""Two inputs, one neuron: every real critical direction, by Sturm sequences in exact arithmetic.

For a direction w the best outer weight is a = b/q, q = ⟨w^⊗d, w^⊗d⟩, b = ⟨w^⊗d, t⟩, and the loss is E y² − b²/q. It is
critical along the circle where P = q_x b_y − q_y b_x vanishes, a binary form of degree 3d−2, and b does not (there the
network is zero). Multiple roots are degenerate points; where P vanishes identically every direction is critical.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm
from typing import Any

import mpmath
from tests.oracle.exact import Given, power_entries
from tests.oracle.newton import DIGITS, number

#: A polynomial with whole coefficients, the constant first, content 1.
Polynomial = list[int]


@dataclass(frozen=True)
class Direction:
    """A critical point of rank one: its entries and loss (70 digits), its multiplicity, the sign of its outer weight.

    `bend` is the sign of the second derivative along the circle; 0 where the multiplicity is not one.
    """

    entries: Any
    vector: tuple[Any, Any]
    loss: Any
    multiplicity: int
    sign: int
    bend: int


@dataclass(frozen=True)
class Circle:
    """All critical points of rank one; `everywhere` is the loss of all directions where all are critical.

    `complex_count` is the number of complex ones that are finite, those of one multiple root counted once.
    """

    directions: tuple[Direction, ...]
    everywhere: Any = None
    complex_count: int | None = None


def circle(given: Given) -> Circle:
    """All real critical points of rank one, for both signs of the outer weight."""
    assert given.n == 2
    d = given.degree
    G, t = given.gram, given.target
    if not any(t):
        return Circle((), None, 0)
    q = [
        sum((G[i][k - i] for i in range(max(0, k - d), min(d, k) + 1)), Fraction(0)) for k in range(2 * d + 1)
    ]
    b = [sum((G[i][j] * t[j] for j in range(d + 1)), Fraction(0)) for i in range(d + 1)]
    # forms Σ c_k x^(D−k) y^k
    P = _subtract(_times(_dx(q), _dy(b)), _times(_dy(q), _dx(b)))
    if not any(P):
        place = next(z for z in (Fraction(0), Fraction(1), Fraction(-1), Fraction(2)) if _at(b, z))
        return Circle((), number(given.power - _at(b, place) ** 2 / _at(q, place)), None)
    found: list[Direction] = []
    count = 0
    p, whole_b, whole_q = _primitive(P), _primitive(b), _primitive(q)
    for multiplicity, factor in _square_free(p):
        factor = _divide(factor, _gcd(factor, whole_b))
        count += len(_divide(factor, _gcd(factor, whole_q))) - 1
        for z in _real_roots(factor):
            found.append(_direction(given, z, b, q, p, multiplicity))
    infinite = len(P) - len(p)
    if infinite and b[-1]:
        count += 1
        bend = 0
        if infinite == 1:  # x = −τ, y = 1 turns the way that z grows
            bend = -_sign(b[-1]) * _sign(-P[-2])
        found.append(
            _made(given, (mpmath.mpf(0), mpmath.mpf(1)), number(b[-1]), number(q[-1]), infinite, bend)
        )
    return Circle(tuple(sorted(found, key=lambda x: x.loss)), None, count)


def _direction(
    given: Given, z: Any, b: list[Fraction], q: list[Fraction], p: Polynomial, multiplicity: int
) -> Direction:
    with mpmath.workdps(DIGITS):
        value, weight = _precise(b, z), _precise(q, z)
        bend = 0
        if multiplicity == 1:
            bend = -_sign(value) * _sign(_precise(_derivative(p), z))
        return _made(given, (mpmath.mpf(1), z), value, weight, multiplicity, bend)


def _made(given: Given, w: tuple[Any, Any], b: Any, q: Any, multiplicity: int, bend: int) -> Direction:
    with mpmath.workdps(DIGITS):
        a = b / q
        entries = [a * x for x in power_entries(w, given.degree)]
        size = abs(a) ** (mpmath.mpf(1) / given.degree)
        turn = _sign(a) if given.degree % 2 else 1
        return Direction(
            entries,
            (turn * size * w[0], turn * size * w[1]),
            number(given.power) - b * b / q,
            multiplicity,
            _sign(a),
            bend,
        )


# -- forms and polynomials -----------------------------------------------------------------------------------


def _dx(c: list[Fraction]) -> list[Fraction]:
    return [(len(c) - 1 - k) * x for k, x in enumerate(c[:-1])]


def _dy(c: list[Fraction]) -> list[Fraction]:
    return [k * x for k, x in enumerate(c)][1:]


def _times(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    result = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] += x * y
    return result


def _subtract(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _sign(x: Any) -> int:
    return (x > 0) - (x < 0)


def _at(c: list[Any], z: Any) -> Any:
    value = c[-1]
    for x in reversed(c[:-1]):
        value = value * z + x
    return value


def _precise(c: list[Any], z: Any) -> Any:
    value = number(Fraction(c[-1]))
    for x in reversed(c[:-1]):
        value = value * z + number(Fraction(x))
    return value


def _primitive(c: list[Any]) -> Polynomial:
    """Whole coefficients without common factor, leading zeros dropped; the sign stays."""
    values = [Fraction(x) for x in c]
    while values and not values[-1]:
        values.pop()
    if not values:
        return []
    scale = lcm(*(x.denominator for x in values))
    whole = [int(x * scale) for x in values]
    content = gcd(*whole)
    return [x // content for x in whole]


def _derivative(p: Polynomial) -> Polynomial:
    return [k * x for k, x in enumerate(p)][1:]


def _remainder(a: Polynomial, b: Polynomial) -> Polynomial:
    """The remainder of a by b, times a positive number."""
    rest = list(a)
    lead = abs(b[-1])
    sign = _sign(b[-1])
    while len(rest) >= len(b):
        top, shift = rest[-1], len(rest) - len(b)
        rest = [x * lead for x in rest]
        for i, y in enumerate(b):
            rest[i + shift] -= sign * top * y
        while rest and not rest[-1]:
            rest.pop()
        content = gcd(*rest) if rest else 1
        rest = [x // content for x in rest]
    return rest


def _gcd(a: Polynomial, b: Polynomial) -> Polynomial:
    while b:
        a, b = b, _remainder(a, b)
    return _primitive(a)


def _divide(a: Polynomial, b: Polynomial) -> Polynomial:
    """The exact quotient, primitive, with the sign of a·b."""
    rest = [Fraction(x) for x in a]
    result = [Fraction(0)] * (len(a) - len(b) + 1)
    for k in reversed(range(len(result))):
        result[k] = rest[k + len(b) - 1] / b[-1]
        for i, y in enumerate(b):
            rest[i + k] -= result[k] * y
    assert not any(rest)
    return _primitive(result)


def _square_free(p: Polynomial) -> list[tuple[int, Polynomial]]:
    """Yun: p = Π p_i^i up to a constant."""
    result = []
    common = _gcd(p, _derivative(p)) if len(p) > 1 else [1]
    simple = _divide(p, common)
    k = 1
    while len(simple) > 1:
        following = _gcd(simple, common)
        part = _divide(simple, following)
        if len(part) > 1:
            result.append((k, part))
        simple, common = following, _divide(common, following)
        k += 1
    return result


def _sturm_sequence(p: Polynomial) -> list[Polynomial]:
    chain = [p, _primitive(_derivative(p))]
    while len(chain[-1]) > 1:
        rest = _remainder(chain[-2], chain[-1])
        if not rest:
            break
        chain.append([-x for x in rest])
    return chain


def _changes(chain: list[Polynomial], z: Fraction) -> int:
    signs = [s for s in (_sign(_at(p, z)) for p in chain) if s]
    return sum(a != b for a, b in pairwise(signs))


def count_real_roots(p: Polynomial, low: Fraction, high: Fraction) -> int:
    """Sturm's theorem: distinct real roots in (low, high], of a polynomial without multiple roots."""
    chain = _sturm_sequence(p)
    return _changes(chain, low) - _changes(chain, high)


def _real_roots(p: Polynomial) -> list[Any]:
    """All real roots of a polynomial without multiple roots, with 70 digits."""
    if len(p) < 2:
        return []
    bound = Fraction(2) ** (2 + max((abs(x) // abs(p[-1])).bit_length() for x in p))
    chain = _sturm_sequence(p)
    roots: list[Any] = []
    stack = [(-bound, bound, _changes(chain, -bound), _changes(chain, bound))]
    while stack:
        low, high, left, right = stack.pop()
        if left == right:
            continue
        if left - right == 1:
            roots.append(_sharpen(p, low, high))
            continue
        middle = (low + high) / 2
        between = _changes(chain, middle)
        stack += [(low, middle, left, between), (middle, high, between, right)]
    return sorted(roots)


def _sharpen(p: Polynomial, low: Fraction, high: Fraction) -> Any:
    """The one root in (low, high]: bisection to 80 bits, then Newton's method, which must stay in the interval."""
    if _at(p, high) == 0:
        return number(high)
    sign = _sign(_at(p, high))
    for _ in range(4000):
        middle = (low + high) / 2
        value = _sign(_at(p, middle))
        if value == 0:
            return number(middle)
        low, high = (low, middle) if value == sign else (middle, high)
        if low * high > 0 and high - low < abs(low + high) / 2**80:
            break
    with mpmath.workdps(2 * DIGITS):
        slope = _derivative(p)
        z = (mpmath.mpf(low.numerator) / low.denominator + mpmath.mpf(high.numerator) / high.denominator) / 2
        for _ in range(8):
            z = z - _wide(p, z) / _wide(slope, z)
        first, last = (mpmath.mpf(x.numerator) / x.denominator for x in (low, high))
        if first <= z <= last:
            return z
    for _ in range(250):  # roots too close for that: by halves
        middle = (low + high) / 2
        value = _sign(_at(p, middle))
        if value == 0:
            return number(middle)
        low, high = (low, middle) if value == sign else (middle, high)
    return number((low + high) / 2)


def _wide(p: Polynomial, z: Any) -> Any:
    value = mpmath.mpf(p[-1])
    for x in reversed(p[:-1]):
        value = value * z + x
    return value
