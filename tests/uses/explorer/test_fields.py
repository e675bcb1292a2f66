"""States: what is read from texts and URLs, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.uses.explorer.app import state_of_url
from shallows.uses.explorer.fields import Field, choice, defaults, query, read_state
from shallows.uses.explorer.views import NAMES, view_of

FIELDS = (
    Field("x", "an x", -2, 3, 0.5, 1),
    Field("k", "a k", 1, 9, 1, 2),
    choice("law", "a law", ("a", "b"), "b"),
)


@given(x=st.floats(-2, 3), k=st.integers(1, 9), law=st.sampled_from(["a", "b"]))
def test_a_state_survives_its_url(x, k, law):
    state = read_state(FIELDS, {"x": f"{x:.10g}", "k": k, "law": law})
    from urllib.parse import parse_qs

    given_again = {name: values[0] for name, values in parse_qs(query("v", FIELDS, state)[1:]).items()}
    assert given_again.pop("view") == "v"
    assert read_state(FIELDS, given_again) == state


@given(st.text(max_size=60))
def test_any_text_is_a_number_in_bounds_or_a_sentence(text):
    try:
        value = FIELDS[0].read(text)
    except sh.InvalidProblem as error:
        assert "expected a number from -2 to 3" in str(error)
    else:
        assert -2 <= value <= 3 and float(text.strip()) == value


@pytest.mark.parametrize(
    ("given_texts", "what"),
    [({"x": "inf"}, "expected a number"), ({"x": None}, "is empty"), ({"x": True}, "expected a number"),
     ({"k": "2.5"}, "whole number"), ({"law": "c"}, "one of a, b"), ({"z": "1"}, "has no 'z'"),
     ({"x": "3.01"}, "3.01")],
)  # fmt: skip
def test_what_is_refused(given_texts, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        read_state(FIELDS, given_texts)


@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.tuples(st.sampled_from(["view", "k", "t1", "seed", "law", "x"]), st.text(max_size=12)),
            max_size=4,
        ).map(lambda pairs: "&".join(f"{name}={value}" for name, value in pairs)),
        st.sampled_from(NAMES).map(lambda name: f"view={name}"),
    )
)
def test_no_url_breaks_the_page(search):
    """A state in bounds, always; the defaults and a sentence for whatever cannot be read."""
    view, state, message = state_of_url("?" + search)
    assert read_state(view.fields, {f.name: f.text(state[f.name]) for f in view.fields}) == state
    assert not message or state == defaults(view.fields)
    given_again, _, _ = state_of_url(query(view.name, view.fields, state))
    assert given_again.name == view.name


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_in_bounds(name):
    fields = view_of(name).fields
    assert read_state(fields, {f.name: f.text(f.default) for f in fields}) == defaults(fields)


@pytest.mark.parametrize(
    ("search", "said"),
    [("view=torus", "no view"), ("view=flow&t1=99", "from -3 to 3"), ("view=flow&colour=red", "has no 'colour'")],
)  # fmt: skip
def test_a_bad_url_is_a_sentence_beside_the_defaults(search, said):
    view, state, message = state_of_url("?" + search)
    assert said in message and state == defaults(view.fields)


@pytest.mark.parametrize("name", NAMES)
def test_a_control_selects_a_choice_that_exists(name):
    fields = {field.name: field for field in view_of(name).fields}
    for field in fields.values():
        if field.selects is not None:
            chooser, value = field.selects
            assert value in fields[chooser].choices
