"""Two ways to run a command: in this process, where errors come out as they are, and as a program."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from shallows.uses.commands import cli


def _invoke(*arguments, code=0):
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def _run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "shallows", *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.fixture
def invoke():
    """`invoke(*arguments, code=0)`: the result of a command in this process."""
    return _invoke


@pytest.fixture
def run():
    """`run(*arguments, **options)`: the finished program."""
    return _run


@pytest.fixture(autouse=True)
def _stay_here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
