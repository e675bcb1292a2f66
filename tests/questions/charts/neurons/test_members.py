"""Members of several neurons under rotation-invariant data: trace-tested, and what descents end at is on the charts."""

import numpy as np
import pytest

import shallows as sh


@pytest.mark.parametrize(
    "outer", [[1.0, -1.0], *(pytest.param(a, marks=pytest.mark.thorough) for a in ([1.0, 1.0], [1.0, 2.0]))]
)
def test_two_neurons_with_fixed_weights_under_gaussian_data(outer):
    """z + z³ with weights 1 and −1 was "sampled": its member was not trace-tested."""
    rng = np.random.default_rng(0)
    activation = sh.Polynomial([0.0, 1.0, 0.0, 1.0])
    teacher = sh.Network(rng.standard_normal((3, 2)), rng.standard_normal(3), activation)
    problem = sh.Problem(teacher, sh.Gaussian(2), 2, outer=outer)
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested"
    runs = sh.ensemble(problem, runs=40, method="newton", rng=1)
    ends = runs.losses[runs.converged]
    assert len(ends) and np.abs(ends[:, None] - chart.losses).min(axis=1).max() < 1e-7 * chart.losses.max()
