"""Start systems: which is chosen, and that none of them loses a solution that another one finds."""

from itertools import product

import numpy as np
import pytest
from bench.literature import (
    combustion,
    cyclic,
    eco,
    katsura,
    noon,
    stewart_platform,
    three_rpr,
    wnt,
)

from shallows.homotopy import PolynomialSystem, Status, TrackerSettings, solve
from shallows.mathematics.homotopy import prepared, starts
from shallows.mathematics.homotopy.binomials import unit_roots
from shallows.mathematics.homotopy.mixed_cells import OutOfBudget, mixed_cells
from shallows.mathematics.homotopy.partitions import best_groups
from shallows.mathematics.homotopy.polyhedral import polyhedral_start
from shallows.mathematics.homotopy.starts import choose_start
from shallows.mathematics.homotopy.zero_coordinates import no_solutions_at_infinity, zero_free
from shallows.support.errors import InvalidProblem


def same_points(first, second, tolerance=1e-7):
    """Whether two lists of points are the same, each point once."""
    if len(first) != len(second):
        return False
    if not len(first):
        return True
    gaps = np.abs(first[:, None] - second[None]).max(axis=2) / (1 + np.abs(first).max(axis=1))[:, None]
    return bool((gaps.min(axis=1) < tolerance).all() and (gaps.min(axis=0) < tolerance).all())


def random_sparse(rng):
    """Few terms, small exponents, whole coefficients; the constant is often missing, so zero is often a coordinate."""
    n = int(rng.integers(2, 4))
    rows = []
    for _ in range(n):
        keys = rng.integers(0, 3, (int(rng.integers(2, 5)), n))
        row = {tuple(int(e) for e in key): int(rng.integers(1, 9)) * int(rng.choice([-1, 1])) for key in keys}
        if len(row) < 2 or not any(map(any, row)):
            row = {(1,) * n: 2, (0,) * n: -3}
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    "seed", [*range(1, 9), *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(9, 60))]
)
def test_polyhedral_finds_what_total_degree_finds(seed):
    rng = np.random.default_rng([31, seed])
    rows = random_sparse(rng)
    dense = solve(rows, rng=seed, start="total degree", on_incomplete="return")
    sparse = solve(rows, rng=seed, start="polyhedral", on_incomplete="return")
    settled = (Status.COMPLETE, Status.POSITIVE_DIMENSIONAL)
    assert dense.paths >= sparse.paths
    if dense.status in settled and sparse.status in settled:
        assert same_points(sparse.finite.points, dense.finite.points)
        assert sorted(sparse.singular.multiplicities) == sorted(dense.singular.multiplicities)
        assert sum(sparse.isolated.multiplicities) <= sparse.paths
    off = dense.finite.points[(np.abs(dense.finite.points) > 1e-9).all(axis=1)]
    torus = solve(rows, rng=seed, zeros="excluded", on_incomplete="return")
    if dense.status is Status.COMPLETE and torus.status is Status.COMPLETE:
        assert same_points(torus.finite.points, off)


def test_zero_is_a_solution_and_is_not_lost():
    both = solve(["x^2 - x"])
    assert sorted(both.finite.points[:, 0].real.round(9)) == [0, 1] and both.certify().complete
    alone = solve(["x^2 - x"], zeros="excluded")
    assert alone.paths == alone.finite.count == 1 and alone.certify().complete
    assert "left out" not in repr(alone)
    crossed = solve(["x*y - x", "x^2 + y^2 - 4 + 2*x"], rng=2)
    assert crossed.finite.count == 4 and crossed.certify().complete, "(0, ±2), (−3, 1) and (1, 1)"
    apart = solve(["x*y - x", "x^2 + y^2 - 4 + 2*x"], zeros="excluded")
    assert sorted(apart.finite.points.round(8).real.tolist()) == [[-3.0, 1.0], [1.0, 1.0]]
    assert apart.certify().complete


@pytest.mark.parametrize(
    "rows",
    [
        ["3*x*z^3 - 2*z^3", "3*z^2 - 2*y^2 + y^3*z", "2*x*z^3 + 2*y*z^3 - z"],
        ["y + x*y", "y^2 + x^2*y^3"],
        ["x*y*(x - 1)", "x*y*(y^3 - 2)"],
        ["x*z - 2*y*z", "y*z - z*x^2 + z", "z^3 - z*x*y"],
    ],
    ids=["a line y = z = 0", "a line y = 0", "two axes", "a plane z = 0"],
)
def test_curves_of_solutions_with_zero_coordinates_are_seen(rows):
    """A polyhedral start has no path that must end on them; one of these was once called complete."""
    found = solve(rows, rng=0, on_incomplete="return")
    assert found.status is Status.POSITIVE_DIMENSIONAL
    assert found.start == "total degree"


def test_cyclic_roots_are_complete():
    five = solve(cyclic(5))
    assert five.start == "polyhedral" and five.paths == five.finite.count == 70
    proof = five.certify()
    assert proof.complete and proof.count == 70 and proof.real_count == 2 + 8
    seven = solve(cyclic(7), rng=1)
    assert (
        seven.paths == seven.finite.count == 924 and not seven.at_infinity and seven.status is Status.COMPLETE
    )


#: Mixed volume with the origin, solutions, real and positive ones; where published: J. Verschelde's collection for the
#: Stewart platform (84 and 40), Meintjes and Morgan (16, 4, 1), Gross and others (56 and 9).
MECHANISMS = [
    ("3-RPR", three_rpr(), 16, 6, None, None),
    ("combustion", combustion(), 16, 16, 4, 1),
    ("Stewart", stewart_platform(), 84, 40, None, None),
    pytest.param("Wnt", wnt(), 56, 9, None, 1, marks=pytest.mark.thorough),
]


@pytest.mark.parametrize(("name", "rows", "paths", "count", "real", "positive"), MECHANISMS)
def test_mechanisms_and_chemistry(name, rows, paths, count, real, positive):
    found = solve(rows, rng=1)
    assert found.status is Status.COMPLETE and found.paths == paths and found.finite.count == count
    proof = found.certify()
    assert proof.count == count
    assert real is None or proof.real_count == real
    assert positive is None or proof.positive_count == positive


def test_the_fewest_paths_are_chosen():
    chosen = {
        "total degree": [katsura(4), ["x^2 + y^2 - 5", "x^2 - 3*y^2 + x*y - 2"]],
        "polyhedral": [noon(4), eco(6), cyclic(4), ["x^3 + y^2 - 5", "x*y - 2"]],
    }
    for name, systems in chosen.items():
        for rows in systems:
            assert choose_start(PolynomialSystem.read(rows)).name == name
    eigen = PolynomialSystem.read(["2*x + y - s*x", "x + 3*y - s*y", "x + y - 1"])
    assert choose_start(eigen).paths == choose_start(eigen, "multihomogeneous").paths == 2
    line = solve(
        ["x^2 - 1", "x^2 + x"], variables=["x", "y"]
    )  # mixed volume 0, and the line x = −1 of solutions
    assert line.start == "total degree" and line.status is Status.POSITIVE_DIMENSIONAL


def test_mixed_cells_that_take_too_long_are_left_alone(monkeypatch):
    """Dense equations with one term missing: what a table costs goes by its entries, and so does what is allowed."""
    rows = katsura(5)
    supports = starts._supports(PolynomialSystem.read(rows), "included")
    wanted = mixed_cells(supports).work
    entries = sum(len(support) + 6 for support in supports) * 6
    monkeypatch.setattr(starts, "MOST_ENTRIES", entries * (wanted + 1))
    assert mixed_cells(supports, budget=starts._budget(supports, 10**5)).mixed_volume == 32
    monkeypatch.setattr(starts, "MOST_ENTRIES", entries * (wanted - 1))
    with pytest.raises(OutOfBudget, match="more work than allowed"):
        mixed_cells(supports, budget=starts._budget(supports, 10**5))
    assert solve(rows).finite.count == 32


def partitions(items):
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for k in range(len(rest)):
            yield [*rest[:k], [items[0], *rest[k]], *rest[k + 1 :]]


@pytest.mark.parametrize("rows", [eco(5), noon(3), ["a*b - c", "b*c*d - 1", "a + d - 2", "c*d - a"]])
def test_the_best_groups_are_the_best(rows):
    system = PolynomialSystem.read(rows)
    groups, count = best_groups(system)
    everything = [system.multihomogeneous_number(p) for p in partitions(list(system.variables))]
    assert count == system.multihomogeneous_number(groups) == min(everything)


def test_a_search_for_groups_of_many_variables():
    rows = [f"x{k}*y{k} - {k + 2}" for k in range(4)] + [
        f"x{k} + x{(k + 1) % 4} + y{k} - 1" for k in range(4)
    ]
    groups, count = best_groups(PolynomialSystem.read(rows))
    assert count <= 16 and sorted(len(group) for group in groups) != []


def brute_force_zero_free(supports):
    """Every set of coordinates: is some equation a single term there, which cannot vanish off the axes?"""
    n = len(supports[0][0])
    for zeros in product([False, True], repeat=n):
        if not any(zeros):
            continue
        rest = [[k for k in s if not any(z and e for z, e in zip(zeros, k, strict=True))] for s in supports]
        if not any(len(terms) == 1 for terms in rest):
            return False
    return True


@pytest.mark.parametrize("seed", range(50))
def test_zero_free_against_all_sets_of_coordinates(seed):
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(1, 5))
    supports = [
        [tuple(map(int, key)) for key in np.unique(rng.integers(0, 2, (int(rng.integers(1, 5)), n)), axis=0)]
        for _ in range(n)
    ]
    if seed % 2:
        supports[0] = [(1,) * n, (0,) * n]
    # a proof by terms is a proof by sets of coordinates
    assert zero_free(supports) <= brute_force_zero_free(supports)
    if seed % 2:
        assert zero_free(supports)


def test_binomials_have_all_their_roots():
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 4):
        matrices = rng.integers(-4, 5, (12, n, n))
        # no column of M⁻¹ generates Z²/M Z² alone: Z/6 from elements of orders 2 and 3, and Z/2 × Z/2
        matrices[0] = np.diag(np.arange(2, 2 + n)) if n < 4 else np.diag([2, 2, 1, 1])
        dets = np.rint(np.abs(np.linalg.det(matrices))).astype(int)
        matrices, dets = matrices[dets > 0], dets[dets > 0]
        angles = rng.integers(0, 97, (len(matrices), n))
        roots, owners = unit_roots(matrices, angles, 97)
        assert np.bincount(owners).tolist() == dets.tolist() and (np.diff(owners) >= 0).all()
        values = np.prod(roots[:, None, :] ** matrices[owners].astype(float), axis=2)
        assert np.abs(values - np.exp(2j * np.pi * angles[owners] / 97)).max() < 1e-11
        assert len(np.unique(np.column_stack([owners, roots.round(7)]), axis=0)) == dets.sum()


def test_binomials_with_large_numbers():
    matrix = np.array([[2**40 + 1, 2**40], [2**40, 2**40 - 1]])  # determinant −1
    roots, owners = unit_roots(np.stack([matrix, 2 * np.eye(2, dtype=int)]), np.array([[1, 2], [0, 1]]), 8)
    assert np.bincount(owners).tolist() == [1, 4]
    # M⁻¹ = [[1 − a, a], [a, −a − 1]] with a = 2⁴⁰, a multiple of 8: θ = M⁻¹(1, 2)/8 = (1/8, −2/8) modulo 1
    assert np.abs(roots[0] - np.exp(2j * np.pi * np.array([1, -2]) / 8)).max() < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_the_generic_system_is_solved(seed):
    system = PolynomialSystem.read(noon(4))
    target = [{key: complex(value) for key, value in terms.items()} for terms in system.equations]
    cells = mixed_cells([list(terms) for terms in target], rng=seed)
    start = polyhedral_start(cells, target, np.random.default_rng(seed))
    values = [
        [sum(c * np.prod(x ** np.array(e)) for e, c in row.items()) for row in start.equations]
        for x in start.points
    ]
    assert len(start.points) == 73 and np.abs(values).max() < 1e-9
    gaps = np.abs(start.points[:, None] - start.points[None]).max(axis=2) + np.eye(73)
    assert gaps.min() > 1e-4


@pytest.mark.parametrize("seed", range(60))
def test_where_bezout_is_right_the_mixed_volume_says_so(seed):
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(2, 5))
    supports = []
    for _ in range(n):
        degree = int(rng.integers(1, 4))
        keys = [key for key in product(range(degree + 1), repeat=n) if sum(key) <= degree]
        chosen = {keys[k] for k in rng.integers(0, len(keys), int(rng.integers(2, 3 + len(keys))))}
        top = [key for key in keys if sum(key) == degree]
        supports.append(sorted({*chosen, top[int(rng.integers(len(top)))], (0,) * n}))
    bezout = int(np.prod([max(map(sum, support)) for support in supports]))
    assert no_solutions_at_infinity(supports) == (mixed_cells(supports).mixed_volume == bezout)


@pytest.mark.parametrize(
    "rows",
    [cyclic(5), noon(4), eco(6), katsura(4), combustion(), three_rpr(),
     ["x^2 - x", "x*y - 2*x - y + 2"], ["x*y - 1", "x + y - 2"], ["x^3*y - 2", "x*y^3 + x - 5"]],
)  # fmt: skip
def test_bold_paths_end_where_careful_ones_do(rows):
    for seed in range(3):
        bold, careful = solve(rows, rng=seed), solve(rows, rng=seed, settings=TrackerSettings())
        assert bold.status is careful.status
        assert same_points(bold.finite.points, careful.finite.points)
        assert [s.multiplicity for s in bold.singular] == [s.multiplicity for s in careful.singular]


def test_bold_paths_that_meet_are_not_believed(monkeypatch):
    found = prepared.direct_ends

    def jumped(*given):
        points, steps = found(*given)
        points[3] = points[5]
        return points, steps

    monkeypatch.setattr(prepared, "direct_ends", jumped)
    assert solve(cyclic(5), rng=1).finite.count == 70


def test_bold_paths_are_left_at_the_first_that_is_lost():
    system = PolynomialSystem.read(cyclic(4))  # curves: no path can end at a regular point
    target = [{key: complex(value) for key, value in terms.items()} for terms in system.equations]
    cells = mixed_cells([list(terms) for terms in target])
    bold = TrackerSettings().bolder()
    assert prepared.direct_ends(cells, target, np.random.default_rng(0), bold) is None


def test_bad_choices_are_refused():
    for given in ({"start": "best"}, {"zeros": "no"}, {"start": "total degree", "zeros": "excluded"},
                  {"start": "polyhedral", "groups": [["x"], ["y"]]}):  # fmt: skip
        with pytest.raises(InvalidProblem, match="Fix"):
            solve(["x*y - 1", "x + y - 3"], **given)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize(
    ("rows", "count"),
    [
        (cyclic(5), 70),
        (cyclic(6), 156),
        (cyclic(7), 924),
        (noon(6), 717),
        (eco(10), 256),
        (katsura(10), 1024),
    ],
    ids=["cyclic-5", "cyclic-6", "cyclic-7", "noon-6", "eco-10", "katsura-10"],
)
def test_a_hundred_seeds_lose_no_root(rows, count, seed):
    result = solve(rows, rng=seed)
    assert result.finite.count == count and result.status is Status.COMPLETE
