"""Binary forms over Q: apolar forms, isolated real roots, pencils with a real-rooted member.

A form F = Σ C(d,k) a_k x^{d−k} y^k is its entries a_0, …, a_d. A form q = Σ q_j X^{r−j} Y^j is apolar to F when
Σ_j q_j a_{i+j} = 0 for all i (Sylvester): if q has r distinct roots (αᵢ : βᵢ), F is a combination of the powers
(αᵢ x + βᵢ y)^d. The apolar forms are (g₁, g₂), deg g₁ + deg g₂ = d+2, and deg g₁ is the rank of the most square
Hankel matrix of the a_k. Forms are lists of rational coefficients, the power of X falling.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import flint

from shallows.mathematics.exact.linear_algebra import kernel, matrix

Form = list[Any]


def hankel(entries: Sequence[Fraction], order: int) -> Any:
    """The catalecticant (a_{i+j}), i ≤ d−r, j ≤ r: its kernel are the apolar forms of degree r."""
    rows = len(entries) - order
    return matrix([[entries[i + j] for j in range(order + 1)] for i in range(rows)])


def apolar_degree(entries: Sequence[Fraction]) -> int:
    """deg g₁, the border rank of a form that is not zero."""
    return int(hankel(entries, (len(entries) - 1) // 2).rank())


def apolar_forms(entries: Sequence[Fraction], order: int) -> list[Form]:
    """A basis of the apolar forms of degree `order`."""
    return kernel(hankel(entries, order))


def coefficients(entries: Sequence[Fraction]) -> Form:
    """C(d,k) a_k."""
    d = len(entries) - 1
    return [flint.fmpq(a.numerator * comb(d, k), a.denominator) for k, a in enumerate(entries)]


def _at_infinity(form: Form) -> int:
    """The multiplicity of the root (1 : 0): how many leading coefficients vanish."""
    return next(k for k, c in enumerate(form) if c != 0)


def _affine(form: Form) -> Any:
    """form(t, 1) as a polynomial in t."""
    return flint.fmpq_poly(list(reversed(form)))


def _real_roots(p: Any) -> list[tuple[Any, int]]:
    """The distinct real roots of a polynomial as disjoint balls, in order, with multiplicities.

    python-flint isolates all complex roots rigorously; real ones come with an imaginary part that is exactly 0.
    """
    if p.degree() < 1:
        return []
    found = [(root.real, power) for root, power in p.numer().complex_roots() if root.imag == 0]
    return sorted(found, key=lambda pair: float(pair[0].mid()))


def count_real_roots(p: Any) -> int:
    """The number of distinct real roots of a polynomial that is not zero."""
    return len(_real_roots(p))


def is_real_rooted(form: Form) -> bool:
    """Whether a form has as many distinct real roots (points of the real projective line) as its degree."""
    if all(c == 0 for c in form):
        return False
    infinite = _at_infinity(form)
    p = _affine(form)
    return infinite <= 1 and count_real_roots(p) == p.degree()


def real_roots_with_multiplicity(form: Form) -> int:
    """The number of real projective roots, each as often as it occurs."""
    return _at_infinity(form) + sum(power for _, power in _real_roots(_affine(form)))


def real_rooted_in_pencil(p: Form, q: Form) -> Form | None:
    """A member sp + tq with distinct real roots only, or None; p and q have no common root.

    The number of real roots changes only where the discriminant D(t) of p + tq vanishes; D is not identically
    zero since a general member of a pencil without base points has simple roots. So one point of each interval
    between real roots of D, and q itself, decides.
    """
    candidates = [q] + [_combine(p, q, t) for t in between_roots(_discriminant(p, q))]
    return next((form for form in candidates if is_real_rooted(form)), None)


def _combine(p: Form, q: Form, t: Any) -> Form:
    return [a + t * b for a, b in zip(p, q, strict=True)]


def _discriminant(p: Form, q: Form) -> Any:
    """D(t), of degree 2m−2, by interpolation; the discriminant of a *form*: zero leading coefficients count."""
    degree = 2 * len(p) - 4
    nodes: list[Any] = [flint.fmpq(k) for k in range(degree + 1)]
    values = [_form_discriminant(_combine(p, q, t)) for t in nodes]
    table = flint.fmpq_mat(degree + 1, degree + 1, [t**k for t in nodes for k in range(degree + 1)])
    solution = table.solve(flint.fmpq_mat(degree + 1, 1, values))
    return flint.fmpq_poly([solution[k, 0] for k in range(degree + 1)])


def _form_discriminant(form: Form) -> Any:
    """disc of a form of degree m: a double root at infinity gives 0, a simple one c₁² disc of the rest."""
    infinite = _at_infinity(form)
    if infinite > 1:
        return flint.fmpq(0)
    p = _affine(form)
    value = p.discriminant() if p.degree() > 1 else flint.fmpq(1)
    return value * p[p.degree()] ** 2 if infinite else value


def between_roots(p: Any) -> list[Any]:
    """Rational points, one in each interval that the distinct real roots of p cut the line into."""
    ends = [_ends(ball) for ball, _ in _real_roots(p)]
    if not ends:
        return [flint.fmpq(0)]
    inner = [(before[1] + after[0]) / 2 for before, after in pairwise(ends)]
    return [ends[0][0] - 1, *inner, ends[-1][1] + 1]


def _ends(ball: Any) -> tuple[Any, Any]:
    """The ends of a ball, exactly."""
    middle, radius = ball.mid().fmpq(), ball.rad().mid().fmpq()
    return middle - radius, middle + radius
