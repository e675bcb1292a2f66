"""Where the set c(w) = 0 of a polynomial neuron crosses itself: c = 0 and ∇c = 0 at a rational w, decided over Q.

There a = c/K vanishes, and the equations of a trained neuron hold: such a zero of them is the zero function, no point
of its own. Intervals never prove that a number is zero; a rational candidate in the box where the zero is alone does.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb

from shallows.mathematics.balls.systems import precision, rational
from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm, falling
from shallows.questions.charts.exclusion.relu_target import BITS
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget
from shallows.questions.charts.exclusion.span import product

#: Denominators of candidates: teachers whose weights have a few digits cross at such points.
LARGEST_DENOMINATOR = 10_000


def is_crossing(form: PolynomialForm, target: SmoothTarget, box: Intervals, domain: Intervals) -> bool:
    """Whether the only zero of the domain (in coordinates of the span) is a rational w with c = 0 and ∇c = 0."""
    middle = target.weight_vector([float(x) for x in box.mid])
    w = [Fraction(float(x.mid())).limit_denominator(LARGEST_DENOMINATOR) for x in middle]
    image = [sum((s * x for s, x in zip(line, w, strict=True)), Fraction(0)) for line in target.metric]
    S = product(w, w, target.metric)
    c, radial = Fraction(0), Fraction(0)
    slope = [Fraction(0)] * len(w)
    for b, T, v in zip(target.exact, target.norms, target.images, strict=True):
        C = sum((x * y for x, y in zip(w, v, strict=True)), Fraction(0))
        c += b * _derivative(form, S, T, C, 0, 0)
        radial += b * _derivative(form, S, T, C, 1, 0)
        along = b * _derivative(form, S, T, C, 0, 1)
        slope = [x + along * y for x, y in zip(slope, v, strict=True)]
    if c or any(x + 2 * radial * y for x, y in zip(slope, image, strict=True)):
        return False
    with precision(BITS):
        rows = target.frame[: len(box.mid)]
        place = [sum((x * arb(rational(y)) for x, y in zip(row, image, strict=True)), arb(0)) for row in rows]
        here = of_arb(np.array(place, dtype=object))
    return bool(np.all(here.within(domain)))


def _derivative(
    form: PolynomialForm, S: Fraction, T: Fraction, C: Fraction, by_s: int, by_c: int
) -> Fraction:
    """∂_Sᵃ∂_Cᵇ F(S, C) at norm² T."""
    total = Fraction(0)
    for (p, q, k), value in form.terms().items():
        if p >= by_s and k >= by_c:
            factor = falling(p, by_s) * falling(k, by_c)
            total += value * factor * S ** (p - by_s) * T**q * C ** (k - by_c)
    return total
