"""Networks with equal rows: a narrower network with outer weights m, proved, and the spectrum of the whole Hessian.

If m rows are equal to w, the Hessian splits: rows that move together see the narrow network's Hessian, scaled by the
square roots of the m's; rows that move apart, m − 1 times, see

    T_w = (1/π) Σⱼ eⱼ (ρⱼ/s)(I − ŵŵᵀ + n̂ⱼn̂ⱼᵀ),        T_w ŵ = 0,

the narrow Hessian's diagonal block (m²I + mT_w) without the rest. T_w ŵ = 0 is exact: lengths can be shared out freely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.krawczyk import certify_point
from shallows.mathematics.balls.systems import precision
from shallows.questions.relu.balls import ReLUBalls
from shallows.support.checks import Array
from shallows.support.errors import NotConverged

#: Bits of the balls, and digits to which a point is refined.
BITS, DIGITS = 192, 30
Line = tuple[float, int, str]


@dataclass(frozen=True, eq=False)
class NarrowPoint:
    """A proved critical point of a network with equal rows: its rows (balls), loss, spectrum and signature."""

    rows: list[list[Any]]
    loss: Any
    spectrum: list[Line]
    signature: tuple[int, int, int]
    certified: bool


def narrow_point(rows: Array, counts: Sequence[int]) -> NarrowPoint:
    """The critical point next to rows with these multiplicities, against the teacher Σ ReLU(xᵢ)."""
    width, k = rows.shape
    outer = np.array(counts, dtype=np.float64)
    with precision(BITS):
        balls = ReLUBalls((width, k), outer, np.eye(k), np.ones(k))
        root = certify_point(balls, balls, rows.ravel().astype(np.complex128), BITS, real=True)
        if root is None:
            raise NotConverged(
                "A critical point with equal rows was found but not proved: it is (nearly) degenerate."
            )
        box = list(root.refine(DIGITS).box)
        _, hessian = balls(box)
        table = hessian.tolist()
        scale = [arb(m).sqrt() for m in counts for _ in range(k)]
        together = arb_mat(
            [[x / (scale[i] * scale[j]) for j, x in enumerate(row)] for i, row in enumerate(table)]
        )
        spectrum = _lines(together, 1, "rows together")
        signs = inertia(together, BITS)
        positive, zero, negative, certified = signs.positive, signs.undecided, signs.negative, signs.certified
        for g, m in enumerate(counts):
            if m == 1:
                continue
            block = [row[g * k : (g + 1) * k] for row in table[g * k : (g + 1) * k]]
            apart = arb_mat(
                [[(x - m * m * int(i == j)) / m for j, x in enumerate(row)] for i, row in enumerate(block)]
            )
            spectrum += _lines(apart, m - 1, f"{m} equal rows apart")
            signs = inertia(apart, BITS)
            positive += (m - 1) * signs.positive
            negative += (m - 1) * signs.negative
            zero += (m - 1) * signs.undecided
            certified = certified and signs.undecided == 1
        return NarrowPoint(
            balls.rows(box), balls.loss(box), sorted(spectrum), (positive, zero, negative), certified
        )


def _lines(matrix: Any, times: int, name: str) -> list[Line]:
    size = matrix.nrows()
    middle = np.array([float(x.mid()) for x in matrix.entries()]).reshape(size, size)
    return [(float(value), times, name) for value in np.linalg.eigvalsh((middle + middle.T) / 2)]


def equal_rows(k: int, sign: int) -> NarrowPoint:
    """k rows equal to ±w, w ∝ (1, …, 1): all in closed form, whatever k is.

    cos θ = ±1/√k to every teacher neuron, the length of a row is 2c/k with 2πc = k(sin θ + (π − θ) cos θ), and
    T = −(k²/(k−1)) sin θ/(π‖w‖) on the orthogonal complement of w.
    """
    with precision(BITS):
        cosine = sign / arb(k).sqrt()
        sine = (1 - arb(1) / k).sqrt()
        angle = arb.atan2(sine, cosine)
        c = k * (sine + (arb.pi() - angle) * cosine) / (2 * arb.pi())
        length = 2 * c / k
        loss = arb(k) / 2 + arb(k) * (k - 1) / (2 * arb.pi()) - 2 * c * c
        turn = -(arb(k) ** 2) / (k - 1) * sine / (arb.pi() * length)
        value, both = float(turn.mid()), k + turn
        spectrum = [
            (value, (k - 1) * (k - 1), f"{k} equal rows apart"),
            (0.0, k - 1, f"{k} equal rows apart"),
            (float(both.mid()), k - 1, "rows together"),
            (float(k), 1, "rows together"),
        ]
        rising = k - 1 if both > 0 else 0
        falling = k - 1 if both < 0 else 0
        signature = (1 + rising, (k - 1) + (k - 1 - rising - falling), (k - 1) ** 2 + falling)
        row = [cosine * length] * k
        return NarrowPoint([row], loss, sorted(spectrum), signature, bool(both > 0 or both < 0))
