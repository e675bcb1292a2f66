"""Families of systems: start pairs, many members, real regions, discriminants, distance degrees.

Numbers of real roots are held against NumPy's companion matrices and Sturm's theorem in exact arithmetic, discriminants
against known formulas, distance degrees against published ones and a Gröbner basis modulo a prime.
"""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.homotopy.start_pairs import start_pair

Family = sh.homotopy.PolynomialFamily
CUBIC = Family.read(["x^3 + a*x + b"], ["x"], ["a", "b"])
HYPERBOLA = Family.read(["x^2 + y^2 - a", "x*y - b"], ["x", "y"], ["a", "b"])


def test_monodromy_finds_its_own_start() -> None:
    families = [
        (CUBIC, 3),
        (HYPERBOLA, 4),
        (Family.read(["x^5 - a"], ["x"], ["a"]), 5),
        (
            Family.read(["a*x^2 + b*x*y + c*y^2 - 1", "d*x^2 + e*y^2 + f*x - 2"], ["x", "y"], list("abcdef")),
            4,
        ),
        (Family.read(["x^2*p^2 - p + x^3"], ["x"], ["p"]), 3),  # not linear in the parameter
    ]
    for family, count in families:
        found = sh.homotopy.monodromy(family)
        assert (found.count, found.completeness) == (count, "trace-tested")
        for x in found.points:
            assert abs(family.member(list(found.parameters))(x)).max() < 1e-8


def test_a_compiled_family_finds_its_start_too() -> None:
    family = sh.homotopy.CompiledFamily(2, 2, HYPERBOLA.segment, HYPERBOLA.member)
    x, p = start_pair(family, np.random.default_rng(3))
    assert abs(x @ x - p[0]) < 1e-10 and abs(x[0] * x[1] - p[1]) < 1e-10
    assert sh.homotopy.solve_many(family, [[5, 2], [5, 3]]).real_counts.tolist() == [4, 0]


def test_no_start_is_said() -> None:
    never = Family.read(
        ["a^2*x^2*0 + x*a*0 + 1 + 0*x + x - x + a - a + x^2 - x^2 + 1*x*0 + x*a - x*a + x^3*a"], ["x"], ["a"]
    )
    assert sh.homotopy.monodromy(never).count == 3  # 1 + a x³: it is there, at p ≠ 0
    with pytest.raises(sh.InvalidProblem, match="give both"):
        sh.homotopy.monodromy(CUBIC, [[1.0]])


def test_many_members_against_companion_matrices() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 2)) * 3
    many = sh.homotopy.solve_many(CUBIC, table)
    assert many.decided.all() and len(many) == 40
    for (a, b), found in zip(table, many, strict=True):
        roots = np.roots([1, 0, a, b])
        gaps = np.abs(found.finite.points - roots[None])
        assert gaps.min(axis=0).max() < 1e-8 and gaps.min(axis=1).max() < 1e-8
        assert found.real.count == np.count_nonzero(abs(roots.imag) < 1e-9)


def test_special_members_are_not_counted_wrongly() -> None:
    """Zero roots, double roots, triple roots, two solutions at infinity."""
    many = sh.homotopy.solve_many(CUBIC, [[1, 0], [-1, 0], [-3, 2], [0, 0]])
    assert many.decided.tolist() == [True, True, False, False]
    assert many.real_counts[:2].tolist() == [1, 3]
    falling = Family.read(["a*x^2 + b*x - 1"], ["x"], ["a", "b"])
    assert sh.homotopy.solve_many(falling, [[0, 2], [1, 0]]).counts.tolist() == [1, 2]


def test_known_solutions_are_used_and_bad_tables_refused() -> None:
    start = sh.homotopy.monodromy(CUBIC)
    many = sh.homotopy.solve_many(CUBIC, [[-3, 1]], known=start)
    assert many[0].real.count == 3 and many.generic.completeness == "trace-tested"
    for wrong in ([[1, 2, 3]], [[np.nan, 1]], [[[1, 2]]]):
        with pytest.raises(sh.InvalidProblem, match="one member a row"):
            sh.homotopy.solve_many(CUBIC, wrong)
    told: list[str] = []
    sh.homotopy.solve_many(CUBIC, [[-3, 1], [1, 1]], progress=told.append)
    assert told[-1] == "2 of 2 members"


def test_real_regions_of_the_cubic() -> None:
    """Three real roots exactly where 4a³ + 27b² < 0; every crossing is on that curve."""
    axes = [np.linspace(-3.1, 2.9, 9), np.linspace(-2.9, 3.2, 10)]
    found = sh.homotopy.real_counts(CUBIC, axes)
    a, b = np.meshgrid(*axes, indexing="ij")
    assert np.array_equal(found.counts, np.where(4 * a**3 + 27 * b**2 < 0, 3, 1))
    a, b = found.crossings.T
    assert len(a) > 5 and np.abs(4 * a**3 + 27 * b**2).max() < 1e-2
    assert {*zip(found.before.tolist(), found.after.tolist(), strict=True)} <= {(1, 3), (3, 1)}
    figure = found.figure()
    assert figure.data[0].type == "heatmap" and len(figure.data[1].x) == len(a)
    assert figure.layout.xaxis.title.text == "a"


def test_one_parameter_and_refusals() -> None:
    family = Family.read(["x^4 - 2*x^2 + c"], ["x"], ["c"])
    found = sh.homotopy.real_counts(family, [[-1.0, 0.5, 2.0]])
    assert found.counts.tolist() == [2, 4, 0]
    assert np.allclose(found.crossings[:, 0], [0, 1], atol=1e-4)
    assert found.figure().data[0].y.tolist() == [2, 4, 0]
    with pytest.raises(sh.InvalidProblem, match="grid has 1 axes"):
        sh.homotopy.real_counts(CUBIC, [[1, 2]])


def test_discriminants_against_formulas() -> None:
    found = sh.homotopy.discriminant(CUBIC)
    assert found.exact and found.factors == ("4*a^3 + 27*b^2",)
    quartic = sh.homotopy.discriminant(Family.read(["x^4 + a*x^2 + b*x + c"], ["x"], ["a", "b", "c"]))
    text = "16*a^4*c - 4*a^3*b^2 - 128*a^2*c^2 + 144*a*b^2*c - 27*b^4 + 256*c^3"
    assert quartic.exact and quartic.factors == (text,)
    assert abs(quartic.value([-2.0, 0.0, 1.0])) < 1e-9  # (x² − 1)²
    conics = Family.read(["x^2 + a*y + b", "y^2 + c*x + 1"], ["x", "y"], ["a", "b", "c"])
    both = sh.homotopy.discriminant(conics)
    assert both.exact and both.degree == 8
    for point in both.points:  # a double solution, by another solve
        member = sh.homotopy.solve(conics.member(list(point)), on_incomplete="return")
        roots = np.vstack([member.finite.points, member.singular.points])
        gaps = np.abs(roots[:, None] - roots[None]).max(axis=2) + np.eye(len(roots))
        assert member.singular.count or gaps.min() < 1e-3


def test_a_discriminant_that_is_too_large_is_numerical() -> None:
    family = Family.read(["x^2 + y - a", "y^2 + z - b", "z^2 + x - c"], ["x", "y", "z"], ["a", "b", "c"])
    found = sh.homotopy.discriminant(family)
    assert not found.exact and found.degree == 12 and "known numerically" in repr(found)
    with pytest.raises(sh.InvalidProblem, match="numerically only"):
        found.value([1, 2, 3])
    for point in found.points[:3]:  # x = a − y, … is one polynomial in y of degree 8
        a, b, c = point
        p = np.polynomial.polynomial
        y = np.array([0, 1], complex)
        z = p.polysub([b], p.polymul(y, y))
        eliminated = p.polyadd(p.polyadd(p.polypow(z, 4), -2 * c * p.polymul(z, z)), [c * c - a])
        zeros = p.polyroots(p.polyadd(eliminated, y))
        gaps = np.abs(zeros[:, None] - zeros[None]) + np.eye(len(zeros))
        assert gaps.min() < 1e-4


@pytest.mark.parametrize(
    ("equations", "degree"),
    [
        (["x^2 + y^2 - 1"], 2),  # circle, and every sphere
        (["x^2 + y^2 + z^2 - 1"], 2),
        (["x^2 + 4*y^2 - 4"], 4),  # ellipse
        (["y - x^2"], 3),  # parabola
        (["(x^2 + y^2 + x)^2 - x^2 - y^2"], 3),  # cardioid
        (["x^3 + 2*y^3 + x^2*y + 3*x*y + x - 5*y + 7"], 9),  # general plane cubic: d²
        (["x^2 + 2*y^2 + 5*z^2 + x*y - 3*y*z + x - 2"], 6),  # general quadric surface: d Σ (d−1)^i
        (["x1*x2 - x0*x3"], 2),  # Hurwitz determinant, n = 3, projective
        (["x1*x2 - x3"], 5),  # the same, affine
        (["y - x^2", "z - x^3"], 5),  # rational curves t ↦ (t, …, t^d): 2d − 1
        (["a*v - b*u", "a*w - c*u", "b*w - c*v"], 2),  # 2 × 3 matrices of rank one: Eckart and Young
        (["a*(v*r - w*q) - b*(u*r - w*p) + c*(u*q - v*p)"], 3),  # 3 × 3 of rank two
        (["(x^2 + y^2 - 1)*((x - 3)^2 + y^2 - 1)"], 4),  # two circles
        (["1 + 2*x*y*z - x^2 - y^2 - z^2"], 10),  # Cayley's cubic, by a Gröbner basis
    ],
)
def test_distance_degrees(equations: list[str], degree: int) -> None:
    assert sh.homotopy.ed_degree(equations) == degree


def test_distance_degrees_where_combinations_of_the_equations_have_more_solutions() -> None:
    """3 × 4 matrices of rank two, by Eckart and Young: two combinations of the four minors vanish elsewhere, too, and
    multipliers are infinite where the variety meets that."""
    rows = [
        "+".join(
            f"({sign}1)*x0{a}*x1{b}*x2{c}"
            for sign, (a, b, c) in (
                ("+", (i, j, k)), ("-", (i, k, j)), ("-", (j, i, k)),
                ("+", (j, k, i)), ("+", (k, i, j)), ("-", (k, j, i)),
            )
        )
        for i, j, k in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
    ]  # fmt: skip
    assert [sh.homotopy.ed_degree(rows, rng=seed) for seed in range(3)] == [3, 3, 3]


def test_a_distance_degree_by_gröbner_basis() -> None:
    """Standard monomials of the critical ideal of xyz = 1 modulo a prime; no path is tracked."""
    sympy = pytest.importorskip("sympy")
    x, y, z, t = names = sympy.symbols("x y z t")
    f = x * y * z - 1
    equations = [
        f,
        *(v - u - t * sympy.diff(f, v) for v, u in zip((x, y, z), (1234, 777, 4321), strict=True)),
    ]
    basis = sympy.groebner(equations, *names, order="grevlex", modulus=32003)
    leading = [sympy.Poly(g, *names).monoms(order="grevlex")[0] for g in basis.exprs]
    standard, waiting = set(), [(0, 0, 0, 0)]
    while waiting:
        m = waiting.pop()
        if m in standard or any(all(a >= b for a, b in zip(m, lead, strict=True)) for lead in leading):
            continue
        standard.add(m)
        waiting += [tuple(e + (k == i) for k, e in enumerate(m)) for i in range(4)]
    assert sh.homotopy.ed_degree(["x*y*z - 1"]) == len(standard)


def test_distance_degrees_refuse_mixed_dimensions() -> None:
    with pytest.raises(sh.InvalidProblem, match="one dimension"):
        sh.homotopy.ed_degree(["x*z", "y*z"])
