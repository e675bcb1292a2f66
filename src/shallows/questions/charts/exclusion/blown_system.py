"""The critical equations of J = c²/K in t and the direction u, w = tu or w = u/t, over boxes (see `blown_up`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import UNIT
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.rounding import ROOM, UNDERFLOW
from shallows.mathematics.exclusion.system import Plain
from shallows.questions.charts.exclusion.blown_series import BlownSeries
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget
from shallows.support.checks import Array


class BlownUp(Plain):
    """E₀ and E_i in (t, s) on one face of the cube, for ‖w‖ at most (w = tu) or at least (w = u/t) `bound`."""

    def __init__(
        self,
        series: BlownSeries,
        target: SmoothTarget,
        face: int,
        sign: int,
        bound: float,
        *,
        edge: bool = False,
    ) -> None:
        self.series, self.target, self.face, self.sign, self.bound = series, target, face, sign, bound
        self.dimension = target.rank + int(target.codimension > 0)
        self.edge = edge
        self.n = self.dimension - int(edge)
        self.free = [i for i in range(self.dimension) if i != face]

    def whole(self, box: Intervals) -> Intervals:
        """(t, s); on the edge t = 0."""
        if not self.edge:
            return box
        zero = np.zeros((len(box), 1))
        return Intervals(np.concatenate([zero, box.lo], axis=1), np.concatenate([zero, box.hi], axis=1))

    def direction(self, box: Intervals) -> list[Intervals]:
        """u, from (t, s)."""
        fixed = Intervals.exact(np.full(len(box), float(self.sign)))
        u = [fixed] * self.dimension
        for column, i in enumerate(self.free):
            u[i] = box[:, 1 + column]
        return u

    def contract(self, box: Intervals) -> Intervals:
        """Boxes beyond the bound hold nothing that is asked about."""
        if self.edge:
            return box
        t, N = box[:, 0], squared(self.direction(box))
        if self.series.inverted:
            far = N.hi * ROOM < self.bound**2 * np.maximum(t.lo, 0.0) ** 2
        else:
            far = N.lo * np.maximum(t.lo, 0.0) ** 2 > ROOM * self.bound**2
        return Intervals(np.where(far[:, None], np.inf, box.lo), box.hi)

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """Values and derivatives."""
        rows = self.jets(self.whole(box)).equations()
        skip = int(self.edge)
        values = Intervals.stack([row.value for row in rows[skip:]])
        if not derivative:
            return values, None
        return values, Intervals.stack([Intervals.stack(row.slope[skip:]) for row in rows[skip:]], axis=1)

    def jets(self, box: Intervals) -> Sums:
        """G, k and what else the equations are made of."""
        return Sums(self, box)


class Sums:
    """G, k, their derivatives and the equations over m boxes (t, s); all terms of a series in one array."""

    def __init__(self, system: BlownUp, box: Intervals) -> None:
        self.system, self.series = system, system.series
        self.free, self.t = system.free, box[:, 0]
        self.u = system.direction(box)
        self.N = squared(self.u)
        self.zero = Intervals.exact(np.zeros(len(box)))
        self.powers = _powers(self.t, self.series.highest)
        self._pull()
        self._own()

    def _times(self, exponents: NDArray[np.intp], factors: Array, shift: int) -> Intervals:
        """factor·t^{e − shift}, a row a term; where the factor is 0 the power does not matter."""
        return self.powers[np.maximum(exponents - shift, 0)] * factors[:, None]

    def _terms(self) -> tuple[Intervals, list[Intervals], list[list[Intervals]]]:
        """Σ_j coefficient_j Nᵖx_jᵏ of all terms, with gradients and Hessians by the free coordinates."""
        system, target = self.system, self.system.target
        m = len(self.free)
        v = [target.vectors[:, i][:, None] if i < target.rank else None for i in range(system.dimension)]
        x = Intervals.exact(np.zeros((len(target.exact), len(self.t))))
        for i in range(target.rank):
            x = x + self.u[i] * target.vectors[:, i][:, None]
        p, k, coefficient = self.series.p, self.series.k, self.series.coefficients
        N, X = _powers(self.N, int(p.max(initial=0))), _powers(x, int(k.max(initial=0)))

        def part(a: int, b: int) -> Intervals:
            """∂_Nᵃ∂_xᵇ, (terms, neurons, boxes)."""
            factor = _falling(p, a) * _falling(k, b)
            left = N[np.maximum(p - a, 0)][:, None, :] * X[np.maximum(k - b, 0)]
            return left * (coefficient * factor[:, None])[:, :, None]

        def along(f: Intervals, *axes: int) -> Intervals:
            """Σ_j f v_i (v_l); zero outside the span."""
            for i in axes:
                entry = v[i]
                if entry is None:
                    return Intervals.exact(np.zeros((len(p), len(self.t))))
                f = f * entry
            return summed(f, 1)

        by_N, by_x = summed(part(1, 0), 1), part(0, 1)
        NN, Nx, xx = summed(part(2, 0), 1), part(1, 1), part(0, 2)
        slopes = [by_N * self.u[i] * 2.0 + along(by_x, i) for i in self.free]
        bends = [[by_N] * m for _ in range(m)]
        for row, i in enumerate(self.free):
            for column, l in enumerate(self.free[: row + 1]):
                mixed = along(Nx, l) * self.u[i] + along(Nx, i) * self.u[l]
                entry = NN * self.u[i] * self.u[l] * 4.0 + mixed * 2.0 + along(xx, i, l)
                bends[row][column] = bends[column][row] = entry + by_N * 2.0 if row == column else entry
        return summed(part(0, 0), 1), slopes, bends

    def _pull(self) -> None:
        """Jets of G, of t^{1−r}G_t and of the G_i."""
        e, r, m = self.series.e, self.series.divided, len(self.free)
        values, slopes, bends = self._terms()
        one = np.ones(len(e))
        plain, first = self._times(e, one, 0), self._times(e, e * one, 1)
        divided, second = self._times(e, e * one, r), self._times(e, e * (e - r) * one, r + 1)
        off = self._off

        def total(times: Intervals, terms: Intervals) -> Intervals:
            return summed(times * terms, 0)

        sides = [total(plain, slope) + off(1, 0) for slope in slopes]
        self.G = Jet(total(plain, values) + off(0, 0), [total(first, values) + off(1, 1), *sides])
        along = [total(divided, slope) + off(2, r) for slope in slopes]
        self.A = Jet(total(divided, values) + off(1, r), [total(second, values) + off(2, r + 1), *along])
        self.sides, self.reduced = [], self.G
        if self.series.level is not None:  # without the part that is constant on spheres, divided by tʳ
            later = (e > 0) * one
            plain, first = self._times(e, later, r), self._times(e, later * (e - r), r + 1)
            sides = [total(plain, slope) for slope in slopes]
            self.reduced = Jet(total(plain, values), [total(first, values), *sides])
        for i in range(m):
            across = [total(plain, bend) + off(2, 0) for bend in bends[i]]
            self.sides.append(Jet(sides[i], [total(first, slopes[i]) + off(2, 1), *across]))

    def _off(self, derivatives: int, shift: int) -> Intervals:
        """What the series of c leaves out: its j-th derivatives are at most (n + m + 1)ʲ times as large."""
        if self.series.rest is None:
            return self.zero
        n, low, size = self.series.rest
        return self._wide(size * (n + low + 1) ** derivatives, n - low - shift, n)

    def _wide(self, size: float, exponent: int, twice: int) -> Intervals:
        """±size·|t|^exponent N^{twice/2}; everything where ‖w‖ is beyond what the series is for."""
        t, N = self.t.magnitude, self.N.hi
        wide = ROOM * size * t**exponent * N ** (twice / 2)
        wide = np.where(t * t * N > self.series.largest, np.inf, wide)
        return Intervals(-wide, wide)

    def _own(self) -> None:
        """Jets of k, of ½t^{1−r}k_t and of ∂k/∂N."""
        r, (e, p, c) = self.series.divided, self.series.own_arrays
        N, one = _powers(self.N, int(p.max())), np.ones(len(e))
        rows = (
            (one, 0, 0), (e, 1, 0), (p, 0, 1), (e / 2, r, 0), (e / 2 * (e - r), r + 1, 0), (e / 2 * p, r, 1),
            (e * p, 1, 1), (p * (p - 1), 0, 2),
        )  # fmt: skip
        orders = (0, 1, 1, 1, 2, 2, 2, 2)
        found = []
        for (factor, back, less), order in zip(rows, orders, strict=True):
            part = summed(
                self._times(e, np.asarray(factor, dtype=float), back)
                * N[np.maximum(p - less, 0)]
                * c[:, None],
                0,
            )
            if self.series.own_rest is not None:
                high, top, size = self.series.own_rest
                part = part + self._wide(size * (2 * top + 3) ** order, high - back, 2 * top)
            found.append(part)
        k, kt, kN, B, Bt, BN, kNt, kNN = found
        turn = [self.u[i] * 2.0 for i in self.free]
        self.k = Jet(k, [kt, *[kN * x for x in turn]])
        self.B = Jet(B, [Bt, *[BN * x for x in turn]])
        self.kN = Jet(kN, [kNt, *[kNN * x for x in turn]])

    def equations(self) -> list[Jet]:
        """E₀ and the E_i."""
        first = self.A * self.k - self.B * self.G
        if self.series.gain:
            first = first + self.G * self.k * float(self.series.gain)
        rows = [first]
        for place, i in enumerate(self.free):
            slope = [self.zero] * (len(self.free) + 1)
            slope[1 + place] = self.zero + 1.0
            turn = self.kN * self.reduced
            if self.series.level is not None:
                turn = turn - self._level(self.series.level)
            rows.append(self.sides[place] * self.k - Jet(self.u[i], slope) * turn)
        return rows

    def _level(self, level: Intervals) -> Jet:
        """λ Σ_{e>0} κ(2 − p)t^{e−r}Nᵖ: what λN leaves of G_i k − ½k_i G, over u_i tʳ."""
        r, (e, p, c) = self.series.divided, self.series.own_arrays
        N, factor = _powers(self.N, int(p.max())), np.where(e > 0, 2.0 - p, 0.0)

        def part(weight: Any, back: int, less: int) -> Intervals:
            times = self._times(e, weight, back) * N[np.maximum(p - less, 0)]
            return summed(times * c[:, None], 0) * level

        by_N = part(factor * p, r, 1)
        return Jet(
            part(factor, r, 0),
            [part(factor * (e - r), r + 1, 0), *[by_N * self.u[i] * 2.0 for i in self.free]],
        )


def squared(parts: list[Intervals]) -> Intervals:
    """‖u‖²."""
    total = parts[0].square()
    for part in parts[1:]:
        total = total + part.square()
    return total


def summed(x: Intervals, axis: int) -> Intervals:
    """Sums along an axis: a sum of n doubles is off by at most (n − 1)u times that of their sizes."""
    n = x.lo.shape[axis]

    def off(ends: Array) -> Array:
        return np.asarray(np.abs(ends).sum(axis) * (2 * n * UNIT) + n * UNDERFLOW)

    return Intervals(x.lo.sum(axis) - off(x.lo), x.hi.sum(axis) + off(x.hi))


def _powers(x: Intervals, most: int) -> Intervals:
    """x⁰, x¹, …, along a new first axis; even ones through the square."""
    found = [Intervals.exact(np.ones_like(x.lo)), x]
    square = x.square()
    while len(found) <= most:
        found.append(found[-2] * square if len(found) > 2 else square)
    return Intervals.stack(found, axis=0)


def _falling(n: NDArray[np.intp], k: int) -> Array:
    """n(n − 1) … (n − k + 1)."""
    result = np.ones(len(n))
    for i in range(k):
        result = result * np.maximum(n - i, 0)
    return result


@dataclass(frozen=True, eq=False)
class Jet:
    """A value and its slopes, each an array of m intervals."""

    value: Intervals
    slope: list[Intervals]

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, [x + y for x, y in zip(self.slope, other.slope, strict=True)])

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.value - other.value, [x - y for x, y in zip(self.slope, other.slope, strict=True)])

    def __mul__(self, other: Jet | float) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value * other, [x * other for x in self.slope])
        slopes = [x * other.value + y * self.value for x, y in zip(self.slope, other.slope, strict=True)]
        return Jet(self.value * other.value, slopes)
