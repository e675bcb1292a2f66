"""Fixed outer weights: neurons that coincide, are mirror images, or cancel, against zeros of the gradient."""

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh
from shallows.model.polynomial_space import PolynomialSpace
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.filled import critical_polynomials
from shallows.questions.charts.neurons.stratum import own_neuron

ODD, CENTRED, BENT, QUARTIC = [0.0, 1, 0, 1], [1.0, -1, 0, 1], [0.0, 1, 1, 1], [0.0, 1, 0, 1, 1]
#: Losses that agree so well, against the size of the target, are one.
SAME_LOSS = 1e-6
#: Listed networks rest so well, against the target and the third power of their weights.
AT_REST = 1e-8
#: Losses are sums of products of powers of the weights: 10¹⁵ at weights of 12 and degree five, which cancel.
ROUNDING = 1e-14

ONE_OUTPUT = [
    (ODD, 1, [1.0, 2.0], False),
    (ODD, 1, [1.0, -1.0], False),
    (ODD, 1, [1.0, 1.0], False),
    ([0.0, 1, 0, 1, 0, 0.3], 1, [1.0, 1.0, 2.0], False),
    (ODD, 1, [1.0, 3.0], False),
    (CENTRED, 1, [1.0, 2.0], False),
    (CENTRED, 1, [1.0, 1.0], False),
    (CENTRED, 1, [1.0, 2.0], True),
    (CENTRED, 1, [1.0, 1.0], True),
    (BENT, 1, [1.0, -1.0], False),
    (BENT, 1, [1.0, -1.0], True),
    (BENT, 1, [1.0, 1.0], True),
    (QUARTIC, 1, [2.0, -2.0], False),
    ([0.0, 1, 0, 1, 0, 0.3], 1, [1.0, 2.0], False),
    ([0.0, 1, 0, 1, 0, 0.3], 1, [0.1, 0.2, -0.3], False),
    (ODD, 1, [1.0, 0.0], False),
    (ODD, 2, [1.0, 2.0], False),
    (ODD, 2, [1.0, -1.0], False),
    (CENTRED, 2, [1.0, 1.0], False),
    (BENT, 2, [1.0, -1.0], False),
]
QUICK = [
    (ODD, 1, [1.0, 3.0], False),
    (ODD, 1, [1.0, -1.0], False),
    (CENTRED, 1, [1.0, 1.0], False),
    (BENT, 1, [1.0, -1.0], False),
    (ODD, 1, [[1.0, 2.0], [2.0, 4.0]], False),
    (BENT, 1, [[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], False),
]
#: Two cubic neurons with a bias have as many weights as a cubic has coefficients: functions fold.
FOLDED = [
    ([0.0, -1, 0, 1], 1, [1.0, -1.0], True),
    ([0.0, -1, 0, 1], 1, [1.0, 2.0], True),
    ([0.0, 1, 3, 1], 1, [1.0, 1.0], True),
    ([0.0, 1, 1, 0, 1], 1, [1.0, 2.0, -1.0], False),
]
TWO_OUTPUTS = [
    (ODD, 1, [[1.0, 2.0], [2.0, 4.0]], False),
    (ODD, 1, [[1.0, -1.0], [1.0, -1.0]], False),
    (ODD, 1, [[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], False),
    (BENT, 1, [[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], False),
    (CENTRED, 1, [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], False),
    (QUARTIC, 1, [[1.0, -1.0, 1.0], [0.0, 0.0, 1.0]], False),
]


def drawn(coefficients, n, outer, bias, seed, teacher="generic"):
    rng = np.random.default_rng(seed)
    outer, activation = np.array(outer), sh.Polynomial(coefficients)
    many = np.atleast_2d(outer)
    if teacher == "generic":
        W, a = rng.standard_normal((2, n)), rng.standard_normal((len(many), 2))
    else:  # small integers, with which equations and their solutions coincide
        W, a = rng.integers(-1, 2, (2, n)) * 1.0, rng.integers(-1, 2, (len(many), 2)) * 1.0
    taught = sh.Network(W, a if outer.ndim == 2 else a[0], activation)
    return sh.Problem(taught, sh.Gaussian(n), many.shape[1], activation, outer=outer, bias=bias)


def energy(problem):
    return 1 + problem.loss(problem.unpack(np.zeros(problem.size)))


def checked(problem, starts, seed):
    """A chart whose networks are critical, and that lists every zero of the gradient that is found, unless sampled."""
    chart, size = sh.chart(problem), energy(problem)
    for point in chart.critical:
        if point.limit:
            continue
        longest = np.abs(problem.pack(point.network)).max()
        slope = np.abs(problem.gradient(point.network)).max()
        assert slope <= AT_REST * size * (1 + longest**3), (point, slope)
        rounding = ROUNDING * longest ** (2 * problem.activation.degree)
        assert np.isclose(problem.loss(point.network), point.loss, atol=SAME_LOSS * size + rounding)
    if chart.completeness == "sampled":
        return chart
    losses = np.array([point.loss for point in chart.critical])
    for net in gradient_zeros(problem, starts, np.random.default_rng(seed), sizes=(0.3, 1.0, 2.0)):
        if "polynomials of one w·x" in chart.scope and np.linalg.matrix_rank(net.W, 1e-6) < 2 <= problem.n:
            continue
        loss = problem.loss(net)
        assert np.abs(losses - loss).min(initial=np.inf) <= SAME_LOSS * size, (str(chart), loss, net)
    return chart


@pytest.mark.parametrize("teacher", ["generic", "special"])
@pytest.mark.parametrize(
    ("case", "seed"),
    [
        pytest.param(case, seed, marks=() if case in QUICK and seed == 1 else pytest.mark.thorough)
        for case in ONE_OUTPUT + TWO_OUTPUTS
        for seed in range(3)
    ],
)
def test_every_zero_of_the_gradient_is_listed(case, seed, teacher):
    checked(drawn(*case, seed, teacher), 12 if case in QUICK and seed == 1 else 40, seed)


def test_one_function_of_several_networks_has_its_real_one():
    """w₁ + 3w₂ and w₁³ + 3w₂³ have three complex networks: a complex one was taken for all of them."""
    problem = drawn(ODD, 1, [1.0, 3.0], False, 1)
    chart = sh.chart(problem)
    assert np.isclose(chart.infimum, 0.0, atol=SAME_LOSS) and chart.count("global minimum") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", FOLDED)
def test_folds_are_listed(case, seed):
    """Under data without symmetry: the target's paths alone led to the target. Of equal outer weights one path to one
    target is lost, and the chart says so."""
    plain = drawn(*case, seed)
    data = sh.Gaussian(1, mean=[0.3])
    problem = sh.Problem(
        plain.target, data, plain.width, plain.activation, outer=plain.outer[0], bias=plain.bias
    )
    chart = checked(problem, 60, seed)
    lost = any("lost" in note for note in chart.notes)
    assert (chart.completeness == "sampled") == lost and (not lost or (case[2], seed) == ([1.0, 1.0], 0))


@pytest.mark.parametrize("case", [*FOLDED, (ODD, 2, [1.0, 2.0, 3.0], False)])
def test_equations_are_the_gradient(case):
    problem = drawn(*case, 0)
    space = PolynomialSpace.of(problem)
    own = NeuronEquations(own_neuron(problem), problem.width, outer=tuple(map(tuple, problem.outer.T)))
    rows = critical_polynomials(own, space.gram + 0j, space.right + 0j)
    point = np.random.default_rng(0).standard_normal(own.unknowns)
    values = [sum(c * np.prod(point ** np.array(key)) for key, c in row.items()) for row in rows]
    table = point.reshape(problem.width, -1)
    net = sh.Network(
        table[:, int(problem.bias) :],
        problem.outer[0],
        problem.activation,
        bias=table[:, 0] if problem.bias else None,
    )
    whole = problem.gradient(net)
    if problem.bias:  # weights first, then biases
        whole = np.concatenate([whole[problem.width :].reshape(-1, 1), whole[: problem.width, None]], axis=1)
    assert np.allclose(2 * np.array(values), whole.ravel(), rtol=1e-9)


@pytest.mark.parametrize("weight", [1.0, 50.0])
def test_the_size_of_a_fixed_weight_does_not_matter(weight):
    """a p(w·x) − a y is a times p(w·x) − y: with a = 13 and a large target all paths were lost."""
    activation = sh.Polynomial(ODD)
    teacher = sh.Network([[0.435, 0.423], [1.063, 0.228], [-0.576, 0.517]], [-1.6, 47.8, 60.3], activation)
    one = sh.chart(sh.Problem(teacher, sh.Gaussian(2), 1, outer=[1.0]))
    large = sh.Network(teacher.W, weight * teacher.a, activation)
    chart = sh.chart(sh.Problem(large, sh.Gaussian(2), 1, outer=[weight]))
    assert chart.completeness == one.completeness != "sampled"
    assert np.allclose(chart.losses, weight**2 * one.losses)
