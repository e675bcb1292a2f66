"""Charts of networks with several outputs, against msolve on the raw parameters, descents and special targets."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.msolve import program
from tests.oracle.networks import OneNeuron

import shallows as sh
from shallows.questions.charts.continuation.metrics import SpecialMetrics
from shallows.questions.charts.continuation.special_counts import moved_gaussian_degree, rank_one_count
from shallows.questions.charts.outputs.counts import one_neuron_count

needs_msolve = pytest.mark.skipif(program() is None, reason="msolve is not installed")


def teacher(n: int, outputs: int, degree: int, seed: int, width: int = 5) -> sh.Network:
    rng = np.random.default_rng([n, outputs, degree, seed])
    return sh.Network(
        rng.standard_normal((width, n)), rng.standard_normal((outputs, width)), sh.Power(degree)
    )


def samples(n: int, seed: int = 0) -> sh.Samples:
    return sh.Samples(np.random.default_rng([n, seed, 3]).standard_normal((60, n)))


def assert_critical(problem: sh.Problem, chart: sh.Chart) -> None:
    unit = problem.loss(problem.unpack(np.zeros(problem.size)))
    for item in chart.critical:
        theta = problem.pack(item.network)
        if item.limit:  # its network is near it
            assert abs(problem.loss(item.network) - item.loss) <= 1e-6 * unit
            continue
        assert abs(problem.loss(item.network) - item.loss) <= 1e-9 * unit
        slope = np.abs(problem.gradient(item.network)).max() * np.abs(theta).max(initial=0.0)
        assert slope <= 1e-7 * unit
        assert len(item.tensors) == problem.outputs


@pytest.mark.parametrize(
    ("degree", "n", "generic", "gaussian"), [(2, 2, 6, 4), (2, 3, 23, 9), (3, 2, 10, 6), (3, 3, 66, 22)]
)
def test_how_many_points_one_neuron_with_two_outputs_has(degree, n, generic, gaussian):
    for data, count in ((samples(n), generic), (sh.Gaussian(n), gaussian)):
        problem = sh.Problem(teacher(n, 2, degree, 0), data, 1)
        chart = sh.chart(problem)
        assert (chart.complex_count[1], chart.completeness) == (count, "proved")
        assert_critical(problem, chart)


def test_the_number_for_one_output_is_the_known_one():
    for n in range(2, 7):
        assert one_neuron_count(2, n, 1) == (3**n - 1) // 2
        for degree in (2, 3, 4):
            gaussian = rank_one_count(SpecialMetrics("Gaussian", degree, n))
            assert one_neuron_count(degree, n, 1, True) == gaussian
    assert moved_gaussian_degree(2, 3) == 7


def test_linear_networks_have_as_many_points_as_singular_values():
    assert [one_neuron_count(1, n, M, True) for n in (2, 3, 4) for M in (1, 2, 3, 5)] == [
        min(n, M) for n in (2, 3, 4) for M in (1, 2, 3, 5)
    ]


def agrees_with_msolve(n: int, outputs: int, degree: int, seed: int, **options) -> bool:
    rng = np.random.default_rng([n, outputs, degree, seed])
    X = rng.integers(-3, 4, (16, n)).astype(float)
    Y = rng.integers(-5, 6, (16, outputs)).astype(float)
    weights = rng.integers(0, 4, 16).astype(float) if seed % 2 else None
    found = OneNeuron(X, Y, degree, weights, **options).critical()
    if found is None:
        return False
    norm = options.get("norm", False)
    problem = sh.Problem(None, sh.Samples(X, Y, weights), 1, sh.Power(degree), norm_neuron=norm)
    chart = sh.chart(problem)
    assert chart.completeness == "proved"
    assert_critical(problem, chart)
    mine = [np.concatenate([t.entries for t in p.tensors]) for p in chart.points if p.rank == 1]
    assert len(mine) == len(found)
    for a, nu, u in found:
        net = sh.Network([u], np.array(a)[:, None], sh.Power(degree), np.array(nu) if nu else 0.0)
        s = np.concatenate([net.output(m).tensor().entries for m in range(outputs)])
        assert min(np.abs(s - t).max() for t in mine) <= 1e-6 * (1 + np.abs(s).max())
    return True


@needs_msolve
@pytest.mark.parametrize(("degree", "seed", "options"), [(2, 0, {}), (3, 1, {}), (2, 2, {"norm": True})])
def test_one_neuron_has_the_points_that_msolve_finds(degree, seed, options):
    assert agrees_with_msolve(2, 2, degree, seed, **options)


@needs_msolve
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("n", "outputs", "degree", "options"),
    [(2, 2, 2, {}), (2, 3, 2, {}), (2, 2, 3, {}), (2, 2, 4, {}), (3, 2, 2, {}), (2, 2, 2, {"norm": True})],
)
def test_many_have_the_points_that_msolve_finds(n, outputs, degree, options):
    assert sum(agrees_with_msolve(n, outputs, degree, seed, **options) for seed in range(3, 13)) >= 8


@pytest.mark.parametrize(
    ("n", "outputs", "degree", "width", "norm"),
    [(2, 2, 2, 1, False), (3, 2, 2, 2, False), (3, 3, 3, 1, False), (3, 2, 2, 1, True)],
)
def test_descents_end_on_the_chart(n, outputs, degree, width, norm):
    problem = sh.Problem(teacher(n, outputs, degree, 1), samples(n), width, norm_neuron=norm)
    chart = sh.chart(problem)
    assert_critical(problem, chart)
    assert chart.completeness in ("proved", "trace-tested")
    runs = sh.ensemble(problem, runs=60, method="lm", rng=0)
    assert runs.ended.sum() > 40 and not len(runs.match(chart).unmatched)


def test_two_forms_in_two_inputs_are_two_neurons_exactly():
    """A pencil of binary quadrics is diagonalised by one pair of neurons, unless these are complex."""
    net = sh.Network([[1.0, 2.0], [1.0, -1.0]], [[1.0, 2.0], [3.0, -1.0]])
    chart = sh.chart(sh.Problem(net, samples(2), 2))
    assert chart.minimum.kind == "global minimum" and chart.minimum.loss < 1e-20
    assert (chart.minimum.rank, chart.complex_count[2]) == (
        2,
        3,
    )  # the pair, and two that share their outer weights


SPECIAL = {
    "equal": lambda A: np.vstack([A[0], A[0]]),
    "one is zero": lambda A: np.vstack([A[0], 0 * A[0]]),
    "proportional": lambda A: np.vstack([A[0], -3 * A[0]]),
    "dependent": lambda A: np.vstack([A, A[0] + A[1]]),
}


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("data", [samples(3), sh.Gaussian(3)], ids=["samples", "Gaussian"])
def test_outputs_that_depend_on_each_other(name, data):
    """As many points as for the independent ones, and losses that an orthogonal change of outputs gives."""
    rng = np.random.default_rng(4)  # integers: what depends on each other does so exactly
    net = sh.Network(rng.integers(-3, 4, (5, 3)), rng.integers(-4, 5, (2, 5)))
    A = SPECIAL[name](net.a)
    problem = sh.Problem(sh.Network(net.W, A), data, 1)
    chart = sh.chart(problem)
    assert chart.completeness == "proved"
    assert_critical(problem, chart)
    if name != "dependent":  # all outputs are multiples of one
        size = float(np.linalg.norm(A @ np.linalg.pinv(net.a[:1])))
        alone = sh.chart(sh.Problem(sh.Network(net.W, size * net.a[0]), data, 1))
        np.testing.assert_allclose(chart.losses, alone.losses, rtol=1e-8)
        assert chart.kinds() == alone.kinds()


def test_two_outputs_with_a_bias():
    """(1, x) is a moved Gaussian: 17 points in place of 23, all found and proved."""
    rng = np.random.default_rng(0)
    net = sh.Network(rng.standard_normal((3, 2)), rng.standard_normal((2, 3)), bias=rng.standard_normal(3))
    problem = sh.Problem(net, sh.Gaussian(2), 1, bias=True)
    chart = sh.chart(problem)
    assert (chart.complex_count[1], chart.completeness) == (17, "proved")
    for point in chart.points:
        assert problem.loss(point.network) == pytest.approx(point.loss)
        assert np.abs(problem.gradient(point.network)).max() < 1e-8
    assert not len(sh.ensemble(problem, runs=20, method="lm", rng=0).match(chart).unmatched)


def test_no_target():
    chart = sh.chart(sh.Problem(sh.Network(np.eye(2), np.zeros((3, 2))), samples(2), 2))
    assert (len(chart.critical), chart.minimum.kind, chart.completeness) == (1, "global minimum", "proved")


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(unit):
    net, data = teacher(3, 2, 2, 6), samples(3)
    first = sh.chart(sh.Problem(net, data, 1))
    second = sh.chart(sh.Problem(sh.Network(net.W, unit * net.a), data, 1))
    third = sh.chart(sh.Problem(sh.Network(net.W / unit, net.a), sh.Samples(unit * data.X), 1))
    np.testing.assert_allclose(second.losses, unit**2 * first.losses, rtol=1e-8)
    np.testing.assert_allclose(third.losses, first.losses, rtol=1e-8)
    assert second.completeness == third.completeness == "proved"


def test_labels_of_several_outputs_have_a_floor():
    rng = np.random.default_rng(8)
    problem = sh.Problem(None, sh.Samples(rng.standard_normal((40, 2)), rng.standard_normal((40, 3))), 1)
    chart = sh.chart(problem)
    assert chart.completeness == "proved" and problem.floor > 0
    assert_critical(problem, chart)


def test_charts_of_several_outputs_are_stored_and_reported(tmp_path):
    problem = sh.Problem(teacher(2, 2, 2, 0), samples(2), 1)
    chart = sh.chart(problem)
    again = sh.load_chart(chart.save(tmp_path / "outputs"))
    assert again.to_dataframe().equals(chart.to_dataframe())
    np.testing.assert_array_equal(again.minimum.network.a, chart.minimum.network.a)
    assert chart.report(tmp_path / "outputs.html", train=5).stat().st_size > 10_000
    with pytest.raises(sh.InvalidProblem, match=r"point\.tensors"):
        _ = chart.minimum.tensor


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"width": 4}, "Infinitely many networks"),
        ({"width": 3, "norm_neuron": True}, "see the norm"),
    ],
)
def test_refusals_say_why(options, reason):
    with pytest.raises(sh.InvalidProblem, match=reason):
        sh.chart(sh.Problem(teacher(3, 2, 2, 0), samples(3), **options))


@needs_msolve
@pytest.mark.parametrize("degree", [2, 3])
def test_msolve_is_a_second_engine(degree):
    rng = np.random.default_rng(degree)
    X, Y = rng.integers(-3, 4, (12, 2)).astype(float), rng.integers(-4, 5, (12, 2)).astype(float)
    problem = sh.Problem(None, sh.Samples(X, Y), 1, sh.Power(degree))
    first, second = sh.chart(problem), sh.chart(problem, method="exact")
    np.testing.assert_allclose(first.losses, second.losses, rtol=1e-9)
    assert first.kinds() == second.kinds() and second.method == "exact"


TURN = np.array([[0.8, -0.6], [0.6, 0.8]])


@pytest.mark.parametrize("seed", range(3))
def test_neurons_on_the_axes(seed):
    """Teachers on the axes, where frames of integers have their walls; turned, the chart is the same."""
    a = np.random.default_rng(1).standard_normal((2, 2))
    straight, turned = (
        sh.chart(sh.Problem(sh.Network(W, a), sh.Gaussian(2), 2), rng=seed) for W in (np.eye(2), TURN)
    )
    np.testing.assert_allclose(straight.losses, turned.losses, atol=1e-9)
    assert straight.kinds() == turned.kinds() and straight.completeness == "trace-tested"
    assert all(point.certificate is not None for point in straight.points)


@needs_msolve
@pytest.mark.parametrize("seed", range(3))
def test_msolve_misses_no_neuron_on_an_axis(seed):
    for axis in np.eye(2):
        problem = sh.Problem(sh.Network([axis], [[0.7], [-1.1]]), sh.Gaussian(2), 1)
        found = sh.chart(problem, method="exact", rng=seed)
        np.testing.assert_allclose(found.losses, sh.chart(problem).losses, atol=1e-9)
