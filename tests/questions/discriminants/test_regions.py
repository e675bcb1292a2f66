"""Landscapes on slices: constant off the walls, jumps by two across the discriminant (paper 000, Theorem 25)."""

import numpy as np
import pytest

import shallows as sh
from shallows.discriminants import (
    ellipse,
    focal_curve,
    landscape_at,
    landscape_regions,
    rank_one,
    vertex_curve,
)

LAPLACE = sh.Problem(np.eye(2), sh.IID.laplace(2), width=1)
CUBIC = sh.Problem(sh.SymmetricTensor([1.0, 0.3, -0.5, 2.0], 2, 3), sh.IID.laplace(2), width=1)
EUCLIDEAN = {"m11": 1, "m12": 0, "m22": 1}

SLICES = {
    "laplace": lambda: landscape_regions(LAPLACE, ("t00", -1, 3), ("t01", -2, 2), resolution=61),
    "diagonal": lambda: landscape_regions(LAPLACE, ("t00", -1, 3), ("t11", -1, 3), resolution=61),
    "cubic": lambda: landscape_regions(CUBIC, ("t001", -3, 3), ("t011", -3, 3), resolution=61),
    "ellipse": lambda: landscape_regions(ellipse(4, 1), ("x", -3, 3), ("y", -4, 4), resolution=61, **EUCLIDEAN),
    "cubic Gaussian": lambda: landscape_regions(
        rank_one(3), ("t000", -3, 3), ("t111", -3, 3), data=sh.Gaussian(2), t001=1, t011=-0.5, resolution=61
    ),
    "quartic": lambda: landscape_regions(
        rank_one(4), ("t0000", -3, 3), ("t1111", -3, 3), data=sh.IID.uniform(2), t0001=0, t0011=1, t0111=0.25,
        resolution=41,
    ),
    "metric": lambda: landscape_regions(
        rank_one(2), ("t00", -2, 2), ("m0101", 0.2, 3), m0000=1, m1111=1, m0001=0, m0011=0, m0111=0, t01=0.3, t11=1,
        resolution=41,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SLICES)
def test_counts_are_the_exact_ones_at_random_grid_points(name, rng):
    found = SLICES[name]()
    for _ in range(40):
        i, j = rng.integers(len(found.y)), rng.integers(len(found.x))
        exact = found.at(float(found.x[j]), float(found.y[i]))
        if exact.on_discriminant or exact.at_vertex:
            assert found.real_counts[i, j] == 0
        else:
            assert found.real_counts[i, j] == exact.real_count
            assert found.local_minima[i, j] == exact.local_minima


@pytest.mark.parametrize("name", SLICES)
def test_real_counts_jump_by_two_and_minima_by_one(name):
    found = SLICES[name]()
    assert len(found.walls) >= 1
    long = max(wall.edges for wall in found.walls)
    for wall in found.walls:
        if wall.edges > long / 4:  # not a corner where several walls meet
            if wall.kind == "discriminant":
                assert abs(wall.real_change) == 2 and abs(wall.minima_change) == 1
            else:
                assert wall.real_change == 0 and abs(wall.minima_change) == 1


@pytest.mark.parametrize("name", SLICES)
def test_random_points_of_a_region_have_its_landscape(name):
    found = SLICES[name]()
    for region in found.regions[:4]:
        for x, y in found.random_points(region.label, 4, rng=1):
            exact = found.at(float(x), float(y))
            assert (exact.real_count, exact.local_minima) == (region.real_count, region.local_minima)
        at = found.at(*region.point)
        assert (at.real_count, at.local_minima) == (region.real_count, region.local_minima)
    with pytest.raises(sh.InvalidProblem, match="no region"):
        found.random_points(99, 1)


def test_the_landscapes_of_heavy_tails():
    found = SLICES["laplace"]()
    kinds = [(r.real_count, r.local_minima) for r in found.regions]
    assert kinds == [(2, 1), (2, 2), (4, 2)]
    assert sum(r.share for r in found.regions) == pytest.approx(1, abs=0.01)
    assert "4 real critical points, 2 local minima" in repr(found)


def test_a_problem_and_its_discriminant_give_the_same_slice():
    one = SLICES["laplace"]()
    two = landscape_regions(
        rank_one(2), ("t00", -1, 3), ("t01", -2, 2), data=sh.IID.laplace(2), t11=1, resolution=61
    )
    three = landscape_regions(LAPLACE, ("t00", one.x), ("t01", one.y))
    assert np.array_equal(one.real_counts, two.real_counts)
    assert np.array_equal(one.real_counts, three.real_counts)
    free = landscape_regions(LAPLACE, ("t00", -1, 3), ("m0101", 1, 2), t01=0.1, resolution=21)
    at = landscape_at(
        rank_one(2), t00=float(free.x[5]), t01=0.1, t11=1, m0101=float(free.y[7]),
        m0000=6, m1111=6, m0011=1, m0001=0, m0111=0,
    )  # fmt: skip
    assert free.real_counts[7, 5] == at.real_count


def test_moments_as_variables():
    """Symmetric i.i.d. data: μ4 on an axis; the Gram matrix is quadratic in μ2 and checked everywhere."""
    Q = rank_one(2).specialize(data="symmetric iid")
    found = landscape_regions(Q, ("mu2", 0.8, 1.2), ("mu4", 3.2, 12), t00=1, t01=0.2, t11=1, resolution=9)
    exact = landscape_at(rank_one(2), data=sh.IID(2, [1, 0, 0.8, 0, 12]), t00=1, t01=0.2, t11=1)
    assert found.real_counts[-1, 0] == exact.real_count == 4
    with pytest.raises(sh.InvalidProblem, match="positive definite"):  # μ4 > μ2² fails in one corner
        landscape_regions(Q, ("mu2", 0.8, 3), ("mu4", 3.2, 12), t00=1, t01=0.2, t11=1, resolution=9)


# -- focal curves and vertex walls ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "P",
    [
        ellipse(4, 1).specialize(m11=2, m12=0.5, m22=1),
        ellipse(3, 2).specialize(**EUCLIDEAN),
        rank_one(2).specialize(data=sh.IID.laplace(2), t11=1),
        rank_one(2).specialize(data=sh.IID.uniform(2), t01=0.25),
        rank_one(3).specialize(data=sh.IID.uniform(2), t000=1, t011=0.5),
        rank_one(3).specialize(data=sh.Gaussian(2), t000=1, t011=0.5).reduced(),
    ],
    ids=["ellipse", "irrational axes", "laplace", "uniform", "degree 3", "reduced"],
)
def test_focal_curves_are_zeros_of_the_polynomial(P):
    """The envelope of the lines F(φ) = 0 against the polynomial: two unrelated ways to the same curve."""
    curve = focal_curve(P, samples=60)
    sizes = {name: np.abs(value) for name, value in P.terms.items()}
    checked = 0
    for x, y in zip(curve.x, curve.y, strict=True):
        if not np.isfinite(x) or max(abs(x), abs(y)) > 50:
            continue
        scale = sum(float(c) * abs(x) ** e[0] * abs(y) ** e[1] for e, c in sizes.items())
        value = float(P.evaluate(**dict(zip(P.variables, (float(x), float(y)), strict=True))))
        assert abs(value) <= 1e-9 * scale
        checked += 1
    assert checked > 20


def test_the_landscape_differs_on_the_two_sides_of_a_focal_curve():
    P = ellipse(4, 1).specialize(**EUCLIDEAN)
    curve = focal_curve(P, samples=37)
    for x, y in zip(curve.x[1:-1:5], curve.y[1:-1:5], strict=True):
        inner, outer = (landscape_at(P, x=float(f * x), y=float(f * y)).real_count for f in (0.98, 1.02))
        assert (inner, outer) == (4, 2)


def test_the_vertex_wall_of_iid_data():
    """p = Σ (ΣT)_I w^I is a quadratic form: the wall is det = 0, here by hand for t11 = 1, Laplace (μ4 = 6, μ2 = 1)."""
    wall = vertex_curve(rank_one(2).specialize(data=sh.IID.laplace(2), t11=1), samples=50)
    inside = np.isfinite(wall.x) & (np.abs(wall.x) < 30)
    # p = (6 t00 + 1) x² + 4 t01 xy + (t00 + 6) y²
    det = (6 * wall.x + 1) * (wall.x + 6) - 4 * wall.y**2
    assert np.sum(inside) > 20 and np.max(np.abs(det[inside])) < 1e-9 * 30**2
    with pytest.raises(sh.InvalidProblem, match="rank-one"):
        vertex_curve(ellipse().specialize(**EUCLIDEAN))


# -- bad input -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: landscape_regions(3, ("t00", 0, 1), ("t11", 0, 1)), "expected a Problem"),
        (lambda: landscape_regions(LAPLACE, ("t00", 0, 1), ("t22", 0, 1)), "t22"),
        (lambda: landscape_regions(LAPLACE, ("t00", 0, 1), ("t00", 0, 1)), "without a value"),
        (lambda: landscape_regions(LAPLACE, ("t00", 1, 0), ("t11", 0, 1)), "strictly increasing"),
        (lambda: landscape_regions(LAPLACE, ("t00",), ("t11", 0, 1)), "An axis"),
        (lambda: landscape_regions(LAPLACE, ("t00", 0, 1), ("t11", 0, 1), resolution=1), "resolution"),
        (lambda: landscape_regions(rank_one(2), ("t00", 0, 1), ("t11", 0, 1)), "without a value"),
        (lambda: landscape_regions(LAPLACE, ("t00", 0, 1), ("m0101", -1, 1), t01=0, t11=1), "positive definite"),
        (lambda: landscape_regions(sh.Problem(np.eye(3), sh.Gaussian(3), 1), ("t00", 0, 1), ("t11", 0, 1)), "3 inputs"),
        (lambda: landscape_regions(sh.Problem(np.eye(2), sh.Gaussian(2), 2), ("t00", 0, 1), ("t11", 0, 1)), "width 2"),
        (lambda: landscape_regions(sh.Problem(np.eye(2), sh.Gaussian(2), 1, outer="ones"), ("t00", 0, 1),
                                   ("t11", 0, 1)), "outer weight is fixed"),
        (lambda: landscape_regions(sh.Problem(np.eye(2), sh.Gaussian(2), 1, norm_neuron=True), ("t00", 0, 1),
                                   ("t11", 0, 1)), "norm neuron"),
        (lambda: focal_curve(rank_one(2)), "exactly two"),
        (lambda: focal_curve(rank_one(2).specialize(data=sh.Gaussian(2), t00="a^2", t01="b", t11=0)), "not linear"),
    ],
)  # fmt: skip
def test_bad_input(call, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        call()
