"""How complete a list of critical points is, in words from the strongest to the weakest."""

from __future__ import annotations

from collections.abc import Iterable

COMPLETENESS = {
    "proved": "no critical point is missing: a theorem, a full count of certified points, or all other places excluded",
    "count-matched": "as many solutions as the known count (or msolve's), at points or on families; not all certified",
    "trace-tested": "the trace test found none missing; no proof",
    "sampled": "what descents or loops happened to find: others may exist, a minimum lower than all of these too",
}


def by_isolation(whole: bool) -> str:
    """How complete a list is of which msolve has isolated all points, or may lack some."""
    return "count-matched" if whole else "sampled"


def weakest(levels: Iterable[str]) -> str:
    """Several lists together are as complete as the least complete of them."""
    return max(levels, key=list(COMPLETENESS).index)
