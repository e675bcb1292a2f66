"""The fourth network αI + β11ᵀ, whose neurons have turned round: its angle and its Hessian, for all k at once.

At t = π − τs (`one_angle`), everything is regular in τ and s down to s = 0 (k = ∞), where τ = 2: W = −I + (2/k)11ᵀ + ….
F = s·F̂ with F̂(τ, 0) = (τ − 2)π.

The space of k×k matrices is 2 trivial + 3 standard + one exterior + one two-row representation of S_k. The Hessian of E
is, with ŵ = w/ρ, unit vectors n̂ of u orthogonal to w, and Λ = (Σ_{j≠i} sin θ − Σⱼ sin φⱼ/ρ)/π,

    Hᵢᵢ = (1+Λ)I − Λŵŵᵀ + (1/π)(Σ_{j≠i} sin θ n̂n̂ᵀ − (1/ρ)Σⱼ sin φⱼ n̂n̂ᵀ),  Hᵢⱼ = (1/π)((π−θ)I + ŵⱼn̂ᵀ + ŵᵢn̂ᵀ).

Exterior and two-row, X1 = 0 = X_ii and Xᵀ = ∓X: rows xᵢ are orthogonal to wᵢ, xᵢ·ŵⱼ = hX_ij, the sum of rows is 0, so

    λ∓ = (1+Λ) + (1/π)(h²/sin θ − 1/(ρ sin φ)) − (π−θ)/π ∓ h²/(π sin θ).

Standard: X_ii = uxᵢ, X_ij = s r xᵢ + s²c xⱼ with Σx = 0 (s and s² so that the form in (u, r, c) stays finite): a form
of three variables, written down in `_standard`. Trivial: ρ and t, decided by the sign of F′ and A > 0. The gradient's
i-th coordinate, which vanishes, gives 1 + Λ without the k terms that cancel: 1+Λ = (π−t − (π−θ)ρ sin t/s)/(πρ cos t).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flint import arb

from shallows.mathematics.balls.systems import precision
from shallows.uses.papers.findings.one_angle import BITS, between, psi, psi_slope

#: τ lies in between (1.57 at k = 2, 2 at k = ∞), and is halved so often: to 1e-15.
TAU, HALVINGS = (1.5, 2.5), 50
#: The first radius that is tried for τ, the factor to the next, and the last.
RADIUS, FACTOR, LARGEST = 1e-6, 1.5, 0.5

Form = list[Any]


class Turned(NamedTuple):
    """What the Hessian at t = π − τs is made of: sin t, sin t/s, cos t, s sin t, h, (1+h)/s², cos θ, π−θ, A, B."""

    angle: Any
    sine: Any
    ratio: Any
    cosine: Any
    other: Any
    h: Any
    lift: Any
    pair: Any
    rest: Any
    A: Any
    B: Any


class Spectrum(NamedTuple):
    """Eigenvalues of the exterior and the two-row part, and the forms of the standard part with its lengths."""

    exterior: Any
    two_row: Any
    standard: list[Form]
    lengths: list[Form]

    @property
    def positive(self) -> bool:
        """Whether all of them are positive, surely: pivots of the form."""
        return bool(self.exterior > 0 and self.two_row > 0 and _positive(self.standard))


def turned(tau: Any, s: Any) -> Turned:
    """The point at balls τ and s."""
    angle = tau * s
    sine, ratio, cosine = angle.sin(), tau * angle.sinc(), -angle.cos()
    other = s * sine
    h = cosine - other
    lift = tau * tau / 2 * (angle / 2).sinc() ** 2 - ratio
    pair = s * s * lift * (1 - h)
    A = arb.pi() * s * s + psi(pair)
    B = s * s * psi(cosine) + psi(other)
    return Turned(angle, sine, ratio, cosine, other, h, lift, pair, psi_slope(pair), A, B)


def reduced_stationarity(tau: Any, s: Any) -> Any:
    """F̂ = F/s."""
    p = turned(tau, s)
    slope = -p.ratio - p.cosine
    return 2 * (p.cosine * psi_slope(p.other) - p.other * p.angle) * p.A + 2 * p.B * p.h * slope * p.rest


def enclosed_tau(s: Any) -> Any | None:
    """A ball that has the zero τ of F̂ for every number of s (F̂ changes its sign in it); None if none was found."""
    low, high = TAU
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if reduced_stationarity(arb(middle), s).mid() < 0 else (low, middle)
    radius = RADIUS
    while radius < LARGEST:
        below, above = arb(low - radius), arb(low + radius)
        if reduced_stationarity(below, s) < 0 and reduced_stationarity(above, s) > 0:
            return arb(low, radius)
        radius *= FACTOR
    return None


def spectrum(tau: Any, s: Any) -> Spectrum:
    """The Hessian of E, but for its trivial part."""
    p = turned(tau, s)
    rho, pi = p.B / p.A, arb.pi()
    sine, other = (1 - p.pair * p.pair).sqrt(), (1 - p.other * p.other).sqrt()
    one = (p.angle - p.rest * rho * p.ratio) / (pi * rho * p.cosine)
    both = p.h * p.h / (pi * sine)
    middle = one + both - (1 / (rho * other) + p.rest) / pi
    lengths, form = _standard(p, s, rho, one, sine, other)
    return Spectrum(middle - both, middle + both, form, lengths)


def is_minimum(low: float, high: float) -> bool:
    """Whether for every s in [low, high] the Hessian is surely positive but for its trivial part; halved as needed."""
    with precision(BITS):
        return _is_minimum(low, high)


def _is_minimum(low: float, high: float, left: int = 16) -> bool:
    s = between(low, high)
    tau = enclosed_tau(s)
    if tau is not None and spectrum(tau, s).positive:
        return True
    middle = (low + high) / 2
    return left > 0 and _is_minimum(low, middle, left - 1) and _is_minimum(middle, high, left - 1)


def _standard(p: Turned, s: Any, rho: Any, one: Any, sine: Any, other: Any) -> tuple[list[Form], list[Form]]:
    """‖X‖² and the Hessian's form, both over ‖x‖², in (u, r, c): row i of X is s²c·x + xᵢ(sr·1 + g·eᵢ).

    m = row·ŵᵢ/xᵢ; row·ŵⱼ = s²ch xⱼ + xᵢV; row·n̂(wⱼ) sin θ = s²ch xⱼ + xᵢP; row·n̂(eⱼ) sin φ = s²c xⱼ + xᵢsR; row·n̂(eᵢ) =
    xᵢe; the sum of the rows is (the sum) x. Sums over i ≠ j of xᵢxⱼ are −‖x‖², of xᵢ² are ‖x‖²/s².
    """
    q, pi, total = s * s, arb.pi(), p.cosine + p.ratio
    own, row, column = _linear(1, 0, 0), _linear(0, 1, 0), _linear(0, 0, 1)
    g = _linear(1, -s, -q)
    m = _sum((q * p.h, column), (s * total, row), (p.cosine, g))
    V = _sum((s * total, row), (p.other, g))
    P_over_s = _sum((total, row), (p.sine, g), (-s * p.lift * (1 - p.h), m))
    P = _sum((s, P_over_s))
    R = _sum((arb(1), row), (-p.sine, m))
    e = _sum((p.sine, own), (q * s * p.cosine, column), (-p.cosine, row))
    whole = _sum((1 + q, column), (arb(1), g))
    lengths = [
        (q * (1 + q), column, column), (1 + q, row, row), (2 * s, row, g), (arb(1), g, g), (2 * q, column, g),
    ]  # fmt: skip
    a, b = 1 / (pi * sine), 1 / (pi * rho * other)
    inside = [
        (1 - one, m, m),
        (a * q * p.h * p.h, column, column), (a, P_over_s, P_over_s), (-2 * a * q * p.h, column, P),
        (-b * q, column, column), (-b, R, R), (2 * b * q * s, column, R),
        (-p.sine / (pi * rho), e, e),
    ]  # fmt: skip
    across = [
        (p.rest / pi, whole, whole),
        (a * p.h, column, _sum((arb(1), P), (arb(1), V))), (-a * q * q * p.h * p.h, column, column), (-a, V, P),
        (-a, m, m), (a * p.pair, m, V), (-a * p.pair * p.h, m, column),
    ]  # fmt: skip
    scaled = [(weight * (one - p.rest / pi), x, y) for weight, x, y in lengths]
    return _matrix(lengths), _matrix([*scaled, *inside, *across])


def _linear(*values: Any) -> Form:
    return [arb(value) for value in values]


def _sum(*terms: tuple[Any, Form]) -> Form:
    return [sum((weight * form[i] for weight, form in terms), arb(0)) for i in range(3)]


def _matrix(terms: Sequence[tuple[Any, Form, Form]]) -> list[Form]:
    """The symmetric matrix of Σ weight·x·y."""
    return [
        [sum((w * (x[i] * y[j] + x[j] * y[i]) / 2 for w, x, y in terms), arb(0)) for j in range(3)]
        for i in range(3)
    ]


def _positive(matrix: list[Form]) -> bool:
    (a, b, c), (_, d, e), (_, _, f) = matrix
    if not a > 0:
        return False
    second, mixed, third = d - b * b / a, e - b * c / a, f - c * c / a
    return bool(second > 0 and third - mixed * mixed / second > 0)
