"""What is loaded is held against its problem: another problem, swapped or missing losses, moved networks are noticed.

The files are written with their checksums, so it is the contents that are found wrong.
"""

import json
import subprocess
import sys

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.file import FORMAT as CHART
from shallows.questions.descent.results.ensemble import FORMAT as ENSEMBLE
from shallows.support.strict_json import strict_json

FIVE = sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=1)
OTHER = sh.Problem(np.diag([5.0, 4.0]), sh.Frobenius(2), width=1)
#: One problem of each kind that can be charted.
PROBLEMS = {
    "closed form": FIVE,
    "families": sh.Problem(np.eye(3), sh.Gaussian(3), width=2),
    "moved far away": sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2, mean=[30.0, 40.0]), width=1),
    "homotopy": sh.Problem(np.diag([2.0, 1.0]), sh.IID(2, [1, 0, 1, 0, 9]), width=1),
    "fixed outer weights": sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1, outer="ones"),
    "cubic": sh.Problem(sh.Network(np.eye(2), [2.0, 1.0], sh.Power(3)), sh.Gaussian(2), width=1),
}


def changed(file, format, **changes):
    """The file again, with other arrays, and with checksums that fit."""
    contents = format.load(file)
    document = {k: v for k, v in contents.document.items() if k not in ("format", "version", "sha256")}
    arrays = {name: contents.arrays[name] for name in contents.arrays}
    for name, change in changes.items():
        arrays[name] = change(arrays[name].copy())
    return format.save(file, document, arrays)


@pytest.fixture(scope="module")
def charts():
    return {name: sh.chart(problem) for name, problem in PROBLEMS.items()}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_chart_of_its_problem_is_loaded_without_a_word(tmp_path, charts, name):
    chart = charts[name]
    again = sh.load_chart(chart.save(tmp_path / "chart"))
    assert again.notes == chart.notes and again.losses.tolist() == chart.losses.tolist()
    assert sh.load_chart(tmp_path / "chart", PROBLEMS[name]).notes == chart.notes


def test_a_chart_of_another_problem_is_refused(tmp_path):
    file = sh.chart(FIVE).save(tmp_path / "chart")
    with pytest.raises(sh.InvalidProblem, match=r"chart\.json does not belong to .* loss 1, and .* is "):
        sh.load_chart(file, OTHER)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("what", ["swapped", "NaN", "shifted", "moved"])
def test_losses_and_networks_that_are_not_the_problems_are_refused(tmp_path, charts, name, what):
    file = charts[name].save(tmp_path / "chart")
    changes = {
        "swapped": {"loss": lambda loss: loss[::-1]},
        "NaN": {"loss": lambda loss: np.where(np.arange(len(loss)) == 1, np.nan, loss)},
        "shifted": {"loss": lambda loss: loss * 1.001 + 0.001},
        "moved": {"W": lambda W: W + 0.01},
    }[what]
    with pytest.raises(sh.InvalidProblem, match=r"chart\.json does not belong to"):
        sh.load_chart(changed(file, CHART, **changes))


def test_a_gradient_that_does_not_vanish_is_noticed_where_the_loss_is_right(tmp_path):
    """A network off the critical point, with its own loss beside it."""
    chart = sh.chart(FIVE)
    file = chart.save(tmp_path / "chart")
    networks = [point.network for point in chart.critical]
    losses = [FIVE.loss(sh.Network(1.01 * net.W, net.a)) for net in networks]
    with pytest.raises(sh.InvalidProblem, match="the gradient does not vanish"):
        sh.load_chart(changed(file, CHART, W=lambda W: 1.01 * W, loss=lambda _: np.array(losses)))


def test_what_was_not_compared_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("shallows.questions.charts.comparison.COMPARED", 2)
    chart = sh.load_chart(sh.chart(FIVE).save(tmp_path / "chart"))
    assert chart.notes[-1] == "loaded: 1 of 3 points were not compared with the problem"


@pytest.mark.parametrize("array", ["losses", "gradient_norms", "thetas"])
def test_ensembles_with_other_numbers_are_refused(tmp_path, array):
    runs = sh.ensemble(FIVE, runs=8)
    file = runs.save(tmp_path / "runs")
    sh.load_ensemble(file)
    for change in (
        lambda x: x + 0.1,
        lambda x: np.where(np.arange(len(x)).reshape(-1, *(1,) * (x.ndim - 1)) == 3, np.nan, x),
    ):
        runs.save(tmp_path / "runs")
        with pytest.raises(sh.InvalidProblem, match=r"runs\.json"):
            sh.load_ensemble(changed(file, ENSEMBLE, **{array: change}))
    runs.save(tmp_path / "runs")
    with pytest.raises(sh.InvalidProblem, match="not of one length"):
        sh.load_ensemble(changed(file, ENSEMBLE, **{array: lambda x: x[:-1]}))
    runs.save(tmp_path / "runs")
    with pytest.raises(sh.InvalidProblem, match="target or data differ"):
        sh.load_ensemble(file, OTHER)


def test_ensembles_with_runs_that_diverged_are_loaded(tmp_path):
    runs = sh.ensemble(FIVE, runs=12, method="gd", step=0.1, init="large", polish=False, iterations=200)
    again = sh.load_ensemble(runs.save(tmp_path / "runs"))
    assert runs.counts()["diverged"] > 0
    np.testing.assert_array_equal(again.losses, runs.losses)


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


def test_documents_on_stdout_have_no_nan_and_no_infinity(tmp_path):
    text = strict_json({"a": [float("nan"), {"b": float("-inf")}], "c": (1.5, np.float64("inf"))})
    assert json.loads(text, parse_constant=refuse) == {"a": [None, {"b": None}], "c": [1.5, None]}
    (tmp_path / "data.csv").write_text("a,b\n1,2\n1,2\n1,2\n")  # no variance: R² is 0/0, the gap is not known
    command = [sys.executable, "-m", "shallows", "fit", "data.csv", "--target", "b", "--json"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600)
    json.loads(run.stdout, parse_constant=refuse)
