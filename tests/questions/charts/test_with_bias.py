"""Charts of networks with bias: against a scan over directions, known numbers, and where training ends."""

import numpy as np
import pytest

import shallows as sh


def teacher(n, seed):
    rng = np.random.default_rng(seed)
    return sh.Network(
        rng.standard_normal((n + 1, n)), rng.standard_normal(n + 1), bias=rng.standard_normal(n + 1)
    )


def by_scan(energy, cross, size, points=40_001):
    """One input, one neuron a(wx + b)²: with a eliminated the loss is E y² − c²/k of the direction (b, w).

    All stationary values over the half circle, from sign changes of the difference quotient and golden section; shares
    nothing with the library but the numbers c and k, which are sums over quadrature nodes here.
    """
    angles = np.linspace(0, np.pi, points)
    values = energy - cross(angles) ** 2 / size(angles)
    slopes = np.diff(values)
    turning = np.flatnonzero(np.sign(slopes) != np.sign(np.roll(slopes, 1)))
    return np.sort(values[turning])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("law", ["gaussian", "moved", "rademacher"])
def test_one_input_all_points_are_those_of_a_scan(seed, law):
    net = teacher(1, seed)
    if law == "rademacher":
        data, x = sh.IID(1, [1, 0, 1, 0, 2.2]), np.array([-np.sqrt(2.2), 0.0, np.sqrt(2.2)])
        weights = np.array([1 / 4.4, 1 - 1 / 2.2, 1 / 4.4])  # E x² = 1, E x⁴ = 2.2
    else:
        mean = 0.0 if law == "gaussian" else 0.8
        data = sh.Gaussian(1, mean=[mean])
        nodes, raw = np.polynomial.hermite_e.hermegauss(8)
        x, weights = nodes + mean, raw / raw.sum()
    y = net(x[:, None])
    chart = sh.chart(sh.Problem(net, data, width=1, bias=True))
    scanned = by_scan(
        weights @ y**2,
        lambda t: (weights * y) @ (np.cos(t) + np.multiply.outer(x, np.sin(t))) ** 2,
        lambda t: weights @ (np.cos(t) + np.multiply.outer(x, np.sin(t))) ** 4,
    )
    found = np.sort([p.loss for p in chart.points if p.rank == 1])
    # c(t) = 0 is stationary in t with a = 0: that is the zero network
    scanned = scanned[scanned < (weights @ y**2) * (1 - 1e-6)]
    assert len(found) == len(scanned)
    # the nearest of 40,001 angles is 4e-5 off, and the loss stationary: some 1e-9 of E y², times its curvature
    assert found == pytest.approx(scanned, abs=1e-6 * (weights @ y**2))
    assert chart.completeness in ("proved", "count-matched")


@pytest.mark.parametrize("n", [2, 3])
def test_one_quadratic_neuron_under_gaussian_data_has_3n_plus_1_points_proved(n):
    moved = sh.Gaussian(n, np.diag(np.linspace(0.5, 2, n)), np.linspace(-1, 1, n))
    for data in (sh.Gaussian(n), moved):
        problem = sh.Problem(teacher(n, n), data, width=1, bias=True)
        chart = sh.chart(problem)
        assert (chart.completeness, chart.complex_count[1]) == ("proved", 3 * n + 1)
        assert max(np.linalg.norm(problem.gradient(p.network)) for p in chart.points) < 1e-8 * problem.loss(
            problem.unpack(np.zeros(problem.size))
        )
        assert all(p.certificate is not None for p in chart.points)


def test_training_ends_on_the_chart():
    problem = sh.Problem(teacher(2, 4), sh.Gaussian(2), width=1, bias=True)
    chart = sh.chart(problem)
    runs = sh.ensemble(problem, runs=60, chart=chart, rng=0)
    assert len(runs.match().unmatched) == 0
    assert runs.minima[0].loss == pytest.approx(chart.minimum.loss, rel=1e-9)
    assert runs.minima[0].rank == 1 and runs.minima[0].network.bias is not None
    assert chart.minimum.parameter_signature.negative == 0


@pytest.mark.parametrize("method", ["newton", "lm", "lbfgs", "flow", "adam", "sgd", "perturbed"])
def test_every_method_trains_a_bias(method):
    problem = sh.Problem(teacher(2, 4), sh.Gaussian(2), width=1, bias=True)
    start = sh.Network([[1.0, 0.5]], bias=[0.3])
    run = sh.descend(problem, start, method=method, iterations=200)
    assert run.loss < problem.loss(start) and run.network.bias.shape == (1,)
    assert problem.loss(run.network) == pytest.approx(run.loss, rel=1e-9)


def test_saved_charts_keep_their_biases(tmp_path):
    problem = sh.Problem(teacher(1, 0), sh.Gaussian(1), width=1, bias=True)
    chart = sh.chart(problem)
    again = sh.load_chart(chart.save(tmp_path / "biased"))
    assert np.array_equal(again.minimum.network.bias, chart.minimum.network.bias)
    assert again.problem.bias
