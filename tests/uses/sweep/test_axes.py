"""Axes: values, zips, products, and the numbering of cells."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shallows.support.errors import InvalidProblem
from shallows.uses.sweep.axes import AxisSection, Grid, Group, ZipSection


def axis(**given):
    return AxisSection.model_validate({"path": "problem.x"} | given)


def test_ranges_include_their_end_and_keep_integers():
    assert axis(range={"start": 2, "stop": 10, "step": 4}).expanded == [2, 6, 10]
    assert axis(range={"start": 2, "stop": 9, "step": 4}).expanded == [2, 6]
    assert axis(range={"start": 3, "stop": 1, "step": -1}).expanded == [3, 2, 1]
    values = axis(range={"start": 1.1, "stop": 9.0, "step": 0.1}).expanded
    assert len(values) == 80 and values[-1] == pytest.approx(9.0, abs=1e-12)


def test_spacings_agree_with_numpy():
    assert axis(linspace={"start": 0, "stop": 1, "count": 7}).expanded == np.linspace(0, 1, 7).tolist()
    found = axis(logspace={"start": 1e-3, "stop": 10, "count": 5}).expanded
    assert found == pytest.approx([1e-3, 1e-2, 1e-1, 1.0, 10.0], rel=1e-12)
    assert axis(logspace={"start": 1, "stop": 8, "count": 20, "integer": True}).expanded == list(range(1, 9))


@pytest.mark.parametrize(
    ("given_axis", "what"),
    [
        ({}, "exactly one of values"),
        ({"values": [1], "range": {"start": 0, "stop": 1}}, "exactly one"),
        ({"values": []}, "empty list"),
        ({"range": {"start": 0, "stop": 5, "step": -1}}, "never gets to"),
        ({"range": {"start": 0, "stop": 5, "step": 0}}, "never gets to"),
        ({"logspace": {"start": 0, "stop": 5, "count": 3}}, "must be positive"),
        ({"linspace": {"start": 0, "stop": 5, "count": 0}}, "greater than or equal to 1"),
        ({"values": [1, 2], "labels": ["a"]}, "1 labels for 2 values"),
        ({"values": [1], "path": []}, "give path"),
        ({"values": [1], "step": 2}, "Extra inputs"),
    ],
)
def test_bad_axes_are_refused(given_axis, what):
    with pytest.raises(ValidationError, match=what):
        axis(**given_axis)


def test_columns_are_named_after_the_last_step_that_is_no_number():
    assert axis(path="problem.data.moments.4", values=[1]).column == "moments"
    assert axis(name="kurtosis", values=[1]).column == "kurtosis"


def test_labels_have_one_kind():
    assert axis(values=[1, 2.5]).shown == [1, 2.5]
    assert axis(values=[1, "auto"]).shown == ["1", "auto"]
    assert axis(values=[[1, 2], {"relu": True}]).shown == ["[1, 2]", '{"relu": true}']
    assert axis(values=[[1, 2], [3]], labels=["long", "short"]).shown == ["long", "short"]


def test_a_zip_moves_its_axes_together():
    section = ZipSection.model_validate(
        {
            "zip": [
                {"name": "variant", "values": ["plain", "norm"]},
                {"path": "problem.norm_neuron", "values": [False, True]},
            ]
        }
    )
    grid = Grid(
        (Group.of(section), Group.of(axis(path=["problem.width", "problem.data.n"], values=[3, 4, 5])))
    )
    assert len(grid) == 6
    assert grid.labels(4) == {"variant": "norm", "norm_neuron": True, "width": 4}
    assert grid.values(4) == {"problem.norm_neuron": True, "problem.width": 4, "problem.data.n": 4}
    with pytest.raises(ValidationError, match="same number of values"):
        ZipSection.model_validate({"zip": [{"path": "a", "values": [1]}, {"path": "b", "values": [1, 2]}]})


def test_names_and_paths_are_used_once():
    with pytest.raises(InvalidProblem, match="called 'x'"):
        Grid((Group.of(axis(values=[1])), Group.of(axis(values=[2]))))


@given(st.lists(st.integers(1, 4), min_size=0, max_size=4))
def test_cells_are_numbered_like_itertools_product(lengths):
    groups = tuple(
        Group.of(axis(path=f"problem.p{i}", values=list(range(length)))) for i, length in enumerate(lengths)
    )
    grid = Grid(groups)
    expected = list(itertools.product(*(range(length) for length in lengths)))
    assert len(grid) == len(expected)
    for number, places in enumerate(expected):
        assert tuple(grid.places(number)) == places
        assert tuple(grid.values(number).values()) == places
        assert grid.number(list(places)) == number
    tried = grid.one_at_a_time()
    assert len(tried) == len(set(tried)) == 1 + sum(length - 1 for length in lengths)
    for group in groups:
        for path, values in group.values.items():
            assert {grid.values(number)[path] for number in tried} == set(values)
