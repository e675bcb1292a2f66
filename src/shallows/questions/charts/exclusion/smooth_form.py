"""Activations as h + ℓz + Σ αᵢ ψ_{λᵢ}(z) (or χ, or GELU's gate), with proved bounds on what is left out.

The logistic function is exactly a mixture of normal distributions, over the law of Kolmogorov and Smirnov (D. Andrews
and C. Mallows, JRSS B 36, 1974); a few of them come near (J. Monahan and L. Stefanski, 1992). tanh, sigmoid and
softplus take their kernels from such a mixture, in closed form (`pair_functions`), widened by bounds: with e = σ − σ̃
and ‖·‖ the root mean square,

    |E σ⁽ⁱ⁾τ⁽ʲ⁾ − E σ̃⁽ⁱ⁾τ̃⁽ʲ⁾|  ≤  ‖σ⁽ⁱ⁾‖‖e⁽ʲ⁾‖ + ‖e⁽ⁱ⁾‖(‖τ⁽ʲ⁾‖ + ‖e⁽ʲ⁾‖),        ∂_S = ½ σ″,   ∂_C = σ′τ′.

erf and GELU are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import erf

from shallows.mathematics.exclusion.intervals import Intervals, up
from shallows.model.activations import Activation, PolynomialActivation, Smooth
from shallows.model.smooth_functions import NAMED
from shallows.questions.charts.exclusion.pair_functions import (
    Cross,
    CrossForm,
    Own,
    OwnForm,
    arccosine,
    arcsine,
    each,
    gaussian_gate,
    own_arccosine,
    own_arcsine,
    own_gaussian_gate,
    spread_out,
    total,
)
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class Logistic:
    """1/(1 + e^{−z}) − ½ ≈ ½ Σ αᵢ ψ_{λᵢ}(z), with bounds on the error and its first four derivatives.

    `constant` bounds |Σ αᵢ λᵢ/√(2π) − log 2|, what the integral (softplus) is off by at 0. The tests prove the bounds,
    by Taylor series in ball arithmetic over the line.
    """

    widths: tuple[float, ...]
    weights: tuple[float, ...]
    errors: tuple[float, ...]
    constant: float


#: Five terms to search with, eleven to prove with: least squares on the function and four derivatives.
COARSE = Logistic(
    (0.8419026832779983, 1.1576554047869596, 1.601527369591809, 2.2563405622978716, 3.236735131316715),
    (0.023942048274014322, 0.2201161883223498, 0.4341995450413486, 0.27977583379420595, 0.04196654174674059),
    (2.7e-6, 2.6e-6, 3.5e-6, 1.5e-5, 7.5e-5),
    7e-8,
)
#: The same least squares; errors as the tests prove them.
FINE = Logistic(
    (
        0.6086765257903536,
        0.7431826587731282,
        0.8963238226484016,
        1.0797327201663391,
        1.304286086360901,
        1.582631233804293,
        1.929869846811183,
        2.363615261531665,
        2.906291164578555,
        3.595422229217302,
        4.521992209494255,
    ),
    (
        7.464616042109744e-05,
        0.0028551547844791747,
        0.02521054793196076,
        0.09412864149433925,
        0.19381958752627437,
        0.2544355549442226,
        0.22873406244051409,
        0.13986039846329193,
        0.05172789474716813,
        0.008786196254501114,
        0.0003673152983889897,
    ),
    (2.3e-10, 1.6e-10, 1.6e-10, 5.5e-10, 4.6e-9),
    1e-12,
)
#: Bounds on |s|, |s′|, …, |s⁗| for s = logistic − ½: polynomials of tanh, whose largest values these are, rounded up.
LOGISTIC_BOUNDS = (0.5, 0.25, 0.09623, 0.125, 0.12769)


@dataclass(frozen=True, eq=False)
class SmoothForm:
    """h + ℓz + Σ αᵢ φᵢ(z): kernels over boxes. `bounds` and `errors` are of the sum and its derivatives, up to four;
    `growth` are the slopes (of the sum, of its error) that come beside the first of each, times |z|."""

    name: str
    constant: float
    linear: float
    odd: bool
    weights: Array
    squares: Array
    pair: CrossForm
    alone: OwnForm
    bounds: tuple[float, ...] = (0.0,) * 5
    errors: tuple[float, ...] = (0.0,) * 5
    growth: tuple[float, float] = (0.0, 0.0)

    @property
    def at_zero(self) -> bool:
        """Whether σ(0) = 0: then w = 0 is the zero function, whatever the outer weight."""
        return self.constant == 0 and (self.odd or self.name == "gelu")

    def _pairs(self) -> tuple[Intervals, Array, Array]:
        """α_iα_l, λ_i², λ_l² over all pairs."""
        i, j = (index.ravel() for index in np.indices((len(self.weights), len(self.weights))))
        return Intervals.exact(self.weights[i]) * self.weights[j], self.squares[i], self.squares[j]

    def cross(self, S: Intervals, T: Intervals, C: Intervals, X: Intervals) -> Cross:
        """F(S, C) at norm² T (one interval), where ST − C² = X."""
        weight, la, mu = self._pairs()
        pairs, m = len(la), len(S)
        first, second = each(Intervals.exact(la), m), each(Intervals.exact(mu), m)
        s, c, x = (spread_out(part, pairs) for part in (S, C, X))
        A, B = s + first, T + second
        D = first * B + second * s + x
        factor = each(weight, m)
        found = self.pair(s, T, c, x) if self.pair is gaussian_gate else self.pair(A, B, c, D)
        parts = [total(part * factor, pairs) for part in found.parts()]
        parts[0] = parts[0] + C * self.linear**2 + self.constant**2
        parts[2] = parts[2] + self.linear**2
        if any(self.errors):
            s0, t0 = S.sqrt().hi, T.sqrt().hi
            rows = ((0, 0, 1.0), (2, 0, 0.5), (1, 1, 1.0), (4, 0, 0.25), (3, 1, 0.5), (2, 2, 1.0))
            parts = [
                _widened(part, self._error(i, j, s0, t0) * f)
                for part, (i, j, f) in zip(parts, rows, strict=True)
            ]
        return Cross(*parts)

    def own(self, S: Intervals) -> Own:
        """K and its derivatives by S."""
        weight, la, mu = self._pairs()
        pairs, m = len(la), len(S)
        first, second = each(Intervals.exact(la), m), each(Intervals.exact(mu), m)
        s = spread_out(S, pairs)
        D = first * second + (first + second) * s
        factor = each(weight, m)
        found = self.alone(s + first, s + second, s, D, first, second).parts()
        parts = [total(part * factor, pairs) for part in found]
        parts[0] = parts[0] + S * self.linear**2 + self.constant**2
        parts[1] = parts[1] + self.linear**2
        if any(self.errors):
            s0 = S.sqrt().hi

            def off(i: int, j: int) -> Array:
                return self._error(i, j, s0, s0)

            parts[0] = _widened(parts[0], off(0, 0))
            parts[1] = _widened(parts[1], off(1, 1) + off(2, 0))
            parts[2] = _widened(parts[2], 0.5 * off(4, 0) + 2.0 * off(3, 1) + 1.5 * off(2, 2))
        return Own(*parts)

    def _error(self, i: int, j: int, s: Any, t: Any) -> Array:
        """A bound on |E σ⁽ⁱ⁾τ⁽ʲ⁾ − E σ̃⁽ⁱ⁾τ̃⁽ʲ⁾|, or with i and j the other way round, norms s and t.

        Where the sum is odd, it and its second derivative vanish at 0: their root mean squares are at most r times the
        bound on the next derivative, and so are those of the error. Small neurons are then known as well as large ones.
        """

        def of(bounds: tuple[float, ...], growth: float, k: int, r: Any) -> Any:
            if self.pair is arcsine and k in (0, 2):
                return np.minimum(bounds[k], bounds[k + 1] * r)
            return bounds[k] + (growth * r if k == 0 else 0.0)

        def size(k: int, r: Any) -> Any:
            return of(self.bounds, self.growth[0], k, r)

        def rest(k: int, r: Any) -> Any:
            return of(self.errors, self.growth[1], k, r)

        return np.asarray(size(i, s) * rest(j, t) + rest(i, s) * (size(j, t) + rest(j, t)))


def _widened(part: Intervals, radius: Array) -> Intervals:
    wide = up(up(up(up(radius))))
    return part + Intervals(-wide, wide)


def _of_logistic(name: str, law: Logistic) -> SmoothForm:
    """sigmoid = ½ + s, tanh(z) = 2 s(2z), softplus = z/2 + log 2 + ∫₀ s."""
    weights, widths = np.array(law.weights), np.array(law.widths)
    if name == "softplus":
        bounds = (0.6932, *LOGISTIC_BOUNDS[:4])
        errors = (law.constant, *law.errors[:4])
        return SmoothForm(
            name,
            0.0,
            0.5,
            False,
            weights,
            widths**2,
            arccosine,
            own_arccosine,
            bounds,
            errors,
            (0.5, law.errors[0]),
        )
    double = name == "tanh"
    scale = [2.0 * 2.0**k if double else 1.0 for k in range(5)]
    sizes = tuple(b * f for b, f in zip(LOGISTIC_BOUNDS, scale, strict=True))
    rests = tuple(e * f for e, f in zip(law.errors, scale, strict=True))
    weights, widths = (weights, widths / 2) if double else (weights / 2, widths)
    constant = 0.0 if double else 0.5
    return SmoothForm(name, constant, 0.0, double, weights, widths**2, arcsine, own_arcsine, sizes, rests)


@cache
def named_form(name: str, fine: bool) -> SmoothForm:
    """The form of one of erf, tanh, sigmoid, softplus, gelu."""
    one = np.ones(1)
    if name == "erf":
        return SmoothForm(name, 0.0, 0.0, True, one, 0.5 * one, arcsine, own_arcsine)
    if name == "gelu":
        return SmoothForm(name, 0.0, 0.5, False, one, one, gaussian_gate, own_gaussian_gate)
    return _of_logistic(name, FINE if fine else COARSE)


#: Activations by name that have a form.
FORMS = ("erf", "tanh", "sigmoid", "softplus", "gelu")


def form_name(activation: Activation) -> str | None:
    """Which of them a `Smooth` activation is; None where it is none."""
    if not isinstance(activation, Smooth):
        return None
    known = [name for name in FORMS if NAMED[name][0] is activation.function]
    if known:
        return known[0]
    return "erf" if activation.function is erf else None


def form_of(activation: Activation, fine: bool) -> SmoothForm | PolynomialForm | None:
    """The form of an activation; None where there is none."""
    if isinstance(activation, PolynomialActivation):
        return PolynomialForm.of(activation.coefficients)
    name = form_name(activation)
    return None if name is None else named_form(name, fine)
