"""Paper 003, sections 3 and 4: global minima, witnesses, rays, most directions, perturbed descent."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shallows as sh
from shallows.questions.relu.global_minima import SMALLEST_EIGENVALUE, global_minimum, sample_global_minima
from shallows.questions.relu.most_directions import (
    TABLE_1,
    conjecture_row,
    conjecture_table,
    directional_curvature,
    even_global_minimum,
)
from shallows.questions.relu.nonconvexity import negative_curvature
from shallows.questions.relu.perturbed import perturbed_plan, perturbed_runs
from shallows.questions.relu.scaling import norm_sum, norm_sum_bound, ray, slope_at_origin
from shallows.questions.relu.setting import relu_problem
from shallows.questions.relu.symmetric import symmetric_minimum
from shallows.questions.relu.witnesses import witness, witness_orders

seeds = st.integers(0, 10_000)


def teacher_in_general_position(k, inputs, seed):
    """An orthonormal teacher that is not the coordinates."""
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((inputs, k)))[0].T
    return sh.Network(V, activation=sh.ReLU())


@given(seeds, st.integers(1, 4), st.integers(0, 3), st.integers(0, 2))
def test_theorem_1_samples_have_zero_loss_and_are_recognised(seed, k, extra, room):
    problem = sh.Problem(
        teacher_in_general_position(k, k + room, seed), sh.Gaussian(k + room), k + extra, outer="ones"
    )
    (found,) = sample_global_minima(problem, rng=seed)
    assert problem.loss(found.network) < 1e-13
    assert np.linalg.norm(problem.gradient(found.network)) < 1e-13
    again = global_minimum(problem, found.network)
    assert again is not None and again.is_differentiable and again.dimension == extra
    np.testing.assert_allclose(again.weights, found.weights, atol=1e-14)
    rng = np.random.default_rng(seed)
    moved = sh.Network(
        found.network.W + 0.01 * rng.standard_normal(found.network.W.shape), activation=sh.ReLU()
    )
    assert global_minimum(problem, moved) is None and problem.loss(moved) > 1e-9


def test_theorem_1_with_a_zero_neuron():
    problem = relu_problem(2, width=3)
    net = sh.Network([[1.0, 0], [0, 1.0], [0, 0]], activation=sh.ReLU())
    found = global_minimum(problem, net)
    assert found is not None and not found.is_differentiable


@given(seeds, st.integers(2, 6), st.integers(0, 2))
def test_theorem_2_the_smallest_eigenvalue_is_attained(seed, k, room):
    problem = sh.Problem(
        teacher_in_general_position(k, k + room, seed), sh.Gaussian(k + room), k, outer="ones"
    )
    (found,) = sample_global_minima(problem, rng=seed)
    smallest = np.linalg.eigvalsh(problem.hessian(found.network))[0]
    assert smallest == pytest.approx(SMALLEST_EIGENVALUE, abs=1e-12)
    assert pytest.approx(0.25 - 1 / (2 * np.pi), abs=1e-16) == SMALLEST_EIGENVALUE / 2


@given(seeds, st.sampled_from([1e-1, 1e-3, 1e-6]), st.integers(1, 3))
def test_theorem_3_negative_curvature_in_every_neighbourhood(seed, distance, k):
    problem = sh.Problem(teacher_in_general_position(k, k + 1, seed), sh.Gaussian(k + 1), k + 2, outer="ones")
    (found,) = sample_global_minima(problem, rng=seed)
    point = negative_curvature(problem, found.network, distance)
    assert point.distance == pytest.approx(distance, rel=1e-9)
    assert point.curvature < 0
    assert point.curvature == pytest.approx(point.predicted, rel=1e-6, abs=1e-13)
    smallest = np.linalg.eigvalsh(problem.hessian(point.network))[0]
    assert smallest <= point.curvature + 1e-12
    assert np.linalg.norm(point.direction) == pytest.approx(1)


def test_theorem_3_the_printed_factor_is_not_the_curvature():
    """(1+ε) sin θ (α₁+α₂)²/(πα₁α₂) differs from ε/(1+ε²) (…) at order ε²."""
    problem = relu_problem(1, width=2, inputs=2)
    net = sh.Network([[0.5, 0], [0.5, 0]], activation=sh.ReLU())
    point = negative_curvature(problem, net, 0.1)
    epsilon = 0.1 / np.hypot(0.5, 0.5)
    printed = -(1 + epsilon) * epsilon / np.sqrt(1 + epsilon**2) * 4 / np.pi
    assert point.curvature == pytest.approx(-epsilon / (1 + epsilon**2) * 4 / np.pi, rel=1e-9)
    assert abs(printed / point.curvature - 1) > 0.1


@given(seeds)
def test_theorems_4_and_5_coefficients_tend_to_zero_like_epsilon(seed):
    problem = relu_problem(3, width=4, inputs=4)
    weights = np.random.default_rng(seed).uniform(0.3, 0.7)
    net = sh.Network(np.eye(3, 4), activation=sh.ReLU()).split(1, weights)
    table = witness_orders(problem, net, (1e-2, 3e-3, 1e-3))
    for name in ("one-point (Hessian)", "one-point (gradient)", "PŁ"):
        assert table.orders[name] == pytest.approx(1, abs=0.01)
    assert table.orders["loss"] == pytest.approx(3, abs=0.01)  # the paper says Ω(ε): order ε cancels
    for point in table.witnesses:
        assert point.loss == pytest.approx(point.predicted_loss, rel=20 * point.epsilon**2)
        step = point.network.W - net.W
        assert np.abs(np.sum(step * net.W, axis=1)).max() < 1e-15  # the ε-orthogonal neighbourhood
        assert np.linalg.norm(step, axis=1).max() <= point.epsilon * (1 + 1e-12)


def test_witnesses_need_more_students_than_teachers_and_a_global_minimum(rng):
    problem = relu_problem(3)
    identity = sh.Network(np.eye(3), activation=sh.ReLU())
    for function in (negative_curvature, witness):
        with pytest.raises(sh.InvalidProblem, match="strongly convex"):
            function(problem, identity)
    wide = relu_problem(3, width=4)
    with pytest.raises(sh.InvalidProblem, match="this network is none"):
        witness(wide, sh.Network(rng.standard_normal((4, 3)), activation=sh.ReLU()))
    with pytest.raises(sh.NotDifferentiable, match="Neuron 3 is zero"):
        witness(wide, sh.Network(np.vstack([np.eye(3), np.zeros(3)]), activation=sh.ReLU()))
    skew = sh.Problem(
        sh.Network(rng.standard_normal((3, 3)), activation=sh.ReLU()), sh.Gaussian(3), 4, outer="ones"
    )
    with pytest.raises(sh.InvalidProblem, match="needs an orthonormal teacher"):
        sample_global_minima(skew)
    with pytest.raises(sh.InvalidProblem, match="cannot realise"):
        sample_global_minima(relu_problem(3, width=2))


@given(seeds, st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))
def test_rays_are_parabolas_for_any_teacher(seed, k, m, n):
    """t* minimises, and the second difference is the curvature: no local maximum (Lemma 11)."""
    rng = np.random.default_rng(seed)
    problem = sh.Problem(
        sh.Network(rng.standard_normal((m, n)), activation=sh.ReLU()), sh.Gaussian(n), k, outer="ones"
    )
    net = sh.Network(rng.standard_normal((k, n)), activation=sh.ReLU())
    line = ray(problem, net)
    losses = [
        problem.loss(sh.Network(t * net.W, activation=sh.ReLU())) for t in (0.5, 1.0, 1.5, line.best_scale)
    ]
    assert losses[1] == pytest.approx(line.loss(1.0), rel=1e-10, abs=1e-12)
    assert (losses[0] - 2 * losses[1] + losses[2]) / 0.25 == pytest.approx(line.curvature, rel=1e-7)
    assert line.curvature > 0 and losses[3] <= min(losses[:3]) + 1e-12
    assert slope_at_origin(problem, net) <= 0  # Lemma 10: positive outer weights pull away from the origin
    assume(line.best_scale > 1e-6)  # opposite neurons are best scaled to zero
    assert ray(problem, line.best_network()).best_scale == pytest.approx(1, abs=1e-9)


def test_proposition_1_and_the_scale_at_minima():
    for k, blocks in ((7, [1, 6]), (10, [2, 8])):
        found = symmetric_minimum(k, blocks)
        problem = relu_problem(k)
        assert ray(problem, found.network()).best_scale == pytest.approx(1, abs=1e-12)
        assert norm_sum(found.network()) <= k <= norm_sum_bound(problem) == k * k
    with pytest.raises(sh.InvalidProblem, match="zero function"):
        ray(relu_problem(2), sh.Network(np.zeros((2, 2)), activation=sh.ReLU()))


@given(seeds, st.sampled_from([(2, 1), (3, 2), (2, 3)]))
def test_theorem_6_holds_in_the_orthogonal_neighbourhood(seed, sizes):
    """The excess over the bound is at least −C ε^2.5; for m = 1 it is the smallest eigenvalue's bound (Example 1)."""
    k, m = sizes
    rng = np.random.default_rng(seed)
    problem = relu_problem(k, width=m * k)
    centre = even_global_minimum(problem)
    for epsilon in (1e-2, 1e-4):
        step = rng.standard_normal(centre.W.shape)
        step -= np.sum(step * centre.W, axis=1, keepdims=True) * centre.W * m * m
        step *= epsilon / np.linalg.norm(step, axis=1).max()
        found = directional_curvature(problem, sh.Network(centre.W + step, activation=sh.ReLU()))
        assert found.excess > -10 * epsilon**2.5
        assert found.right > 0


def test_conjecture_1_rows_have_the_size_of_table_1():
    """The minimum of 200 samples is above that of 1,000, but of the same size; both columns stay positive."""
    row = conjecture_row(5, 2, samples=200, rng=0)
    assert row.published == TABLE_1[5, 2] == (0.84, 2.27e-4)
    assert 0.5 < row.smallest_excess / 0.84 < 4
    assert 0.5 < row.smallest_adversarial / 2.27e-4 < 4
    with pytest.raises(sh.InvalidProblem, match="n = mk"):
        even_global_minimum(relu_problem(3, width=4))


@pytest.mark.thorough
def test_table_1_of_paper_003():
    """Minima of 1,000 samples scatter; a factor of two holds for the rows up to k = 10."""
    seen = []
    rows = conjecture_table(
        1000, 0, ((5, 2), (5, 5), (5, 10), (10, 2), (10, 5)), lambda d, t: seen.append((d, t))
    )
    assert seen[-1] == (5, 5)
    for row in rows:
        assert 0.5 < row.smallest_excess / row.published[0] < 2
        assert 0.5 < row.smallest_adversarial / row.published[1] < 2


def test_theorem_7_prescribes_step_noise_and_iterations():
    plan = perturbed_plan(0.5, 2.5, 0.9, 2)
    assert plan.noise == 0.9 / 8
    assert plan.step < 0.5 * 0.9**2 / (64 * 2.5**2)
    assert plan.iterations > np.log(0.9) / np.log(1 - plan.step * 0.5 * 0.9**2 / 64)
    for bad in ((0, 1, 0.5, 2), (2, 1, 0.5, 2), (1, 2, 1.5, 2), (1, 2, 0.5, 0)):
        with pytest.raises(sh.InvalidProblem):
            perturbed_plan(*bad)


def test_theorem_7_a_run_meets_it_when_the_noise_is_for_the_gradient_only():
    """k = n = d = 2 from distance up to 1/2; λ = ½ (Theorem 6, E), L above every Hessian eigenvalue met."""
    problem, minimum = relu_problem(2), sh.Network(np.eye(2), activation=sh.ReLU())
    rng = np.random.default_rng(0)
    starts = np.eye(2).ravel() + 0.25 * rng.uniform(-1, 1, (8, 4))
    plan = perturbed_plan(0.5, 1.9, 0.9, 2)
    assert max(np.linalg.eigvalsh(problem.hessian(problem.unpack(s)))[-1] for s in starts) < 1.9
    met = perturbed_runs(problem, minimum, plan, starts)
    assert met.met.all() and met.squares[:, -1].max() < 0.01
    assert met.squares[:, 0].max() > 0.05  # there was something to do
    kept = perturbed_runs(problem, minimum, plan, starts, keep_noise=True)
    assert kept.met.mean() < 0.5 and np.median(kept.squares[:, -1]) > 1  # they add up: see the module's text
    with pytest.raises(sh.InvalidProblem, match="within distance 1"):
        perturbed_runs(problem, minimum, plan, starts + 3)
