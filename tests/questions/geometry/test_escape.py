"""Escape paths: Example 15, any convex loss, and where the theory gives none."""

import numpy as np
import pytest

from shallows import (
    IID,
    Frobenius,
    Gaussian,
    InvalidProblem,
    Network,
    Power,
    Problem,
    ReLU,
    SymmetricTensor,
)
from shallows.questions.geometry.escape.convex_losses import ProblemLandscape
from shallows.questions.geometry.escape.escape import escape_path, explain_escape
from shallows.questions.geometry.escape.straight_descent import step_along


@pytest.mark.parametrize(("degree", "n", "width"), [(2, 2, 4), (2, 3, 3), (4, 2, 5)])
def test_the_bad_minima_of_example_15_are_local_minima_and_are_escaped(escaping, degree, n, width, rng):
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
    losses = escaping.falls(explain_escape(problem, bad), bad)
    assert losses[0] == pytest.approx(loss) and loss > 1.0
    assert losses[-1] <= 1e-12 * loss


def test_near_a_network_that_is_no_minimum_the_loss_does_fall(rng):
    """Negative control for the test above: with a > 0, nearby networks are better."""
    problem = Problem(np.eye(2), Gaussian(2), 3)
    net = Network(np.zeros((3, 2)), np.ones(3))
    moves = 0.1 * rng.normal(size=(50, problem.size))
    assert np.any(problem.value(problem.pack(net) + moves) < problem.loss(net) * (1 - 1e-3))


@pytest.mark.parametrize(
    ("degree", "n", "width", "theorem"),
    [(2, 3, 3, "Theorem 12"), (3, 2, 4, "Theorem 9"), (4, 2, 3, "Theorem 11"), (3, 3, 2, "not critical")],
)
def test_a_convex_loss_that_is_not_quadratic(escaping, degree, n, width, theorem, rng):
    loss = escaping.LogCosh(rng, n, degree)
    net = Network(rng.normal(size=(width, n)), rng.normal(size=width), Power(degree))
    escape = explain_escape(loss, net)
    assert escape.theorem == theorem
    losses = escaping.falls(escape, net, loss)
    if theorem in ("Theorem 12", "Theorem 9"):
        slope = loss.gradient(escape.path.end.tensor()).entries
        assert np.linalg.norm(slope) < 1e-5 * np.linalg.norm(loss.gradient(net.tensor()).entries)
        assert explain_escape(loss, Network(net.W, 0 * net.a, Power(degree))).path is not None
    assert losses[-1] < losses[0] - 1e-6


def test_a_loss_without_a_minimum(escaping, rng):
    """ℓ(S) = exp(trace S): the infimum is not attained; the path still descends."""

    class Exponential:
        def value(self, tensor):
            return float(np.exp(np.trace(tensor.to_matrix())))

        def gradient(self, tensor):
            return SymmetricTensor.from_matrix(self.value(tensor) * np.eye(tensor.n))

    net = Network(np.eye(2), [0.5, 0.2])
    escaping.falls(explain_escape(Exponential(), net), net)


def test_the_landscape_of_a_problem_has_the_frobenius_gradient(escaping, rng):
    """dℓ(S)(H) = ⟨Γ, H⟩_F by central differences (exact: the loss is quadratic), the metric not diagonal."""
    problem = Problem(escaping.random_tensor(rng, 3, 3), IID.laplace(3), 2)
    landscape = ProblemLandscape(problem)
    S, H = escaping.random_tensor(rng, 3, 3), escaping.random_tensor(rng, 3, 3)
    slope = np.sum(landscape.gradient(S).to_array() * H.to_array())
    assert slope == pytest.approx((landscape.value(S + H) - landscape.value(S - 1.0 * H)) / 2, rel=1e-9)
    assert landscape.slope(S, H) == pytest.approx(slope)
    net = escaping.random_student(rng, problem)
    assert landscape.value(net.tensor()) == pytest.approx(problem.loss(net), rel=1e-10)
    da, dW = super(ProblemLandscape, landscape).parameter_gradient(net)
    assert np.allclose(np.r_[dW.ravel(), da], problem.gradient(net), rtol=1e-9)


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
    ],
)
def test_bad_input(call):
    with pytest.raises(InvalidProblem):
        call()


def test_a_loss_on_tensors_needs_a_power_network(escaping):
    with pytest.raises(InvalidProblem, match="Power activation"):
        escape_path(escaping.LogCosh(np.random.default_rng(0), 2, 2), Network(np.eye(2), activation=ReLU()))


def test_a_gradient_of_the_wrong_type():
    class Wrong:
        def value(self, tensor):
            return 0.0

        def gradient(self, tensor):
            return np.zeros(3)

    with pytest.raises(InvalidProblem, match="Frobenius gradient"):
        escape_path(Wrong(), Network(np.eye(2)))


def test_the_same_seed_gives_the_same_path(escaping, rng):
    problem = Problem(escaping.random_tensor(rng, 3, 4), Gaussian(3), 3)
    net = Network(rng.normal(size=(3, 3)), [1.0, 0.0, 1.0], Power(4))
    first, again = escape_path(problem, net, rng=5), escape_path(problem, net, rng=5)
    assert np.array_equal(first.end.W, again.end.W)


def test_a_line_from_a_critical_point_may_begin_flat():
    """At e₂ against diag(2, 1) the gradient is zero exactly; along e₁ the loss falls, 4 − 2t² + t⁴ at t."""
    problem = Problem(np.diag([2.0, 1.0]), Frobenius(2), 1)
    net = Network([[0.0, 1.0]], [1.0], Power(2))
    assert not problem.gradient(net).any()
    line = step_along(ProblemLandscape(problem), net, (np.zeros(1), np.array([[1.0, 0.0]])))
    assert line is not None
    t = float(line.end[1][0, 0])
    assert 0 < t <= 1 and problem.loss(Network(line.end[1], line.end[0], Power(2))) < 4.0
