"""What the boxes of proved roots prove about critical points: signs of Hessians, and how far off the tensors are.

Signs are decided at once in float64; what stays open one by one in Arb, and where the box is too wide to decide them
over one with thirty digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from flint import acb

from shallows.mathematics.balls.arrays import UNIT, Ball, raised, raised_number
from shallows.mathematics.balls.contraction import Balls
from shallows.mathematics.balls.inertia import Inertia, inertias
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.questions.charts.points.point import Certificate
from shallows.support.checks import Array
from shallows.support.errors import NotConverged

#: Digits of a real root that a chart shows, and of one whose first box left a sign open: of the 38 that 128 bits hold.
SHOWN, DIGITS = 10, 30
#: What is asked of all other roots: their boxes must tell them apart, and are refined where they do not.
APART = 1
#: How far the middle of a box is from its double: one rounding, and one of the box's own ends; twice that in a disc.
MIDDLE_REAL, MIDDLE_COMPLEX = 2 * UNIT, 4 * UNIT
#: A dataclass with a signature and a certificate.
_Point = TypeVar("_Point", bound=Any)


def shown(root: CertifiedRoot) -> CertifiedRoot:
    """The root with as many digits as a chart shows."""
    return root if root.digits >= SHOWN else root.refine(SHOWN)


def boxes(root: CertifiedRoot) -> Iterator[list[Any]]:
    """Boxes around a root to decide signs over: its own, and a sharper one for whom that leaves a sign open.

    Neurons that nearly cancel leave cancellation in the Hessian: ten digits of the root are then too few.
    """
    yield list(root.box)
    with suppress(NotConverged):
        yield list(root.refine(DIGITS).box)


def real_balls(roots: Sequence[CertifiedRoot]) -> Ball:
    """The boxes of real roots, a row each, as float64 balls around `root.point`."""
    mid = np.array([root.point.real for root in roots])
    rad = np.array([_half_widths(root.box) for root in roots])
    return Ball(mid, raised(rad + MIDDLE_REAL * np.abs(mid), 3) if len(roots) else rad)


def discs(roots: Sequence[CertifiedRoot]) -> Ball:
    """The boxes of roots, a row each, inside float64 discs around `root.point`."""
    mid = np.array([root.point for root in roots])
    rad = np.array([_disc_radii(root.box) for root in roots])
    return Ball(mid, raised(rad + MIDDLE_COMPLEX * np.abs(mid), 4))


def _disc_radii(box: Sequence[Any]) -> Any:
    if isinstance(box, Balls):
        return box.half  # proved in discs
    return [_half_diagonal(entry) if isinstance(entry, acb) else float(entry.rad().upper()) for entry in box]


def _half_diagonal(entry: Any) -> float:
    return raised_number(float(entry.real.rad().upper()) + float(entry.imag.rad().upper()), 2)


def _half_widths(box: Sequence[Any]) -> Any:
    """Radii of the real parts, known as doubles where the box was proved in doubles."""
    if isinstance(box, Balls):
        return box.half
    reals = [entry.real if isinstance(entry, acb) else entry for entry in box]
    return [float(real.rad().upper()) for real in reals]


def signs_at_once(
    hessians: Ball, roots: Sequence[CertifiedRoot], one: Callable[[list[Any]], Inertia]
) -> list[Inertia]:
    """The inertia at each root, from the Hessians over its box; `one` decides over a box in Arb what stays open."""
    return [
        first if first.certified else _one_by_one(root, one)
        for first, root in zip(inertias(hessians), roots, strict=True)
    ]


def _one_by_one(root: CertifiedRoot, one: Callable[[list[Any]], Inertia]) -> Inertia:
    for box in boxes(root):
        proof = one(box)
        if proof.certified:
            break
    return proof


def distances(entries: Array, tensors: Ball) -> Array:
    """Bounds on the largest difference between entries as doubles, a row a point, and tensors in the balls."""
    gaps = tensors - Ball.exact(entries)
    return np.asarray(gaps.size.max(axis=1))


def with_proofs(
    points: Sequence[_Point], signs: Sequence[Inertia], radii: Array, ranks: Iterable[bool] | None = None
) -> list[_Point]:
    """The points with what the boxes of their roots prove; the rank where the signature is, if nothing else is said."""
    known = [sign.certified for sign in signs] if ranks is None else list(ranks)
    return [
        replace(
            point,
            signature=proved_signature(sign, point.signature),
            certificate=Certificate(radius, sign.certified, rank, "Krawczyk"),
        )
        for point, sign, radius, rank in zip(points, signs, radii.tolist(), known, strict=True)
    ]


def proved_signature(hessian: Inertia, seen: tuple[int, int, int]) -> tuple[int, int, int]:
    """The signature (positive, zero, negative) that is proved, or else the one that was seen."""
    return (hessian.positive, 0, hessian.negative) if hessian.certified else seen
