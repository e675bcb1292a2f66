"""Parameter homotopy, monodromy with a symmetry group, the trace test, and evaluators of one's own."""

import numpy as np
import pytest
from numba import cfunc

from shallows.homotopy import (
    CompiledFamily,
    Homotopy,
    PolynomialFamily,
    check_homotopy,
    monodromy,
    solve,
    solve_member,
    trace_test,
)
from shallows.mathematics.homotopy._compiled.evaluators import SIGNATURE
from shallows.support.errors import InvalidProblem

CONICS = ["a*x^2 + b*x*y + c*y^2 + d*x + e*y + f", "g*x^2 + h*x*y + k*y^2 + l*x + m*y + o"]


def two_conics(rng):
    """The family of pairs of conics and a generic member through a random point."""
    family = PolynomialFamily.read(CONICS, ["x", "y"], list("abcdefghklmo"))
    x, y = point = rng.standard_normal(2) + 1j * rng.standard_normal(2)
    p = rng.standard_normal(12) + 1j * rng.standard_normal(12)
    monomials = np.array([x * x, x * y, y * y, x, y])
    p[5], p[11] = -p[:5] @ monomials, -p[6:11] @ monomials
    return family, point, p


@pytest.mark.parametrize("seed", range(3))
def test_monodromy_finds_the_four_points_of_two_conics(seed, rng):
    family, point, p = two_conics(rng)
    result = monodromy(family, point, p, rng=seed)
    assert result.count == 4 and result.completeness == "trace-tested"
    assert solve(family.member(p)).finite.count == 4
    by_count = monodromy(family, point, p, rng=seed, target=4)
    assert by_count.completeness == "count-matched"
    assert monodromy(family, point, p, rng=seed, trace=False).completeness == "sampled"


def test_the_trace_test_fails_when_a_solution_is_missing(rng):
    family, point, p = two_conics(rng)
    points = monodromy(family, point, p, target=4).points
    whole = trace_test(family, points, p, rng)
    assert whole.passed and whole.defect < 1e-9 and not len(whole.missing)
    for k in range(4):
        partial = trace_test(family, np.delete(points, k, axis=0), p, rng)
        assert not partial.passed


def test_a_symmetry_group_is_divided_out(rng):
    family = PolynomialFamily.read(
        ["a*x^2 + b*y^2 - c", "d*x^2*y^2 + e*x*y - f"], ["x", "y"], ["a", "b", "c", "d", "e", "f"]
    )
    x, y = point = rng.standard_normal(2) + 1j * rng.standard_normal(2)
    p = rng.standard_normal(6) + 1j * rng.standard_normal(6)
    p[2], p[5] = p[0] * x * x + p[1] * y * y, p[3] * (x * y) ** 2 + p[4] * x * y
    halves = monodromy(family, point, p, group=[np.eye(2), -np.eye(2)])
    assert halves.count == 4 and halves.completeness == "trace-tested"
    assert monodromy(family, point, p).count == 8
    as_function = monodromy(family, point, p, group=lambda z: np.array([z, -z]), target=4)
    assert as_function.count == 4

    def invariants(points):
        u, v = points.T
        return np.stack([u * u, u * v, v * v], axis=1)

    by_invariants = monodromy(family, point, p, invariants=invariants, target=4)
    assert by_invariants.count == 4 and by_invariants.paths >= 4
    with pytest.raises(InvalidProblem, match="More than 2 solutions"):
        monodromy(family, point, p, limit=2)


def test_parameter_homotopy_to_real_members(rng):
    family, point, p = two_conics(rng)
    points = monodromy(family, point, p, target=4).points
    wanted = [1, 0, 1, 0, 0, -5, 0, 1, 0, 0, 0, -2]  # x² + y² = 5, xy = 2
    result = solve_member(family, points, p, wanted)
    assert sorted(result.real.points.round(9).tolist()) == [[-2, -1], [-1, -2], [1, 2], [2, 1]]
    assert result.certify().count == 4 and result.start == "parameter homotopy"
    # from one real member to another, around the discriminant
    other = [1, 0, 1, 0, 0, 5, 0, 1, 0, 0, 0, -2]  # x² + y² = −5: no real point
    moved = solve_member(family, result.finite.points, wanted, other)
    assert moved.finite.count == 4 and moved.real.count == 0
    # tangent: the circle x² + y² = 4 touches xy = 2 in two points
    tangent = solve_member(family, points, p, [1, 0, 1, 0, 0, -4, 0, 1, 0, 0, 0, -2])
    assert sorted(tangent.singular.multiplicities) == [2, 2]


def test_affine_paths_to_infinity_are_recognised(rng):
    """x³ + p·x² = 1 with the coefficient of x³ going to 0: one of three roots runs to infinity like 1/t."""
    family = PolynomialFamily.read(["a*x^3 + b*x^2 - c"], ["x"], ["a", "b", "c"])
    start = [1 + 0.3j, 0.7 - 0.2j, 1.1 + 0.4j]
    points = np.roots([start[0], start[1], 0, -start[2]])[:, None]
    result = solve_member(family, points, start, [0, 1, 4])
    assert sorted(result.finite.points.real.ravel().round(9).tolist()) == [-2, 2]
    assert result.at_infinity.count == 1 and result.failed.count == 0
    large = solve_member(family, points, start, [1e-5, 1, 4])  # a finite root near −10⁵ is no infinity
    assert large.finite.count == 3 and large.at_infinity.count == 0


def test_bad_families(rng):
    family, point, p = two_conics(rng)
    with pytest.raises(InvalidProblem, match="no parameters"):
        PolynomialFamily.read(["x - 1"], ["x"], [])
    with pytest.raises(InvalidProblem, match="expected 12 finite parameters"):
        solve_member(family, [point], p, [1, 2])
    with pytest.raises(InvalidProblem, match="coordinates"):
        solve_member(family, [[1.0, 2.0, 3.0]], p, p)
    with pytest.raises(InvalidProblem, match="parameters"):
        monodromy(family, point, p[:3])
    with pytest.raises(InvalidProblem, match="has parameters"):
        solve(family.system)


@cfunc(SIGNATURE)
def cube_roots(point, complexes, reals, program, work, scratch, value, jacobian):
    """x³ = p(t), p(t) = complexes[0] + t·complexes[1]: a structured system of a user's own."""
    x, t = point[0], point[1]
    value[0] = x * x * x - (complexes[0] + t * complexes[1])
    jacobian[0] = 3 * x * x
    jacobian[1] = -complexes[1]


@cfunc(SIGNATURE)
def wrong_cube_roots(point, complexes, reals, program, work, scratch, value, jacobian):
    x, t = point[0], point[1]
    value[0] = x * x * x - (complexes[0] + t * complexes[1])
    jacobian[0] = 2 * x * x
    jacobian[1] = -complexes[1]


def cube_root_homotopy(start, target, evaluate=cube_roots):
    return Homotopy(
        evaluate,
        np.array([target[0], start[0] - target[0]]),
        np.zeros(1),
        np.zeros(1, np.int64),
        1,
        1,
        1,
    )


def test_a_compiled_family_of_ones_own():
    family = CompiledFamily(1, 1, cube_root_homotopy)
    start = np.array([1.0 + 0.5j])
    assert check_homotopy(family.segment(start, 2 * start), np.array([0.3 + 0.1j])) < 1e-8
    wrong = cube_root_homotopy(start, 2 * start, wrong_cube_roots)
    assert check_homotopy(wrong, np.array([0.3 + 0.1j])) > 1e-2
    root = start ** (1 / 3)
    found = monodromy(family, root, start)
    assert found.count == 3 and found.completeness == "trace-tested"
    result = solve_member(family, found.points, start, [8.0])
    assert result.finite.count == 3 and np.allclose(result.real.points, [[2]])
    with pytest.raises(InvalidProblem, match="no exact system"):
        result.certify()


def test_solutions_that_hardly_know_of_the_others_do_not_pass_for_all():
    """(x² − a)(10⁴x² − b) = 1: two pairs of very different size; the large ones alone bend by 7·10⁻⁸."""
    family = PolynomialFamily.read(["(x^2 - a)*(10^4*x^2 - b) - 1"], ["x"], ["a", "b"])
    a, b = parameters = np.array([1.3 + 0.4j, 0.8 - 0.7j])
    every = np.roots([1e4, 0, -(b + 1e4 * a), 0, a * b - 1])
    large = every[np.argsort(-np.abs(every))[:2]]
    assert trace_test(family, every[:, None], parameters, np.random.default_rng(1)).passed
    assert not trace_test(family, large[:, None], parameters, np.random.default_rng(0)).passed
