"""A bias beside a norm neuron or a penalty: charts against zeros of the gradient, closed forms and limits."""

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh

#: Losses of zeros of the gradient, which is below 10⁻⁹ there, agree with the chart's to this.
SAME = 1e-7
#: A critical network's own gradient, for losses of size one.
CRITICAL = 1e-7
#: The network that stands for a limit has its loss to this.
NEAR = 1e-3
FORM = np.array([[1.0, 0.5, 0.2], [0.5, 2.0, 0.3], [0.2, 0.3, -1.0]])
OPTIONS = [
    {"norm_neuron": True},
    {"orthogonality": 0.5},
    {"norm_neuron": True, "orthogonality": 0.5},
    {"orthogonality": 0.5, "outer": [-2.0]},
    {"norm_neuron": True, "orthogonality": 0.5, "outer": [1.5]},
]


def sampled(width, seed=0, n=2, outputs=None, **options):
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(30 if outputs is None else (30, outputs))
    return sh.Problem(None, sh.Samples(rng.standard_normal((30, n)), y), width, bias=True, **options)


def form(T, width, **options):
    return sh.Problem(np.array(T), sh.Gaussian(len(T) - 1), width, bias=True, **options)


def holds_together(chart):
    """Networks have the chart's losses, tensors and no gradient."""
    for point in chart.critical:
        if not point.limit:
            problem, net = chart.problem, point.network
            assert np.linalg.norm(problem.gradient(net)) < CRITICAL * (1 + chart.losses[-1])
            assert abs(problem.loss(net) - point.loss) < SAME * (1 + point.loss)
            for own, listed in zip(
                [net.output(m).tensor() for m in range(net.outputs)], point.tensors, strict=True
            ):
                assert np.allclose(own.entries, listed.entries, atol=SAME * (1 + np.abs(own.entries).max()))


def all_zeros_are_listed(problem, starts, rng):
    chart = sh.chart(problem)
    holds_together(chart)
    found = [problem.loss(net) for net in gradient_zeros(problem, starts, rng)]
    assert found
    for loss in found:
        assert np.abs(chart.losses - loss).min() < SAME * (1 + loss)


@pytest.mark.parametrize("options", OPTIONS)
def test_zeros_of_the_gradient_are_on_the_chart(options):
    all_zeros_are_listed(sampled(1, 3, **options), 12, np.random.default_rng(0))


@pytest.mark.thorough
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_many_zeros_of_the_gradient_are_on_the_chart(options, seed):
    rng = np.random.default_rng(seed)
    all_zeros_are_listed(sampled(1, seed, **options), 100, rng)
    all_zeros_are_listed(form(FORM, 1, **options), 60, rng)
    if "outer" in options:
        options = options | {"outer": options["outer"] * 2}
        all_zeros_are_listed(sampled(2, seed, **options), 60, rng)


@pytest.mark.thorough
@pytest.mark.parametrize("T", [np.diag([1.0, 2.0, 1.0]), np.diag([3.0, 0.1, -0.2]), np.eye(3), FORM])
def test_zeros_against_special_targets(T):
    for options in OPTIONS[:2]:
        all_zeros_are_listed(form(T, 1, **options), 60, np.random.default_rng(1))


@pytest.mark.parametrize(("n", "count"), [(2, 7), (3, 10)])
def test_one_neuron_beside_a_norm_neuron_under_gaussian_data_is_proved(n, count):
    generator = np.random.default_rng(n)
    teacher = sh.Network(generator.standard_normal((n + 1, n)), bias=generator.standard_normal(n + 1))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(n), 1, norm_neuron=True, bias=True))
    assert (chart.completeness, chart.complex_count[1]) == ("proved", count)
    holds_together(chart)


@pytest.mark.thorough
def test_msolve_finds_the_same():
    problem = sampled(1, 5, norm_neuron=True)
    assert np.allclose(sh.chart(problem).losses, sh.chart(problem, "exact").losses, rtol=SAME)


def test_in_one_input_every_form_with_a_constant_is_a_network():
    chart = sh.chart(form([[2.0, 1.0], [1.0, 3.0]], 1, norm_neuron=True))
    assert chart.attained and chart.minimum.loss < SAME and chart.completeness == "proved"
    holds_together(chart)


def test_a_linear_form_is_a_limit_of_one_neuron_and_a_network_of_two():
    line = [[0.0, 1.0], [1.0, 2.0]]
    one, two = (sh.chart(form(line, width, norm_neuron=True)) for width in (1, 2))
    assert (one.attained, one.minimum.limit, one.infimum) == (False, True, 0.0)
    assert (two.attained, two.minimum.limit, two.minimum.rank) == (True, False, 2)
    holds_together(two)


@pytest.mark.parametrize(("constant", "loss"), [(-1.0, 0.5), (1.0, 0.0)])
def test_squares_have_no_negative_constant(constant, loss):
    T = np.array([[constant, 0.5, 0.2], [0.5, 2.0, 0.3], [0.2, 0.3, 1.0]])
    problem = form(T, 2, outer="ones", norm_neuron=True)
    chart = sh.chart(problem)
    assert abs(chart.infimum - loss) < SAME and chart.attained == (constant > 0)
    assert problem.loss(chart.minimum.network) < loss + NEAR
    holds_together(chart)
    assert sh.ensemble(problem, runs=5, method="lm", iterations=100).losses.min() > loss - SAME


def test_a_target_of_the_norm_alone_is_the_zero_network_and_the_norm():
    chart = sh.chart(form(np.diag([0.0, 1.5, 1.5]), 1, norm_neuron=True))
    assert chart.minimum.rank == 0 and chart.minimum.network.norm == pytest.approx(1.5)


def test_a_constant_target_needs_biases_without_bound():
    problem = form(np.diag([3.0, 0.1, -0.2]), 1, orthogonality=0.5)
    chart = sh.chart(problem)
    assert (chart.attained, chart.minimum.limit) == (False, True)
    assert problem.loss(chart.minimum.network) == pytest.approx(chart.infimum, abs=NEAR)


def test_wide_trained_networks_are_within_their_scope():
    chart = sh.chart(form(FORM, 2, orthogonality=0.5))
    assert "equal outer weights" in chart.scope and chart.minimum.kind == "global minimum"
    holds_together(chart)


@pytest.mark.parametrize(
    ("n", "norm"),
    [(1, False), *(pytest.param(2, norm, marks=pytest.mark.thorough) for norm in (False, True))],
)
def test_two_trained_neurons_of_one_weight_are_listed(n, norm):
    """Zeros of the gradient, which know no strata, end on rows only; some on those of equal weights."""
    own = np.random.default_rng(3 if norm else 1)
    T = own.standard_normal((n + 1, n + 1))
    data = sh.Samples(own.standard_normal((40, n)) + 0.3)
    problem = sh.Problem(T + T.T, data, 2, orthogonality=0.5, norm_neuron=norm, bias=True)
    chart = sh.chart(problem)
    assert (chart.completeness, chart.scope) == ("trace-tested", "")
    holds_together(chart)
    rng = np.random.default_rng(0)
    for net in gradient_zeros(problem, 20, rng, (0.3, 1.0, 2.0), evaluations=200):
        loss = problem.loss(net)
        assert np.abs(chart.losses - loss).min() < 1e-6 * (1 + loss)
    if n == 2 and not norm:
        one = [p for p in chart.points if p.rank == 2 and abs(np.diff(p.network.a)[0]) < SAME]
        assert one and all(p.kind == "saddle" for p in one)
        for point in one:  # neither orthonormal nor critical without penalty
            assert np.abs(point.network.W @ point.network.W.T - np.eye(2)).max() > NEAR


def test_fixed_weights_of_both_signs_are_refused():
    problem = sampled(2, orthogonality=0.5, outer=[1.0, -1.0])
    with pytest.raises(sh.InvalidProblem, match="biases that grow alike"):
        sh.chart(problem)
    grown = [problem.loss(sh.Network(np.zeros((2, 2)), [1.0, -1.0], bias=[t, t])) for t in (0.0, 1.0, 1e3)]
    assert np.ptp(grown) < SAME  # what the refusal says: one pair at any size


@pytest.mark.thorough
def test_two_outputs():
    problem = sampled(1, 2, n=3, outputs=2, norm_neuron=True)
    chart = sh.chart(problem)
    assert (chart.completeness, chart.complex_count[1]) == ("proved", 76)
    holds_together(chart)
    assert len(sh.ensemble(problem, runs=10, method="lm", iterations=300).match(chart).unmatched) == 0


@pytest.mark.parametrize("options", OPTIONS[:2])
def test_files_and_reports(options, tmp_path):
    chart = sh.chart(sampled(1, 7, **options))
    again = sh.load_chart(chart.save(tmp_path / "chart"))
    assert np.array_equal(again.losses, chart.losses)
    assert again.problem.loss(chart.minimum.network) == chart.minimum.loss or np.isclose(
        again.problem.loss(chart.minimum.network), chart.minimum.loss, rtol=SAME
    )
    assert "bias" in chart.report(tmp_path / "report.html", train=0).read_text(encoding="utf-8")


def test_the_signature_in_parameters():
    for options in OPTIONS[:3]:
        minimum = sh.chart(sampled(1, 3, **options)).minimum
        assert minimum.parameter_signature.negative == 0


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ([[-1.0, 0.5, 0.2], [0.5, 2.0, 0.3], [0.2, 0.3, 1.0]], {"width": 2, "outer": "ones"}),
        (-np.diag([1.0, 0.0, 0.0]), {"width": 1, "orthogonality": 2.0}),
    ],
    ids=["lowest of a wide network", "under a penalty"],
)
def test_charts_with_limits_are_saved_and_loaded(tmp_path, target, options):
    chart = sh.chart(sh.Problem(np.array(target), sh.Gaussian(2), norm_neuron=True, bias=True, **options))
    assert chart.minimum.limit and chart.minimum.escape is None
    assert str(sh.load_chart(chart.save(tmp_path / "chart"))) == str(chart)
