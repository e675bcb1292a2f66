"""Theorems 12 and 9: wide networks reach the global minimum along a path on which the loss never increases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows.mathematics.tensors import coordinates
from shallows.model.activations import Power
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.iid import IID
from shallows.model.data.metric import Frobenius
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.geometry.escape.convex_losses import GaussianLandscape, ProblemLandscape
from shallows.questions.geometry.escape.eigenpaths import eigen_path
from shallows.questions.geometry.escape.escape import escape_path, explain_escape
from shallows.questions.geometry.escape.outer_descent import OuterDescent


@given(st.integers(1, 5), st.integers(0, 2), st.integers(0, 10**6))
def test_theorem_12_reaches_the_global_minimum(escaping, n, spare, seed):
    rng = np.random.default_rng(seed)
    data = [Frobenius(n), Gaussian(n), IID.uniform(n)][seed % 3]
    rank = int(rng.integers(1, n + 1))
    problem = Problem(Network(rng.normal(size=(rank, n)), rng.normal(size=rank)), data, n + spare)
    net = escaping.random_student(rng, problem)
    escape = explain_escape(problem, net)
    losses = escaping.falls(escape, net, problem, points=150, problem=problem)
    assert escape.theorem == "Theorem 12"
    assert losses[-1] <= 1e-10 * losses[0]


def test_in_function_space_the_path_is_the_segment(escaping, rng):
    problem = Problem(np.diag([3.0, -1.0, 1.0]), Frobenius(3), 3)
    net = escaping.random_student(rng, problem)
    S0, S1 = net.tensor().to_matrix(), np.diag([3.0, -1.0, 1.0])
    path = escape_path(problem, net)
    for point in path.networks(200):
        S = point.tensor().to_matrix()
        t = np.sum((S - S0) * (S1 - S0)) / np.sum((S1 - S0) ** 2)
        assert -1e-12 <= t <= 1 + 1e-12
        assert np.allclose(S, S0 + t * (S1 - S0), atol=1e-10)


@pytest.mark.parametrize(
    ("S0", "S1"),
    [
        ([[0, 1], [1, 0]], [[1, 1], [1, 0]]),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0], [1, 0, 0]]),
    ],
)
@pytest.mark.parametrize("data", [Frobenius, Gaussian])
def test_defective_pencils_take_a_detour(escaping, S0, S1, data):
    S0, S1 = np.array(S0, dtype=float), np.array(S1, dtype=float)
    values, vectors = np.linalg.eigh(S0)
    net = Network(vectors.T, values)
    problem = Problem(S1, data(len(S0)), len(S0))
    losses = escaping.falls(explain_escape(problem, net), net, problem=problem)
    assert losses[-1] <= 1e-12 * losses[0]


def repeated(block, n):
    """The block along the diagonal of an n × n matrix."""
    return np.kron(np.eye(n // len(block)), np.array(block, dtype=float))


JORDAN = [[0, 1], [1, 0]], [[1, 1], [1, 0]]
SINGULAR = [[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
THREE_FOLD = [[0, 0, 1], [0, 1, 0], [1, 0, 0]], [[0, 1, 1], [1, 1, 0], [1, 0, 0]]
ENDING = [[1, 2], [2, 0]], [[1, 0], [0, 0]]  # the last matrix is singular, and defective there


@pytest.mark.parametrize("blocks", [JORDAN, SINGULAR, THREE_FOLD, ENDING])
@pytest.mark.parametrize(("n", "spare"), [(6, 0), (6, 2), (12, 0)])
def test_degenerate_pencils_lead_through_small_networks(blocks, n, spare, rng, escaping, samples):
    """Many blocks at once, in a random frame: no network of the path is much larger than its ends."""
    frame = rng.normal(size=(n, n)) / np.sqrt(n)
    S0, S1 = (frame @ repeated(block, n) @ frame.T for block in blocks)
    values, vectors = np.linalg.eigh(S0)
    net = Network(np.vstack([vectors.T, rng.normal(size=(spare, n))]), np.r_[values, np.zeros(spare)])
    problem = Problem((S1 + S1.T) / 2, Gaussian(n), n + spare)
    escape = explain_escape(problem, net)
    losses = escaping.falls(escape, net, points=150, problem=problem)
    assert losses[-1] <= 1e-12 * losses[0]
    largest = max(samples.energy(point) for point in escape.path.networks(100))
    nuclear = np.sum(np.abs(values)) + np.sum(np.abs(np.linalg.eigvalsh(S1)))
    assert largest <= 30 * max(samples.energy(net), nuclear)


def test_a_nearly_defective_pencil_leads_through_small_networks(escaping, samples):
    """Its lift reaches Σ|a|‖w‖² = 39,278 from 21 (a random case once found): a moves first instead."""
    rng = np.random.default_rng(37885)
    rank = int(rng.integers(1, 6))
    problem = Problem(Network(rng.normal(size=(rank, 5)), rng.normal(size=rank)), Gaussian(5), 6)
    net = escaping.random_student(rng, problem)
    S0, S1 = (tensor.to_matrix() for tensor in (net.tensor(), problem.target_tensor()))
    assert eigen_path(S0, S1, 6).energy > 3e4
    escape = explain_escape(problem, net)
    assert escaping.falls(escape, net, problem=problem)[-1] <= 1e-12 * problem.loss(net)
    assert max(samples.energy(point) for point in escape.path.networks(300)) < 3 * samples.energy(net)
    assert "lower the loss by a alone" in escape.path.labels


@given(st.integers(1, 9), st.integers(0, 10**6))
def test_pencils_at_any_distance_from_a_defective_one(escaping, samples, digits, seed):
    rng = np.random.default_rng(seed)
    S0, S1 = (np.array(block, dtype=float) for block in [JORDAN, THREE_FOLD][seed % 2])
    noise = rng.normal(size=S0.shape)
    S1 = S1 + 10.0**-digits * (noise + noise.T)
    values, vectors = np.linalg.eigh(S0)
    net = Network(vectors.T, values)
    problem = Problem(S1, Frobenius(len(S0)), len(S0))
    escape = explain_escape(problem, net)
    assert escaping.falls(escape, net, points=100, problem=problem)[-1] <= 1e-12 * escape.path.losses(2)[0]
    assert max(samples.energy(point) for point in escape.path.networks(50)) < 400


def test_two_neurons_are_turned_where_no_weight_lowers_the_loss(escaping):
    """Γ = S − S* has a zero diagonal in the rows of W: the loss is stationary in a, and not minimal."""
    net = Network(np.eye(2), [1.0, 1e-3])
    problem = Problem([[1.0, 2.0], [2.0, 1e-3]], Frobenius(2), 2)
    outer = OuterDescent(
        ProblemLandscape(problem), (net.a, net.W), problem.loss(net), 1.0, np.random.default_rng(0)
    )
    assert np.allclose(problem.gradient(net)[4:], 0.0)
    assert outer.trail.segments[-1].label == "turn two neurons"
    line = outer.line()
    losses = [problem.loss(Network(W, a)) for a, W in (line.at(t) for t in np.linspace(0, 1, 30))]
    assert np.all(np.diff(losses) < 0)
    assert losses[0] == pytest.approx(problem.loss(net), rel=1e-12)


def test_labelled_samples(escaping, rng):
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    problem = Problem(None, Samples(X, y), 4)
    net = escaping.random_student(rng, problem)
    losses = escaping.falls(explain_escape(problem, net), net, problem=problem)
    assert losses[-1] == pytest.approx(problem.floor, rel=1e-9)


def test_too_few_samples_have_many_minimisers(escaping, rng):
    """Fewer samples than dimensions: the metric is singular, the least-squares fit interpolates."""
    X, y = rng.normal(size=(4, 3)), rng.normal(size=4)
    problem = Problem(None, Samples(X, y), 3)
    net = escaping.random_student(rng, problem)
    assert escaping.falls(explain_escape(problem, net), net, problem=problem)[-1] < 1e-12
    assert explain_escape(problem, escape_path(problem, net).end).path is None


@pytest.mark.parametrize("kind", ["random", "zero", "parallel", "integer"])
@pytest.mark.parametrize(("degree", "n"), [(3, 2), (4, 2), (3, 3), (1, 3), (5, 1)])
def test_theorem_9_reaches_the_global_minimum(escaping, degree, n, kind, rng):
    width = coordinates.dimension(n, degree) + 1
    problem = Problem(escaping.random_tensor(rng, n, degree), Gaussian(n), width)
    W, a = rng.normal(size=(width, n)), rng.normal(size=width)
    W = {"random": W, "zero": 0 * W, "parallel": np.outer(a, W[0]), "integer": np.round(W)}[kind]
    net = Network(W, a, Power(degree))
    escape = explain_escape(problem, net)
    assert escape.theorem == "Theorem 9"
    assert escaping.falls(escape, net, problem=problem)[-1] <= 1e-10 * problem.loss(net)


def test_theorem_9_moves_the_tensor_only_on_the_last_segment(escaping, rng):
    problem = Problem(escaping.random_tensor(rng, 2, 3), Frobenius(2), 5)
    W = np.outer(rng.normal(size=5), rng.normal(size=2))
    path = escape_path(problem, Network(W, rng.normal(size=5), Power(3)))
    assert path.labels == ("write S with independent neurons", "point idle neurons", "move a to the minimum")
    first = path(0).tensor().entries
    for t in np.linspace(0, path.breakpoints[-2], 30):
        assert np.allclose(path(t).tensor().entries, first, atol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(150))
def test_many_escapes_of_wide_quadratic_networks(escaping, seed):
    rng = np.random.default_rng([seed, 11])
    n = int(rng.integers(1, 12))
    rank = int(rng.integers(1, n + 1))
    problem = Problem(Network(rng.normal(size=(rank, n)), rng.normal(size=rank)), Gaussian(n), n)
    net = escaping.random_student(rng, problem)
    assert escaping.falls(explain_escape(problem, net), net, problem=problem)[-1] <= 1e-10 * problem.loss(net)


def test_the_gaussian_landscape_is_the_problem_s_own():
    """2‖D‖² + (tr D)² and its gradient by matrices, against the kernel."""
    rng = np.random.default_rng(3)
    teacher = Network(rng.normal(size=(4, 3)), rng.normal(size=4))
    problem = Problem(teacher, Gaussian(3), 5)
    net = Network(rng.normal(size=(5, 3)), rng.normal(size=5))
    landscape = GaussianLandscape(problem)
    assert landscape.loss(net) == pytest.approx(problem.loss(net), rel=1e-12)
    da, dW = landscape.parameter_gradient(net)
    assert np.allclose(np.concatenate([dW.ravel(), da]), problem.gradient(net), rtol=1e-11, atol=1e-11)
    assert GaussianLandscape.applies(problem)
    assert not GaussianLandscape.applies(Problem(teacher, Gaussian(3, 2 * np.eye(3)), 5))
    assert not GaussianLandscape.applies(Problem(teacher, IID.uniform(3), 5))
