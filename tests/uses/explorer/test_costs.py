"""Estimates against processor time: within a factor of three, over the range of every view's controls."""

import time

import numpy as np
import pytest

from shallows.support.budget import slowness
from shallows.uses.explorer.fields import defaults
from shallows.uses.explorer.server import warm
from shallows.uses.explorer.views import NAMES, relu, view_of

FACTOR = 3.0


@pytest.fixture(scope="module", autouse=True)
def compiled():
    warm()


def spent(function, *arguments):
    begin = time.process_time()
    function(*arguments)
    return time.process_time() - begin


def random_state(view, rng):
    """A state anywhere within the bounds, but for the steps of live descents."""
    values = {}
    for field in view.fields:
        if field.choices:
            values[field.name] = float(rng.integers(len(field.choices)))
        else:
            values[field.name] = float(
                f"{field.low + field.step * rng.integers(1, (field.high - field.low) / field.step):.6g}"
            )
    if view.name == "ellipse":
        values["m12"] = 0.0  # or the metric may not be positive definite
    if view.name == "relu":
        values.update(steps=0.0, split=0.0)
    return values


@pytest.mark.parametrize("name", NAMES)
def test_drawing_takes_about_what_is_estimated(name):
    view, rng = view_of(name), np.random.default_rng(3)
    states = [random_state(view, rng) for _ in range(9)]
    ratios = [spent(view.draw, state) / view.seconds(state) for state in states]
    assert 1 / FACTOR < np.median(ratios) < FACTOR, ratios
    if name != "relu":  # n = 2, 3: at once, which is below 150 ms
        assert FACTOR * max(view.seconds(state) for state in states) < 0.15 * slowness()


@pytest.mark.parametrize(("k", "runs", "split"), [(6.0, 40.0, 0.0), (12.0, 10.0, 50.0), (20.0, 4.0, 0.0)])
def test_descents_take_about_what_is_estimated(k, runs, split):
    state = {**defaults(relu.VIEW.fields), "k": k, "runs": runs, "seed": 77.0, "split": split}
    state["steps"] = 100.0
    state["steps"] = float(np.ceil(100 * 0.4 / relu.seconds(state)))  # so that they take about 0.4 s
    relu.MEMORY._known.clear()
    estimate = relu.seconds(state)
    assert 1 / FACTOR < spent(relu.draw, state) / estimate < FACTOR
    assert (
        relu.seconds({**state, "steps": state["steps"] + 1}) < estimate / 5
    )  # what is remembered costs nothing


REPORTS = [("cone", {}), ("binary", {"degree": "4", "law": "laplace"})]
MORE = [
    ("quadratic", {"train": "5000"}), ("quadratic", {"kurtosis": "3", "train": "0"}), ("flow", {}),
    ("binary", {"train": "2000"}), ("binary", {"degree": "4", "law": "moments", "train": "1500"}),
    ("relu", {"k": "6"}), ("relu", {"k": "14", "train": "800"}), ("relu", {"k": "20", "train": "400"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "values"), REPORTS + [pytest.param(*case, marks=pytest.mark.thorough) for case in MORE]
)
def test_a_report_takes_about_what_is_estimated(name, values):
    view = view_of(name)
    state = {
        field.name: field.read(values.get(field.name, field.text(field.default))) for field in view.fields
    }
    view.report.write({**state, "train": 10.0})  # loads what it needs
    ratio = spent(view.report.write, state) / view.report.seconds(state)
    assert 1 / FACTOR < ratio < FACTOR, ratio
