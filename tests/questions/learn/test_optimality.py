"""The certificate: it bounds the true gap, fails where it must, and the low-rank bound is Eckart and Young's."""

from fractions import Fraction

import flint
import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.solvers.levenberg_marquardt import gram_root
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.fitting.frame import Frame, features, from_matrix, homogenise
from shallows.questions.learn.fitting.least_squares import Solution, from_statistics
from shallows.questions.learn.fitting.low_rank import best_low_rank
from shallows.questions.learn.fitting.signed_factor import fit_factors
from shallows.questions.learn.fitting.solve import solve
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.questions.learn.proofs.optimality import check_optimality, check_statistics
from shallows.questions.learn.proofs.rank_bound import least_excess


def integers(rng, count=40, columns=2):
    return rng.integers(-5, 6, size=(count, columns)).astype(float), rng.integers(
        -9, 10, size=(count, 1)
    ).astype(float)


def exact_optimum(X, y):
    """The least-squares optimum in rational arithmetic: normal equations by Gaussian elimination."""
    rows = [[Fraction(int(v)) for v in x] + [Fraction(1)] for x in X]
    table = coordinates.indices(len(rows[0]), 2)
    block = [[row[i] * row[j] for i, j in table] for row in rows]
    labels = [Fraction(int(v)) for v in y[:, 0]]
    size = len(table)
    system = [
        [sum(r[i] * r[j] for r in block) for j in range(size)]
        + [sum(r[i] * v for r, v in zip(block, labels, strict=True))]
        for i in range(size)
    ]
    for i in range(size):
        pivot = next(k for k in range(i, size) if system[k][i])
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [v / system[i][i] for v in system[i]]
        for k in range(size):
            if k != i:
                system[k] = [a - system[k][i] * b for a, b in zip(system[k], system[i], strict=True)]
    solution = [row[-1] for row in system]
    residual = [
        v - sum(c * f for c, f in zip(solution, r, strict=True)) for r, v in zip(block, labels, strict=True)
    ]
    return sum(r * r for r in residual) / len(labels)


def exact_objective(X, y, solution):
    """The loss of the fitted form in Arb, from its float64 coefficients and frame."""
    frame, total = solution.frame, flint.arb(0)
    number = np.vectorize(lambda v: flint.arb(float(v)), otypes=[object])
    table = coordinates.indices(frame.size, 2)
    for x, label in zip(number(X), number(y[:, 0]), strict=True):
        z = [*(number(frame.T[:-1, :-1]) @ (x - number(frame.mean))), flint.arb(1)]
        value = sum(
            (flint.arb(float(a)) * (z[i] * z[j] if i == j else z[i] * z[j] * flint.arb(2).sqrt()))
            for a, (i, j) in zip(solution.entries[0], table, strict=True)
        )
        total += (label - value) ** 2
    return total / len(X)


def test_the_proved_gap_holds_against_exact_arithmetic(rng):
    X, y = integers(rng)
    weights = np.ones(len(X))
    solution, proof = solve(X, y, weights, True, 2, 0.0)
    optimum = exact_optimum(X, y)
    before, flint.ctx.prec = flint.ctx.prec, 300
    try:
        best = flint.arb(flint.fmpq(optimum.numerator, optimum.denominator))
        assert proof.proved and proof.gap < 1e-20
        assert exact_objective(X, y, solution) - best <= flint.arb(proof.gap)
        assert Fraction(proof.lower_bound) <= optimum and proof.loss - proof.lower_bound < 1e-12
        # move away on purpose: the gap must cover the exact distance, and not by much more than the condition number
        moved = Solution(solution.frame, 2, solution.entries + 0.01, None, "moved", 0)
        doubt = check_optimality(X, y, weights, moved, 0.0)
        excess = exact_objective(X, y, moved) - best
        assert excess <= flint.arb(doubt.gap) <= 1e4 * excess
        assert Fraction(doubt.lower_bound) <= optimum
    finally:
        flint.ctx.prec = before


def test_streams_are_proved_from_their_statistics(rng):
    X, y = integers(rng, 200)
    frame = Frame.whitening(X[:50], np.ones(50), True)
    statistics = Statistics.empty(frame, 2, 1)
    for rows in np.array_split(np.arange(200), 5):
        statistics = statistics.add(X[rows], y[rows], np.ones(40))
    solution = from_statistics(statistics, 0.0)
    proof = check_statistics(statistics, solution, 0.0, True)
    optimum = exact_optimum(X, y)
    assert proof.proved and proof.gap < 1e-18
    assert Fraction(proof.lower_bound) <= optimum <= Fraction(proof.lower_bound) + Fraction(1, 10**9)


@pytest.mark.parametrize(("degree", "affine"), [(2, True), (2, False), (3, True)])
def test_ridge_is_proved_against_its_closed_form(rng, degree, affine):
    """The optimum of the penalised loss from the normal equations of standardised columns, in float64."""
    X, Y, weights = 1 + rng.standard_normal((80, 2)), rng.standard_normal((80, 2)), rng.random(80) + 0.5
    solution, proof = solve(X, Y, weights, affine, degree, 3.0)
    total = weights.sum()
    mean = weights @ X / total if affine else 0.0
    block = features(
        homogenise((X - mean) / np.sqrt(2 * (weights @ (X - mean) ** 2) / total), affine), degree
    )
    keep = 3.0 * total * np.eye(block.shape[1])
    if affine:
        keep[-1, -1] = 0.0
    a = np.linalg.solve(block.T @ (weights[:, None] * block) + keep, block.T @ (weights[:, None] * Y))
    best = (np.sum(weights @ (Y - block @ a) ** 2) + np.sum(a * (keep @ a))) / total
    assert proof.proved and proof.gap < 1e-18
    assert proof.objective == pytest.approx(best, rel=1e-11) and proof.lower_bound <= best * (1 + 1e-13)
    assert proof.loss < proof.objective
    moved = Solution(solution.frame, degree, solution.entries * 1.01, None, "moved", 0)
    doubt = check_optimality(X, Y, weights, moved, 3.0)
    assert doubt.objective - best <= doubt.gap


def test_a_singular_problem_is_not_certified(rng):
    X, y = integers(rng, 60, 2)
    X = np.concatenate([X, X[:, :1]], axis=1)  # a column twice, but for one bit: no exact relation
    X[7, 2] = np.nextafter(X[7, 2], np.inf)
    _, proof = solve(X, y, np.ones(60), True, 2, 0.0)
    assert not proof.proved and "singular" in proof.reason
    assert np.isnan(proof.gap) and proof.lower_bound == 0.0 and "not known" in repr(proof)


@pytest.mark.parametrize("affine", [True, False])
def test_a_penalty_certifies_what_data_leave_open(rng, affine):
    """A column twice, a constant one, fewer samples than features; moved fits are as bad as they say."""
    X = rng.standard_normal((12, 2))
    X = np.column_stack([X, X[:, 0], np.ones(12), rng.integers(0, 2, 12)])
    Y, weights = rng.standard_normal((12, 2)), rng.random(12) + 0.5
    solution, proof = solve(X, Y, weights, affine, 2, 0.1)
    assert proof.proved and proof.gap < 1e-18
    for size in (1e-3, 1e-1, 10.0):
        entries = solution.entries + size * rng.standard_normal(solution.entries.shape)
        moved = Solution(solution.frame, 2, entries, None, "moved", 0)
        doubt = check_optimality(X, Y, weights, moved, 0.1)
        assert doubt.objective - proof.objective <= doubt.gap
        assert doubt.lower_bound <= proof.objective


def test_an_exact_fit_is_certified_however_few_samples(rng):
    X = rng.standard_normal((5, 3))
    _, proof = solve(X, rng.standard_normal((5, 1)), np.ones(5), True, 2, 0.0)
    assert proof.proved and proof.loss < 1e-20


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_gaussian_low_rank_reaches_the_exact_minimum(width):
    """Reference: the minimum over rank k is 2Σs² + 2(Σs)²/(k+2), s the left-out eigenvalues of a definite teacher."""
    teacher = np.diag([5.0, 4.0, 2.0, 1.0, 0.5])
    root = np.sqrt(coordinates.multiplicities(5, 2))
    gram = sh.Gaussian(5).gram(2) / np.outer(root, root)
    found = best_low_rank(gram, from_matrix(teacher), width, None, 4, np.random.default_rng(0))
    s = np.sort(np.diag(teacher))[: 5 - width]
    assert found.excess == pytest.approx(2 * np.sum(s**2) + 2 * np.sum(s) ** 2 / (width + 2), rel=1e-9)
    least = least_excess(gram, 0.0, from_matrix(teacher), width, False)
    assert 0.98 * 2 * np.sum(s**2) <= least <= 2 * np.sum(s**2)
    assert least_excess(gram, 0.0, from_matrix(teacher), width, False, distance=0.01) < least
    assert least_excess(gram, 3.0, from_matrix(teacher), width, False) == 0.0


def test_factor_gradient_vanishes_at_the_end(rng):
    vectors = rng.standard_normal((40, 10))
    gram, optimum = vectors.T @ vectors / 40, rng.standard_normal(10)
    (end,) = fit_factors(gram_root(gram), optimum, [(rng.standard_normal((2, 4)), np.array([1.0, -1.0]))])
    move = np.random.default_rng(1).standard_normal((2, 4))

    def excess(W):
        away = from_matrix((W.T * end.signs) @ W) - optimum
        return away @ gram @ away

    assert end.converged and excess(end.W) == pytest.approx(end.excess)
    slope = (excess(end.W + 1e-6 * move) - excess(end.W - 1e-6 * move)) / 2e-6
    assert abs(slope) < 1e-6


def test_rank_one_minimum_is_the_charts(rng):
    """A cross-check with the proved chart: the global minimum of width one on heavy-tailed data."""
    problem = sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID.laplace(3), 1)
    lowest = sh.chart(problem, certify=False).points[0].loss
    root = np.sqrt(coordinates.multiplicities(3, 2))
    gram = sh.IID.laplace(3).gram(2) / np.outer(root, root)
    found = best_low_rank(gram, from_matrix(np.diag([2.0, 1.5, 1.0])), 1, None, 4, np.random.default_rng(0))
    assert found.excess == pytest.approx(lowest, rel=1e-9)


def test_frame_keeps_constant_columns_harmless():
    X = np.c_[np.full(50, 3.0), np.random.default_rng(0).standard_normal(50)]
    frame = Frame.whitening(X, np.ones(50), True)
    assert np.all(np.isfinite(frame.T)) and np.linalg.cond(frame.T) < 100
    assert np.allclose(frame.apply(X), homogenise(X, True) @ frame.T.T)
