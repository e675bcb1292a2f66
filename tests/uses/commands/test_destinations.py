"""`--out`, in every command: X.html is the report, X.json the data, a folder everything."""

import json

import numpy as np
import pytest

import shallows as sh
from shallows.uses.commands import cli
from shallows.uses.commands.destinations import destinations, is_folder, numbered, ready

PROBLEM = 'width = 1\n[target]\ndiagonal = [2.0, 1.0]\n[data]\nlaw = "gaussian"\nn = 2\n'
SWEEP = """
[[axes]]
path = "compute.ratio"
values = [1, 4]
[compute]
what = "barrier-start-probability"
d = 3
gamma = "m"
trials = 20
[[figures]]
kind = "line"
x = "ratio"
y = "probability"
"""
#: The arguments of each command, and what a folder gets.
WRITTEN = {
    "chart": (["p.toml", "--train", "5"], {"report.html", "chart.json", "chart.npz"}),
    "connections": (["p.toml"], {"connections.html", "connections.json", "connections.npz"}),
    "diagnose": (["p.toml", "w.npz"], {"diagnosis.html", "diagnosis.json", "diagnosis.npz"}),
    "ensemble": (["p.toml", "--runs", "5"], {"report.html", "runs.json", "runs.npz"}),
    "discriminant": (
        ["ellipse", "--trials", "1", "--resolution", "11"],
        {"slice.html", "discriminant.json", "discriminant.txt", "discriminant.tex"},
    ),
    "verify": (["--claim", "000/eq-16", "--jobs", "1"], {"claims.html", "claims.json"}),
    "reproduce": (["003-figure-2", "--jobs", "1"], {"003-figure-2.csv", "003-figure-2.html", "cells"}),
    "fit": (["d.csv", "--target", "y"], {"report.html", "fit.json"}),
    "sweep": (["s.toml", "--engine", "process"], {"figures.html", "plan.json"}),
    "explore": (["--view", "ellipse"], {"report.html", "facts.json"}),
    "doctor": (["--no-check"], {"doctor.json", "doctor.html"}),
    "new": ([], {"problem.toml"}),
}


@pytest.fixture(autouse=True)
def _inputs(tmp_path, _stay_here):
    (tmp_path / "p.toml").write_text(PROBLEM)
    (tmp_path / "s.toml").write_text(SWEEP)
    np.savez(tmp_path / "w.npz", W=[[1.0, 0.1]], a=[2.0])
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    np.savetxt(tmp_path / "d.csv", np.c_[X, X[:, 0] ** 2], delimiter=",", header="a,b,y", comments="")


def test_every_command_is_here():
    assert set(WRITTEN) | {"warm"} >= set(cli.COMMANDS)


@pytest.mark.parametrize("name", [name for name in WRITTEN if name != "new"])
def test_the_ending_says_what_is_written(name, tmp_path, invoke):
    arguments, names = WRITTEN[name]
    for ending, first in ((".html", "<"), (".json", "[{")):
        file = tmp_path / "made" / f"x{ending}"
        assert f"written: {file}" in invoke(name, *arguments, "--out", file).output
        assert file.read_text(encoding="utf-8")[0] in first
        assert {path.suffix for path in file.parent.iterdir()} <= {".html", ".json", ".npz"}
    json.loads(file.read_text(encoding="utf-8"))
    invoke(name, *arguments, "--out", tmp_path / "folder")
    assert names <= {path.name for path in (tmp_path / "folder").iterdir()}
    assert name in ("reproduce", "sweep") or len(list((tmp_path / "folder").iterdir())) == len(names)


@pytest.mark.parametrize("name", WRITTEN)
def test_another_ending_is_refused_with_those_that_are_known(name, tmp_path, invoke):
    with pytest.raises(
        sh.InvalidProblem, match=r"--out is x\.pdf; expected a name that ends in .*\. Fix: --out x\."
    ):
        invoke(name, *WRITTEN[name][0], "--out", "x.pdf")


def test_the_example_in_two_files_and_one_report(tmp_path, invoke):
    """What was written beside it, under other names, when OUT was a stem."""
    invoke("chart", "--train", "0", "--out", "r.html")
    assert {path.name for path in tmp_path.iterdir()} == {"r.html", "p.toml", "s.toml", "d.csv", "w.npz"}
    invoke("chart", "--out", "v1.5.json")
    assert len(sh.load_chart("v1.5-2").points) == 14 and not (tmp_path / "shallows-chart.html").exists()


def test_what_is_saved_is_loaded_again(invoke):
    invoke("chart", "p.toml", "--out", "c.json")
    invoke("ensemble", "p.toml", "--runs", "7", "--save", "r.json")
    assert len(sh.load_chart("c.json").points) == 3 and len(sh.load_ensemble("r.json")) == 7


def test_a_report_may_have_a_place_of_its_own(tmp_path, invoke):
    invoke("chart", "p.toml", "--train", "0", "--out", "c.json", "--report", "r.html")
    assert {"c.json", "c.npz", "r.html"} <= {path.name for path in tmp_path.iterdir()}
    with pytest.raises(sh.InvalidProblem, match="both say where the report goes"):
        invoke("chart", "p.toml", "--out", "a.html", "--report", "b.html")


def test_one_file_cannot_hold_several_experiments(invoke):
    with pytest.raises(sh.InvalidProblem, match=r"one file for \d+ experiments\. Fix: --out x, a folder"):
        invoke("reproduce", "all", "--out", "x.html")


@pytest.mark.parametrize(
    ("name", "folder"), [("results", True), ("v2.5", True), ("a.b-2", True), ("x.html", False), (".", True)]
)
def test_what_is_a_folder(name, folder, tmp_path):
    assert is_folder(tmp_path / name) == folder


def test_folders_are_made_before_the_work(tmp_path, invoke):
    assert destinations(tmp_path / "a" / "b.json", {".json": "x.json"}) == {
        ".json": tmp_path / "a" / "b.json"
    }
    assert (tmp_path / "a").is_dir() and destinations(None, {".json": "x.json"}) == {}
    assert destinations(None, {}, tmp_path / "c" / "r.html") == {".html": tmp_path / "c" / "r.html"}
    with pytest.raises(sh.InvalidProblem, match="is a folder"):
        ready(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        invoke("chart", "--out", tmp_path / "file" / "c.json")


def test_numbers_stand_before_the_ending(tmp_path):
    assert numbered(tmp_path / "c.json", 0, 1) == tmp_path / "c.json"
    assert numbered(tmp_path / "c.json", 1, 2) == tmp_path / "c-2.json"
    assert numbered(tmp_path / "run.2026.json", 0, 2) == tmp_path / "run.2026-1.json"
