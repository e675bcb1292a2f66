"""Networks with several outputs that no path reaches: parallel outer weights, more neurons than functions need.

The oracle is the one of `test_special_networks`, zeros of the gradient of a loss by quadrature, here for generic
teachers. A trace test said that none were missing, while up to half of all critical networks were.
"""

from dataclasses import replace

import numpy as np
import pytest
from tests.questions.charts.test_special_networks import Case, Loss, unlisted, wrong_rows

import shallows as sh
from shallows.questions.charts.outputs import chart as outputs

#: Losses agree to rounding.
ROUNDING = 1e-9


def case(activation, n, width, law="laplace", seed=0, count=2, norm=False):
    rng = np.random.default_rng(seed)
    teacher = rng.standard_normal((4, n)), rng.standard_normal((count, 4)), None
    return Case(activation, n, count, width, False, law, norm, 0.0, None, teacher)


CASES = [
    pytest.param("z²", 2, 2, "laplace", 0, 2, marks=pytest.mark.thorough),
    pytest.param("z²", 2, 3, "laplace", 1, 2, marks=pytest.mark.thorough),
    pytest.param("z³", 2, 3, "laplace", 0, 2, marks=pytest.mark.thorough),
    pytest.param("z²", 3, 2, "laplace", 0, 2, marks=pytest.mark.thorough),
    pytest.param("z²", 3, 2, "gaussian", 1, 2, marks=pytest.mark.thorough),
    pytest.param("z²", 3, 3, "laplace", 0, 2, marks=pytest.mark.thorough),
    pytest.param("z²", 2, 4, "gaussian", 2, 3, marks=pytest.mark.thorough),
    pytest.param("z³", 2, 4, "gaussian", 2, 2, marks=pytest.mark.thorough),
    pytest.param("z³", 2, 3, "uniform", 3, 3, marks=pytest.mark.thorough),
    pytest.param("z⁴", 2, 4, "uniform", 3, 2, marks=pytest.mark.thorough),
]


@pytest.mark.parametrize(("activation", "n", "width", "law", "seed", "count"), CASES)
def test_every_zero_of_the_gradient_is_listed(activation, n, width, law, seed, count):
    given = case(activation, n, width, law, seed, count)
    loss, chart = Loss(given), sh.chart(given.problem())
    assert chart.completeness != "sampled"
    found = [
        *wrong_rows(loss, chart),
        *unlisted(loss, chart, 80 if n == 2 else 12, np.random.default_rng(seed)),
    ]
    assert not found, "\n".join([str(chart), *found])


@pytest.mark.parametrize("seed", range(4))
def test_two_squares_of_two_inputs_leave_one_singular_value_out(seed):
    """The losses are eigenvalues of TGTᵀ whose form G(c·T) has real roots; written down here."""
    problem = case("z²", 2, 2, seed=seed).problem()
    gram, target = problem.gram(), np.array([problem.target.output(m).tensor().entries for m in range(2)])
    values, vectors = np.linalg.eigh(target @ gram @ target.T)
    forms = vectors.T @ target @ gram
    real = forms[:, 1] ** 2 > 4 * forms[:, 0] * forms[:, 2]
    chart = sh.chart(problem)
    for value in values[real]:
        assert np.abs(chart.losses - value).min() < ROUNDING * values[-1]
    rows = [point for point in chart.points if point.rank == 2 and point.loss > ROUNDING and not point.limit]
    assert len(rows) == real.sum()


def test_without_them_zeros_are_missing(monkeypatch):
    given = case("z²", 2, 2)
    monkeypatch.setattr(outputs, "has_shared_stratum", lambda *_: False)
    chart = sh.chart(given.problem())
    assert "parallel outer weights" in chart.scope
    chart = replace(chart, scope="")
    assert list(unlisted(Loss(given), chart, 12, np.random.default_rng(0)))


def test_norm_neuron_beside_more_neurons_than_inputs():
    given = case("z²", 2, 3, norm=True)
    chart = sh.chart(given.problem())
    assert chart.attained and chart.infimum < ROUNDING
    assert not [
        *wrong_rows(Loss(given), chart),
        *unlisted(Loss(given), chart, 6, np.random.default_rng(1)),
    ]


def equal_values(s):
    """Outputs x³ + 3s xy² and y³ + 3s x²y, exactly: they are exchanged by x ↔ y, so that singular values are equal."""
    W = np.array([[1.0, 0], [0, 1], [1, 1], [1, -1]])
    return sh.Network(W, np.array([[1 - s, 0, s / 2, s / 2], [0, 1 - s, s / 2, -s / 2]]), sh.Power(3))


@pytest.mark.parametrize("law", [sh.Gaussian(2), sh.IID.laplace(2), sh.IID.uniform(2)])
@pytest.mark.parametrize("s", [0.0, -0.25, -0.5, -0.75, -1.25])
def test_equal_singular_values_leave_a_family_for_each_arc_of_real_neurons(s, law):
    """Which combinations c of the outputs have a form with three real roots, by roots in doubles all around."""
    problem = sh.Problem(equal_values(s), law, width=3)
    gram, target = problem.gram(), np.array([problem.target.output(m).tensor().entries for m in range(2)])
    forms = target @ gram
    square = target @ forms.T
    assert np.allclose(square, square[0, 0] * np.eye(2), atol=ROUNDING * square[0, 0])
    angles = np.pi * (np.arange(5000) + 0.37) / 5000
    real = [
        np.abs(np.roots(np.cos(angle) * forms[0] + np.sin(angle) * forms[1]).imag).max() < ROUNDING
        for angle in angles
    ]
    begins = sum(now and not before for before, now in zip([real[-1], *real[:-1]], real, strict=True))
    arcs = begins or int(real[0])
    chart = sh.chart(problem)
    rows = [item for item in chart.critical if abs(item.loss - square[0, 0]) < ROUNDING * square[0, 0]]
    families = [item for item in rows if item.rank == 3]
    assert len(families) == arcs and all(item.dimension == 1 for item in families)
    assert chart.completeness == "trace-tested"
    for family in families:
        assert np.abs(problem.gradient(family.network)).max() < 1e-8 * square[0, 0]
        hessian = np.linalg.eigvalsh(problem.hessian(family.network))
        assert np.sum(hessian < -1e-10 * hessian[-1]) == family.signature[2]


def test_arcs_that_touch_are_two():
    """At (x + y)(x − y)² and (x − y)(x + y)² two neurons merge, though all roots are real all around."""
    chart = sh.chart(sh.Problem(equal_values(-1.5), sh.IID.laplace(2), width=3))
    assert [item.dimension for item in chart.families if item.rank == 3] == [1, 1]


def test_more_equal_singular_values_are_said_to_be_searched():
    """Three outputs with orthonormal functions."""
    W = np.array([[1.0, 0], [0, 1], [1, 1], [1, -1]])
    powers = np.array([sh.Network(w[None], activation=sh.Power(3)).tensor().entries for w in W])
    gram = sh.Problem(sh.Network(W, activation=sh.Power(3)), sh.Gaussian(2), 1).gram()
    functions = np.linalg.inv(np.linalg.cholesky(gram))[:3]  # F G Fᵀ = 1
    teacher = sh.Network(W, np.linalg.solve(powers.T, functions.T).T, sh.Power(3))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), width=3))
    assert chart.completeness == "sampled"
    (note,) = [note for note in chart.notes if "equal singular values" in note]
    assert "search" in note
    (family,) = [item for item in chart.families if item.rank == 3]
    assert family.dimension == 2 and abs(family.loss - 1.0) < 1e-8
