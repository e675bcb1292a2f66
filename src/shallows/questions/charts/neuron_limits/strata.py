"""Which limits networks of a width have, as far as they are looked for: sums of blocks."""

from __future__ import annotations

from collections.abc import Iterator

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
from shallows.questions.charts.neuron_limits.ends import End
from shallows.questions.charts.neuron_limits.three_at_end import MergedThreeAtEnd, has_three, three_parts


def strata(ends: list[End], p: tuple[float, ...], width: int) -> list[tuple[Block, ...]]:
    """Sums of blocks with up to so many neurons, some of them at boundaries of their set or merged; those of fewer
    neurons, beside idle ones, first. Two linear forms are one.

    >>> from fractions import Fraction
    >>> cubic = End("at infinity", Fraction(0), (3, 1), (Fraction(1), Fraction(1)))
    >>> [[block.words for block in blocks] for blocks in strata([cubic], (0.0, 1.0, 0.0, 1.0), 2)][2:]
    [['a neuron', 'one at infinity'], ['two merged neurons'], ['two neurons that merge at infinity']]
    """
    single: Block = Single(p)
    blocks = [single, *_at_ends(ends), Merged(p), *_merged_at_ends(ends), MergedThree(p)]
    blocks += _three_at_ends(ends)
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


def _at_ends(ends: list[End]) -> list[Block]:
    """One neuron at an end, where some end with its power is a boundary."""
    alike: dict[int, list[End]] = {}
    for end in ends:
        if end.own:
            alike.setdefault(end.own, []).append(end)
    return [AtEnd(tuple(those)) for those in alike.values() if any(end.is_boundary for end in those)]


def _merged_at_ends(ends: list[End]) -> list[Block]:
    """Two that merge at an end; where e₀ = 1 and all gaps are even they leave what one and a linear form do."""
    alike: dict[tuple[Part, ...], list[End]] = {}
    for end in ends:
        if end.is_boundary and (end.own != 1 or end.odd is not None):
            alike.setdefault(merged_parts(end), []).append(end)
    return [MergedAtEnd(tuple(those)) for those in alike.values()]


def _three_at_ends(ends: list[End]) -> list[Block]:
    """Three that merge at an end."""
    alike: dict[tuple[Part, ...], list[End]] = {}
    for end in ends:
        if has_three(end):
            alike.setdefault(three_parts(end), []).append(end)
    return [MergedThreeAtEnd(tuple(those)) for those in alike.values()]
