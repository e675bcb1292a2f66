"""The rational trace test: all solutions pass, every subset that lacks one fails, also where roots run to infinity."""

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.homotopy.rational_trace import rational_trace_test


def roots_of(degree, rng):
    """a·x^degree + … with a among the parameters: on every line of parameters roots run to infinity."""
    letters = "abcdefgh"[: degree + 1]
    text = " + ".join(
        f"{letter}*x^{degree - k}" if k < degree else letter for k, letter in enumerate(letters)
    )
    family = sh.homotopy.PolynomialFamily.read([text], ["x"], list(letters))
    p = rng.standard_normal(degree + 1) + 1j * rng.standard_normal(degree + 1)
    return family, np.roots(p)[:, None], p


@pytest.mark.parametrize("degree", [2, 3, 5])
def test_a_missing_root_is_noticed(degree):
    rng = np.random.default_rng(degree)
    family, roots, p = roots_of(degree, rng)
    whole = rational_trace_test(family, roots, p, lambda x: x, np.random.default_rng(0))
    assert whole.passed, whole
    assert not sh.homotopy.linear_trace_test(family, roots, p, lambda x: x, np.random.default_rng(0)).passed
    for k in range(degree):
        part = rational_trace_test(family, np.delete(roots, k, 0), p, lambda x: x, np.random.default_rng(0))
        assert not part.passed, (k, part)


def test_no_points_are_no_pass():
    family, roots, p = roots_of(3, np.random.default_rng(0))
    assert not rational_trace_test(family, roots[:0], p, lambda x: x, np.random.default_rng(0)).passed


def test_two_quintic_neurons_under_gaussian_data_are_tested():
    """Paths from a generic metric creep to infinity here for minutes; as a binary form, 16 pairs of neurons."""
    target = sh.Network([[1.0, 2.0], [-1.0, 1.0], [2.0, -1.0]], [1.0, -2.0, 1.0], sh.Power(5))
    chart = sh.chart(sh.Problem(target, sh.Gaussian(2), width=2))
    assert chart.completeness == "trace-tested"
    assert chart.complex_count[2] == 16


@pytest.mark.thorough
@pytest.mark.parametrize("data", [sh.Gaussian(2), sh.Frobenius(2)], ids=["Gaussian", "Frobenius"])
@pytest.mark.parametrize("seed", range(4))
def test_msolve_counts_as_many_pairs_of_quintic_neurons(data, seed):
    rng = np.random.default_rng(seed)
    target = sh.Network(rng.integers(-3, 4, (3, 2)).astype(float), [1.0, -2.0, 1.0], sh.Power(5))
    problem = sh.Problem(target, data, width=2)
    tracked, exact = sh.chart(problem), sh.chart(problem, method="exact")
    assert tracked.completeness == "trace-tested"
    assert tracked.complex_count == exact.complex_count
    np.testing.assert_allclose(tracked.losses, exact.losses, rtol=1e-8, atol=1e-8 * exact.losses[-1])
