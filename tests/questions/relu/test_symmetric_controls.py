"""Controls of symmetric charts: skipped boxes, widened boxes and deleted zeros are noticed.

What notices them shares no code with the search: Newton's method on the library's dense gradient, ball arithmetic in
the values of the blocks, and the count and measure of boxes.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.questions.relu.fixed_space import distinct, missing, newton_ends, tables

import shallows as sh
from shallows.mathematics.exclusion import search as engine
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.result import Exclusion
from shallows.questions.relu import block_search
from shallows.support.errors import NotConverged

#: Widened boxes and domains reach so much further on each side: other zeros are within them.
MORE = 2.0
#: One block is searched in half a second, two in half a minute and more.
BLOCKS = [[4], pytest.param([1, 2], marks=pytest.mark.thorough)]
HONEST = {name: getattr(engine, name) for name in ("exclude", "examine", "_halves")}
POP = engine._State.pop


def noticed(sizes: list[int], ends: np.ndarray) -> str:
    """What notices that something is wrong: the search itself, or Newton's method, which finds a point besides."""
    try:
        chart = sh.relu.symmetric_chart(sum(sizes), sizes, search=True)
    except NotConverged as error:
        return str(error)
    return "Newton's method" if missing(chart, ends) else ""


def forgetful(self: Any) -> Intervals:
    """Each round takes its boxes from the stack, and leaves one of them out."""
    return POP(self)[1:]


def first_halves(boxes: Intervals, axis: Any) -> Iterator[Intervals]:
    """Of each box that is cut, the first half."""
    yield next(HONEST["_halves"](boxes, axis))


def careless(system: Any, box: Intervals, scale: np.ndarray) -> Any:
    """Boxes next to −1/2 in the first direction count as ones without zeros, whatever they have."""
    outcome, first = HONEST["examine"](system, box, scale), system.split[0]
    near = (np.abs(box.mid[:, first] + 0.5) < 0.1) & (box.width[:, first] < 0.2)
    outcome.out[near], outcome.proved[near] = True, False
    return outcome


def deleted(*given: Any, **options: Any) -> Exclusion:
    """Without the first zero of each cell."""
    found = HONEST["exclude"](*given, **options)
    return dataclasses.replace(found, box=found.box[1:], domain=found.domain[1:])


def widened(*given: Any, **options: Any) -> Exclusion:
    """Boxes and domains wider than what was proved."""
    found = HONEST["exclude"](*given, **options)
    box, domain = (Intervals(part.lo - MORE, part.hi + MORE) for part in (found.box, found.domain))
    return dataclasses.replace(found, box=box, domain=domain)


def lopsided(*given: Any, **options: Any) -> Exclusion:
    """Boxes wider on one side: their middles are elsewhere."""
    found = HONEST["exclude"](*given, **options)
    return dataclasses.replace(found, box=Intervals(found.box.lo, found.box.hi + MORE))


@pytest.mark.parametrize("sizes", BLOCKS)
@pytest.mark.parametrize(
    ("place", "name", "sabotage", "by"),
    [
        (engine._State, "pop", forgetful, "lost open boxes"),
        (engine, "_halves", first_halves, "cut into less"),
        (engine, "examine", careless, "Newton's method"),
        (block_search, "exclude", deleted, "Newton's method"),
        (block_search, "exclude", lopsided, "not proved|left the box|may be the same"),
    ],
)
def test_a_sabotaged_search_is_noticed(
    sizes: list[int], place: Any, name: str, sabotage: Any, by: str, monkeypatch: Any
) -> None:
    ends = newton_ends(sizes, 200, 3)
    monkeypatch.setattr(block_search, "PIECES", 2)  # one angle is cut by bisection, too
    monkeypatch.setattr(place, name, sabotage)
    assert re.search(by, noticed(sizes, ends))


def alone(search: block_search.BlockSearch, ends: np.ndarray) -> bool:
    """Whether each domain holds one of Newton's ends, and its box the same one."""
    for system, found in zip(search.systems, search.searches, strict=True):
        inside = [system.coordinates(table) for table in tables(system, ends)]
        for i in range(len(found.box)):
            box, domain = (Intervals(x.lo - 1e-9, x.hi + 1e-9) for x in (found.box[i], found.domain[i]))
            held = [x for x in inside if np.all(x > domain.lo) and np.all(x < domain.hi)]
            if len(held) != 1 or not (np.all(held[0] > box.lo) and np.all(held[0] < box.hi)):
                return False
    return True


@pytest.mark.parametrize("sizes", BLOCKS)
def test_a_widened_box_is_noticed(sizes: list[int], monkeypatch: Any) -> None:
    ends = np.array(distinct(newton_ends(sizes, 300, 3)))
    assert alone(block_search.search_blocks(tuple(sizes), 10_000_000, 1, False, None), ends)
    honest = sh.relu.symmetric_chart(sum(sizes), sizes, search=True)
    monkeypatch.setattr(block_search, "exclude", widened)
    assert not alone(block_search.search_blocks(tuple(sizes), 10_000_000, 1, False, None), ends)
    try:  # what is listed is proved in other arithmetic, and says how wide that proof is
        chart = sh.relu.symmetric_chart(sum(sizes), sizes, search=True)
    except NotConverged:
        return
    assert missing(chart, ends) or all(p.certificate.radius < 1e-12 for p in chart.symmetric)
    assert len(chart.symmetric) <= len(honest.symmetric)
