"""Where terms of the equations of long neurons cancel, and the room that more digits take."""

from __future__ import annotations

from shallows.mathematics.homotopy._compiled.records import PLACES

#: Lengths of the longest neuron from which on the value has 31 digits; the Jacobian has them too; and rows are scaled
#: again, as they are from FAR on while they have 16. Terms cancel to a share of about ‖w‖⁻ᵈ (`_sharp_loop`): at d = 3
#: doubles lose three digits of the value at 8, and seven at 200, where Newton steps suffer too.
CANCELLING, FARTHER, FARTHEST = 8.0, 200.0, 2e3


def places(n: int, r: int, degree: int, size: int) -> int:
    """The room, in doubles, that `sharp` takes."""
    unknowns = n * r
    return PLACES * (unknowns * (degree + 1) + 2 * unknowns * size + size * size + 3 * size + 5)


def room_for(n: int, r: int, degree: int, size: int) -> int:
    """The room that r neurons take, n unknowns each in powers up to `degree`, without derivatives of second order."""
    return PLACES * (r * n * (degree + 1) + r * (1 + n) * size + size * size + 3 * size + 5)
