"""Limits: one place, a sentence with the estimate, and the user's word is the last."""

import pickle

import pytest

import shallows as sh
from shallows.support.budget import (
    GIGABYTES,
    SECONDS,
    OutOfTime,
    OverBudget,
    duration,
    memory,
    require,
    require_time,
    stopped_after,
)
from shallows.support.progress import Progress, compiling_line


def test_what_fits_is_let_through_and_what_does_not_is_refused_with_the_estimate():
    require("Nothing")
    require("Little", seconds=3000, size=2**20)
    with pytest.raises(OverBudget, match=r"Much would take about 2\.78 hours; the limit is 60 minutes"):
        require("Much", seconds=10_000)
    with pytest.raises(
        OverBudget, match=r"Much would need about 1e\+03 TB; .* Fix: Less\. Or raise the limit"
    ) as caught:
        require("Much", size=1000 * 2.0**40, fix="Less.")
    assert caught.value.size == 1000 * 2.0**40
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_the_limit_is_what_the_user_says(monkeypatch):
    with sh.budget(seconds=20_000):
        require("Much", seconds=10_000)
        with sh.budget(gigabytes=1), pytest.raises(OverBudget):  # both hold
            require("Much", seconds=30_000)
        with pytest.raises(OverBudget, match=r"the limit is 5\.56 hours"):
            require("Reading", seconds=30_000, limit=10)
    with pytest.raises(OverBudget):
        require("Much", seconds=10_000)
    with sh.budget(seconds=1), pytest.raises(OverBudget, match="the limit is 1 s"):
        require("Little", seconds=2)
    monkeypatch.setenv(SECONDS, "20000")
    require("Much", seconds=10_000)
    monkeypatch.setenv(GIGABYTES, "0.5")
    with pytest.raises(OverBudget, match="the limit is 512 MB"):
        require("Much", size=2.0**30)
    monkeypatch.setenv(SECONDS, "long")
    with pytest.raises(sh.InvalidProblem, match="SHALLOWS_SECONDS is 'long'"):
        require("Little", seconds=1)


def test_the_sentence_names_a_limit_that_is_enough():
    for seconds in (10_000.0, 12_345.6, 1e9):
        with pytest.raises(OverBudget) as caught:
            require("Much", seconds=seconds)
        enough = float(str(caught.value).partition("SHALLOWS_SECONDS=")[2].split()[0])
        assert seconds <= enough <= 1.2 * seconds


def test_endless_estimates_are_said_so():
    with pytest.raises(OverBudget, match="more than a century"):
        require("Everything", seconds=10**400)
    with pytest.raises(OverBudget, match="more memory than there is"):
        require("Everything", size=10**400)
    assert duration(1e-3) == "0.001 s" and memory(100) == "100 bytes"


@pytest.fixture
def worked(monkeypatch):
    """A processor clock that goes on when it is told to."""
    now = [100.0]
    monkeypatch.setattr("time.process_time", lambda: now[0])

    def work(seconds):
        now[0] += seconds

    return work


def test_work_is_stopped_where_it_counts_its_progress(worked):
    told = []
    with stopped_after(2.0), Progress(10, "working", told.append, "steps") as bar:
        worked(1.0)
        bar.advance()
        worked(1.5)
        with pytest.raises(OutOfTime, match="stopped"):
            bar.advance()
    assert told == ["1 of 10 steps"]
    bar.advance()  # outside nothing is stopped


def test_the_earlier_of_nested_limits_holds(worked):
    with stopped_after(2.0), stopped_after(100.0):
        worked(3.0)
        with pytest.raises(OutOfTime):
            require_time()
    with stopped_after(100.0):
        with stopped_after(1.0):
            worked(2.0)
        require_time()


def test_compiling_does_not_count(worked):
    with stopped_after(2.0):
        with compiling_line(0):
            worked(60.0)
        worked(1.0)
        require_time()
        worked(1.5)
        with pytest.raises(OutOfTime):
            require_time()
