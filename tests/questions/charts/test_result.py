"""Charts as results: text, files, frames, figures."""

import json
from dataclasses import replace

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.points.point import Points, PointTable, Stored


@pytest.fixture(scope="module")
def chart():
    return sh.chart(sh.Problem(np.diag([2.0, 2.0, 1.5, 1.0]), sh.Gaussian(4), 2))


def test_the_text_says_what_a_person_wants_to_know(chart):
    text = repr(chart)
    for expected in (
        "proved",
        "rank  complex  expected  real",
        "global minimum",
        "family of rank",
        "Theorem 35",
    ):
        assert expected in text


@pytest.mark.parametrize(
    "problem",
    [
        sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), 1),
        sh.Problem(np.diag([2.0, 1.0]), sh.IID.laplace(2), 1),
        sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), 1, norm_neuron=True),
        sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(1), 1, bias=True),
        sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), 2, orthogonality=1.0),
        sh.Problem(sh.Network(np.eye(2), np.eye(2)), sh.Gaussian(2), 1),
        sh.Problem(sh.Network([[1.0]], activation=sh.Polynomial([0, 1, 1])), sh.Gaussian(1), 1),
        sh.Problem(sh.Network([[1.0, 0.0]], activation=sh.ReLU()), sh.Gaussian(2), 1),
    ],
    ids=repr,
)
def test_a_chart_says_of_what_it_is_and_with_which_seed(problem):
    chart = sh.chart(problem, rng=7)
    assert (chart.title, chart.seed, chart.problem) == (repr(problem), 7, problem)
    assert chart.critical[0].network.outputs == problem.outputs


def test_save_and_load(tmp_path, chart):
    path = chart.save(tmp_path / "chart")
    loaded = sh.load_chart(path)
    np.testing.assert_array_equal(loaded.losses, chart.losses)
    assert loaded.points.table.kind.tolist() == chart.points.table.kind.tolist()
    assert (loaded.completeness, loaded.method, loaded.seed) == (chart.completeness, chart.method, chart.seed)
    assert loaded.real_count == chart.real_count and loaded.expected_count == chart.expected_count
    assert [f.description for f in loaded.families] == [f.description for f in chart.families]
    for mine, theirs in zip(chart.points, loaded.points, strict=True):
        np.testing.assert_array_equal(mine.tensor.entries, theirs.tensor.entries)
        np.testing.assert_array_equal(mine.network.W, theirs.network.W)
        assert mine.certificate == theirs.certificate
        assert (mine.escape is None) == (theirs.escape is None)
    for again in (loaded, sh.load_chart(path, problem=chart.problem)):
        assert again.points[0].parameter_signature == chart.points[0].parameter_signature
    assert repr(loaded) == repr(chart)


def test_names_with_a_dot_do_not_overwrite_each_other(tmp_path):
    for kurtosis in ("2.5", "2.75"):
        problem = sh.Problem(np.diag([2.0, 1.0]), sh.IID(2, [1, 0, 1, 0, float(kurtosis)]), width=1)
        assert sh.chart(problem).save(tmp_path / f"kurtosis-{kurtosis}").name == f"kurtosis-{kurtosis}.json"
    assert len(list(tmp_path.iterdir())) == 4
    assert "2.5]" in repr(sh.load_chart(tmp_path / "kurtosis-2.5").problem.data)


@pytest.mark.parametrize(
    "problem",
    [
        sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), width=2, outer="ones"),
        sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1, norm_neuron=True),
        sh.Problem(None, sh.Samples(np.eye(2), np.eye(2)), width=1),
    ],
    ids=["ReLU", "norm neuron", "two outputs"],
)
def test_charts_by_descent_are_saved_and_loaded(tmp_path, problem):
    chart = sh.chart(problem, method="descent")
    loaded = sh.load_chart(chart.save(tmp_path / "chart"))
    assert repr(loaded) == repr(chart)
    for mine, theirs in zip(chart.points, loaded.points, strict=True):
        np.testing.assert_array_equal(problem.pack(mine.network), problem.pack(theirs.network))
        assert loaded.problem.loss(theirs.network) == problem.loss(mine.network)


def test_a_problem_that_cannot_be_stored_is_asked_for(tmp_path, chart):
    teacher = sh.Network([[0.5, 0.2]], activation=sh.Smooth(lambda z: np.tanh(z)))
    problem = sh.Problem(teacher, sh.Gaussian(2), width=1)
    row = PointTable(*(np.array(column) for column in ([0.0], [1], [(3, 0, 0)], ["global minimum"], [0])))
    alone = Points(row, Stored([None], [teacher], [None], [None]), problem)
    chart = replace(chart, problem=problem, critical=alone)  # a chart of such a problem takes minutes
    path = chart.save(tmp_path / "chart")
    with pytest.raises(sh.InvalidProblem, match=r"could not be stored .* Fix: give it again, problem="):
        sh.load_chart(path)
    assert repr(sh.load_chart(path, problem)) == repr(chart)


def test_a_damaged_chart_is_named(tmp_path, chart):
    path = chart.save(tmp_path / "chart")
    document = json.loads(path.read_text())
    del document["counts"], document["checksum"]
    path.write_text(json.dumps(document))
    with pytest.raises(sh.InvalidProblem, match=r"chart\.json is damaged: KeyError 'counts'"):
        sh.load_chart(path)


def test_files_of_another_kind_are_refused(tmp_path, chart):
    path = chart.save(tmp_path / "chart")
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"version": 99}))
    with pytest.raises(sh.InvalidProblem, match="version 99"):
        sh.load_chart(path)
    with pytest.raises(sh.InvalidProblem, match="Cannot read"):
        sh.load_chart(tmp_path / "nothing")


def test_the_figure_has_one_mark_a_point(chart):
    figure = chart.figure()
    assert sum(len(trace.x) for trace in figure.data) == len(chart.critical)
    names = {trace.name.split(" (")[0] for trace in figure.data}
    assert names - {"saddle of lower rank"} == set(chart.kinds())
    lower = [trace for trace in figure.data if "lower" in trace.name]
    assert (
        sum(len(trace.x) for trace in lower) == chart.count("saddle", 0) + chart.count("saddle", 1) == 4
    )  # width 2


def test_points_behave_like_a_list(chart):
    for items in (chart.points, chart.critical):
        assert items[-1].loss == items.table.loss[-1]
        assert [p.loss for p in items[:3]] == items.table.loss[:3].tolist()
        assert items[0] is items[0]
    assert sorted([*chart.points, *chart.families], key=lambda p: p.loss)[0].loss == chart.minimum.loss
    with pytest.raises(IndexError):
        chart.points[len(chart.points)]


def test_a_data_frame_needs_pandas_and_says_so(chart):
    try:
        import pandas  # noqa: F401
    except ImportError:
        with pytest.raises(sh.MissingExtra, match=r"shallows\[learn\]"):
            chart.to_dataframe()
    else:
        frame = chart.to_dataframe()
        assert len(frame) == len(chart.critical) and frame["certified"].dtype == bool
