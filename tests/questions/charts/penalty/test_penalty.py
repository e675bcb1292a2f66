"""Orthogonality penalties with outer weights that differ or are trained: msolve, the reduced problem, descents."""

from fractions import Fraction

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.penalty.chart import penalised_chart
from shallows.questions.charts.penalty.students import trained_strata, zero_diagonal


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
    assert chart.completeness == "trace-tested"
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
            penalised_chart(problem, True, 0, False, "auto").losses, sh.chart(problem).losses, atol=1e-10
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
    with pytest.raises(sh.InvalidProblem, match="infinitely many networks"):
        sh.chart(sh.Problem(np.eye(2), sh.Gaussian(2), 3, orthogonality=1.0))
    with pytest.raises(sh.InvalidProblem, match="pairs"):
        sh.chart(sh.Problem(np.eye(2), sh.Gaussian(2), 2, orthogonality=1.0), method="exact")


def test_groups_of_trained_weights():
    assert [[g.size for g in s] for s in trained_strata(3, 3)] == [[1], [2], [1, 1], [3], [2, 1], [1, 1, 1]]
    rng = np.random.default_rng(0)
    W, E = rng.standard_normal((4, 5)), rng.standard_normal((5, 5))
    E = E + E.T
    E -= np.eye(5) * np.trace(W @ E @ W.T) / np.trace(W @ W.T)
    turned = zero_diagonal(W, E)
    np.testing.assert_allclose(turned.T @ turned, W.T @ W, atol=1e-12)
    np.testing.assert_allclose(np.diag(turned @ E @ turned.T), 0, atol=1e-10)
