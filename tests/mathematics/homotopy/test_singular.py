"""Multiple roots, ends at infinity and positive-dimensional solution sets."""

import numpy as np
import pytest

from shallows.homotopy import PolynomialFamily, Status, solve, solve_member


@pytest.mark.parametrize("seed", range(4))
def test_double_and_triple_roots(seed):
    result = solve(["(x - 1)^2*(x - 2)^3*(x + 1)"], rng=seed)
    found = sorted((round(s.point[0].real, 5), s.multiplicity) for s in result.singular)
    assert found == [(1.0, 2), (2.0, 3)]
    assert np.allclose(result.finite.points, [[-1]]) and result.status is Status.COMPLETE
    assert result.certify().count == 1


@pytest.mark.parametrize("seed", range(4))
def test_tangent_curves(seed):
    # a parabola touching a line: double at the origin; a cubic inflecting on its tangent: triple
    double = solve(["y - x^2", "y"], rng=seed)
    assert double.singular.multiplicities == [2] and double.finite.count == 0
    triple = solve(["y - x^3", "y*(x - 2)"], rng=seed)
    assert triple.singular.multiplicities == [3]
    assert np.allclose(triple.singular.points, 0, atol=1e-5)
    assert np.allclose(triple.finite.points, [[2, 8]])
    # two conics with contact of order 3 and one transversal point
    contact = solve(["y - x^2 - y^2", "y - x^2 - x*y"], rng=seed)
    assert sorted(contact.singular.multiplicities) == [3] and contact.finite.count == 1


@pytest.mark.parametrize("seed", range(3))
def test_multiplicities_in_several_variables(seed):
    # local algebra of x² = y³ = 0 has dimension 6; of x² = xy = y² it would need three equations
    result = solve(["x^2*(z - 1)", "y^3*(z - 1) + x", "z - 3"], rng=seed)
    assert result.singular.multiplicities == [6]
    griewank = solve(["29/16*x^3 - 2*x*y", "y - x^2"], rng=seed)
    assert griewank.singular.multiplicities == [3] and griewank.finite.count == 0
    assert griewank.status is Status.COMPLETE


@pytest.mark.parametrize("seed", range(3))
def test_a_circle_met_with_itself(seed):
    result = solve(["x^2 + y^2 - 1", "2*x^2 + 2*y^2 - 2"], rng=seed)
    assert result.status is Status.POSITIVE_DIMENSIONAL
    assert result.continuum.count == 4 and not result.finite and not result.singular
    circle = (result.continuum.points**2).sum(axis=1)
    assert np.allclose(circle, 1, atol=1e-6)
    assert "infinitely many solutions" in repr(result)


@pytest.mark.parametrize("seed", range(3))
def test_a_line_and_a_point(seed):
    # {x = 0} ∪ {(1, 2)}: the isolated point is listed, the line is said to be one
    result = solve(["x*(x - 1)", "x*(y - 2)"], rng=seed)
    assert result.status is Status.POSITIVE_DIMENSIONAL and result.continuum
    assert np.allclose(result.finite.points, [[1, 2]])
    assert np.allclose(result.continuum.points[:, 0], 0, atol=1e-6)


def test_cyclic_four_is_positive_dimensional():
    from bench.literature import cyclic

    result = solve(cyclic(4), rng=1, on_incomplete="return")
    assert result.continuum.count > 0 and result.finite.count == 0


def test_no_solution_at_all():
    result = solve(["x + y - 1", "x + y - 2"])
    assert result.status is Status.COMPLETE and result.at_infinity.count == 1 and not result.isolated
    assert np.allclose(np.abs(result.at_infinity.points @ [1, 1]), 0, atol=1e-7), "the direction (1, −1)"


def test_a_nearly_double_root_is_two_roots():
    result = solve(["(x - 1)^2 - 1/100000000"])
    assert result.finite.count == 2 and result.real.count == 2
    assert result.certify().complete


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(40))
def test_multiplicities_many_seeds(seed):
    for rows, regular, multiplicities in (
        (["(x - 1)^2*(x - 2)^3*(x + 1)"], 1, [2, 3]),
        (["(x - 1)^4*(x + 2)"], 1, [4]),
        (["(x^2 - 1)^2", "y^2 - x"], 0, [2, 2, 2, 2]),
        (["(x - 1)^4", "(y - 2)^4"], 0, [16]),
        (["y - x^2 - y^2", "y - x^2 - x*y"], 1, [3]),
    ):
        result = solve(rows, rng=seed)
        assert result.finite.count == regular and sorted(result.singular.multiplicities) == multiplicities


@pytest.mark.parametrize(
    ("wanted", "root"), [([2, 1], 1.0), ([0, 0], 0.0), ([2e-3, 1e-6], 1e-3), ([2e3, 1e6], 1e3)]
)
def test_a_double_root_of_one_equation_in_one_unknown(wanted, root):
    """x² − ax + b: the Jacobian has a single pivot, which says nothing about its rank by itself."""
    family = PolynomialFamily.read(["x^2 - a*x + b"], ["x"], ["a", "b"])
    solutions = solve_member(family, [[0.0], [2.0]], [2, 0], wanted)
    (double,) = solutions.singular
    assert (double.multiplicity, solutions.finite.count) == (2, 0)
    assert double.point[0] == pytest.approx(root, abs=1e-6 * max(abs(root), 1e-3))


def test_simple_roots_of_one_equation_are_not_taken_as_double():
    family = PolynomialFamily.read(["x^2 - a*x + b"], ["x"], ["a", "b"])
    solutions = solve_member(family, [[0.0], [2.0]], [2, 0], [2, 1 - 1e-8])
    assert (solutions.finite.count, solutions.singular.count) == (2, 0)
    assert sorted(solutions.finite.points[:, 0].real) == pytest.approx([1 - 1e-4, 1 + 1e-4], abs=1e-9)
