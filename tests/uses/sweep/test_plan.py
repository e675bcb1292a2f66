"""Sweep files are checked before anything runs; keys and seeds depend on what they should, and on nothing else."""

import copy
import hashlib
import json

import pytest

from shallows.support.errors import InvalidProblem
from shallows.sweep import Plan
from shallows.uses.sweep.documents import canonical
from shallows.uses.sweep.file import parse_sweep

DOCUMENT = {
    "seed": 3,
    "repeats": 2,
    "problem": {
        "width": 1,
        "target": {"diagonal": [2.0, 1.0]},
        "data": {"law": "iid", "n": 2, "moments": [1, 0, 1, 0, 3]},
    },
    "axes": [
        {"name": "kurtosis", "path": "problem.data.moments.4", "values": [3, 9]},
        {"path": "compute.certify", "values": [True, False]},
    ],
    "compute": {"what": "chart"},
}


def plan(**changes):
    return Plan.from_document(copy.deepcopy(DOCUMENT) | changes)


def test_a_key_is_the_hash_of_problem_settings_seed_repeat_and_version():
    made = plan()
    document = {
        "problem": DOCUMENT["problem"] | {"data": {"law": "iid", "n": 2, "moments": [1, 0, 1, 0, 9]}},
        "compute": {"what": "chart", "name": "", "certify": True},
    }
    stamp = canonical({"seed": 3, "version": made.version, "digests": {}})
    expected = hashlib.sha256(f"{stamp}\n{canonical(document)}\n1".encode()).hexdigest()[:32]
    cell = made.cell(5)  # cell 2 = (9, True), repeat 1
    assert (cell.number, cell.repeat, cell.key) == (2, 1, expected)
    assert cell.labels == {"kurtosis": 9, "certify": True}
    assert list(made.keys())[5] == expected
    assert len(set(made.keys())) == len(made) == 8


def test_more_values_repeats_and_axes_leave_the_keys_of_the_rest_alone():
    keys = set(plan().keys())
    assert keys < set(plan(repeats=3).keys())
    longer = copy.deepcopy(DOCUMENT["axes"])
    longer[0]["values"] = [9, 30, 3.0]
    assert keys < set(plan(axes=longer).keys())
    another = [*DOCUMENT["axes"], {"path": "problem.width", "values": [1, 2]}]
    assert keys < set(plan(axes=another).keys())


def test_other_settings_seeds_versions_and_files_are_other_keys():
    keys = set(plan().keys())
    assert not keys & set(plan(seed=4).keys())
    assert not keys & set(plan(compute={"what": "chart", "method": "homotopy"}).keys())
    stored = json.loads(plan().to_json())
    del stored["sha256"]  # as versions wrote it that had none
    stored["version"] = "99.0"
    assert not keys & set(Plan.from_json(json.dumps(stored)).keys())


def test_an_edited_function_or_data_file_makes_new_keys_at_once(sweep):
    sweep.touchy(3)
    before = list(Plan.from_file(sweep.file).keys())
    assert before == list(Plan.from_file(sweep.file).keys())
    cells = sweep.folder / "cells.py"
    cells.write_text(cells.read_text().replace('return {"y": x}', 'return {"y": x + 100}'))
    after = Plan.from_file(sweep.file)
    assert not set(before) & set(after.keys())
    assert after.function("cells:touchy")(1, sweep.folder) == {"y": 101}
    (sweep.folder / "data.csv").write_text("a,y\n1,2\n3,4\n5,5\n")
    sweep.write(
        """
        [problem]
        width = 1
        data = { law = "samples", file = "data.csv", label = "y" }
        [compute]
        what = "ensemble"
        """
    )
    (one,) = Plan.from_file(sweep.file).keys()
    (sweep.folder / "data.csv").write_text("a,y\n1,2\n3,4\n5,6\n")
    (two,) = Plan.from_file(sweep.file).keys()
    assert one != two


def test_seeds_are_independent_by_cell_or_common_to_all():
    apart, common = plan(), plan(seeds="common")
    assert len({apart.cell(row).seed for row in range(8)}) == 8
    assert len({common.cell(row).seed for row in range(8)}) == 2
    assert common.cell(0).seed == common.cell(6).seed != common.cell(1).seed
    assert all(0 <= apart.cell(row).seed < 2**63 for row in range(8))


def test_a_plan_survives_its_text():
    made = plan(figures=[{"kind": "line", "x": "kurtosis", "y": "real"}])
    again = Plan.from_json(made.to_json())
    assert list(again.keys()) == list(made.keys())
    assert again.to_json() == made.to_json()
    assert again.section.figures[0].x == "kurtosis"
    with pytest.raises(InvalidProblem, match="format 'other'"):
        Plan.from_json('{"format": "other"}')


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"repeats": 0}, "repeats"),
        ({"seed": -1}, "seed"),
        ({"colour": 1}, "colour"),
        ({"compute": {"what": "charts"}}, "no quantity called 'charts'"),
        ({"compute": {"what": "chart", "metod": "auto"}}, "metod"),
        ({"compute": {"what": "chart", "seed": 1}}, "leave it out"),
        ({"compute": {"what": "nowhere:f"}}, "Cannot import 'nowhere'"),
        ({"compute": {"what": "math:sinn"}}, "has no 'sinn'"),
        ({"compute": {"what": "math:pi"}}, "no function"),
        ({"axes": [], "compute": [{"what": "chart"}, {"what": "chart"}]}, "same name"),
        ({"problem": None}, "no table or list"),
        ({"problem": {"make": "relu", "data": {"moments": [0] * 5}}}, "no problem called 'relu'"),
        ({"axes": [{"path": "data.n", "values": [1]}]}, "neither problem nor compute"),
        ({"axes": [{"path": "problem.data.moments.7", "values": [1]}]}, "from 0 to 4"),
        ({"axes": [{"path": "problem.widht", "values": [1]}]}, "widht"),
        ({"axes": [{"path": "problem.width", "values": [1, 0]}]}, "At width = 0: .*width is 0"),
        ({"axes": [{"name": "status", "path": "problem.width", "values": [1]}]}, "name of the results"),
        ({"axes": [{"name": "label", "values": [1, 2]}]}, "the same problem"),
        ({"axes": [{"path": "problem.width", "values": [1, 1.0]}]}, "the same problem"),
        ({"figures": [{"kind": "line", "x": "real", "y": "real"}]}, "the axes are kurtosis, certify"),
        ({"figures": [{"kind": "heat-map", "x": "kurtosis", "y": "certify"}]}, "value goes with"),
    ],
)  # fmt: skip
def test_mistakes_are_found_before_anything_runs(changes, what):
    with pytest.raises(InvalidProblem, match=what):
        plan(**changes)


def test_bad_toml_and_missing_files_are_named(tmp_path):
    with pytest.raises(InvalidProblem, match="not valid TOML"):
        parse_sweep("compute = [")
    with pytest.raises(InvalidProblem, match="Cannot read"):
        Plan.from_file(tmp_path / "none.toml")


def test_an_axis_of_whole_problems_is_one_of_tables():
    other = DOCUMENT["problem"] | {"width": 2}
    assert len(list(plan(axes=[{"path": "problem", "values": [DOCUMENT["problem"], other]}]).keys())) == 4
    with pytest.raises(InvalidProblem, match="problem is 1; expected a table"):
        plan(axes=[{"path": "problem", "values": [1]}])
