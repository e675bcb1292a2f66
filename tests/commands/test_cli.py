"""The command line: help, exit codes, JSON, quiet, files, completion; and the commands that belong to no one else."""

import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

import shallows as sh
from shallows import cli
from shallows.commands import doctor, new
from shallows.commands._common import beside
from shallows.problem_file import load_problem, parse_problem


def invoke(*arguments, code=0):
    result = CliRunner().invoke(cli.app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "shallows", *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help_with_two_examples(name):
    text = " ".join(invoke(name, "--help").output.split())
    assert text.count(f"shallows {name}") >= 2 + text.count(f"Usage: shallows {name}")


def test_the_list_of_commands_and_the_version():
    text = invoke("--help").output
    assert all(name in text for name in cli.COMMANDS)
    assert invoke("--version").output.startswith("shallows ")
    assert "No such command" in invoke("chrat", code=2).output


def test_one_command_does_not_load_the_others():
    code = (
        "import sys; from shallows import cli; cli.LazyGroup.get_command(None, None, 'new');"
        "print(sorted(m for m in sys.modules if m.startswith('shallows.commands.')))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['shallows.commands._common', 'shallows.commands.new']"


@pytest.mark.parametrize(
    ("error", "status"),
    [(sh.InvalidProblem("x"), 2), (sh.MissingExtra("dash", "explore"), 3), (sh.NotConverged("x"), 1),
     (sh.IncompleteChart("x"), 1), (FileNotFoundError(2, "No such file", "f"), 2), (RuntimeError("x"), 4)],
)  # fmt: skip
def test_exit_codes_and_sentences(error, status):
    assert cli.status_of(error) == status
    assert "Traceback" not in cli.sentence(error) and cli.sentence(error)
    assert ("--debug" in cli.sentence(error)) == (status == 4)


def test_errors_are_sentences_unless_debugged(tmp_path):
    plain = run("chart", str(tmp_path / "missing.toml"))
    assert (plain.returncode, plain.stdout) == (2, "")
    assert plain.stderr.startswith("shallows: Cannot read") and "Traceback" not in plain.stderr
    loud = run("chart", str(tmp_path / "missing.toml"), "--debug")
    assert "Traceback" in loud.stderr and loud.returncode == plain.returncode
    assert loud.stderr.endswith(plain.stderr)


def test_chart_writes_its_report_and_says_where(tmp_path):
    result = run("chart", "--train", "20", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    first, last = result.stdout.strip().splitlines()[-2:]
    assert first.endswith("shallows-chart.html") and "shallows explore" in last
    page = (tmp_path / "shallows-chart.html").read_text(encoding="utf-8")
    assert "heavy-tailed" in page and "\x1b[" not in result.stdout


def test_json_is_all_there_is_on_stdout(tmp_path):
    os.chdir(tmp_path)
    result = invoke("chart", "--json", "--out", str(tmp_path / "c"))
    documents = json.loads(result.stdout)
    assert [document["real"]["1"] for document in documents] == [3, 13]
    assert "written" in result.stderr and len(sh.load_chart(tmp_path / "c-2").points) == 14
    assert not (tmp_path / "shallows-chart.html").exists()
    assert invoke("chart", "--quiet").output == ""


@pytest.fixture(autouse=True)
def _stay_here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", new.KINDS)
def test_new_files_are_commented_problems(kind, tmp_path):
    file = tmp_path / "p.toml"
    assert "written" in invoke("new", str(file), "--kind", kind).output
    assert load_problem(file).size > 0
    assert sum(line.startswith("#") for line in file.read_text().splitlines()) >= 3
    assert parse_problem(new.template(kind))[0]


def test_new_overwrites_nothing_unasked(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text("mine")
    with pytest.raises(sh.InvalidProblem, match="--force"):
        invoke("new", str(file))
    assert file.read_text() == "mine"
    invoke("new", str(file), "--force")
    assert load_problem(file).width == 1
    with pytest.raises(sh.InvalidProblem, match="one of quadratic"):
        invoke("new", "q.toml", "--kind", "cubist")


def test_doctor_tells_what_is_there(monkeypatch):
    document = json.loads(invoke("doctor", "--json").stdout)
    parts = {part["name"]: part for part in document["parts"]}
    assert parts["numpy"]["found"] and parts["dash"]["fix"] == "pip install 'shallows[explore]'"
    versions = {"numpy": "2"}
    monkeypatch.setattr(doctor, "_version", lambda name: versions.get(name, ""))
    text = invoke("doctor", code=3).output
    assert "not installed" in text and "Broken" in text and "shallows[explore]" in text


def test_what_the_doctor_writes_is_what_it_says(tmp_path):
    out = tmp_path / "doctor.json"
    said = invoke("doctor", "--json", "--out", str(out))
    assert json.loads(out.read_text(encoding="utf-8")) == json.loads(said.stdout)
    assert f"written: {out}" in said.stderr


@pytest.mark.parametrize("command", [[], *([name] for name in cli.COMMANDS)])
def test_help_asks_for_no_value_of_a_flag(command):
    assert "<bool>" not in invoke(*command, "--help").output


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


def test_names_of_several_files(tmp_path):
    assert beside(tmp_path / "c", 0, 1) == tmp_path / "c"
    assert beside(tmp_path / "c.json", 1, 2) == tmp_path / "c-2.json"


def test_explore_serves_until_interrupted():
    command = [
        sys.executable,
        "-m",
        "shallows",
        "explore",
        "--port",
        "0",
        "--json",
        "--no-browser",
        "--view",
        "flow",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where tests run in the background
    ) as process:  # fmt: skip
        try:
            lines = [process.stdout.readline() for _ in range(3)]
            address = json.loads("".join(lines))["address"]
            with urllib.request.urlopen(address, timeout=20) as answer:
                assert answer.status == 200 and address.endswith("?view=flow")
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, "Traceback" in errors) == (0, False), errors


def test_explore_refuses_an_unknown_view():
    with pytest.raises(sh.InvalidProblem, match="There is no view"):
        invoke("explore", "--view", "torus")
