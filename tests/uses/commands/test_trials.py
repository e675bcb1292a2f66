"""The trials of `shallows discriminant`: they agree with what is right, and find what is wrong."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import shallows as sh
from shallows.discriminants import ellipse, landscape_regions, rank_one
from shallows.uses.commands import trials


@pytest.mark.parametrize(
    ("P", "degree"),
    [
        (rank_one(2), 6),
        (rank_one(2).specialize(data="symmetric iid"), 6),
        (rank_one(2).specialize(data=sh.Frobenius(2)), 6),
        (ellipse("9/5", "2/3"), 6),
        (rank_one(3), 12),
        (
            rank_one(3).specialize(data=sh.Gaussian(2)),
            4,
        ),  # zero for every teacher: tried without its fixed points
    ],
    ids=["generic", "symmetric", "frobenius", "ellipse", "cubic", "gaussian cubic"],
)
def test_discriminants_agree_with_homotopy(P, degree):
    found = trials.try_polynomial(P, 4, seed=3)
    assert found.passed and (found.count, found.agreed, found.degree) == (4, 4, degree), str(found)


def test_a_wrong_sign_is_found():
    """−P allows 4 real critical points where there are 2."""
    P = rank_one(2).specialize(data=sh.IID.laplace(2))
    wrong = replace(P, polynomial=-P.polynomial)
    found = trials.try_polynomial(wrong, 5, seed=0)
    assert (found.agreed, found.passed) == (0, False)
    assert len(found.disagreements) == 5 and "by the sign of P, at t00 = " in str(found)


def test_a_wrong_degree_is_found(monkeypatch):
    P = ellipse(4, 1).specialize(m11=1, m12=0, m22=1)
    x = P.polynomial.context().gen(0)
    found = trials.try_polynomial(replace(P, polynomial=P.polynomial * (x * x + 1)), 0, seed=0)
    assert found.degree == found.expected_degree == 8  # the check follows the polynomial it is given
    monkeypatch.setattr(type(P), "bidegree", (7, 0))
    lower = trials.try_polynomial(P, 0, seed=0)
    assert (lower.degree, lower.expected_degree, lower.passed) == (6, 7, False) and "not 7" in str(lower)


def test_degrees_by_differences():
    for degree in range(5):
        values = [Fraction(k) ** degree + 3 for k in range(degree + 3)]
        assert trials._degree(values) == degree
    assert trials._degree([Fraction(0)] * 4) == -1


@pytest.mark.parametrize(
    "regions",
    [
        landscape_regions(rank_one(2), ("t00", -1, 3), ("t01", -2, 2), resolution=21, data=sh.IID.laplace(2), t11=1),
        landscape_regions(ellipse(4, 1), ("x", -3, 3), ("y", -3, 3), resolution=21, m11=1, m12=0.5, m22=2),
    ],
    ids=["rank one", "ellipse"],
)  # fmt: skip
def test_slices_agree_with_homotopy_and_wrong_ones_do_not(regions):
    assert trials.try_slice(regions, 12, seed=1).passed
    wrong = replace(regions, local_minima=regions.local_minima + 1)
    found = trials.try_slice(wrong, 3, seed=1)
    assert found.agreed == 0 and "in the picture" in str(found)


def test_minima_on_an_ellipse_are_those_of_the_students():
    P = ellipse(4, 1).specialize(m11=2, m12="1/2", m22=1)
    values = {"x": Fraction(1, 3), "y": Fraction(1, 5)}
    students = sh.discriminants.critical_students(P, **values)
    minima = sum(student.kind == "local minimum" for student in students)
    assert trials._counted(P, values, 0) == (len(students), minima) == (4, 2)


def test_seeds_draw_other_teachers_and_positive_definite_metrics():
    draws = [trials._drawn(rank_one(2), np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    gram, _ = rank_one(2).numbers(**draws[0])
    assert np.linalg.eigvalsh(np.array(gram, dtype=float)).min() > 0


def test_the_command_says_how_many_agreed(invoke, monkeypatch):
    metric = ("--metric", "m11=1, m12=0, m22=1")
    told = json.loads(invoke("discriminant", "ellipse", *metric, "--trials", 3, "--seed", 5, "--json").stdout)
    assert told["trials"]["seed"] == 5 and told["trials"]["agreed"] == told["trials"]["count"] == 3
    assert "3 of 3 landscapes agree" in invoke("discriminant", "ellipse", *metric, "--trials", 3).output
    assert "agree" not in invoke("discriminant", "ellipse", *metric, "--trials", 0).output
    monkeypatch.setattr(trials, "_counted", lambda *arguments: (3, 3))
    assert "disagrees: 3 real" in invoke("discriminant", "ellipse", *metric, "--trials", 2, code=1).output
