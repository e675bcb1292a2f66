"""The discriminant of one neuron's activation against charts, which solve other equations by homotopy."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.discriminants import activation_minima, activation_regions

QUADRATIC = sh.Polynomial([1, 1, 1])
ODD = sh.Network([[1.0, 1 / 3], [-0.2, 0.8]], [1.0, -1.0], activation=QUADRATIC)
EVEN = sh.Network([[1.0, 0.5], [-0.5, 1.25]], [1.0, 1.0], activation=QUADRATIC)
#: How far beside a wall the landscape is looked at, relative to the window.
BESIDE = 1e-3


@pytest.fixture(autouse=True)
def few_lines(monkeypatch):
    """Points of a curve enough to choose from."""
    monkeypatch.setattr(activation_regions, "LINES", 40)


def teacher(n, rng):
    return sh.Network(np.round(rng.normal(size=(n, n)), 2), rng.choice([-1.0, 1.0], n), activation=QUADRATIC)


def landscape(problem):
    """Real critical points but the zero function, and minima, by a chart."""
    chart = sh.chart(problem)
    assert chart.completeness == "proved"
    points = [p for p in chart.critical if p.rank]
    return len(points), sum("minimum" in p.kind for p in points)


@pytest.mark.parametrize("n", [1, 2, pytest.param(3, marks=pytest.mark.thorough)])
def test_zeros_are_the_points_of_the_chart(n):
    rng = np.random.default_rng(n)
    family = sh.discriminants.activation(teacher(n, rng))
    for beta, gamma in np.round(rng.uniform(-2, 2, (4, 2)), 2):
        problem = family.problem(beta, gamma)
        losses = [p.loss for p in sh.chart(problem).critical if p.rank]
        found = family.networks(beta, gamma)
        assert family.real_count(beta, gamma) == len(losses) == len(found)
        assert np.allclose([problem.loss(net) for net in found], losses, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("given", [ODD, EVEN])
def test_regions_have_the_landscapes_of_charts(given):
    found = sh.discriminants.activation_regions(sh.discriminants.activation(given), (0.05, 3), (-4, 2), 41)
    for region in found.regions[:8]:
        assert landscape(found.family.problem(*region.point)) == (region.real_count, region.local_minima)


def beside(found, kind):
    """Pairs of problems on both sides of some points of a wall."""
    x, y = found.curve(kind)
    for k in np.random.default_rng(1).choice(len(x), 6, replace=False):
        yield [found.family.problem(x[k] + side, y[k]) for side in (-BESIDE, BESIDE)]


def test_two_points_meet_on_the_discriminant():
    found = sh.discriminants.activation_regions(sh.discriminants.activation(EVEN), (0.3, 3), (-4, 2), 41)
    changes = [np.subtract(*(landscape(p)[0] for p in sides)) for sides in beside(found, "discriminant")]
    assert set(np.abs(changes)) <= {0, 2}
    assert np.count_nonzero(changes) >= 5  # a line of constant γ may touch the curve


def test_a_point_goes_through_the_zero_function_at_the_vertex():
    """Its outer weight changes sign, and its index from k to n − k: at n = 2 the number of minima by one, or not."""
    found = sh.discriminants.activation_regions(sh.discriminants.activation(EVEN), (0.3, 3), (-4, 2), 41)
    for sides in beside(found, "vertex"):
        least = []
        for problem in sides:
            points = [p for p in sh.chart(problem).critical if p.rank]
            zero = problem.loss(sh.Network(np.zeros((1, 2)), [0.0], activation=problem.activation))
            least.append(min(points, key=lambda p: abs(zero - p.loss)))
        first, second = least
        assert first.network.a[0] * second.network.a[0] < 0
        assert first.signature[2] + second.signature[2] in (2, 3)  # a direction more where a is one of (w, a)
        assert landscape(sides[0])[0] == landscape(sides[1])[0]


def test_signs_of_beta_and_rotations_change_nothing():
    turned = sh.Network(ODD.W @ np.array([[0.6, 0.8], [-0.8, 0.6]]), ODD.a, activation=QUADRATIC)
    one, two = (sh.discriminants.activation(net) for net in (ODD, turned))
    assert one.polynomial in (two.polynomial, -two.polynomial)
    assert one.real_count("-1/2", -1) == one.real_count("1/2", -1) == 5


def test_a_double_zero_is_on_the_discriminant():
    family = sh.discriminants.activation(EVEN)
    x, y = sh.discriminants.activation_regions(family, (0.3, 3), (-4, 2), 5).curve()
    for k in range(0, len(x), len(x) // 7):
        around = [np.sort_complex(np.roots(_numbers(family, x[k], y[k])))]
        gaps = np.abs(np.subtract.outer(around[0], around[0])) + np.eye(7) * 9
        assert gaps.min() < 1e-4  # √ε at a double zero, times its condition


def _numbers(family, beta, gamma):
    return [
        sum(
            int(value.p) / int(value.q) * beta ** int(i) * gamma ** int(j)
            for (i, j), value in coefficient.to_dict().items()
        )
        for coefficient in reversed(family.form)
    ]


def test_a_minimum_is_not_taken_on_trust(monkeypatch):
    """A neuron that is found twice, or Newton's method that does not converge, is not decided."""
    family = sh.discriminants.activation(ODD)
    zeros, at = family.zeros(1.0, 0.3), (np.array([1.0]), np.array([0.3]))
    minima, decided = activation_minima.count_minima(family.numbers, zeros[None], *at)
    assert decided.all() and minima.tolist() == [2]
    twice = np.append(zeros[:-1], zeros[0])
    assert not activation_minima.count_minima(family.numbers, twice[None], *at)[1].any()
    monkeypatch.setattr(activation_minima, "STEPS", 1)
    moved = zeros * (1 + 1e-3)
    assert not activation_minima.count_minima(family.numbers, moved[None], *at)[1].any()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (sh.Network(np.eye(2), [1.0, 1.0], activation=QUADRATIC), "special"),
        (sh.Network([[1.0, 0.0], [0.0, 2.0]], [1.0, 0.0], activation=QUADRATIC), "special"),
        (sh.Network(np.eye(2), [1.0, -1.0], activation=sh.ReLU()), "activation"),
        (sh.Network([[1.0, 2.0]], [1.0], activation=QUADRATIC, bias=[1.0]), "without bias"),
        (sh.Network(np.eye(4), np.ones(4), activation=QUADRATIC), "at most 3"),
        (np.eye(2), "expected a Network"),
    ],
)
def test_teachers_that_are_refused(given, said):
    with pytest.raises(sh.InvalidProblem, match=said):
        sh.discriminants.activation(given)


def test_other_bad_input():
    family = sh.discriminants.activation(ODD)
    with pytest.raises(sh.InvalidProblem, match="beta is 0"):
        family.real_count(0, 1)
    with pytest.raises(sh.InvalidProblem, match="expected two numbers"):
        sh.discriminants.activation_regions(family, 1.0, (0, 1))
    with pytest.raises(sh.InvalidProblem, match="vertex"):
        sh.discriminants.activation_regions(family, (1, 2), (1, 2), 3).curve("wall")
