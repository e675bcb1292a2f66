"""TOML files that people write: what is wrong with one is said in a sentence that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

import shallows as sh
from shallows.support.errors import InvalidProblem

PROBLEM = 'width = 1\ntarget = { diagonal = [2.0, 1.0] }\ndata = { law = "gaussian", n = 2 }\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PROBLEM.encode("utf-16"), r"problem\.toml: it is not in UTF-8"),
        ('title = "größer"'.encode("latin-1"), r"problem\.toml: it is not in UTF-8"),
        (b"width = ", r"problem\.toml is not valid TOML"),
        (b"", r"(?s)problem\.toml is not a problem:.*width: Field required"),
        (PROBLEM.encode() + b"height = 2\n", r"(?s)problem\.toml is not a problem:.*height: Extra inputs"),
    ],
)
def test_a_file_that_is_no_problem(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_bytes(content)
    with pytest.raises(InvalidProblem, match=message):
        sh.load_problem(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match=r"Cannot read .*problem\.toml: No such file or directory\."):
        sh.load_problem(tmp_path / "problem.toml")
    with pytest.raises(InvalidProblem, match=r"Cannot read .*: Is a directory"):
        sh.load_problem(tmp_path)
