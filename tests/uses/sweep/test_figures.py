"""Pooling over repeats, binomial intervals, figures and their page."""

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows.support.errors import InvalidProblem
from shallows.sweep import run_sweep
from shallows.uses.sweep.figures import heat_map, line, phase_diagram, write_figures
from shallows.uses.sweep.pooling import Z, pooled, wilson


@given(st.integers(1, 2000), st.data())
def test_wilson_ends_are_the_roots_of_its_quadratic(trials, data):
    """(p̂ − p)² = z² p(1 − p)/n at both ends, and nowhere else: the square in the middle is smaller."""
    successes = data.draw(st.integers(0, trials))
    low, high = wilson(np.array([float(successes)]), np.array([float(trials)]))
    share = mpmath.mpf(successes) / trials
    for end in (low[0], high[0]):
        p = mpmath.mpf(float(end))
        assert abs((share - p) ** 2 - mpmath.mpf(Z) ** 2 * p * (1 - p) / trials) < 1e-14
    assert 0 <= low[0] <= successes / trials <= high[0] <= 1


def test_wilson_covers_about_95_percent(rng):
    for p in (0.02, 0.3, 0.9):
        low, high = wilson(rng.binomial(200, p, 20000).astype(float), np.full(20000, 200.0))
        assert 0.93 < np.mean((low <= p) & (p <= high)) < 0.985


def frame():
    rows = [
        {"k": k, "extra": extra, "share": share, "runs": 10, "ok": share > 0.5, "loss": float(k + r), "status": "done"}
        for k, extra, share in ((6, 0, 1.0), (6, 1, 0.4), (8, 0, 0.0))
        for r in range(2)
    ]  # fmt: skip
    return pd.DataFrame([*rows, rows[0] | {"status": "error", "share": np.nan}])


def test_shares_are_pooled_as_counts_and_numbers_as_means():
    shares = pooled(frame(), ["k", "extra"], "share", "runs")
    assert shares["value"].tolist() == [1.0, 0.4, 0.0] and shares["count"].tolist() == [20, 20, 20]
    low, high = wilson(np.array([8.0]), np.array([20.0]))
    assert (shares["low"][1], shares["high"][1]) == (low[0], high[0])
    means = pooled(frame(), ["k"], "loss")
    assert means["value"].tolist() == [6.5, 8.5] and means["count"].tolist() == [4, 2]
    assert means["high"][1] - means["value"][1] == pytest.approx(Z * np.std([8, 9], ddof=1) / np.sqrt(2))
    assert pooled(frame(), ["k"], "ok")["value"].tolist() == [0.5, 0.0]
    with pytest.raises(InvalidProblem, match="no column 'shares'"):
        pooled(frame(), ["k"], "shares")
    with pytest.raises(InvalidProblem, match="No row is done"):
        pooled(frame().assign(status="error"), ["k"], "loss")


def test_figures_hold_the_pooled_numbers():
    drawn = line(frame(), "k", "share", by="extra", trials="runs")
    assert [trace.name for trace in drawn.data] == ["extra = 0", "extra = 1"]
    assert list(drawn.data[0].y) == [1.0, 0.0]
    assert drawn.data[0].error_y.arrayminus[0] == pytest.approx(
        1 - wilson(np.array([20.0]), np.array([20.0]))[0][0]
    )
    (cells,) = phase_diagram(frame(), "k", "extra", "share", "runs").data
    assert np.array_equal(cells.z, [[1.0, 0.0], [0.4, np.nan]], equal_nan=True)
    assert cells.text[1][0].startswith("0.40<br>0.2") and cells.text[1][1] == ""
    (cells,) = heat_map(frame(), "k", "extra", "loss").data
    assert cells.z[0][0] == 6.5
    assert phase_diagram(frame(), "k", "extra", "ok").data[0].z[0][0] == 1.0
    with pytest.raises(InvalidProblem, match="neither a boolean nor a share"):
        phase_diagram(frame(), "k", "extra", "share")


def test_the_page_is_written_from_the_file_and_needs_nothing_else(sweep):
    sweep.write(
        """
        title = "twice <and> again"
        repeats = 2
        [[axes]]
        path = "compute.x"
        values = [1, 2, 3]
        [compute]
        what = "cells:twice"
        [[figures]]
        kind = "line"
        x = "x"
        y = "drawn"
        log_x = true
        """
    )
    run_sweep(sweep.file, sweep.out, engine="process")
    page = write_figures(sweep.out).read_text()
    assert "<h1>twice &lt;and&gt; again</h1>" in page and "6 of 6 rows done" in page
    assert "<script src=" not in page and "cdn.plot.ly" not in page.split("<h1>")[0]
