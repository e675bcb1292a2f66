"""Where the critical points of one smooth neuron can be: balls that hold all of them, and a hole that holds none.

**a given.** Along the ray through w the loss has slope 2a(a SK′ − Σ b(2S∂_S + C∂_C)F)/s. As a mixture of ψ_λ the
second is at most (2/π)(1/S) Σ|b|‖v‖ E[λ²] E[1/λ] (for the logistic law π²/3 and √(2π)/4, moments of the Kolmogorov
law), and SK′ = E h(sz), h = zσσ′, is at least (2/s)φ(1)∫₀^{s₀} h for s ≥ s₀. Softplus and GELU have K′ ≥ ¼,
polynomials their leading terms.

**a trained, σ(0) = 0.** Around w = 0 J = c²/K is understood by Hermite's expansion for odd σ (`smooth_near_zero`), by a
search in (t, u), w = tu, for GELU and polynomials (`blown_up`); the latter also beyond the ball, w = u/t.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.rounding import ROOM
from shallows.questions.charts.exclusion.blown_series import series_at_infinity, series_at_zero
from shallows.questions.charts.exclusion.blown_up import Blown, blown_up
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm
from shallows.questions.charts.exclusion.smooth_form import SmoothForm
from shallows.questions.charts.exclusion.smooth_near_zero import SUPREMA, NearZero, near_zero
from shallows.questions.charts.exclusion.smooth_system import SmoothSystem, cross, dot
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
#: With a trained, neurons are searched up to this norm, and to so many of the teacher's.
REACH, TEACHERS = 8.0, 4.0
#: Radii that are tried for the hole, from large to small; the smallest stays open where none is proved.
HOLES = (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03)
#: The same where the ball is searched in (t, u): GELU's series of fourteen terms is good to 1e-4 at the first.
BLOWN = (0.25, 0.12, 0.04)


def energy(form: SmoothForm | PolynomialForm, target: SmoothTarget) -> Intervals:
    """E y², one interval."""
    total = nothing = Intervals.exact(np.zeros(1))
    for i in range(len(target.exact)):
        u = [target.vectors[i, k : k + 1] for k in range(target.rank)]
        own = form.own(target.squares[i : i + 1]).value
        total = total + own * target.outer[i] * target.outer[i]
        for j in range(i):
            v = target.vectors[j]
            inner, across = dot(u, v, nothing), cross(u, v, nothing)
            pair = form.cross(target.squares[i : i + 1], target.squares[j], inner, across).value
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
    if not target.exact:
        return NearZero(HOLES[-1], True)
    length = target.squares.sqrt().hi
    size = float(energy(form, target).sqrt().hi[0])
    if isinstance(form, SmoothForm):  # |GELU(z)| ≤ |z|
        size = min(size, ROOM * float((target.outer.magnitude * length).sum()))
    for radius in BLOWN:
        series = series_at_zero(form, target, radius, size)
        found = None if series is None else blown_up(series, target, radius, symmetric(form))
        if found is not None and found.proved:
            return NearZero(radius, True, blown=found)
    return NearZero(HOLES[-1], False)


def beyond_reach(form: SmoothForm | PolynomialForm, target: SmoothTarget, reach: float) -> Blown | None:
    """Everything beyond the ball that is searched, where that can be known: of polynomials."""
    if not isinstance(form, PolynomialForm) or not target.exact:
        return None
    series = series_at_infinity(form, target)
    found = None if series is None else blown_up(series, target, reach, symmetric(form))
    return found if found is not None and found.proved else None


def symmetric(form: SmoothForm | PolynomialForm) -> bool:
    """Whether w and −w are one function (or a and −a with them)."""
    return form.odd or (isinstance(form, PolynomialForm) and not any(form.coefficients[1::2]))


def limit_at_zero(form: SmoothForm | PolynomialForm, target: SmoothTarget) -> Intervals:
    """‖E[yx]‖², what linear functions take from the loss: the limit a → ∞, w → 0, where σ(0) = 0 and σ′(0) ≠ 0."""
    at = SmoothSystem(form, target, 1.0).state(Intervals.exact(np.zeros((1, target.rank))))
    square = Intervals.exact(np.zeros(1))
    for part in at.g:
        square = square + part.square()
    return square / at.own.first
