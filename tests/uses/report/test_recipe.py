"""Recipes: the problem file and the Python of a report make the same problem again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.model.problem_file import parse_written
from shallows.uses.report.recipe import LARGEST_DATA, NoRecipe, python_of, toml_of, versions

RNG = np.random.default_rng(5)
X = RNG.standard_normal((12, 2))
PROBLEMS = {
    "diagonal": sh.Problem(np.diag([2.0, 1.5]), sh.Gaussian(2), 1),
    "matrix": sh.Problem([[1.0, 0.3], [0.3, -1.0]], sh.Gaussian(2, [[2.0, 0.1], [0.1, 1.0]], [0.5, 0.0]), 1),
    "moments": sh.Problem(np.eye(2), sh.IID(2, [1, 0, 1, 0, 1 / 3 + 5]), 1),
    "student": sh.Problem(np.eye(2), sh.IID.student(2, 5 + 1 / 3), 1),
    "cubic": sh.Problem(sh.SymmetricTensor([1.0, 0.2, 0.1, -0.4], 2, 3), sh.IID.laplace(2), 1),
    "sphere": sh.Problem(np.eye(2), sh.Sphere(2), 1, outer=[-1.0]),
    "radial": sh.Problem(np.eye(2), sh.Radial(2, [1, 1, 2, 6, 30]), 1),
    "frobenius": sh.Problem(np.eye(2), sh.Frobenius(2), 1),
    "metric": sh.Problem(np.eye(2), sh.Metric(2, 2, np.diag([1.0, 2.5, 1.0])), 1),
    "mixture": sh.Problem(np.eye(2), sh.Mixture([0.9, 0.1], [sh.Gaussian(2), sh.IID.uniform(2)]), 1),
    "samples": sh.Problem(None, sh.Samples(X, X[:, 0] ** 2), 1, norm_neuron=True, orthogonality=0.25),
    "relu": sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), 3, outer="ones"),
    "polynomial": sh.Problem(sh.Network([[1.0, 0.1]], [2.0], sh.Polynomial([0, 1, 0.5])), sh.Gaussian(2), 1),
}  # fmt: skip


def same(one, other):
    theta = np.random.default_rng(1).standard_normal(one.size)
    return one.size == other.size and float(one.value(theta)) == float(other.value(theta))


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_problem_file_makes_the_same_problem(name):
    written = parse_written(toml_of(PROBLEMS[name], "a “title”"))
    title, again = written.title, written.problem
    assert title == "a “title”"
    assert same(PROBLEMS[name], again) and repr(again) == repr(PROBLEMS[name])


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_python_makes_the_same_problem(name):
    made = {}
    exec(python_of(PROBLEMS[name], "done = True"), made)
    assert same(PROBLEMS[name], made["problem"]) and made["done"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3))
def test_every_digit_is_kept(values):
    a, b, c = values
    problem = sh.Problem([[a, b], [b, c]], sh.Gaussian(2), 1)
    again = parse_written(toml_of(problem)).problem
    np.testing.assert_array_equal(again.target_tensor().entries, problem.target_tensor().entries)


def test_what_cannot_be_written_down_says_so():
    smooth = sh.Problem(sh.Network([[1.0]], activation=sh.Smooth(np.tanh)), sh.Gaussian(1), 1)
    for make in (toml_of, python_of):
        with pytest.raises(NoRecipe, match="Python function"):
            make(smooth)
    many = sh.Samples(np.ones((LARGEST_DATA, 1)), np.ones(LARGEST_DATA))
    with pytest.raises(NoRecipe, match="too many"):
        toml_of(sh.Problem(None, many, 1))


def test_versions_name_what_computes():
    assert {"Python", "platform", "shallows", "numpy", "python-flint"} <= set(versions())
