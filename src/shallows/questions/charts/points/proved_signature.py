"""Signs over the box of a proved root: when the box is too wide to decide them, over one with thirty digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shallows.mathematics.balls.inertia import Inertia
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.support.errors import NotConverged

#: Digits of a root whose first box left a sign open: of the 38 that 128 bits hold.
DIGITS = 30


def sharp_inertias(
    root: CertifiedRoot, prove: Callable[[list[Any]], tuple[Inertia, ...]]
) -> tuple[Inertia, ...]:
    """The inertias that `prove` finds over the root's box, refined where a sign is undecided.

    Neurons that nearly cancel leave cancellation in the Hessian: ten digits of the root are then too few.
    """
    found = prove(list(root.box))
    if all(each.certified for each in found):
        return found
    try:
        return prove(list(root.refine(DIGITS).box))
    except NotConverged:
        return found


def proved_signature(hessian: Inertia, seen: tuple[int, int, int]) -> tuple[int, int, int]:
    """The signature (positive, zero, negative) that is proved, or else the one that was seen."""
    return (hessian.positive, 0, hessian.negative) if hessian.certified else seen
