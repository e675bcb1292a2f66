"""Numeric focal loci: degenerate by construction, and equal to the polynomial's zeros where there is one."""

import numpy as np
import pytest

import shallows as sh
from shallows.discriminants import focal_cloud, focal_slice, rank_one


def matrices(entries, n):
    full = np.zeros((len(entries), n, n))
    rows, columns = np.triu_indices(n)
    full[:, rows, columns] = full[:, columns, rows] = entries
    return full


@pytest.mark.parametrize(("n", "rank"), [(3, 1), (3, 2), (4, 2)])
def test_frobenius_focal_points_have_a_double_eigenvalue(n, rank):
    """Paper 000, Prop. 33."""
    cloud = focal_cloud(sh.Frobenius(n), rank=rank, count=15)
    gaps = np.min(np.diff(np.linalg.eigvalsh(matrices(cloud.teachers, n)), axis=1), axis=1)
    assert len(cloud) >= 15 and np.max(gaps) < 1e-8
    assert np.max(cloud.defects) < 1e-8


def test_negative_control_other_metrics_do_not_need_one():
    cloud = focal_cloud(sh.IID.laplace(3), rank=1, count=15)
    gaps = np.min(np.diff(np.linalg.eigvalsh(matrices(cloud.teachers, 3)), axis=1), axis=1)
    assert np.median(gaps) > 1e-3


@pytest.mark.parametrize("degree", [2, 3])
def test_two_inputs_the_cloud_lies_on_the_polynomial(degree):
    P = rank_one(degree).specialize(data=sh.IID.laplace(2))
    cloud = focal_cloud(sh.IID.laplace(2), rank=1, degree=degree, count=12)
    assert cloud.names == P.variables
    for teacher in cloud.teachers:
        values = dict(zip(P.variables, teacher.tolist(), strict=True))
        scale = sum(abs(c) * np.prod(np.abs(teacher) ** np.array(e)) for e, c in P.terms.items())
        assert abs(float(P.evaluate(**values))) < 1e-9 * float(scale)


def test_rank_two_cubics_and_distances():
    data = sh.IID.uniform(3)
    cloud = focal_cloud(data, rank=2, degree=3, count=6)
    assert np.max(cloud.defects) < 1e-6
    gram = data.gram(3)
    gaps = cloud.teachers - cloud.students
    assert cloud.distances == pytest.approx(np.sqrt(np.einsum("ki,ij,kj->k", gaps, gram, gaps)), rel=1e-8)


def test_slices_agree_with_the_polynomial_for_two_inputs():
    problem = sh.Problem(np.eye(2), sh.IID.laplace(2), width=1)
    cloud = focal_slice(problem, ("t00", -1, 3), ("t01", -2, 2), starts=3, steps=30, rng=3)
    assert len(cloud) >= 20
    P = rank_one(2).specialize(data=sh.IID.laplace(2), t11=1)
    for t00, t01, t11 in cloud.teachers:
        assert t11 == 1 and -1 <= t00 <= 3 and -2 <= t01 <= 2
        scale = sum(abs(c) * abs(t00) ** e[0] * abs(t01) ** e[1] for e, c in P.terms.items())
        assert abs(float(P.evaluate(t00=float(t00), t01=float(t01)))) < 1e-9 * scale


def test_slices_for_three_inputs_and_rank_two():
    """Frobenius: the points of the slice have a double eigenvalue, and the fixed entries are the problem's."""
    target = np.array([[1.0, 0.2, 0.0], [0.2, 1.5, 0.0], [0.0, 0.0, 0.5]])
    problem = sh.Problem(target, sh.Frobenius(3), width=2)
    cloud = focal_slice(problem, ("t00", -2, 3), ("t22", -2, 3), starts=6, steps=2, rng=1)
    assert len(cloud) >= 3
    values = np.linalg.eigvalsh(matrices(cloud.teachers, 3))
    assert np.max(np.min(np.diff(values, axis=1), axis=1)) < 1e-6
    assert np.all(cloud.teachers[:, 1] == 0.2)
    assert "FocalCloud(rank 2" in repr(cloud)


def test_slices_of_rank_two_under_iid_data():
    target = np.array([[1.0, 0.2, 0.1], [0.2, 1.5, 0.3], [0.1, 0.3, 0.5]])
    cloud = focal_slice(
        sh.Problem(target, sh.IID.laplace(3), width=2), ("t00", -1, 3), ("t01", -2, 2), 4, 10, rng=2
    )
    assert len(cloud) >= 5 and np.max(cloud.defects) < 1e-6
    fixed = np.delete(cloud.teachers, [0, 1], axis=1)
    assert np.array_equal(fixed, np.tile([0.1, 1.5, 0.3, 0.5], (len(cloud), 1)))
    rank = np.abs(np.linalg.eigvalsh(matrices(cloud.students, 3)))
    assert np.max(np.min(rank, axis=1)) < 1e-9


def test_same_seed_same_cloud():
    one, two = (focal_cloud(sh.IID.laplace(3), rank=2, count=3, rng=7).teachers for _ in range(2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: focal_cloud(sh.Frobenius(2), rank=2), "fill the space"),
        (lambda: focal_cloud(sh.Frobenius(2), rank=2, degree=3), "fill the space"),
        (lambda: focal_cloud(sh.Frobenius(3), rank=0), "rank"),
        (lambda: focal_cloud(7), "data is 7"),
        (lambda: focal_cloud(sh.IID.rademacher(3)), "not positive definite"),
        (lambda: focal_cloud(sh.Frobenius(3), rng=-1), "rng"),
        (lambda: focal_slice(sh.Problem(np.eye(3), sh.Frobenius(3), 1), ("t00", 0, 1), ("t33", 0, 1)), "t33"),
        (lambda: focal_slice(sh.Problem(np.eye(3), sh.Frobenius(3), 1), ("t00", 0, 1), ("t00", 0, 1)), "Both axes"),
        (lambda: focal_slice(sh.Problem(np.eye(3), sh.Frobenius(3), 1), ("t00", 1, 0), ("t11", 0, 1)), "empty"),
    ],
)  # fmt: skip
def test_bad_input(call, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        call()
