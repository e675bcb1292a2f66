"""The parser: exact numbers, precedence, errors that show the place, and a round trip."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows.homotopy import solve
from shallows.mathematics.homotopy.coefficients import GaussianRational
from shallows.mathematics.homotopy.parser import parse
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.support.errors import InvalidProblem


def number(text: str) -> GaussianRational:
    (value,) = parse(text).values()
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", GaussianRational(Fraction(1, 10))),
        ("1e-3", GaussianRational(Fraction(1, 1000))),
        ("2.50E+2", GaussianRational(Fraction(250))),
        (".5", GaussianRational(Fraction(1, 2))),
        ("3/7", GaussianRational(Fraction(3, 7))),
        ("-2/4", GaussianRational(Fraction(-1, 2))),
        ("1j", GaussianRational(Fraction(0), Fraction(1))),
        ("2.5i", GaussianRational(Fraction(0), Fraction(5, 2))),
        ("(1 + 2*I)*(3 - I)", GaussianRational(Fraction(5), Fraction(5))),
        ("1/(1 + I)", GaussianRational(Fraction(1, 2), Fraction(-1, 2))),
        ("I^2", GaussianRational(Fraction(-1))),
        ("-2^2", GaussianRational(Fraction(-4))),
        ("(-2)^2", GaussianRational(Fraction(4))),
        ("2**3", GaussianRational(Fraction(8))),
        ("6/2*3", GaussianRational(Fraction(9))),
        ("123456789012345678901234567890", GaussianRational(Fraction(123456789012345678901234567890))),
    ],
)
def test_numbers_are_exact(text, value):
    assert number(text) == value


def test_polynomials():
    assert parse("(x + y)^2 - x^2 - y^2") == parse("2*x*y")
    assert parse("x^2*y - 3*y + 1 = y") == parse("y*x**2 - 4*y + 1")
    assert parse("x - x") == {}
    assert parse("x^0") == {(): GaussianRational(Fraction(1))}
    assert parse("x − y") == parse("x - y"), "the typographic minus sign"
    assert set(parse("i*x", declared=["i"])) == {(("i", 1), ("x", 1))}, "i is a variable when declared"


@pytest.mark.parametrize("letter", ["i", "j"])
def test_a_name_that_may_be_the_imaginary_unit_is_refused(letter):
    """i² + h = 2, h = i: without a word on i this once was read as h = 3 and h = √−1, and had no solution."""
    rows = [f"{letter}^2 + h - 2", f"h - {letter}"]
    with pytest.raises(
        InvalidProblem, match=f"write I or 1{letter} for the unit, or list {letter} in variables"
    ):
        solve(rows)
    assert sorted(solve(rows, variables=["h", letter]).real.points.round(9).tolist()) == [[-2, -2], [1, 1]]
    named = solve(["y^2 + h - 2", f"h - {letter}*y"], variables=["h", "y"])
    for text in ("I", f"1{letter}", f"1.0{letter}"):
        again = solve(["y^2 + h - 2", f"h - {text}*y"])
        assert np.allclose(again.finite.points, named.finite.points)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("x^2 +* y", 6, "expected a number"),
        ("2x", 2, "write \\* between"),
        ("x + (y", 7, "expected '\\)'"),
        ("x^y", 3, "whole number"),
        ("x^-1", 3, "whole number"),
        ("x^1.5", 3, "whole number"),
        ("x^2^3", 4, "parentheses"),
        ("1/x", 3, "not a number"),
        ("x/0", 3, "division by zero"),
        ("x $ y", 3, "unexpected character"),
        ("", 1, "end of the text"),
        ("x = y = z", 7, "expected an operator"),
        ("__import__('os')", 12, "unexpected character"),
        ("x^99999999", 3, "larger than"),
    ],
)
def test_errors_show_the_place(text, column, words):
    with pytest.raises(InvalidProblem, match=words) as caught:
        parse(text)
    message = str(caught.value)
    assert f"column {column}" in message
    caret = message.splitlines()[-1]
    assert caret.index("^") - 4 == column - 1


rationals = st.fractions(max_denominator=1000)
coefficients = st.builds(GaussianRational, rationals, st.just(Fraction(0)) | rationals)
polynomials = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)), coefficients, min_size=1, max_size=6
)


@given(polynomials, polynomials)
def test_round_trip(first, second):
    clean = [{key: value for key, value in row.items() if value} for row in (first, second)]
    clean = [{**row, (1, 0): GaussianRational(Fraction(1))} for row in clean]
    system = PolynomialSystem.read(clean, ["x", "y"])
    again = PolynomialSystem.read(str(system).splitlines(), ["x", "y"])
    assert again.equations == system.equations


@given(polynomials, polynomials)
def test_arithmetic_agrees_with_evaluation(first, second):
    def text(row):
        return " + ".join(f"({value})*x^{a}*y^{b}" for (a, b), value in row.items())

    def power(base, exponent):
        result = GaussianRational(Fraction(1))
        for _ in range(exponent):
            result = result * base
        return result

    x, y = (
        GaussianRational(Fraction(3, 10), Fraction(-7, 10)),
        GaussianRational(Fraction(-11, 10), Fraction(1, 5)),
    )

    def value(polynomial):
        total = GaussianRational(Fraction(0))
        for monomial, coefficient in polynomial.items():
            powers = dict(monomial)
            total = total + coefficient * power(x, powers.get("x", 0)) * power(y, powers.get("y", 0))
        return total

    product = value(parse(f"({text(first)})*({text(second)})"))
    assert product == value(parse(text(first))) * value(parse(text(second)))
    assert parse(f"({text(first)})*({text(second)})") == parse(f"({text(second)})*({text(first)})")
