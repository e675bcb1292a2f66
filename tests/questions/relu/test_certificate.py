"""Proofs of ReLU minima, and points that must not be proved."""

import numpy as np
import pytest
from flint import arb, arb_mat
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.mathematics.balls.definite import definite
from shallows.mathematics.balls.systems import precision
from shallows.questions.certificates.minimum import certify_minimum
from shallows.questions.descent.descend import descend
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.relu.balls import ReLUBalls
from shallows.questions.relu.setting import relu_problem
from shallows.questions.relu.splitting import wider
from shallows.questions.relu.symmetric import symmetric_minimum


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4), st.integers(2, 4))
def test_balls_contain_the_float_loss_gradient_and_hessian(seed, k, m, n):
    """Against the float formulas, whose slow references are finite differences (tests of the kernels)."""
    rng = np.random.default_rng(seed)
    W, a = rng.standard_normal((k, n)), rng.standard_normal(k)
    V, b = rng.standard_normal((m, n)), rng.standard_normal(m)
    problem = sh.Problem(sh.Network(V, b, sh.ReLU()), sh.Gaussian(n), k, outer=a)
    net = sh.Network(W, a, sh.ReLU())
    with precision(128):
        balls = ReLUBalls((k, n), a, V, b)
        x = [arb(float(w)) for w in W.ravel()]
        gradient, hessian = balls(x)
        loss = float(balls.loss(x).mid())
    scale = 1 + problem.objective.energy + np.sum(np.abs(a)) ** 2 * np.max(W**2)
    assert loss == pytest.approx(problem.loss(net), abs=1e-12 * scale)
    np.testing.assert_allclose(
        [float(entry.mid()) for entry in gradient.entries()], problem.gradient(net), atol=1e-12 * scale
    )
    dense = np.array([float(entry.mid()) for entry in hessian.entries()]).reshape(k * n, k * n)
    spread = 1 + np.abs(dense).max()
    np.testing.assert_allclose(dense, problem.hessian(net), atol=1e-10 * spread)


def test_a_wide_box_contains_the_hessians_of_its_points_also_across_the_teacher_direction(rng):
    """w passes through the direction of v inside the box: the enclosure replaces what is singular there."""
    V = np.eye(2)
    balls = ReLUBalls((1, 2), np.ones(1), V, np.ones(2))
    problem = sh.Problem(sh.Network(V, activation=sh.ReLU()), sh.Gaussian(2), 1, outer="ones")
    with precision(128):
        _, box = balls([arb(1.0, 0.01), arb(0.0, 0.01)])
        lower = np.array([float(entry.lower()) for entry in box.entries()]).reshape(2, 2)
        upper = np.array([float(entry.upper()) for entry in box.entries()]).reshape(2, 2)
    for shift in rng.uniform(-0.01, 0.01, (50, 2)):
        hessian = problem.hessian(sh.Network([np.array([1.0, 0.0]) + shift], activation=sh.ReLU()))
        assert np.all(lower <= hessian + 1e-12) and np.all(hessian <= upper + 1e-12)


def test_the_proof_at_k_7_agrees_with_the_proof_by_symmetry():
    problem, found = relu_problem(7), symmetric_minimum(7, [1, 6])
    proof = certify_minimum(problem, found.network())
    assert proof.radius < 1e-9 and proof.is_local
    assert proof.eigenvalue_bound == pytest.approx(found.smallest_eigenvalue, rel=1e-6)
    low, high = proof.loss_bounds
    assert low <= found.loss_bounds[1] and found.loss_bounds[0] <= high
    assert proof.half_loss_bounds[0] == pytest.approx(0.023202714914, abs=1e-12)
    assert proof.certificate.signature_certified
    assert "strict local minimum" in repr(proof)


def test_the_global_minimum_is_proved_although_students_are_parallel_to_the_teacher():
    proof = certify_minimum(relu_problem(4), sh.Network(np.eye(4), activation=sh.ReLU()))
    assert proof.radius < 1e-9 and not proof.is_local
    assert proof.eigenvalue_bound == pytest.approx(0.5 - 1 / np.pi, abs=0.01)


def test_groups_of_an_ensemble_are_certified():
    problem = relu_problem(7)
    runs = ensemble(problem, 60, rng=1)
    proofs = [certify_minimum(problem, minimum) for minimum in runs.minima]
    assert len(proofs) == 2
    assert [proof.is_local for proof in proofs] == [False, True]


def test_a_general_teacher_is_enough_for_a_proof(rng):
    V, b = rng.standard_normal((3, 3)), np.array([1.0, -0.5, 2.0])
    problem = sh.Problem(sh.Network(V, b, sh.ReLU()), sh.Gaussian(3), 2, outer=[1.0, -1.0])
    run = descend(problem, rng.standard_normal(6))
    assert run.converged
    proof = certify_minimum(problem, run.network)
    assert proof.radius < 1e-9 and proof.eigenvalue_bound > 0
    smallest = np.linalg.eigvalsh(problem.hessian(run.network))[0]
    assert proof.eigenvalue_bound == pytest.approx(smallest, rel=1e-5)


def test_what_must_not_be_proved_is_not(rng):
    problem = relu_problem(5)
    with pytest.raises(sh.NotConverged, match="No critical point is proved"):
        certify_minimum(problem, sh.Network(rng.standard_normal((5, 5)), activation=sh.ReLU()))
    saddle = symmetric_minimum(4, [3, 1], start="within")
    with pytest.raises(sh.NotConverged, match="not that it is a minimum"):
        certify_minimum(relu_problem(4), saddle.network())
    flat = sh.Network(np.eye(5), activation=sh.ReLU()).split(0, 0.5)  # on a curve of global minima
    with pytest.raises(sh.NotConverged, match="parallel"):
        certify_minimum(wider(problem), flat)


def test_trained_outer_weights_are_divided_out():
    minimum, problem = symmetric_minimum(6, [1, 5]), relu_problem(6)
    scale = np.array([2.0, 0.5, 1.0, 3.0, 0.1, 1.0])
    free = sh.Problem(problem.target, problem.data, 6)
    W = minimum.network().W
    proof = certify_minimum(free, sh.Network(W / scale[:, None], scale, sh.ReLU()))
    fixed = certify_minimum(problem, minimum.network())
    assert proof.eigenvalue_bound == pytest.approx(fixed.eigenvalue_bound, rel=1e-6)
    assert np.allclose(proof.network.W, W) and np.all(proof.network.a == 1)


def test_the_teacher_is_a_proved_minimum_under_coloured_data():
    coloured = sh.Problem(relu_problem(3).target, sh.Gaussian(3, np.diag([1.0, 2.0, 3.0])), 3, outer="ones")
    net = sh.Network(np.eye(3), activation=sh.ReLU())
    proof = certify_minimum(coloured, net)
    assert proof.how == "closed forms" and not proof.is_local
    assert proof.eigenvalue_bound <= np.linalg.eigvalsh(coloured.hessian(net))[0] + 1e-12


def test_bad_input_is_refused_by_name():
    problem = relu_problem(3)
    zero = sh.Network([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 0]], activation=sh.ReLU())
    with pytest.raises(sh.NotDifferentiable, match="Neuron 2 is zero"):
        certify_minimum(problem, zero)
    free = sh.Problem(problem.target, sh.Gaussian(3), 3)
    with pytest.raises(sh.InvalidProblem, match="outer weight is zero"):
        certify_minimum(free, sh.Network(np.eye(3), [1.0, 0.0, 1.0], sh.ReLU()))
    with pytest.raises(sh.InvalidProblem, match="symmetric_minimum"):
        certify_minimum(relu_problem(101), sh.Network(np.eye(101), activation=sh.ReLU()))


def test_the_eigenvalue_bound_is_below_the_truth_and_infinite_when_nothing_is_proved(rng):
    basis = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    matrix = (basis * [0.3, 1, 2, 3, 4]) @ basis.T
    symmetric = (matrix + matrix.T) / 2
    with precision(100):
        bound, value = definite(arb_mat([[arb(float(x)) for x in row] for row in symmetric]))
        wide, _ = definite(arb_mat([[arb(float(x), 0.2) for x in row] for row in symmetric]))
        negative, _ = definite(arb_mat([[arb(-1.0)]]))
    assert 0.3 - 1e-10 < bound <= value + 1e-15 and value == pytest.approx(0.3)
    assert wide == negative == float("-inf")


@pytest.mark.thorough
@pytest.mark.parametrize("blocks", [[1, 19], [4, 16], [20]])
def test_proofs_at_k_20(blocks):
    found = symmetric_minimum(20, blocks)
    proof = certify_minimum(relu_problem(20), found.network())
    assert proof.radius < 1e-9
    assert proof.eigenvalue_bound == pytest.approx(found.smallest_eigenvalue, rel=0.05)
