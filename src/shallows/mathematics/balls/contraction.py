"""Many roots proved at once in float64: x − Y F(x) contracts a polydisc around each of them into itself.

Around x₀ let X = {|xᵢ − x₀ᵢ| ≤ ρ wᵢ} with weights w > 0, and ‖·‖ the maximum norm of x/w. For any matrix Y,

    g(x) = x − Y F(x),   q = sup over X of ‖I − Y J(x)‖,   b = ‖Y F(x₀)‖.

X is convex, so ‖g(x) − g(y)‖ ≤ q ‖x − y‖ on it. If q < 1 and b < (1 − q) ρ, then g maps X into itself and has exactly
one fixed point there, within b/(1 − q) of x₀; Y is invertible because ‖I − YJ‖ < 1, so it is the one root of F in X
(Banach; the same test as Krawczyk's, in discs instead of rectangles). When F and x₀ are real, X is its own mirror
image, so the root is its own conjugate: real.

All sizes are upper bounds in float64 ball arithmetic (`arrays`), from coefficients whose rounding is inside the balls.
What fails here is open, not refuted: `certify` goes on with it in Arb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import SLACK, UNIT, Ball, raised
from shallows.mathematics.balls.batched import BatchEvaluator
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: A Newton step longer than this share of the point: it is no approximate root, and a proof would be about another one.
NEAR = 1e-5
#: A Newton step of this share leaves an error of its square, less than rounding: one is enough.
SHORT = 1e-8
#: Points with imaginary parts below this share are tried as real ones; the proof decides.
NEARLY_REAL = 1e-6
#: Coordinates smaller than this share of their sensitivity are zero but for rounding and ill-conditioning.
VANISHING = 1e-8
#: The contraction must be this good, so that rounding in q cannot matter.
CONTRACTS = 0.9
#: Polydiscs that are tried, in multiples of the least one that could hold the root: wide ones tell roots apart better.
WIDTHS = (1e6, 1e3, 8.0)
#: The least polydisc in units of rounding, where the residual happens to vanish.
LEAST = 64 * UNIT
#: How many points are worked on at once: a few megabytes of intermediate arrays.
BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Contraction:
    """One row a point: exactly one root within `domain` of `centre`, in each coordinate; it is within `radius`."""

    centre: NDArray[np.complex128]
    radius: Array
    domain: Array
    proved: NDArray[np.bool_]
    real: NDArray[np.bool_]

    def boxes(self, k: int) -> tuple[Balls, Balls]:
        """Root k's box and its domain; squares around the disc of the one, inside that of the other."""
        real = bool(self.real[k])
        inside = (
            self.domain[k] if real else 0.7 * self.domain[k]
        )  # half the width of a square in a disc: 0.7 < 1/√2
        return Balls(self.centre[k], self.radius[k], real), Balls(self.centre[k], inside, real)


class Balls(Sequence[Any]):
    """Arb's balls around doubles, intervals where they are real, else squares: made when one is first asked for."""

    def __init__(self, centre: NDArray[np.complex128], half: Array, real: bool) -> None:
        self.centre, self.half, self.real = centre, half, real

    @cached_property
    def _made(self) -> tuple[Any, ...]:
        rows = list(zip(self.centre.tolist(), self.half.tolist(), strict=True))
        if self.real:
            return tuple(arb(z.real, half) for z, half in rows)
        return tuple(acb(arb(z.real, half), arb(z.imag, half)) for z, half in rows)

    def __len__(self) -> int:
        return len(self.half)

    def __getitem__(self, key: Any) -> Any:
        return self._made[key]


def contract(evaluator: BatchEvaluator, points: NDArray[np.complex128]) -> Contraction:
    """Prove as many of the points (m, n) to be next to roots as float64 allows."""
    blocks = [_contract(evaluator, points[k : k + BLOCK]) for k in range(0, len(points), BLOCK)]
    if not blocks:
        blocks = [_contract(evaluator, points)]
    names = ("centre", "radius", "domain", "proved", "real")
    return Contraction(*(np.concatenate([getattr(block, name) for block in blocks]) for name in names))


def _contract(evaluator: BatchEvaluator, points: NDArray[np.complex128]) -> Contraction:
    count, n = points.shape
    usable = np.asarray(np.isfinite(points).all(axis=1) & points.any(axis=1))
    with np.errstate(all="ignore"):  # what overflows is not proved
        start = _improved(evaluator, np.where(usable[:, None], points, 1.0))
        x, near, real, inverse, weights = start.x, start.near, start.real, start.inverse, start.weights
        value = evaluator.values(Ball.exact(x))
        step = (Ball.exact(inverse) @ value[:, :, None])[:, :, 0].size
        b = raised(np.max(step / weights, axis=1), 2)
        proved = np.zeros(count, bool)
        radius, domain = np.zeros((count, n)), np.zeros((count, n))
        for width in WIDTHS:
            left = np.flatnonzero(usable & near & ~proved)
            if not len(left):
                break
            rho = width * (b[left] + LEAST)
            q = _contraction(evaluator, x[left], weights[left], rho, inverse[left])
            reach = raised(b[left] / (1 - q), 4)
            passed = (q < CONTRACTS) & (reach < rho / 2)
            chosen = left[passed]
            proved[chosen] = True
            radius[chosen] = raised(reach[passed, None] * weights[chosen], 2)
            domain[chosen] = rho[passed, None] * weights[chosen] * (1 - SLACK)
    return Contraction(x.astype(np.complex128), radius, domain, proved, real)


@dataclass(frozen=True, eq=False)
class _Start:
    """Points after Newton's method, on the real axis if they seem `real`; which moved so little (`near`); Y, and w."""

    x: NDArray[np.complex128]
    near: NDArray[np.bool_]
    real: NDArray[np.bool_]
    inverse: Any
    weights: Array


def _improved(evaluator: BatchEvaluator, points: NDArray[np.complex128]) -> _Start:
    """Each point after a Newton step; after two, where the first was long.

    Moves are measured in each coordinate by its own size, or by what rounding makes of it where it vanishes.
    """
    value, slope = evaluator(Ball.exact(points))
    inverse = inverses(slope.mid)
    weights = _weights(inverse, slope.mid, points)
    size = np.maximum(np.abs(points), np.where(np.isfinite(weights), VANISHING * weights, 0.0))
    real = np.zeros(len(points), bool)
    if evaluator.is_real:  # a coordinate that vanishes has no size of its own: rounding of the point decides
        known = np.maximum(size, VANISHING * np.abs(points).max(axis=1, keepdims=True))
        real = np.asarray((np.abs(points.imag) <= NEARLY_REAL * known).all(axis=1))
    x = _stepped(points, inverse, value, real)
    away = (np.abs(x - points) / size).max(axis=1)
    rough = np.flatnonzero((away > SHORT) & (away <= NEAR))
    if len(rough):
        value, slope = evaluator(Ball.exact(x[rough]))
        inverse[rough] = inverses(slope.mid)
        x[rough] = _stepped(x[rough], inverse[rough], value, real[rough])
    near = np.asarray((np.abs(x - points) <= NEAR * size).all(axis=1))
    return _Start(np.where(near[:, None], x, points), near, real & near, inverse, weights)


def _stepped(points: Any, inverse: Any, value: Ball, real: NDArray[np.bool_]) -> Any:
    moved = points - (inverse @ value.mid[:, :, None])[:, :, 0]
    return np.where(real[:, None], moved.real, moved)


def inverses(matrices: Any) -> Any:
    """Approximate inverses; any matrix will do for the proof, so a singular one gets zeros, which prove nothing."""
    finite = np.isfinite(matrices).all(axis=(1, 2))
    tame = np.where(finite[:, None, None], matrices, np.eye(matrices.shape[1]))
    try:
        inverse = np.linalg.inv(tame)
    except np.linalg.LinAlgError:
        inverse = np.stack([_inverse(matrix) for matrix in tame])
    usable = np.asarray(np.isfinite(inverse).all(axis=(1, 2)))
    return np.where(usable[:, None, None], inverse, 0.0)


def _inverse(matrix: Any) -> Any:
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.zeros_like(matrix)


def _weights(inverse: Any, slope: Any, x: NDArray[np.complex128]) -> Array:
    """|Y||J||x|, the sensitivity of each coordinate, so that badly scaled variables do no harm; never 0."""
    sensitivity = (np.abs(inverse) @ (np.abs(slope) @ np.abs(x)[:, :, None]))[:, :, 0]
    floor = np.maximum(UNIT * sensitivity.max(axis=1, keepdims=True), TINY)
    return np.asarray(np.maximum(np.where(np.isfinite(sensitivity), sensitivity, 1.0), floor))


def _contraction(
    evaluator: BatchEvaluator, x: NDArray[np.complex128], weights: Array, rho: Array, inverse: Any
) -> Array:
    """q, an upper bound on ‖I − Y J‖ over the polydiscs; infinite where it is not finite."""
    box = Ball(x, raised(rho[:, None] * weights, 1))
    _, slope = evaluator(box)
    product = Ball.exact(inverse) @ slope
    defect = Ball.exact(np.eye(x.shape[1])) - product
    rows = (defect.size @ weights[:, :, None])[:, :, 0] / weights
    q = raised(np.max(rows, axis=1), x.shape[1] + 4)
    return np.asarray(np.where(np.isfinite(q), q, np.inf))
