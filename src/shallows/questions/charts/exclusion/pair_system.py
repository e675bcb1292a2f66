"""Two ReLU neurons in the plane over boxes of two angles: amplitudes are linear, and eliminated.

Neurons have directions θ and θ + δ, 0 ≤ δ ≤ π, and amplitudes s₁, s₂ = (p ± q)/2. With 2πκ(δ) = sin δ + (π−δ) cos δ and
c(θ) the correlation of a unit neuron with the teacher (in the form of `relu_target`, φ_ℓ the angles of its lines),

    2πc = π|g| cos(θ−γ) + 2 Σ ω_ℓ (|sin ψ| + arcsin(cos ψ) cos ψ),        ψ = θ − φ_ℓ,
    (½+κ)p = c₁ + c₂,    (½−κ)q = c₁ − c₂,    F₁ = κ′s₂ + c₁′ = 0,    F₂ = κ′s₁ − c₂′ = 0,

the derivatives of ½L by the amplitudes, and by the angles divided by −s₁ and s₂. κ goes on evenly beyond π, where the
neurons change places. As δ → 0, (F₁ + F₂)/δ tends to −(c + c″) = −(2/π) Σ ω|sin ψ|: near parallel neurons there is no
zero but where that vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import precision
from shallows.mathematics.exclusion.intervals import HALF_PI, PI, Intervals, of_arb
from shallows.mathematics.exclusion.system import Plain
from shallows.questions.charts.exclusion.relu_target import BITS, ReLUTarget

#: Neurons within this angle (in radians) of each other are left out where no test decides.
TUBE = 0.01
#: sin δ/δ is between 1 − δ²/6 and 1; used for angles up to this one.
SMALL = 1.0
#: Strips of directions and layers of angles (as shares of the tube) in which parallel neurons are examined.
STRIPS, LAYERS = 8192, (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, eq=False)
class Pull:
    """2πc, 2πc′ and 2πc″ over intervals of angles."""

    value: Intervals
    slope: Intervals
    bend: Intervals


class PlanarTarget:
    """c(θ) for a teacher whose span is a plane."""

    def __init__(self, target: ReLUTarget) -> None:
        from flint import arb

        with precision(BITS):
            angles = [arb.atan2(e[1], e[0]) for e in target.lines]
            size = (target.linear[0] ** 2 + target.linear[1] ** 2).sqrt()
            flat = all(x.is_zero() for x in target.linear)
            turned = arb(0) if flat else arb.atan2(target.linear[1], target.linear[0])
        self.lines = [of_arb(np.array([angle], dtype=object)) for angle in angles]
        self.weights = [of_arb(np.array([w], dtype=object)) * 2.0 for w in target.weights]
        self.linear = of_arb(np.array([size], dtype=object)) * PI
        self.turned = of_arb(np.array([turned], dtype=object))

    def __call__(self, theta: Intervals) -> Pull:
        """Over intervals (m,) of angles."""
        m = len(theta)
        tilt = theta - _wide(self.turned, m)
        g = _wide(self.linear, m)
        value, slope, bend = g * tilt.cos(), -(g * tilt.sin()), -(g * tilt.cos())
        for angle, weight in zip(self.lines, self.weights, strict=True):
            psi, w = theta - _wide(angle, m), _wide(weight, m)
            cosine, sine = psi.cos(), psi.sin()
            bent = _wave(psi, cosine)
            value = value + w * (sine.abs() + bent * cosine)
            slope = slope - w * (bent * sine)
            bend = bend + w * (sine.abs() - bent * cosine)
        return Pull(value, slope, bend)


class NeuronPairs(Plain):
    """(½+κ)p − c₁ − c₂, (½−κ)q − c₁ + c₂, F₁ − F₂ and F₁ + F₂, all times 2π; unknowns p, q, θ, δ."""

    n = 4

    def __init__(self, target: ReLUTarget, tube: float = TUBE) -> None:
        self.pull, self.tube = PlanarTarget(target), tube

    @property
    def split(self) -> tuple[int, ...]:
        """The angles."""
        return (2, 3)

    def region(self) -> Intervals:
        """All angles outside the tube; there |p| ≤ 2 max c/½ and |q| ≤ 2 max c/(½ − κ)."""
        circle = self.pull(Intervals(np.array([0.0]), np.array([7.0]))).value.magnitude[0]
        gap = (PI - kernel(Intervals.exact(np.array([self.tube]))).value).lo[0]
        return Intervals(
            np.array([-4 * circle, -4 * circle / gap, 0.0, self.tube]),
            np.array([4 * circle, 2 * circle / gap, (PI * 2.0).hi, PI.hi]),
        )

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """Values and derivatives."""
        p, q, theta, delta = (box[:, i] for i in range(4))
        one, two, k = self.pull(theta), self.pull(theta + delta), kernel(delta)
        plus, minus = PI + k.value, PI - k.value
        rise = _rise(one.value, two.value, delta, self.pull, theta, 1)
        turn = _rise(one.slope, two.slope, delta, self.pull, theta, 2)
        values = [
            plus * p - one.value - two.value,
            minus * q + rise,
            one.slope + two.slope - k.slope * q,
            k.slope * p - turn,
        ]
        if not derivative:
            return Intervals.stack(values), None
        none = p * 0.0
        rows = [
            [plus, none, -(one.slope + two.slope), k.slope * p - two.slope],
            [none, minus, turn_of(one.slope, two.slope, turn), two.slope - k.slope * q],
            [none, -k.slope, one.bend + two.bend, two.bend - k.bend * q],
            [k.slope, none, one.bend - two.bend, k.bend * p - two.bend],
        ]
        return Intervals.stack(values), Intervals.stack([Intervals.stack(row) for row in rows], axis=1)

    def contract(self, box: Intervals) -> Intervals:
        """p and q from the angles; nothing where (F₁ + F₂)/δ cannot vanish."""
        lo, hi = box.lo.copy(), box.hi.copy()
        theta, delta = box[:, 2], box[:, 3]
        one, two, k = self.pull(theta), self.pull(theta + delta), kernel(delta)
        rise = _rise(one.value, two.value, delta, self.pull, theta, 1)
        for i, found in ((0, (one.value + two.value) / (PI + k.value)), (1, -rise / (PI - k.value))):
            here = box[:, i].meet(found)
            lo[:, i], hi[:, i] = here.lo, here.hi
        lo[~self.may_vanish(theta, delta), 0] = np.inf
        return Intervals(lo, hi)

    def may_vanish(self, theta: Intervals, delta: Intervals) -> NDArray[np.bool_]:
        """Where (F₁ + F₂)/δ = −(π−δ)(sin δ/δ)p − 2πc″ is not proved to be different from zero; δ = 0 included."""
        one, two, k = self.pull(theta), self.pull(theta + delta), kernel(delta)
        p = (one.value + two.value) / (PI + k.value)
        between = self.pull(theta.hull(theta + delta)).bend
        ratio = (PI - delta) * _sine_ratio(delta) * p + between
        return np.asarray(ratio.has_zero | ~(delta.hi < SMALL))

    def nearly_parallel(self) -> float:
        """The share of directions θ in which neurons less than the tube apart are not proved to be no zero."""
        edges = np.linspace(0.0, (PI * 2.0).hi[()], STRIPS + 1)
        theta = Intervals(edges[:-1], edges[1:])
        open_ = np.zeros(STRIPS, bool)
        for low, high in pairwise(LAYERS):
            delta = Intervals(np.full(STRIPS, low * self.tube), np.full(STRIPS, high * self.tube))
            open_ |= self.may_vanish(theta, delta)
        return float(open_.mean())


def _wave(psi: Intervals, cosine: Intervals) -> Intervals:
    """arcsin(cos ψ) = ±(π/2 − |ψ − mπ|), + for even m: exact to rounding, where arcsin loses half the digits at ±1."""
    m = np.round(psi.mid / np.pi)
    away = (psi - PI * m).abs()
    sign = 1.0 - 2.0 * np.mod(m, 2.0)
    return Intervals(
        np.where(away.hi < np.pi, ((HALF_PI - away) * sign).lo, cosine.arcsin().lo),
        np.where(away.hi < np.pi, ((HALF_PI - away) * sign).hi, cosine.arcsin().hi),
    )


def turn_of(first: Intervals, second: Intervals, turn: Intervals) -> Intervals:
    """c₂′ − c₁′, from whichever bound is better."""
    return (second - first).meet(turn)


def _wide(x: Intervals, m: int) -> Intervals:
    return Intervals(np.broadcast_to(x.lo, (m,)), np.broadcast_to(x.hi, (m,)))


def _rise(
    first: Intervals, second: Intervals, delta: Intervals, pull: PlanarTarget, theta: Intervals, order: int
) -> Intervals:
    """c₂ − c₁ (order 1) or c₂′ − c₁′ (order 2), by the mean value theorem where the angle is small."""
    between = pull(theta.hull(theta + delta))
    slope = between.slope if order == 1 else between.bend
    return (second - first).meet(delta * slope)


@dataclass(frozen=True, eq=False)
class Kernel:
    """2πκ, 2πκ′ and 2πκ″."""

    value: Intervals
    slope: Intervals
    bend: Intervals


def kernel(delta: Intervals) -> Kernel:
    """With M = π − δ: sin|M| − |M| cos M, which grows with |M|; −M sin|M|; sin|M| + |M| cos M."""
    M = PI - delta
    size = M.abs()
    ends = [Intervals(end, end) for end in (size.lo, size.hi)]
    low, high = (end.sin() - end * end.cos() for end in ends)
    sine, cosine = size.sin(), size.cos()
    value = Intervals(np.maximum(low.lo, 0.0), high.hi)
    return Kernel(value, -(M * sine), sine + size * cosine)


def _sine_ratio(delta: Intervals) -> Intervals:
    """sin δ/δ between 1 − δ²/6 and 1, for small δ."""
    top = delta.magnitude
    low = (1.0 - Intervals.exact(top).square() / 6.0).lo
    return Intervals(np.maximum(low, -1.0), np.ones(len(top)))
