"""Binary forms F₀ x^D + F₁ x^(D−1) y + … + F_D y^D over Q: zeros, discriminants, apolar forms; exactly.

A form is the sequence of its coefficients, fractions or python-flint's. Zeros are counted on the projective line, so
that y alone vanishing (z = y/x at infinity) is a zero like any other.

Given F = Σ C(d,k) a_k x^{d−k} y^k by its entries a_0, …, a_d, a form q = Σ q_j X^{r−j} Y^j is apolar to F when
Σ_j q_j a_{i+j} = 0 for all i (Sylvester): if q has r distinct roots (αᵢ : βᵢ), F is a combination of the powers
(αᵢ x + βᵢ y)^d. The apolar forms are (g₁, g₂), deg g₁ + deg g₂ = d+2, and deg g₁ is the rank of the most square
Hankel matrix of the a_k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb, gcd, lcm
from typing import Any, cast

import flint
from flint import Ordering, fmpz_mpoly, fmpz_mpoly_ctx, fmpz_poly

from shallows.mathematics.exact.linear_algebra import kernel, matrix, to_flint
from shallows.support.errors import InvalidProblem

Form = Sequence[Any]


def affine(form: Form) -> Any:
    """F(1, z) as a polynomial of python-flint."""
    return flint.fmpq_poly([to_flint(c) if isinstance(c, Fraction) else c for c in form])


def real_roots(p: Any) -> list[tuple[Any, int]]:
    """The distinct real roots of a polynomial as disjoint balls, in order, with multiplicities.

    python-flint isolates all complex roots rigorously; real ones come with an imaginary part that is exactly 0.
    """
    if p.degree() < 1:
        return []
    found = [(root.real, power) for root, power in p.numer().complex_roots() if root.imag == 0]
    return sorted(found, key=lambda pair: float(pair[0].mid()))


def multiplicities(form: Form) -> list[int]:
    """Those of the distinct real zeros on the projective line, proved; the zero form is refused."""
    p = affine(form)
    if p.degree() < 0:
        raise InvalidProblem("The form is identically zero: every direction is a zero of it.")
    at_infinity = len(form) - 1 - p.degree()
    return [power for _, power in real_roots(p)] + ([at_infinity] if at_infinity else [])


def real_zeros(form: Form) -> tuple[int, int]:
    """The number of distinct real zeros, and how many of them are multiple."""
    powers = multiplicities(form)
    return len(powers), sum(power > 1 for power in powers)


def is_real_rooted(form: Form) -> bool:
    """Whether a form has as many distinct real zeros as its degree."""
    return any(c != 0 for c in form) and real_zeros(form) == (len(form) - 1, 0)


def between_roots(p: Any) -> list[Any]:
    """Rational points, one in each interval that the distinct real roots of p cut the line into."""
    ends = [_ends(ball) for ball, _ in real_roots(p)]
    if not ends:
        return [flint.fmpq(0)]
    inner = [(before[1] + after[0]) / 2 for before, after in pairwise(ends)]
    return [ends[0][0] - 1, *inner, ends[-1][1] + 1]


def _ends(ball: Any) -> tuple[Any, Any]:
    """The ends of a ball, exactly."""
    middle, radius = ball.mid().fmpq(), ball.rad().mid().fmpq()
    return middle - radius, middle + radius


def discriminant(form: Form) -> Fraction:
    """Disc F: zero for a double zero at infinity, F_{D−1}² times that of the rest for a simple one."""
    p = affine(form)
    at_infinity = len(form) - 1 - p.degree()
    if len(form) <= 2 or at_infinity > 1:
        return Fraction(int(len(form) <= 2))
    value = p.discriminant() if p.degree() > 1 else flint.fmpq(1)
    value = value * p[p.degree()] ** 2 if at_infinity else value
    return Fraction(int(value.p), int(value.q))


def quartic_discriminant(form: Sequence[Any]) -> Any:
    """27 Disc of a quartic, 4I³ − J², by its invariants; over any commutative ring.

    I = 12ae − 3bd + c², J = 72ace + 9bcd − 27ad² − 27eb² − 2c³ for ax⁴ + bx³y + cx²y² + dxy³ + ey⁴.
    """
    a, b, c, d, e = form
    first = 12 * a * e - 3 * b * d + c * c
    second = 72 * a * c * e + 9 * b * c * d - 27 * a * d * d - 27 * e * b * b - 2 * c * c * c
    return 4 * first * first * first - second * second


def symbolic_discriminant(form: Sequence[fmpz_mpoly], names: Sequence[str]) -> fmpz_mpoly:
    """A positive multiple of Disc F, with coefficients in Z[names]; quartics by their invariants."""
    if len(form) == 5:
        return cast(fmpz_mpoly, quartic_discriminant(form))
    zero = fmpz_mpoly_ctx.get(list(names), Ordering.lex).constant(0)
    if not form[-1]:  # Disc(F₀ … F_{D−1}, 0) = F_{D−1}² Disc(F₀ … F_{D−1})
        return form[-2] ** 2 * symbolic_discriminant(form[:-1], names) if len(form) > 2 else zero + 1
    if len(form) <= 2:
        return zero + 1
    context = fmpz_mpoly_ctx.get([*names, "_z"], Ordering.lex)
    z = context.gens()[-1]
    whole = context.constant(0)
    for i, coefficient in enumerate(form):
        whole += context.from_dict({(*e, 0): v for e, v in coefficient.to_dict().items()}) * z**i
    result = whole.discriminant("_z")
    return zero.context().from_dict({e[:-1]: v for e, v in result.to_dict().items()})


def primitive(form: Sequence[Fraction]) -> list[int]:
    """The form times a positive rational, as integers with no common factor."""
    bottom = lcm(*(value.denominator for value in form))
    whole = [int(value * bottom) for value in form]
    common = gcd(*whole)
    return [value // common for value in whole] if common else whole


def divide(
    form: Sequence[Any], divisor: Sequence[Fraction], scale: Callable[[Any, Fraction], Any]
) -> list[Any]:
    """F(1, z) / g(z) for a monic g that divides F, over a ring in which `scale` multiplies by rationals."""
    left, steps = list(form), len(form) - len(divisor) + 1
    quotient: list[Any] = [None] * steps
    for i in reversed(range(steps)):
        quotient[i] = left[i + len(divisor) - 1]
        for j, value in enumerate(divisor[:-1]):
            if value:
                left[i + j] = left[i + j] - scale(quotient[i], value)
    return quotient


def repeated_factor(form: Sequence[Fraction]) -> list[Fraction]:
    """gcd(f, f′) of f = F(1, z), monic, lowest coefficient first; [1] when f has no repeated factor."""
    polynomial = fmpz_poly(primitive(form))
    common = polynomial.gcd(polynomial.derivative())
    lead = int(common.leading_coefficient())
    return [Fraction(int(value), lead) for value in common.coeffs()]


def hankel(entries: Sequence[Fraction], order: int) -> Any:
    """The catalecticant (a_{i+j}), i ≤ d−r, j ≤ r: its kernel are the apolar forms of degree r."""
    rows = len(entries) - order
    return matrix([[entries[i + j] for j in range(order + 1)] for i in range(rows)])


def apolar_degree(entries: Sequence[Fraction]) -> int:
    """deg g₁, the border rank of a form that is not zero."""
    return int(hankel(entries, (len(entries) - 1) // 2).rank())


def apolar_forms(entries: Sequence[Fraction], order: int) -> list[list[Any]]:
    """A basis of the apolar forms of degree `order`."""
    return kernel(hankel(entries, order))


def coefficients(entries: Sequence[Fraction]) -> Form:
    """C(d,k) a_k."""
    d = len(entries) - 1
    return [flint.fmpq(a.numerator * comb(d, k), a.denominator) for k, a in enumerate(entries)]


def real_rooted_in_pencil(p: Form, q: Form) -> Form | None:
    """A member sp + tq with distinct real roots only, or None; p and q have no common root.

    The number of real roots changes only where the discriminant D(t) of p + tq vanishes; D is not identically
    zero since a general member of a pencil without base points has simple roots. So one point of each interval
    between real roots of D, and q itself, decides.
    """
    candidates = [q] + [_combine(p, q, t) for t in between_roots(_pencil_discriminant(p, q))]
    return next((form for form in candidates if is_real_rooted(form)), None)


def real_rooted_arcs(p: Form, q: Form) -> list[tuple[Any, Any]]:
    """(s, t), one in each open arc of the circle, up to sign, on which sp + tq has distinct real roots only.

    Arcs end where the discriminant of p + tq vanishes; the first and the last are one unless that of q does.

    >>> x = [flint.fmpq(k) for k in range(4)]
    >>> real_rooted_arcs([x[1], x[0], -x[3], x[0]], [x[0], x[3], x[0], -x[1]])     # x³ − 3xy², 3x²y − y³: all of them
    [(1, 0)]
    """
    places = between_roots(_pencil_discriminant(p, q))
    joined = len(places) > 1 and discriminant(q) != 0
    found = [(flint.fmpq(1), t) for t in (places[:-1] if joined else places)]
    return [(s, t) for s, t in found if is_real_rooted(_combine(p, q, t))]


def _combine(p: Form, q: Form, t: Any) -> Form:
    return [a + t * b for a, b in zip(p, q, strict=True)]


def _pencil_discriminant(p: Form, q: Form) -> Any:
    """D(t), of degree 2m−2, by interpolation; the discriminant of a *form*: zero leading coefficients count."""
    degree = 2 * len(p) - 4
    nodes: list[Any] = [flint.fmpq(k) for k in range(degree + 1)]
    values = [to_flint(discriminant(_combine(p, q, t))) for t in nodes]
    table = flint.fmpq_mat(degree + 1, degree + 1, [t**k for t in nodes for k in range(degree + 1)])
    solution = table.solve(flint.fmpq_mat(degree + 1, 1, values))
    return flint.fmpq_poly([solution[k, 0] for k in range(degree + 1)])
