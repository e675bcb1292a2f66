"""Charts of polynomial activations: special inputs, widths, files, and where training ends."""

import numpy as np
import pytest

import shallows as sh

ONES = sh.Polynomial([0.5, 1.0, 1.0])  # no coefficient is zero: an equivalent power
GAP = sh.Polynomial([0.0, 1.0, 1.0])
ODD = sh.Polynomial([0.0, 1.0, 0.0, 1.0])


def samples(n, seed, labelled=True, weights=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, n))
    y = np.sin(X @ rng.standard_normal(n)) + X[:, 0] ** 2
    given = rng.integers(0, 4, 60).astype(float) if weights else None
    return sh.Samples(X, y if labelled else None, given)


def check(problem, chart):
    """Losses and gradients again, from the network alone."""
    scale = max(float(chart.losses[-1]), 1e-300)
    for point in chart.points:
        if getattr(point, "limit", False):
            continue
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-7, abs=1e-9 * scale)
        theta = np.abs(problem.pack(point.network)).max()
        assert np.abs(problem.gradient(point.network)).max() * max(theta, 1.0) <= 1e-5 * scale


@pytest.mark.parametrize("activation", [ONES, GAP, ODD, sh.Polynomial([0.0, 2.0, -1.0])])
@pytest.mark.parametrize("outer", ["free", "ones"])
@pytest.mark.parametrize("weights", [False, True])
def test_labelled_samples(activation, outer, weights):
    problem = sh.Problem(None, samples(2, 1, weights=weights), 1, activation, outer=outer)
    chart = sh.chart(problem)
    check(problem, chart)
    assert chart.completeness in ("proved", "trace-tested", "count-matched")


def test_a_quadratic_under_gaussian_data_is_proved_with_3n_plus_1_points():
    for n in (2, 3):
        rng = np.random.default_rng(n)
        target = sh.Network(rng.standard_normal((4, n)), rng.standard_normal(4), bias=rng.standard_normal(4))
        problem = sh.Problem(target, sh.Gaussian(n, np.diag(np.linspace(0.5, 2.0, n))), 1, ONES)
        chart = sh.chart(problem)
        assert (chart.completeness, chart.complex_count[1]) == ("proved", 3 * n + 1)
        check(problem, chart)


def test_widths_of_a_quadratic_are_those_of_matrices():
    """A quadratic with all coefficients at width 2 in two inputs: rank at most two of three, 7 points under N(0, I)."""
    target = sh.SymmetricTensor.from_matrix(np.array([[1.0, 0.5, -1.0], [0.5, 2.0, 0.3], [-1.0, 0.3, -1.5]]))
    problem = sh.Problem(target, sh.Gaussian(2), 3, ONES)
    chart = sh.chart(problem)
    check(problem, chart)
    assert chart.complex_count == {0: 1, 1: 7, 2: 7, 3: 1}
    assert chart.minimum.loss == pytest.approx(0.0, abs=1e-12) and chart.minimum.kind == "global minimum"
    assert chart.minimum.tensor.entries == pytest.approx(target.entries, abs=1e-9)


@pytest.mark.parametrize(
    ("activation", "bias"),
    [(ONES, False), (GAP, False), (GAP, True), (ODD, False), (sh.Polynomial([1.0, 0.0, 1.0]), False)],
)
def test_a_teacher_of_one_neuron_is_found(activation, bias):
    rng = np.random.default_rng(5)
    teacher = sh.Network(
        rng.standard_normal((1, 2)), [1.7], activation, bias=rng.standard_normal(1) if bias else None
    )
    for data in (sh.Gaussian(2), samples(2, 3, labelled=False))[1 if bias else 0 :]:
        problem = sh.Problem(teacher, data, 1, bias=bias)
        chart = sh.chart(problem)
        assert chart.minimum.loss <= 1e-16 * chart.losses[-1]
        assert chart.minimum.kind == "global minimum"
        grid = rng.standard_normal((5, 2))
        assert chart.minimum.network(grid) == pytest.approx(teacher(grid), rel=1e-7)


def test_a_constant_or_zero_target():
    for activation in (ONES, GAP):
        zero = sh.Problem(np.zeros((3, 3)), sh.Gaussian(2), 1, activation)
        chart = sh.chart(zero)
        assert [p.loss for p in chart.critical] == [0.0]
    constant = sh.Problem(np.diag([2.0, 0.0, 0.0]), sh.Gaussian(2), 1, sh.Polynomial([1.0, 0.0, 1.0]))
    assert sh.chart(constant).minimum.loss == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("activation", [ONES, GAP])
def test_units_of_the_target_do_not_matter(activation, unit):
    M = np.array([[1.0, 0.5, -1.0], [0.5, 2.0, 0.3], [-1.0, 0.3, -1.5]])
    charts = [sh.chart(sh.Problem(scale * M, samples(2, 2, False), 1, activation)) for scale in (1.0, unit)]
    assert charts[1].losses / unit**2 == pytest.approx(charts[0].losses, rel=1e-8)
    assert charts[0].kinds() == charts[1].kinds()


def test_a_neuron_at_infinity_is_a_limit(tmp_path):
    """2x² under symmetric data is the limit of a(1 + wx + w²x²), aw² = 2, w → ∞, and no network."""
    chart = sh.chart(sh.Problem(np.diag([0.0, 2.0]), sh.Gaussian(1), 1, sh.Polynomial([1.0, 1.0, 1.0])))
    assert chart.minimum.limit and chart.attained is False and chart.minimum.loss < 1e-20
    assert sh.load_chart(chart.save(tmp_path / "chart")).minimum.limit


@pytest.mark.parametrize("eigenvalues", [[1.0, 2.0], [1.0, 2.0, 3.0]])
def test_the_zero_function_is_no_family_of_a_neuron(eigenvalues):
    """a(z + z²), y = xᵀTx, T > 0: with w = ru the best a leaves E y² − r² q(u)²/(1 + 3r²), q = tr T + 2 uᵀTu > 0, which
    falls with r: no neuron is critical but w = 0, where a is anything."""
    problem = sh.Problem(np.diag(eigenvalues), sh.Gaussian(len(eigenvalues)), 1, GAP)
    chart = sh.chart(problem)
    assert not chart.families
    assert all(point.limit for point in chart.points if point.rank)
    least = 2 * np.sum(np.square(eigenvalues)) + np.sum(eigenvalues) ** 2
    least -= (np.sum(eigenvalues) + 2 * max(eigenvalues)) ** 2 / 3
    assert chart.losses[0] == pytest.approx(least, rel=1e-9)


def test_files(tmp_path):
    for activation, outer, bias in ((ONES, "free", False), (GAP, "free", True), (GAP, "ones", False)):
        problem = sh.Problem(None, samples(1, 4), 1, activation, outer=outer, bias=bias)
        chart = sh.chart(problem)
        again = sh.load_chart(chart.save(tmp_path / "chart"))
        assert again.losses.tolist() == chart.losses.tolist()
        assert again.critical[0].tensor.entries.tolist() == chart.critical[0].tensor.entries.tolist()


def test_training_ends_on_the_chart():
    for activation, outer in ((ONES, "free"), (GAP, "ones")):
        problem = sh.Problem(None, samples(2, 6), 1, activation, outer=outer)
        chart = sh.chart(problem)
        runs = sh.ensemble(problem, runs=30, method="lm", rng=0)
        ends = runs.losses[runs.converged]
        gaps = np.abs(ends[:, None] - chart.losses[None]).min(axis=1)
        assert len(ends) and gaps.max() <= 1e-7 * chart.losses[-1]


@pytest.mark.parametrize("outer", ["free", "ones"])
@pytest.mark.parametrize("bias", [False, True])
def test_the_exact_engine_agrees(outer, bias):
    for activation in (GAP, sh.Polynomial([1.0, 0.0, 1.0])):
        problem = sh.Problem(None, samples(1, 8), 1, activation, outer=outer, bias=bias)
        charts = [sh.chart(problem, method) for method in ("homotopy", "exact")]
        assert charts[1].losses == pytest.approx(charts[0].losses, rel=1e-9)
        assert charts[1].kinds() == charts[0].kinds() and charts[1].complex_count == charts[0].complex_count
        assert charts[1].completeness in ("count-matched", "proved")  # in one input the target is a network


def test_what_has_no_isolated_networks_is_refused_with_the_reason():
    with pytest.raises(sh.InvalidProblem, match="Infinitely many networks"):
        cubic = sh.Polynomial([0.0, 1.0, 0.0, 1.0])
        sh.chart(sh.Problem(sh.Network(np.eye(2), None, cubic), sh.Gaussian(2), 3, bias=True))


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (sh.Gaussian(2, [[1.0, 1.0], [1.0, 1.0]]), {}),
        (sh.Sphere(2), {"outer": [0.5, 1.0]}),
        (sh.IID.rademacher(2), {"bias": True}),
        (sh.Samples([[1.0, 2.0], [2.0, 4.0], [-1.0, -2.0], [3.0, 6.0], [0.5, 1.0], [5.0, 10.0]]), {}),
    ],
    ids=["singular covariance", "sphere", "±1", "samples on a line"],
)
@pytest.mark.parametrize("coefficients", [(1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (1.0, 1.0, 1.0)])
def test_data_on_which_a_polynomial_of_the_students_vanishes_are_refused_with_it(data, options, coefficients):
    if coefficients[0] == 0.0 and isinstance(data, sh.Sphere):
        data = sh.Gaussian(2, np.zeros((2, 2)))
    teacher = sh.Network([[1.0, 0.5]], activation=sh.Polynomial(list(coefficients)))
    with pytest.raises(sh.InvalidProblem, match=r"students make is degenerate: .*x\d.* vanishes on the data"):
        sh.chart(sh.Problem(teacher, data, 2, **options))
