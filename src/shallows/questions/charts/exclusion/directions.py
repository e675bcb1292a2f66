"""The equations of one ReLU neuron: directions u where z(u) is parallel to u, points of the ball where z vanishes.

With z(u) = πg + 2 Σ_ℓ ω_ℓ arcsin(û·e_ℓ) e_ℓ (the teacher's Σ bⱼ(π−θⱼ)vⱼ in the form of `relu_target`),

    2π c(u) = z·û + 2 Σ ω_ℓ sin θ_ℓ,        2π ∇c(u) = z − (z·û)û on the sphere,
    2π ∇²c(u) = 2 Σ ω_ℓ sin θ_ℓ n_ℓn_ℓᵀ − (z·û)(I − ûûᵀ),        n_ℓ = (e_ℓ − cos θ_ℓ û)/sin θ_ℓ.

arcsin has infinite slope at ±1, where u is parallel to a line; there z × u stays differentiable, since e × u vanishes
at the same rate: |∂ arcsin(û·e)| ≤ 1/‖u‖ always, which bounds the quotient where it is not known.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.exclusion.intervals import PI, Intervals
from shallows.mathematics.exclusion.system import Plain
from shallows.questions.charts.exclusion.relu_target import ReLUTarget
from shallows.support.checks import Array


class Directions(Plain):
    """z × u on one face of the cube: u has ±1 at place `face`, and m − 1 unknowns in [−1, 1] elsewhere."""

    def __init__(self, target: ReLUTarget, face: int, sign: int) -> None:
        self.target, self.face, self.sign = target, face, sign
        self.n = target.rank - 1
        self.free = [k for k in range(target.rank) if k != face]
        self.weights, self.lines, self.linear = target.intervals

    def direction(self, box: Intervals) -> list[Intervals]:
        """The m coordinates of u, not normalised."""
        u = [box[:, self.free.index(k)] if k != self.face else None for k in range(self.n + 1)]
        one = Intervals.exact(np.full(len(box), float(self.sign)))
        return [one if x is None else x for x in u]

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """zₖ u_f − z_f uₖ for k ≠ f, and its derivatives."""
        u, f, m = self.direction(box), self.face, self.n + 1
        norm = _length(u)
        z = [PI * self.linear[k] + u[k] * 0.0 for k in range(m)]
        slopes = [[u[k] * 0.0 for _ in self.free] for k in self.free]
        for i in range(len(self.weights)):
            e, weight = self.lines[i], self.weights[i] * 2.0
            cosine = _cosine(u, e, norm)
            bent = cosine.arcsin() * weight
            z = [z[k] + bent * e[k] for k in range(m)]
            if derivative:
                cross = [e[k] * float(self.sign) - e[f] * u[k] for k in self.free]
                sine = _sine(u, e, norm)
                bound = norm.reciprocal().hi
                for b, j in enumerate(self.free):
                    rate = (e[j] - cosine * u[j] / norm) / (sine * norm)
                    rate = rate.meet(Intervals(-bound, bound)) * weight
                    for a in range(self.n):
                        slopes[a][b] = slopes[a][b] + cross[a] * rate
        values = Intervals.stack([z[k] * float(self.sign) - z[f] * u[k] for k in self.free])
        if not derivative:
            return values, None
        for a in range(self.n):
            slopes[a][a] = slopes[a][a] - z[f]
        return values, Intervals.stack([Intervals.stack(row) for row in slopes], axis=1)


class Vanishing(Plain):
    """z(y) = πg + 2 Σ ω arcsin(y·e) e for y in the open unit ball: the part in the span of a unit vector outside it."""

    def __init__(self, target: ReLUTarget) -> None:
        self.n = target.rank
        self.weights, self.lines, self.linear = target.intervals

    def contract(self, box: Intervals) -> Intervals:
        """Boxes outside the ball hold nothing."""
        square = Intervals.exact(np.zeros(len(box)))
        for k in range(self.n):
            square = square + box[:, k].square()
        outside = square.lo > 1.0
        return Intervals(np.where(outside[:, None], np.inf, box.lo), box.hi)

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """z and its derivatives 2 Σ ω e eᵀ/√(1 − (y·e)²)."""
        y = [box[:, k] for k in range(self.n)]
        z = [PI * self.linear[k] + y[k] * 0.0 for k in range(self.n)]
        slopes = [[y[k] * 0.0 for _ in range(self.n)] for k in range(self.n)]
        for i in range(len(self.weights)):
            e, weight = self.lines[i], self.weights[i] * 2.0
            cosine = _dot(y, e)
            bent = cosine.arcsin() * weight
            z = [z[k] + bent * e[k] for k in range(self.n)]
            if derivative:
                rate = weight / (1.0 - cosine.square()).sqrt()
                for a in range(self.n):
                    for b in range(self.n):
                        slopes[a][b] = slopes[a][b] + rate * e[a] * e[b]
        values = Intervals.stack(z)
        return values, Intervals.stack(
            [Intervals.stack(row) for row in slopes], axis=1
        ) if derivative else None


class Curvature:
    """c, z·û and the second derivative of c at directions in boxes, all times 2π."""

    def __init__(self, target: ReLUTarget, u: list[Intervals]) -> None:
        """`u` has m coordinates, or m + 1 for directions outside the span; not normalised."""
        weights, lines, linear = target.intervals
        m, norm = target.rank, _length(u)
        unit = [x / norm for x in u]
        self.unit = unit
        z = [PI * linear[k] + u[k] * 0.0 for k in range(m)]
        level, self.form = u[0] * 0.0, [[u[0] * 0.0 for _ in u] for _ in u]
        for i in range(len(weights)):
            e, weight = lines[i], weights[i] * 2.0
            cosine, sine = _cosine(u[:m], e, norm), _sine(u, e, norm)
            bent = cosine.arcsin() * weight
            z = [z[k] + bent * e[k] for k in range(m)]
            level = level + weight * sine
            across = [(e[k] - cosine * unit[k]) if k < m else -(cosine * unit[k]) for k in range(len(u))]
            bound = sine.hi
            for a in range(len(u)):
                for b in range(len(u)):
                    term = (across[a] * across[b] / sine).meet(Intervals(-bound, bound))
                    self.form[a][b] = self.form[a][b] + weight * term
        self.radial = _dot(unit[:m], Intervals.stack(z, axis=0))
        self.value = self.radial + level

    def tangent(self, frame: Array, outside: bool) -> Intervals:
        """QᵀMQ, M = 2 Σ ω sin θ n nᵀ − (z·û)(I − ûûᵀ); z vanishes outside the span."""
        size = len(self.unit)
        M = [[self.form[a][b] for b in range(size)] for a in range(size)]
        if not outside:
            for a in range(size):
                for b in range(size):
                    projector = float(a == b) - self.unit[a] * self.unit[b]
                    M[a][b] = M[a][b] - self.radial * projector
        columns = frame.shape[1]
        rows = []
        for p in range(columns):
            row = []
            for q in range(columns):
                total = self.radial * 0.0
                for a in range(size):
                    for b in range(size):
                        total = total + M[a][b] * float(frame[a, p]) * float(frame[b, q])
                row.append(total)
            rows.append(Intervals.stack(row))
        return Intervals.stack(rows, axis=1)


def _dot(u: list[Intervals], e: Intervals) -> Intervals:
    total = u[0] * e[0]
    for k in range(1, len(u)):
        total = total + u[k] * e[k]
    return total


def _length(u: list[Intervals]) -> Intervals:
    total = u[0].square()
    for x in u[1:]:
        total = total + x.square()
    return total.sqrt()


def _cosine(u: list[Intervals], e: Intervals, norm: Intervals) -> Intervals:
    """û·e, in [−1, 1]."""
    cosine = _dot(u, e) / norm
    return cosine.meet(Intervals(-1.0, 1.0))


def _sine(u: list[Intervals], e: Intervals, norm: Intervals) -> Intervals:
    """The root of the sum of the squares (u_k e_l − u_l e_k)², over ‖u‖: no cancellation near parallel vectors."""
    total = u[0] * 0.0
    zero = Intervals.exact(0.0)
    entry = [e[k] if k < len(e) else zero for k in range(len(u))]
    for k in range(len(u)):
        for j in range(k):
            total = total + (u[k] * entry[j] - u[j] * entry[k]).square()
    return (total.sqrt() / norm).meet(Intervals(0.0, 1.0))
