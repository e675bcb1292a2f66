"""Ball arithmetic against exact fractions and Arb: every enclosure holds the exact value, and is not much too wide."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shallows.mathematics.balls.arrays import Ball, stacked
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.fitting.frame import Frame, features
from shallows.questions.learn.fitting.least_squares import Solution, dense
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.questions.learn.proofs.form import feature_balls, layer_values, power_values, transformed
from shallows.questions.learn.proofs.gram_curvature import smallest_eigenvalue_bound
from shallows.questions.learn.proofs.optimality import point_from_statistics, point_on_data
from shallows.questions.learn.proofs.rank_bound import singular_value_bounds
from shallows.questions.learn.proofs.ridge import ridge

exact = np.vectorize(Fraction, otypes=[object])
seeds = st.integers(0, 10_000)


def rough(rng, *shape):
    """Numbers of very different sizes, so that sums cancel and round."""
    return rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 7, size=shape)


def ball(rng, *shape):
    mid = rough(rng, *shape)
    return Ball(mid, np.abs(mid) * rng.random(shape) * 1e-10)


def corner(b, rng):
    """An exact array inside the ball, on its boundary in every entry."""
    return exact(b.mid) + exact(b.rad) * rng.choice([-1, 1], size=b.mid.shape)


def holds(b, value):
    return bool(np.all(abs(exact(b.mid) - value) <= exact(b.rad)))


@given(seeds)
def test_every_operation_encloses_exact_arithmetic_on_members(seed):
    rng = np.random.default_rng(seed)
    a, b, c = ball(rng, 5, 7), ball(rng, 5, 7), ball(rng, 7, 4)
    x, y, z = (corner(part, rng) for part in (a, b, c))
    assert holds(a + b, x + y) and holds(a - b, x - y) and holds(a * b, x * y)
    assert holds(a @ c, x @ z) and holds(a.sum(axis=1), x.sum(axis=1)) and holds(a.sum(), x.sum())
    positive = Ball(np.abs(b.mid) + 1e-7, b.rad / 2)
    assert holds(a / positive, x / corner(positive, rng))
    assert sum(v * v for v in x.ravel()) <= Fraction(a.norm()) ** 2
    assert np.all(exact(a.lower) <= x) and np.all(x <= exact(a.upper)) and np.all(abs(x) <= exact(a.size))


@given(seeds)
def test_radii_of_exact_data_are_a_few_roundings(seed):
    rng = np.random.default_rng(seed)
    a, b = Ball.exact(rng.standard_normal((6, 50))), Ball.exact(rng.standard_normal((50, 3)))
    assert np.all((a @ b).rad <= 60 * 2.0**-53 * (np.abs(a.mid) @ np.abs(b.mid)))
    wrong = Ball((a @ b).mid + 1e-10, (a @ b).rad)
    assert not holds(wrong, exact(a.mid) @ exact(b.mid))  # the comparison can fail


def arb_features(rows, degree):
    """ψ(z′) in Arb at 300 bits from rows of arb numbers."""
    table = coordinates.indices(len(rows[0]), degree)
    root = [flint.arb(int(m)).sqrt() for m in coordinates.multiplicities(len(rows[0]), degree)]
    result = []
    for row in rows:
        line = []
        for place, index in enumerate(table):
            value = root[place]
            for i in index:
                value = value * row[i]
            line.append(value)
        result.append(line)
    return result


def arb_inputs(frame, X):
    root = [[flint.arb(float(v)) for v in row] for row in frame.T]
    mean = [flint.arb(float(v)) for v in frame.mean]
    rows = []
    for x in X:
        moved = [flint.arb(float(v)) - m for v, m in zip(x, mean, strict=True)]
        line = [sum((t * v for t, v in zip(row, moved, strict=False)), flint.arb(0)) for row in root]
        rows.append([*line[:-1], flint.arb(1)] if frame.affine else line)
    return rows


def arb_holds(b, values):
    flat = zip(b.mid.ravel(), b.rad.ravel(), values, strict=True)
    return all(abs(flint.arb(float(m)) - v) <= flint.arb(float(r)) for m, r, v in flat)


@pytest.fixture
def precise():
    before, flint.ctx.prec = flint.ctx.prec, 300
    yield
    flint.ctx.prec = before


@pytest.mark.parametrize(("affine", "degree"), [(True, 2), (False, 2), (True, 3)])
def test_forms_statistics_and_penalties_against_arb(precise, rng, affine, degree):
    """All that a certificate is made of, for one small data set far from the origin."""
    X, Y = 5 + rng.standard_normal((12, 2)), rng.standard_normal((12, 1))
    weights = rng.random(12) + 0.1
    frame = Frame.whitening(X, weights, affine)
    Z = arb_inputs(frame, X)
    psi = arb_features(Z, degree)
    assert arb_holds(transformed(frame, X), [v for row in Z for v in row])
    assert arb_holds(feature_balls(transformed(frame, X), degree), [v for row in psi for v in row])
    entries = rng.standard_normal((1, len(psi[0])))
    a = [flint.arb(float(v)) for v in entries[0]]
    w = [flint.arb(float(v)) for v in weights]
    y = [flint.arb(float(v)) for v in Y[:, 0]]
    r = [
        v - sum((s * t for s, t in zip(a, row, strict=True)), flint.arb(0))
        for v, row in zip(y, psi, strict=True)
    ]
    squares = sum((u * v * v for u, v in zip(w, r, strict=True)), flint.arb(0))
    slope = [sum((w[n] * r[n] * psi[n][i] for n in range(12)), flint.arb(0)) for i in range(len(a))]
    gram = [
        [sum((w[n] * psi[n][i] * psi[n][j] for n in range(12)), flint.arb(0)) for j in range(len(a))]
        for i in range(len(a))
    ]
    solution = Solution(frame, degree, entries, None, "given", 0)
    point = point_on_data(X, Y, weights, solution, 0.0)
    assert arb_holds(point.squares, [squares]) and arb_holds(point.gradient, slope)
    assert arb_holds(point.weight, [sum(w, flint.arb(0))])
    statistics = (
        Statistics.empty(frame, degree, 1).add(X[:5], Y[:5], weights[:5]).add(X[5:], Y[5:], weights[5:])
    )
    off = sum(
        (
            (gram[i][j] - flint.arb(float(statistics.gram[i, j]))) ** 2
            for i in range(len(a))
            for j in range(len(a))
        ),
        flint.arb(0),
    ).sqrt()
    assert off <= flint.arb(statistics.rounding.gram)  # even in the Frobenius norm
    assert statistics.rounding.gram < 1e-11 * np.trace(statistics.gram)
    streamed = point_from_statistics(statistics, solution, 0.0)
    assert arb_holds(streamed.squares, [squares])
    distance = sum(
        ((flint.arb(float(m)) - v) ** 2 for m, v in zip(streamed.gradient.mid[0], slope, strict=True)),
        flint.arb(0),
    ).sqrt()
    assert distance <= flint.arb(streamed.doubt) + flint.arb(
        float(np.linalg.norm(streamed.gradient.rad)) * 1.01
    )


@pytest.mark.parametrize("affine", [True, False])
def test_both_routes_of_the_penalty_agree_with_the_plain_one(rng, affine):
    X = 3 + rng.standard_normal((40, 2))
    frame = Frame.whitening(X, np.ones(40), affine)
    solution = dense(X, rng.standard_normal((40, 2)), np.ones(40), frame, 2, 0.0)
    plain = exact(solution.entries)
    if affine:
        plain[:, -1] = 0
    alpha, weight = float(rng.random()), ball(rng)
    squares, slopes = ridge(solution, alpha, weight)
    for share in (-1, 0, 1):
        W = Fraction(float(weight.mid)) + share * Fraction(float(weight.rad))
        assert holds(squares, Fraction(alpha) * W * np.sum(plain**2))
        assert holds(slopes, Fraction(alpha) * W * plain)


@given(seeds)
def test_networks_are_enclosed(seed):
    rng = np.random.default_rng(seed)
    Z, W, a = rough(rng, 3, 2), rough(rng, 4, 2), rough(rng, 1, 4)
    inner = exact(Z) @ exact(W).T
    assert holds(power_values(W, a, 3, Z), inner**3 @ exact(a).T)
    # one input: ψ₂(z) = z², so a deep network is exact in fractions
    first, last = rough(rng, 1, 1), rough(rng, 1, 1)
    z = exact(Z[:, :1])
    assert holds(layer_values([first, last], Z[:, :1]), (z**2 * exact(first)) ** 2 * exact(last))


def test_eigenvalue_bound_is_below_and_close(rng):
    vectors, _ = np.linalg.qr(rng.standard_normal((30, 30)))
    values = np.linspace(0.5, 3, 30)
    gram = (vectors * values) @ vectors.T
    gram = (gram + gram.T) / 2
    assert 0.44 < smallest_eigenvalue_bound(gram) <= 0.5
    assert 0.24 < smallest_eigenvalue_bound(gram, 0.2) <= 0.3
    assert smallest_eigenvalue_bound(gram, 0.6) == 0.0
    values[0] = -1e-3
    assert smallest_eigenvalue_bound((vectors * values) @ vectors.T) == 0.0


@given(seeds)
def test_eigenvalue_bound_holds_in_exact_arithmetic(seed):
    """G − bound·I is positive definite by exact elimination, for nearly singular integer Gram matrices."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, size=(6, 5)).astype(float)
    gram = rows.T @ rows + 1e-7 * np.diag(rng.random(5))
    bound = smallest_eigenvalue_bound(gram)
    assert bound >= 0.0
    assume(bound > 0)
    M = exact(gram) - np.diag(exact(np.full(5, bound)))
    for i in range(5):
        assert M[i, i] > 0
        for k in range(i + 1, 5):
            M[k] = M[k] - M[k, i] / M[i, i] * M[i]


def test_singular_values_of_a_known_spectrum(rng):
    vectors, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    values = np.array([3.0, -2.0, 1.0, -1.0, 1e-9, 0.0])
    found = np.sort(singular_value_bounds(Ball.exact((vectors * values) @ vectors.T)))
    assert np.all(found <= np.sort(np.abs(values)) + 1e-15)
    assert np.allclose(found, np.sort(np.abs(values)), atol=1e-12)
    wide = Ball(np.diag(values), np.full((6, 6), 0.1))
    assert np.all(
        np.sort(singular_value_bounds(wide)) <= np.maximum(np.sort(np.abs(values)) - 0.6, 0) + 1e-15
    )


def test_stacking_keeps_both(rng):
    a, b = ball(rng, 2, 3), ball(rng, 1, 3)
    both = stacked([a, b])
    assert np.array_equal(both.mid[2:], b.mid) and np.array_equal(both.rad[:2], a.rad)
    assert features(both.mid, 1).shape == (3, 3)
