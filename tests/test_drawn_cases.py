"""A thorough run leaves no thorough test out, draws the same cases for one number, and nothing of `make test` again."""

from types import SimpleNamespace

import pytest
from tests.drawn_cases import DrawnCases, asked, chosen

NAMES = [f"a.py::test_many[{k}]" for k in range(50)] + [
    "a.py::test_one",
    "b.py::test_many[x]",
    "b.py::test_many[y]",
]


def test_every_function_is_there_with_as_many_cases_as_asked():
    kept = chosen(NAMES, 3, "0")
    assert [name for name in NAMES if name in kept] == kept
    assert sum(name.startswith("a.py::test_many") for name in kept) == 3
    assert kept[3:] == NAMES[50:]
    assert chosen(NAMES, 3, "0") == kept != chosen(NAMES, 3, "1")
    assert chosen(NAMES, float("inf"), "0") == NAMES


def test_all_draws_together_reach_every_case():
    assert {name for draw in range(200) for name in chosen(NAMES, 3, str(draw))} == set(NAMES)


def test_what_is_asked_for():
    assert asked({}) == asked({"CASES": "", "DRAW": ""}) == (4, "0")
    assert asked({"CASES": "all", "DRAW": "7"}) == (float("inf"), "7")
    for wrong in ("0", "-1", "many"):
        with pytest.raises(ValueError, match="CASES=4"):
            asked({"CASES": wrong})


def test_what_runs_every_day_in_the_same_way_is_left_out():
    def item(name, *marks, hypothesis=False):
        function = SimpleNamespace(is_hypothesis_test=hypothesis)
        return SimpleNamespace(nodeid=name, keywords=marks, obj=function)

    items = [
        item("everyday"),
        item("property", hypothesis=True),
        item("sized", "sized"),
        item("long", "thorough"),
    ]
    gone = []
    hook = SimpleNamespace(pytest_deselected=lambda items: gone.extend(one.nodeid for one in items))
    DrawnCases({}).pytest_collection_modifyitems(SimpleNamespace(hook=hook), items)
    assert [one.nodeid for one in items] == ["property", "sized", "long"]
    assert gone == ["everyday"]
