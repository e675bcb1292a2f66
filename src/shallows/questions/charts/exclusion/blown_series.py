"""c and K of one neuron as series around w = 0, or (polynomials) around infinity: w = tu, or w = u/t.

With N = ‖u‖² and x = u·v the parts of c of degree d in w are, by Taylor's series of σ and Hermite's of the teacher,

    c_d(u) = Σ_j b_j Σ_{2p+k=d} (σ⁽ᵈ⁾(0)/(k! p! 2ᵖ)) κ_k(T_j) Nᵖ x_jᵏ,        κ_k(T) = E σ⁽ᵏ⁾(√T z).

Polynomials end there. Of GELU σ − Σ_{d<n} is at most |σ⁽ⁿ⁾(0)zⁿ|/n! (its derivatives alternate), and so is that of its
derivatives: the rest of c is at most r = Y·|σ⁽ⁿ⁾(0)|/n!·√((2n − 1)!!)·‖w‖ⁿ with Y² = E y², its derivative by w at most
n r/‖w‖ in any direction, and so on (Cauchy, Schwarz and Hölder).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import factorial, prod

import numpy as np
from flint import arb, arb_series, ctx
from numpy.typing import NDArray

from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.mathematics.exclusion.rounding import ROOM
from shallows.questions.charts.exclusion.gate_moments import gate_moment, gate_supremum
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm, enclosed
from shallows.questions.charts.exclusion.smooth_form import SmoothForm
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget

#: The first degree of GELU's series that is left out, of c and (in S) of K.
REST, OWN_REST = 14, 16


@dataclass(frozen=True, eq=False)
class BlownSeries:
    """log J = 2μ log|t| + 2 log G − log k: G = Σ tᵉNᵖ Σ_j coefficient_j x_jᵏ, k = Σ tᵉNᵖ coefficient.

    The slope of log J by t is divided by t^`divided`, exactly. `rest` is (n, m, size): G is off by size·tⁿ⁻ᵐN^{n/2};
    `own_rest` (e, p, size), `largest` is the S = ‖w‖² up to which that holds. `inverted` says that w = u/t. Where G
    begins with λN, `level` is λ: the slopes by u are then divided by tʳ, too (those of that part are zero on spheres).
    `pole` is a direction in which all equations hold at t = 0.
    """

    gain: int
    divided: int
    pull: list[tuple[int, int, int, Intervals]]
    own: list[tuple[int, int, Intervals]]
    inverted: bool = False
    rest: tuple[int, int, float] | None = None
    own_rest: tuple[int, int, float] | None = None
    largest: float = np.inf
    lowest: tuple[int, int] = (0, 0)
    level: Intervals | None = None
    pole: list[Intervals] | None = None

    @cached_property
    def e(self) -> NDArray[np.intp]:
        """Exponents of t in G, term by term."""
        return np.array([term[0] for term in self.pull], dtype=np.intp)

    @cached_property
    def p(self) -> NDArray[np.intp]:
        """Those of N."""
        return np.array([term[1] for term in self.pull], dtype=np.intp)

    @cached_property
    def k(self) -> NDArray[np.intp]:
        """Those of x."""
        return np.array([term[2] for term in self.pull], dtype=np.intp)

    @cached_property
    def coefficients(self) -> Intervals:
        """(terms, neurons)."""
        return Intervals.stack([term[3] for term in self.pull], axis=0)

    @cached_property
    def own_arrays(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Intervals]:
        """Exponents of t and N in k, and coefficients."""
        e, p = (np.array([term[i] for term in self.own], dtype=np.intp) for i in range(2))
        return e, p, Intervals.stack([term[2] for term in self.own], axis=0)

    @property
    def highest(self) -> int:
        """The largest exponent of t."""
        return int(max(self.e.max(), self.own_arrays[0].max()))

    @property
    def shift(self) -> int:
        """a = c/K is t to this power, times G/k."""
        m, twice = self.lowest
        return twice - m if self.inverted else m - twice


def series_at_zero(
    form: SmoothForm | PolynomialForm, target: SmoothTarget, radius: float, size: float
) -> BlownSeries | None:
    """Around w = 0, for ‖w‖ ≤ √3.3·radius; E y² ≤ `size`². None where all that is known of c vanishes."""
    powers = form.powers() if isinstance(form, PolynomialForm) else None
    degrees = [d for d in _degrees(form) if not _vanishes(target, d)]
    if not degrees:
        return None
    low, order = degrees[0], _order(form)
    pull = [(d - low, p, k, table) for d in degrees for p, k, table in _parts(form, target, d)]
    if powers is not None:
        own = [(2 * (p - order), p, enclosed(x)) for p, x in enumerate(powers) if x]
        rest, own_rest, largest = None, None, np.inf
    else:
        largest = 3.3 * radius**2
        own, own_rest = _gate_own(largest)
        n = REST
        load = gate_supremum(n) / factorial(n) * float(prod(range(1, 2 * n, 2))) ** 0.5
        rest = (n, low, ROOM * load * size)
    divided = 0
    if low == order:
        divided = 1 if low + 1 in degrees else 2
    return BlownSeries(
        low - order,
        divided,
        pull,
        own,
        False,
        rest,
        own_rest,
        largest,
        lowest=(low, 2 * order),
        level=_level(form, target, low, low - order),
        pole=_pole(form, target) if low == 1 and divided == 1 else None,
    )


def series_at_infinity(form: PolynomialForm, target: SmoothTarget) -> BlownSeries | None:
    """Around infinity, of a polynomial."""
    degrees = [d for d in _degrees(form) if not _vanishes(target, d)]
    if not degrees:
        return None
    high, powers = degrees[-1], form.powers()
    top = len(powers) - 1
    pull = [(high - d, p, k, table) for d in degrees for p, k, table in _parts(form, target, d)]
    own = [(2 * (top - p), p, enclosed(x)) for p, x in enumerate(powers) if x]
    divided = 0
    if high == top:
        divided = 1 if high - 1 in degrees else 2
    return BlownSeries(
        top - high,
        divided,
        pull,
        own,
        True,
        lowest=(high, 2 * top),
        level=_level(form, target, high, top - high),
    )


def _degrees(form: SmoothForm | PolynomialForm) -> list[int]:
    """Degrees that σ has."""
    if isinstance(form, PolynomialForm):
        return [d for d, c in enumerate(form.coefficients) if c]
    return [1, *range(2, REST, 2)]


def _order(form: SmoothForm | PolynomialForm) -> int:
    return _degrees(form)[0]


def _vanishes(target: SmoothTarget, degree: int) -> bool:
    """Whether Σ b v^⊗d is zero over the neurons of each norm, over Q: then so is the part of c of this degree."""
    sums: dict[Fraction, dict[tuple[int, ...], Fraction]] = {}
    for v, norm, b in zip(target.images, target.norms, target.exact, strict=True):
        if not norm and degree % 2 == 0:
            return False
        table = sums.setdefault(norm, {})
        for index in _indices(len(v), degree):
            table[index] = table.get(index, Fraction(0)) + b * prod((v[i] for i in index), start=Fraction(1))
    return not any(value for table in sums.values() for value in table.values())


def _indices(n: int, degree: int, first: int = 0) -> Iterator[tuple[int, ...]]:
    """Sorted tuples of `degree` numbers below n."""
    if degree == 0:
        yield ()
        return
    for i in range(first, n):
        for rest in _indices(n, degree - 1, i):
            yield (i, *rest)


def _parts(
    form: SmoothForm | PolynomialForm, target: SmoothTarget, degree: int
) -> Iterator[tuple[int, int, Intervals]]:
    """(p, k, coefficients of the teacher's neurons) of c_d."""
    if isinstance(form, PolynomialForm):
        own = enclosed(form.coefficients[degree] * factorial(degree))
    else:
        own = gate_moment(Intervals.exact(np.zeros(1)), degree)[0]
    for k in range(degree % 2, degree + 1, 2):
        p = (degree - k) // 2
        table = _moments(form, target.squares, k) * target.outer * own
        yield p, k, table / float(factorial(k) * factorial(p) * 2**p)


def _moments(form: SmoothForm | PolynomialForm, T: Intervals, k: int) -> Intervals:
    """E σ⁽ᵏ⁾(√T z) of the teacher's neurons."""
    if not isinstance(form, PolynomialForm):
        return gate_moment(T, k)
    total = Intervals.exact(np.zeros(len(T)))
    power = Intervals.exact(np.ones(len(T)))
    for h in range((len(form.coefficients) - 1 - k) // 2 + 1):
        i = k + 2 * h
        c = form.coefficients[i] * Fraction(factorial(i), 2**h * factorial(h))
        total = total + power * enclosed(c)
        power = power * T
    return total


def _pole(form: SmoothForm | PolynomialForm, target: SmoothTarget) -> list[Intervals] | None:
    """E[yx], in coordinates, where the part of degree 2 vanishes there, over Q: then so do all equations at t = 0."""
    if not isinstance(form, PolynomialForm):
        return None
    m, norms = range(len(target.exact)), target.norms
    first = [b * _exact_moment(form, T, 1) for b, T in zip(target.exact, norms, strict=True)]
    along = [sum((first[j] * target.gram[j][i] for j in m), Fraction(0)) for i in m]
    square = sum((first[i] * along[i] for i in m), Fraction(0))
    second = sum(
        (
            b * (_exact_moment(form, norms[i], 2) * along[i] ** 2 + _exact_moment(form, norms[i], 0) * square)
            for i, b in enumerate(target.exact)
        ),
        Fraction(0),
    )
    if second or not square:
        return None
    g = [Intervals.exact(0.0)] * target.rank
    for j in m:
        g = [g[k] + enclosed(first[j]) * target.vectors[j, k] for k in range(target.rank)]
    return g


def _level(
    form: SmoothForm | PolynomialForm, target: SmoothTarget, degree: int, gain: int
) -> Intervals | None:
    """λ where the part of degree 2 of a polynomial neuron's c is λN, decided over Q: GBG = μG for the teacher's Gram
    matrix G and B = diag(b κ₂(T)), and the neurons span everything. None where it is not."""
    full = target.rank > 1 and target.codimension == 0
    if degree != 2 or gain or not full or not isinstance(form, PolynomialForm):
        return None
    G, norms, m = target.gram, target.norms, len(target.exact)
    by = [b * _exact_moment(form, T, 2) for b, T in zip(target.exact, norms, strict=True)]
    first = next(i for i in range(m) if norms[i])
    mu = sum((G[first][j] * by[j] * G[j][first] for j in range(m)), Fraction(0)) / norms[first]
    for i in range(m):
        for k in range(m):
            if sum((G[i][j] * by[j] * G[j][k] for j in range(m)), Fraction(0)) != mu * G[i][k]:
                return None
    constant = sum(
        (b * _exact_moment(form, T, 0) for b, T in zip(target.exact, norms, strict=True)), Fraction(0)
    )
    return enclosed(form.coefficients[2] * (constant + mu))


def _exact_moment(form: PolynomialForm, T: Fraction, k: int) -> Fraction:
    """E σ⁽ᵏ⁾(√T z), of a polynomial over Q."""
    total = Fraction(0)
    for h in range((len(form.coefficients) - 1 - k) // 2 + 1):
        i = k + 2 * h
        total += form.coefficients[i] * Fraction(factorial(i), 2**h * factorial(h)) * T**h
    return total


def _gate_own(largest: float) -> tuple[list[tuple[int, int, Intervals]], tuple[int, int, float]]:
    """K of GELU in powers of S: closed form, as a series at 0 and, for the rest, around all of [0, largest]."""
    cap, ctx.cap = ctx.cap, OWN_REST + 1
    try:
        at = _gate_series(arb(0))
        wide = _gate_series(arb(0).union(arb(largest)))[OWN_REST]
    finally:
        ctx.cap = cap
    table = of_arb(np.array([at[p] for p in range(OWN_REST)], dtype=object))
    own = [(2 * (p - 1), p, table[p]) for p in range(1, OWN_REST)]
    size = float(abs(wide).upper()) * ROOM
    return own, (2 * (OWN_REST - 1), OWN_REST, size)


def _gate_series(place: arb) -> arb_series:
    """S/4 + (√D + S arcsin(S/A) − 2√D/A + 1/√D)/2π with A = 1 + S and D = 1 + 2S."""
    S = arb_series([place, 1])
    A, D = 1 + S, 1 + 2 * S
    q = D.sqrt()
    return S / 4 + (q + S * (S / A).asin() - 2 * q / A + 1 / q) / (2 * arb.pi())
