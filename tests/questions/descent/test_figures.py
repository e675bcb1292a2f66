"""Figures say what they show, and the command line prints the table."""

import numpy as np
import pytest
from typer.testing import CliRunner

import shallows as sh
from shallows.model.problem_file import load_problem
from shallows.questions.descent.descend import descend
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.descent.results.ensemble import load_ensemble
from shallows.questions.descent.results.figures import loss_curves, principal_plane, slice_plane, trajectories
from shallows.questions.descent.results.live import levels, loss_table
from shallows.questions.descent.starts import starts
from shallows.uses.commands.ensemble import ensemble as command

PROBLEM = sh.Problem(np.diag([1.0, 0.8, 0.6]), sh.Gaussian(3), 1)


@pytest.fixture(scope="module")
def recorded():
    return [descend(PROBLEM, theta, record=5, tolerance=1e-6) for theta in starts(PROBLEM, 6)]


def test_shares_and_losses():
    runs = ensemble(PROBLEM, 100)
    bars = runs.figure("shares").data[0]
    assert sum(bars.y) == pytest.approx(1.0) and list(bars.customdata) == [m.count for m in runs.minima]
    assert np.array_equal(runs.figure("losses").data[0].y, np.sort(runs.losses))
    with pytest.raises(sh.InvalidProblem, match="shares"):
        runs.figure("pie")
    assert "count" in str([column.header for column in runs.table().columns])


def test_loss_curves_have_quantiles_over_all_runs(recorded):
    figure = loss_curves(recorded)
    quantiles = {trace.name: trace for trace in figure.data if trace.name}
    assert set(quantiles) == {"10% quantile", "50% quantile", "90% quantile"}
    finals = [run.loss for run in recorded]
    assert quantiles["50% quantile"].y[-1] == pytest.approx(np.median(finals))
    with pytest.raises(sh.InvalidProblem, match="record"):
        loss_curves([descend(PROBLEM, starts(PROBLEM, 1)[0])])
    with pytest.raises(sh.InvalidProblem, match="No runs"):
        loss_curves([])


def test_principal_directions_state_the_variance_they_explain(recorded):
    plane = principal_plane([run.trajectory for run in recorded])
    points = np.concatenate([run.trajectory.thetas for run in recorded])
    share = np.linalg.eigvalsh(np.cov(points.T))[::-1]
    assert plane.explained == pytest.approx(tuple(share[:2] / share.sum()))
    figure = trajectories(PROBLEM, recorded)
    assert f"{plane.explained[0]:.1%}" in figure.layout.title.text and len(figure.data) == 7
    middle = PROBLEM.value(
        plane.origin + figure.data[0].x[3] * plane.axes[0] + figure.data[0].y[9] * plane.axes[1]
    )
    assert figure.data[0].z[9][3] == pytest.approx(np.log10(middle + 1e-16))


def test_slices(recorded):
    plane = slice_plane(np.zeros(4), [1.0, 1.0, 0, 0], [0, 1.0, 0, 0])
    assert np.allclose(plane.axes @ plane.axes.T, np.eye(2))
    assert "slice" in trajectories(PROBLEM, recorded[:1], plane).layout.title.text
    with pytest.raises(sh.InvalidProblem, match="parallel"):
        slice_plane(np.zeros(2), [1.0, 0.0], [2.0, 0.0])


def test_levels_and_live_table():
    assert levels(np.array([np.nan])) == []
    assert levels(np.array([2.0, 1.0, 1.0])) == [(1.0, 2), (2.0, 1)]
    assert loss_table(3, 9, np.arange(30.0)).row_count == 13


def test_the_command_prints_and_saves(tmp_path):
    import typer

    file = tmp_path / "problem.toml"
    file.write_text('width = 2\n[target]\ndiagonal = [1.0, 0.8, 0.6, 0.3]\n[data]\nlaw = "gaussian"\nn = 4\n')
    app = typer.Typer()
    app.command()(command)
    base = tmp_path / "runs.json"
    result = CliRunner().invoke(
        app, [str(file), "--runs", "60", "--chart", "--save", str(base), "--method", "lm"]
    )
    assert result.exit_code == 0, result.output
    assert "1.305" in result.output and "60 of 60 runs" in result.output and "global minimum" in result.output
    assert len(load_ensemble(base, load_problem(file))) == 60
