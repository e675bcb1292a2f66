"""Targets whose outputs are linearly dependent, against a quadrature and zeros of its gradient.

The adversary (`test_special_networks`) has a loss of its own and knows no outputs to leave out: every zero of the
gradient must have a loss on the chart, no descent may go below the infimum, and curvatures of weights are those of a
Hessian by differences.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.questions.charts.test_special_networks import (
    FLAT,
    PARALLEL,
    Case,
    Loss,
    below,
    unlisted,
    wrong_rows,
)

import shallows as sh
from shallows.questions.charts.outputs.parallel import one_output

EQUAL2, EQUAL3 = (np.eye(2), np.ones((2, 2)), None), (np.eye(3), np.ones((2, 3)), None)
UNLIKE = np.array([[1.0, 2.0], [1.0, -1.0]])
THREE_OF_RANK_TWO = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
#: Losses of one chart and another, and radii of functions of size ten.
SAME = 1e-9


@dataclass(frozen=True)
class Given:
    """A problem, what its chart must say at the least, and from how many places zeros are looked for."""

    name: str
    activation: str
    width: int
    teacher: tuple
    bias: bool = False
    norm: bool = False
    law: str = "gaussian"
    says: dict = field(default_factory=dict)
    starts: int = 6

    def case(self):
        W, a, b = self.teacher
        shape = W.shape[1], len(a), self.width
        teacher = (W, a, np.zeros(len(W)) if b is None and self.bias else b)
        return Case(self.activation, *shape, self.bias, self.law, self.norm, 0.0, None, teacher)


PROVED = {"completeness": "proved", "attained": True, "scope": ""}
COUNTED = {"attained": True}
TWO = (np.array([[1.0], [2.0]]), np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([1.0, 0.0]))
QUICK = [
    Given("equal, n = 2, one", "z²", 1, EQUAL2, says=PROVED),
    Given("equal, n = 2, two", "z²", 2, EQUAL2, says=PROVED),
    Given("equal, n = 3, two", "z²", 2, EQUAL3, says=PROVED, starts=4),
    Given("proportional", "z²", 2, (UNLIKE, np.array([[1.0, 2.0], [-3.0, -6.0]]), None), says=PROVED),
    Given("one zero output", "z²", 2, (UNLIKE, np.array([[0.0, 0.0], [1.0, 2.0]]), None), says=PROVED),
    Given("three of rank two", "z²", 1, (UNLIKE, THREE_OF_RANK_TWO, None), says=PROVED),
    Given("zero", "z²", 2, (UNLIKE, np.zeros((2, 2)), None), says=PROVED, starts=3),
    Given("bias, one", "z²", 1, TWO, bias=True, says=PROVED),
    Given("bias, two", "z²", 2, TWO, bias=True, says=PROVED),
    Given("z + z², one", "z + z²", 1, EQUAL2, says={"attained": True}),
    Given("z + z², zero", "z + z²", 2, (UNLIKE, np.zeros((2, 2)), None), says={"scope": ""}, starts=3),
    Given("cubic, one", "z³", 1, EQUAL2, says=COUNTED),
    Given("cubic, two", "z³", 2, EQUAL2, says=COUNTED, starts=3),
    Given("norm neuron", "z²", 2, (np.diag([1.0, 2, 3]), np.ones((2, 3)), None), norm=True, starts=3),
]
THOROUGH = [
    Given("equal, n = 2, three", "z²", 3, EQUAL2, says=PROVED, starts=6),
    Given("thirds", "z²", 2, (UNLIKE, np.array([[3.0, 6.0], [1.0, 2.0]]), None), says=PROVED),
    Given("Laplace", "z²", 1, (UNLIKE, np.array([[1.0, 2.0], [2.0, 4.0]]), None), law="laplace", says=PROVED),
    Given("equal, n = 3, one", "z²", 1, EQUAL3, says=PROVED),
    Given("equal, n = 3, three", "z²", 3, EQUAL3, says=PROVED),
    Given("three equal outputs", "z²", 2, (UNLIKE, np.ones((3, 2)), None), says=PROVED),
    Given("three of rank two, two", "z²", 2, (UNLIKE, THREE_OF_RANK_TWO, None)),
    Given("z + z², unlike", "z + z²", 2, (UNLIKE, np.ones((2, 2)), None)),
    Given("1 + z², two", "1 + z²", 2, (UNLIKE, np.ones((2, 2)), None)),
    Given("z + z², bias", "z + z²", 2, TWO, bias=True),
    Given("1 + z + z², one", "1 + z + z²", 1, EQUAL2),
    Given("z + z³, one", "z + z³", 1, (UNLIKE / 2, np.ones((2, 2)), None)),
    Given("z + z³, bias", "z + z³", 1, TWO, bias=True),
    Given("cubic, unlike", "z³", 2, (UNLIKE, np.array([[1.0, 1.0], [2.0, 2.0]]), None)),
    Given("cubic, three", "z³", 3, (UNLIKE, np.array([[1.0, 1.0], [2.0, 2.0]]), None)),
    Given("cubic, three of rank two", "z³", 2, (UNLIKE, THREE_OF_RANK_TWO, None)),
    Given("Laplace, two", "z²", 2, (UNLIKE, np.array([[1.0, 2.0], [2.0, 4.0]]), None), law="laplace"),
    Given("norm neuron, bias", "z²", 1, TWO, bias=True, norm=True),
]
GIVEN = [pytest.param(one, id=one.name) for one in QUICK]
GIVEN += [pytest.param(one, id=one.name, marks=pytest.mark.thorough) for one in THOROUGH]


def wrong_signatures(loss, chart):
    """Weights that move a function have the curvatures of its stratum; signs do not see the units of the weights.

    Networks p ⊗ q beside others, of targets of rank two, have those of functions p ⊗ q.
    """
    alone = one_output(chart.problem) is not None
    for point in chart.critical:
        a = point.network.a
        if point.limit or point.rank < loss.case.width or (not alone and has_parallel(a)):
            continue
        H = loss.hessian(loss.theta(point.network))
        units = np.sqrt(np.maximum(np.abs(H).max(axis=0), FLAT * np.abs(H).max()))
        values = np.linalg.eigvalsh(H / np.outer(units, units))
        seen = int((values > FLAT).sum()), int((values < -FLAT).sum())
        if seen != (point.signature[0], point.signature[2]):
            yield f"{point}: in weights {seen}, {values}"


def has_parallel(a):
    """Whether outer weights of two neurons are."""
    return a.shape[1] > 1 and np.linalg.svd(a)[1][1] < PARALLEL * np.abs(a).max()


@pytest.mark.parametrize("given", GIVEN)
def test_zeros_of_the_gradient_are_on_the_chart(given, tmp_path):
    case = given.case()
    loss, rng = Loss(case), np.random.default_rng(3)
    chart = sh.chart(case.problem())
    for name, value in given.says.items():
        assert getattr(chart, name) == value, f"{name}: {chart}"
    found = [*wrong_rows(loss, chart), *wrong_signatures(loss, chart), *below(loss, chart, rng)]
    found += unlisted(loss, chart, given.starts, rng) if chart.completeness != "sampled" else []
    assert not found, "\n".join([f"{chart}", *found])
    assert chart.losses.min() >= 0.0
    path = tmp_path / "chart.npz"
    chart.save(path)
    again = sh.load_chart(path)
    assert np.array_equal(again.losses, chart.losses) and again.kinds() == chart.kinds()


def test_the_first_example_has_the_networks_of_one_output():
    """sum of squares, twice: one output's chart with losses twice as large, rank·(M − 1) more directions up."""
    one = sh.chart(sh.Problem(sh.Network(np.eye(3), np.ones(3), sh.Power(2)), sh.Gaussian(3), 2))
    two = sh.chart(sh.Problem(sh.Network(np.eye(3), np.ones((2, 3)), sh.Power(2)), sh.Gaussian(3), 2))
    assert two.losses == pytest.approx(2 * one.losses, abs=SAME)
    assert two.minimum.kind == "global minimum" and two.completeness == "proved"
    for left, right in zip(one.critical, two.critical, strict=True):
        positive, zero, negative = left.signature
        assert right.signature == (positive + left.rank, zero, negative)
        assert (left.kind, left.dimension, left.rank) == (right.kind, right.dimension, right.rank)


def test_certificates_hold_for_every_output():
    """9 − 3√… of Theorem 35 in thirds: radii are of all outputs, and exact numbers are within them."""
    teacher = sh.Network(np.eye(2), np.array([[6.0, 3.0], [2.0, 1.0]]), sh.Power(2))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), 1))
    exact = np.diag([6 + 3 / 3, 0.0])  # keeps 6, plus 3/(r + 2)
    for scale, tensor in zip((1.0, 1 / 3), chart.minimum.tensors, strict=True):
        assert np.abs(tensor.to_array() - scale * exact).max() <= chart.minimum.certificate.radius
        assert chart.minimum.certificate.radius < SAME


def test_labels_that_are_multiples_are_proved():
    rng = np.random.default_rng(7)
    y = rng.standard_normal(20)
    data = sh.Samples(rng.standard_normal((20, 2)), np.column_stack([y, 2 * y, -y]))
    chart = sh.chart(sh.Problem(None, data, 2))
    alone = sh.chart(sh.Problem(None, sh.Samples(data.X, y), 2))
    assert chart.completeness == alone.completeness
    assert chart.losses == pytest.approx(6 * alone.losses, abs=SAME)


def test_what_students_do_not_see_makes_no_output():
    """Squares see nothing of odd powers: y and y + z³ are one output, and a floor."""
    teacher = sh.Network(
        [[1.0, 2.0], [-1.0, -2.0]], [[1.0, 1.0], [3.0, -1.0]], sh.Polynomial([0, 0, 1.0, 0.5])
    )
    problem = sh.Problem(teacher, sh.Gaussian(2), 1, sh.Power(2))
    chart = sh.chart(problem)
    assert one_output(problem) is not None and chart.minimum.kind == "global minimum"
    for point in chart.critical:
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=SAME)
    assert chart.infimum == pytest.approx(problem.floor, rel=SAME) and chart.infimum > 1


def test_targets_that_depend_but_for_rounding_are_one_and_not_proved():
    """np.outer in doubles: by homotopy of two outputs paths were lost."""
    W, c = np.random.default_rng(1).standard_normal((3, 3)), np.array([0.7, 0.1, 0.9])
    chart = sh.chart(sh.Problem(sh.Network(W, np.outer([1.0, 0.3], c)), sh.Gaussian(3), 2))
    alone = sh.chart(sh.Problem(sh.Network(W, c), sh.Gaussian(3), 2))
    assert chart.losses == pytest.approx(1.09 * alone.losses, abs=SAME)
    assert chart.completeness == "count-matched" and chart.minimum.certificate is None
    assert any("but for rounding" in note for note in chart.notes)


def test_an_output_of_its_own_is_another_matter():
    a = np.array([[1.0, 2.0], [1.0, 2.0 + 1e-6]])
    assert one_output(sh.Problem(sh.Network(UNLIKE, a), sh.Gaussian(2), 1)) is None
