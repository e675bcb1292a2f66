"""Signs over the box of a proved root: when the box is too wide to decide them, over one with thirty digits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from shallows.mathematics.balls.inertia import Inertia
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.support.errors import NotConverged

#: Digits of a root whose first box left a sign open: of the 38 that 128 bits hold.
DIGITS = 30


def boxes(root: CertifiedRoot) -> Iterator[list[Any]]:
    """Boxes around a root to decide signs over: its own, and a sharper one for whom that leaves a sign open.

    Neurons that nearly cancel leave cancellation in the Hessian: ten digits of the root are then too few.
    """
    yield list(root.box)
    with suppress(NotConverged):
        yield list(root.refine(DIGITS).box)


def proved_signature(hessian: Inertia, seen: tuple[int, int, int]) -> tuple[int, int, int]:
    """The signature (positive, zero, negative) that is proved, or else the one that was seen."""
    return (hessian.positive, 0, hessian.negative) if hessian.certified else seen
