"""Numerical irreducible decompositions against published ones, formulas and sets built from known pieces."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.homotopy.paths import TrackerSettings
from shallows.mathematics.homotopy.sets.breakup import STRAIGHT, _bends, _defect, break_up
from shallows.mathematics.homotopy.sets.slicing import Sliced

decompose = sh.homotopy.decompose
CUBIC = ["y - x^2", "z - x^3"]
#: A. Sommese, J. Verschelde, C. Wampler, SIAM J. Numer. Anal. 38 (2001), the illustrative example.
ILLUSTRATIVE = [
    "(y - x^2)*(x^2 + y^2 + z^2 - 1)*(x - 0.5)",
    "(z - x^3)*(x^2 + y^2 + z^2 - 1)*(y - 0.5)",
    "(y - x^2)*(z - x^3)*(x^2 + y^2 + z^2 - 1)*(z - 0.5)",
]


def minors(rows: int, columns: int, size: int, adjacent: bool = False) -> list[str]:
    """The minors of a matrix of unknowns, or those of neighbouring columns only."""

    def determinant(chosen: tuple[int, ...], beside: tuple[int, ...]) -> str:
        terms = []
        for order in itertools.permutations(range(size)):
            turns = sum(order[b] > order[a] for a in range(size) for b in range(a))
            factors = [f"x{chosen[k]}_{beside[order[k]]}" for k in range(size)]
            terms.append(("-" if turns % 2 else "+") + "*".join(factors))
        return "".join(terms).lstrip("+")

    pairs = list(itertools.combinations(range(columns), size))
    if adjacent:
        pairs = [pair for pair in pairs if pair[-1] - pair[0] == size - 1]
    return [determinant(a, b) for a in itertools.combinations(range(rows), size) for b in pairs]


def six_bar(lengths: tuple[int, ...]) -> list[str]:
    """Six links with axes z₁ … z₆, each at right angles to the next: Bricard's orthogonal mechanism moves when
    a₁² − a₂² + a₃² − a₄² + a₅² − a₆² = 0."""
    axes = {1: ["1", "0", "0"], 6: ["0", "0", "1"]} | {i: [f"{c}{i}" for c in "xyz"] for i in range(2, 6)}

    def dot(a: int, b: int) -> str:
        return "+".join(f"({p})*({q})" for p, q in zip(axes[a], axes[b], strict=True))

    def cross(a: int, b: int, k: int) -> str:
        u, v = axes[a], axes[b]
        return f"(({u[k - 2]})*({v[k - 1]})-({u[k - 1]})*({v[k - 2]}))"

    closing = ["+".join(f"{lengths[i - 1]}*{cross(i, i % 6 + 1, k)}" for i in range(1, 7)) for k in range(3)]
    return [*(f"{dot(i, i)}-1" for i in range(2, 6)), *(dot(i, i + 1) for i in range(1, 6)), *closing]


def test_the_illustrative_example() -> None:
    parts = decompose(ILLUSTRATIVE)
    assert parts.complete
    assert parts.degrees == {2: [2], 1: [3, 1, 1, 1], 0: [1]}
    assert np.allclose(parts.of_dimension(0)[0].points, 0.5)
    # published beside the degrees: which lines they are
    for point in ([0.5, 7.0, 0.125], [math.sqrt(0.5), 0.5, -3.0], [-math.sqrt(0.5), 0.5, 2.0]):
        (line,) = parts.containing(point)
        assert (line.dimension, line.degree) == (1, 1)


def test_cyclic_four_is_two_hyperbolas() -> None:
    parts = decompose(["a+b+c+d", "a*b+b*c+c*d+d*a", "a*b*c+b*c*d+c*d*a+d*a*b", "a*b*c*d-1"])
    assert parts.complete and parts.degrees == {1: [2, 2]}
    for sign in (1, -1):
        assert len(parts.containing([3, sign / 3, -3, -sign / 3])) == 1


@pytest.mark.parametrize(("rows", "columns", "rank"), [(2, 3, 1), (3, 3, 1), (3, 3, 2), (2, 4, 1), (3, 4, 2)])
def test_matrices_of_bounded_rank(rows: int, columns: int, rank: int) -> None:
    """Dimension r(m+n−r), degree ∏ C(m+i, r)/C(r+i, r) (W. Fulton, "Intersection Theory", example 14.4.14)."""
    degree = math.prod(math.comb(rows + i, rank) for i in range(columns - rank))
    degree //= math.prod(math.comb(rank + i, rank) for i in range(columns - rank))
    parts = decompose(minors(rows, columns, rank + 1))
    assert parts.complete and parts.degrees == {rank * (rows + columns - rank): [degree]}


@pytest.mark.parametrize(("columns", "count"), [(3, 1 + 1), (4, 3), (5, 5)])
def test_adjacent_minors(columns: int, count: int) -> None:
    """Fibonacci many components, degrees that add to 2^(n−1) (P. Diaconis, D. Eisenbud, B. Sturmfels, 1998)."""
    parts = decompose(minors(2, columns, 2, adjacent=True))
    assert parts.complete and set(parts.degrees) == {columns + 1}
    degrees = parts.degrees[columns + 1]
    assert len(degrees) == count and sum(degrees) == 2 ** (columns - 1) and max(degrees) == columns


def test_bricards_six_bar_moves_and_its_neighbour_does_not() -> None:
    """A curve; with one other length the sixteen positions of a general 6R chain (H.-Y. Lee, C.-G. Liang, 1988)."""
    assert 1 - 4 + 25 - 9 + 36 - 49 == 0
    moving = decompose(six_bar((1, 2, 5, 3, 6, 7)), rng=1)
    assert moving.complete and moving.degrees == {1: [24]}
    rigid = decompose(six_bar((1, 2, 5, 3, 6, 8)), rng=1)
    assert rigid.degrees == {0: [1] * 16}


def test_many_isolated_points_and_none() -> None:
    parts = decompose(["x^3 - y", "y^2 - x"])
    assert parts.degrees == {0: [1] * 6}
    empty = decompose(["x*y - 1", "x"])
    assert empty.complete and empty.dimension == -1 and "no solutions" in repr(empty)


def test_lines_where_random_planes_meet() -> None:
    """Three planes and two planes have six lines in common, each known by linear algebra."""
    rng = np.random.default_rng(5)
    first, second = rng.integers(-9, 10, (3, 4)), rng.integers(-9, 10, (2, 4))

    def product(planes: np.ndarray) -> str:
        return "*".join(f"({p[0]}*x + {p[1]}*y + {p[2]}*z + {p[3]})" for p in planes)

    parts = decompose([product(first), product(second)])
    assert parts.complete and parts.degrees == {1: [1] * 6}
    for p in first:
        for q in second:
            forms = np.array([p, q], float)
            point = -np.linalg.pinv(forms[:, :3]) @ forms[:, 3]
            direction = np.cross(p[:3], q[:3])
            assert len(parts.containing(point + 0.3 * direction)) == 1


def test_a_plane_a_line_and_points() -> None:
    """z = 0, the line x = y = z − 1 … and two points, cut out by the products of their equations."""
    plane, line, point = ["z"], ["x - y", "z - x - 1"], ["x - 3", "y + 2", "z - 4"]
    parts = decompose([f"({a})*({b})*({c})" for a in plane for b in line for c in point])
    assert parts.complete and parts.degrees == {2: [1], 1: [1], 0: [1]}
    assert parts.containing([3, -2, 4])[0].dimension == 0
    assert [c.dimension for c in parts.containing([-1, -1, 0])] == [2, 1]


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        (["x^2"], {0: [(1, 2)]}),
        (["x^3*(y - 1)", "x^2*y*(y - 1)^2"], {1: [(1, 1), (1, 2)]}),
        (
            ["(x^2 + y^2 + z^2 - 1)^2*(x - 2)", "(x^2 + y^2 + z^2 - 1)^2*(y - 2)*z"],
            {2: [(2, 2)], 1: [(1, 1), (1, 1)]},
        ),
        (["x^2 + y^2 + z^2", "x - y", "y - z"], {0: [(1, 2)]}),
        (["x^2", "x*y"], {1: [(1, 1)]}),
        (["x*y", "x*y", "x^2*y"], {1: [(1, 1), (1, 1)]}),
        (["(y - x^2)^3"], {1: [(2, 3)]}),
        (["a1*b1", "a1*b2", "b1*a2"], {2: [(1, 1)] * 3}),
    ],
)
def test_multiple_components(equations: list[str], expected: dict[int, list[tuple[int, int]]]) -> None:
    parts = decompose(equations)
    assert parts.complete
    found = {d: sorted((c.degree, c.multiplicity) for c in parts.of_dimension(d)) for d in parts.degrees}
    assert found == {d: sorted(pairs) for d, pairs in expected.items()}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_a_six_bar_of_equal_lengths_has_two_freedoms(seed: int) -> None:
    """Surfaces of degree 28 together: the standard monomials on two random rational forms (msolve, modulo 65521) are
    28, on three none."""
    parts = decompose(six_bar((1,) * 6), rng=seed)
    assert parts.complete and set(parts.degrees) == {2} and sum(parts.degrees[2]) == 28


@pytest.mark.parametrize(
    "seed", [1, 4, 9, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(60))]
)
def test_degrees_do_not_depend_on_coordinates(seed: int) -> None:
    """The illustrative example after an affine map with small rational entries: with expanded coefficients, rounded to
    doubles, the isolated point of 3, 9, 11 and 13 once was not found."""
    rng = np.random.default_rng(seed)
    matrix, shift = rng.integers(-3, 4, (3, 3)) + 7 * np.eye(3, dtype=int), rng.integers(-2, 3, 3)
    new = {
        name: f"(({row[0]}*u + {row[1]}*v + {row[2]}*w)/9 + {b})"
        for name, row, b in zip("xyz", matrix, shift, strict=True)
    }
    moved = ["".join(new.get(letter, letter) for letter in text) for text in ILLUSTRATIVE]
    parts = decompose(moved, rng=seed)
    assert parts.complete and parts.degrees == {2: [2], 1: [3, 1, 1, 1], 0: [1]}


@pytest.mark.parametrize(
    ("equations", "degrees"),
    [
        (["x^20 - 1"], {0: [1] * 20}),
        (["x + y", "x - y", "x - 1"], {}),
        (["(x - 1000000)*(y + 0.000001)"], {1: [1, 1]}),
        (["x*y*z*w"], {3: [1] * 4}),
        (["(1 + 2i)*x - y"], {1: [1]}),
        (["x*y - 1", "x*y - 2"], {}),
        (["x^4 + y^4 - 1", "x^4 + y^4 - 1"], {1: [4]}),
        (["x^2*y - y", "y^2*x - x", "x*y*(x - y)"], {0: [1] * 3}),
        (["x*(x - 1)*(x - 2)*(x - 3)", "y*x*(x - 1)"], {1: [1, 1], 0: [1, 1]}),
    ],
)
def test_special_systems(equations: list[str], degrees: dict[int, list[int]]) -> None:
    parts = decompose(equations)
    assert parts.complete and parts.degrees == degrees


def test_sizes_of_equations_do_not_matter() -> None:
    assert decompose(["1e30*x*y", "1e-30*y*z"]).degrees == {2: [1], 1: [1]}
    assert decompose(["x - 1"], variables=["x", "y", "z"]).degrees == {2: [1]}


def test_a_missing_point_is_found_and_a_part_is_not_called_whole() -> None:
    cubic = decompose(CUBIC).components[0]
    rng, settings = np.random.default_rng(1), TrackerSettings()
    sliced = Sliced(cubic.systems.of(()), 3, 1, rng)
    bends = _bends(cubic.witness, sliced, rng, settings, None)
    assert _defect(bends, {0, 1, 2}) < STRAIGHT < 1e-3 < _defect(bends, {0, 1})
    (part,) = break_up(cubic.witness.rows([0]), cubic.systems, rng, settings)
    assert len(part.witness.places) == 3 and part.whole


def test_membership_near_and_far() -> None:
    cubic, circle = decompose(CUBIC).components[0], decompose(["x^2 + y^2 - 1"]).components[0]
    for t in (0.0, 1.0, -7.5, 1e3, 2j):
        assert cubic.contains([t, t**2, t**3])
        assert abs(t) > 100 or not cubic.contains([t, t**2 + 1, t**3])
    assert circle.contains([0.6, 0.8]) and not circle.contains([0.6, 0.81])
    assert circle.contains([1j * math.sinh(1), math.cosh(1)])
    singular = decompose(["y^2 - x^3"]).components[0]  # the cusp, at its singular point too
    assert singular.contains([0, 0]) and singular.contains([4, 8]) and not singular.contains([0, 0.1])
    with pytest.raises(sh.InvalidProblem, match="expected 2 finite coordinates"):
        singular.contains([1, 2, 3])


def test_samples_lie_on_the_component_and_are_distinct() -> None:
    ones = decompose(minors(2, 3, 2)).components[0]
    points = ones.sample(7, rng=3)
    assert len({tuple(p.round(6)) for p in points}) == 7
    for p in points:  # rank one by singular values
        values = np.linalg.svd(p.reshape(2, 3), compute_uv=False)
        assert values[1] < 1e-9 * values[0]


def test_saved_and_loaded(tmp_path: Path) -> None:
    for equations in (ILLUSTRATIVE, ["x^3*(y - 1)", "x^2*y*(y - 1)^2"], ["(y - x^2)^3"]):
        parts = decompose(equations)
        again = sh.homotopy.load_decomposition(parts.save(tmp_path / "set"))
        assert repr(again) == repr(parts) and again.degrees == parts.degrees
        for component in again.components:
            for point in component.sample(2, rng=9):
                assert component.contains(point)
    (tmp_path / "set.npz").write_bytes(b"x")
    with pytest.raises(sh.InvalidProblem, match="damaged"):
        sh.homotopy.load_decomposition(tmp_path / "set")


def test_the_same_seed_gives_the_same_points() -> None:
    one, two = decompose(CUBIC, rng=4), decompose(CUBIC, rng=4)
    assert np.array_equal(one.components[0].points, two.components[0].points)
    assert not np.array_equal(one.components[0].points, decompose(CUBIC, rng=5).components[0].points)


def test_solve_points_to_it_and_limits_are_kept() -> None:
    assert "decompose" in sh.homotopy.solve(["x*y - 1", "x^2*y - x"]).message
    with pytest.raises(sh.InvalidProblem, match="max_paths=10"):
        decompose(["x^6 + y^5 - z", "x*y^5 - z^2"], max_paths=10)
    with pytest.raises(sh.InvalidProblem, match="constant"):
        decompose(["x - y", "1"])


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(10))
def test_over_many_seeds(seed: int) -> None:
    assert decompose(ILLUSTRATIVE, rng=seed).degrees == {2: [2], 1: [3, 1, 1, 1], 0: [1]}
    assert decompose(six_bar((1, 2, 5, 3, 6, 7)), rng=seed).degrees == {1: [24]}
    adjacent = decompose(minors(2, 6, 2, adjacent=True), rng=seed).degrees[7]
    assert len(adjacent) == 8 and sum(adjacent) == 2**5


def test_cyclic_five_has_seventy_points() -> None:
    names = "abcde"
    equations = [
        "+".join("*".join(names[(i + k) % 5] for k in range(size)) for i in range(5)) for size in range(1, 5)
    ]
    parts = decompose([*equations, "a*b*c*d*e - 1"])
    assert parts.complete and parts.degrees == {0: [1] * 70}
