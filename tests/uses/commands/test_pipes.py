"""What a shell does to a program: readers that go away, Ctrl-C, a closed stdout, a full disk."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shallows.uses.commands import _common, cli

PROGRAM = [sys.executable, "-m", "shallows"]


@pytest.mark.parametrize("arguments", [["--help"], ["chart", "--json"], ["doctor", "--no-check"]])
def test_a_reader_that_goes_away_ends_it_quietly(arguments):
    """The reading end is closed before anything is written, as by `| true`; with `| head -1` it is closed later."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as pipe:
        result = subprocess.run(
            [*PROGRAM, *arguments], stdout=pipe, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (result.returncode, result.stderr) == (128 + signal.SIGPIPE, "")
    assert result.returncode == _common.READER_GONE


def test_head_takes_a_line_and_nobody_complains():
    shell = f"{sys.executable} -m shallows chart --train 0 | head -1; echo ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
    first, status = result.stdout.splitlines()
    assert first.startswith("one quadratic neuron") and result.stderr == ""
    assert int(status) in (0, _common.READER_GONE)  # 0 when all was written before head left


def test_a_pipe_that_is_not_stdout_s_is_a_bug_and_not_silence(monkeypatch, invoke):
    def broken(*arguments, **options):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("shallows.uses.commands.new.template", broken)
    with pytest.raises(RuntimeError, match="a pipe to another process broke"):
        invoke("new", "p.toml")


def test_a_closed_stdout_is_no_error(tmp_path):
    shell = f"{sys.executable} -m shallows new {tmp_path / 'p.toml'} >&-"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "") and (tmp_path / "p.toml").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_a_sentence():
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run(
            [*PROGRAM, "reproduce"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 2 and result.stderr == "shallows: No space left on device\n"


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


def main_with(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["shallows", *arguments])
    monkeypatch.setattr(cli, "_watched", lambda stdout: stdout)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code, capsys.readouterr().err


def test_ctrl_c_says_that_nothing_was_written(monkeypatch, capsys):
    monkeypatch.setattr("shallows.questions.charts.chart.chart", interrupt)
    assert main_with(monkeypatch, capsys, "chart") == (130, "shallows: interrupted; nothing was written\n")


def test_ctrl_c_says_what_was_written(monkeypatch, capsys):
    monkeypatch.setattr("shallows.uses.report.build.charts_report", interrupt)
    status, words = main_with(
        monkeypatch, capsys, "chart", "--out", "kept.json", "--quiet", "--report", "r.html"
    )
    assert status == 130
    assert words == "shallows: interrupted; written before that: kept-1.json, kept-2.json\n"


def test_ctrl_c_in_reproduce_says_how_to_go_on(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("shallows.uses.papers.experiments.run.reproduce", interrupt)
    arguments = ("reproduce", "000-figure-2", "--out", "folder")
    assert "nothing was finished" in main_with(monkeypatch, capsys, *arguments)[1]
    (tmp_path / "folder" / "cells" / "task").mkdir(parents=True)
    (tmp_path / "folder" / "cells" / "task" / "part.parquet").touch()
    status, words = main_with(monkeypatch, capsys, *arguments)
    assert status == 130 and "folder/cells: the same command goes on" in words


def test_ctrl_c_in_an_ensemble_keeps_and_says_what_has_finished(monkeypatch, invoke):
    """The library returns what has finished; here after the first chunk of runs."""
    module = sys.modules["shallows.questions.descent.ensemble"]
    collect = module._collect

    def interrupted(futures, done, rows, progress, watch):
        first = next(iter(futures))
        done[futures[first]] = first.result()
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_collect", interrupted)
    invoke("new", "p.toml", "--kind", "tensor")
    result = invoke("ensemble", "p.toml", "--runs", "4000", "--out", "kept.json", "--json", code=130)
    assert "of 4000 runs are kept" in result.stderr and "written" in result.stderr
    monkeypatch.setattr(module, "_collect", collect)
    assert "interrupted" not in invoke("ensemble", "p.toml", "--runs", "10", "--json").stderr
