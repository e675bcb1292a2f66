"""Seeds, cores, progress and colours: the plumbing that every storey uses."""

from __future__ import annotations

import io
import os
import sys

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.points.kinds import KINDS
from shallows.support import cores, progress, theme
from shallows.support.progress import Progress, silent
from shallows.support.seeds import generator, seed_of


def test_a_seed_is_itself_and_a_generator_gives_one() -> None:
    assert seed_of(7) == seed_of(np.int64(7)) == 7
    assert generator(7).integers(1000) == np.random.default_rng(7).integers(1000)
    source = np.random.default_rng(1)
    assert generator(source) is source
    assert 0 <= seed_of(source) < 2**63 and seed_of(source) != seed_of(source)


@pytest.mark.parametrize("bad", [-1, 1.5, "0", None, True])
def test_what_is_no_seed_is_refused(bad: object) -> None:
    for ask in (generator, seed_of):
        with pytest.raises(sh.InvalidProblem, match="rng"):
            ask(bad)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_cores_are_those_the_process_may_use() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert cores.available() == 1 == cores.workers(None)
    finally:
        os.sched_setaffinity(0, before)
    assert cores.workers(5) == 5 and cores.workers(0) == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def as_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Stderr as a terminal. (Not a fixture: pytest puts its own stderr back between set-up and test.)"""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    return stream


def run_through(shown: progress.Shown = True) -> None:
    with Progress(3, "counting", shown, "sheep") as bar:
        bar.advance()
        bar.update(3)


def test_a_bar_is_drawn_on_a_terminal_when_patience_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = as_terminal(monkeypatch)
    run_through()
    assert "counting" in terminal.getvalue()
    terminal.truncate(0)
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    run_through()
    assert terminal.getvalue().strip("\0") == ""


def test_no_bar_when_silent_or_unwanted_or_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = as_terminal(monkeypatch)
    with silent():
        with silent():
            run_through()
        run_through()
    run_through(shown=False)
    assert terminal.getvalue() == ""
    plain = io.StringIO()
    monkeypatch.setattr(sys, "stderr", plain)
    run_through()
    assert plain.getvalue() == ""


def test_silence_ends_with_its_block_even_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = as_terminal(monkeypatch)
    with pytest.raises(KeyError), silent():
        raise KeyError
    run_through()
    assert "counting" in terminal.getvalue()


def test_whoever_asks_is_told_sentences() -> None:
    told: list[str] = []
    run_through(told.append)
    assert told == ["1 of 3 sheep", "3 of 3 sheep"]


def test_every_kind_of_critical_point_has_a_colour_and_a_symbol_of_its_own() -> None:
    for table in (theme.KIND_COLOURS, theme.KIND_SYMBOLS):
        assert len({table[kind] for kind in KINDS}) == len(KINDS)
