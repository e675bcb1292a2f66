"""Polynomial students against teachers of other activations: closed forms by hand, and what is said of rounding.

Random ones against a quadrature are in `test_special_networks`, from seed 600 on.
"""

import numpy as np
import pytest

import shallows as sh

#: Sums of a few doubles.
ROUNDING = 1e-12
#: Losses through Hermite series, whose remainder is bounded by this.
SERIES = 1e-9


def test_square_against_a_relu_in_one_input():
    """a x² against max(x, 0): a = E[x² max(x, 0)]/3 = √(2/π)/3, loss 1/2 − (2/π)/3; the zero function has 1/2."""
    teacher = sh.Network([[1.0]], activation=sh.ReLU())
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(1), width=1, activation=sh.Power(2)))
    assert chart.losses == pytest.approx([0.5 - 2 / (3 * np.pi), 0.5], abs=SERIES)
    net = chart.minimum.network
    assert net.a[0] * net.W[0, 0] ** 2 == pytest.approx(np.sqrt(2 / np.pi) / 3, abs=SERIES)


def test_square_against_a_fourth_power():
    """E[x₁⁴ x^⊗2] = diag(15, 3): S = (diag(15, 3) − (tr S) I)/2, tr S = 18/4, and E x₁⁸ = 105."""
    teacher = sh.Network([[1.0, 0.0]], activation=sh.Power(4))
    problem = sh.Problem(teacher, sh.Gaussian(2), width=2, activation=sh.Power(2))
    best = np.diag([15 - 4.5, 3 - 4.5]) / 2
    assert problem.target_tensor().to_matrix() == pytest.approx(best, abs=ROUNDING)
    floor = 105 - (15 * best[0, 0] + 3 * best[1, 1])
    assert problem.floor == pytest.approx(floor, rel=ROUNDING)
    chart = sh.chart(problem)
    assert chart.completeness == "proved" and chart.infimum == pytest.approx(floor, rel=ROUNDING)


def test_an_odd_teacher_shows_even_students_nothing():
    teacher = sh.Network([[1.0, 2.0]], activation=sh.Power(3))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), width=1, activation=sh.Power(2)))
    assert chart.losses == pytest.approx([15 * 5.0**3], rel=ROUNDING)
    assert chart.minimum.rank == 0 and chart.minimum.kind == "global minimum"


def test_a_bias_of_the_teacher_alone():
    """(x + 1)² = x² + 2x + 1 against a x²: a = E[x²(x + 1)²]/3 = 4/3, loss E(x + 1)⁴ − 16/3 = 14/3."""
    chart = sh.chart(sh.Problem(sh.Network([[1.0]], bias=[1.0]), sh.Gaussian(1), width=1))
    assert chart.infimum == pytest.approx(10 - 16 / 3, rel=ROUNDING)


@pytest.mark.parametrize("students", [sh.Power(2), sh.Polynomial([1.0, 1.0, 1.0])])
@pytest.mark.parametrize("bias", [False, True])
def test_nothing_is_proved_of_rounded_targets(students, bias):
    teacher = sh.Network([[1.0, 0.3], [-0.2, 1.0]], [1.0, -2.0], sh.ReLU(), bias=[0.5, 0.0])
    problem = sh.Problem(teacher, sh.Gaussian(2), 1, students, bias=bias)
    chart = sh.chart(problem)
    assert chart.completeness in ("count-matched", "trace-tested") and any(
        "rounded" in note for note in chart.notes
    )
    for point in chart.critical:
        assert point.certificate is None
        if point.limit:
            continue
        assert problem.loss(point.network) == pytest.approx(point.loss, abs=SERIES)
        assert np.abs(problem.gradient(point.network)).max() < SERIES


def test_charts_of_other_teachers_are_saved_and_joined(tmp_path):
    teacher = sh.Network([[1.0, 0.5], [0.0, 1.0]], [1.0, -1.0], sh.Power(4), bias=[0.5, 0.0])
    chart = sh.chart(sh.Problem(teacher, sh.IID.laplace(2), width=1, activation=sh.Power(2)))
    again = sh.load_chart(chart.save(tmp_path / "fourth-powers"))
    assert np.array_equal(again.losses, chart.losses) and again.problem.floor == chart.problem.floor
    assert len(chart.connections().edges) == chart.count("local minimum") + chart.count("global minimum") - 1


@pytest.mark.parametrize("bias", [[0.5, 0.0], None])
def test_training_ends_on_the_chart(bias, tmp_path):
    teacher = sh.Network([[1.0, 0.5], [0.0, 1.0]], [1.0, -1.0], sh.Power(4), bias=bias)
    problem = sh.Problem(teacher, sh.IID.laplace(2), width=1, activation=sh.Power(2))
    chart = sh.chart(problem)
    match = sh.ensemble(problem, 30, rng=0).match(chart)
    assert not len(match.unmatched) and match.ended == 30
    assert chart.report(tmp_path / "report.html", train=5).exists()


def test_teachers_that_are_no_polynomials_need_a_kernel():
    teacher = sh.Network([[1.0, 0.0]], activation=sh.ReLU())
    with pytest.raises(sh.InvalidProblem, match="no kernel for"):
        sh.chart(sh.Problem(teacher, sh.IID.laplace(2), width=1, activation=sh.Power(2)))
