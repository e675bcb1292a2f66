"""Limits of three neurons: descents of random networks run off to them, and to nothing below them.

Descents share no code with charts: neurons are evaluated at the nodes of a quadrature rule that is exact for the loss,
and all starts take damped Gauss-Newton steps at once. Targets are random in an orthonormal basis of all functions that
neurons span, so that every degree counts.
"""

import numpy as np
import pytest
from numpy.polynomial import Polynomial, hermite_e
from tests.questions.charts.neuron_limits.descending import descended

import shallows as sh
from shallows.model.polynomial_space import PolynomialSpace
from shallows.questions.charts.neuron_limits import searched_limits as module
from shallows.questions.charts.neuron_limits.reached import unlisted
from shallows.questions.charts.neuron_limits.searched_limits import searched_limits
from shallows.questions.charts.neuron_limits.strata import strata

SLOW = pytest.mark.thorough
WIDTH = 3


class Descents:
    """Networks (a, W) or (a, b, W), a row each, and their loss for a random target under standard Gaussian inputs."""

    def __init__(self, coefficients, n, bias, seed):
        self.coefficients, self.n, self.bias = coefficients, n, bias
        nodes, weights = hermite_e.hermegauss(len(coefficients))
        grid = np.meshgrid(*[nodes] * n, indexing="ij")
        x = np.stack([part.ravel() for part in grid], axis=1)
        shares = np.meshgrid(*[weights / weights.sum()] * n, indexing="ij")
        root = np.sqrt(np.prod([part.ravel() for part in shares], axis=0))
        self.inputs = np.column_stack([np.ones(len(x)), x]) if bias else x
        self.p = Polynomial(coefficients)
        rng = np.random.default_rng([seed, 31])
        self.W = rng.standard_normal((300, self.inputs.shape[1]))
        values = self.p(self.W @ self.inputs.T) * root
        _, sizes, basis = np.linalg.svd(values / np.linalg.norm(values, axis=1)[:, None], full_matrices=False)
        self.basis = (basis[: np.count_nonzero(sizes > 1e-9 * sizes[0])] * root).T
        self.target = rng.standard_normal(self.basis.shape[1])
        self.energy = float(self.target @ self.target)

    def problem(self):
        """The target as a network of 60 neurons."""
        W, activation = self.W[:60], sh.Polynomial(self.coefficients)
        a = np.linalg.lstsq((self.p(W @ self.inputs.T) @ self.basis).T, self.target)[0]
        own, bias = (W[:, 1:], W[:, 0]) if self.bias else (W, None)
        teacher = sh.Network(own, a, activation=activation, bias=bias)
        return sh.Problem(teacher, sh.Gaussian(self.n), WIDTH, activation, bias=self.bias)

    def residuals(self, theta):
        m = self.inputs.shape[1]
        a, V = theta[:, :WIDTH], theta[:, WIDTH:].reshape(-1, WIDTH, m)
        z = V @ self.inputs.T
        values = self.p(z) @ self.basis
        bent = np.einsum("siq,qx,qk->sixk", self.p.deriv()(z), self.inputs, self.basis, optimize=True)
        J = (a[:, :, None, None] * bent).reshape(len(theta), WIDTH * m, -1)
        return np.einsum("si,sik->sk", a, values) - self.target, np.concatenate([values, J], axis=1)

    def descended(self, theta, steps):
        return descended(self.residuals, theta, steps, 1e-2)

    def lowest(self):
        """The least loss of a hundred runs, as a share of the target's, the lowest of which go on."""
        rng = np.random.default_rng(0)
        size = WIDTH * (1 + self.inputs.shape[1])
        starts = rng.standard_normal((100, size)) * rng.choice([0.1, 0.3, 1.0, 3.0], (100, 1))
        losses, theta = self.descended(starts, 600)
        return self.descended(theta[np.argsort(losses)[:3]], 4000)[0].min() / self.energy

    def row(self, net):
        """A network's parameters."""
        V = net.W if net.bias is None else np.column_stack([net.bias, net.W])
        return np.concatenate([np.ravel(net.a), V.ravel()])


def listed(space, placed):
    """The losses of limits, as shares of the target's."""
    entries = np.array([item.point.entries for item in placed]).reshape(-1, len(space.right))
    return space.excess(entries) / float(space.energy)


#: Activation, inputs, bias, seed, a stratum that the lowest limit is in.
RUNAWAYS = [
    ([0, 0, 1, 1], 3, False, 3, "three merged neurons"),
    pytest.param([0, 0, 1, 1], 3, False, 0, "", marks=SLOW),
    pytest.param([0, 1, 1, 1], 3, False, 0, "", marks=SLOW),
    pytest.param([0, 1, 0, 1], 3, False, 0, "", marks=SLOW),
    pytest.param([0, 1, 0, 1], 3, False, 1, "", marks=SLOW),
    pytest.param([0, 1, 0, 0, 1], 2, True, 0, "", marks=SLOW),
    pytest.param([0, 1, 0, 0, 1], 2, True, 2, "", marks=SLOW),
    pytest.param([1, 0, 1, 1], 3, False, 2, "", marks=SLOW),
]


@pytest.mark.parametrize(("coefficients", "n", "bias", "seed", "stratum"), RUNAWAYS)
def test_descents_run_off_to_the_lowest_limit(coefficients, n, bias, seed, stratum, monkeypatch):
    """And not to a higher one: without the stratum it is in, all that is listed lies above what descents come to."""
    descents = Descents(coefficients, n, bias, seed)
    problem, reached = descents.problem(), descents.lowest()
    space = PolynomialSpace.of(problem)
    placed = searched_limits(problem, space, True, 0).placed
    losses = listed(space, placed)
    assert losses.min() - 1e-7 <= reached <= losses.min() + 1e-4  # descents of z + z³ creep
    first = placed[int(np.argmin(losses))]
    assert first.kind == "local minimum"
    assert first.point.certificate is not None
    assert first.point.rank == WIDTH
    if stratum:
        assert unlisted(problem, space, placed, 0) == []
        own = [item for item in strata_of(problem) if words(item) == stratum]
        monkeypatch.setattr(module, "strata", lambda *_: own)
        alone = listed(space, searched_limits(problem, space, False, 0).placed)
        others = losses[[np.abs(alone - loss).min() > 1e-7 for loss in losses]]
        assert alone.min() < reached + 2e-5 < others.min()
        without = [item for item, loss in zip(placed, losses, strict=True) if loss > reached + 2e-5]
        assert unlisted(problem, space, without, 0) != []


def strata_of(problem):
    """All that are searched."""
    return strata(module.ends(problem), tuple(problem.activation.coefficients.tolist()), WIDTH)


def words(blocks):
    """What they are called."""
    return " beside ".join(block.words for block in blocks)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=SLOW)])
def test_three_neurons_merge_at_an_odd_zero(seed, monkeypatch):
    """z³ + z⁵: descents creep to a limit with weights of 10⁹, below all limits of other kinds and above this one."""
    descents = Descents([0, 0, 0, 1, 0, 1], 2, False, seed)
    problem, reached = descents.problem(), descents.lowest()
    space = PolynomialSpace.of(problem)
    in_one_place = [blocks for blocks in strata_of(problem) if len(blocks) == 1 and blocks[0].neurons == 3]
    assert [words(blocks) for blocks in in_one_place] == [
        "three merged neurons",
        "three neurons that merge at infinity",
        "three neurons that merge at a zero",
    ]
    monkeypatch.setattr(module, "strata", lambda *_: in_one_place)
    placed = searched_limits(problem, space, True, 0).placed
    losses = listed(space, placed)
    assert losses.min() < reached < losses.min() + 5e-3
    assert placed[int(np.argmin(losses))].kind == "local minimum"


@pytest.mark.parametrize(
    ("coefficients", "n", "bias", "seed"),
    [
        ([0, 0, 1, 1], 3, False, 1),
        pytest.param([0, 1, 0, 1], 3, False, 2, marks=SLOW),
        pytest.param([0, 0, 0, 1, 0, 1], 2, False, 0, marks=SLOW),
        pytest.param([0, 1, 1, 1, 1], 2, True, 0, marks=SLOW),
        pytest.param([0, 0, 1, 0, 1], 2, True, 1, marks=SLOW),
    ],
)
def test_no_descent_leaves_a_local_minimum(coefficients, n, bias, seed):
    """From networks next to limits. z + z³ has one with a slope of 3·10⁻⁵, which is not noticed from 10⁻³ away, and
    descents go 1.3·10⁻⁵ of the target lower."""
    descents = Descents(coefficients, n, bias, seed)
    problem = descents.problem()
    space = PolynomialSpace.of(problem)
    placed = searched_limits(problem, space, True, 0).placed
    stay = [item for item in placed if item.kind == "local minimum"]
    assert stay
    assert all(item.kind == "saddle" for item in placed if item.point.rank < WIDTH)
    left, _ = descents.descended(np.array([descents.row(item.network) for item in stay]), 600)
    assert np.all(left / descents.energy >= listed(space, stay) - 2e-5)
