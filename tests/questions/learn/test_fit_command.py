"""`shallows fit`: tables, JSON, report and refusals."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import shallows as sh
from shallows.uses.commands.fit import fit

app = typer.Typer()
app.command()(fit)


@pytest.fixture
def table(tmp_path, rng):
    X = rng.standard_normal((200, 3))
    y = 2 * X[:, 0] ** 2 - X[:, 1] * X[:, 2]
    path = tmp_path / "data.csv"
    np.savetxt(path, np.c_[X, y], delimiter=",", header="a,b,c,y", comments="")
    return path


def test_fit_certificate_and_filters_are_printed_and_reported(table):
    result = CliRunner().invoke(app, [str(table), "--target", "y"])
    assert result.exit_code == 0, result.output
    for expected in ("200 × 3", "1.000000", "proved", "yes", "+1.000 a", "written"):
        assert expected in result.output
    page = table.with_suffix(".fit.html").read_text()
    assert "Eigenvalues" in page and 'class="plot"' in page and "<script src" not in page


def test_smaller_width_as_json(table):
    result = CliRunner().invoke(app, [str(table), "--target", "y", "--width", "1", "--json"])
    document = json.loads(result.stdout)
    assert document["width"] == 1 and len(document["neurons"]) == 1
    assert document["lower_bound"] <= document["loss"]
    assert document["neurons"][0]["eigenvalue"] == pytest.approx(2, abs=0.3)


def test_several_targets_and_notes(table):
    result = CliRunner().invoke(app, [str(table), "--target", "y,c", "--width", "7", "--json"])
    document = json.loads(result.stdout)
    assert {row["output"] for row in document["neurons"]} == {1, 2}
    assert any("D = 3" in note for note in document["notes"])


@pytest.mark.parametrize(("target", "what"), [("z", "no column z"), ("a,b,c,y", "no input columns")])
def test_bad_targets_are_refused(table, target, what):
    result = CliRunner().invoke(app, [str(table), "--target", target])
    assert isinstance(result.exception, sh.InvalidProblem) and what in str(result.exception)


def test_a_missing_file_is_refused(tmp_path):
    result = CliRunner().invoke(app, [str(tmp_path / "no.csv"), "--target", "y"])
    assert isinstance(result.exception, sh.InvalidProblem)
