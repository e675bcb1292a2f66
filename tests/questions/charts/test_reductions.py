"""Norm neurons, orthogonality penalties and metrics that vanish where students cannot see it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.msolve import program
from tests.oracle.networks import OneNeuron

import shallows as sh

needs_msolve = pytest.mark.skipif(program() is None, reason="msolve is not installed")
#: What a problem of one neuron may have, beside labels on samples.
KINDS = {
    "norm": {"norm": True},
    "norm, a fixed": {"norm": True, "outer": 2.0},
    "norm, a negative": {"norm": True, "outer": -0.5},
    "penalty": {"outer": 2.0, "gamma": 0.5},
    "penalty, a negative": {"outer": -1.0, "gamma": 3.0},
    "norm and penalty": {"norm": True, "outer": 1.5, "gamma": 0.25},
}


def rational(n: int, seed: int):
    rng = np.random.default_rng([n, seed])
    return rng.integers(-4, 5, (14, n)).astype(float), rng.integers(-6, 7, 14).astype(float)


def problem_of(oracle: OneNeuron, width: int = 1) -> sh.Problem:
    outer = "free" if oracle.outer is None else [oracle.outer] * width
    data = sh.Samples(oracle.X, oracle.Y[:, 0])
    return sh.Problem(None, data, width, None, outer, oracle.norm, oracle.gamma)


def assert_critical(problem: sh.Problem, chart: sh.Chart) -> None:
    """Every network is critical with the loss that the chart gives it, by the problem's own derivatives."""
    unit = problem.loss(problem.unpack(np.zeros(problem.size)))
    for item in chart.critical:
        theta = problem.pack(item.network)
        assert abs(problem.loss(item.network) - item.loss) <= 1e-9 * unit
        slope = np.abs(problem.gradient(item.network)).max() * np.abs(theta).max(initial=0.0)
        assert slope <= 1e-7 * (unit + item.loss)
        np.testing.assert_allclose(
            item.network.tensor().entries, item.tensor.entries, atol=1e-9 * np.sqrt(unit)
        )


def agrees_with_msolve(kind: str, n: int, seed: int) -> bool:
    X, y = rational(n, seed)
    oracle = OneNeuron(X, y[:, None], **KINDS[kind])
    found = oracle.critical()
    if found is None:
        return False
    problem = problem_of(oracle)
    chart = sh.chart(problem)
    assert chart.completeness == "proved"
    assert_critical(problem, chart)
    theirs = []
    for a, norm, u in found:
        a = a or [oracle.outer]
        norm = norm[0] if norm else 0.0
        theirs.append(a[0] * np.outer(u, u) + norm * np.eye(n))
    mine = [point.tensor.to_matrix() for point in chart.points if point.rank == 1]
    distinct = len(theirs) if oracle.outer is None else len(theirs) // 2  # ±u
    assert len(mine) == distinct
    for S in theirs:
        assert min(np.abs(S - T).max() for T in mine) <= 1e-7 * (1 + np.abs(S).max())
    return True


@needs_msolve
@pytest.mark.parametrize("kind", KINDS)
def test_one_neuron_has_the_points_that_msolve_finds(kind):
    assert agrees_with_msolve(kind, 2, 0)


@needs_msolve
@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 3])
def test_many_neurons_have_the_points_that_msolve_finds(kind, n):
    assert sum(agrees_with_msolve(kind, n, seed) for seed in range(1, 6)) == 5


@pytest.mark.parametrize(("n", "generic", "gaussian"), [(2, 4, 2), (3, 13, 3)])
def test_how_many_points_there_are_beside_a_norm_neuron(n, generic, gaussian, generator):
    T = generator.standard_normal((n, n))
    samples = sh.Samples(generator.standard_normal((40, n)))
    for data, count in ((samples, generic), (sh.Gaussian(n), gaussian)):
        chart = sh.chart(sh.Problem(T + T.T, data, 1, norm_neuron=True))
        assert (chart.complex_count[1], chart.completeness) == (count, "proved")


@pytest.fixture
def generator():
    return np.random.default_rng(5)


def test_the_closed_form_beside_a_norm_neuron():
    """c = −Σ/(n−r) and the loss is 2(n−r) times the variance of the eigenvalues that are left out."""
    sigma = np.array([4.0, 0.75, -2.0, 0.5])
    chart = sh.chart(sh.Problem(np.diag(sigma), sh.Gaussian(4), 4, norm_neuron=True))
    expected = [2 * (4 - k) * np.var(np.delete(sigma, kept)) for k in range(4) for kept in _subsets(4, k)]
    np.testing.assert_allclose(chart.losses, np.sort(expected), atol=1e-12)
    assert chart.count("global minimum") == 4 and chart.completeness == "proved"
    by_homotopy = sh.chart(sh.Problem(np.diag(sigma), sh.Gaussian(4), 2, norm_neuron=True), "homotopy")
    two = [loss for k in range(3) for loss in _losses(sigma, k)]
    np.testing.assert_allclose(by_homotopy.losses, np.sort(two), atol=1e-9)


def _subsets(n, k):
    from itertools import combinations

    return [list(kept) for kept in combinations(range(n), k)]


def _losses(sigma, k):
    return [2 * (len(sigma) - k) * np.var(np.delete(sigma, kept)) for kept in _subsets(len(sigma), k)]


@pytest.mark.parametrize("law", ["Gaussian", "Frobenius"])
@pytest.mark.parametrize("gamma", [1e-9, 0.7, 1e9])
def test_the_closed_form_under_a_penalty(law, gamma):
    """Against the minimum over diag(s) ≥ 0 of the same loss, by enumeration of supports in the eigenbasis."""
    t = np.array([3.0, 1.5, -1.0])
    data = {"Gaussian": sh.Gaussian(3), "Frobenius": sh.Frobenius(3)}[law]
    problem = sh.Problem(np.diag(t), data, 3, outer="ones", orthogonality=gamma)
    chart = sh.chart(problem)
    assert chart.method == "closed-form" and chart.completeness == "proved"
    assert_critical(problem, chart)
    two, one = (2.0, 1.0) if law == "Gaussian" else (1.0, 0.0)
    H = two * np.eye(3) + one + gamma * np.eye(3)
    right = two * t + one * t.sum() + gamma
    expected = []
    for kept in [kept for k in range(4) for kept in _subsets(3, k)]:
        s = np.zeros(3)
        s[kept] = np.linalg.solve(H[np.ix_(kept, kept)], right[kept])
        if all(s[kept] > 0):
            gap = s - t
            expected.append(two * gap @ gap + one * gap.sum() ** 2 + gamma * np.sum((s - 1) ** 2))
    np.testing.assert_allclose(chart.losses, np.sort(expected), rtol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"norm_neuron": True},
        {"norm_neuron": True, "outer": [1.0, -1.0]},
        {"outer": "ones", "orthogonality": 0.5},
    ],
    ids=["norm", "signs", "penalty"],
)
def test_descents_end_on_the_chart(options, generator):
    X, T = generator.standard_normal((30, 3)), generator.standard_normal((3, 3))
    problem = sh.Problem(T + T.T, sh.Samples(X), 2, **options)
    chart = sh.chart(problem)
    assert_critical(problem, chart)
    runs = sh.ensemble(problem, runs=100, method="lm", rng=1)
    assert runs.ended.sum() > 90 and not len(runs.match(chart).unmatched)


@pytest.mark.parametrize(
    "T", [np.eye(3), np.zeros((3, 3)), -2 * np.eye(3)], ids=["identity", "zero", "minus"]
)
@pytest.mark.parametrize(
    "data", [sh.Gaussian(3), sh.IID.uniform(3), sh.Gaussian(3, np.diag([1.0, 2.0, 3.0]))]
)
def test_a_multiple_of_the_norm_is_left_to_the_norm_neuron(T, data):
    chart = sh.chart(sh.Problem(T, data, 2, norm_neuron=True))
    assert len(chart.critical) == 1 and chart.completeness == "proved"
    assert chart.minimum.kind == "global minimum" and chart.minimum.network.norm == pytest.approx(T[0, 0])


@pytest.mark.parametrize("data", [sh.Gaussian(3), sh.IID.uniform(3)])
def test_repeated_eigenvalues_fall_to_lower_rank(data):
    chart = sh.chart(sh.Problem(np.diag([2.0, 2.0, 1.0]), data, 3, norm_neuron=True))
    assert chart.completeness == "proved"
    assert [p.rank for p in chart.critical if p.kind == "global minimum"] == [1, 2]
    assert chart.minimum.loss <= 1e-20


def test_certificates_hold_the_true_point(generator):
    """S and ν solved again in 60 digits, from the float entries that the chart gives."""
    import mpmath

    X, T = generator.integers(-3, 4, (12, 3)).astype(float), generator.standard_normal((3, 3))
    problem = sh.Problem(T + T.T, sh.Samples(X), 1, norm_neuron=True)
    for point in sh.chart(problem).points:
        if point.rank == 0:
            continue
        with mpmath.workdps(60):
            w, sign, norm = _refined(X, T + T.T, point.network)
            true = sign * np.outer(w, w) + norm * np.eye(3, dtype=object)
            gap = max(abs(x) for x in (true - point.tensor.to_matrix()).ravel())
        assert point.certificate is not None and gap <= point.certificate.radius


def _refined(X, T, net):
    """Newton's method on the gradient in (w, ν), a = ±1, in mpmath."""
    import mpmath

    rows = [[mpmath.mpf(float(v)) for v in x] for x in X]
    labels = [sum(x[i] * mpmath.mpf(float(T[i, j])) * x[j] for i in range(3) for j in range(3)) for x in rows]
    sign = float(np.sign(net.a[0]))
    start = [float(v) for v in net.W[0] * np.sqrt(abs(net.a[0]))] + [float(net.norm)]

    def slope(*theta):
        w, nu = theta[:3], theta[3]
        total = [mpmath.mpf(0)] * 4
        for x, y in zip(rows, labels, strict=True):
            z, square = sum(a * b for a, b in zip(w, x, strict=True)), sum(v * v for v in x)
            gap = sign * z**2 + nu * square - y
            for k in range(3):
                total[k] += gap * sign * 2 * z * x[k]
            total[3] += gap * square
        return total

    found = mpmath.findroot(slope, start, tol=mpmath.mpf(10) ** -90)
    return np.array(list(found[:3]), dtype=object), sign, found[3]


def test_a_chart_with_a_norm_neuron_is_stored(tmp_path):
    problem = sh.Problem(np.diag([3.0, 1.0, -1.0]), sh.IID.laplace(3), 2, norm_neuron=True)
    chart = sh.chart(problem)
    again = sh.load_chart(chart.save(tmp_path / "norm"))
    assert again.problem.norm_neuron and [p.network.norm for p in again.points] == [
        p.network.norm for p in chart.points
    ]
    assert again.to_dataframe().equals(chart.to_dataframe())
    assert chart.report(tmp_path / "norm.html", train=5).stat().st_size > 10_000


def test_a_penalty_on_networks_that_compute_nothing_is_refused():
    with pytest.raises(sh.InvalidProblem, match="but 0"):
        sh.chart(sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), 2, orthogonality=1.0, outer=[0.0, 0.0]))


def test_a_penalty_on_cubic_neurons_is_refused():
    teacher = sh.Network([[1.0, 2.0]], activation=sh.Power(3))
    with pytest.raises(sh.InvalidProblem, match="WᵀW"):
        sh.chart(sh.Problem(teacher, sh.Gaussian(2), 1, outer="ones", orthogonality=1.0))


def cone(count: int, n: int, generator) -> np.ndarray:
    """Samples on x₁² = x₂² + … + x_n²."""
    X = generator.standard_normal((count, n))
    X[:, 0] = np.linalg.norm(X[:, 1:], axis=1)
    return X


def test_directions_that_students_cannot_see_do_no_harm(generator):
    """x₁² − x₂² − x₃² − x₄² vanishes on the samples; it has three equal signs: students of rank 1 and 2 miss it."""
    X = cone(40, 4, generator)
    y = generator.standard_normal(40)
    for width in (1, 2):
        problem = sh.Problem(None, sh.Samples(X, y), width)
        chart = sh.chart(problem)
        assert chart.completeness in ("proved", "count-matched")
        assert_critical(problem, chart)
        runs = sh.ensemble(problem, runs=60, method="lm", rng=0)
        assert not len(runs.match(chart).unmatched)
    with pytest.raises(sh.InvalidProblem, match="width 3 and more can see"):
        sh.chart(sh.Problem(None, sh.Samples(X, y), 3))


def test_data_on_a_sphere_with_a_bias(generator):
    """1 − ‖x‖² vanishes on a sphere: seen from rank n on."""
    X = generator.standard_normal((30, 2))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    problem = sh.Problem(None, sh.Samples(X, generator.standard_normal(30)), 1, bias=True)
    chart = sh.chart(problem)
    unit = problem.loss(problem.unpack(np.zeros(problem.size)))
    assert all(np.abs(problem.gradient(p.network)).max() <= 1e-6 * unit for p in chart.points)
    with pytest.raises(sh.InvalidProblem, match="degenerate"):
        sh.chart(sh.Problem(None, problem.data, 2, bias=True))
