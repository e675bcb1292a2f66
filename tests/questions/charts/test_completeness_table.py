"""The table in docs/chart.md of which networks are charted how completely: every cell is charted here and compared."""

import re
from pathlib import Path

import numpy as np
import pytest

import shallows as sh

PAGE = Path(__file__).parents[3] / "docs" / "chart.md"
HEAD = "| activation | options | width | samples | Gaussian |"
QUICK = ("z²", "z + z²")
ACTIVATIONS = {
    "z²": sh.Power(2),
    "z³": sh.Power(3),
    "1 + z + z²": sh.Polynomial([1.0, 1.0, 1.0]),
    "z + z²": sh.Polynomial([0.0, 1.0, 1.0]),
    "1 + z²": sh.Polynomial([1.0, 0.0, 1.0]),
    "z + z³": sh.Polynomial([0.0, 1.0, 0.0, 1.0]),
}


def options_of(text):
    """The words of the second column as arguments of a problem, and the number of outputs."""
    options, outputs = {}, 1
    for word in filter(None, (part.strip() for part in text.split(","))):
        if word == "bias":
            options["bias"] = True
        elif word == "2 outputs":
            outputs = 2
        elif word == "norm neuron":
            options["norm_neuron"] = True
        elif word == "penalty":
            options["orthogonality"] = 0.5
        else:
            options["outer"] = word.removeprefix("a = ")
    if "outer" in options:
        rows = [[float(x) for x in row.split()] for row in options["outer"].strip("()").split(";")]
        options["outer"] = rows[0] if len(rows) == 1 else rows
    return options, outputs


def problem_of(activation, text, width, data):
    """In two inputs, against a teacher of three neurons, or labelled samples."""
    options, outputs = options_of(text)
    rng = np.random.default_rng(7)
    sigma = ACTIVATIONS[activation]
    if data == "samples":
        X, y = rng.standard_normal((20, 2)), rng.standard_normal((20, outputs))
        return sh.Problem(None, sh.Samples(X, y[:, 0] if outputs == 1 else y), width, sigma, **options)
    a = rng.standard_normal((outputs, 3))
    bias = rng.standard_normal(3) if options.get("bias") else None
    target = sh.Network(rng.standard_normal((3, 2)), a[0] if outputs == 1 else a, sigma, bias=bias)
    return sh.Problem(target, sh.Gaussian(2), width, **options)


def found(activation, text, width, data):
    try:
        return sh.chart(problem_of(activation, text, width, data)).completeness
    except sh.InvalidProblem:
        return "refused"


def cells():
    lines = PAGE.read_text(encoding="utf-8").split("\n")
    for line in lines[lines.index(HEAD) + 2 :]:
        if not line.startswith("|"):
            return
        activation, text, width, *words = (part.strip() for part in line.strip("|").split("|"))
        for data, word in zip(("samples", "Gaussian"), words, strict=True):
            yield activation, text, int(width), data, re.sub(r"\s*\(.*\)", "", word)


@pytest.mark.parametrize(
    ("activation", "text", "width", "data", "word"),
    [pytest.param(*cell, marks=() if k < 8 else pytest.mark.thorough) for k, cell in enumerate(cells())],
)
def test_the_chart_is_as_complete_as_the_table_says(activation, text, width, data, word):
    assert found(activation, text, width, data) == word
