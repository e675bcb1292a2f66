"""One trained polynomial neuron, all real critical points by exclusion: against searches, sabotage, special targets."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.model.polynomial_space import PolynomialSpace
from shallows.questions.charts.neurons import excluded, fixed_excluded
from shallows.questions.charts.neurons import patches as patches_room
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.excluded import (
    FEW_BOXES,
    MOST_BOXES,
    all_real,
    is_excludable,
    told_apart,
)
from shallows.questions.charts.neurons.patches import Places
from shallows.questions.charts.neurons.polynomials import combination, product
from shallows.questions.charts.neurons.square_ratio import SquareRatio
from shallows.questions.charts.neurons.stratum import own_neuron

SHIFTED, ODD, BENT, WHOLE = [0.0, 1, 1], [0.0, 1, 0, 1], [0.0, 0, 1, 1], [1.0, 1, 1, 1]
#: Activation, bias, teacher: decided in a second or two.
QUICK = [(SHIFTED, True, "random"), (ODD, False, "identity"), (ODD, True, "random"), (BENT, False, "random")]
THOROUGH = [
    (SHIFTED, True, "identity"),
    (SHIFTED, True, "one neuron"),
    (ODD, True, "identity"),
    (ODD, True, "one neuron"),
    (WHOLE, True, "identity"),
    (WHOLE, True, "random"),
    (WHOLE, False, "one neuron"),
]
CASES = [(*case, 12) for case in QUICK]
CASES += [pytest.param(*case, 60, marks=pytest.mark.thorough) for case in [*QUICK, *THOROUGH]]


def drawn(coefficients, bias, teacher, seed=0, n=2):
    rng = np.random.default_rng([seed, len(coefficients)])
    rows = {"identity": n, "one neuron": 1, "random": n + 1}[teacher]
    W = np.eye(n) if teacher == "identity" else rng.standard_normal((rows, n))
    a = np.ones(rows) if teacher != "random" else rng.standard_normal(rows)
    b = (np.zeros(rows) if teacher == "identity" else rng.standard_normal(rows)) if bias else None
    return sh.Problem(
        sh.Network(W, a, sh.Polynomial(coefficients), bias=b), sh.Gaussian(n), width=1, bias=bias
    )


def listed(problem, most=MOST_BOXES):
    space = PolynomialSpace.of(problem)
    system = NeuronSystem(NeuronEquations(own_neuron(problem), 1), space.exact)
    return all_real(problem, space, system, most)


def slopes(problem, x):
    """The gradient of the loss at (a, w) or (a, b, w)."""
    weights = x[None, 1 + problem.bias :]
    net = sh.Network(weights, x[:1], problem.activation, bias=x[1:2] if problem.bias else None)
    return np.ravel(problem.gradient(net))


def searched(problem, starts, seed):
    """Zeros of the gradient with a ≠ 0 that Levenberg-Marquardt finds from random starts, near and far."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(starts):
        start = rng.standard_normal(problem.n + 1 + problem.bias) * 10 ** rng.uniform(-1, 1)
        end = least_squares(
            lambda x: slopes(problem, x), start, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200
        )
        x, size = end.x, np.abs(slopes(problem, start)).max()
        # at a limit, a → 0 and w → ∞ or back, the slopes fade as well
        if np.abs(end.fun).max() < 1e-11 * min(1, size) and abs(x[0]) > 1e-3 and np.abs(x).max() < 1e3:
            found.append(x)
    return found


def function(problem, x):
    """The coefficients of a p(b + w·x) as values at fixed places."""
    places = np.random.default_rng(99).standard_normal((12, problem.n))
    b = x[1] if problem.bias else 0.0
    return x[0] * np.polyval(problem.activation.coefficients[::-1], b + places @ x[1 + problem.bias :])


@pytest.mark.parametrize(("coefficients", "bias", "teacher", "starts"), CASES)
def test_a_search_finds_no_other_and_each_is_critical(coefficients, bias, teacher, starts):
    problem = drawn(coefficients, bias, teacher)
    proof = listed(problem)
    assert proof is not None and len(proof.points)
    assert not proof.points.imag.any()
    own = np.array([function(problem, x) for x in proof.points.real])
    for x in searched(problem, starts, 1):
        value = function(problem, x)
        assert np.abs(own - value).max(axis=1).min() < 1e-6 * np.abs(value).max(), x
    for x in proof.points.real:
        scale = np.abs(slopes(problem, x + 1.0)).max()
        assert np.abs(slopes(problem, x)).max() < 1e-10 * scale


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.thorough) for k in range(1, 6))])
@pytest.mark.parametrize("bias", [False, True])
def test_the_chart_says_proved_and_has_them(bias, seed):
    problem = drawn(ODD, bias, "random", seed)
    chart = sh.chart(problem)
    assert chart.completeness == "proved"
    nets = [point for point in chart.points if point.rank == 1 and not point.limit]
    assert len(nets) == len(listed(problem).points)


@pytest.mark.parametrize("dropped", ["middle", "far", "near"])
def test_every_kind_of_place_is_needed(dropped, monkeypatch):
    """A patch left out loses a point of some problem: z + z³ at teachers of several lengths."""
    whole = Places.patches
    names = {"middle": lambda p: p.face is None, "far": lambda p: p.inverse}
    is_dropped = names.get(dropped, lambda p: p.face is not None and not p.inverse)
    problems = [
        sh.Problem(
            sh.Network(length * np.array([[1.0, 0.5]]), [1.0], sh.Polynomial(ODD)), sh.Gaussian(2), width=1
        )
        for length in (0.1, 0.55, 10.0)
    ]
    full = [len(listed(problem).points) for problem in problems]
    assert min(full) >= 1
    monkeypatch.setattr(
        patches_room.Places, "patches", lambda self: (p for p in whole(self) if not is_dropped(p))
    )
    assert [len(listed(problem).points) for problem in problems] != full


def test_equations_that_lose_a_zero_are_noticed(monkeypatch):
    """Slopes divided by their unknown: the point at b = 0 of z + z³ is gone, and the chart, whose paths end at it, says
    so."""
    problem = drawn(ODD, True, "identity")
    assert len(listed(problem).points) == 1
    original = SquareRatio.__init__

    def divided(self, C, K, limits_at_zero=False):
        original(self, C, K, limits_at_zero)
        self.gaps = [min([row[i] for p in (C, K) for row in p if row[i]], default=1) for i in range(self.n)]

    monkeypatch.setattr(SquareRatio, "__init__", divided)
    assert len(listed(problem).points) == 0
    chart = sh.chart(problem)
    assert chart.completeness == "sampled" and any("different points" in note for note in chart.notes)


@pytest.mark.parametrize(
    ("coefficients", "bias", "teacher"),
    [([1.0, 0, 1], False, "identity"), (SHIFTED, False, "identity")],
)
def test_circles_are_left_open(coefficients, bias, teacher):
    """Directions that are all as good: no list of points is complete, and none is given."""
    assert listed(drawn(coefficients, bias, teacher), FEW_BOXES) is None


def test_a_metric_with_a_kernel_is_left_open():
    """Three samples for the five functions of z + z² in two inputs: K vanishes somewhere."""
    samples = sh.Samples([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 2.0, 0.5])
    assert listed(sh.Problem(None, samples, width=1, activation=sh.Polynomial(SHIFTED)), FEW_BOXES) is None


def test_powers_are_not_asked():
    """(z + 1)² with a bias is as good at any length."""
    data, target = (
        sh.Gaussian(2),
        sh.Network(np.eye(2), [1.0, 2.0], sh.Polynomial([1.0, 2, 1]), bias=[0.0, 1.0]),
    )
    assert not is_excludable(sh.Problem(target, data, width=1, bias=True), 1)
    assert is_excludable(drawn(SHIFTED, False, "random"), 1) and not is_excludable(
        drawn(ODD, True, "random"), 2
    )
    assert is_excludable(drawn(ODD, True, "random", n=3), 1)
    assert not is_excludable(drawn(ODD, True, "random", n=4), 1)


@pytest.mark.parametrize("line", [[1.0, 0.0], [1.0, 1.0]])
def test_linear_targets_have_sets_of_zero_functions_and_are_proved_all_the_same(line):
    """1 + z + z² with a bias against ℓ·x: C = (2b + 1)(w·ℓ), doubly zero on a line; no network is critical there."""
    teacher = sh.Network([line], [1.0], sh.Power(1))
    sigma = sh.Polynomial([1.0, 1.0, 1.0])
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), 1, sigma, bias=True))
    assert chart.completeness == "proved" and chart.attained is False
    assert [point.kind for point in chart.critical] == ["global minimum", "global minimum", "saddle"]
    x, mass = np.polynomial.hermite_e.hermegauss(6)
    X = np.array([[1.0, u, v] for u in x for v in x])
    mass = np.array([p * q for p in mass for q in mass]) / mass.sum() ** 2

    def loss(theta):
        z = X @ theta[1:]
        r = (theta[0] * (1 + z + z * z) - X[:, 1:] @ line) * mass
        slope = np.append(r @ (1 + z + z * z), X.T @ (r * theta[0] * (1 + 2 * z)))
        return float(r @ (r / mass)), 2 * slope

    rng = np.random.default_rng(0)
    ends = [
        minimize(loss, rng.standard_normal(4) * size, jac=True, method="BFGS", options={"maxiter": 2000}).fun
        for size in (0.5, 1.0, 3.0)
        for _ in range(5)
    ]
    assert chart.infimum == pytest.approx(sum(line) / 3**0.5, abs=1e-12)
    assert min(ends) == pytest.approx(chart.infimum, abs=1e-4) and min(ends) > chart.infimum


def test_places_with_weights_are_excused_only_where_no_zero_is():
    """C has the weights (1, 0, 0) and (0, 1, 1); zeros that least squares find are in no such box."""
    rng, seen, excused = np.random.default_rng(0), 0, 0
    C = {(1, 1, 0): Fraction(1), (1, 0, 1): Fraction(-2)}
    for _ in range(20):
        rows = [tuple(row) for row in np.ndindex(3, 3, 3) if sum(row) <= 2]
        half = [
            {row: Fraction(int(c)) for row, c in zip(rows, rng.integers(-3, 4, 10), strict=True) if c}
            for _ in range(12)
        ]
        K = combination([Fraction(1)] * 12, [product(p, p) for p in half])
        ratio = SquareRatio(C, K)

        def slope(x, ratio=ratio):
            return ratio(Intervals.exact(x[None]), False)[0].mid[0] / (1 + np.abs(x).max()) ** 4

        for start in rng.standard_normal((30, 3)):
            x = least_squares(slope, start, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
            if np.abs(slope(x)).max() > 1e-11 or abs(x[0] * (x[1] - 2 * x[2])) < 1e-3 or np.abs(x).max() > 10:
                continue
            seen += 1
            for size in (1e-6, 1e-2, 0.3):
                box = Intervals((x - size)[None], (x + size)[None])
                assert not ratio.excused(box)[0]
        boxes = rng.uniform(-2, 2, (200, 3))
        excused += int(ratio.excused(Intervals(boxes - 0.01, boxes + 0.01)).sum())
    assert seen > 20 and excused > 1000


@pytest.mark.parametrize("outer", ["free", "ones"])
def test_three_inputs_and_a_bias_take_no_path(outer, monkeypatch):
    """z + z³: complex points take minutes to count. What Newton's method finds, in quadrature, is listed."""
    monkeypatch.setattr(excluded, "neuron_stratum", lambda *_, **__: pytest.fail("a path"))
    monkeypatch.setattr(fixed_excluded, "neuron_stratum", lambda *_, **__: pytest.fail("a path"))
    teacher = sh.Network(np.eye(3), activation=sh.Polynomial(ODD))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(3), width=1, bias=True, outer=outer))
    assert chart.completeness == "proved" and chart.scope == ""
    assert 1 not in chart.complex_count and chart.real_count[1] == 1
    assert any("complex ones were not counted" in note for note in chart.notes) and "–" in str(chart)
    x, mass = np.polynomial.hermite_e.hermegauss(6)
    X = np.array([[1.0, u, v, w] for u in x for v in x for w in x])
    mass = np.array([p * q * r for p in mass for q in mass for r in mass]) / mass.sum() ** 3
    y = (X[:, 1:] + X[:, 1:] ** 3).sum(axis=1)

    def slope(theta):
        a, u = (theta[0], theta[1:]) if outer == "free" else (1.0, theta)
        z = X @ u
        r = (a * (z + z**3) - y) * mass
        own = X.T @ (r * a * (1 + 3 * z**2))
        return np.append(r @ (z + z**3), own) if outer == "free" else own

    rng, seen = np.random.default_rng(0), 0
    for start in rng.standard_normal((30, 5 if outer == "free" else 4)):
        end = least_squares(slope, start, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=300)
        theta = end.x if outer == "free" else np.append(1.0, end.x)
        if np.abs(end.fun).max() > 1e-11 or np.abs(theta).max() > 50:
            continue
        z = X @ theta[1:]
        loss = float(mass @ (theta[0] * (z + z**3) - y) ** 2)
        assert np.abs(chart.losses - loss).min() < 1e-8 * chart.losses.max()
        seen += 1
    assert seen > 3


def test_where_intervals_leave_something_open_paths_are_followed(monkeypatch):
    """Three inputs and a bias."""
    problem = drawn(ODD, True, "random", n=3)
    asked = []
    monkeypatch.setattr(excluded, "all_real", lambda *_: None)
    monkeypatch.setattr(excluded, "neuron_stratum", lambda *given: asked.append(given))
    excluded.one_neuron_stratum(problem, PolynomialSpace.of(problem), 0)
    assert len(asked) == 1
    assert not excluded.is_long_to_count(drawn(ODD, True, "random")) and not excluded.is_long_to_count(
        drawn(SHIFTED, True, "random", n=3)
    )


def test_what_is_not_proved_leaves_the_list_open():
    """A point twice is one; a point that is no zero cannot be told apart from one."""
    problem = drawn(BENT, False, "random")
    space = PolynomialSpace.of(problem)
    system = NeuronSystem(NeuronEquations(own_neuron(problem), 1), space.exact)
    points = all_real(problem, space, system).points
    again = told_apart(system, np.concatenate([points, points[:1]]), 3)
    assert again.boxes == 3 and len(again.points) == len(points)
    assert told_apart(system, np.concatenate([points, points[:1] + 0.37]), 3) is None
