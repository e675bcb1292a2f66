"""The minima published with paper 003 for n = k = 6, …, 20: how many of 500 Xavier starts ended at each.

Source: I. Safran, G. Yehudai, O. Shamir, "The effects of mild over-parameterization on the optimization landscape of
shallow ReLU neural networks", processed minima in the authors' repository github.com/ItaySafran/Overparameterization.
`blocks` are their `p` (in the order of the diagonal values), eigenvalues are for ½E.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from shallows.support.arguments import typed
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True)
class PublishedMinimum:
    """One published minimum: block sizes, count of 500 runs, Σ‖wᵢ‖, and the smallest Hessian eigenvalue of ½E.

    >>> from shallows.relu import published_minima
    >>> row = published_minima(7)[1]
    >>> row.blocks, row.count, f"{row.half_smallest_eigenvalue:.8f}"
    ((1, 6), 27, '0.01405901')
    >>> f"{sh.symmetric_minimum(7, row.blocks).half_smallest_eigenvalue:.8f}"   # found again
    '0.01405901'
    """

    k: int
    blocks: tuple[int, ...]
    count: int
    norm_sum: float
    half_smallest_eigenvalue: float


def _rows() -> tuple[PublishedMinimum, ...]:
    """Rows of `published_minima.json`: k, blocks, count, Σ‖wᵢ‖, eigenvalue."""
    stored = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return tuple(PublishedMinimum(k, tuple(blocks), *rest) for k, blocks, *rest in stored)


PUBLISHED = _rows()


@typed
def published_minima(k: int) -> tuple[PublishedMinimum, ...]:
    """The minima published with paper 003 for this k, the largest norm sum (the global minimum) first.

    >>> from shallows.relu import published_minima
    >>> [(row.blocks, row.count) for row in published_minima(10)]
    [((10,), 340), ((1, 9), 150), ((2, 8), 10)]
    """
    found = tuple(minimum for minimum in PUBLISHED if minimum.k == k)
    if not found:
        raise InvalidProblem(f"Minima are published for k = 6 to 20; k = {k} was asked for.")
    return found
