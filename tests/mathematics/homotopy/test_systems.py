"""Reading and refusing systems, degrees and root bounds, scaling, and the compiled evaluator's slow twin."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from bench.literature import cyclic, eco, katsura, noon

from shallows.homotopy import PolynomialSystem, check_homotopy, random_rank_one, solve
from shallows.mathematics.homotopy.sparse import scaled, scaling, straight_line
from shallows.mathematics.homotopy.start_systems import linear_product, total_degree
from shallows.support.errors import InvalidProblem


def test_strings_and_dictionaries_agree():
    strings = PolynomialSystem.read(["x^2*y - 3*y + 1/2", "x + 0.25*y^3"])
    table = PolynomialSystem.read(
        [{(2, 1): 1, (0, 1): -3.0, (0, 0): Fraction(1, 2)}, {(1, 0): 1, (0, 3): Decimal("0.25")}], ["x", "y"]
    )
    assert strings.equations == table.equations
    assert strings.variables == ("x", "y") and strings.degrees == (3, 3) and strings.bezout_number == 9
    assert PolynomialSystem.read(["x10 + x2", "x2 - 1"]).variables == ("x2", "x10")


def test_a_float_is_the_binary_number_it_is():
    system = PolynomialSystem.read([{(1,): 1, (0,): 0.1}])
    assert system.equations[0][(0,)].real == Fraction(0.1) != Fraction(1, 10)


@pytest.mark.parametrize(
    ("polynomials", "words"),
    [
        (["x^2 - 1", "3"], "constant"),
        ([], "no equations"),
        (5, "sequence of polynomials"),
        (["x", {(1,): 1}], "types"),
        ([{(1, 0): float("nan"), (0, 1): 1}, {(0, 1): 1}], "not a finite number"),
        ([{(1,): complex(0, float("inf"))}], "not a finite number"),
        ([{(1,): Decimal("NaN")}], "not finite"),
        ([{(1,): "two"}], "not a number"),
        ([{(1, 0): 1, (0,): 2}, {(0, 1): 1}], "length 1, expected 2"),
        ([{(-1,): 1}], "whole numbers"),
        ([{(0.5,): 1}], "whole numbers"),
        (["x^2 +* 1"], "column 6"),
    ],
)
def test_bad_systems_are_refused(polynomials, words):
    with pytest.raises(InvalidProblem, match=words):
        solve(polynomials)


@pytest.mark.parametrize(
    ("polynomials", "words"),
    [
        (["x + y - 1"], "not square: 1 equation in 2 variables"),
        (["x - 1", "x + 1"], "not square: 2 equations in 1 variable"),
        (["x^2 - 1", "3"], "not square"),
    ],
)
def test_families_and_certificates_want_square_systems(polynomials, words):
    with pytest.raises(InvalidProblem, match=words):
        PolynomialSystem.read(polynomials)


def test_constant_equations_and_unknown_symbols():
    with pytest.raises(InvalidProblem, match="equation 2 is the constant"):
        solve(["x*y - 1", "3 + y - y"], variables=["x", "y"])
    with pytest.raises(InvalidProblem, match="equation 1 is the constant 0"):
        solve(["x - x"], variables=["x"])
    with pytest.raises(InvalidProblem, match="unknown symbol z"):
        solve(["x*y - 1", "z + y"], variables=["x", "y"])
    with pytest.raises(InvalidProblem, match="twice"):
        solve(["x*y - 1", "x + y"], variables=["x", "x"])


def test_other_arguments_are_checked():
    with pytest.raises(InvalidProblem, match="expected a non-negative integer seed"):
        solve(["x"], rng="seed")
    with pytest.raises(InvalidProblem, match="on_incomplete"):
        solve(["x"], on_incomplete="ignore")
    with pytest.raises(InvalidProblem, match="exactly one group"):
        solve(["x - 1", "y"], groups=[["x"]])


def test_too_many_paths_are_refused_before_work_starts():
    with pytest.raises(InvalidProblem, match=r"100,000,000 paths, more than max_paths=1,000 \(about .* h"):
        solve([f"x{k}^10 - x{(k + 1) % 8}" for k in range(8)], max_paths=1000)
    with pytest.raises(InvalidProblem, match="364 paths"):
        solve(random_rank_one(6, np.random.default_rng(0)), max_paths=363)


def test_bezout_numbers():
    assert PolynomialSystem.read(katsura(5)).bezout_number == 32
    assert PolynomialSystem.read(noon(4)).bezout_number == 81
    assert PolynomialSystem.read(cyclic(5)).bezout_number == 120
    # eigenvalue problem A x = λ x, c·x = 1: n eigenvalues, against 2^n paths
    system = PolynomialSystem.read(["2*x + y - s*x", "x + 3*y - s*y", "x + y - 1"])
    assert system.bezout_number == 4
    assert system.multihomogeneous_number([["x", "y"], ["s"]]) == 2
    economics = PolynomialSystem.read(eco(6))
    groups = [["x1", "x2", "x3", "x4", "x5"], ["x6"]]
    assert economics.multihomogeneous_number(groups) < economics.bezout_number == 162


def test_start_systems_are_solved_by_their_points(rng):
    start = total_degree((2, 3, 1), rng)
    assert start.points.shape == (6, 3)
    residuals = [
        abs(sum(c * np.prod(x ** np.array(e)) for e, c in row.items()))
        for x in start.points
        for row in start.equations
    ]
    assert max(residuals) < 1e-13
    system = PolynomialSystem.read(["x*s^2 + y", "x + y*s + 1", "x*y - s"])
    groups = [["x", "y"], ["s"]]
    start = linear_product(system, groups, rng)
    assert len(start.points) == system.multihomogeneous_number(groups)
    values = [
        abs(sum(c * np.prod(x ** np.array(e)) for e, c in row.items()))
        for x in start.points
        for row in start.equations
    ]
    assert max(values) < 1e-11


def test_scaling_evens_out_coefficients():
    system = PolynomialSystem.read(["1e-6*x^2*y - 1e6*y + 3", "1e5*y^2*x - 1e-4*x + 1e-2"])
    before = [abs(complex(c)) for row in system.equations for c in row.values()]
    after = [abs(c) for row in scaled(system, scaling(system)) for c in row.values()]
    assert max(before) / min(before) == pytest.approx(1e12)
    assert max(after) / min(after) < 1e4


@pytest.mark.parametrize("rows", [katsura(3), noon(3), eco(5), cyclic(4), ["x^5 - 2*I*x*y^2 + 1", "y^3 - x"]])
def test_compiled_evaluator_against_its_slow_twin(rows, rng):
    system = PolynomialSystem.read(rows)
    n = system.n
    start = total_degree(system.degrees, rng)
    goal = [{e: complex(c) for e, c in row.items()} for row in system.equations]
    homotopy = straight_line(goal, start.equations, n)
    x = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    t = 0.3 + 0.1j
    value, _ = homotopy.at(np.concatenate([x, [1.0, t]]))
    slow = (1 - t) * system(x) + t * PolynomialSystem.read(start.equations, system.variables)(x)
    assert np.allclose(value, slow, rtol=1e-12, atol=1e-12)
    assert check_homotopy(homotopy, np.append(x, 0.7 - 0.2j), t) < 1e-8


def test_rank_one_evaluator_against_its_expansion(rng):
    system = random_rank_one(4, rng)
    homotopy, _ = system.prepare(rng)
    x = rng.standard_normal(4) + 1j * rng.standard_normal(4)
    value, jacobian = homotopy.at(np.append(x, 0.0))
    slow = system.polynomials()(system.unscale(x))
    ratio = value / slow
    assert np.allclose(ratio, ratio[0], rtol=1e-12) and abs(ratio[0].imag) < 1e-12
    assert np.allclose(jacobian[:, :4], jacobian[:, :4].T)
    assert check_homotopy(homotopy, x) < 1e-8


@pytest.mark.parametrize("seed", range(12))
def test_compiled_equations_against_sums_of_powers(seed):
    """Monomials are made from each other there; here each term is a product of powers, and slopes are differences."""
    rng = np.random.default_rng([13, seed])
    unknowns, extra = int(rng.integers(1, 5)), int(rng.integers(0, 3))
    symbols = unknowns + extra

    def rows():
        keys = rng.integers(0, 4, (unknowns, int(rng.integers(1, 7)), symbols)) * rng.integers(0, 2, symbols)
        return [{tuple(map(int, key)): complex(*rng.standard_normal(2)) for key in own} for own in keys]

    target, start = rows(), rows()
    here, there = (rng.standard_normal(extra) + 1j * rng.standard_normal(extra) for _ in range(2))
    plain = straight_line(
        target, start, unknowns, projective=False, parameters=(here, there) if extra else None
    )

    def value(x, t):
        full = np.concatenate([x, (1 - t) * here + t * there])
        first, second = (
            np.array([sum(c * np.prod(full ** np.array(k)) for k, c in row.items()) for row in side])
            for side in (target, start)
        )
        return (1 - t) * first + t * second

    x, t = rng.standard_normal(unknowns) + 1j * rng.standard_normal(unknowns), 0.3
    if seed == 0:
        x[:] = 0
    found, slope = plain.at(np.append(x, t))
    size = 1 + np.abs(found).max() + np.abs(slope).max()
    assert np.abs(found - value(x, t)).max() < 1e-13 * size
    for j in range(unknowns + 1):
        step = 1e-6 * np.eye(unknowns + 1)[j]
        ends = [value(x + s * step[:unknowns], t + s * step[unknowns]) for s in (1, -1)]
        assert np.abs((ends[0] - ends[1]) / 2e-6 - slope[:, j]).max() < 1e-7 * size
