"""The ball around w = 0 with a trained and σ odd: what J = c²/K, the part of the loss that is taken, does in there.

With w = tu, κ_k = E σ⁽ᵏ⁾(tz), r = κ₃t²/κ₁ and Q_k(u) = Σ b (u·v)ᵏ E τ⁽ᵏ⁾, Hermite's expansion of both sides is

    c/(κ₁t) = Q₁ + r Q₃/6 + …,      K/(κ₁t)² = 1 + r²/6 + …,      ∂ log J/∂ log t = (r_L/3) H,   r_L = ∂r/∂ log t,
    H = Q₃/(Q₁ + r Q₃/6 + …) − r/(1 + r²/6 + …).

Nothing cancels, however small the teacher is: H < 0 means that J grows with t. All that is left out are tails from the
fifth order on: Σ_{k≥m} a_k² ≤ E f⁽ᵐ⁾²/m! for the coefficients a_k of f. At each t critical directions are near g = ∇Q₁.
Where H changes its sign, log J is concave in (log t, u): there is exactly one critical point, a minimum of the loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.exclusion.intervals import PI, Intervals
from shallows.mathematics.exclusion.rounding import ROOM
from shallows.questions.charts.exclusion.blown_up import Blown
from shallows.questions.charts.exclusion.smooth_form import SmoothForm
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: sup |σ⁽ᵏ⁾|, k = 0 … 7: polynomials of tanh; Hermite's polynomials times e^{−z²}. The tests find these maxima again.
SUPREMA = {
    "tanh": (1.0, 1.0, 0.77, 2.0, 4.09, 16.0, 52.3, 272.0),
    "erf": (1.0, 1.13, 0.97, 2.26, 4.41, 13.55, 36.92, 135.5),
}
#: Shells between norms t and STEP·t, so many; inside of the last one is a ball. 1.05⁻⁶⁴⁰ is 3e-14.
STEP, SHELLS = 1.05, 640
#: Shells again, where H may vanish: a first pass finds them to a twentieth, this one as well as H is known.
AGAIN = 4096
#: The sine of the angle to g up to which directions are bounded.
MOST_SINE = 0.5


@dataclass(frozen=True, eq=False)
class Inner:
    """The one critical point in the hole: its norm lies between `low` and `high`, within `angle` of ±g.

    log J is there at most so much larger than in the middle of these, in the direction of g: `gain`.
    """

    low: float
    high: float
    angle: float
    direction: Array
    gain: float


@dataclass(frozen=True, eq=False)
class NearZero:
    """How far J is understood around w = 0, whether at all, and the critical point in there, if there is one.

    Where the ball was searched in (t, u), `blown` has its points and limits.
    """

    radius: float
    proved: bool
    inner: Inner | None = None
    blown: Blown | None = None


class _Shells:
    """Bounds over shells low ≤ t ≤ high."""

    def __init__(
        self, form: SmoothForm, target: SmoothTarget, low: Array, high: Array, *, together: bool = False
    ) -> None:
        self.form, self.sup = form, SUPREMA[form.name]
        self.high = high
        T, b = target.squares, target.outer
        first, third = moments(form, T)
        g = [Intervals.exact(np.zeros(1))[0]] * target.rank
        for j in range(len(target.exact)):
            g = [g[k] + b[j] * first[j] * target.vectors[j, k] for k in range(target.rank)]
        square = sum((part.square() for part in g), Intervals.exact(np.zeros(1))[0])
        self.size = square.meet(Intervals(0.0, np.inf)).sqrt()
        self.direction = np.array([float(part.mid) for part in g]) / max(float(self.size.mid), TINY)
        self.S = Intervals(low, high).square()
        self.one, self.three = moments(form, self.S)
        self.r = (self.three * self.S / self.one).meet(Intervals(-np.inf, 0.0))
        self._loads(target, third)
        self.angle = self._angle()
        if together:
            self.angle = np.full_like(high, self.angle.max())
        self.first = self.size * Intervals(1 - self.angle**2, np.ones_like(self.angle))
        self.cubic = self._cubic(target, g, third)

    def _loads(self, target: SmoothTarget, third: Intervals) -> None:
        """Σ|b|‖v‖ᵏ times what the teacher's neurons have from some order on."""
        v, b, five = target.squares.sqrt().hi, target.outer.magnitude, self.sup[5]
        self.q3 = ROOM * float(np.sum(b * third.magnitude * v**3))
        self.tail5 = ROOM * float(np.sum(b * np.minimum(1.0, v**5 * five / 120**0.5)))
        self.tail4 = ROOM * float(np.sum(b * v * np.minimum(self.sup[1], v**4 * five / 24**0.5)))
        self.tail3 = ROOM * float(np.sum(b * v**2 * np.minimum(self.sup[2], v**3 * five / 6**0.5)))

    def _angle(self) -> Array:
        """Between g and a critical direction; infinite where there is no bound."""
        t, five = self.high, self.sup[5]
        pull = -self.r.lo / 2 * self.q3 + t**4 * five / 24**0.5 * self.tail4 / self.one.lo
        sine = ROOM * pull / self.size.lo
        return np.where(sine < MOST_SINE, ROOM * np.arcsin(np.minimum(sine, MOST_SINE)), np.inf)

    def _cubic(self, target: SmoothTarget, g: list[Intervals], third: Intervals) -> Intervals:
        """Q₃ over all directions within the angle."""
        total = Intervals.exact(np.zeros(len(self.high)))
        lengths = target.squares.sqrt().hi
        for j in range(len(target.exact)):
            along = sum((g[k] * target.vectors[j, k] for k in range(target.rank)), Intervals(0.0, 0.0))
            wide = ROOM * np.minimum(self.angle, 2.0) * lengths[j]
            cosine = along / self.size + Intervals(-wide, wide)
            cosine = cosine.meet(Intervals(-ROOM * lengths[j], ROOM * lengths[j]))
            total = total + cosine * cosine.square() * (target.outer[j] * third[j])
        return total

    def radial(self) -> Intervals:
        """H."""
        t, (five, six) = self.high, self.sup[5:7]
        k1, k3 = self.one.lo, -self.three.hi
        shift = 2 - self.r - Intervals(-1.0, 1.0) * (ROOM * t * t * five / k3)
        least = np.where(shift.lo > 0, shift.lo, np.nan)
        more = 5 * five + six * t
        e1 = ROOM * 6 * t**2 * (more + five) / 120**0.5 * self.tail5 / (k3 * least)
        e2 = self._tail()
        e3 = ROOM * 3 * t**6 / (120 * k1 * k3 * least) * 2 * five * (more + five)
        e4 = ROOM * t**8 * five**2 / (120 * k1**2)
        top = self.cubic + Intervals(-e1, e1)
        bottom = self.first + self.r * self.cubic / 6.0 + Intervals(-e2, e2)
        own = self.r.square() / 6.0 + Intervals(np.ones_like(t), 1 + e4)
        found = top / bottom - (self.r + Intervals(-e3, e3)) / own
        known = np.isfinite(found.lo) & np.isfinite(found.hi) & (bottom.lo > 0)
        return Intervals(np.where(known, found.lo, -np.inf), np.where(known, found.hi, np.inf))

    def _tail(self) -> Array:
        """|c/(κ₁t) − Q₁ − rQ₃/6|."""
        return np.asarray(ROOM * self.high**4 * self.sup[5] / 120**0.5 * self.tail5 / self.one.lo)

    def concave(self) -> bool:
        """Whether log J is concave in (log t, u) over all these shells: −Ψ_LL · −Ψ_uu > Ψ_Lu²."""
        t, (five, six) = self.high, self.sup[5:7]
        seven = 3**0.5 * self.sup[7]  # E z⁴ = 3t⁴
        k1, k3, r = self.one.lo, -self.three.hi, self.r
        off = ROOM * t * t * five / k3
        slope = 2 - r - Intervals(-off, off)  # r_L/r
        bend = slope.square() + self._second_of_r(off)  # r_LL/r
        unit = Intervals(-1.0, 1.0)
        part = t**4 * self.tail5 / (120**0.5 * k1)
        d1 = ROOM * part * (6 * five + six * t)
        d2 = ROOM * part * (25 * five + 11 * six * t + seven * t * t + 3 * (6 * five + six * t))
        c = self.first + r * self.cubic / 6.0 + unit * self._tail()
        cl = r * slope * self.cubic / 6.0 + unit * d1
        cll = r * bend * self.cubic / 6.0 + unit * d2
        tail = ROOM * t**8 / (120 * k1**2) * (30 * five + 12 * six * t + seven * t * t) * 8 * five
        k = r.square() / 6.0 + 1.0 + unit * tail
        kl = r.square() * slope / 3.0 + unit * tail
        kll = r.square() * (slope.square() + bend) / 3.0 + unit * tail
        radial = (cll / c - (cl / c).square()) * 2.0 - kll / k + (kl / k).square()
        q = ROOM * (-r.lo) / 2 * self.q3
        rest = ROOM * t**4 * five / k1 * (self.tail3 / 6**0.5 + self.tail4 / 24**0.5)
        across = (self.first.lo - 3 * q - rest) / c.hi * 2  # −Ψ_uu ≥ 2(Q₁ − |r|·9Σ/6 − …)/c
        sideways = ROOM * (self.size.hi * self.angle + q + rest)
        mixed = q * slope.hi + ROOM * t**4 * (6 * five + six * t) / (24**0.5 * k1) * self.tail4
        cross = 2 * ROOM * (mixed / c.lo + cl.magnitude * sideways / c.lo**2)
        return bool(np.all((c.lo > 0) & (radial.hi < 0) & (across > 0) & (-radial.hi * across > cross**2)))

    def gain(self, length: float) -> float:
        """|Ψ_L| length + |Ψ_u| angle, Ψ = log J."""
        off = ROOM * self.high**2 * self.sup[5] / -self.three.hi
        radial = -self.r.lo * (2 - self.r.lo + off) / 3 * self.radial().magnitude
        q = -self.r.lo / 2 * self.q3 + self.high**4 * self.sup[5] / 24**0.5 * self.tail4 / self.one.lo
        low = self.first.lo - q - self._tail()
        across = 2 * (self.size.hi * self.angle + q) / low
        bound = float((ROOM**2 * (radial * length + across * self.angle)).max())
        return bound if np.all(low > 0) else np.inf

    def _second_of_r(self, off: Array) -> Intervals:
        """∂(r_L/r)/∂ log t = 2S(κ₅/κ₃)(1 + …) − r_L: each part is at most a few times `off`."""
        wide = ROOM * (2 * off + off**2 + self.high**4 * self.sup[7] / -self.three.hi)
        return Intervals(-wide, wide) - self.r * (2 - self.r + Intervals(-off, off))


def moments(form: SmoothForm, S: Intervals) -> tuple[Intervals, Intervals]:
    """E σ′ and E σ‴ at norm² S: of normal distributions, (2/√2π) Σ α (λ² + S)^(−½) and −(2/√2π) Σ α (λ² + S)^(−3/2)."""
    first = third = Intervals.exact(np.zeros(len(S)))
    for weight, square in zip(form.weights, form.squares, strict=True):
        A = S + float(square)
        root = float(weight) / A.sqrt()
        first, third = first + root, third + root / A
    scale = 2.0 / (PI * 2.0).sqrt()
    unit = Intervals(-1.0, 1.0)
    return first * scale + unit * form.errors[1], -(third * scale) + unit * form.errors[3]


def near_zero(form: SmoothForm, target: SmoothTarget, radii: tuple[float, ...]) -> NearZero:
    """The largest of the radii within which J is understood: it has no critical point there, or one."""
    best = NearZero(radii[-1], False)
    with np.errstate(all="ignore"):
        for radius in radii:
            found = _within(form, target, radius)
            if found.proved and found.radius >= radius:
                return found
            if found.proved and (not best.proved or found.radius > best.radius):
                best = found
    return best


def _within(form: SmoothForm, target: SmoothTarget, radius: float) -> NearZero:
    ends = np.append(0.0, radius * STEP ** np.arange(-float(SHELLS), 1.0))
    ends[-1] = radius
    H = _Shells(form, target, ends[:-1], ends[1:]).radial()
    open_ = np.flatnonzero(H.has_zero)
    if not len(open_):
        return NearZero(radius, True)
    if open_[0] == 0:
        return NearZero(radius, False)
    low, high = ends[open_[0]], ends[open_[-1] + 1]
    sign_changes = H.hi[open_[0] - 1] < 0 and open_[-1] + 1 < len(H.lo) and H.lo[open_[-1] + 1] > 0
    if not sign_changes:
        return NearZero(float(low), True)
    fine = np.linspace(low, high, AGAIN + 1)
    again = _Shells(form, target, fine[:-1], fine[1:], together=True)
    left = np.flatnonzero(again.radial().has_zero)
    if not len(left) or not again.concave():
        return NearZero(float(low), True)
    a, b = float(fine[left[0]]), float(fine[left[-1] + 1])
    narrow = np.linspace(a, b, 3)
    gain = _Shells(form, target, narrow[:-1], narrow[1:], together=True).gain(np.log(b / a))
    return NearZero(radius, True, Inner(a, b, float(again.angle.max()), again.direction, gain))
