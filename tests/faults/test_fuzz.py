"""Every loader and the parser on broken input: a right answer or a `ShallowsError`, within a second and 500 MB.

Valid files are damaged in bytes (flipped, cut, doubled, replaced) and in structure (entries replaced by what does not
belong there, checksums made to fit), and polynomials are grown from their grammar and then damaged. A case is a number:
`case(target, 17)` makes it again. 10⁵ of them in the thorough profile, some hundreds in the quick one.
"""

import json
import os
import resource
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import count as numbers
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.mathematics.homotopy.parser import parse
from shallows.questions.charts.file import FORMAT as CHART
from shallows.questions.descent.results.ensemble import FORMAT as ENSEMBLE
from shallows.questions.discriminants.storage import FORMAT as DISCRIMINANT
from shallows.support.errors import ShallowsError
from shallows.uses.report.fit import load_table
from shallows.uses.sweep.parts import parts

THOROUGH = os.environ.get("SHALLOWS_TEST_PROFILE") == "thorough"
#: What may be asked for in a case by the library's own estimates, and megabytes in all.
SECONDS, MEGABYTES = 1.0, 500
#: Calls of functions in a case: the same on every machine, as seconds are not. The most among 1,200 cases is 11,245.
CALLS = 250_000
PROBLEM = sh.Problem(
    np.diag([3.0, 1.0]), sh.Samples(np.random.default_rng(0).standard_normal((9, 2))), width=1
)
TOML = """width = 1
title = "é"
target = { diagonal = [2.0, 1.5] }
outer = "free"
[data]
law = "mixture"
weights = [0.5, 0.5]
parts = [{ law = "gaussian", n = 2, mean = [1.0, 0.0] }, { law = "iid", n = 2, moments = [1, 0, 1, 0, 3] }]
"""
SWEEP = """repeats = 2
seed = 3
[problem]
width = 1
target = { neurons = [[1.0, 2.0]], activation = { power = 2 } }
data = { law = "gaussian", n = 2 }
[[axes]]
path = "problem.width"
values = [1, 2]
[[axes]]
path = "compute.certify"
values = [true, false]
[compute]
what = "chart"
"""
CSV = "a,b\n1,2\n3,4.5\n-1e-3,7\n0,1\n"
NASTY = [
    None, True, -1, 0, 1, 2, 3, 10**9, 10**30, 1e308, -1e308, 1e-320, float("nan"), float("inf"), "", "x", "Gaussian",
    "1/0", "nan", [], [[]], [None], {}, {"make": "Problem"}, {"array": "loss"},
    {"make": "Gaussian", "n": 10**9},
    {"make": "Power", "exponent": 10**9}, {"function": "os:system"}, [0] * 50, [1.5, "x"],
]  # fmt: skip
WORDS = [
    b"nan",
    b"-1",
    b"1e999",
    b"99999999999999999999999",
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"\x00",
    b"\xff",
    b",",
    b"\n",
]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A valid file of every kind: name -> bytes."""
    folder = tmp_path_factory.mktemp("originals")
    sh.chart(PROBLEM).save(folder / "chart")
    sh.ensemble(PROBLEM, runs=4).save(folder / "runs")
    sh.discriminants.ellipse().save(folder / "discriminant")
    sh.run_sweep(sh.sweep.Plan.from_document({"compute": QUANTITY}), folder / "sweep", engine="process")
    found = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    found |= {file.name: file.read_bytes() for file in (folder / "sweep").iterdir() if file.suffix}
    return found | {"problem.toml": TOML.encode(), "sweep.toml": SWEEP.encode(), "data.csv": CSV.encode()}


QUANTITY = {"what": "barrier-start-probability", "d": 3, "gamma": "m", "trials": 5, "ratio": 4}


def spoilt(content, rng):
    """The bytes, damaged in one to three ways."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(content) + 1))
        end = min(len(content), place + int(rng.integers(1, 40)))
        how = rng.integers(6)
        if how == 0 and place < len(content):
            content[place] ^= 1 << int(rng.integers(8))
        elif how == 1:
            del content[place:end]
        elif how == 2:
            content[place:place] = content[place:end]
        elif how == 3:
            content[place:end] = WORDS[rng.integers(len(WORDS))]
        elif how == 4:
            content[place:place] = rng.bytes(3)
        elif rng.integers(4) == 0:
            del content[place:]
    return bytes(content)


def twisted(document, rng):
    """A document with one of its entries, anywhere in it, replaced or taken out."""
    if isinstance(document, dict) and document and rng.integers(4):
        key = list(document)[rng.integers(len(document))]
        if not rng.integers(12):
            return {k: v for k, v in document.items() if k != key}
        return document | {key: twisted(document[key], rng)}
    if isinstance(document, list) and document and rng.integers(4):
        place = int(rng.integers(len(document)))
        return [*document[:place], twisted(document[place], rng), *document[place + 1 :]]
    return NASTY[rng.integers(len(NASTY))]


def resaved(format, file, rng):
    """The same file with a twisted document, or twisted arrays, and with checksums that fit."""
    contents = format.load(file)
    document = {k: v for k, v in contents.document.items() if k not in ("format", "version", "sha256")}
    arrays = {name: contents.arrays[name] for name in contents.arrays}
    if arrays and rng.integers(2):
        name = list(arrays)[rng.integers(len(arrays))]
        arrays[name] = _twisted_array(arrays[name], rng)
    else:
        document = twisted(document, rng)
    if isinstance(document, dict):
        format.save(file, document, arrays)


def _twisted_array(array, rng):
    kinds = [array.astype(kind) for kind in (complex, str)] if array.dtype.kind in "fi" else []
    choices = [
        array[:-1], array[None], array.ravel(), array[:0], np.concatenate([array, array]), np.array(3.0), array.T,
        array.astype("U1"), array == array[:1], np.full(array.shape, np.nan), np.full(array.shape, 7), *kinds,
    ]  # fmt: skip
    return choices[rng.integers(len(choices))]


def right_chart(chart):
    """What was loaded holds together: the losses are those of its networks."""
    for point in chart.critical:
        assert abs(PROBLEM.loss(point.network) - point.loss) < 1e-6 * (1 + abs(point.loss))


def right_runs(runs):
    finite = np.isfinite(runs.losses)
    np.testing.assert_allclose(
        runs.problem.value(runs.thetas)[finite], runs.losses[finite], rtol=1e-5, atol=1e-5
    )


@dataclass(frozen=True)
class Target:
    """A loader: which file is damaged, how it is loaded, what holds of an answer.

    With a `format`, documents and arrays are twisted and the checksums made to fit; `bare` files have none, as those of
    earlier versions.
    """

    damaged: str
    load: Callable[[Path], Any]
    right: Callable[[Any], None] = lambda answer: None
    format: Any = None
    bare: bool = False


def chart(folder):
    return sh.load_chart(folder / "chart")


def runs(folder):
    return sh.load_ensemble(folder / "runs")


def discriminant(folder):
    return sh.discriminants.load(folder / "discriminant")


TARGETS = {
    "arrays of a chart": Target("chart.npz", chart, right_chart),
    "arrays of an earlier chart": Target("chart.npz", chart, bare=True),
    "document of a chart": Target("chart.json", chart, right_chart),
    "document of an earlier chart": Target("chart.json", chart, bare=True),
    "twisted chart": Target("chart.json", chart, format=CHART),
    "arrays of an ensemble": Target("runs.npz", runs, right_runs),
    "arrays of an earlier ensemble": Target("runs.npz", runs, right_runs, bare=True),
    "twisted ensemble": Target("runs.json", runs, right_runs, ENSEMBLE),
    "discriminant": Target("discriminant.json", discriminant, bare=True),
    "twisted discriminant": Target("discriminant.json", discriminant, format=DISCRIMINANT),
    "plan": Target("plan.json", sh.load_sweep),
    "part": Target("part", sh.load_sweep),
    "problem file": Target("problem.toml", lambda folder: sh.load_problem(folder / "problem.toml")),
    "sweep file": Target("sweep.toml", lambda folder: sh.sweep.Plan.from_file(folder / "sweep.toml")),
    "table": Target("data.csv", lambda folder: load_table(folder / "data.csv", "b")),
}
#: Cases a target: 15 × 6,000 and 10,000 polynomials in the thorough profile.
CASES = 6_000 if THOROUGH else 40


def case(target, number, originals, folder):
    """Write the files of a case into a folder."""
    rng = np.random.default_rng([number, *target.damaged.encode()])
    for name, content in originals.items():
        (folder / name).write_bytes(content)
    file = parts(folder)[0] if target.damaged == "part" else folder / target.damaged
    if target.bare:
        document = file.with_suffix(".json")
        bare = {k: v for k, v in json.loads(document.read_text()).items() if k not in ("sha256", "checksum")}
        document.write_text(json.dumps(bare))
    if target.format is None:
        file.write_bytes(spoilt(file.read_bytes(), rng))
    else:
        resaved(target.format, file, rng)


class Hang(BaseException):
    """A case that goes on and on."""


@contextmanager
def few_calls(label):
    """Inside, not more than CALLS functions are called."""
    calls, before = 0, sys.getprofile()

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event in ("call", "c_call")
        if calls > CALLS:
            raise Hang(label)

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


def answered(work, label):
    """The answer, or None where the library refuses; after a bounded number of calls, and with no other error."""
    try:
        with sh.budget(seconds=SECONDS, gigabytes=MEGABYTES / 1024), few_calls(label):
            return work()
    except ShallowsError as error:
        assert str(error).strip(), label
        return None
    except Exception as error:
        raise AssertionError(f"{label}: {type(error).__name__}: {error}") from error


def test_what_goes_on_and_on_is_seen():
    with pytest.raises(Hang, match="forever"):
        answered(lambda: [abs(number) for number in numbers()], "forever")


@pytest.mark.sized
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files_are_read_right_or_refused(originals, tmp_path, name):
    target = TARGETS[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused = 0
    for number in range(CASES):
        case(target, number, originals, tmp_path)
        answer = answered(lambda: target.load(tmp_path), (name, number))
        if answer is None:
            refused += 1
        else:
            target.right(answer)
        for file in tmp_path.iterdir():
            file.unlink()
    assert refused > 0, "nothing was refused: the damage does not reach the loader"
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MEGABYTES


# -- the parser -------------------------------------------------------------------------------------------------------

LETTERS = "xyzIj0123456789.eE+-*/^()= \t√²\u2212"


def grown(rng, depth=0):
    """A polynomial from the grammar, and its value at x = 3, y = −2/7, by another way: Python's fractions."""
    kind = rng.integers(7) if depth < 5 else rng.integers(3)
    if kind == 0:
        return "x", Fraction(3)
    if kind == 1:
        return "y", Fraction(-2, 7)
    if kind == 2:
        text = ["2", "0.5", "1e2", "3.25e-1", "0", ".5", "12345678901234567890"][rng.integers(7)]
        return text, Fraction(text)
    left, one = grown(rng, depth + 1)
    if kind == 3:
        power = int(rng.integers(4))
        return f"({left})^{power}", one**power
    right, two = grown(rng, depth + 1)
    if kind == 4:
        return f"({left})*({right})", one * two
    sign = "+-"[rng.integers(2)]
    return f"({left} {sign} {right})", one + two if sign == "+" else one - two


def value(polynomial):
    """The value at x = 3, y = −2/7 of what the parser gives."""
    at = {"x": Fraction(3), "y": Fraction(-2, 7)}
    return sum(
        (
            c.real * prod((at[name] ** e for name, e in monomial), start=Fraction(1))
            for monomial, c in polynomial.items()
        ),
        start=Fraction(0),
    )


@pytest.mark.sized
def test_polynomials_of_the_grammar_have_their_values_and_damaged_ones_are_refused():
    for number in range(10_000 if THOROUGH else 300):
        rng = np.random.default_rng([number, 7])
        text, expected = grown(rng)
        polynomial = answered(lambda text=text: parse(text), (number, text))
        assert polynomial is not None and value(polynomial) == expected, text
        broken = spoilt(text.encode(), rng).decode("utf-8", "replace")
        answered(lambda broken=broken: parse(broken), (number, broken))


@given(st.text(LETTERS, max_size=60))
def test_any_text_is_a_polynomial_or_a_mistake(text):
    answered(lambda: parse(text), text)


@given(st.lists(st.text(LETTERS, max_size=25), min_size=1, max_size=2))
def test_any_texts_are_a_system_or_a_mistake(texts):
    answered(lambda: sh.homotopy.PolynomialSystem.read(texts, None), texts)
