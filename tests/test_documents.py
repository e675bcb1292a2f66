"""Code blocks in README and docs are true, problem files load, the command line answers."""

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shallows as sh
from shallows.model.problem_file import embedded_written, load_problem, parse_written

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_are_true(page):
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testfile(str(page), module_relative=False, optionflags=options).failed == 0


PLACES = (ROOT, ROOT / "src", ROOT / "src" / "shallows", ROOT / "docs")
#: Names of files and folders of the project in running text: a path with two parts at least, in backticks.
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)+/?)`")
#: Not of the project: what commands make, names that stand for any, numbers. And the table of rooms has names within
#: rooms.
ELSEWHERE = re.compile(r"^(OUT|dist|docs/_build)/|_NN_|^[\d/]+$|^discriminants/following/$")


def missing_paths(text):
    """Paths in backticks that are nowhere in the project."""
    named = set(PATH.findall(text))
    return {
        path
        for path in named
        if not ELSEWHERE.search(path) and not any((place / path).exists() for place in PLACES)
    }


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"], ids=lambda page: page.name
)
def test_paths_in_the_text_are_there(page):
    text = re.sub(r"^(`{3,}).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert not missing_paths(text)


def test_a_path_that_moved_is_noticed():
    assert missing_paths("see `tests/papers/test_claims.py`, `model/kernels/`, `docs/index.md`") == {
        "tests/papers/test_claims.py"
    }


def test_the_two_commands_of_the_readme_are_targets_and_ci_runs_the_second():
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    commands = re.findall(r"^make (\w+)", readme[: readme.index("## ")], re.M)
    assert commands == ["chart", "test"]
    assert all(re.search(rf"^{name}: ", makefile, re.M) for name in (*commands, "explore"))
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in lines if not line.startswith(("#", "set ", "cd "))] == ["make test"]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example_files_load(file):
    assert load_problem(file).size > 0


def run(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "shallows", *arguments], capture_output=True, text=True, check=False, cwd=cwd
    )


def test_the_embedded_example_charts_3_points_against_13(tmp_path):
    result = run("chart", cwd=tmp_path)
    assert (tmp_path / "shallows-chart.html").exists()
    assert result.returncode == 0, result.stderr
    for expected in (
        "low-dimensional",
        "dimension 3 of 6",
        "34.75",
        "230.5",
        "10.666667",
        "global minimum",
        "proved",
    ):
        assert expected in result.stdout
    documents = json.loads(run("chart", "--json").stdout)
    assert [document["real"]["1"] for document in documents] == [3, 13]
    teacher = embedded_written("gaussian").problem
    assert teacher.loss(sh.Network([[0.0, 0.0, 0.0]])) == pytest.approx(34.75)  # 2(4+2.25+1) + 4.5²


@pytest.mark.parametrize("file", [f for f in EXAMPLES if f.stem != "relu"], ids=lambda file: file.stem)
def test_example_files_are_charted_and_saved(file, tmp_path):
    result = run("chart", str(file), "--out", str(tmp_path / "chart.json"), "--quiet")
    assert (result.returncode, result.stdout) == (0, ""), (file, result.stderr)
    assert len(sh.load_chart(tmp_path / "chart").points) > 1


def test_relu_problems_are_charted_by_descent():
    result = run("chart", str(ROOT / "examples" / "relu.toml"), "--method", "descent")
    assert result.returncode == 0, result.stderr
    assert "sampled" in result.stdout and "global minimum" in result.stdout
    refused = run("chart", str(ROOT / "examples" / "relu.toml"))
    assert refused.returncode == 2 and "descent" in refused.stderr


def test_errors_are_sentences_and_exit_status_2(tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text('width = "x"\n[target]\ndiagonal=[1.0]\n[data]\nlaw="gaussian"\nn=1\nfoo=1\n')
    result = run("chart", str(bad))
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert "width" in result.stderr and "foo" in result.stderr
    assert run("chart", str(tmp_path / "missing.toml")).returncode == 2


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("width = ", "not valid TOML"),
        ("width = 1", "data: Field required"),
        ('width = 1\n[data]\nlaw = "cauchy"', "cauchy"),
        ('width = 1\n[data]\nlaw = "iid"\nn = 2', "needs moments; or name = one of normal"),
        ('width = 1\n[data]\nlaw = "iid"\nn = 2\nname = "student"', "df"),
        ('width = 1\n[target]\nentries = [1.0]\n[data]\nlaw = "gaussian"\nn = 1', "degree"),
        (
            'width = 1\n[target]\ndiagonal = [1.0]\nnorm = 1.0\n[data]\nlaw = "gaussian"\nn = 1',
            "go with neurons",
        ),
        ('width = 1\n[data]\nlaw = "metric"\nn = 1', "needs degree and gram"),
        ('width = 1\n[data]\nlaw = "samples"\nfile = "no.csv"', "Cannot read"),
        ('width = 0\n[target]\ndiagonal = [1.0]\n[data]\nlaw = "gaussian"\nn = 1', "width is 0"),
    ],
)
def test_bad_problem_files_are_refused(text, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        parse_written(text)
