"""Estimates: below the promise where a slider moves, larger for more work, nothing for what is remembered.

Against processor time they are measured by `make bench ONLY=estimates`: a time is no test.
"""

import numpy as np
import pytest

from shallows.support.budget import slowness
from shallows.uses.explorer.fields import defaults
from shallows.uses.explorer.views import NAMES, relu, view_of

#: Seconds promised for a slider move on the reference machine, and by how much an estimate may be wrong.
PROMISED, FACTOR = 0.15, 3.0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "relu"])  # a run of descents is asked for
def test_a_slider_move_is_announced_below_the_promise(name):
    view = view_of(name)
    assert 0 < FACTOR * view.seconds(defaults(view.fields)) < PROMISED * slowness()


def descents(**changes):
    return {**defaults(relu.VIEW.fields), "k": 4.0, "runs": 3.0, "seed": 77.0, "steps": 50.0, **changes}


@pytest.mark.parametrize(
    "more", [{"steps": 500.0}, {"runs": 30.0}, {"k": 16.0}, {"steps": 500.0, "split": 20.0}]
)
def test_more_descents_are_announced_longer(more, monkeypatch):
    monkeypatch.setattr(relu, "MEMORY", relu.Memory())
    monkeypatch.setattr(relu, "step_seconds", lambda k, width, runs: 1e-6 * k * width * runs)
    assert relu.seconds(descents(**more)) > 1.5 * relu.seconds(descents())


def test_what_is_remembered_costs_nothing(monkeypatch):
    monkeypatch.setattr(relu, "MEMORY", relu.Memory())
    state = descents(steps=200.0)
    monkeypatch.setattr(relu, "step_seconds", lambda k, width, runs: 1.0)
    before = relu.seconds(state)
    relu.draw(state)
    assert [leg.missing for leg in relu.legs_of(state)] == [0]
    assert relu.seconds(state) == pytest.approx(before - 200, abs=1)
    assert [leg.missing for leg in relu.legs_of({**state, "steps": 201.0})] == [1]


@pytest.mark.parametrize("name", [name for name in NAMES if view_of(name).report is not None])
def test_reports_with_more_descents_are_announced_longer(name):
    view = view_of(name)
    state = defaults(view.fields)
    if "train" not in state:
        pytest.skip("a report without descents")
    few, many = (view.report.seconds({**state, "train": train}) for train in (10.0, 100_000.0))
    assert 0 < few < np.inf and many > 1.5 * few
