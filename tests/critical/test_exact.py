"""msolve against homotopy and closed forms, point by point."""

import numpy as np
import pytest

import shallows as sh


def same(first, second):
    np.testing.assert_allclose(first.losses, second.losses, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(first.points.table.signature, second.points.table.signature)
    assert first.points.table.kind.tolist() == second.points.table.kind.tolist()
    assert all(p.certificate.signature_certified for p in first.points)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("n", "degree"), [(2, 2), (3, 2), (2, 3), (2, 4)])
def test_exact_and_homotopy_agree(generic, n, degree, seed):
    problem = generic(n, 1, seed, degree)
    exact = sh.chart(problem, method="exact")
    same(exact, sh.chart(problem, method="homotopy"))
    assert exact.completeness == "proved" and exact.method == "exact"


@pytest.mark.thorough
def test_exact_and_homotopy_agree_on_larger_problems(generic):
    for n, degree in [(4, 2), (3, 3)]:
        problem = generic(n, 1, 0, degree)
        same(sh.chart(problem, method="exact"), sh.chart(problem, method="homotopy"))


@pytest.mark.parametrize(
    "data", [sh.Frobenius(3), sh.Gaussian(3), sh.IID(3, [1, 0, 1, 0, 30]), sh.IID.rademacher(2), sh.Sphere(2)]
)
def test_exact_and_closed_forms_agree(data):
    if isinstance(data, sh.IID) and data.n == 2:
        data = sh.IID(2, [1, 0, 1, 0, 1.5])
    T = np.diag([2.0, 1.5, -1.0][: data.n])
    problem = sh.Problem(T, data, 1)
    same(sh.chart(problem, method="exact"), sh.chart(problem, method="closed-form"))


def test_wide_binary_quadratics(generic):
    problem = generic(2, 3, 1)
    same(sh.chart(problem, method="exact"), sh.chart(problem, method="homotopy"))


@pytest.mark.parametrize("seed", [0, 1])
def test_rank_two_of_3x3(generic, seed):
    problem = generic(3, 3, seed)
    exact = sh.chart(problem, method="exact", rng=seed)
    assert exact.complex_count[2] == 13 and exact.completeness == "proved"
    same(exact, sh.chart(problem, method="homotopy"))


@pytest.mark.parametrize("data", [sh.Frobenius(3), sh.Gaussian(3)])
def test_rank_two_closed_forms(data):
    problem = sh.Problem(np.array([[2.0, 0.5, 0.0], [0.5, -1.0, 0.25], [0.0, 0.25, 3.0]]), data, 2)
    exact = sh.chart(problem, method="exact")
    assert exact.complex_count[2] == 3 and exact.completeness == "proved"
    same(exact, sh.chart(problem, method="closed-form"))


def test_more_cubic_neurons_and_families_are_refused(generic):
    with pytest.raises(sh.InvalidProblem, match="one neuron"):
        sh.chart(generic(2, 2, 0, 3), method="exact")
    with pytest.raises(sh.InvalidProblem, match="not isolated"):
        sh.chart(sh.Problem(np.eye(2), sh.Frobenius(2), 1), method="exact")
