"""Double, double-double, multiple precision: each path gets the digits it needs."""

from fractions import Fraction

import numpy as np
import pytest
from bench.literature import cyclic, noon, wilkinson

from shallows.homotopy import PolynomialSystem, Status, solve
from shallows.mathematics.homotopy._compiled.codes import PathStatus
from shallows.mathematics.homotopy.coefficients import GaussianRational, to_gaussian
from shallows.mathematics.homotopy.prepared import SparseProblem


def exactly(target, start, point, t):
    """(1−t)·target + t·start, homogenised, with its derivatives in x and t, in fractions."""
    x = [to_gaussian(complex(entry)) for entry in point]
    t = to_gaussian(complex(t))
    one = GaussianRational(Fraction(1))
    values, slopes = [], []
    for goal, origin in zip(target, start, strict=True):
        degree = max(sum(key) for key in (*goal, *origin))
        total, row = GaussianRational(Fraction(0)), [GaussianRational(Fraction(0))] * (len(x) + 1)
        for key in {*goal, *origin}:
            end = goal.get(key, GaussianRational(Fraction(0)))
            begin = to_gaussian(origin.get(key, 0))
            coefficient = end * (one - t) + begin * t
            full = (*key, degree - sum(key))

            def monomial(exponents):
                product = one
                for base, e in zip(x, exponents, strict=True):
                    for _ in range(e):
                        product = product * base
                return product

            total = total + coefficient * monomial(full)
            row[-1] = row[-1] + (begin - end) * monomial(full)
            for j, e in enumerate(full):
                if e:
                    lower = (*full[:j], e - 1, *full[j + 1 :])
                    row[j] = row[j] + coefficient * GaussianRational(Fraction(e)) * monomial(lower)
        values.append(complex(total))
        slopes.append([complex(entry) for entry in row])
    return np.array(values), np.array(slopes)


SYSTEMS = [
    wilkinson(12),
    ["(x - 1)^8", "y - x^2/3"],
    noon(3),
    cyclic(4),
    ["x^2 - 2*I*y", "0.1*y^3 - x + 1/7"],
]


@pytest.mark.parametrize("rows", SYSTEMS)
def test_double_double_against_fractions(rows):
    problem = SparseProblem(PolynomialSystem.read(rows))
    homotopy = problem.sharply(np.random.default_rng(5))
    start, gamma = problem._start(np.random.default_rng(5))
    target = problem.scaled_system().equations
    rng = np.random.default_rng(1)
    for k in range(4):
        point = rng.standard_normal(problem.n + 1) + 1j * rng.standard_normal(problem.n + 1)
        if k == 0:
            point = np.ones(problem.n + 1) + 2.0**-12  # next to where (x − 1)⁸ vanishes
        t = 0.0 if k == 1 else complex(0.3, 0.1)
        value, slope = homotopy.at(np.append(point, t))
        exact, exact_slope = exactly(target, start.times(gamma), point, t)
        np.testing.assert_allclose(value, exact, rtol=1e-13, atol=1e-25)
        np.testing.assert_allclose(slope, exact_slope, rtol=1e-13, atol=1e-25)


def test_each_path_gets_the_digits_it_needs():
    easy = solve(noon(4))
    assert not any("double-double" in note or "multiple" in note for note in easy.notes)
    for seed in range(2):
        middle = solve(wilkinson(16), rng=seed)
        assert any("double-double" in note for note in middle.notes)
        assert middle.finite.count == middle.real.count == 16 and middle.certify().complete
    hard = solve(wilkinson(20))
    assert any("double-double" in note for note in hard.notes)
    assert any("multiple precision" in note for note in hard.notes)
    assert hard.finite.count == hard.real.count == 20 and hard.status is Status.COMPLETE


def test_ill_conditioned_roots_in_two_variables():
    rows = ["*".join(f"(x - {k})" for k in range(1, 13)), "y^2 - x*y + 1/2"]
    found = solve(rows, rng=1)
    assert found.finite.count == 24 and found.certify().complete
    xs = np.sort(found.finite.points[:, 0].real)
    assert np.abs(xs - np.repeat(np.arange(1, 13), 2)).max() < 1e-13


@pytest.mark.thorough
@pytest.mark.parametrize("degree", [13, 15, 17, 18, 22])
@pytest.mark.parametrize("seed", range(5))
def test_more_of_wilkinsons_polynomials(degree, seed):
    found = solve(wilkinson(degree), rng=seed)
    assert found.finite.count == found.real.count == degree and found.certify().complete


@pytest.mark.parametrize(
    ("rows", "root", "windings"),
    [
        (["(x^2 - 2)^3"], [2**0.5], {3}),
        (["x^2 + y^2 - 3", "x*y - 3/2"], [1.5**0.5] * 2, {2}),
        (["(x^2 - 2)^8"], [2**0.5], {8}),
    ],
)
def test_the_endgame_in_multiple_precision(rows, root, windings):
    """Winding numbers, and ends to more digits than doubles have: their residuals are those of rounding."""
    system = PolynomialSystem.read(rows)
    problem = SparseProblem(system)
    _, starts = problem.prepare(np.random.default_rng(3))
    paths = problem.precisely(np.random.default_rng(3), np.arange(min(4, len(starts))), 5000)
    assert (paths.status == PathStatus.PRECISE_SINGULAR).all() and set(paths.winding.tolist()) == windings
    assert paths.error.max() < 1e-20
    ends = paths.ends[:, :-1] / paths.ends[:, -1:]
    assert np.abs(np.abs(problem.unscale(ends).real) - root).max() < 1e-15


def test_ends_at_infinity_in_multiple_precision():
    problem = SparseProblem(PolynomialSystem.read(["x*y - 1", "x^2*y + x - 2"]))
    _, starts = problem.prepare(np.random.default_rng(0))
    paths = problem.precisely(np.random.default_rng(0), np.arange(len(starts)), 5000)
    assert sorted(paths.status.tolist()) == [PathStatus.INFINITE] * 5 + [PathStatus.PRECISE_REGULAR]


def test_a_walk_around_two_roots_is_no_double_root():
    found = solve(["(x - 1)^2 - 1/10^30"])
    assert found.finite.count == found.real.count == 2 and not found.singular


@pytest.mark.parametrize("degree", [4, 8, 10, 12, 14, 16, 20])
def test_errors_are_within_what_is_said(degree):
    for seed in range(2):
        for one in solve(wilkinson(degree), rng=seed).finite:
            (x,) = one.point
            assert abs(x - round(x.real)) <= one.accuracy * abs(x)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_errors_are_within_what_is_said_at_any_scale(scale):
    """Roots that are known: a grid, moved by a linear map, in units of any size."""
    k = Fraction(scale)
    rows = [f"(x - {k})*(x - {2 * k})*(x + {k / 3})", f"(x + y - {k})*(3*x - y + {k / 7})"]
    for seed in range(3):
        for one in solve(rows, rng=seed).finite:
            x, y = one.point
            near = min((k, 2 * k, -k / 3), key=lambda root: abs(float(root) - x))
            other = min((k - near, 3 * near + k / 7), key=lambda root: abs(float(root) - y))
            error = max(abs(x - float(near)), abs(y - float(other)))
            assert error <= one.accuracy * np.abs(one.point).max() < 1e-9 * scale
