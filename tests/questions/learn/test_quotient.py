"""Certificates where columns depend on each other exactly, against least squares in fractions."""

import warnings
from fractions import Fraction
from itertools import combinations_with_replacement

import flint
import numpy as np
import pytest

pytest.importorskip("sklearn")

from shallows.learn import PolynomialNetRegressor, QuadraticNetRegressor, UndeterminedWarning
from shallows.mathematics.exact.dependent_columns import independent_columns
from shallows.questions.learn.proofs.quotient import quotient


def one_hot(rng, count, groups, values=(0.0, 1.0)):
    """Indicator columns of a random category, each seen."""
    which = np.concatenate([np.arange(groups), rng.integers(0, groups, count - groups)])
    return np.where(which[:, None] == np.arange(groups), values[1], values[0])


def products(X, degree, affine):
    """All products of columns (with the constant) in fractions, a row a sample."""
    Z = [[Fraction(v) for v in row] + [Fraction(1)] * affine for row in X.tolist()]
    places = list(combinations_with_replacement(range(X.shape[1] + affine), degree))
    table = []
    for row in Z:
        line = []
        for place in places:
            value = Fraction(1)
            for j in place:
                value *= row[j]
            line.append(value)
        table.append(line)
    return table


def exact_optimum(X, y, weights, degree=2, affine=True):
    """min Σ w (y − f)²/W over all polynomials: y less its projection, from a maximal independent set of features."""
    to = lambda v: flint.fmpq(v.numerator, v.denominator)  # noqa: E731
    table = products(X, degree, affine)
    P = flint.fmpq_mat(len(table), len(table[0]), [to(v) for row in table for v in row])
    reduced, rank = P.rref()
    pivots = [next(j for j in range(P.ncols()) if reduced[i, j] != 0) for i in range(rank)]
    A = flint.fmpq_mat(len(table), rank, [to(row[j]) for row in table for j in pivots])
    w = [Fraction(v) for v in weights.tolist()]
    WA = flint.fmpq_mat(
        len(table), rank, [to(row[j] * v) for row, v in zip(table, w, strict=True) for j in pivots]
    )
    b = flint.fmpq_mat(len(table), 1, [to(Fraction(v)) for v in y.tolist()])
    Wb = flint.fmpq_mat(len(table), 1, [to(Fraction(v) * u) for v, u in zip(y.tolist(), w, strict=True)])
    c = (A.transpose() * WA).inv() * (A.transpose() * Wb)
    r = b - A * c
    total = sum(to(u) * r[i, 0] * r[i, 0] for i, u in enumerate(w)) / to(sum(w))
    return Fraction(int(total.p), int(total.q)), rank


def exact_loss(model, X, y, weights):
    """Σ w (y − f)²/W of the polynomial whose float64 coefficients the model holds, but for √2 of its cross terms."""
    frame = model._form.frame
    T, mean = frame.T, frame.mean
    total = Fraction(0)
    entries = [Fraction(v) for v in model._form.entries[0].tolist()]
    size = len(T)
    root = Fraction(1414213562373095, 10**15)  # √2: Newton makes it 120 digits
    for _ in range(3):
        root = (root + 2 / root) / 2
    places = list(combinations_with_replacement(range(size), 2))
    for row, target, w in zip(X.tolist(), y.tolist(), weights.tolist(), strict=True):
        moved = [Fraction(v) - Fraction(m) for v, m in zip(row, mean.tolist(), strict=True)]
        n = len(moved)
        z = [sum(Fraction(T[i, j]) * moved[j] for j in range(n)) for i in range(n)] + [Fraction(1)] * (
            size - n
        )
        f = sum(a * (1 if i == j else root) * z[i] * z[j] for a, (i, j) in zip(entries, places, strict=True))
        total += Fraction(w) * (Fraction(target) - f) ** 2
    return total / sum(Fraction(v) for v in weights.tolist())


def cases():
    rng = np.random.default_rng(0)
    count = 40
    x = np.round(rng.standard_normal((count, 1)), 3)
    yield "constant", np.hstack([x, np.full((count, 1), 0.1)])
    yield "zero", np.hstack([x, np.zeros((count, 1))])
    yield "one-hot", np.hstack([x, one_hot(rng, count, 3)])
    yield "one-hot of other values", np.hstack([x, one_hot(rng, count, 3, (-0.3, 0.7))])
    yield "repeated", np.hstack([x, x])
    yield "scaled", np.hstack([x, 4 * x, -0.5 * x])
    yield "sum", (a := rng.integers(-5, 6, (count, 2)).astype(float)) @ np.array([[1.0, 0, 1], [0, 1, 2]])
    yield (
        "two groups and a constant",
        np.hstack([x, one_hot(rng, count, 3), one_hot(rng, count, 2), np.ones((count, 1))]),
    )
    yield "indicators only", np.hstack([one_hot(rng, count, 4), one_hot(rng, count, 3)])
    yield "hierarchy", np.hstack([x, x > 0, x > 1]).astype(float)
    yield "far away", np.hstack([1e6 + x, one_hot(rng, count, 2)])
    del a


@pytest.mark.parametrize(("name", "X"), list(cases()), ids=lambda v: v if isinstance(v, str) else "")
def test_certificates_hold_in_fractions(name, X):
    rng = np.random.default_rng(1)
    y, weights = rng.standard_normal(len(X)), rng.integers(1, 3, len(X)).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndeterminedWarning)
        model = QuadraticNetRegressor(alpha=0.0).fit(X, y, sample_weight=weights)
    certificate = model.certificate_
    best, rank = exact_optimum(X, y, weights)
    loss = exact_loss(model, X, y, weights)
    assert certificate.proved and "proved in integers" in certificate.reason
    assert certificate.gap < 1e-12
    assert Fraction(certificate.lower_bound) <= best and loss - best <= Fraction(certificate.gap)
    assert quotient(X, True, 2).kept.shape[0] == rank


@pytest.mark.parametrize("affine", [True, False])
def test_the_kept_features_are_as_many_as_the_exact_rank(affine, rng):
    for seed in range(6):
        own = np.random.default_rng(seed)
        X = np.hstack([own.integers(-2, 3, (30, 2)), one_hot(own, 30, 3), np.full((30, 1), 2.0)]).astype(
            float
        )
        found = quotient(X, affine, 2)
        assert len(found.kept) == exact_optimum(X, own.standard_normal(30), np.ones(30), 2, affine)[1]


def test_a_relation_that_one_sample_breaks_by_a_bit_is_no_relation():
    rng = np.random.default_rng(2)
    X = np.hstack([rng.standard_normal((200, 1)), rng.integers(1, 9, (200, 1))])
    X = np.hstack([X, X[:, 1:]])
    assert quotient(X, True, 2).dropped == 4
    X[123, 2] = np.nextafter(X[123, 2], 9)
    assert quotient(X, True, 2).dropped == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndeterminedWarning)
        model = QuadraticNetRegressor(alpha=0.0).fit(X, rng.standard_normal(200))
    assert not model.certificate_.proved  # least squares would take coefficients of 1e15 for that bit


def test_a_worse_fit_has_a_gap_that_covers_it():
    """Sabotage: coefficients moved away from the optimum after the fit."""
    from dataclasses import replace

    from shallows.questions.learn.proofs.optimality import check_optimality

    rng = np.random.default_rng(3)
    X = np.hstack([np.round(rng.standard_normal((40, 1)), 2), one_hot(rng, 40, 3)])
    y, ones = rng.standard_normal(40), np.ones(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndeterminedWarning)
        model = QuadraticNetRegressor(alpha=0.0).fit(X, y)
    best, _ = exact_optimum(X, y, ones)
    for size in (1e-12, 1e-8, 1e-4, 1e-2):
        entries = model._form.entries * (1 + size)
        model._form = replace(model._form, entries=entries)
        found = check_optimality(X, y[:, None], ones, model._form, 0.0)
        assert found.proved and exact_loss(model, X, y, ones) - best <= Fraction(found.gap)
        assert Fraction(found.lower_bound) <= best


def test_cubes_of_indicators_too():
    rng = np.random.default_rng(4)
    X = np.hstack([np.round(rng.standard_normal((60, 1)), 2), one_hot(rng, 60, 3)])
    y = rng.standard_normal(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndeterminedWarning)
        found = PolynomialNetRegressor(3, alpha=0.0).fit(X, y).certificate_
    best, _ = exact_optimum(X, y, np.ones(60), 3)
    assert found.proved and Fraction(found.lower_bound) <= best <= Fraction(found.loss) + Fraction(1, 10**12)
    assert found.gap < 1e-12


def test_columns_of_large_integers():
    """Relations hold for all bits or not at all; one that holds modulo the first prime only is refused."""
    prime = 2**31 - 1
    columns = np.array([[1, 10, 10], [1, 20, 20], [1, 30, 30 + prime]], dtype=object)
    assert independent_columns(lambda p: (columns % p).astype(np.int64), [1, 5, 33]) == ([0, 1, 2], [])
    columns[:, 2] = 3 * columns[:, 1] * 2**200
    columns[:, 1] *= 2**200
    assert independent_columns(lambda p: (columns % p).astype(np.int64), [1, 206, 208]) == ([0, 1], [2])
