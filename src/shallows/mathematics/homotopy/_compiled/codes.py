"""The numbers that cross the border to compiled code: kinds of homotopies, and how paths end."""

from __future__ import annotations

from enum import IntEnum

#: Modes of a homotopy. AFFINE: as many equations as unknowns. PROJECTIVE: one homogeneous unknown more and the equation
#: ⟨patch, z⟩ = 1, the patch following the point. PENCIL: t itself is an unknown and the extra equation
#: (t − c)(ℓ·x + ℓ₀) = s moves (the trace test).
AFFINE, PROJECTIVE, PENCIL = 0, 1, 2


class PathStatus(IntEnum):
    """How a path ended; `sentence` says it in words."""

    ARRIVED = 0
    STEP_TOO_SMALL = 1
    TOO_MANY_STEPS = 2
    HANDED_OVER = 3
    DIVERGED = 4
    CONVERGED = 5
    UNCLOSED = 6
    INFINITE = 7
    PRECISE_REGULAR = 8
    PRECISE_SINGULAR = 9
    LEFT_EARLY = 10

    @property
    def sentence(self) -> str:
        """The status in words."""
        return _SENTENCES[self]


_SENTENCES = {
    PathStatus.ARRIVED: "the path reached t = 0 by Newton steps",
    PathStatus.STEP_TOO_SMALL: "the step became too small before the end",
    PathStatus.TOO_MANY_STEPS: "the path took more steps than allowed",
    PathStatus.HANDED_OVER: "the path was left at the door of the endgame",
    PathStatus.DIVERGED: "the path left every bounded region",
    PathStatus.CONVERGED: "the Cauchy endgame converged",
    PathStatus.INFINITE: "the path runs to infinity",
    PathStatus.PRECISE_REGULAR: "the path reached t = 0 in multiple precision",
    PathStatus.PRECISE_SINGULAR: "the path converged to a singular end in multiple precision",
    PathStatus.LEFT_EARLY: "the path left every bounded region before it came to the random member in between",
    PathStatus.UNCLOSED: "the Cauchy endgame did not converge",
}


#: The same for compiled code, and GOING, which is no end.
ARRIVED, STEP_TOO_SMALL, TOO_MANY_STEPS, HANDED_OVER = (k.value for k in list(PathStatus)[:4])
DIVERGED, CONVERGED, UNCLOSED, INFINITE = (k.value for k in list(PathStatus)[4:8])
GOING = -1

#: How an exploration of mixed cells ended (`tropical`): done; not enough room; two walls at once; whole numbers too
#: large; more work than allowed.
DONE, FULL, TIED, TOO_LARGE, SPENT = range(5)
