"""One policy for lost paths: other ways are tried, and what stays lost is said, for matrices and for powers alike."""

from dataclasses import replace

import numpy as np
import pytest

import shallows as sh
from shallows.homotopy import SolutionSet
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.lost_paths import WAYS, Settled, settle
from shallows.questions.charts.matrices.tracking import Frames


class Stubborn:
    """Ways that settle everything on the last of them, or never."""

    def __init__(self, works):
        self.works, self.tried = works, []

    def follow(self, way):
        self.tried.append(way)
        return self._ends(0) if way == self.works else None

    def unsettled(self):
        return self._ends(2)

    def _ends(self, lost):
        return Settled(SolutionSet(), SolutionSet(), np.zeros(0, bool), 0, lost, "count-matched")


def test_ways_are_tried_until_one_settles_everything():
    ways = Stubborn(works=2)
    assert settle(ways).completeness == "count-matched" and ways.tried == [0, 1, 2]


def test_what_no_way_settles_is_sampled():
    ways = Stubborn(works=None)
    settled = settle(ways)
    assert (settled.completeness, settled.lost) == ("sampled", 2) and ways.tried == list(range(WAYS))


def losing(track, key):
    """A tracker that loses one path of those it follows: the one whose end comes first by `key`."""

    def lossy(self, *given):
        solutions = track(self, *given)
        ends = sorted(solutions.finite, key=lambda s: key(self, given, s.point))
        if not ends:
            return solutions
        return replace(
            solutions,
            finite=SolutionSet(tuple(ends[1:]), solutions.finite.n),
            failed=SolutionSet((*solutions.failed, ends[0]), solutions.finite.n),
        )

    return lossy


def first_entry(self, given, point):
    """Of the tensor, or of the matrix in the member's own frame: the same for one end on all ways."""
    if isinstance(self, Frames):
        turn = given[2]
        entry = (turn @ self.equations.matrix(point) @ turn.T)[0, 0]
    else:
        entry = self.equations.tensors(point[None])[0, 0]
    return entry.real + entry.imag / 10  # conjugate ends differ


def path(self, given, point):
    """The first path of each way: another end each time."""
    return 0


CASES = {
    "matrices": (Frames, "_track", (3, 2, 0), {0: 1, 1: 13, 2: 13}),
    "powers": (Detours, "_tracked", (2, 2, 1, 4), {0: 1, 1: 10, 2: 13}),
}


@pytest.mark.parametrize("kind", CASES)
def test_an_end_that_no_way_reaches_leaves_the_chart_sampled(kind, generic, monkeypatch):
    ways, method, shape, counts = CASES[kind]
    monkeypatch.setattr(ways, method, losing(getattr(ways, method), first_entry))
    chart = sh.chart(generic(*shape), certify=False)
    assert chart.completeness == "sampled" and chart.complex_count[2] == counts[2] - 1
    assert any(note.startswith("rank 2: 1 paths were lost") for note in chart.notes)


@pytest.mark.parametrize("kind", CASES)
def test_paths_that_are_lost_once_are_found_another_way(kind, generic, monkeypatch):
    ways, method, shape, counts = CASES[kind]
    track, calls = getattr(ways, method), []

    def once(self, *given):
        calls.append(len(calls))
        return (losing(track, path) if len(calls) == 1 else track)(self, *given)

    sh.chart(generic(*shape), certify=False)  # the generic member is solved
    monkeypatch.setattr(ways, method, once)
    chart = sh.chart(generic(*shape[:2], shape[2] + 1, *shape[3:]), certify=False)
    assert chart.complex_count == counts and chart.completeness != "sampled" and len(calls) > 1
    assert not any("lost" in note for note in chart.notes)
