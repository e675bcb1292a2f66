"""Which limits networks of a width have, as far as they are looked for: sums of blocks."""

from __future__ import annotations

from collections.abc import Iterator

from shallows.model.problem import Problem
from shallows.questions.charts.neuron_limits.blocks import (
    AtEnd,
    Block,
    Merged,
    MergedAtEnd,
    MergedThree,
    Part,
    Single,
    merged_parts,
)
from shallows.questions.charts.neuron_limits.ends import AT_INFINITY, End, ends
from shallows.questions.charts.neuron_limits.three_at_end import MergedThreeAtEnd, has_three, three_parts

#: At most so many neurons meet in one place.
MOST = 3
#: What is not looked for where neurons are constant or come to different zeros, with three neurons, and with more.
NOT_ALIKE = "no limits with a neuron that is constant, or of neurons that meet coming from different zeros"
OF_THREE = (
    "no limits of three neurons that meet at a constant, or at a zero or infinity about which the activation is "
    "neither even nor odd"
)
OF_MORE = "no limits of four neurons in one place"


def beyond_search(problem: Problem) -> list[str]:
    """Which limits of a problem are not looked for.

    >>> beyond_search(sh.Problem(np.eye(3), sh.Gaussian(2), 2, sh.Polynomial([0, 1, 0, 1]), bias=True))
    []
    """
    places = [end.place for end in ends(problem) if end.name != AT_INFINITY]
    constant = any(not end.own for end in ends(problem))
    three = [OF_THREE] * (problem.width >= MOST) + [OF_MORE] * (problem.width > MOST)
    return [NOT_ALIKE] * (constant or len(places) > 1) + three


def strata(places: list[End], p: tuple[float, ...], width: int) -> list[tuple[Block, ...]]:
    """Sums of blocks with up to so many neurons, some of them at boundaries of their set or merged; those of fewer
    neurons, beside idle ones, first. Two linear forms are one.

    >>> from fractions import Fraction
    >>> cubic = End("at infinity", Fraction(0), (3, 1), (Fraction(1), Fraction(1)))
    >>> [[block.words for block in blocks] for blocks in strata([cubic], (0.0, 1.0, 0.0, 1.0), 2)][1:4]
    [['a neuron', 'one at infinity'], ['one at infinity', 'one at infinity'], ['two merged neurons']]
    """
    single: Block = Single(p)
    blocks = [single, *_at_ends(places), Merged(p), *_merged_at_ends(places), MergedThree(p)]
    blocks += _three_at_ends(places)
    found = [those for total in range(1, width + 1) for those in _sums(blocks, total)]
    return [those for those in found if set(those) != {single} and sum(map(is_linear, those)) < 2]


def is_linear(block: Block) -> bool:
    """Whether a block is any linear form."""
    return isinstance(block, AtEnd) and block.is_linear


def _sums(blocks: list[Block], total: int) -> Iterator[tuple[Block, ...]]:
    """All multisets of blocks with so many neurons."""
    if not total:
        yield ()
    for i, block in enumerate(blocks):
        if block.neurons <= total:
            yield from ((block, *rest) for rest in _sums(blocks[i:], total - block.neurons))


def _at_ends(places: list[End]) -> list[Block]:
    """One neuron at an end, where some end with its power is a boundary."""
    alike: dict[int, list[End]] = {}
    for end in places:
        if end.own:
            alike.setdefault(end.own, []).append(end)
    return [AtEnd(tuple(those)) for those in alike.values() if any(end.is_boundary for end in those)]


def _merged_at_ends(places: list[End]) -> list[Block]:
    """Two that merge at an end; where e₀ = 1 and all gaps are even they leave what one and a linear form do."""
    alike: dict[tuple[Part, ...], list[End]] = {}
    for end in places:
        if end.is_boundary and (end.own != 1 or end.odd is not None):
            alike.setdefault(merged_parts(end), []).append(end)
    return [MergedAtEnd(tuple(those)) for those in alike.values()]


def _three_at_ends(places: list[End]) -> list[Block]:
    """Three that merge at an end."""
    alike: dict[tuple[Part, ...], list[End]] = {}
    for end in places:
        if has_three(end):
            alike.setdefault(three_parts(end), []).append(end)
    return [MergedThreeAtEnd(tuple(those)) for those in alike.values()]
