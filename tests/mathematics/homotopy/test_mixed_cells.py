"""Mixed volumes against published ones and against volumes of Minkowski sums; cells checked one by one in fractions."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from bench.literature import cyclic, eco, katsura, noon
from flint import fmpq, fmpq_mat
from scipy.spatial import ConvexHull, QhullError

from shallows.homotopy import PolynomialSystem, mixed_volume
from shallows.mathematics.homotopy.mixed_cells import OutOfBudget, mixed_cells
from shallows.support.errors import InvalidProblem


def supports(rows, origin=False):
    system = PolynomialSystem.read(rows)
    extra = [(0,) * system.n] if origin else []
    return [[*terms, *extra] for terms in system.equations]


#: J. Verschelde, "Algorithm 795: PHCpack", 1999, and the list of polynomial systems that comes with it; cyclic n-roots:
#: I. Emiris, J. Canny, J. Symbolic Comput. 20, 1995.
PUBLISHED = [
    *[
        (f"cyclic-{n}", cyclic(n), count)
        for n, count in ((3, 6), (4, 16), (5, 70), (6, 156), (7, 924), (8, 2560))
    ],
    *[(f"noon-{n}", noon(n), 3**n - 2 * n) for n in (3, 4, 5, 6)],
    *[(f"eco-{n}", eco(n), 2 ** (n - 2)) for n in (4, 5, 8, 10)],
]


@pytest.mark.parametrize(("name", "rows", "count"), PUBLISHED)
def test_published_mixed_volumes(name, rows, count):
    assert mixed_volume(supports(rows)) == mixed_volume(supports(rows), rng=7) == count


@pytest.mark.parametrize("n", [2, 4, 6, 9])
def test_katsura_reaches_bezouts_number_with_the_origin(n):
    assert mixed_volume(supports(katsura(n), origin=True)) == 2**n


def volume(points):
    """n!·volume of a convex hull, rounded to the whole number it is."""
    points = np.unique(np.asarray(points, float), axis=0)
    n = points.shape[1]
    if np.linalg.matrix_rank(points - points[0]) < n:
        return 0
    if n == 1:
        return round(points.max() - points.min())
    try:
        return round(ConvexHull(points).volume * math.factorial(n))
    except QhullError:
        return 0


def by_minkowski_sums(polytopes):
    """MV = Σ over non-empty I of (−1)^(n−|I|) vol(Σ_{i∈I} Pᵢ): shares nothing with cells."""
    n, total = len(polytopes), 0
    for size in range(1, n + 1):
        for chosen in combinations(polytopes, size):
            sums = [np.sum(choice, axis=0) for choice in product(*map(np.asarray, chosen))]
            total += (-1) ** (n - size) * volume(sums)
    return Fraction(total, math.factorial(n))


@pytest.mark.parametrize("seed", range(60))
def test_random_supports_against_minkowski_sums(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    given = [rng.integers(0, 4, (int(rng.integers(1, 6)), n)).tolist() for _ in range(n)]
    if seed % 3 == 0:  # repeated supports, and points on the edges of others
        given = [given[0] + [given[0][0]]] * n
    assert mixed_volume(given, rng=seed) == by_minkowski_sums(given)


def check_cells(found):
    """Each cell: the inner normal α that makes its edges level, in fractions, lies strictly below all other points."""
    n = len(found.supports)
    seen = set()
    for edges, size in zip(found.edges, found.volumes, strict=True):
        key = tuple(tuple(sorted(pair)) for pair in edges.tolist())
        assert key not in seen
        seen.add(key)
        rows, right = [], []
        for i, (a, b) in enumerate(edges):
            rows.append([int(x) for x in found.supports[i][b] - found.supports[i][a]])
            right.append(int(found.lifts[i][a] - found.lifts[i][b]))
        matrix = fmpq_mat(n, n, [fmpq(x) for row in rows for x in row])
        assert abs(matrix.det()) == int(size) > 0
        alpha = matrix.solve(fmpq_mat(n, 1, [fmpq(x) for x in right])).entries()
        for i, (a, b) in enumerate(edges):
            level = [
                sum((int(p) * x for p, x in zip(point, alpha, strict=True)), fmpq(int(lift)))
                for point, lift in zip(found.supports[i], found.lifts[i], strict=True)
            ]
            assert level[a] == level[b]
            assert all(level[k] > level[a] for k in range(len(level)) if k not in (a, b))


@pytest.mark.parametrize("seed", range(4))
def test_cells_are_cells(seed):
    for rows in (cyclic(5), noon(4), eco(6), katsura(4)):
        check_cells(mixed_cells(supports(rows, origin=True), rng=seed))


def test_special_supports():
    assert mixed_volume([[[2], [1]]]) == 1 and mixed_volume([[[2], [1], [0]]]) == 2
    assert mixed_volume([[[3, 1]], [[0, 0], [1, 1]]]) == 0, "a monomial has no solution off the axes"
    assert mixed_volume([[[0, 0], [2, 2]], [[1, 1], [3, 3]]]) == 0, "parallel segments"
    assert mixed_volume([[[0, 0], [1, 0]], [[0, 0], [5, 0], [2, 0]]]) == 0, "a variable that is missing"
    n = 9
    assert mixed_volume([[[0] * n, [2 if i == j else 0 for j in range(n)]] for i in range(n)]) == 2**n
    degree = 1000
    assert mixed_volume([[[0, 0], [degree, 0], [0, degree]]] * 2) == degree**2


def test_refusals_and_limits():
    with pytest.raises(InvalidProblem, match="whole coordinates"):
        mixed_volume([[[0, -1], [1, 0]], [[0, 0], [1, 1]]])
    with pytest.raises(OutOfBudget, match="more work"):
        mixed_cells(supports(cyclic(7)), budget=100)
    huge = 10**9
    with pytest.raises(OutOfBudget, match="64 bits"):
        mixed_cells([[[0, 0, 0], [huge, 1, 0], [1, huge, 3], [0, 5, huge]]] * 3)


@pytest.mark.parametrize("rows", [eco(9), cyclic(7)])
def test_threads_change_nothing(rows):
    supports = [list(terms) for terms in PolynomialSystem.read(rows).equations]
    one, two = (mixed_cells(supports, rng=3, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.edges, two.edges) and np.array_equal(one.volumes, two.volumes)
    assert one.work == two.work
    with pytest.raises(OutOfBudget):
        mixed_cells(supports, rng=3, budget=one.work - 1, threads=2)
