"""The same system in every form that is read; more and fewer equations than variables."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shallows.homotopy import Expression, PolynomialFamily, PolynomialSystem, Status, solve, variables
from shallows.support.errors import InvalidProblem

x, y = variables("x y")
MANY = variables([f"x{k}" for k in range(40)])
ROWS = ["x^2*y - 1/3*y + 2", "(x + y)^3 - x/7"]


def terms(given, **options):
    return PolynomialSystem.read(given, **options).equations


def test_all_forms_are_one_system():
    sympy = pytest.importorskip("sympy")
    u, v = sympy.symbols("x y")
    rational = sympy.Rational(1, 3)
    wanted = PolynomialSystem.read(ROWS)
    expressions = [x**2 * y - y / 3 + 2, (x + y) ** 3 - x / 7]
    theirs = [u**2 * v - rational * v + 2, (u + v) ** 3 - u / 7]
    forms = [
        expressions,
        theirs,
        [sympy.Poly(row, u, v) for row in theirs],
        [sympy.Eq(u**2 * v + 2, v / 3), theirs[1]],
        [ROWS[0], expressions[1]],
        [expressions[0], theirs[1]],
        lambda x, y: [x**2 * y - Fraction(1, 3) * y + 2, (x + y) ** 3 - x / 7],
        [{(2, 1): 1, (0, 1): Fraction(-1, 3), (0, 0): 2}, {**terms(ROWS)[1]}],
    ]
    for given in forms:
        system = PolynomialSystem.read(given, ["x", "y"])
        assert system.equations == wanted.equations
        assert all(isinstance(value.real, Fraction) for row in system.equations for value in row.values())
    assert terms(sympy.Poly(u**2 - 2, u)) == terms("x^2 - 2") == terms(x**2 - 2)


def test_sympy_gives_exact_and_complex_coefficients_or_a_reason():
    sympy = pytest.importorskip("sympy")
    u, v, a = sympy.symbols("u v a")
    system = terms([sympy.I * u**2 - sympy.Float(0.5) + sympy.Rational(1, 7) * sympy.I])[0]
    assert complex(system[(2,)]) == 1j and system[(0,)].real == Fraction(-1, 2)
    assert system[(0,)].imag == Fraction(1, 7)
    with pytest.raises(InvalidProblem, match="neither rational nor a float"):
        solve([sympy.sqrt(2) * u - 1])
    with pytest.raises(InvalidProblem, match="not a polynomial"):
        solve([sympy.sin(u) - 1])
    with pytest.raises(InvalidProblem, match="not a polynomial"):
        solve([1 / u - 1])
    half = solve([u**2 - a], parameters={a: sympy.Rational(1, 4)})
    assert sorted(half.finite.points[:, 0].real.round(9)) == [-0.5, 0.5]
    found = solve([sympy.Poly(u**2 - v, u, v), u + v - 2], variables=[v, u])
    assert sorted(found.finite.points.real.round(9).tolist()) == [[1.0, 1.0], [4.0, -2.0]]


@pytest.mark.parametrize("seed", range(30))
def test_expressions_calculate_like_fractions(seed):
    rng = np.random.default_rng(seed)
    at = {"x": Fraction(int(rng.integers(-9, 9)), 7), "y": Fraction(int(rng.integers(-9, 9)), 5)}

    def value(expression):
        return sum(
            (c.real * math.prod((at[name] ** e for name, e in monomial), start=Fraction(1))
             for monomial, c in expression.terms.items()),
            Fraction(0),
        )  # fmt: skip

    ours, exact = x, at["x"]
    for _ in range(12):
        kind, k = int(rng.integers(7)), int(rng.integers(1, 6))
        other, number = (y, at["y"]) if rng.random() < 0.5 else (Fraction(k, 3), Fraction(k, 3))
        ours, exact = [
            (ours + other, exact + number), (other - ours, number - exact), (ours * other, exact * number),
            (other * ours, number * exact), (ours / k, exact / k), (-ours, -exact), (ours - other, exact - number),
        ][kind]  # fmt: skip
    assert value(ours) == exact and value(ours**3) == exact**3
    assert ours - ours == 0 and not (ours - ours) and ours**0 == 1
    assert hash(ours + 1) == hash(1 + ours)


def test_numpy_and_expressions():
    array = np.array([x, y])
    assert isinstance(np.float64(0.5) * x, Expression) and np.float64(0.5) * x == x / 2
    assert (array @ np.array([2, 3])) == 2 * x + 3 * y and sum(array) == x + y
    assert repr((x - y) ** 2) == "x^2 - 2*x*y + y^2" and repr(x - x) == "0"


def test_mistakes_with_expressions():
    for mistake in (lambda: 1 / x, lambda: x / y, lambda: x / 0, lambda: x**-1, lambda: x**0.5, lambda: x**y,
                    lambda: x + "y", lambda: variables(""), lambda: variables("x x"), lambda: variables("2x"),
                    lambda: x * float("nan"), lambda: solve(lambda: [1]), lambda: solve(lambda x: 3),
                    lambda: solve([x**2 - 1, 3.5]), lambda: sum(MANY) ** 40):  # fmt: skip
        with pytest.raises((InvalidProblem, TypeError)):
            mistake()


def test_parameters_by_name_and_by_symbol():
    a, b = variables("a b")
    by_name = solve(["x^2 - a*x + b"], parameters={"a": 3, "b": 2})
    by_symbol = solve(x**2 - a * x + b, parameters={a: 3, b: 2})
    by_function = solve(lambda x, a, b: x**2 - a * x + b, parameters={"b": Fraction(2), "a": 3})
    for found in (by_name, by_symbol, by_function):
        assert sorted(found.finite.points[:, 0].real.round(9)) == [1, 2] and found.certify().complete
    third = solve(["3*x - a"], parameters={"a": Fraction(1, 3)})
    assert third.system.equations[0][(0,)].real == Fraction(-1, 3)
    family = PolynomialFamily.read([x**2 - a * x + b], [x], [a, b])
    assert family.member([3, 2]).equations == terms("x^2 - 3*x + 2")
    with pytest.raises(InvalidProblem, match="without a value"):
        solve(family.system, parameters={"a": 1})
    with pytest.raises(InvalidProblem, match="not a number"):
        solve(["x^2 - a"], parameters={"a": "three"})


def test_more_equations_than_variables():
    twisted = solve(["x^2 - 1", "x*y - 1", "y^2 - 1", "x^3 - y"], rng=3)
    assert sorted(twisted.finite.points.real.round(8).tolist()) == [[-1.0, -1.0], [1.0, 1.0]]
    assert twisted.status is Status.COMPLETE and len(twisted.given.equations) == 4
    assert "random combinations" in repr(twisted) and "random combinations" in repr(twisted.certify())
    proof = twisted.certify()
    assert proof.count == proof.real_count == 2 and not proof.complete, "the other equations are not proved"
    none = solve(["x - 1", "x - 2"])
    assert not none.finite and none.status is Status.COMPLETE
    double = solve(["(x - 1)^2", "(x - 1)^2*(x + 2)"], on_incomplete="return")
    assert double.singular.count == 1 and abs(double.singular[0].point[0] - 1) < 1e-6


@pytest.mark.parametrize("gap", ["1/1000", "1e-7", "1e-12"])
def test_nearly_consistent_is_not_consistent(gap):
    near = solve([f"(x - 1)*(x - 1 - {gap})", "(x - 1)*(x + 3)"], rng=1)
    assert near.finite.count == 1 and abs(near.finite.points[0, 0] - 1) < 1e-9
    nothing = solve(["x^2 - 2", f"x^2 - 2 - {gap}"])
    assert not nothing.isolated


@pytest.mark.parametrize("seed", range(6))
def test_random_overdetermined_systems_have_the_planted_solution(seed):
    rng = np.random.default_rng(seed)
    point = [int(k) for k in rng.integers(-4, 5, 2)]
    rows = []
    for _ in range(4):
        row = {tuple(int(e) for e in key): int(rng.integers(-5, 6)) for key in rng.integers(0, 3, (4, 2))}
        row = {key: value for key, value in row.items() if any(key) and value} or {(1, 0): 1}
        row[(0, 0)] = -sum(value * point[0] ** key[0] * point[1] ** key[1] for key, value in row.items())
        rows.append(row)
    found = solve(rows, rng=seed, on_incomplete="return")
    assert min(np.abs(s.point - point).max() for s in (*found.isolated, *found.continuum)) < 1e-5


def test_fewer_equations_than_variables():
    conic = solve(["x^2 + y^2 - 1"])
    assert conic.status is Status.POSITIVE_DIMENSIONAL and conic.dimension == 1
    assert conic.continuum.count == 2 and not conic.isolated and "degree 2" in repr(conic)
    cubic = solve(["y - x^2", "z - x^3"])
    assert cubic.dimension == 1 and cubic.continuum.count == 3
    surface = solve(["x*y*z - 1"])
    assert surface.dimension == 2 and surface.continuum.count == 3
    for point in surface.continuum.points:
        assert abs(np.prod(point) - 1) < 1e-9
    empty = solve(["x + y + z", "x + y + z - 1"])
    assert not empty.continuum and "there is none" in repr(empty)
