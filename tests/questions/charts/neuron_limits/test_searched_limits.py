"""Limits of neurons that a search finds: against descents by quadrature, against complete lists, and term by term.

Descents share no code with charts: neurons are evaluated at the nodes of a quadrature rule that is exact for the loss,
and all starts take damped Gauss-Newton steps at once.
"""

from fractions import Fraction

import numpy as np
import pytest
from tests.questions.charts.neuron_limits.descending import descended

import shallows as sh
from shallows.model.polynomial_space import PolynomialSpace
from shallows.questions.charts.neuron_limits.block_map import BlockMap, neuron_of
from shallows.questions.charts.neuron_limits.ends import ends
from shallows.questions.charts.neuron_limits.searched_limits import searched_limits
from shallows.questions.charts.neuron_limits.strata import strata

SLOW = pytest.mark.thorough
#: Activations with the ends that they have: cubics with one and three real zeros, a double zero, a constant, none but
#: merged neurons; even ones and odd ones of higher degree.
ACTIVATIONS = {
    "z + z³": [0, 1, 0, 1],
    "z − z³/3": [0, 1, 0, -1 / 3],
    "z² + z³": [0, 0, 1, 1],
    "0.3 + z + z³": [0.3, 1, 0, 1],
    "z + z⁴": [0, 1, 0, 0, 1],
    "z² + z⁴": [0, 0, 1, 0, 1],
    "1 + z² + z³": [1, 0, 1, 1],
    "z³ + z⁴": [0, 0, 0, 1, 1],
    "z + z³ + z⁵": [0, 1, 0, 1, 0, 1],
}


def teacher_problem(coefficients, bias, seed, n=2, hidden=6, width=2):
    rng = np.random.default_rng([seed, 29])
    own = rng.standard_normal(hidden) if bias else None
    teacher = sh.Network(
        rng.standard_normal((hidden, n)),
        rng.standard_normal(hidden),
        activation=sh.Polynomial(coefficients),
        bias=own,
    )
    return sh.Problem(teacher, sh.Gaussian(n), width, sh.Polynomial(coefficients), bias=bias)


class Quadrature:
    """The loss of networks (a, W) or (a, b, W), a row each, under standard Gaussian inputs."""

    def __init__(self, problem):
        degree = len(problem.activation.coefficients)
        nodes, weights = np.polynomial.hermite_e.hermegauss(degree)
        grids = np.meshgrid(*[nodes] * problem.n, indexing="ij")
        self.x = np.stack([grid.ravel() for grid in grids], axis=1)
        shares = np.meshgrid(*[weights / weights.sum()] * problem.n, indexing="ij")
        self.root = np.sqrt(np.prod([share.ravel() for share in shares], axis=0))
        self.p = np.polynomial.Polynomial(problem.activation.coefficients)
        self.bias, self.width = problem.bias, problem.width
        inputs = np.column_stack([np.ones(len(self.x)), self.x]) if self.bias else self.x
        self.inputs = inputs
        t = problem.target
        first = t.W @ self.x.T + (0 if t.bias is None else t.bias[:, None])
        self.target = np.ravel(t.a) @ self.p(first)
        self.energy = float(np.sum((self.root * self.target) ** 2))

    def residuals(self, theta):
        m = self.inputs.shape[1]
        a, V = theta[:, : self.width], theta[:, self.width :].reshape(-1, self.width, m)
        z = V @ self.inputs.T
        values, slopes = self.p(z), self.p.deriv()(z)
        r = (np.einsum("si,siq->sq", a, values) - self.target) * self.root
        J = a[:, :, None, None] * slopes[:, :, None, :] * self.inputs.T
        J = np.concatenate([values, J.reshape(len(theta), self.width * m, -1)], axis=1) * self.root
        return r, J

    def descended(self, theta, steps):
        return descended(self.residuals, theta, steps, 1.0)

    def rests(self, theta):
        """Whether a network is critical: it fits, or the angle between residual and each slope is a right one."""
        r, J = self.residuals(theta[None])
        if float(r[0] @ r[0]) < 1e-12 * self.energy:
            return True
        size = np.linalg.norm(J[0], axis=1) * np.linalg.norm(r[0])
        return bool(np.all(np.abs(J[0] @ r[0]) <= 1e-6 * size)) and np.abs(theta).max() < 1e7

    def row(self, net):
        V = net.W if net.bias is None else np.column_stack([net.bias, net.W])
        return np.concatenate([np.ravel(net.a), V.ravel()])


CASES = [
    ("z + z³", True, 0),
    pytest.param("z² + z³", True, 0, marks=SLOW),
    pytest.param("z − z³/3", True, 1, marks=SLOW),
    ("1 + z² + z³", False, 2),
    *(pytest.param(name, True, seed, marks=SLOW) for name in ACTIVATIONS for seed in range(2, 5)),
    *(pytest.param(name, False, seed, marks=SLOW) for name in ACTIVATIONS for seed in range(3, 6)),
]


@pytest.mark.parametrize(("name", "bias", "seed"), CASES)
def test_descents_end_at_networks_or_at_limits(name, bias, seed):
    """Those that go lowest. None leaves a limit that is called a local minimum; most leave saddles with a way down."""
    problem = teacher_problem(ACTIVATIONS[name], bias, seed)
    space, loss = PolynomialSpace.of(problem), Quadrature(problem)
    placed = searched_limits(problem, space, False, seed).placed
    entries = np.array([item.point.entries for item in placed]).reshape(len(placed), len(space.right))
    values = space.excess(entries)
    rng = np.random.default_rng(seed)
    size = problem.width * (1 + problem.n + bias)
    starts = rng.standard_normal((100, size)) * rng.choice([0.1, 0.3, 1.0, 3.0], (100, 1))
    ended, theta = loss.descended(starts, 2000)
    (lowest,), (last,) = loss.descended(theta[[np.argmin(ended)]], 5000)
    # descents creep in valleys: 1 + z² + z³, seed 4, gains 5·10⁻⁵ in a hundred steps, in forty digits as in doubles
    assert loss.rests(last) or values.min(initial=np.inf) <= lowest + 2e-5 * loss.energy
    if placed:
        left, _ = loss.descended(np.array([loss.row(item.network) for item in placed]), 400)
        stay = np.array([item.kind == "local minimum" for item in placed])
        assert np.all(left[stay] >= values[stay] - 1e-5 * loss.energy)
        falling = np.array([item.kind == "saddle" and not item.point.signature[2] for item in placed])
        # some slopes are too flat for 400 steps from a network that is 10⁻³ away (2 of 7: z² + z⁴, bias, seed 3)
        assert np.count_nonzero(left[falling] < values[falling]) >= 0.6 * np.count_nonzero(falling)


def test_a_chart_lists_the_limits_below_its_networks():
    """Two neurons z + z³ with a bias: descents go to 10⁻⁴ of a limit, and all networks lie far above it."""
    problem = teacher_problem(ACTIVATIONS["z + z³"], True, 0)
    chart, loss = sh.chart(problem), Quadrature(problem)
    rng = np.random.default_rng(0)
    ended, _ = loss.descended(rng.standard_normal((100, 8)), 2000)
    assert chart.infimum <= ended.min() + 1e-6 * loss.energy
    assert "those that a search finds" in chart.scope
    assert all(point.certificate is not None for point in chart.critical if point.limit)
    assert sum("found by a search" in note for note in chart.notes) == 8


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(s, marks=SLOW) for s in range(2, 12))])
def test_a_search_finds_what_complete_lists_have(seed, monkeypatch):
    """z + z³ without bias: strata solved by homotopy, kinds by formulas of their own."""
    problem = teacher_problem(ACTIVATIONS["z + z³"], False, seed)
    whole = sh.chart(problem)
    monkeypatch.setattr("shallows.questions.charts.neurons.chart.has_two_neuron_limits", lambda _: False)
    searched = sh.chart(problem)
    assert "a search finds" in searched.scope
    assert "search" not in whole.scope
    known = [(point.loss, point.kind.replace("global", "local")) for point in whole.critical if point.limit]
    found = [(point.loss, point.kind) for point in searched.critical if point.limit and point.rank == 2]
    near = 1e-6 * float(problem.loss(sh.Network(np.zeros((2, 2)), np.zeros(2), problem.activation)))
    for value, kind in found:
        assert any(abs(value - other) < near and kind == same for other, same in known), (value, kind)
    for value, kind in known:
        assert kind == "saddle" or any(abs(value - other) < near for other, _ in found), (value, kind)


def exact_values(neuron, weight, vector):
    total = [Fraction(0)] * neuron.size
    for entry, c, row in neuron.terms:
        product = weight * Fraction(c)
        for x, e in zip(vector, row, strict=True):
            product *= x**e
        total[entry] += product
    return np.array(total, dtype=object)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_opened_blocks_are_networks_next_to_their_limit(name, bias):
    """Each block, on each of its ends, is the limit of its neurons: what is left of the gap goes to zero with ε."""
    coefficients = tuple(map(float, ACTIVATIONS[name]))
    problem = teacher_problem(coefficients, bias, 0)
    degrees = tuple(range(len(coefficients))) if bias else tuple(np.flatnonzero(coefficients).tolist())
    p = neuron_of(coefficients, 2, degrees, bias)
    rng = np.random.default_rng(len(name))
    tried = 0
    for blocks in strata(ends(problem), coefficients, 3):
        chart = (1,) * sum(flag for block in blocks for flag in block.scaled)
        map_ = BlockMap(2, degrees, bias, blocks, chart)
        x = rng.standard_normal(map_.unknowns)
        limit = map_.tensors(x[None])[0]
        opened = [
            (
                block,
                [tuple(map(Fraction, v.tolist())) for v in vectors],
                [Fraction(weight) for weight in weights],
            )
            for block, vectors, weights in map_.parted(x)
        ]
        for end in range(max(len(block.ends) for block in blocks)):
            for sign in (1, -1):
                gaps = []
                for epsilon in (Fraction(sign, 2**8), Fraction(sign, 2**10)):
                    neurons = [
                        one
                        for block, vectors, weights in opened
                        for one in block.opened(block.ends[end % len(block.ends)], vectors, weights, epsilon)
                    ]
                    assert len(neurons) == sum(block.neurons for block in blocks)
                    total = sum(exact_values(p, a, v) for a, v in neurons)
                    gaps.append(np.abs(np.array(total, float) - limit).max() / np.abs(limit).max())
                assert gaps[1] < max(0.5 * gaps[0], 1e-9), (blocks, gaps)
                tried += 1
    assert tried


def test_ends_of_a_cubic_with_a_bias():
    """z − z³/3: zeros at 0 (a boundary) and ±√3 (the set goes on), critical points ±1, and infinity."""
    found = ends(teacher_problem(ACTIVATIONS["z − z³/3"], True, 0))
    seen = sorted((end.name, round(float(end.place), 6), end.powers, end.is_boundary) for end in found)
    assert [item[:2] for item in seen] == [
        ("at a constant", -1.0),
        ("at a constant", 1.0),
        ("at a zero", -1.732051),
        ("at a zero", 0.0),
        ("at a zero", 1.732051),
        ("at infinity", 0.0),
    ]
    assert [item[3] for item in seen] == [True, True, False, True, False, True]


def special_targets():
    """A neuron of the width itself, x³, a constant, and one that rotations leave alone."""
    cubic = sh.Polynomial(ACTIVATIONS["z + z³"])
    one = sh.Network([[1.0, 0.0]], [1.0], activation=cubic, bias=[0.5])
    forms = [np.eye(10)[k] for k in (0, 6)]
    round_one = np.zeros(10)
    round_one[[0, 3, 5]] = 1.0
    data = sh.Gaussian(2)
    yield sh.Problem(one, data, 2, cubic, bias=True)
    for form in forms:
        yield sh.Problem(sh.SymmetricTensor(form, 3, 3), data, 2, cubic, bias=True)
    yield sh.Problem(sh.SymmetricTensor(round_one, 3, 3), data, 2, sh.Polynomial(ACTIVATIONS["1 + z² + z³"]))


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=SLOW), pytest.param(2, marks=SLOW), 3])
def test_special_targets_have_isolated_limits_alone(number):
    """Weights that vanish belong to other strata, and circles of limits are no points: where rotations leave data and
    target alone, a listed limit has to be the same after them."""
    problem = list(special_targets())[number]
    space = PolynomialSpace.of(problem)
    limits = searched_limits(problem, space, True, 0)
    assert limits.completeness == "sampled" and not limits.closed and limits.notes
    for item in limits.placed:
        assert item.point.certificate is not None
        assert problem.loss(item.network) == pytest.approx(
            float(space.excess(item.point.entries[None])[0] + space.floor), abs=5e-3 * float(space.energy)
        )
    if number == 3:
        assert not limits.placed


def test_sums_of_squares_are_limits():
    """x² + 2y² − 0.05‖x‖⁴ and two neurons z² + z⁴: the nearest function is a quadratic form, two neurons at zero, and
    there are infinitely many pairs that tend to it."""
    p = sh.Polynomial(ACTIVATIONS["z² + z⁴"])
    W = np.random.default_rng(0).standard_normal((30, 2))
    x, y = np.random.default_rng(1).standard_normal((2, 200))
    wanted = x**2 + 2 * y**2 - 0.05 * (x**2 + y**2) ** 2
    a = np.linalg.lstsq(p(np.stack([x, y], axis=1) @ W.T), wanted)[0]
    problem = sh.Problem(sh.Network(W, a, activation=p), sh.Gaussian(2), 2, p)
    space, loss = PolynomialSpace.of(problem), Quadrature(problem)
    placed = searched_limits(problem, space, True, 0).placed
    first = min(placed, key=lambda item: float(space.excess(item.point.entries[None])[0]))
    value = float(space.excess(first.point.entries[None])[0])
    ended, _ = loss.descended(np.random.default_rng(0).standard_normal((60, 6)), 1500)
    assert value - 1e-7 * loss.energy <= ended.min() <= value + 1e-4 * loss.energy
    assert first.point.certificate is not None
    assert first.point.signature == (3, 0, 0)
    assert first.kind == "degenerate"
