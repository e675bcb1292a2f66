"""Dotted paths into documents, canonical texts, and texts cut at paths."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows.support.errors import InvalidProblem
from shallows.uses.sweep.documents import canonical, pieces, replaced

DOCUMENT = {
    "problem": {"width": 2, "data": {"n": 3, "moments": [1, 0, 1, 0, 3]}},
    "compute": {"what": "chart"},
}
VALUES = st.one_of(
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.booleans(),
    st.lists(st.integers(), max_size=3),
)


def test_a_path_replaces_one_value_and_copies_nothing_else():
    changed = replaced(DOCUMENT, "problem.data.moments.4", 30)
    assert changed["problem"]["data"]["moments"] == [1, 0, 1, 0, 30]
    assert DOCUMENT["problem"]["data"]["moments"] == [1, 0, 1, 0, 3]
    assert changed["compute"] is DOCUMENT["compute"]
    assert replaced(DOCUMENT, "problem.outer", "ones")["problem"]["outer"] == "ones"


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("problem..n", "empty step"),
        ("problem.daata.n", "no table 'daata'"),
        ("problem.data.moments.5", "from 0 to 4"),
        ("problem.data.moments.last", "'last'"),
        ("problem.width.size", "no table or list but 2"),
    ],
)
def test_paths_that_lead_nowhere_are_refused(path, what):
    with pytest.raises(InvalidProblem, match=what):
        replaced(DOCUMENT, path, 1)


def test_equal_numbers_have_one_text():
    assert (
        canonical({"b": 2.0, "a": [1, 0.5]}) == '{"a":[1,0.5],"b":2}' == canonical({"a": [1.0, 0.5], "b": 2})
    )
    assert canonical(True) != canonical(1)
    with pytest.raises(InvalidProblem, match="date"):
        canonical({"when": __import__("datetime").date(2020, 1, 1)})


@given(VALUES, VALUES, VALUES)
def test_joined_pieces_are_the_canonical_text(one, two, three):
    paths = ["problem.data.moments.4", "compute.runs", "problem.width"]
    values = [one, two, three]
    document = DOCUMENT
    for path, value in zip(paths, values, strict=True):
        document = replaced(document, path, value)
    between, order = pieces(DOCUMENT, paths)
    text = between[0]
    for place, piece in zip(order, between[1:], strict=True):
        text += canonical(values[place]) + piece
    assert text == canonical(document)
    assert json.loads(text) == json.loads(json.dumps(document))


def test_a_path_inside_another_is_refused():
    with pytest.raises(InvalidProblem, match="no table or list"):
        pieces(DOCUMENT, ["problem.data", "problem.data.n"])
    with pytest.raises(InvalidProblem, match="inside another"):
        pieces(DOCUMENT, ["problem.data.n", "problem.data"])
