"""The discriminants of paper 000, section 3.3: published sizes, closed forms, slow references, bad input."""

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import Ordering, fmpq, fmpz, fmpz_mpoly_ctx
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.discriminants import Discriminant, ellipse, load, rank_one
from shallows.mathematics.homotopy.parser import parse
from shallows.questions.discriminants.curves import RankOneCurve
from shallows.questions.discriminants.polynomial import generic

EUCLIDEAN = {"m11": 1, "m12": 0, "m22": 1}
METRIC_3 = sh.Metric(2, 3, [[3, 1, 0, 0.5], [1, 5, 1, 0], [0, 1, 4, 1], [0.5, 0, 1, 7]])
small = st.integers(-4, 4)


# -- published numbers -------------------------------------------------------------------------------------


def test_rank_one_of_degree_2_has_5938_terms_and_bidegree_6_12():
    P = rank_one(2)
    assert (P.n_terms, P.bidegree) == (5938, (6, 12))
    degrees = {(sum(e[:3]), sum(e[3:])) for e in P.terms}
    assert degrees == {(6, 12)}  # bihomogeneous
    assert np.gcd.reduce(np.array(list(P.terms.values()), dtype=object)) == 1
    assert P.factor().multiplicities == [1]


def test_distribution_induced_metrics_give_2060_terms():
    by_name = rank_one(2).specialize(m0101="m0011")
    by_kind = rank_one(2).specialize(data="moments")
    assert by_name.n_terms == by_kind.n_terms == 2060
    assert by_name.factor().multiplicities == [1]


def test_symmetric_iid_data_give_68_terms():
    Q = rank_one(2).specialize(data="symmetric iid")
    by_hand = rank_one(2).specialize(m0000="mu4", m1111="mu4", m0011="mu2^2", m0101="mu2^2", m0001=0, m0111=0)
    assert Q.n_terms == by_hand.n_terms == 68
    assert set(Q.variables) == {"t00", "t01", "t11", "mu2", "mu4"}
    assert Q.factor().multiplicities == [1]


def test_ellipse_has_152_terms_and_bidegree_6_6():
    P = ellipse(4, 1)
    assert (P.n_terms, P.bidegree) == (152, (6, 6))
    assert P.factor().multiplicities == [1]
    assert {(max(sum(e[:2]) for e in P.terms), sum(e[2:])) for e in P.terms} == {(6, 6)}


@pytest.mark.parametrize("data", [sh.Frobenius(2), sh.Gaussian(2)])
def test_frobenius_and_gaussian_are_cubes_of_the_discriminant_of_the_characteristic_polynomial(data):
    factors = rank_one(2).specialize(data=data).factor()
    assert factors.unit == 1
    assert [(f.text, f.multiplicity) for f in factors] == [("t00^2 - 2*t00*t11 + 4*t01^2 + t11^2", 3)]


def test_the_factors_multiply_to_the_polynomial():
    for P in (
        rank_one(2).specialize(data="symmetric iid", t01=0),
        ellipse(4, 1),
        rank_one(2).specialize(t00=0, t11=0),
    ):
        factors = P.factor()
        product = P.polynomial.context().constant(factors.unit)
        for polynomial, multiplicity in factors:
            product *= polynomial**multiplicity
        assert product == P.polynomial


def test_negative_control_another_metric_is_no_cube():
    assert rank_one(2).specialize(data=sh.IID.uniform(2)).factor().multiplicities == [1]


def test_at_t01_zero_the_iid_discriminant_is_two_cubed_linear_walls():
    factors = rank_one(2).specialize(data="symmetric iid", t01=0).factor()
    assert factors.multiplicities == [3, 3]
    # the walls t11/t00 = (μ4² − 3μ2⁴)/(2μ2²μ4) and its inverse
    walls = {f.text for f in factors}
    assert walls == {"2*t00*mu4*mu2^2 - t11*mu4^2 + 3*t11*mu2^4", "t00*mu4^2 - 3*t00*mu2^4 - 2*t11*mu4*mu2^2"}


def test_degree_3_with_a_numeric_metric_has_455_terms_of_degree_12():
    P = rank_one(3).specialize(data=METRIC_3)
    assert (P.n_terms, P.bidegree) == (455, (12, 0))
    assert P.factor().multiplicities == [1]
    assert rank_one(3).bidegree == (12, 24)


def test_degree_3_iid_metrics_keep_the_even_half():
    assert rank_one(3).specialize(data=sh.IID.laplace(2)).n_terms == 231


# -- closed forms and slow references ---------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "q"), [(4, 1), (3, 7), (Fraction(1, 2), Fraction(9, 5)), (2, 2)])
def test_the_euclidean_focal_curve_of_an_ellipse_is_its_evolute(p, q):
    """(p x² + q y² − (p−q)²)³ + 27 p q (p−q)² x² y² = 0, classical."""
    P = ellipse(p, q).specialize(**EUCLIDEAN)
    p, q = Fraction(p), Fraction(q)
    ratios = set()
    for x, y in product((-2, 1, 3), (1, 2, Fraction(1, 3))):
        evolute = (p * x**2 + q * y**2 - (p - q) ** 2) ** 3 + 27 * p * q * (p - q) ** 2 * x**2 * y**2
        ratios.add(P.evaluate(x=x, y=y) / evolute if evolute else None)
    ratios.discard(None)
    assert len(ratios) == 1 and ratios.pop() > 0


def test_an_ellipse_is_a_circle_in_other_coordinates():
    """x²/9 + y²/4 = 1 with teacher (3X, 2Y) and metric M is the circle with teacher (X, Y) and metric DMD."""
    circle, P = ellipse(1, 1), ellipse(9, 4)
    ratios = set()
    for X, Y, a, b, c in [(1, 2, 3, 1, 2), (2, -1, 5, -1, 1), (Fraction(1, 2), 3, 2, 1, 4)]:
        value = P.evaluate(x=3 * X, y=2 * Y, m11=a, m12=b, m22=c)
        ratios.add(value / circle.evaluate(x=X, y=Y, m11=9 * a, m12=6 * b, m22=4 * c))
    assert len(ratios) == 1


def test_the_invariants_agree_with_the_generic_discriminant_of_flint():
    """4I³ − J² against fmpz_mpoly.discriminant, all 5938 terms."""
    curve = RankOneCurve(2)
    names = ["z", *curve.teacher, *curve.metric]
    context = fmpz_mpoly_ctx.get(names, Ordering.lex)
    symbol = dict(zip(names, context.gens(), strict=True))
    gram = [
        [curve.weights[i] * curve.weights[j] * symbol[curve.names[i][j]] for j in range(3)] for i in range(3)
    ]
    target = [symbol[name] for name in curve.teacher]
    form = curve.coefficients(gram, target)
    slow = sum((c * symbol["z"] ** k for k, c in enumerate(form)), context.constant(0)).discriminant("z")
    slow = -slow / slow.content()
    assert {tuple(map(int, e[1:])): int(v) for e, v in slow.to_dict().items()} == rank_one(2).terms


def reference(gram, target):
    """Disc F from its complex zeros: F₄^(2D−2) Π (zᵢ − zⱼ)², F from polynomial arithmetic in NumPy."""
    d = len(target) - 1
    p, q = np.polynomial.Polynomial(gram @ target), np.polynomial.Polynomial(0)
    for i, row in enumerate(gram):
        for j, entry in enumerate(row):
            q = q + entry * np.polynomial.Polynomial([0] * (i + j) + [1])
    form = (2 * p.deriv() * q - p * q.deriv()).coef[: 3 * d - 1]
    zeros = np.roots(form[::-1])
    gaps = np.prod([(a - b) ** 2 for i, a in enumerate(zeros) for b in zeros[i + 1 :]])
    return (form[-1] ** (2 * len(form) - 4) * gaps).real


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_values_against_the_zeros_of_the_form(degree, rng):
    curve = RankOneCurve(degree)
    P = generic(curve)
    ratios = []
    for _ in range(4):
        A = rng.integers(-2, 3, (degree + 1, degree + 1)) + 3 * np.eye(degree + 1, dtype=int)
        gram = (A @ A.T).astype(float)
        target = rng.integers(-3, 4, degree + 1)
        values = {n: int(t) for n, t in zip(curve.teacher, target, strict=True)}
        for i in range(degree + 1):
            for j in range(i, degree + 1):
                values[curve.names[i][j]] = Fraction(int(gram[i, j]), curve.weights[i] * curve.weights[j])
        ratios.append(float(P.evaluate(**values)) / reference(gram, target.astype(float)))
    assert np.ptp(ratios) <= 1e-6 * abs(ratios[0])
    assert np.sign(ratios[0]) == curve.sign


def test_specialising_and_evaluating_commute(rng):
    P = rank_one(2)
    for _ in range(3):
        t = [int(v) for v in rng.integers(-5, 6, 3)]
        values = {"t00": t[0], "t01": t[1], "t11": t[2]}
        one = P.evaluate(data=sh.IID.laplace(2), **values)
        two = P.specialize(data=sh.IID.laplace(2)).evaluate(**values)
        assert (one > 0) == (two > 0) and (one == 0) == (two == 0)
    m = {"m0000": 3, "m0001": 0, "m0011": 1, "m0101": 2, "m0111": 1, "m1111": 4}
    step = P.specialize(t00=1, t01=2).specialize(t11=3)
    assert step.sign(**m) == P.sign(t00=1, t01=2, t11=3, **m)


def test_numbers_of_every_kind_are_read_exactly():
    P = ellipse(4, 1).specialize(**EUCLIDEAN)
    numbers = ("1/2", "0.5", 0.5, Fraction(1, 2), Decimal("0.5"), fmpq(1, 2), np.float64(0.5))
    half = {P.evaluate(x=value, y=1) for value in numbers}
    assert len(half) == 1
    assert P.evaluate(x=fmpz(3), y=1) == P.evaluate(x=3, y=np.int64(1))
    assert P.evaluate(x=0.1, y=0) != P.evaluate(x="0.1", y=0)  # a float is the binary number it is


def test_variable_to_variable_and_polynomials():
    P = rank_one(2).specialize(data=sh.IID.uniform(2))
    twice = P.specialize(t00="a + b", t11="a - b", t01=0)
    assert set(twice.variables) == {"a", "b"}
    assert twice.sign(a=2, b=1) == P.sign(t00=3, t01=0, t11=1)
    assert P.specialize(t01="t00").variables == ("t00", "t11")


@given(small, small, small, st.integers(1, 3))
def test_scaling_the_teacher_scales_by_the_sixth_power(a, b, c, k):
    P = rank_one(2).specialize(data=sh.IID.uniform(2))
    assert P.evaluate(t00=k * a, t01=k * b, t11=k * c) == k**6 * P.evaluate(t00=a, t01=b, t11=c)


@given(small, small, small)
def test_iid_data_are_symmetric_in_signs_and_order_of_the_inputs(a, b, c):
    P = rank_one(2).specialize(data=sh.IID.laplace(2))
    value = P.evaluate(t00=a, t01=b, t11=c)
    assert value == P.evaluate(t00=a, t01=-b, t11=c) == P.evaluate(t00=c, t01=b, t11=a)


@given(small, small, small, st.integers(-2, 2), st.integers(-2, 2))
def test_the_sign_does_not_depend_on_the_coordinates_of_the_inputs(a, b, c, k, l):
    """Inputs x → Ax turn T into AᵀTA and the Gaussian metric of A⁻¹; shears are exact in integers."""
    A = np.array([[1, k], [0, 1]]) @ np.array([[1, 0], [l, 1]])
    inverse = np.array([[1, 0], [-l, 1]]) @ np.array([[1, -k], [0, 1]])
    T = np.array([[a, b], [b, c]])
    moved = inverse.T @ T @ inverse  # f(x) = xᵀTx with x = A⁻¹y
    P = rank_one(2)
    first = P.evaluate(data=sh.Gaussian(2), t00=a, t01=b, t11=c)
    second = P.evaluate(
        data=sh.Gaussian(2, covariance=(A @ A.T).astype(float)),
        t00=int(moved[0, 0]), t01=int(moved[0, 1]), t11=int(moved[1, 1]),
    )  # fmt: skip
    assert (first > 0) - (first < 0) == (second > 0) - (second < 0)


# -- rotation-invariant metrics ---------------------------------------------------------------------------------


def test_rotation_invariant_metrics_make_it_vanish_from_degree_3_on_and_reduced_repairs_that():
    for data in (sh.Gaussian(2), sh.Frobenius(2), sh.Sphere(2)):
        P = rank_one(3).specialize(data=data)
        assert P.n_terms == 0
        assert P.reduced().bidegree == (4, 0)
        assert P.reduced().curve.degree == 3  # the Frobenius count ((d−1)ⁿ−1)/(d−2)
    assert (
        rank_one(2).specialize(data=sh.Gaussian(2)).reduced().text() == "t00^2 - 2*t00*t11 + 4*t01^2 + t11^2"
    )


def test_reduced_leaves_generic_metrics_alone():
    P = rank_one(3).specialize(data=METRIC_3)
    assert P.reduced() is P
    assert ellipse().reduced() is ellipse()


# -- high degrees ------------------------------------------------------------------------------------------------


def test_degree_4_is_not_expanded_but_exact_at_points_and_on_slices():
    P = rank_one(4)
    assert not P.expanded and P.bidegree == (18, 36)
    with pytest.raises(sh.InvalidProblem, match="too large"):
        P.n_terms
    with pytest.raises(sh.InvalidProblem, match="too large"):
        P.factor()
    values = {"t0000": 1, "t0001": 2, "t0011": -1, "t0111": 0, "t1111": 3}
    assert isinstance(P.evaluate(data=sh.IID.laplace(2), **values), Fraction)
    assert P.real_counts(data=sh.IID.laplace(2), **values) in ((2, 6, 10), (4, 8))  # modulo four, no more
    line = P.specialize(data=sh.IID.laplace(2), t0000=1, t0001=2, t0011=-1, t0111=0)
    assert line.expanded and line.bidegree == (18, 0)
    assert line.sign(t1111=3) == P.sign(data=sh.IID.laplace(2), **values)


# -- text, LaTeX, files --------------------------------------------------------------------------------------------


def test_text_reads_back_and_latex_is_latex():
    P = rank_one(2).specialize(data="symmetric iid", t01=0)
    read = {tuple(dict(m).get(v, 0) for v in P.variables): int(c.real) for m, c in parse(P.text()).items()}
    assert read == P.terms
    assert r"\mu_{4}^{" in P.latex() and "t_{00}^{" in P.latex() and "*" not in P.latex()
    assert rank_one(2).specialize(t00=0, t01=0, t11=0).text() == "0"


@pytest.mark.parametrize(
    "P",
    [
        rank_one(2),
        rank_one(3),
        ellipse(3, Fraction(1, 2)).specialize(m11=2),
        rank_one(3).specialize(data=sh.Gaussian(2)).reduced(),
    ],
    ids=["full", "not expanded", "ellipse", "reduced"],
)
def test_save_and_load(P, tmp_path):
    P.save(tmp_path / "P.json")
    Q = load(tmp_path / "P.json")
    assert isinstance(Q, Discriminant) and repr(Q) == repr(P)
    assert Q.expanded == P.expanded
    if P.expanded:
        assert Q.terms == P.terms
    rest = {name: k + 2 for k, name in enumerate(P.teacher)}
    rest |= {name: 7 * (name[1 : 1 + len(name) // 2] == name[1 + len(name) // 2 :]) for name in P.metric}
    assert Q.evaluate(**rest) == P.evaluate(**rest)


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "P.json"
    with pytest.raises(sh.InvalidProblem, match="Cannot read"):
        load(path)
    path.write_text("nonsense")
    with pytest.raises(sh.InvalidProblem, match="not a JSON"):
        load(path)
    path.write_text('{"format": "other"}')
    with pytest.raises(sh.InvalidProblem, match="format 'other'"):
        load(path)
    path.write_text('{"format": "shallows discriminant", "version": 1}')
    with pytest.raises(sh.InvalidProblem, match="damaged"):
        load(path)


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: rank_one(1), "degree"),
        (lambda: rank_one(2.5), "degree"),
        (lambda: rank_one(True), "degree"),
        (lambda: rank_one(2.0), "degree"),
        (lambda: ellipse([4], 1), "not a number"),
        (lambda: ellipse(0, 1), "no ellipse"),
        (lambda: ellipse(4, -1), "no ellipse"),
        (lambda: ellipse(float("nan"), 1), "finite"),
        (lambda: rank_one(2).specialize(t22=1), "unknown variable t22"),
        (lambda: rank_one(2).specialize(t00="i"), "imaginary"),
        (lambda: rank_one(2).specialize(t00="x +"), "cannot read"),
        (lambda: rank_one(2).specialize(t00=[1]), "not a number"),
        (lambda: rank_one(2).specialize(data=sh.Gaussian(3)), "3 inputs"),
        (lambda: rank_one(2).specialize(data="cauchy"), "cauchy"),
        (lambda: rank_one(2).specialize(data=7), "data is 7"),
        (lambda: rank_one(2).specialize(data=sh.Gaussian(2), m0000=3), "given twice"),
        (lambda: rank_one(2).specialize(data=sh.Gaussian(2)).specialize(data=sh.Gaussian(2)), "no entry"),
        (lambda: rank_one(2).specialize(data=sh.IID.rademacher(2)), "not positive definite"),
        (lambda: ellipse().specialize(m11=1, m12=2, m22=1), "not positive definite"),
        (lambda: ellipse().evaluate(x=1, y=1, m11=-1, m12=0, m22=1), "not positive definite"),
        (lambda: ellipse().evaluate(x=1, y=1), "no number was given"),
        (lambda: ellipse().specialize(**EUCLIDEAN).evaluate(x="y", y=1), "expected a number"),
        (lambda: rank_one(2).specialize(t00=1j), "expected a real number"),
        (lambda: rank_one(2).specialize(data=sh.Gaussian(2)).evaluate(t00=1, t01=1), "no number"),
        (lambda: rank_one(2).specialize(data=sh.Gaussian(2)).evaluate(t00=1, t01=1, t11=1, u=2), "unknown"),
        (lambda: rank_one(2).reduced(), "all numbers"),
    ],
)  # fmt: skip
def test_bad_input(call, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        call()


def test_data_are_read_as_the_fractions_they_stand_for():
    P = rank_one(2).specialize(data=sh.IID.uniform(2))
    assert P.terms == rank_one(2).specialize(
        m0000="9/5", m1111="9/5", m0011=1, m0101=1, m0001=0, m0111=0
    ).terms  # fmt: skip
    assert max(abs(v) for v in P.terms.values()) < 10**9


@pytest.mark.parametrize("name", ["landscape_at", "focal_curve", "critical_students", "vertex_curve"])
def test_a_problem_is_no_discriminant(name):
    problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), 1)
    with pytest.raises(sh.InvalidProblem, match=r"expected a Discriminant. Fix: sh.discriminants.rank_one"):
        getattr(sh.discriminants, name)(problem)
