"""The built-in quantities against published and closed-form numbers."""

import numpy as np
import pytest

import shallows as sh
from shallows.support.errors import InvalidProblem
from shallows.uses.sweep.problems import orthonormal_relu
from shallows.uses.sweep.quantities import (
    barrier,
    barrier_start_probability,
    chart_counts,
    ensemble_shares,
    generalisation_error,
    variant_success,
)


def test_three_critical_points_become_thirteen():
    """Paper 000, Theorems 35 and 36: n = 3 points under Gaussian data, (3³ − 1)/2 at a large kurtosis."""
    for kurtosis, count in ((3, 3), (30, 13)):
        counts = chart_counts(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, kurtosis]), 1), 0)
        assert (counts["real"], counts["real_rank_1"], counts["completeness"]) == (count, count, "proved")
        assert (
            counts["points"]
            == count + 1
            == counts["global_minima"] + counts["local_minima"] + counts["saddles"]
        )


def test_shares_count_runs_at_the_loss_that_is_called_global():
    problem = sh.Problem(np.diag([1.0, 0.8, 0.6, 0.3]), sh.Gaussian(4), width=2)
    runs = sh.ensemble(problem, 60, rng=11)
    lowest = ensemble_shares(problem, 11, runs=60)
    assert lowest["share_of_global"] == runs.share_of_global == lowest["at_global"] / 60
    charted = ensemble_shares(problem, 11, runs=60, global_loss="chart", distinct=True)
    assert charted["global_loss"] == pytest.approx(1.305) and charted["minima"] == len(runs.minima)
    assert (
        ensemble_shares(problem, 11, runs=60, global_loss="floor")["at_global"] == 0
    )  # rank 2 against rank 4
    with pytest.raises(InvalidProblem, match="'best'"):
        ensemble_shares(problem, 11, runs=5, global_loss="best")


def test_relu_problems_have_as_many_students_as_asked_for():
    problem = orthonormal_relu(4, extra=2)
    assert (problem.n, problem.width, problem.outer is not None) == (4, 6, True)
    assert ensemble_shares(orthonormal_relu(2), 0, runs=4, tolerance=1e-6, global_loss=0.0)["at_global"] == 4
    with pytest.raises(InvalidProblem, match="extra is -1"):
        orthonormal_relu(4, extra=-1)


def test_the_barrier_is_the_exact_one():
    """Rank d − 1 under N(0, I): 2σ⁴(1 + 1/(d + 1)), σ² the smallest eigenvalue, between the paper's 2σ⁴ and 3σ⁴."""
    problem = sh.Problem(np.diag([3.0, 2.0, 1.5, 0.5]), sh.Gaussian(4), width=4, outer="ones")
    found = barrier(problem, 0)
    assert found["exact"] == pytest.approx(2 * 0.25 * (1 + 1 / 5), rel=1e-12)
    assert (
        found["lower"] == pytest.approx(0.5)
        and found["example"] == pytest.approx(0.75)
        and found["rank"] == 3
    )
    samples = sh.Samples(np.eye(2), [1.0, 2.0])
    with pytest.raises(InvalidProblem, match="needs a teacher"):
        barrier(sh.Problem(None, samples, 1), 0)


@pytest.mark.parametrize(("gamma", "ratio", "expected"), [("m", 2, 0.16), ("m", 3, 0.84), ("m+4d", 4, 0.13)])
def test_theorem_2_5_starts_below_the_barrier_as_often_as_known(gamma, ratio, expected):
    """Probabilities at d = 10 from an independent computation, given to two digits."""
    found = barrier_start_probability(10, ratio, 1, gamma=gamma, trials=1000)
    assert found["m"] == ratio * 100 and found["teachers"] == 1000
    assert abs(found["probability"] - expected) < 4 * np.sqrt(expected * (1 - expected) / 1000) + 0.005


def test_generalisation_jumps_at_d_d_plus_1_over_2():
    """Paper 001, Theorems 2.6 and 2.9: from 6 samples on, at d = 3, every student is the teacher."""
    below, at = (generalisation_error(3, samples, 2, runs=4) for samples in (5, 6))
    assert below["threshold"] == 6 and below["constructed"] >= below["bound"] > 0
    assert at["generalised"] == 1.0 and at["largest_error"] < 1e-6 and at["constructed"] == 0.0
    assert at["students"] == 4 and below["generalised"] < 1.0


def test_variants_of_paper_002_are_compared_on_the_same_data():
    settings = {"d": 3, "samples": 60, "runs": 4, "epochs": 3000}
    wide = variant_success("norm", "gauss", 4, 7, **settings)
    narrow = variant_success("plain", "gauss", 1, 7, **settings)  # rank one against a matrix of full rank
    assert wide["runs"] == 4 and wide["share"] == 1.0 and narrow["share"] == 0.0
    assert variant_success("orthogonality", "gauss", 3, 7, **settings)["runs"] == 1
