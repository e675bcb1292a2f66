"""Ensembles: where runs end, how often, on the chart; reproducible, interruptible, saved without pickle."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import shallows as sh
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.descent.ensemble import ensemble as train
from shallows.questions.descent.results.ensemble import load_ensemble
from shallows.questions.descent.results.run import Status
from shallows.questions.descent.starts import starts
from shallows.questions.descent.traps import trap_probability

GAUSSIAN = sh.Problem(np.diag([1.0, 0.8, 0.6, 0.3]), sh.Gaussian(4), 2)
RANK_LOSSES = {2: 1.305, 1: 4.106666666666667, 0: 11.47}  # Theorem 35: 2Σs² + 2(Σs)²/(r+2)


@pytest.fixture(scope="module")
def gaussian_runs():
    return ensemble(GAUSSIAN, 1000, chart=sh.chart(GAUSSIAN))


def test_every_descent_ends_on_the_chart_lower_rank_traps_included(gaussian_runs):
    runs = gaussian_runs
    assert runs.converged.all() and runs.gradient_norms.max() <= 1e-12
    chart = runs.chart
    match = runs.match()
    assert len(match.unmatched) == 0 and sum(match.shares.values()) == pytest.approx(1.0)
    shares = match.by_rank(chart)
    for rank, expected in {2: 0.68, 1: 0.29, 0: 0.03}.items():  # rounded to a percent
        assert abs(shares[rank] - expected) < 3 * np.sqrt(expected * (1 - expected) / 1000) + 0.005
    assert {m.rank: round(m.loss, 9) for m in runs.minima} == {r: round(v, 9) for r, v in RANK_LOSSES.items()}
    assert all(m.signature[2] == 0 for m in runs.minima)
    assert runs.share_of_global == shares[2]
    assert "off the chart" in repr(match) and "seed 0" in repr(runs)


def test_traps_are_at_least_those_of_proposition_16(gaussian_runs):
    """Neurons with a < 0 and δ > 0 can never leave; each has probability P(t₄ > √(4/3)) = 0.156 under Xavier."""
    q = trap_probability(4, 2, 2 / 6, 1 / 2)
    trapped = []
    for theta in gaussian_runs.starts:
        net = GAUSSIAN.unpack(theta)
        trapped.append(np.sum((net.a < 0) & (net.a**2 > np.sum(net.W**2, axis=1) / 2)))
    assert np.mean(trapped) / 2 == pytest.approx(q, abs=4 * np.sqrt(q * (1 - q) / 2000))
    ranks = np.empty(1000, dtype=int)
    for minimum in gaussian_runs.minima:
        ranks[minimum.members] = minimum.rank
    assert np.mean(ranks <= 2 - np.array(trapped)) > 0.99


def test_positive_teacher_with_outer_ones_all_end_at_the_global_point():
    problem = sh.Problem(np.diag([1.0, 0.8, 0.6, 0.3]), sh.Gaussian(4), 2, outer="ones")
    runs = ensemble(problem, 300, chart=sh.chart(problem))
    assert runs.share_of_global == 1.0 and len(runs.minima) == 1
    assert runs.minima[0].rank == 2 and runs.minima[0].signature == (7, 1, 0)  # O(2) turns the fiber


def test_heavy_tails_shares_of_several_minima_against_another_seed():
    teacher = [[2.0, 0.2, 0.1], [0.2, 1.5, -0.1], [0.1, -0.1, 1.0]]
    problem = sh.Problem(teacher, sh.IID(3, [1, 0, 1, 0, 30]), 1, outer="ones")
    chart = sh.chart(problem)
    first, second = (ensemble(problem, 600, rng=seed, chart=chart) for seed in (0, 1))
    one, two = first.match().shares, second.match().shares
    assert len(one) == 4 and set(one) == set(two)
    assert len(first.minima) == 4
    for index in one:
        p = (one[index] + two[index]) / 2
        assert abs(one[index] - two[index]) < 4 * np.sqrt(2 * p * (1 - p) / 600)
    assert {chart.points[index].kind for index in one} == {"global minimum", "local minimum"}


def test_mirrored_minima_of_a_diagonal_teacher_share_the_runs_alike():
    """Reflections permute the four minima, so each has a quarter of the runs, and up to symmetry they are one."""
    problem = sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1, outer="ones")
    runs = ensemble(problem, 800, chart=sh.chart(problem))
    shares = runs.match().shares
    assert len(shares) == 4 and len(runs.minima) == 1
    assert np.allclose(list(shares.values()), 0.25, atol=4 * np.sqrt(0.25 * 0.75 / 800))


def test_cubic_networks_in_two_variables():
    target = sh.SymmetricTensor.from_polynomial("x1^3 + 0.5*x1*x2^2")
    problem = sh.Problem(target, sh.Frobenius(2), 1)
    runs = ensemble(problem, 200, chart=sh.chart(problem))
    angles = np.linspace(0, np.pi, 200_001)
    u = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    best = float(target.norm(sh.Frobenius(2)) ** 2 - np.max(target(u) ** 2))
    assert runs.losses.min() == pytest.approx(best, abs=1e-8)
    assert len(runs.match().unmatched) == 0


@pytest.mark.parametrize("method", ["gd", "perturbed", "sgd"])
def test_same_seed_same_end_points_on_any_number_of_cores(method):
    options = {} if method == "gd" else {"iterations": 50}
    one, two, three = (ensemble(GAUSSIAN, 300, method, cores=c, **options) for c in (1, 2, 3))
    assert np.array_equal(one.thetas, two.thetas) and np.array_equal(one.thetas, three.thetas)
    assert np.array_equal(one.iterations, three.iterations)
    other = ensemble(GAUSSIAN, 300, method, rng=1, **options)
    assert not np.array_equal(one.starts, other.starts)


def test_run_i_starts_at_the_same_point_however_many_runs_there_are():
    assert np.array_equal(starts(GAUSSIAN, 10)[:4], starts(GAUSSIAN, 4))
    generator = np.random.default_rng(0)
    assert np.array_equal(starts(GAUSSIAN, 3, rng=generator), starts(GAUSSIAN, 3, rng=0))


def relu(k, width=None):
    return sh.Problem(sh.Network(np.eye(k), activation=sh.ReLU()), sh.Gaussian(k), width or k, outer="ones")


def test_relu_minima_of_paper_003_at_k_7():
    runs = ensemble(relu(7), 500)
    assert runs.step == pytest.approx(2.5 / 7)
    assert abs(runs.share_of_global - 0.946) < 0.04
    assert [round(m.loss / 2, 9) for m in runs.minima] == [0.0, 0.023202715]  # the paper's ½E
    assert runs.minima[0].eigenvalues[0] == pytest.approx(2 * (0.25 - 1 / (2 * np.pi)), abs=1e-9)
    assert runs.minima[1].signature == (49, 0, 0)
    theta, hessian = runs.minima[1].theta, relu(7).hessian(runs.minima[1].network)
    direction, value = runs.minima[1].directions[0], runs.minima[1].eigenvalues[0]
    assert np.allclose(hessian @ direction, value * direction, atol=1e-8) and theta.shape == (49,)


@pytest.mark.thorough
@pytest.mark.parametrize(("k", "share"), [(8, 0.886), (10, 0.680), (15, 0.220), (20, 0.058)])
def test_relu_shares_of_paper_003(k, share):
    runs = ensemble(relu(k), 500)
    assert abs(runs.share_of_global - share) < 4 * np.sqrt(2 * share * (1 - share) / 500)


def test_wide_relu_students_are_classified_by_loss():
    runs = ensemble(relu(6, 8), 60, loss_tolerance=1e-9)
    assert np.isin(runs.status, (Status.GOAL, Status.CONVERGED)).all() and runs.share_of_global == 1.0


def test_samples_reach_the_least_squares_floor():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), rng.standard_normal(200)
    problem = sh.Problem(None, sh.Samples(X, y), 6)
    features = np.array([np.outer(x, x)[np.triu_indices(3)] for x in X])
    floor = np.mean((features @ np.linalg.lstsq(features, y, rcond=None)[0] - y) ** 2)
    for method in ("gd", "lm"):
        runs = ensemble(problem, 20, method)
        assert runs.losses.min() == pytest.approx(floor, abs=1e-10)


def test_save_and_load_without_pickle(tmp_path):
    runs = ensemble(GAUSSIAN, 40)
    path = runs.save(tmp_path / "runs")
    assert path == tmp_path / "runs.json"
    for again in (load_ensemble(path), load_ensemble(path, GAUSSIAN)):
        assert np.array_equal(runs.thetas, again.thetas) and again.counts() == runs.counts()
        assert [m.count for m in again.minima] == [m.count for m in runs.minima]
        assert repr(again) == repr(runs)
    with pytest.raises(sh.InvalidProblem, match="belongs to"):
        load_ensemble(path, sh.Problem(np.eye(4), sh.Gaussian(4), 3))
    with pytest.raises(sh.InvalidProblem, match="losses"):
        load_ensemble(path, sh.Problem(np.diag([1.0, 0.8, 0.6, 0.5]), sh.Gaussian(4), 2))
    with pytest.raises(sh.InvalidProblem, match="Cannot read"):
        load_ensemble(tmp_path / "none", GAUSSIAN)


def test_ctrl_c_returns_what_finished():
    def interrupt(done, total, losses):
        if done >= 125:
            raise KeyboardInterrupt

    runs = train(GAUSSIAN, 1000, cores=1, watch=interrupt)
    assert 125 <= len(runs) < 1000 and runs.requested == 1000
    whole = train(GAUSSIAN, 1000)
    assert np.array_equal(runs.thetas[:125], whole.thetas[:125])
    assert np.array_equal(runs.index[:125], np.arange(125))
    assert Status.INTERRUPTED not in runs.status and threading.active_count() < 50


def test_an_end_point_off_a_complete_chart_is_an_error(gaussian_runs):
    whole = gaussian_runs.chart.critical
    broken = replace(gaussian_runs.chart, critical=whole.where(np.isin(np.arange(len(whole)), (0, 5))))
    with pytest.raises(sh.IncompleteChart, match="not on this chart"):
        gaussian_runs.match(broken)
    loose = gaussian_runs.match(broken, strict=False)
    assert len(loose.unmatched) == np.sum(gaussian_runs.losses > 11)
    sampled = replace(broken, completeness="sampled")
    assert len(gaussian_runs.match(sampled).unmatched) == len(loose.unmatched)
    with pytest.raises(sh.InvalidProblem, match="No chart"):
        ensemble(GAUSSIAN, 2).match()


def test_diverging_steps_are_reported_with_a_stable_one():
    with pytest.raises(sh.NotConverged, match="is stable"):
        ensemble(GAUSSIAN, 20, step=10.0)
    some = ensemble(GAUSSIAN, 400, step=0.02, polish=False, tolerance=1e-6)
    assert some.counts()["diverged"] < 40 and "runs diverged" in some.note
    assert np.all(np.isfinite(some.thetas)) and np.all(np.isfinite(some.losses))
    suggested = float(some.note.split("A step of ")[1].split(" is stable")[0])
    diverged = some.starts[some.status == Status.DIVERGED]
    again = ensemble(GAUSSIAN, len(diverged), init=diverged, step=suggested, polish=False, tolerance=1e-6)
    assert "diverged" not in again.counts()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"runs": 0}, "runs is 0"),
        ({"method": "magic"}, "expected one of gd"),
        ({"init": "zeros"}, "xavier"),
        ({"init": np.zeros((3, 4))}, r"shape \(3, 4\); expected \(5, 10\)"),
        ({"init": lambda rng: np.zeros(3)}, r"init\(rng\) has shape"),
        ({"tolerance": 1e-18}, "below what float64 can reach"),
        ({"step": -1.0}, "step is -1"),
        ({"cores": 0}, "cores is 0"),
        ({"rng": -1}, "seed"),
        ({"temperature": 1.0}, "Unknown option temperature"),
        ({"iterations": 0}, "iterations is 0"),
        ({"init": "barrier"}, "width of at least"),
        ({"flow": "fast"}, "FlowOptions"),
    ],
)
def test_bad_input_is_refused_before_any_work(arguments, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        ensemble(GAUSSIAN, **{"runs": 5, **arguments})


@pytest.mark.parametrize("data", [sh.Frobenius(2), sh.Metric(2, 2, np.eye(3))])
def test_sgd_needs_samples_or_a_sampler(data):
    with pytest.raises(sh.InvalidProblem, match="SGD needs samples"):
        ensemble(sh.Problem(np.eye(2), data, 1), 2, "sgd")


def test_a_start_of_the_wrong_shape():
    from shallows.questions.descent.descend import descend

    with pytest.raises(sh.InvalidProblem, match="10 parameters"):
        descend(GAUSSIAN, np.zeros(3))
    with pytest.raises(sh.InvalidProblem, match="width"):
        descend(GAUSSIAN, sh.Network(np.eye(4)))
    with pytest.raises(sh.InvalidProblem, match="expected a Problem"):
        descend(None, np.zeros(3))


def test_fixed_tolerance_that_rounding_cannot_meet_ends_as_stalled_or_converged():
    big = sh.Problem(1e3 * np.diag([1.0, 0.8, 0.6]), sh.Gaussian(3), 2, outer="ones")
    runs = ensemble(big, 10, tolerance=1e-8)
    assert set(runs.counts()) <= {"stalled", "converged"}
    assert np.allclose(runs.losses, runs.losses[0], rtol=1e-9)
