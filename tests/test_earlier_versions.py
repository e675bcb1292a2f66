"""Files that earlier versions wrote: each still loads, or the error says what to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import shallows as sh

EARLIER = Path(__file__).resolve().parent / "earlier_versions"
#: The problems of the files of version 1, which kept a text of them only.
CHARTED = sh.Problem(np.diag([3.0, 1.0, 1.0]), sh.Gaussian(3), width=2)
TRAINED = sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=1)


def test_a_chart_of_version_1_loads_without_and_with_its_problem() -> None:
    chart = sh.load_chart(EARLIER / "chart-1")
    again = sh.chart(CHARTED)
    np.testing.assert_allclose(chart.points.table.loss, again.points.table.loss, rtol=1e-12)
    assert chart.problem is None and chart.points[0].parameter_signature is None
    said = [
        note for note in chart.notes if note.startswith("family of rank")
    ]  # without kinds and networks there
    assert len(said) == len(again.families) == 2 and not chart.families
    assert chart.points[0].certificate is not None and chart.points[0].escape is not None
    known = sh.load_chart(EARLIER / "chart-1.json", CHARTED)
    assert known.points[0].parameter_signature == again.points[0].parameter_signature


def test_a_chart_of_version_1_is_written_in_the_newest_version(tmp_path: Path) -> None:
    path = sh.load_chart(EARLIER / "chart-1", CHARTED).save(tmp_path / "chart")
    assert repr(sh.load_chart(path).problem) == repr(CHARTED)


def test_an_ensemble_of_version_1_asks_for_its_problem() -> None:
    with pytest.raises(sh.InvalidProblem, match=r"load_ensemble\(path, problem\) with Problem\(Symmetric"):
        sh.load_ensemble(EARLIER / "ensemble-1")
    runs = sh.load_ensemble(EARLIER / "ensemble-1.npz", TRAINED)
    assert [minimum.count for minimum in runs.minima] == [7, 3] and len(runs) == 10


def test_a_discriminant_of_version_1(tmp_path: Path) -> None:
    assert sh.discriminants.load(EARLIER / "discriminant-1").n_terms == 152
    bare = tmp_path / "ellipse"  # .json was not put after a name that had no ending
    shutil.copy(EARLIER / "discriminant-1.json", bare)
    assert sh.discriminants.load(bare).n_terms == 152


def test_a_sweep_of_version_1_goes_on(tmp_path: Path) -> None:
    out = shutil.copytree(EARLIER / "sweep-1", tmp_path / "sweep")
    frame = sh.load_sweep(out)
    assert frame["real"].tolist() == [4, 4] and frame["kurtosis"].tolist() == [2.0, 9.0]
    plan = sh.sweep.load_plan(out)
    assert sh.run_sweep(plan, out, engine="process").computed == 0
    problem = plan.problem(plan.cell(1))
    assert problem is not None and repr(problem.data) == "IID(2, moments=[1.0, 0.0, 1.0, 0.0, 9.0])"


def test_a_name_that_lost_its_end_is_explained(tmp_path: Path) -> None:
    """Version 1 wrote kurtosis-2.json for kurtosis-2.5."""
    for suffix in (".json", ".npz"):
        shutil.copy(EARLIER / f"chart-1{suffix}", tmp_path / f"kurtosis-2{suffix}")
    with pytest.raises(sh.InvalidProblem, match=r"Fix: load '.*kurtosis-2.json'"):
        sh.load_chart(tmp_path / "kurtosis-2.5")
