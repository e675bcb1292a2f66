"""Orthogonality penalties with outer weights that differ or are trained: msolve, the reduced problem, descents."""

from fractions import Fraction

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh
from shallows.questions.charts.penalty.chart import penalised_chart
from shallows.questions.charts.penalty.mirrored import MirroredEquations
from shallows.questions.charts.penalty.students import (
    Group,
    PenalisedEquations,
    trained_strata,
    zero_diagonal,
)


def matrix(n, seed):
    T = np.random.default_rng(seed).integers(-4, 5, (n, n)) / 2
    return T + T.T


def metric(n, seed):
    N = n * (n + 1) // 2
    A = np.random.default_rng(seed).integers(-2, 3, (N, N)) / 2
    return sh.Metric(n, 2, A @ A.T + np.eye(N))


def on_the_chart(problem, chart, runs):
    found = sh.ensemble(problem, runs=runs, method="lbfgs", tolerance=1e-9)
    losses = np.array(found.losses)[found.converged]
    assert len(losses)
    for loss in losses:
        assert np.abs(chart.losses - loss).min() <= 1e-9 * (1 + abs(loss))
    assert losses.min() >= chart.losses[0] - 1e-9


@pytest.mark.parametrize("outer", [[1.0, -1.0], [2.0, -1.0], "free"])
@pytest.mark.parametrize("data", [sh.Gaussian(2), metric(2, 3)])
def test_points_are_critical_and_descents_end_on_them(outer, data):
    problem = sh.Problem(matrix(2, 5), data, 2, outer=outer, orthogonality=0.75)
    chart = sh.chart(problem)
    assert chart.completeness in ("trace-tested", "count-matched")
    for point in chart.points:
        assert np.abs(problem.gradient(point.network)).max() < 1e-8
        assert abs(problem.loss(point.network) - point.loss) <= 1e-9 * (1 + point.loss)
    assert all(point.certificate is not None for point in chart.points)
    assert chart.minimum.kind == "global minimum" and chart.attained
    on_the_chart(problem, chart, 30)


def test_equal_weights_are_those_of_the_reduced_problem():
    """The other reduction, a shifted metric on matrices of bounded rank, shares no equations with pairs."""
    for data in (sh.Gaussian(2), metric(2, 1)):
        problem = sh.Problem(matrix(2, 4), data, 2, outer="ones", orthogonality=0.5)
        np.testing.assert_allclose(
            penalised_chart(problem, sh.chart, True, 0, False, "auto").losses,
            sh.chart(problem).losses,
            atol=1e-10,
        )


def polynomials(problem):
    """∇L as exact polynomials in w₁₁, …, w_rn (a fixed), expanded by brute force from the definition."""
    from shallows.mathematics.exact.polynomials import scaled, times, total

    n, r = problem.n, problem.width
    size = r * n
    variable = [
        [{tuple(int(k == i * n + p) for k in range(size)): Fraction(1)} for p in range(n)] for i in range(r)
    ]
    none = (0,) * size
    weights = [Fraction(a) for a in problem.outer[0].tolist()]
    T = problem.target_tensor().to_matrix()
    gram = problem.gram()
    pairs = [(p, q) for p in range(n) for q in range(p, n)]

    def gaps(factors, target):
        return [
            total(
                [scaled(times(variable[i][p], variable[i][q]), factors[i]) for i in range(r)]
                + [{none: -Fraction(float(target[p, q]))}]
            )
            for p, q in pairs
        ]

    first, second = gaps(weights, T), gaps([Fraction(1)] * r, np.eye(n))
    loss = [
        scaled(times(first[k], first[m]), Fraction(float(gram[k, m]))) for k in range(3) for m in range(3)
    ]
    gamma = Fraction(problem.orthogonality)
    loss += [
        scaled(times(e, e), gamma * (1 if p == q else 2)) for e, (p, q) in zip(second, pairs, strict=True)
    ]
    value = total(loss)
    equations = []
    for x in range(size):
        slope = {}
        for key, c in value.items():
            if key[x]:
                lower = tuple(k - (j == x) for j, k in enumerate(key))
                slope[lower] = slope.get(lower, Fraction(0)) + c * key[x]
        equations.append({key: c for key, c in slope.items() if c})
    return equations


@pytest.mark.parametrize("seed", [0, 1])
def test_mixed_weights_agree_with_msolve(seed):
    msolve = pytest.importorskip("shallows.mathematics.exact.msolve")
    problem = sh.Problem(matrix(2, seed), metric(2, seed + 7), 2, outer=[1.0, -1.0], orthogonality=0.5)
    chart = sh.chart(problem)
    try:
        roots = msolve.real_roots(polynomials(problem), bits=128, timeout=60)
    except sh.MissingExtra:
        pytest.skip("msolve is not installed")
    losses = {round(problem.loss(problem.unpack(row)), 8) for row in roots.points}
    assert losses == {round(float(loss), 8) for loss in chart.losses}


def test_a_repeated_weight_of_both_signs_and_a_norm_neuron():
    problem = sh.Problem(matrix(2, 8), metric(2, 2), 3, outer=[1.0, 1.0, -1.0], orthogonality=0.7)
    chart = sh.chart(problem)
    on_the_chart(problem, chart, 20)
    with_norm = sh.Problem(matrix(3, 8), sh.Gaussian(3), 1, outer="free", orthogonality=0.7, norm_neuron=True)
    chart = sh.chart(with_norm)
    assert max(np.abs(with_norm.gradient(p.network)).max() for p in chart.points) < 1e-8
    on_the_chart(with_norm, chart, 20)


def test_what_is_refused_says_why():
    with pytest.raises(sh.InvalidProblem, match="Infinitely many networks"):
        sh.chart(sh.Problem(np.eye(2), sh.Gaussian(2), 4, outer=[1.0, 2.0, -1.0, 3.0], orthogonality=1.0))
    with pytest.raises(sh.InvalidProblem, match="pairs"):
        sh.chart(sh.Problem(np.eye(2), sh.Gaussian(2), 2, orthogonality=1.0), method="exact")


def zeros_of_the_gradient(problem, starts, seed=0):
    """Losses of critical networks, saddles too: least squares on ∇L from random weights, which knows no strata."""
    found = gradient_zeros(problem, starts, np.random.default_rng(seed), (0.3, 1.0, 2.0), evaluations=200)
    return np.array([problem.loss(network) for network in found])


def descends(problem, point):
    """Whether the loss falls from next to a point, below its own: higher orders than the second."""
    from scipy.optimize import minimize

    rng, theta = np.random.default_rng(0), problem.pack(point.network)
    for _ in range(20):
        start = theta + 0.05 * rng.standard_normal(len(theta))
        if minimize(problem.value_and_gradient, start, jac=True).fun < point.loss - 1e-6 * (1 + point.loss):
            return True
    return False


def everything_holds(problem, chart, starts):
    """Rows are critical networks with the loss and the kind they say, and every zero of the gradient is a row."""
    for point in chart.critical:
        assert np.abs(problem.gradient(point.network)).max() < 1e-7 * (1 + point.loss)
        assert abs(problem.loss(point.network) - point.loss) <= 1e-8 * (1 + point.loss)
        eigenvalues = np.linalg.eigvalsh(problem.hessian(point.network))
        negative = bool(eigenvalues[0] < -1e-7 * np.abs(eigenvalues).max())
        assert point.kind == "saddle" or not negative
        assert point.kind != "saddle" or negative or descends(problem, point)
    losses = zeros_of_the_gradient(problem, starts)
    assert len(losses)
    for loss in losses:
        assert np.abs(chart.losses - loss).min() <= 1e-6 * (1 + loss)
    assert chart.minimum.kind == "global minimum" and chart.attained


THOROUGH = pytest.mark.thorough
TARGETS = {
    "general": lambda n: matrix(n, 3) + np.eye(n) / 4,
    "identity": np.eye,
    "without trace": lambda n: np.diag([1.0, -1.0] + [0.0] * (n - 2)),
    "rank one": lambda n: np.outer(np.arange(1.0, n + 1), np.arange(1.0, n + 1)),
    "negative": lambda n: -np.diag(np.arange(1.0, n + 1)),
    "repeated": lambda n: np.diag([2.0, 2.0, -1.0][:n]),
}


@pytest.mark.parametrize(
    ("target", "starts"),
    [("general", 4), ("identity", 4), *(pytest.param(t, 40, marks=THOROUGH) for t in TARGETS)],
)
def test_trained_weights_against_zeros_of_the_gradient(target, starts):
    for n, width in ((2, 2), (3, 1), (3, 2)) if starts < 10 else ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2)):
        problem = sh.Problem(TARGETS[target](n), sh.Gaussian(n), width, orthogonality=0.75)
        chart = sh.chart(problem)
        assert chart.completeness == ("proved" if width == 1 else "count-matched")
        everything_holds(problem, chart, starts)


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("norm", [False, True])
def test_trained_weights_of_any_width(target, norm):
    for n, width in ((2, 4), (3, 3), (3, 4), (4, 2), (4, 3)):
        problem = sh.Problem(
            TARGETS[target](n) if n < 4 else np.diag([2.0, 2.0, -1.0, 0.5]),
            sh.Sphere(n) if not norm else sh.Gaussian(n),
            width,
            orthogonality=0.4,
            norm_neuron=norm,
        )
        everything_holds(problem, sh.chart(problem), 10)


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
def test_trained_weights_under_any_metric(target):
    for n, width in ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2)):
        problem = sh.Problem(TARGETS[target](n), metric(n, 5), width, orthogonality=0.75)
        chart = sh.chart(problem)
        assert chart.completeness == ("proved" if width == 1 else "trace-tested")
        everything_holds(problem, chart, 10)


def test_a_path_to_a_target_without_trace_ends_at_infinity():
    """a → ∞, P → 0, s = T: no network, but no lost path either; what is listed is held to zeros of the gradient."""
    problem = sh.Problem(np.diag([1.0, -1.0]), metric(2, 5), 2, orthogonality=0.75)
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested"
    assert chart.complex_count[2] == 10  # one fewer than for targets that have a trace
    assert any("1 paths run to infinity" in note for note in chart.notes)
    everything_holds(problem, chart, 5)


def test_mirrored_coordinates_have_the_same_pairs():
    own = PenalisedEquations.of(3, (Group(None, 2), Group(None, 1)))
    other, rng = MirroredEquations.of(own), np.random.default_rng(1)
    x = rng.standard_normal((4, own.unknowns)) + 1j * rng.standard_normal((4, own.unknowns))
    pairs = own.tensors(x)
    np.testing.assert_allclose(other.tensors(other.exchanged(x)), pairs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        own.tensors(other.exchanged(other.exchanged(x))), pairs, rtol=1e-12, atol=1e-12
    )


def test_the_lowest_loss_is_that_without_penalty_and_the_least_penalty():
    for n, width in ((2, 1), (2, 2), (3, 1)):
        plain = sh.Problem(matrix(n, 9), metric(n, 4), width)
        problem = sh.Problem(matrix(n, 9), metric(n, 4), width, orthogonality=0.3)
        lowest = sh.chart(plain).minimum.loss + 0.3 * (n - width)
        assert sh.chart(problem).minimum.loss == pytest.approx(lowest, abs=1e-9)


def test_families_of_an_identity_teacher():
    chart = sh.chart(sh.Problem(np.eye(3), sh.Gaussian(3), 1, orthogonality=1.0))
    assert chart.completeness == "proved"
    (sphere,) = chart.families
    assert sphere.dimension == 2 and sphere.signature == (2, 2, 0) and sphere.kind == "global minimum"
    for seed, sample in enumerate(sphere.samples):
        w = np.linalg.svd(sample.to_matrix())[0][:, 0]
        net = sh.Network(w[None], [float(np.trace(sample.to_matrix()))])
        problem = sh.Problem(np.eye(3), sh.Gaussian(3), 1, orthogonality=1.0)
        assert np.abs(problem.gradient(net)).max() < 1e-12, seed
    fixed = sh.Problem(np.eye(3), sh.Gaussian(3), 2, outer=[1.0, -1.0], orthogonality=1.0)
    chart = sh.chart(fixed)
    assert chart.completeness == "trace-tested" and chart.minimum.dimension == 2
    everything_holds(fixed, chart, 20)


def hessian_on_the_stratum(problem, net, groups):
    """Signature by differences: each group has one weight, and rotations within groups are divided out by rank."""
    a0, W0 = net.a, net.W
    own = [rows for rows in groups if len(rows)]
    if not own:
        return 0, 0, 0

    def loss(x):
        a, W = a0.copy(), W0.copy()
        start = 0
        for k, rows in enumerate(own):
            a[rows] += x[k]
        start = len(own)
        for rows in own:
            for i in rows:
                W[i] += x[start : start + problem.n]
                start += problem.n
        return problem.loss(sh.Network(W, a))

    size, h = len(own) + problem.n * sum(map(len, own)), 1e-3
    steps = h * np.eye(size)
    H = np.array(
        [
            [(loss(e + f) - loss(e - f) - loss(f - e) + loss(-e - f)) / (4 * h * h) for f in steps]
            for e in steps
        ]
    )
    eigenvalues = np.linalg.eigvalsh((H + H.T) / 2)
    flat = np.abs(eigenvalues) < 1e-4 * np.abs(eigenvalues).max()
    gauge = sum(len(rows) * (len(rows) - 1) // 2 for rows in own)
    return (
        int(np.sum(eigenvalues[~flat] > 0)),
        int(np.sum(flat)) - gauge,
        int(np.sum(eigenvalues[~flat] < 0)),
    )


def test_signatures_by_differences():
    problem = sh.Problem(np.diag([2.0, 1.0, -1.5]), sh.Gaussian(3), 2, orthogonality=0.75)
    seen = set()
    for point in sh.chart(problem).critical:
        a, used = point.network.a, np.any(point.network.W != 0, axis=1)
        weights = sorted({round(float(x), 7) for x in a[used]})
        groups = [np.flatnonzero(used & (np.abs(a - w) < 1e-6)) for w in weights]
        assert hessian_on_the_stratum(problem, point.network, groups) == point.signature, point
        seen.add((len(weights), 0.0 in weights, point.dimension))
    assert {(1, True, 1), (2, True, 0), (1, True, 0)} & seen and (1, False, 0) in seen


def test_groups_of_trained_weights():
    assert [[g.size for g in s] for s in trained_strata(3, 4)] == [[2], [3], [2, 1]]
    rng = np.random.default_rng(0)
    W, E = rng.standard_normal((4, 5)), rng.standard_normal((5, 5))
    E = E + E.T
    E -= np.eye(5) * np.trace(W @ E @ W.T) / np.trace(W @ W.T)
    turned = zero_diagonal(W, E)
    np.testing.assert_allclose(turned.T @ turned, W.T @ W, atol=1e-12)
    np.testing.assert_allclose(np.diag(turned @ E @ turned.T), 0, atol=1e-10)


@pytest.mark.parametrize(("n", "outer", "dimension"), [(1, [0.001, 1.0], 1), (2, [1.0, -1.0, 2.0], 1)])
def test_networks_that_differ_by_what_the_norm_neuron_adds_are_no_isolated_points(n, outer, dimension):
    """Pairs are seen up to (‖x‖², 0): one of so many neurons was listed, as a degenerate point or a local minimum."""
    data = sh.IID.uniform(n)
    with pytest.raises(sh.InvalidProblem, match=f"are a set of dimension {dimension}"):
        sh.chart(
            sh.Problem(
                np.diag([2.0, -1.0][:n]), data, len(outer), outer=outer, norm_neuron=True, orthogonality=0.5
            )
        )


@pytest.mark.parametrize(
    ("target", "real"), [([2.0, -1.0], 4), ([2.0, 1.0], 2)], ids=["indefinite", "definite"]
)
def test_pairs_with_a_weight_zero_are_counted(target, real):
    """Beside the zero network the slope vanishes along two lines, real where it is indefinite: 2 + 2 of rank one."""
    chart = sh.chart(sh.Problem(np.diag(target), sh.Gaussian(2), 1, orthogonality=0.5))
    assert (
        chart.complex_count[1] == chart.expected_count[1] == 4
        and chart.count(rank=1) == real == chart.real_count[1]
    )
