"""Trained weights of every special kind, and what is said of them; held against formulas, signs and brute force."""

import json

import numpy as np
import pytest

import shallows as sh

TWO_SIGNS = sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1)
WIDE = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=2)


def moved(net, by, seed=0):
    rng = np.random.default_rng(seed)
    return sh.Network(net.W + by * rng.standard_normal(net.W.shape), net.a, net.activation)


def lowest_nearby(problem, net, reach, count=4000):
    """The lowest loss of random networks near this one: brute force."""
    theta = problem.pack(net)
    places = theta + reach * np.random.default_rng(1).standard_normal((count, len(theta)))
    return float(np.min(problem.value(places)))


def test_a_global_minimum():
    found = sh.diagnose(WIDE, sh.Network(np.eye(2), a=[2.0, 1.0]))
    assert found.kind == "global minimum" and found.lowest == 0.0 and found.is_critical
    assert found.valley.leaf.number == 0 and not found.escape
    assert found.listed.kind == "global minimum" and found.certificate.signature_certified


def test_a_saddle_has_a_way_out():
    problem = sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), width=2)
    saddle = sh.chart(problem).points[1]
    found = sh.diagnose(problem, moved(saddle.network, 1e-6))
    assert found.kind == "saddle" and found.listed.kind == "saddle"
    losses = found.escape.path.losses(50)
    assert losses[-1] < losses[0] and np.all(np.diff(losses) <= 1e-12)


def test_the_zero_network_is_decided_by_no_curvature():
    found = sh.diagnose(WIDE, sh.Network(np.zeros((2, 2)), a=[0.0, 0.0]))
    assert found.kind == "degenerate" and found.critical.distance == 0.0
    assert found.listed.kind == "saddle" and found.escape.path.losses(2)[-1] < 1e-9
    assert lowest_nearby(WIDE, found.network, 0.1) < found.loss  # it is no minimum


def test_the_trap_of_example_2_1_is_a_minimum_with_a_way_out():
    trap = sh.Network(np.zeros((2, 2)), a=[-1.0, -2.0])
    found = sh.diagnose(WIDE, trap)
    assert found.kind == "local minimum" and found.loss == 19.0
    assert lowest_nearby(WIDE, trap, 0.05) >= found.loss - 1e-12
    assert found.listed.kind == "saddle"  # in function space it is none
    assert found.escape.theorem == "Theorem 12"
    assert any("Corollary 17" in note for note in found.notes)


def test_the_spurious_minimum_of_six_relu_neurons_is_proved():
    problem = sh.relu_problem(6)
    minimum = sh.symmetric_minimum(6, [1, 5]).network()
    found = sh.diagnose(problem, moved(minimum, 1e-5))
    assert found.kind == "local minimum" and found.minimum.is_local
    assert found.minimum.half_loss_bounds[0] == pytest.approx(0.0250805810, abs=1e-9)
    assert found.spectrum.proved and found.spectrum.signature == (36, 0, 0)
    assert found.critical.distance == pytest.approx(6e-5, rel=0.5)
    assert found.valley is None and any("no complete list" in note for note in found.notes)
    assert not found.escape and "strict minimum" in found.escape.reason


def test_a_relu_saddle_has_a_straight_way_out():
    problem = sh.relu_problem(2)
    saddle = sh.nearest_critical(problem, sh.Network([[0.8, 0.8], [0.81, 0.8]], activation=sh.ReLU())).network
    found = sh.diagnose(problem, saddle)
    assert found.kind == "saddle" and found.escape.theorem == "strict saddle"
    assert np.all(np.diff(found.escape.path.losses(300)) < 0)
    assert any("looked at, not proved" in note for note in found.notes)


def test_far_from_every_critical_point():
    found = sh.diagnose(WIDE, sh.Network([[3.0, 1.0], [1.0, 5.0]], a=[2.0, 1.0]))
    assert found.kind == "not critical" and found.certificate is None and found.listed is None
    assert found.gap > 10 and found.valley.leaf.number == 0


def test_a_zero_relu_neuron_has_no_derivative():
    found = sh.diagnose(sh.relu_problem(2), sh.Network(np.zeros((2, 2)), activation=sh.ReLU()))
    assert found.kind == "not differentiable"
    assert found.gradient_norm is None and found.spectrum is None and found.critical is None
    assert found.loss == pytest.approx(1 + 1 / np.pi)
    with pytest.raises(sh.InvalidProblem, match="no spectrum"):
        found.figure()


@pytest.mark.parametrize("seed", range(8))
def test_below_the_join_the_sign_tells_the_valley(seed):
    """One quadratic neuron against diag(2, −1): the signs of a meet only at f = 0, loss 11, and not below."""
    rng = np.random.default_rng(seed)
    tree = sh.chart(TWO_SIGNS).connections()
    net = sh.Network(0.3 * rng.standard_normal((1, 2)), a=[rng.choice([-1.0, 1.0])])
    valley = tree.valley(net)
    if TWO_SIGNS.loss(net) < 11:
        assert valley.leaves == (0 if net.a[0] > 0 else 1,)
        assert valley.barrier == (TWO_SIGNS.loss(net) if net.a[0] > 0 else 11.0)
    else:
        assert valley.leaves == (0, 1) and valley.height == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_gradient_flow_ends_in_the_valley(seed):
    """Flow never rises: its end is one of the leaves of the sublevel set that the tree names."""
    problem = sh.Problem(np.diag([3.0, 2.0, -1.0]), sh.Gaussian(3), width=2)
    rng = np.random.default_rng(seed)
    start = sh.Network(rng.standard_normal((2, 3)), a=rng.standard_normal(2))
    tree = sh.chart(problem).connections()
    end = sh.descend(problem, start, method="flow")
    reached = [leaf.number for leaf in tree.leaves if abs(leaf.loss - end.loss) < 1e-6]
    assert set(reached) <= set(tree.valley(start).leaves)
    assert tree.valley(end.network).leaf.number in tree.valley(start).leaves


@pytest.mark.parametrize(
    "problem",
    [
        sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1, norm_neuron=True),
        sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=2, outer="ones", orthogonality=0.1),
        sh.Problem(np.eye(3), sh.Frobenius(3), width=1),
        sh.Problem(sh.Network([[1.0]], bias=[1.0]), sh.Gaussian(1), width=1, bias=True),
        sh.Problem(sh.Network(np.eye(2), a=np.ones((2, 2))), sh.Gaussian(2), width=2),
        sh.Problem(sh.Network(np.eye(2), activation=sh.Smooth("tanh")), sh.Gaussian(2), width=2),
        sh.Problem(sh.Network(np.eye(2), activation=sh.Polynomial([0, 1, 1])), sh.Gaussian(2), width=1),
        sh.Problem(
            sh.Network(np.eye(2), activation=sh.ReLU(), bias=[0.1, 0.2]), sh.Gaussian(2), 2, bias=True
        ),
        sh.Problem(None, sh.Samples(np.c_[np.arange(5.0), np.ones(5)], np.arange(5.0)), width=1),
    ],
    ids=["norm", "penalty", "family", "bias", "outputs", "smooth", "polynomial", "relu-bias", "samples"],
)
def test_every_kind_of_problem_has_a_page(problem, tmp_path):
    net = problem.unpack(np.cos(np.arange(problem.size)))
    found = sh.diagnose(problem, net)
    assert found.loss == problem.loss(net)
    assert "Diagnosis" in repr(found) and found.kind in repr(found)
    document = json.loads(found.save(tmp_path / "d").read_text(encoding="utf-8"))
    assert document["kind"] == found.kind and document["loss"] == found.loss
    assert found.kind in found.report(tmp_path / "d.html").read_text(encoding="utf-8")


def test_a_chart_can_be_given_or_refused():
    net = sh.Network([[0.1, 0.4]], a=[-1.0])
    assert sh.diagnose(TWO_SIGNS, net, chart=sh.chart(TWO_SIGNS)).valley.leaf.number == 1
    without = sh.diagnose(TWO_SIGNS, net, chart=False)
    assert without.valley is None and without.chart is None
    sampled = sh.chart(TWO_SIGNS, method="descent")
    assert sh.diagnose(TWO_SIGNS, net, chart=sampled).chart is None
    with pytest.raises(sh.InvalidProblem, match="chart is"):
        sh.diagnose(TWO_SIGNS, net, chart="yes")


@pytest.mark.parametrize(
    ("net", "says"),
    [
        (sh.Network(np.eye(3)), "width 3"),
        (sh.Network([[1.0, 0.0]], activation=sh.ReLU()), "activation"),
        (np.eye(2), "Expected a Network"),
    ],
)
def test_strangers_are_refused(net, says):
    with pytest.raises(sh.InvalidProblem, match=says):
        sh.diagnose(TWO_SIGNS, net)


def test_nan_is_refused_where_networks_are_made():
    with pytest.raises(sh.InvalidProblem, match="NaN"):
        sh.diagnose(TWO_SIGNS, sh.Network([[np.nan, 0.0]]))


def test_two_neurons_with_two_outputs_are_charted():
    W, a = np.array([[1.0, 0.5], [-0.3, 1.0]]), np.array([[1.0, 0.4], [-0.5, 0.8]])
    problem = sh.Problem(sh.Network(W, a), sh.Gaussian(2), 2)
    found = sh.diagnose(problem, sh.Network(W, a))
    assert found.chart is not None and found.kind == "global minimum"


@pytest.mark.parametrize("asked", [None, True])
def test_a_chart_of_three_neurons_with_three_outputs_is_stopped_and_the_page_says_so(asked, tmp_path):
    """It would take hours, which nobody can tell beforehand; the weights are diagnosed all the same."""
    rng = np.random.default_rng(0)
    teacher = sh.Network(rng.standard_normal((3, 3)), rng.standard_normal((3, 3)))
    problem = sh.Problem(teacher, sh.Gaussian(3), 3)
    start = sh.Network(teacher.W + 0.05 * rng.standard_normal((3, 3)), teacher.a)
    trained = sh.descend(problem, start, method="lbfgs").network
    with sh.budget(seconds=1.0):
        found = sh.diagnose(problem, trained, chart=asked)
    assert found.chart is None and found.valley is None
    assert found.kind == "global minimum" and found.loss < 1e-9 and found.spectrum is not None
    (note,) = [note for note in found.notes if "stopped" in note]
    for words in ("after 1 s", "other critical points", "valley", "nothing was sampled", "sh.budget"):
        assert words in note
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The chart was stopped after 1 s" in page
    json.loads(found.save(tmp_path / "page").read_text(encoding="utf-8"))


def test_a_stopped_chart_leaves_nothing_behind():
    """What was found until then is no start for the next chart."""
    rng = np.random.default_rng(1)
    problem = sh.Problem(sh.Network(np.eye(2), rng.standard_normal((2, 2))), sh.Gaussian(2), 2)
    net = problem.unpack(rng.standard_normal(problem.size))
    with sh.budget(seconds=0.05):
        stopped = sh.diagnose(problem, net)
    after, twin = sh.diagnose(problem, net), sh.chart(problem)
    assert stopped.chart is None and after.chart.completeness == twin.completeness != "sampled"
    np.testing.assert_allclose(after.chart.losses, twin.losses, atol=1e-12)


def test_the_nearest_point_of_a_relu_chart_is_found_by_its_function():
    """Distances against the mean over many samples, and neurons in another order are the same function."""
    problem = sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), 2)
    chart = sh.chart(problem)
    saddle = chart.points[1]
    swapped = sh.Network(saddle.network.W[::-1], saddle.network.a[::-1], sh.ReLU())
    found = sh.diagnose(problem, moved(swapped, 1e-6), chart=chart)
    assert found.kind == "saddle" and found.point is saddle and found.gap < 1e-4
    assert found.listed is saddle and found.certificate is not None
    far = sh.Network([[1.0, 0.7], [-0.5, 0.4]], [0.6, -0.8], sh.ReLU())
    gap, X = sh.diagnose(problem, far, chart=chart).gap, sh.Gaussian(2).sample(200_000, 0)
    seen = min(np.sqrt(np.mean((far(X) - point.network(X)) ** 2)) for point in chart.points)
    assert gap == pytest.approx(seen, rel=0.02)


def test_the_nearest_point_of_a_polynomial_on_samples():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 2))
    samples = sh.Samples(X, X[:, 0] + X[:, 1] ** 2, weights=rng.uniform(0.5, 2.0, 40))
    problem = sh.Problem(None, samples, 1, sh.Polynomial([0, 1, 1]))
    net = problem.unpack([0.4, 0.9, 1.1])
    found = sh.diagnose(problem, net)
    w = samples.weights / samples.weights.sum()
    gaps = [np.sqrt(w @ (net(X) - point.network(X)) ** 2) for point in found.chart.points if not point.limit]
    assert found.gap == pytest.approx(min(gaps))
