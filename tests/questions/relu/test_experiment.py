"""The experiment of section 4.2 against the published counts."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import shallows as sh
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.relu.setting import relu_problem
from shallows.uses.papers.experiments.relu_training import experiment, homogeneity


def test_the_experiment_at_k_8():
    found = experiment(8, runs=100, large=20, rng=3)
    assert [minimum.blocks for minimum in found.minima] == ["8", "1+7"]
    assert sum(minimum.xavier for minimum in found.minima) == 100
    assert sum(minimum.large for minimum in found.minima) == 20
    assert found.largest_norm_sum <= 8 * (1 + 1e-12) and found.every_split_is_a_saddle and not found.new
    bad = found.minima[1]
    assert bad.half_smallest_eigenvalue == pytest.approx(0.021346589190146436, abs=1e-10)  # published
    assert bad.norm_sum == pytest.approx(7.985612956999482, abs=1e-8)
    assert found.agreement().p_value > 0.001
    assert found.minima[0].is_global and found.share_of_global > 0.5
    proved = found.certified(only_new=False)
    assert all(minimum.certificate is not None for minimum in proved.minima)
    assert proved.table().row_count == 2 and "1+7" in repr(found)


def test_the_paper_s_step_diverges_from_large_starts():
    """Neurons that point the same way have a Hessian eigenvalue of k/2 (½E), so 5/k is too long there."""
    with pytest.raises(sh.NotConverged, match="diverged"):
        ensemble(relu_problem(8), 5, init="large", step=2.5 / 8)


def test_homogeneity_is_pearson_s_test_and_rejects_what_differs():
    counts = np.array([[340, 338], [150, 145], [10, 17]])
    found = homogeneity(counts)
    reference = chi2_contingency(counts, correction=False)
    assert found.statistic == pytest.approx(reference.statistic)
    assert found.p_value == pytest.approx(reference.pvalue) and found.freedom == 2
    assert homogeneity(np.array([[250, 340], [240, 150], [10, 10]])).p_value < 1e-6
    rare = homogeneity(np.array([[400, 390], [100, 108], [0, 1], [0, 1]]))
    assert rare.pooled == 2 and rare.freedom == 2
    assert homogeneity(np.array([[500, 500]])).p_value == 1.0
    with pytest.raises(sh.InvalidProblem, match="two samples"):
        homogeneity(np.array([1, 2, 3]))


@pytest.mark.thorough
@pytest.mark.parametrize("k", [6, 8, 10, 15, 20])
def test_500_fresh_runs_agree_with_the_published_counts(k):
    """χ² not rejected at 0.001; minima that are not published are proved."""
    found = experiment(k, runs=500, large=100, rng=0)
    assert found.unfinished == 0
    assert found.agreement().p_value > 0.001
    assert found.largest_norm_sum <= k * (1 + 1e-12) and found.every_split_is_a_saddle
    for minimum in found.certified().new:
        assert minimum.certificate is not None and minimum.certificate.is_local


@pytest.mark.thorough
@pytest.mark.parametrize(("k", "extra", "share"), [(10, 1, 1.0), (15, 1, 0.89), (15, 2, 1.0), (20, 2, 1.0)])
def test_extra_neurons(k, extra, share):
    """Shares at the global minimum of 200 runs with one and two extra neurons (paper 003's reference [29], Table 2)."""
    runs = ensemble(relu_problem(k, width=k + extra), 200, rng=0, loss_tolerance=1e-8)
    assert abs(float(np.mean(runs.losses < 1e-6)) - share) < 4 * np.sqrt(0.89 * 0.11 / 200)
