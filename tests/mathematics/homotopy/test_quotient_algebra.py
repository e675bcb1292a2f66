"""Proved multiplicities at irrational points, against products of known factors, resultants and paths."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from flint import fmpz_poly

import shallows as sh
from shallows.homotopy import PolynomialSystem, multiplicity, solve
from shallows.mathematics.homotopy.quotient_algebra import exact_solutions


def exactly(rows: list[str]) -> list[tuple[list[complex], int]]:
    found = exact_solutions(PolynomialSystem.read(rows))
    assert found is not None
    return [([complex(z) for z in one.point], one.multiplicity) for one in found]


@pytest.mark.parametrize("seed", range(8))
def test_one_variable_against_the_factors_it_was_made_from(seed: int) -> None:
    rng = np.random.default_rng([5, seed])
    factors: Counter[tuple[int, ...]] = Counter()
    while sum(many * (len(f) - 1) for f, many in factors.items()) < 9:
        f = fmpz_poly([int(c) for c in rng.integers(-5, 6, int(rng.integers(1, 4)))] + [1])
        for q, many in f.factor()[1]:
            factors[tuple(int(c) for c in q.coeffs())] += many
    text = "*".join(
        "(" + "+".join(f"({c})*x^{k}" for k, c in enumerate(f)) + f")^{many}" for f, many in factors.items()
    )
    found = exactly([text])
    assert sum(many for _, many in found) == sum(many * (len(f) - 1) for f, many in factors.items())
    for f, many in factors.items():
        for root in np.roots(f[::-1]):
            assert [m for (z,), m in found if abs(z - root) < 1e-6] == [many]


def test_tangent_curves_at_irrational_points() -> None:
    assert exactly(["y - (x^2 - 2)^2", "y"]) == [([-(2**0.5), 0], 2), ([2**0.5, 0], 2)]
    rows = ["x^2 + y^2 - 3", "x*y - 3/2"]  # at ±(√1.5, √1.5)
    assert [many for _, many in exactly(rows)] == [2, 2]
    for one in solve(rows).singular:
        found = multiplicity(rows, one)
        assert found.proved and found.agrees and found.multiplicity == 2 and found.exact.degree == 2
        assert "degree 2 over Q, by 2 paths too" in repr(found)


def test_a_triple_point_and_its_conjugates() -> None:
    rows = ["(x^3 - 2)^3", "y - x^2", "(z - x)*(z + 1)"]
    found = exactly(rows)
    assert len(found) == 6 and {many for _, many in found} == {3}
    at = 2 ** (1 / 3)
    assert multiplicity(rows, [at, at * at, at]).exact.degree == 3


def test_close_roots_are_not_one() -> None:
    found = exactly(["(x^2 - 2)^2 - 1/10^60", "y - x"])
    assert [many for _, many in found] == [1, 1, 1, 1]
    assert abs(found[0][0][0] - found[1][0][0]) < 1e-15
    boxes = [one.box for one in exact_solutions(PolynomialSystem.read(["(x^2 - 2)^2 - 1/10^60", "y - x"]))]
    assert not any(a[0].overlaps(b[0]) for k, a in enumerate(boxes) for b in boxes[:k])


@pytest.mark.parametrize("seed", range(6))
def test_points_of_random_systems_are_zeros_and_as_many_as_paths_that_stay(seed: int) -> None:
    rng = np.random.default_rng([6, seed])
    a, b, c, d, e = (int(v) for v in rng.integers(-4, 5, 5))
    rows = [
        f"(x^2 - {2 + seed})*(y + {a}*x + 1)",
        f"(y - {b}*x)^2*(x + {c}*y + {d}) + {e}*(x^2 - {2 + seed})*x",
    ]
    found = exact_solutions(PolynomialSystem.read(rows))
    ends = solve(rows, on_incomplete="return", start="total degree")
    if found is None:  # the curves have a line in common, or meet in infinitely many points
        assert ends.status is not sh.homotopy.Status.COMPLETE
    else:
        assert sum(one.multiplicity for one in found) == 9 - ends.at_infinity.count
    for one in found or []:
        assert max(abs(complex(v)) for v in _values(rows, one.point)) < 1e-7


def _values(rows: list[str], point: np.ndarray) -> list[complex]:
    system = PolynomialSystem.read(rows)
    return [
        sum(complex(c) * np.prod(point ** np.array(key)) for key, c in terms.items())
        for terms in system.equations
    ]


def test_what_is_not_finite_or_too_large_is_left_alone() -> None:
    for rows in (["x*y", "x*z", "y*z"], ["x^2 - x*y", "y^2 - x*y"], ["x^7 + y - 1", "y^7 + x - 2"],
                 ["i*x^2 - 1", "y - x"]):  # fmt: skip
        assert (
            exact_solutions(
                PolynomialSystem.read(rows, sorted({c for row in rows for c in row} & set("xyz")))
            )
            is None
        )
