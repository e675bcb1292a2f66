"""Experiments: every cell is plain and repeatable, an interrupted run goes on, and every comparison can disagree."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shallows.support.errors import InvalidProblem, MissingExtra
from shallows.uses.papers.experiments.experiment import (
    SCALES,
    Comparison,
    Experiment,
    Plan,
    Presentation,
    Row,
    Settings,
)
from shallows.uses.papers.experiments.library import experiments, find_experiments
from shallows.uses.papers.experiments.looks import same_share
from shallows.uses.papers.experiments.run import reproduce, sweep_of
from shallows.uses.papers.experiments.write import page
from shallows.uses.sweep.faults import SweepStopped

ALL = experiments()
NAMES = {
    "000-figure-1", "000-figure-2", "001-sample-threshold", "001-initialisation", "002-table-1", "002-figure-2",
    "002-figure-3", "002-figure-4", "002-figure-5", "003-figure-1", "003-minima", "003-extra-neurons", "003-table-1",
    "003-figure-2",
}  # fmt: skip
#: Settings that make a cell of each task cheap enough for every commit; the rest stays as it is.
SMALL: dict[str, Settings] = {
    "landscapes.landscape": {"grid": 31},
    "focal_loci.curves": {"points": 50},
    "planted.threshold": {"d": 3, "runs": 2},
    "planted.start": {"trials": 50},
    "quadratic_training.trainings": {"sets": 1, "runs": 2, "epochs": 50},
    "deep_training.synthetic": {"runs": 1, "iterations": 5, "hidden": 5},
    "deep_training.images": {"runs": 1, "iterations": 5, "hidden": 2},
    "relu_norms.norm_sums": {"runs": 2, "k": 6},
    "relu_minima.minima": {"k": 7, "runs": 20, "large": 5},
    "relu_extra.shares": {"k": 6, "n": 7, "runs": 4},
    "relu_conjecture.curvatures": {"k": 5, "m": 2, "samples": 4},
    "product.grid": {"grid": 9},
}
#: Sizes that the papers fix: constants of the task's module, smaller here.
CONSTANTS = {"deep_training.synthetic": {"D": 5}}


def test_every_figure_and_table_is_there() -> None:
    assert {experiment.name for experiment in ALL} == NAMES
    assert {experiment.task for experiment in ALL} == set(SMALL)
    for experiment in ALL:
        assert experiment.shows.endswith(".") and len(experiment.shows) < 120


@pytest.mark.parametrize("experiment", ALL, ids=lambda e: e.name)
def test_cells_are_plain_and_distinct(experiment: Experiment) -> None:
    for scale in SCALES:
        cells = experiment.cells(Plan(scale, 3))
        assert len(set(sweep_of(experiment, Plan(scale, 3)).keys())) == len(cells) > 0
        for settings in cells:
            assert json.loads(json.dumps(settings)) == settings


@pytest.mark.parametrize("task", SMALL)
def test_a_cell_is_plain_and_repeatable(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = next(e for e in ALL if e.task == task)
    for name, value in CONSTANTS.get(task, {}).items():
        monkeypatch.setattr(sys.modules[experiment.compute.__module__], name, value)
    settings = {**experiment.cells(Plan())[0], **SMALL[task]}
    rows = experiment.compute(settings)
    assert rows and json.loads(json.dumps(rows)) == rows
    for row in rows:
        for value in row.values():
            assert value is None or isinstance(value, bool | int | float | str)
            assert not (isinstance(value, float) and math.isnan(value))
    assert experiment.compute(settings) == rows


def _squares(plan: Plan) -> list[Settings]:
    return [{"x": x, "seed": plan.seed} for x in range(plan.pick(4, 6))]


def _square(settings: Settings) -> list[Row]:
    with Path(os.environ["SHALLOWS_TEST_LOG"]).open("a") as file:
        file.write(f"{settings['x']}\n")
    if settings["x"] == int(os.environ.get("SHALLOWS_TEST_STOP", -1)):
        raise KeyboardInterrupt
    return [{"x": settings["x"], "square": settings["x"] ** 2, "text": 'a "quoted", <tag>'}]


def _shown(rows: list[Row], plan: Plan) -> Presentation:
    import plotly.graph_objects as go

    from shallows.support.theme import styled
    from shallows.uses.report.page import Picture

    figure = styled(go.Figure().add_scatter(x=[row["x"] for row in rows], y=[row["square"] for row in rows]))
    total = sum(int(row["square"] or 0) for row in rows)
    return Presentation(
        ("Squares </script> & more.",),
        [Picture("Squares", figure, "A <b>caption</b>.")],
        [Comparison("sum", "14", str(total), total == 14), Comparison("count", "", str(len(rows)))],
    )


SQUARES = Experiment("000-squares", "Squares", "Squares of numbers.", _squares, _square, _shown)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv("SHALLOWS_TEST_LOG", str(path))
    return path


def test_an_interrupted_run_goes_on(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHALLOWS_TEST_STOP", "1")  # the third in the order of the sweep
    with pytest.raises(KeyboardInterrupt):
        reproduce([SQUARES], Plan(), tmp_path / "out", jobs=1)
    before = len(log.read_text().split()) - 1
    assert before > 0
    monkeypatch.delenv("SHALLOWS_TEST_STOP")
    (result,) = reproduce([SQUARES], Plan(), tmp_path / "out", jobs=1)
    assert (result.cells, result.reused) == (4, before)
    assert sorted(log.read_text().split()) == ["0", "1", "1", "2", "3"]
    (larger,) = reproduce([SQUARES], Plan("paper"), tmp_path / "out", jobs=1)
    assert (larger.cells, larger.reused) == (6, 4)
    (other_seed,) = reproduce([SQUARES], Plan(seed=1), tmp_path / "out", jobs=1)
    assert other_seed.reused == 0
    assert {path.name for path in (tmp_path / "out").rglob(".*")} == {".lock"}


def test_processes_compute_the_same_rows(tmp_path: Path) -> None:
    (experiment,) = find_experiments("000-figure-2")
    before = dict(os.environ)
    (alone,) = reproduce([experiment], Plan(), tmp_path / "one", jobs=1)
    (together,) = reproduce([experiment], Plan(), tmp_path / "two", jobs=2)
    assert alone.rows == together.rows
    assert dict(os.environ) == before


def _swallows_the_interrupt(settings: Settings) -> list[Row]:
    """What `sh.ensemble` does: after Ctrl-C, whatever there is."""
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    except KeyboardInterrupt:
        return [{"x": settings["x"], "square": -1}]
    return []


def test_a_cell_that_answers_an_interrupt_with_less_is_not_kept(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        reproduce([replace(SQUARES, compute=_swallows_the_interrupt)], Plan(), tmp_path, jobs=1)
    assert not list(tmp_path.rglob("*.parquet"))
    assert signal.getsignal(signal.SIGINT) is before


def test_files_and_page(tmp_path: Path, log: Path) -> None:
    (result,) = reproduce([SQUARES], Plan(), tmp_path, jobs=1)
    table, text = result.files[0], result.files[1].read_text(encoding="utf-8")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["square"]) for row in rows] == [0, 1, 4, 9]
    assert rows[0]["text"] == 'a "quoted", <tag>'
    assert "Squares &lt;/script&gt; &amp; more." in text and "A &lt;b&gt;caption&lt;/b&gt;." in text
    assert text.count("Plotly.react") == 1 and "✓" in text
    assert not re.search(r'(?:src|href)="https?:', text.split("<main>")[0] + text.split("</main>")[1][-3000:])
    assert "1 of 1 comparisons agree" in result.summary()
    assert result.to_dict()["comparisons"][0]["agrees"] is True


def test_a_disagreement_is_shown(tmp_path: Path, log: Path) -> None:
    (result,) = reproduce([SQUARES], Plan("paper"), tmp_path, jobs=1)
    assert [c.quantity for c in result.disagreements] == ["sum"]
    assert 'class="disagrees"' in page(result) and "✗ sum: 14 | 55" in repr(result)


def _fails(settings: Settings) -> list[Row]:
    if settings["x"] == 2:
        raise InvalidProblem("no 2 here")
    return _square(settings)


def test_a_cell_that_fails_is_named_and_computed_again(tmp_path: Path, log: Path) -> None:
    failing = replace(SQUARES, compute=_fails)
    for _ in range(2):
        with pytest.raises(SweepStopped, match=r'1 of 4 cells .*"x": 2,.* no 2 here'):
            reproduce([failing], Plan(), tmp_path, jobs=1)
    assert sorted(log.read_text().split()) == ["0", "1", "3"]


def test_without_the_extra_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shallows.uses.sweep.extra.find_spec", lambda name: None if name == "dask" else name)
    with pytest.raises(MissingExtra, match=r"shallows\[sweep\]"):
        reproduce([SQUARES], Plan(), tmp_path, jobs=1)


def test_names_and_plans_are_checked() -> None:
    assert [e.name for e in find_experiments("001")] == ["001-sample-threshold", "001-initialisation"]
    assert find_experiments("all") == ALL
    with pytest.raises(InvalidProblem, match="Did you mean 002-figure-2"):
        find_experiments("002-figur-2")
    with pytest.raises(InvalidProblem, match="'quick' or 'paper'"):
        Plan("huge")  # type: ignore[arg-type]
    with pytest.raises(InvalidProblem, match="non-negative integer"):
        Plan(seed=-1)


@pytest.mark.parametrize(
    ("first", "second", "same"), [(0.68, 0.66, True), (0.68, 0.3, False), (1.0, 1.0, True)]
)
def test_shares_are_compared_as_binomials(first: float, second: float, same: bool) -> None:
    assert same_share(first, 200, second, 500) is same


def test_false_alarms_are_as_rare_as_they_should_be() -> None:
    """3.5 standard deviations of two binomials: about 5 in 10,000."""
    source = np.random.default_rng(0)
    shares = source.binomial([[200], [500]], 0.2, (2, 2000)) / [[200], [500]]
    assert sum(not same_share(a, 200, b, 500) for a, b in shares.T) < 8


def test_a_changed_row_turns_a_comparison(tmp_path: Path) -> None:
    """The comparisons look at the rows: with other rows they disagree."""
    (experiment,) = find_experiments("000-figure-2")
    rows = [
        row for settings in experiment.cells(Plan()) for row in experiment.compute({**settings, "points": 50})
    ]
    assert all(c.agrees for c in experiment.present(rows, Plan()).comparisons)
    broken = [{**row, "terms": 151} if row.get("curve") == "ellipse" else row for row in rows]
    assert [c.agrees for c in experiment.present(broken, Plan()).comparisons].count(False) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("experiment", ALL, ids=lambda e: e.name)
def test_quick_scale_agrees_with_what_is_published(experiment: Experiment, tmp_path: Path) -> None:
    (result,) = reproduce([replace(experiment)], Plan(), tmp_path, jobs=2)
    assert not result.disagreements, result
