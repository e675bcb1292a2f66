"""Gradient flow: Prop. 16, Corollary 17, Example 15, Remark 18 and Example 19 of paper 000."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.questions.descent.descend import descend
from shallows.questions.descent.methods.flow import INTEGRATORS, FlowOptions
from shallows.questions.descent.results.run import Status
from shallows.questions.descent.starts import starts
from shallows.questions.descent.traps import (
    escape_probability,
    flow_invariants,
    is_definite,
    is_trapped,
    trap_probability,
)


def drift(problem, run):
    deltas = np.array([flow_invariants(problem.unpack(theta)) for theta in run.trajectory.thetas])
    return np.max(np.abs(deltas - deltas[0]))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_every_integrator_reaches_the_same_steady_state(integrator):
    problem = sh.Problem(np.diag([1.0, 0.4]), sh.Gaussian(2), 1)
    start = np.array([0.6, 0.3, 0.7])
    run = descend(problem, start, "flow", flow=FlowOptions(integrator=integrator), record=1)
    assert run.status is Status.CONVERGED
    assert run.loss == pytest.approx(2 * 0.4**2 + 2 * 0.4**2 / 3, abs=1e-12)


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_proposition_16(degree):
    rng = np.random.default_rng(degree)
    teacher = sh.Network(rng.standard_normal((2, 3)), activation=sh.Power(degree))
    problem = sh.Problem(teacher, sh.Gaussian(3), 3)
    run = descend(
        problem, 0.4 * rng.standard_normal(problem.size), "flow", record=1, polish=False, tolerance=1e-5
    )
    assert drift(problem, run) < 1e-8
    assert np.all(np.diff(run.trajectory.losses) < 1e-9)


def test_a_long_step_breaks_the_conservation_law():
    problem = sh.Problem(np.diag([1.0, 0.4]), sh.Gaussian(2), 1)
    run = descend(problem, [0.6, 0.3, 0.7], step=0.05, record=1, tolerance=1e-6)
    assert drift(problem, run) > 1e-4  # the negative stopping: descent is not the flow


@pytest.mark.parametrize("width", [1, 4, 12])
def test_corollary_17_and_example_15_bad_minimum_at_any_width(width):
    problem = sh.Problem(-np.diag([1.0, 0.8]), sh.Gaussian(2), width)
    rng = np.random.default_rng(width)
    start = sh.Network(0.5 * rng.standard_normal((width, 2)), 1.5 + rng.random(width))
    assert is_trapped(problem, start)
    run = descend(problem, start, "flow")
    assert np.all(run.network.a > 0)
    assert np.max(np.abs(run.network.W)) < 1e-6
    assert run.loss == pytest.approx(2 * (1 + 0.64) + 1.8**2)  # E g², far from the global minimum
    eigenvalues = np.linalg.eigvalsh(problem.hessian(run.network))
    assert eigenvalues[0] > -1e-10


def test_the_condition_that_corollary_17_omits():
    """Erratum: n = 1, target −1, α = (2, −1), w = (1, 1) has δ > 0 and a positive start, yet reaches the minimum."""
    problem = sh.Problem([[-1.0]], sh.Gaussian(1), 2)
    start = sh.Network([[1.0], [1.0]], [2.0, -1.0])
    assert np.all(flow_invariants(start) > 0) and start.tensor().entries[0] > 0
    assert not is_trapped(problem, start)
    assert descend(problem, start, "flow").loss < 1e-12


def test_quartic_traps_and_definiteness():
    square = sh.SymmetricTensor.from_polynomial("x^4 + 2*x^2*y^2 + y^4")
    assert is_definite(square, 1.0) and not is_definite(square, -1.0)
    assert not is_definite(sh.SymmetricTensor.from_polynomial("x^4 - 3*x^2*y^2 + y^4"), 1.0)
    ball = sh.SymmetricTensor.from_polynomial("x^4+y^4+z^4+2*x^2*y^2+2*x^2*z^2+2*y^2*z^2")
    assert is_definite(ball, 1.0) and not is_definite(ball, -1.0)
    problem = sh.Problem(square * -1.0, sh.Gaussian(2), 3)
    start = sh.Network(0.3 * np.random.default_rng(0).standard_normal((3, 2)), np.ones(3), sh.Power(4))
    assert is_trapped(problem, start)
    run = descend(problem, start, "flow", flow=FlowOptions(time=1e4), polish=False)
    assert run.loss >= problem.value(np.zeros(problem.size)) - 1e-9
    assert run.loss == pytest.approx(float(problem.value(np.zeros(problem.size))), rel=1e-3)


@given(st.integers(1, 6), st.sampled_from([2, 4]), st.floats(0.2, 3.0))
def test_remark_18_probability_against_counting(n, degree, ratio):
    rng = np.random.default_rng(n)
    a, w = rng.standard_normal(20_000), np.sqrt(ratio) * rng.standard_normal((20_000, n))
    counted = np.mean((a > 0) & (a**2 > np.sum(w**2, axis=1) / degree))
    expected = trap_probability(n, degree, ratio, 1.0)
    assert abs(counted - expected) < 5 * np.sqrt(expected / 20_000) + 1e-3


def test_remark_18_in_closed_form_and_its_growth():
    assert trap_probability(1, 2) == pytest.approx(np.arctan(np.sqrt(2)) / np.pi)  # t₁ is Cauchy
    values = [escape_probability(width, 3, 2) for width in range(1, 30)]
    assert np.all(np.diff(values[:12]) > 0) and values[-1] > 1 - 1e-12
    with pytest.raises(sh.InvalidProblem, match="outer_variance"):
        trap_probability(2, 2, 1.0, 0.0)


def test_remark_18_as_a_function_of_width():
    """Corollary 17 keeps a start of width r off −I exactly when every neuron is trapped: counted over 800 starts."""
    for width in (1, 2, 3):
        problem = sh.Problem(-np.eye(2), sh.Gaussian(2), width)
        begin = starts(problem, 800, "normal", rng=width)
        kept_off = np.array([is_trapped(problem, problem.unpack(theta)) for theta in begin])
        positive = np.all(begin[:, -width:] > 0, axis=1)
        q = trap_probability(2, 2) ** width
        assert escape_probability(width, 2, 2) == pytest.approx(1 - q)
        assert abs(np.mean(kept_off & positive) - q) < 4 * np.sqrt(q * (1 - q) / 800)
        assert not np.any(kept_off & ~positive)


def test_remark_18_by_flows():
    """Width 1, n = 1, negative target: a start is trapped exactly when a > 0 and a² > w²/2."""
    problem = sh.Problem([[-1.0]], sh.Gaussian(1), 1)
    begin = starts(problem, 12, "normal")
    for theta in begin:
        run = descend(problem, theta, "flow", tolerance=1e-8)
        trapped = theta[1] > 0 and theta[1] ** 2 > theta[0] ** 2 / 2
        assert (run.loss > 1.0) == trapped


@pytest.mark.parametrize("data", [sh.Frobenius(2), sh.Gaussian(2)])
def test_example_19_escapes_to_infinity(data):
    target = sh.SymmetricTensor.from_polynomial("x1^2*x2")
    problem = sh.Problem(target, data, 2)
    tau = 2.0
    start = sh.Network([[1.0, 1 / tau], [1.0, 0.0]], [tau / 3, -tau / 3], sh.Power(3))
    losses, norms = [], []
    for time in (1e1, 1e2, 1e3):
        options = FlowOptions(time=time, rtol=1e-9)
        run = descend(problem, start, "flow", flow=options, polish=False, tolerance=1e-14)
        losses.append(run.loss)
        norms.append(np.linalg.norm(run.theta))
    assert run.status is Status.ESCAPING and "infinity" in run.message and not run.converged
    assert losses[0] > 2 * losses[1] > 4 * losses[2] > 0
    assert norms[0] < norms[1] < norms[2]


def test_bad_flow_options():
    with pytest.raises(sh.InvalidProblem, match="integrator"):
        FlowOptions(integrator="Euler")
    with pytest.raises(sh.InvalidProblem, match="rtol"):
        FlowOptions(rtol=-1.0)
    with pytest.raises(sh.InvalidProblem, match="Power"):
        flow_invariants(sh.Network([[1.0]], activation=sh.ReLU()))


def flow_problem(degree, seed):
    """Three neurons against two, in three inputs: minima are isolated but for the fiber, so that a polish can end."""
    rng = np.random.default_rng(100 * degree + seed)
    teacher = sh.Network(rng.standard_normal((3, 3)), rng.standard_normal(3), sh.Power(degree))
    problem = sh.Problem(teacher, sh.Gaussian(3), 2)
    return problem, problem.unpack(0.5 * rng.standard_normal(problem.size))


def moved(run, start):
    return float(np.abs(flow_invariants(run.network) - flow_invariants(start)).max())


@pytest.mark.parametrize(("degree", "seed"), [(2, 0), (2, 1), (2, 2), (3, 0), (3, 2), (4, 0)])
def test_polish_stays_on_the_level_set(degree, seed):
    """δᵢ of the end are those of the start, with polish, which converges, and without, when the flow is called slow."""
    problem, start = flow_problem(degree, seed)
    plain, polished = (descend(problem, start, "flow", polish=polish) for polish in (False, True))
    assert plain.status is Status.SLOW and "may still move" in plain.message
    assert polished.status is Status.CONVERGED and polished.gradient_norm < 1e-3 * plain.gradient_norm
    assert polished.loss == pytest.approx(plain.loss, rel=1e-4)  # the same minimum
    assert moved(plain, start) < 1e-14 and moved(polished, start) < 1e-14


def test_a_polish_that_does_not_know_the_invariants_leaves_them():
    """The control: L-BFGS from where that flow is slow reaches the fiber, and not the flow's point on it."""
    problem, start = flow_problem(4, 0)
    slow = descend(problem, start, "flow", polish=False)
    assert moved(descend(problem, slow.network, "lbfgs"), start) > 1e-9


def test_an_unpolished_flow_is_slow():
    problem = sh.Problem(np.diag([1.0, 0.4]), sh.Gaussian(2), 1)
    run = descend(problem, [0.6, 0.3, 0.7], "flow", polish=False)
    assert run.status is Status.SLOW and not run.converged
    assert descend(problem, [0.6, 0.3, 0.7], "flow").status is Status.CONVERGED
