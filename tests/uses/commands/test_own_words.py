"""Errors on the command line name options and files, not arguments of functions."""

import re
import subprocess
from pathlib import Path

import pytest

import shallows as sh
from shallows.uses.commands.own_words import on_the_command_line

OPTIONS = {
    "method": "--method",
    "seed": "--seed",
    "certify": "--certify",
    "runs": "--runs",
    "settings": "--set",
}
RELU = Path(__file__).resolve().parents[3] / "examples" / "relu.toml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Use method="descent".', "Use --method descent."),
        ("Use method='gd', or Samples(X, y).", "Use --method gd, or Samples(X, y)."),
        ("Fix: rng=0", "Fix: --seed 0"),
        ("Fix: certify=False, or certify=True.", "Fix: --no-certify, or --certify."),
        ("runs is 0; expected more", "--runs is 0; expected more"),
        ("rng is 'x'; expected", "--seed is 'x'; expected"),
        ("The runs is 0", "The runs is 0"),
        ('Fix: outer="free".', 'Fix: outer = "free" in the problem file.'),
        ("Fix: norm_neuron=True.", "Fix: norm_neuron = true in the problem file."),
        ("Use sh.ensemble(problem).", "Use shallows ensemble."),
        ("x=1, on_incomplete='return'", "x=1, on_incomplete='return'"),
    ],
)
def test_arguments_are_options(text, expected):
    assert on_the_command_line(text, OPTIONS, ["chart", "ensemble"], reads_problem=True) == expected


def test_a_command_without_problem_file_keeps_the_argument():
    assert on_the_command_line('outer="free", method="x"', {}) == 'outer="free", method="x"'


def test_errors_of_a_command_speak_of_its_options(invoke):
    with pytest.raises(sh.InvalidProblem, match=r"--method descent") as caught:
        invoke("chart", RELU)
    assert "method=" not in str(caught.value)
    with pytest.raises(sh.InvalidProblem, match=r"^--method is 'newtn'"):
        invoke("ensemble", RELU, "--method", "newtn")


def test_no_message_of_the_program_has_the_grammar_of_python(run):
    result = run("chart", str(RELU))
    assert isinstance(result, subprocess.CompletedProcess) and result.returncode == 2
    assert not re.search(r'\w=["\']', result.stderr), result.stderr
