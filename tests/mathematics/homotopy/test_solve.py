"""Known counts, all roots every time; determinism; what the result says."""

import sys

import numpy as np
import pytest
from bench.literature import cyclic, eco, katsura, noon, wilkinson

from shallows.homotopy import PolynomialSystem, Status, TrackerSettings, random_rank_one, solve
from shallows.mathematics.same_points import close_pairs
from shallows.support.errors import IncompleteChart, InvalidProblem

COUNTS = [
    ("katsura-4", katsura(4), 16, 3),
    ("katsura-7", katsura(7), 128, 2),
    ("katsura-9", katsura(9), 512, 1),
    ("noon-4", noon(4), 73, 3),
    ("noon-6", noon(6), 717, 1),
    ("eco-5", eco(5), 8, 4),
    ("eco-6", eco(6), 16, 2),
    ("eco-7", eco(7), 32, 1),
    ("cyclic-5", cyclic(5), 70, 2),
]


def check(rows, count, seed):
    result = solve(rows, rng=seed)
    assert result.status is Status.COMPLETE and not result.failed and not result.singular
    assert result.finite.count == count
    assert result.finite.count + result.at_infinity.count == result.paths
    assert max(s.residual for s in result.finite) < 1e-12
    first, _ = close_pairs(result.finite.points, np.full(count, 1e-7))
    assert not len(first), "two listed solutions coincide"
    system = PolynomialSystem.read(rows)
    value = max(np.abs(system(x)).max() / (1 + np.abs(x).max()) ** 4 for x in result.finite.points[:20])
    assert value < 1e-10


@pytest.mark.parametrize(("name", "rows", "count", "seeds"), COUNTS)
def test_known_counts(name, rows, count, seeds):
    for seed in range(seeds):
        check(rows, count, seed)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "rows", "count"),
    [(f"katsura-{n}", katsura(n), 2**n) for n in range(1, 10)]
    + [(f"noon-{n}", noon(n), 3**n - 2 * n) for n in range(3, 7)]
    + [(f"eco-{n}", eco(n), 2 ** (n - 2)) for n in range(3, 8)]
    + [("cyclic-5", cyclic(5), 70)],
)
@pytest.mark.parametrize("seed", range(10, 18))
def test_known_counts_many_seeds(name, rows, count, seed):
    check(rows, count, seed)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(50))
def test_fifty_seeds_lose_no_root(seed):
    check(katsura(7), 128, seed)
    system = random_rank_one(6, np.random.default_rng(seed))
    result = solve(system, rng=seed)
    assert result.status is Status.COMPLETE and result.finite.count == 364


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_rank_one_counts(n):
    for seed in range(3):
        result = solve(random_rank_one(n, np.random.default_rng(seed)), rng=seed)
        assert result.status is Status.COMPLETE and result.finite.count == (3**n - 1) // 2


def test_rank_one_agrees_with_its_expansion():
    system = random_rank_one(3, np.random.default_rng(5))
    structured = solve(system, rng=1).finite.points
    expanded = solve(system.polynomials(), rng=1).finite.points
    assert len(expanded) == 27
    both = np.vstack([structured, -structured, np.zeros((1, 3))])
    distance = np.abs(both[:, None] - expanded[None]).max(axis=2)
    assert distance.min(axis=0).max() < 1e-9 and distance.min(axis=1).max() < 1e-9


def test_multihomogeneous_start_takes_fewer_paths():
    rows = eco(6)
    groups = [[f"x{k}" for k in range(1, 6)], ["x6"]]
    fewer, all_paths = solve(rows, groups=groups, rng=3), solve(rows, rng=3, start="total degree")
    assert fewer.paths < all_paths.paths and fewer.start == "multihomogeneous"
    assert fewer.finite.count == all_paths.finite.count == 16
    gaps = np.abs(fewer.finite.points[:, None] - all_paths.finite.points[None]).max(axis=2)
    assert gaps.min(axis=1).max() < 1e-8
    eigen = solve(["2*x + y - s*x", "x + 3*y - s*y", "x + y - 1"], groups=[["x", "y"], ["s"]])
    values = sorted(eigen.finite.points[:, eigen.system.variables.index("s")].real)
    assert values == pytest.approx([(5 - 5**0.5) / 2, (5 + 5**0.5) / 2])


@pytest.mark.parametrize("degree", [8, 12])
def test_wilkinson(degree):
    for seed in range(4):
        result = solve(wilkinson(degree), rng=seed)
        assert result.finite.count == degree and result.status is Status.COMPLETE
        certificate = result.certify()
        assert certificate.complete and certificate.real_count == degree
        roots = sorted(root.point[0].real for root in certificate.certified)
        assert roots == pytest.approx(range(1, degree + 1), abs=1e-9)


def wilkinson_twenty(seed):
    result = solve(wilkinson(20), rng=seed)
    assert result.finite.count == result.real.count == 20 and result.status is Status.COMPLETE
    certificate = result.certify()
    assert certificate.complete and certificate.real_count == 20


def test_wilkinsons_polynomial_needs_multiple_precision():
    wilkinson_twenty(0)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(1, 6))
def test_wilkinsons_polynomial_many_seeds(seed):
    wilkinson_twenty(seed)


def test_multiple_precision_agrees_with_double(rng):
    from shallows.mathematics.homotopy._compiled.codes import PathStatus
    from shallows.mathematics.homotopy.paths import track
    from shallows.mathematics.homotopy.prepared import SparseProblem

    problem = SparseProblem(PolynomialSystem.read(noon(3)))
    homotopy, starts = problem.prepare(np.random.default_rng(2))
    rows = np.arange(0, 27, 2)
    precise = problem.precisely(np.random.default_rng(2), rows, 1000)
    double = track(homotopy, starts[rows])
    finite = double.status == PathStatus.ARRIVED
    assert (precise.status[finite] == PathStatus.PRECISE_REGULAR).all() and finite.sum() > 8
    assert (precise.status[~finite] == PathStatus.INFINITE).all()
    overlap = np.abs(np.einsum("ij,ij->i", precise.ends.conj(), double.ends))[finite]
    assert np.allclose(overlap / np.linalg.norm(double.ends[finite], axis=1), 1, atol=1e-12)


def test_coefficients_over_twelve_orders_of_magnitude():
    rows = ["1e-6*x^2*y - 1e6*y + 3", "1e5*y^2*x - 1e-4*x + 1e-2"]
    for seed in range(4):
        result = solve(rows, rng=seed)
        assert result.finite.count == 5 and result.real.count == 5 and not result.failed
        assert result.certify().count == 5
    wide = solve(["(x - 1e-6)*(x - 1)*(x - 1e6)"])
    assert sorted(wide.finite.points[:, 0].real) == pytest.approx([1e-6, 1, 1e6], rel=1e-9)
    one = solve(["1e-12*x^2 - 1", "1e12*y^3 - x"])
    assert one.finite.count == 6 and one.certify().complete


def test_complex_coefficients():
    result = solve(["x^2 - 2*I", "y - (1+I)*x"])
    points = sorted(result.finite.points.tolist(), key=lambda p: p[0].real)
    assert np.allclose(points, [[-1 - 1j, -2j], [1 + 1j, 2j]])
    assert result.nonreal.count == 2


def test_realness_is_scale_invariant():
    for factor in ("1e-9", "1", "1e9"):
        result = solve([f"(x/{factor})^4 - 1"])
        assert result.real.count == 2 and result.nonreal.count == 2 and not result.undecided
    close = solve(["(x - 1)^2 + 1e-22"], on_incomplete="return")
    assert close.real.count == 0 or close.singular.count == 1, "never two real roots out of a complex pair"


def test_same_seed_same_result_whatever_the_threads():
    for problem in (noon(4), random_rank_one(5, np.random.default_rng(1))):
        one, two = solve(problem, rng=7, threads=1), solve(problem, rng=7, threads=2)
        assert (one.finite.points == two.finite.points).all()
        assert (one.at_infinity.points == two.at_infinity.points).all()
        assert one.seed == two.seed == 7 and one.steps == two.steps
    other = solve(noon(4), rng=8)
    assert other.finite.count == 73 and other.steps != one.steps


def test_a_generator_gives_a_seed_that_repeats_the_run():
    generator = np.random.default_rng(3)
    first = solve(katsura(3), rng=generator)
    again = solve(katsura(3), rng=first.seed)
    assert (first.finite.points == again.finite.points).all()
    assert solve(katsura(3), rng=generator).seed != first.seed


def test_lost_paths_are_never_silent():
    settings = TrackerSettings(steps=3)
    with pytest.raises(IncompleteChart, match="paths were lost"):
        solve(katsura(4), settings=settings)
    result = solve(katsura(4), settings=settings, on_incomplete="return")
    assert result.status is Status.INCOMPLETE and result.failed.count > 0
    assert result.failed.count + result.finite.count == 16
    assert "more steps than allowed" in result.failed[0].note
    assert "incomplete" in repr(result)


def test_the_summary():
    text = repr(solve(noon(3), rng=4, start="total degree"))
    for words in ("finite, regular", "21", "at infinity", "6", "real", "seed", "complete"):
        assert words in text


def test_progress_goes_to_stderr_and_only_when_it_takes_long(capsys, monkeypatch):
    solve(katsura(3), progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("shallows.support.progress.PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    solve(katsura(3), progress=True)
    shown = capsys.readouterr()
    assert shown.out == "" and "tracking paths" in shown.err


def test_bad_rank_one_systems():
    from shallows.homotopy import RankOneSystem

    with pytest.raises(InvalidProblem, match="shape"):
        RankOneSystem.from_gram(np.eye(2), np.eye(2))
    with pytest.raises(InvalidProblem, match="not symmetric"):
        RankOneSystem.from_gram(np.eye(3), [[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(InvalidProblem, match="not a finite number"):
        RankOneSystem.from_gram(np.full((3, 3), np.nan), np.eye(2))
