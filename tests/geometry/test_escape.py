"""Escape paths: the loss never increases and ends lower, by the theorem that is named; None with a reason elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from shallows import (
    IID,
    Frobenius,
    Gaussian,
    InvalidProblem,
    Network,
    Power,
    Problem,
    ReLU,
    Samples,
    SymmetricTensor,
    coordinates,
)
from shallows.geometry.convex import ProblemLandscape
from shallows.geometry.escape import escape_path, explain_escape
from shallows.geometry.idle import parallel_pair, steepest_direction
from shallows.geometry.steps import differential


def energy(net):
    """Σ|a|‖w‖^d."""
    return float(np.sum(np.abs(net.a) * np.linalg.norm(net.W, axis=1) ** net.activation.degree))


def falls(escape, net, problem=None, points=400):
    """Never increasing, lower at the end, starting at the network; returns the losses."""
    assert escape, escape.reason
    losses = escape.path.losses(points, problem)
    # a loss is a difference of terms as large as the square of the network: rounding is relative to those
    size = max(energy(escape.path(t)) ** 2 for t in np.linspace(0, 1, points))
    assert np.all(np.diff(losses) <= 1e-11 * np.max(np.abs(losses)) + 1e-14 * size)
    assert losses[-1] < losses[0]
    assert np.array_equal(escape.path(0).W, net.W) and np.array_equal(escape.path(0).a, net.a)
    return losses


class LogCosh:
    """Σ log cosh(T(xⱼ) − yⱼ): convex, smooth, not quadratic."""

    def __init__(self, rng, n, degree, count=60):
        self.X, self.y = rng.normal(size=(count, n)), rng.normal(size=count)
        self.powers = coordinates.monomials(self.X, degree)

    def value(self, tensor):
        r = tensor(self.X) - self.y
        return float(np.sum(np.logaddexp(r, -r) - np.log(2)))

    def gradient(self, tensor):
        r = tensor(self.X) - self.y
        return SymmetricTensor(np.tanh(r) @ self.powers, tensor.n, tensor.degree)


def random_tensor(rng, n, degree):
    return SymmetricTensor(rng.normal(size=coordinates.dimension(n, degree)), n, degree)


def random_student(rng, problem):
    return problem.unpack(rng.normal(size=problem.size))


def frozen(problem, net, steps=30):
    """A critical point near `net`: L-BFGS, then Newton on the gradient."""
    found = minimize(
        lambda x: tuple(map(np.asarray, problem.value_and_gradient(x))),
        problem.pack(net),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "gtol": 1e-10, "ftol": 0.0},
    )
    theta = found.x
    for _ in range(steps):
        here = problem.unpack(theta)
        theta = theta - np.linalg.lstsq(problem.hessian(here), problem.gradient(here), rcond=1e-9)[0]
    net = problem.unpack(theta)
    assert np.linalg.norm(problem.gradient(net)) < 1e-10
    return net


# -- Example 15: local minima that are escaped ------------------------------------------------------------------


@pytest.mark.parametrize(("degree", "n", "width"), [(2, 2, 4), (2, 3, 3), (4, 2, 5)])
def test_the_bad_minima_of_example_15_are_local_minima_and_are_escaped(degree, n, width, rng):
    """W = 0, a < 0, against a positive target: no nearby network is better, and yet a path leads to loss zero."""
    target = Network(np.vstack([np.eye(n), np.ones(n)]), activation=Power(degree))
    problem = Problem(target, Gaussian(n), width)
    bad = Network(np.zeros((width, n)), -1 - rng.random(width), Power(degree))
    loss = problem.loss(bad)
    assert np.linalg.norm(problem.gradient(bad)) == 0.0
    for radius in (1e-3, 1e-1, 0.9):
        moves = rng.normal(size=(300, problem.size))
        moves *= radius / np.linalg.norm(moves, axis=1, keepdims=True)
        assert np.all(problem.value(problem.pack(bad) + moves) >= loss * (1 - 1e-12))
    losses = falls(explain_escape(problem, bad), bad)
    assert losses[0] == pytest.approx(loss) and loss > 1.0
    assert losses[-1] <= 1e-12 * loss


def test_near_a_network_that_is_no_minimum_the_loss_does_fall(rng):
    """Negative control for the test above: with a > 0, nearby networks are better."""
    problem = Problem(np.eye(2), Gaussian(2), 3)
    net = Network(np.zeros((3, 2)), np.ones(3))
    moves = 0.1 * rng.normal(size=(50, problem.size))
    assert np.any(problem.value(problem.pack(net) + moves) < problem.loss(net) * (1 - 1e-3))


# -- Theorem 12 ------------------------------------------------------------------------------------------------


@given(st.integers(1, 5), st.integers(0, 2), st.integers(0, 10**6))
def test_theorem_12_reaches_the_global_minimum(n, spare, seed):
    rng = np.random.default_rng(seed)
    data = [Frobenius(n), Gaussian(n), IID.uniform(n)][seed % 3]
    rank = int(rng.integers(1, n + 1))
    problem = Problem(Network(rng.normal(size=(rank, n)), rng.normal(size=rank)), data, n + spare)
    net = random_student(rng, problem)
    escape = explain_escape(problem, net)
    losses = falls(escape, net, problem, points=150)
    assert escape.theorem == "Theorem 12"
    assert losses[-1] <= 1e-10 * losses[0]


def test_in_function_space_the_path_is_the_segment(rng):
    problem = Problem(np.diag([3.0, -1.0, 1.0]), Frobenius(3), 3)
    net = random_student(rng, problem)
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
def test_defective_pencils_take_a_detour(S0, S1, data):
    S0, S1 = np.array(S0, dtype=float), np.array(S1, dtype=float)
    values, vectors = np.linalg.eigh(S0)
    net = Network(vectors.T, values)
    problem = Problem(S1, data(len(S0)), len(S0))
    losses = falls(explain_escape(problem, net), net)
    assert losses[-1] <= 1e-12 * losses[0]


def test_labelled_samples(rng):
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    problem = Problem(None, Samples(X, y), 4)
    net = random_student(rng, problem)
    losses = falls(explain_escape(problem, net), net)
    assert losses[-1] == pytest.approx(problem.floor, rel=1e-9)


def test_too_few_samples_have_many_minimisers(rng):
    """Fewer samples than dimensions: the metric is singular, the least-squares fit interpolates."""
    X, y = rng.normal(size=(4, 3)), rng.normal(size=4)
    problem = Problem(None, Samples(X, y), 3)
    net = random_student(rng, problem)
    assert falls(explain_escape(problem, net), net)[-1] < 1e-12
    assert explain_escape(problem, escape_path(problem, net).end).path is None


# -- Theorem 9 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["random", "zero", "parallel", "integer"])
@pytest.mark.parametrize(("degree", "n"), [(3, 2), (4, 2), (3, 3), (1, 3), (5, 1)])
def test_theorem_9_reaches_the_global_minimum(degree, n, kind, rng):
    width = coordinates.dimension(n, degree) + 1
    problem = Problem(random_tensor(rng, n, degree), Gaussian(n), width)
    W, a = rng.normal(size=(width, n)), rng.normal(size=width)
    W = {"random": W, "zero": 0 * W, "parallel": np.outer(a, W[0]), "integer": np.round(W)}[kind]
    net = Network(W, a, Power(degree))
    escape = explain_escape(problem, net)
    assert escape.theorem == "Theorem 9"
    assert falls(escape, net)[-1] <= 1e-10 * problem.loss(net)


def test_theorem_9_moves_the_tensor_only_on_the_last_segment(rng):
    problem = Problem(random_tensor(rng, 2, 3), Frobenius(2), 5)
    W = np.outer(rng.normal(size=5), rng.normal(size=2))
    path = escape_path(problem, Network(W, rng.normal(size=5), Power(3)))
    assert path.labels == ("write S with independent neurons", "point idle neurons", "move a to the minimum")
    first = path(0).tensor().entries
    for t in np.linspace(0, path.breakpoints[-2], 30):
        assert np.allclose(path(t).tensor().entries, first, atol=1e-12)


# -- Lemma 14 and Theorem 11 -----------------------------------------------------------------------------------


@given(st.sampled_from(["parallel", "opposite", "a = 0", "w = 0"]), st.integers(2, 5), st.integers(0, 10**6))
def test_lemma_14(kind, degree, seed):
    rng = np.random.default_rng(seed)
    problem = Problem(random_tensor(rng, 4, degree), [Gaussian(4), Frobenius(4)][seed % 2], 3)
    W, a = rng.normal(size=(3, 4)), rng.normal(size=3)
    if kind in ("parallel", "opposite"):
        W[2] = (2.0 if kind == "parallel" else -0.5) * W[0]
    elif kind == "a = 0":
        a[1] = 0.0
    else:
        W[1] = 0.0
    net = Network(W, a, Power(degree))
    escape = explain_escape(problem, net)
    assert escape.theorem == "Lemma 14"
    falls(escape, net, points=150)


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
def test_theorem_11_escapes_split_critical_points(degree, rng):
    """n = 2: the best rank-one student, split into ⌈(d+1)/2⌉ parallel neurons, is critical and is escaped."""
    target = random_tensor(rng, 2, degree)
    width = (degree + 2) // 2
    if degree == 2:
        width = 2
    single = Problem(target, Gaussian(2), 1)
    best = frozen(single, random_student(rng, single))
    problem = Problem(target, Gaussian(2), width)
    shares = rng.dirichlet(np.ones(width))
    split = Network(np.repeat(best.W, width, axis=0), shares * best.a[0], Power(degree))
    assert np.linalg.norm(problem.gradient(split)) < 1e-8
    escape = explain_escape(problem, split)
    assert escape.theorem == ("Theorem 12" if degree == 2 else "Theorem 11")
    losses = falls(escape, split)
    assert losses[-1] < losses[0] * (1 - 1e-3)


def test_theorem_11_at_points_that_are_not_critical(rng):
    problem = Problem(random_tensor(rng, 2, 5), Gaussian(2), 3)
    net = random_student(rng, problem)
    escape = explain_escape(problem, net)
    assert escape.theorem == "Theorem 11" and "∇L" in escape.reason
    falls(escape, net)


def test_parallel_neurons_found_only_to_rounding(rng):
    """A numerically critical point: two neurons parallel to 1e-7, the gradient too small for a step."""
    single = Problem(random_tensor(rng, 3, 3), Gaussian(3), 1)
    best = frozen(single, random_student(rng, single))
    problem = Problem(single.target, Gaussian(3), 2)
    nearly = Network(best.W[[0, 0]] + 1e-8 * rng.normal(size=(2, 3)), best.a[[0, 0]] / 2, Power(3))
    escape = explain_escape(problem, nearly)
    losses = falls(escape, nearly)
    assert losses[-1] < losses[0] * (1 - 1e-3)


@pytest.mark.parametrize(("size", "drop"), [(2e-3, 1e-5), (1e-4, 1e-5)])
def test_an_idle_neuron_found_only_to_rounding(size, drop, rng):
    """A numerically critical point: the third neuron's term is tiny, the others are the best student of width 2."""
    narrow = Problem(random_tensor(rng, 3, 3), Gaussian(3), 2)
    best = frozen(narrow, random_student(rng, narrow))
    problem = Problem(narrow.target, Gaussian(3), 3)
    small = Network(np.vstack([best.W, size * rng.normal(size=3)]), np.r_[best.a, 1.0], Power(3))
    losses = falls(explain_escape(problem, small), small)
    assert losses[-1] < losses[0] * (1 - drop)


def test_a_connected_fiber_lends_an_idle_neuron():
    """d = 2, rank S = 1 < width 3 < n = 4, no idle and no parallel neurons: the fiber holds a network with one."""
    x, y = np.eye(4)[:2]
    boost = np.array([[1, 0, 0], [0, np.cosh(1), np.sinh(1)], [0, np.sinh(1), np.cosh(1)]])
    rotation = np.array([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]])
    hidden = Network(rotation @ boost @ np.array([x, y, y]), [1.0, 1.0, -1.0])  # y cancels: S = xxᵀ
    assert np.allclose(hidden.tensor().to_matrix(), np.outer(x, x))
    assert parallel_pair(hidden.W) is None and np.all(hidden.a != 0)
    escape = explain_escape(Problem(np.diag([4.0, 3.0, 2.0, 1.0]), Gaussian(4), 3), hidden)
    assert escape.theorem == "Theorem 37 and Lemma 14"
    falls(escape, hidden)


# -- any convex loss -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("degree", "n", "width", "theorem"),
    [(2, 3, 3, "Theorem 12"), (3, 2, 4, "Theorem 9"), (4, 2, 3, "Theorem 11"), (3, 3, 2, "not critical")],
)
def test_a_convex_loss_that_is_not_quadratic(degree, n, width, theorem, rng):
    loss = LogCosh(rng, n, degree)
    net = Network(rng.normal(size=(width, n)), rng.normal(size=width), Power(degree))
    escape = explain_escape(loss, net)
    assert escape.theorem == theorem
    losses = falls(escape, net, loss)
    if theorem in ("Theorem 12", "Theorem 9"):
        slope = loss.gradient(escape.path.end.tensor()).entries
        assert np.linalg.norm(slope) < 1e-5 * np.linalg.norm(loss.gradient(net.tensor()).entries)
        assert explain_escape(loss, Network(net.W, 0 * net.a, Power(degree))).path is not None
    assert losses[-1] < losses[0] - 1e-6


def test_a_loss_without_a_minimum(rng):
    """ℓ(S) = exp(trace S): the infimum is not attained; the path still descends."""

    class Exponential:
        def value(self, tensor):
            return float(np.exp(np.trace(tensor.to_matrix())))

        def gradient(self, tensor):
            return SymmetricTensor.from_matrix(self.value(tensor) * np.eye(tensor.n))

    net = Network(np.eye(2), [0.5, 0.2])
    falls(explain_escape(Exponential(), net), net)


def test_the_landscape_of_a_problem_has_the_frobenius_gradient(rng):
    """dℓ(S)(H) = ⟨Γ, H⟩_F by central differences (exact: the loss is quadratic), the metric not diagonal."""
    problem = Problem(random_tensor(rng, 3, 3), IID.laplace(3), 2)
    landscape = ProblemLandscape(problem)
    S, H = random_tensor(rng, 3, 3), random_tensor(rng, 3, 3)
    slope = np.sum(landscape.gradient(S).to_array() * H.to_array())
    assert slope == pytest.approx((landscape.value(S + H) - landscape.value(S - 1.0 * H)) / 2, rel=1e-9)
    assert landscape.slope(S, H) == pytest.approx(slope)
    net = random_student(rng, problem)
    assert landscape.value(net.tensor()) == pytest.approx(problem.loss(net), rel=1e-10)
    da, dW = super(ProblemLandscape, landscape).parameter_gradient(net)
    assert np.allclose(np.r_[dW.ravel(), da], problem.gradient(net), rtol=1e-9)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_the_steepest_direction_beats_random_ones(degree, rng):
    form = random_tensor(rng, 3, degree)
    v = steepest_direction(form, rng)
    others = rng.normal(size=(3000, 3))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert np.linalg.norm(v) == pytest.approx(1.0)
    assert abs(form(v)) >= np.max(np.abs(form(others))) * (1 - 1e-3)


# -- where there is no path ------------------------------------------------------------------------------------


def test_a_minimum_at_infinity_is_not_mistaken_for_a_descent():
    """Example 19's sequence, far out: the terms are 1e9 times their sum, the loss is lost in rounding."""
    far = 1e9
    target = SymmetricTensor([0.0, 1.0 / 3.0, 0.0, 0.0], 2, 3)  # x₁²x₂, of rank 3
    problem = Problem(target, Gaussian(2), 2)
    net = Network([[1.0, 1 / far], [1.0, 0.0]], [far / 3, -far / 3], Power(3))
    escape = explain_escape(problem, net)
    assert escape.path is None and ("rounding" in escape.reason)


def test_the_differential_of_the_parameterization(rng):
    """dτ by central differences of a cubic, which Richardson's rule makes exact."""
    net = Network(rng.normal(size=(2, 3)), rng.normal(size=2), Power(2))
    matrix = differential(net, 2)
    direction = rng.normal(size=8)

    def tau(t):
        W, a = net.W + t * direction[:6].reshape(2, 3), net.a + t * direction[6:]
        return SymmetricTensor.from_powers(W, a, 2).entries

    slope = (8 * (tau(1.0) - tau(-1.0)) - (tau(2.0) - tau(-2.0))) / 12
    assert np.allclose(matrix @ direction, slope, atol=1e-12)


def test_a_step_towards_the_minimiser_where_the_gradient_is_small(rng):
    """n = 2: near the split of the best rank-one student ∇L is small but dτ is onto, so a measurable step remains."""
    single = Problem(random_tensor(rng, 2, 4), Gaussian(2), 1)
    best = frozen(single, random_student(rng, single))
    problem = Problem(single.target, Gaussian(2), 3)
    W = np.repeat(best.W, 3, axis=0) + 1e-2 * rng.normal(size=(3, 2))
    net = Network(W, best.a[0] * np.array([0.5, 0.3, 0.2]), Power(4))
    escape = explain_escape(problem, net)
    assert escape.reason == "∇L ≠ 0: lines in angles and divided differences"
    falls(escape, net)


def test_silence_at_a_critical_point_of_a_narrow_network(rng):
    problem = Problem(random_tensor(rng, 3, 3), Gaussian(3), 2)
    net = frozen(problem, random_student(rng, problem))
    escape = explain_escape(problem, net)
    assert escape.path is None and not escape and "silent" in escape.reason
    assert escape_path(problem, net) is None
    assert "none" in repr(escape)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"outer": "ones"}, "outer weights are fixed"),
        ({"outer": [1.0, -1.0]}, "outer weights are fixed"),
        ({"orthogonality": 1.0}, "penalty"),
        ({"norm_neuron": True}, "norm neuron"),
    ],
)
def test_problems_outside_the_theory(options, reason):
    problem = Problem(np.eye(2), Gaussian(2), 2, **options)
    net = problem.unpack(np.ones(problem.size))
    escape = explain_escape(problem, net)
    assert escape.path is None and reason in escape.reason


def test_other_activations_and_outputs_are_outside_the_theory():
    relu = Network(np.eye(2), activation=ReLU())
    assert "powers" in explain_escape(Problem(relu, Gaussian(2), 2), relu).reason
    two = Network(np.eye(2), np.eye(2))
    assert "outputs" in explain_escape(Problem(two, Gaussian(2), 2), two).reason


@pytest.mark.parametrize(("degree", "width"), [(2, 2), (2, 1), (3, 4), (3, 1)])
def test_a_global_minimum_is_said_to_be_one(degree, width):
    teacher = Network([[1.0, 2.0]], [3.0], Power(degree))
    problem = Problem(teacher, Gaussian(2), width)
    net = Network(
        np.vstack([teacher.W, np.zeros((width - 1, 2))]), np.r_[3.0, np.zeros(width - 1)], Power(degree)
    )
    escape = explain_escape(problem, net)
    assert escape.path is None and "global minimum" in escape.reason


@pytest.mark.parametrize(
    "call",
    [
        lambda: escape_path(Problem(np.eye(2), Gaussian(2), 2), Network(np.eye(3))),
        lambda: escape_path(Problem(np.eye(2), Gaussian(2), 2), np.eye(2)),
        lambda: escape_path("loss", Network(np.eye(2))),
        lambda: escape_path(Problem(np.eye(2), Gaussian(2), 2), Network(np.eye(2)), rng=-1),
        lambda: escape_path(LogCosh(np.random.default_rng(0), 2, 2), Network(np.eye(2), activation=ReLU())),
    ],
)
def test_bad_input(call):
    with pytest.raises(InvalidProblem):
        call()


def test_a_gradient_of_the_wrong_type():
    class Wrong:
        def value(self, tensor):
            return 0.0

        def gradient(self, tensor):
            return np.zeros(3)

    with pytest.raises(InvalidProblem, match="Frobenius gradient"):
        escape_path(Wrong(), Network(np.eye(2)))


def test_the_same_seed_gives_the_same_path(rng):
    problem = Problem(random_tensor(rng, 3, 4), Gaussian(3), 3)
    net = Network(rng.normal(size=(3, 3)), [1.0, 0.0, 1.0], Power(4))
    first, again = escape_path(problem, net, rng=5), escape_path(problem, net, rng=5)
    assert np.array_equal(first.end.W, again.end.W)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(150))
def test_many_escapes_of_wide_quadratic_networks(seed):
    rng = np.random.default_rng([seed, 11])
    n = int(rng.integers(1, 12))
    rank = int(rng.integers(1, n + 1))
    problem = Problem(Network(rng.normal(size=(rank, n)), rng.normal(size=rank)), Gaussian(n), n)
    net = random_student(rng, problem)
    assert falls(explain_escape(problem, net), net)[-1] <= 1e-10 * problem.loss(net)
