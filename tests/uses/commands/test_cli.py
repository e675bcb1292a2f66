"""The command line as a whole: exit codes and sentences, JSON, quiet, files, colours, narrow terminals, completion."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

import shallows as sh
from shallows.uses.commands import cli
from shallows.uses.commands._common import Output


def on_a_terminal(*arguments, columns=60, **environment):
    """What the program writes to a terminal of this width."""
    parent, child = pty.openpty()
    variables = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    variables |= {"TERM": "xterm-256color", "COLUMNS": str(columns), **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "shallows", *arguments], stdout=child, stderr=child, env=variables
    )
    os.close(child)
    pieces = []
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:  # the other end is closed: the program has ended
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(parent)
    assert process.wait() == 0
    return b"".join(pieces).decode().replace("\r\n", "\n")


def test_the_list_of_commands_and_the_version(invoke):
    text = invoke("--help").output
    assert all(name in text for name in cli.COMMANDS)
    assert invoke("--version").output.startswith("shallows ")
    assert "No such command" in invoke("chrat", code=2).output


def test_one_command_does_not_load_the_others():
    code = (
        "import sys, typer; from shallows.uses.commands import cli;"
        "typer.main.get_command(cli.app).get_command(None, 'new');"
        "print(sorted(m for m in sys.modules if m.startswith('shallows.uses.commands.')))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        result.stdout.strip()
        == "['shallows.uses.commands._common', 'shallows.uses.commands.cli', 'shallows.uses.commands.destinations', "
        "'shallows.uses.commands.new']"
    )


@pytest.mark.parametrize(
    ("error", "status"),
    [(sh.InvalidProblem("x"), 2), (sh.MissingExtra("dash", "explore"), 3), (sh.NotConverged("x"), 1),
     (sh.IncompleteChart("x"), 1), (FileNotFoundError(2, "No such file", "f"), 2), (RuntimeError("x"), 4)],
)  # fmt: skip
def test_exit_codes_and_sentences(error, status):
    assert cli.status_of(error) == status
    assert "Traceback" not in cli.sentence(error) and cli.sentence(error)
    assert ("--debug" in cli.sentence(error)) == (status == 4)


def test_errors_are_sentences_unless_debugged(tmp_path, run):
    plain = run("chart", str(tmp_path / "missing.toml"))
    assert (plain.returncode, plain.stdout) == (2, "")
    assert plain.stderr.startswith("shallows: Cannot read") and "Traceback" not in plain.stderr
    for arguments in (["chart", "--debug"], ["--debug", "chart"]):
        loud = run(*arguments, str(tmp_path / "missing.toml"))
        assert "Traceback" in loud.stderr and loud.returncode == plain.returncode
        assert loud.stderr.endswith(plain.stderr)


def test_chart_writes_its_report_and_says_where(tmp_path, run):
    result = run("chart", "--train", "0")
    assert result.returncode == 0, result.stderr
    first, last = result.stdout.strip().splitlines()[-2:]
    assert first.endswith("shallows-chart.html") and "shallows explore" in last
    page = (tmp_path / "shallows-chart.html").read_text(encoding="utf-8")
    assert "heavy-tailed" in page and "\x1b[" not in result.stdout


def test_json_is_all_there_is_on_stdout(tmp_path, invoke):
    result = invoke("chart", "--json", "--out", tmp_path / "c.json")
    documents = json.loads(result.stdout)
    assert [document["real"]["1"] for document in documents] == [3, 13]
    assert "written" in result.stderr and len(sh.load_chart(tmp_path / "c-2").points) == 14
    assert not (tmp_path / "shallows-chart.html").exists()
    assert invoke("chart", "--quiet").output == ""


def test_colours_are_for_terminals_that_want_them():
    shown = on_a_terminal("doctor", "--no-check")
    assert "\x1b[32m" in shown
    assert "\x1b[32m" not in on_a_terminal("doctor", "--no-check", NO_COLOR="1")


@pytest.mark.parametrize("columns", [60, 100])
def test_tables_are_readable_in_a_terminal_of_any_width(columns):
    shown = re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", on_a_terminal("chart", "--train", "0", columns=columns))
    lines = [line for line in shown.splitlines() if not line.startswith(("The report is at", "To move"))]
    assert "…" not in shown and max(map(len, lines)) <= columns
    assert "10.666667" in shown and "22.925926" in shown, "losses are not cut"


def test_columns_count_when_piped_too(run):
    narrow = run("doctor", "--no-check", env={**os.environ, "COLUMNS": "60"}).stdout
    assert max(map(len, narrow.splitlines())) <= 60
    without = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    assert 60 < max(map(len, run("doctor", "--no-check", env=without).stdout.splitlines())) <= 120


def test_quiet_is_quiet_on_a_terminal_too():
    assert on_a_terminal("discriminant", "ellipse", "--trials", "2", "--quiet") == ""


def test_lines_printed_while_a_spinner_turns_begin_on_a_line_of_their_own():
    text = on_a_terminal("verify", "--claim", "thm-2.8", "--paper", "001", "--jobs", "1", columns=200)
    assert re.search("claims\n[^\n]*✓", text) or "claims" not in text.partition("✓")[0]
    assert not re.search("claims✓", text)


def test_output_is_told_apart(capsys, tmp_path):
    Output(json=True).wrote(tmp_path / "x")
    Output(quiet=True).wrote(tmp_path / "y")
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == f"written: {tmp_path / 'x'}\n"


def test_completion_knows_the_commands():
    environment = {
        **os.environ,
        "_SHALLOWS_COMPLETE": "complete_bash",
        "COMP_WORDS": "shallows disc",
        "COMP_CWORD": "1",
    }
    program = os.path.join(os.path.dirname(sys.executable), "shallows")
    result = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert "discriminant" in result.stdout
