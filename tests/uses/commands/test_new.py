"""`shallows new`: commented problem files, and the seeds they keep."""

import json

import numpy as np
import pytest

import shallows as sh
from shallows.model.problem_file import load_problem, load_written, parse_written
from shallows.uses.commands import drawn, new


@pytest.mark.parametrize("kind", new.KINDS)
def test_new_files_are_commented_problems(kind, tmp_path, invoke):
    file = tmp_path / "p.toml"
    assert "written" in invoke("new", file, "--kind", kind).output
    assert load_problem(file).size > 0
    assert sum(line.startswith("#") for line in file.read_text().splitlines()) >= 3
    assert parse_written(new.template(kind)).title


def test_nothing_is_overwritten_unasked(tmp_path, invoke):
    file = tmp_path / "p.toml"
    file.write_text("mine")
    with pytest.raises(sh.InvalidProblem, match="--force"):
        invoke("new", file)
    assert file.read_text() == "mine"
    invoke("new", file, "--force")
    assert load_problem(file).width == 1
    with pytest.raises(sh.InvalidProblem, match="one of quadratic"):
        invoke("new", "q.toml", "--kind", "cubist")


def teacher(kind, seed):
    problem = parse_written(new.template(kind, seed)).problem
    return problem.data.y if kind == "samples" else np.concatenate([np.ravel(v) for v in _numbers(problem)])


def _numbers(problem):
    return (
        (problem.target.W, problem.target.a)
        if isinstance(problem.target, sh.Network)
        else (problem.target.entries,)
    )


@pytest.mark.parametrize("kind", new.KINDS)
def test_a_seed_draws_the_teacher_and_stays_in_the_file(kind):
    written = parse_written(new.template(kind, 5))
    assert written.seed == 5 and written.title.endswith("drawn from seed 5")
    plain = parse_written(new.template(kind))
    assert plain.seed == 0 and plain.problem.size == written.problem.size
    assert (teacher(kind, 5) == teacher(kind, 5)).all()
    assert (teacher(kind, 5) != teacher(kind, 6)).any()
    comments = [line for line in new.template(kind, 5).splitlines() if line.startswith("#")]
    assert len(comments) == sum(line.startswith("#") for line in new.template(kind).splitlines())


def test_what_is_drawn_is_what_it_says():
    written = parse_written(new.template("relu", 3)).problem
    np.testing.assert_allclose(np.linalg.norm(written.target.W, axis=1), 1, atol=2e-3)
    values = np.diag(parse_written(new.template("quadratic", 3)).problem.target.to_array())
    assert (np.diff(values) <= 0).all() and (values >= 0.5).all() and (values <= 3).all()
    with pytest.raises(sh.InvalidProblem, match="0 times in the template"):
        drawn.with_seed("tensor", "title = 'x'\n", 1)


def test_the_file_s_seed_is_that_of_charts_and_training(invoke):
    invoke("new", "p.toml", "--kind", "tensor", "--seed", "9")
    assert load_written("p.toml").seed == 9
    assert json.loads(invoke("chart", "p.toml", "--json").stdout)[0]["seed"] == 9
    assert json.loads(invoke("chart", "p.toml", "--json", "--seed", "4").stdout)[0]["seed"] == 4
    runs = json.loads(invoke("ensemble", "p.toml", "--runs", "20", "--json").stdout)
    again = json.loads(invoke("ensemble", "p.toml", "--runs", "20", "--json", "--seed", "9").stdout)
    other = json.loads(invoke("ensemble", "p.toml", "--runs", "20", "--json", "--seed", "1").stdout)
    assert (runs["seed"], other["seed"]) == ("9", "1")
    assert runs["minima"] == again["minima"]


@pytest.mark.parametrize("line", ["seed = -1", 'seed = "five"', "seed = 1.5"])
def test_a_seed_is_a_whole_number(line):
    with pytest.raises(sh.InvalidProblem, match="seed"):
        parse_written(f"{line}\n{new.template('tensor')}")
