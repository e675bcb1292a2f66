"""The critical equations of one smooth neuron aσ(w·x), in coordinates of the teacher's span and one outside of it.

With c(w) = Σ bⱼ F(S, Cⱼ), S = ‖w‖², Cⱼ = w·vⱼ, and K(S) = E σ(w·x)²,

    ½∇L/a = w P − g,        P = a K′ − 2 Σ bⱼ ∂_S F,        g = Σ bⱼ ∂_C F vⱼ,

where a is given, or a = c/K, the best one. Inside the span that is one equation a coordinate; outside of it, where w
has a part of length q > 0 orthogonal to the span, g = 0 and P = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.questions.charts.exclusion.pair_functions import Own
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm
from shallows.questions.charts.exclusion.smooth_form import SmoothForm
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget

Vector = list[Intervals]


@dataclass(frozen=True, eq=False)
class State:
    """Everything at m boxes: c, f = Σ b∂_S F, g, and their derivatives by S (at fixed C) and by p."""

    p: Vector
    S: Intervals
    own: Own
    c: Intervals
    f: Intervals
    fs: Intervals
    g: Vector
    fc: Vector  # Σ b ∂_SC F v
    gc: list[Vector]  # Σ b ∂_CC F v vᵀ
    a: Intervals

    @property
    def P(self) -> Intervals:
        """a K′ − 2f."""
        return self.a * self.own.first - self.f * 2.0


class SmoothSystem:
    """w P − g = 0 in the span (`outside` false), or g = 0, P = 0 for (p, q) outside; within ‖w‖ ≤ reach, and outside
    the ball ‖w‖ ≤ hole, which is not asked about."""

    def __init__(
        self,
        form: SmoothForm | PolynomialForm,
        target: SmoothTarget,
        outer: float | None,
        *,
        outside: bool = False,
        reach: float = np.inf,
        hole: float = 0.0,
    ) -> None:
        self.form, self.target, self.outer, self.outside = form, target, outer, outside
        self.reach, self.hole = reach, hole
        self.n = target.rank + int(outside)

    @property
    def split(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(range(self.n))

    def _square(self, box: Intervals) -> Intervals:
        total = Intervals.exact(np.zeros(len(box)))
        for k in range(self.n):
            total = total + box[:, k].square()
        return total

    def contract(self, box: Intervals) -> Intervals:
        """Boxes outside the ball hold nothing."""
        far = self._square(box).lo > self.reach**2
        return Intervals(np.where(far[:, None], np.inf, box.lo), box.hi)

    def excused(self, box: Intervals) -> NDArray[np.bool_]:
        """Boxes in the hole."""
        return np.asarray(self._square(box).hi < self.hole**2)

    def state(self, box: Intervals) -> State:
        """All sums over the teacher's neurons."""
        m, t = self.target.rank, self.target
        p = [box[:, k] for k in range(m)]
        extra = box[:, m].square() if self.outside else None
        nothing = Intervals.exact(np.zeros(len(box)))
        S = self._square(box)
        own = self.form.own(S)
        c, f, fs = nothing, nothing, nothing
        g, fc = [nothing] * m, [nothing] * m
        gc = [[nothing] * m for _ in range(m)]
        for j in range(len(t.exact)):
            v, T, b = t.vectors[j], t.squares[j], t.outer[j]
            C, X = dot(p, v, nothing), cross(p, v, nothing)
            X = X if extra is None else X + extra * T
            F = self.form.cross(S, T, C, X)
            c, f, fs = c + F.value * b, f + F.s * b, fs + F.ss * b
            first, mixed, second = F.c * b, F.sc * b, F.cc * b
            for k in range(m):
                g[k], fc[k] = g[k] + first * v[k], fc[k] + mixed * v[k]
                for i in range(k + 1):
                    gc[k][i] = gc[i][k] = gc[k][i] + second * (v[k] * v[i])
        a = c / own.value if self.outer is None else Intervals.exact(np.full(len(box), self.outer))
        return State(p, S, own, c, f, fs, g, fc, gc, a)

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """Values and derivatives by p (and q)."""
        z = self.state(box)
        m, P = self.target.rank, z.P
        if self.outside:
            values = Intervals.stack([*z.g, P])
        else:
            values = Intervals.stack([z.p[k] * P - z.g[k] for k in range(m)])
        if not derivative:
            return values, None
        along, by_square = self._slope_of_P(z)
        rows: list[list[Any]] = []
        for k in range(m):
            row = [(z.fc[k] * z.p[i] * 2.0 + z.gc[k][i]) for i in range(m)]  # ∂g_k/∂p_i
            if not self.outside:
                row = [z.p[k] * along[i] - row[i] for i in range(m)]
                row[k] = row[k] + P
            rows.append(row)
        if self.outside:
            q = box[:, m] * 2.0
            rows = [[*row, z.fc[k] * q] for k, row in enumerate(rows)]
            rows.append([*along, by_square * q])
        return values, Intervals.stack([Intervals.stack(row) for row in rows], axis=1)

    def _slope_of_P(self, z: State) -> tuple[Vector, Intervals]:
        """∂P/∂p and ∂P/∂(q²)."""
        m = self.target.rank
        bend = z.a * z.own.second - z.fs * 2.0
        along = [z.p[i] * bend * 2.0 - z.fc[i] * 2.0 for i in range(m)]
        if self.outer is not None:
            return along, bend
        share = z.own.first / z.own.value
        radial = z.f - z.a * z.own.first
        return (
            [along[i] + (z.p[i] * radial * 2.0 + z.g[i]) * share for i in range(m)],
            bend + radial * share,
        )

    def hessian(self, box: Intervals, a: Intervals, trained: bool) -> Intervals:
        """½ of the Hessian of L in (p, or p and q, and a where it is trained), given an enclosure of a."""
        z = self.state(box)
        m = self.target.rank
        coordinates = [box[:, k] for k in range(self.n)]
        P = a * z.own.first - z.f * 2.0
        bend = a * z.own.second - z.fs * 2.0
        zero = Intervals.exact(np.zeros(len(box)))
        fc = [*z.fc, zero][: self.n]
        size = self.n + int(trained)
        if not size:
            return Intervals(np.zeros((len(box), 0, 0)), np.zeros((len(box), 0, 0)))
        table = [[zero] * size for _ in range(size)]
        for i in range(self.n):
            for k in range(self.n):
                w_i, w_k = coordinates[i], coordinates[k]
                entry = w_i * w_k * bend * 2.0 - (w_i * fc[k] + fc[i] * w_k) * 2.0
                if i < m and k < m:
                    entry = entry - z.gc[i][k]
                table[i][k] = (entry + P if i == k else entry) * a
        if trained:
            for i in range(self.n):
                slope = coordinates[i] * (a * z.own.first * 2.0 - z.f * 2.0)
                slope = slope - z.g[i] if i < m else slope
                table[i][self.n] = table[self.n][i] = slope
            table[self.n][self.n] = z.own.value
        return Intervals.stack([Intervals.stack(row) for row in table], axis=1)


def dot(p: Vector, v: Intervals, nothing: Intervals) -> Intervals:
    """p·v."""
    total = nothing
    for k in range(len(p)):
        total = total + p[k] * v[k]
    return total


def cross(p: Vector, v: Intervals, nothing: Intervals) -> Intervals:
    """‖p‖²‖v‖² − (p·v)², as a sum of squares."""
    total = nothing
    for k in range(len(p)):
        for i in range(k):
            total = total + (p[k] * v[i] - p[i] * v[k]).square()
    return total
