"""`shallows reproduce` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shallows.support.errors import InvalidProblem
from shallows.uses.commands.cli import app

RUN = CliRunner()


def test_without_a_name_everything_is_listed() -> None:
    result = RUN.invoke(app, ["reproduce"])
    assert result.exit_code == 0
    assert "002-figure-2" in result.stdout and "003-extra-neurons" in result.stdout
    names = [entry["name"] for entry in json.loads(RUN.invoke(app, ["reproduce", "--json"]).stdout)]
    assert len(names) == 14 and names == sorted(names, key=lambda name: name[:3])


def test_an_experiment_is_run_and_written(tmp_path: Path) -> None:
    arguments = ["reproduce", "003-figure-2", "--out", str(tmp_path), "--jobs", "1"]
    result = RUN.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "λ = 2" in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"003-figure-2.csv", "003-figure-2.html", "cells"}
    document = json.loads(RUN.invoke(app, [*arguments, "--json"]).stdout)
    assert document["reused"] == document["cells"] == 1
    assert all(entry["agrees"] for entry in document["comparisons"])
    quiet = RUN.invoke(app, [*arguments, "--quiet"])
    assert quiet.exit_code == 0 and quiet.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["002-figur-2"], "Did you mean 002-figure-2"),
        (["003-figure-2", "--scale", "huge"], "--scale is 'huge'; expected quick or paper"),
        (
            ["002-figure-5", "--data", "no-such-folder"],
            "expected digits, openml, or the folder of MNIST's IDX files or of mnist_pca_47.npz",
        ),
        (["003-figure-2", "--jobs", "0"], "expected at least 1"),
    ],
)
def test_wrong_arguments_are_named_before_any_work(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    result = RUN.invoke(app, ["reproduce", *arguments, "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, InvalidProblem) and message in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    result = RUN.invoke(app, ["reproduce", "003-figure-2", "--out", str(path)])
    assert "expected a folder" in str(result.exception)
