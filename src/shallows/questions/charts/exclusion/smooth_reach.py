"""Where the critical points of one smooth neuron can be: balls that hold all of them, and a hole that holds none.

**a given.** Along the ray through w the loss has slope 2a(a SK′ − Σ b(2S∂_S + C∂_C)F)/s. As a mixture of ψ_λ the
second is at most (2/π)(1/S) Σ|b|‖v‖ E[λ²] E[1/λ] (for the logistic law π²/3 and √(2π)/4, moments of the Kolmogorov
law), and SK′ = E h(sz), h = zσσ′, is at least (2/s)φ(1)∫₀^{s₀} h for s ≥ s₀. Softplus and GELU have K′ ≥ ¼,
polynomials their leading terms.

**a trained, σ(0) = 0.** c²/K has no critical point with 0 < ‖w‖ ≤ δ when its slope along the sphere vanishes only near
±g, g = E[yx], and the slope along these rays does not: for odd σ see `smooth_near_zero`, for GELU

    2(x∂ₓc − c)/c − 2(SK′ − K)/K,        SK′ − K = ½S²K″(ξ),   K = SK′(ξ′),

with c and x∂ₓc − c from Taylor's formula.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm
from shallows.questions.charts.exclusion.smooth_form import SmoothForm
from shallows.questions.charts.exclusion.smooth_near_zero import SUPREMA, NearZero, near_zero
from shallows.questions.charts.exclusion.smooth_system import SmoothSystem
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget

#: (2/π) E[λ²] E[1/λ] times the weight's square, q with SK′ ≥ q/s, and from which s on: tanh has
#: q = φ(1)(2 tanh²2 − 2 + tanh 2) = 0.199, erf S^1.5/(π√(S + ¼)(S + ½)) = 0.274 at s = 2 and more beyond.
BOUNDED = {
    "erf": (2 / np.pi * 0.5 * 2**0.5, 0.27, 2.0),
    "tanh": (2 / np.pi * np.pi**2 / 12 * (2 * np.pi) ** 0.5 / 2, 0.195, 2.0),
    "sigmoid": (0.25 * 2 / np.pi * np.pi**2 / 3 * (2 * np.pi) ** 0.5 / 4, 0.195 / 2, 4.0),
}
#: sup |σ′| of those with K′ ≥ ¼; GELU's is 1.129.
GROWING = {"softplus": 1.0, "gelu": 1.13}
#: Rounding in the few operations of this file: all bounds are taken so much larger.
ROOM = 1.01
#: With a trained, neurons are searched up to this norm, and to so many of the teacher's.
REACH, TEACHERS = 8.0, 4.0
#: Radii that are tried for the hole, from large to small; the smallest stays open where none is proved.
HOLES = (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03)


#: GELU's σ′(0), σ″(0) = 2φ(0), and bounds on |σ″| and |σ‴| = |z³ − 4z|φ ≤ 0.78.
GELU_FIRST, GELU_SECOND, GELU_TWO, GELU_THREE = 0.5, 2 / (2 * np.pi) ** 0.5, 0.8, 0.8


def energy(form: SmoothForm | PolynomialForm, target: SmoothTarget) -> Intervals:
    """E y², one interval."""
    total = Intervals.exact(np.zeros(1))
    for i in range(len(target.exact)):
        u = [target.vectors[i, k : k + 1] for k in range(target.rank)]
        own = form.own(target.squares[i : i + 1]).value
        total = total + own * target.outer[i] * target.outer[i]
        for j in range(i):
            v = target.vectors[j]
            inner = sum((u[k] * v[k] for k in range(target.rank)), Intervals.exact(np.zeros(1)))
            cross = Intervals.exact(np.zeros(1))
            for k in range(target.rank):
                for m in range(k):
                    cross = cross + (u[k] * v[m] - u[m] * v[k]).square()
            pair = form.cross(target.squares[i : i + 1], target.squares[j], inner, cross).value
            total = total + pair * target.outer[i] * target.outer[j] * 2.0
    return total


def certain_reach(form: SmoothForm | PolynomialForm, target: SmoothTarget, outer: float) -> float:
    """A norm beyond which there is no critical point for this outer weight."""
    if isinstance(form, PolynomialForm):
        return _polynomial_reach(form, target, outer)
    if form.name in GROWING:
        root = float(energy(form, target).sqrt().hi[0])
        return ROOM * max(1.0, 4 * GROWING[form.name] * root / abs(outer))
    pull, least, start = BOUNDED[form.name]
    load = float((target.outer.magnitude * target.squares.sqrt().hi).sum())
    return float(ROOM * max(start, pull * load / (least * abs(outer))))


def _polynomial_reach(form: PolynomialForm, target: SmoothTarget, outer: float) -> float:
    """Cauchy's bound on the roots of |a| Σ pκ_p s^{2p} − Σ|b| Σ |coefficient| (2p + k) s^{2p+k} t^{2q+k}."""
    powers = form.powers()
    top = 2 * (len(powers) - 1)
    sizes = np.zeros(top + 1)
    for p, value in enumerate(powers[:-1]):
        sizes[2 * p] += p * abs(float(value)) * abs(outer)
    roots = target.squares.sqrt().hi
    for (p, q, k), value in form.terms().items():
        weight = float((target.outer.magnitude * roots ** (2 * q + k)).sum())
        sizes[2 * p + k] += (2 * p + k) * abs(float(value)) * weight
    lead = (len(powers) - 1) * float(powers[-1]) * abs(outer)
    return ROOM * (1.0 + float(sizes[:top].max(initial=0.0)) / lead)


def trained_reach(target: SmoothTarget) -> float:
    """Up to which norm neurons are searched where a is trained."""
    return max(REACH, float(np.ceil(TEACHERS * target.longest)))


def hole_of(form: SmoothForm | PolynomialForm, target: SmoothTarget) -> NearZero:
    """The ball around 0 whose critical points are known (but for w = 0); or the smallest tried, and not proved."""
    if isinstance(form, SmoothForm) and form.name in SUPREMA and target.exact:
        return near_zero(form, target, HOLES)
    if isinstance(form, SmoothForm) and form.name == "gelu":
        for delta in HOLES:
            if _is_empty(form, target, delta):
                return NearZero(delta, True)
    return NearZero(HOLES[-1], False)


def _is_empty(form: SmoothForm, target: SmoothTarget, delta: float) -> bool:
    """GELU: σ(z) = z/2 + σ₂z²/2 + …, so that c²/K rises to one side and falls to the other."""
    spread = np.sqrt(2 * np.pi * (1 + target.squares.mid))
    mean, bend = 0.5, (2 - target.squares.mid / (1 + target.squares.mid)) / spread
    b, V = target.outer.mid, target.vectors.mid
    g = (b * mean) @ V
    size = float(np.linalg.norm(g)) / ROOM
    Y = ROOM * float(energy(form, target).sqrt().hi[0])
    if size <= 0 or not np.isfinite(Y):
        return False
    sine = ROOM * GELU_TWO * delta * Y / (GELU_FIRST * size)
    if not sine < 0.5:
        return False
    angle = ROOM * np.arcsin(sine)
    cosine = Intervals.exact(V @ (g / np.linalg.norm(g))) + Intervals(-1.0, 1.0) * (
        ROOM * angle * np.linalg.norm(V, axis=1)
    )
    pull = Intervals(GELU_FIRST * size * np.cos(angle), GELU_FIRST * size * ROOM**2)
    own = form.own(Intervals(np.zeros(1), np.full(1, delta**2)))
    ratio = own.second / own.first * Intervals(0.0, delta)
    moments = cosine.square() * (b * bend) + b * target.squares.mid / spread
    level = Intervals(moments.lo.sum(), moments.hi.sum()) * (GELU_SECOND / 2)
    rest = GELU_THREE * delta * 15**0.5 * Y * (1 / 2 + 1 / 6)
    off = GELU_TWO * delta / 2 * 3**0.5 * Y
    rise = level + Intervals(-1.0, 1.0) * (ROOM * rest)
    c = pull + Intervals(-1.0, 1.0) * (ROOM * off)
    with np.errstate(all="ignore"):
        slopes = [rise * 2.0 / (c * sign) - ratio for sign in (1.0, -1.0)]
    return all(bool(c.lo > 0) and not slope.has_zero.any() for slope in slopes)


def limit_at_zero(form: SmoothForm | PolynomialForm, target: SmoothTarget) -> Intervals:
    """‖E[yx]‖², what linear functions take from the loss: the limit a → ∞, w → 0, where σ(0) = 0 and σ′(0) ≠ 0."""
    at = SmoothSystem(form, target, 1.0).state(Intervals.exact(np.zeros((1, target.rank))))
    square = Intervals.exact(np.zeros(1))
    for part in at.g:
        square = square + part.square()
    return square / at.own.first
