"""`shallows sweep FILE`, `shallows sweep status PATH`, and the ready sweeps."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from shallows.support.errors import InvalidProblem
from shallows.sweep import Plan, load_sweep, run_sweep
from shallows.uses.commands.sweep import sweep as command

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples" / "sweeps").glob("*.toml"))
app = typer.Typer()
app.command()(command)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_sweep_from_the_command_line(sweep):
    sweep.touchy(4, bad=[2])
    common = ("--out", sweep.out, "--engine", "process")
    dry = run(sweep.file, *common, "--dry-run")
    assert dry.exit_code == 0 and "4 cells × 1 repeat = 4 rows, 4 to compute" in dry.stdout
    assert not sweep.out.exists()
    document = json.loads(run(sweep.file, *common, "--dry-run", "--json").stdout)
    assert document["missing"] == 4 and len(document["sampled_seconds"]) == 3
    done = run(sweep.file, *common)
    assert done.exit_code == 1 and "3 of 4 rows done, 1 with an error" in done.stdout
    status = run("status", sweep.out)
    assert status.exit_code == 0 and "ValueError: no 2 here" in status.stdout
    document = json.loads(run("status", sweep.out, "--json").stdout)
    assert (document["done"], document["errors"], document["troubles"][0]["count"]) == (3, 1, 1)
    quiet = run(sweep.file, *common, "--quiet")
    assert quiet.stdout == "" and quiet.exit_code == 1


def test_a_seed_of_the_command_line_replaces_the_files(sweep):
    file = sweep.touchy(2)
    common = (file, "--out", sweep.out, "--engine", "process")
    assert run(*common).exit_code == 0 and run(*common, "--seed", 5).exit_code == 0
    assert "2 of 2 rows done" in run(*common, "--seed", 5).stdout
    assert set(load_sweep(sweep.out)["seed"]) == {
        Plan.from_file(file).with_seed(5).cell(k).seed for k in (0, 1)
    }
    assert run(*common, "--seed", -1).exit_code == 2


def test_figures_are_written_with_the_rows_and_again_on_demand(sweep):
    file = sweep.touchy(3)
    file.write_text(file.read_text() + '[[figures]]\nkind = "line"\nx = "x"\ny = "y"\n')
    assert run(file, "--out", sweep.out, "--engine", "process").exit_code == 0
    page = sweep.out / "figures.html"
    assert page.exists()
    page.unlink()
    assert run("figures", sweep.out).exit_code == 0 and page.exists()
    assert json.loads(run("figures", sweep.out, "--json").stdout)["figures"] == str(page)


def test_wrong_arguments_are_refused(sweep):
    assert isinstance(run("status").exception, InvalidProblem)
    assert isinstance(run("status", sweep.folder).exception, InvalidProblem)
    assert isinstance(run(sweep.touchy(1), "extra").exception, InvalidProblem)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_ready_sweeps_are_sound(file):
    plan = Plan.from_file(file)
    assert len(plan) >= 30 and plan.section.figures and plan.section.title


def test_there_are_the_five_ready_sweeps():
    assert {file.stem for file in EXAMPLES} == {
        "kurtosis",
        "relu-width",
        "variants",
        "samples",
        "barrier-start",
    }


def test_the_way_from_3_to_13(tmp_path):
    """Paper 000, Theorem 36: 3 real points at kurtosis 3; 13 far from it, on either side; every count is proved."""
    kurtosis = next(file for file in EXAMPLES if file.stem == "kurtosis")
    assert run_sweep(kurtosis, tmp_path / "out", engine="process").status.complete
    frame = load_sweep(tmp_path / "out")
    real = dict(zip(frame["kurtosis"].round(1), frame["real"], strict=True))
    assert real[3.0] == 3 and real[9.0] == 13 and real[1.1] == 13
    assert set(frame["completeness"]) == {"proved"} and set(frame["complex"]) == {3, 13}
