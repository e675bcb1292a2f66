"""Numbers of real critical points and local minima: against a scan of the loss itself, and closed forms."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shallows as sh
from shallows.discriminants import critical_students, ellipse, landscape_at, rank_one
from shallows.mathematics.exact.binary_forms import real_zeros
from shallows.questions.discriminants.counting import count_zeros

EUCLIDEAN = {"m11": 1, "m12": 0, "m22": 1}


def scan(gram, target, points=20_001):
    """Extrema of p/√q on a fine circle: (number of critical directions, number of local minima of the loss)."""
    d = len(target) - 1
    phi = np.linspace(0, 2 * np.pi, 2 * points)[:-1] + 0.001234
    powers = np.cos(phi)[:, None] ** np.arange(d, -1, -1) * np.sin(phi)[:, None] ** np.arange(d + 1)
    height = powers @ gram @ target / np.sqrt(np.einsum("ki,ij,kj->k", powers, gram, powers))
    rises = np.diff(np.append(height, height[0])) > 0
    turns = np.flatnonzero(rises != np.roll(rises, 1))
    peaks = sum(1 for k in turns if np.sign(height[k]) == (1 if rises[k - 1] else -1))
    return len(turns) // 2, peaks // 2


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
def test_counts_against_a_scan_of_the_loss(degree, rng):
    P = rank_one(degree)
    gram = sh.IID.laplace(2).gram(degree)
    seen = set()
    for k in range(12):
        centre = np.array([1, *np.zeros(degree - 1), 1]) * (k % 2)
        target = np.round(centre + (1 - 0.6 * (k % 2)) * rng.standard_normal(degree + 1), 3)
        found = landscape_at(P, data=sh.IID.laplace(2), **dict(zip(P.teacher, target.tolist(), strict=True)))
        assert (found.real_count, found.local_minima) == scan(gram, target)
        seen.add(found.real_count)
    assert len(seen) > 1  # the test sees more than one landscape


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_the_sign_gives_the_count_modulo_four(degree, rng):
    P = rank_one(degree)
    checked = 0
    for _ in range(10):
        values = dict(zip(P.teacher, rng.integers(-4, 5, degree + 1).tolist(), strict=True))
        allowed = P.real_counts(data=sh.IID.uniform(2), **values)
        found = landscape_at(P, data=sh.IID.uniform(2), **values)
        if not (found.on_discriminant or found.at_vertex):
            assert found.real_count in allowed
            checked += 1
    assert checked > 5


def test_degree_4_shares_a_sign_between_different_counts():
    """The sign of P says no more than the count modulo four."""
    P = rank_one(4).specialize(data=sh.Gaussian(2)).reduced()
    rng = np.random.default_rng(5)
    seen = {}
    for _ in range(60):
        values = dict(zip(P.teacher, rng.integers(-4, 5, 5).tolist(), strict=True))
        seen.setdefault(P.sign(**values), set()).add(landscape_at(P, **values).real_count)
    assert seen[-1] == {4} and seen[1] == {2}  # four complex critical points are left: here the sign decides
    generic = rank_one(4)
    assert generic.curve.counts(1) == (2, 6, 10) and generic.curve.counts(-1) == (4, 8)


def test_ellipse_four_inside_and_two_outside_the_evolute():
    P = ellipse(4, 1)
    assert landscape_at(P, **EUCLIDEAN, x="1/2", y="1/4").real_count == 4
    assert landscape_at(P, **EUCLIDEAN, x=2, y=1).real_count == 2
    assert landscape_at(P, **EUCLIDEAN, x="3/2", y=0).on_discriminant  # a cusp, at (p−q)/√p


def test_critical_points_of_an_ellipse_are_critical(rng):
    P = ellipse(4, 1)
    for _ in range(8):
        x, y = np.round(rng.uniform(-3, 3, 2), 3).tolist()
        students = critical_students(P, m11=2, m12=0.5, m22=1, x=x, y=y)
        M = np.array([[2, 0.5], [0.5, 1]])
        for s in students:
            assert s.entries[0] ** 2 / 4 + s.entries[1] ** 2 == pytest.approx(1)
            tangent = np.array([-4 * s.entries[1], s.entries[0]])
            assert tangent @ M @ (s.entries - [x, y]) == pytest.approx(0, abs=1e-9)
        kinds = [s.kind for s in students]
        assert kinds.count("local minimum") == kinds.count("local maximum") == len(students) // 2
        assert students[0].kind == "local minimum"


@pytest.mark.parametrize("degree", [2, 3])
def test_critical_students_are_critical_for_the_problem(degree, rng):
    P = rank_one(degree)
    for _ in range(5):
        target = np.round(rng.standard_normal(degree + 1), 3)
        values = dict(zip(P.teacher, target.tolist(), strict=True))
        problem = sh.Problem(sh.SymmetricTensor(target, 2, degree), sh.IID.laplace(2), width=1)
        expected = landscape_at(P, data=sh.IID.laplace(2), **values)
        students = critical_students(P, data=sh.IID.laplace(2), **values)
        assert len(students) == expected.real_count
        assert sum(s.kind == "local minimum" for s in students) == expected.local_minima
        for s in students:
            w = np.array([np.cos(s.angle), np.sin(s.angle)])
            strength = float(
                s.entries @ np.array([w[0] ** (degree - k) * w[1] ** k for k in range(degree + 1)])
            )
            strength /= float(np.sum([(w[0] ** (degree - k) * w[1] ** k) ** 2 for k in range(degree + 1)]))
            net = sh.Network(w[None], a=[strength], activation=sh.Power(degree))
            assert problem.loss(net) == pytest.approx(s.loss)
            assert np.max(np.abs(problem.gradient(net))) < 1e-8 * max(1, s.loss)


def test_theorem_25_needs_the_vertex():
    """T = diag(1, ε) under Frobenius: off the discriminant for all ε near 0, yet the landscape changes at ε = 0.

    The point ε e₂e₂ᵀ is a saddle for ε > 0 and a local minimum for ε < 0; for ε = 0 it is the cone's vertex.
    """
    P = rank_one(2).specialize(data=sh.Frobenius(2), t00=1, t01=0)
    tiny = Fraction(1, 10**6)
    assert [P.sign(t11=e) for e in (-tiny, 0, tiny)] == [1, 1, 1]
    found = [landscape_at(P, t11=e) for e in (-tiny, 0, tiny)]
    assert [f.real_count for f in found] == [2, 1, 2]
    assert [f.local_minima for f in found] == [2, 1, 1]
    assert [f.at_vertex for f in found] == [0, 1, 0]


def test_gaussian_counts_are_those_of_theorem_35():
    """C(2,1) = 2 critical points: a minimum and a saddle, or two minima, one of each sign."""
    P = rank_one(2)
    for t00, t11 in [(3, 1), (3, -2), (-2, -5), (1, -4)]:
        found = landscape_at(P, data=sh.Gaussian(2), t00=t00, t01=0, t11=t11)
        # p = ⟨ww, T⟩ = 2 wᵀTw + tr(T)|w|² has a zero exactly when its eigenvalues 2tᵢ + tr T differ in sign
        mixed = (2 * t00 + t00 + t11) * (2 * t11 + t00 + t11) < 0
        assert (found.real_count, found.local_minima) == (2, 2 if mixed else 1)


def test_infinitely_many_critical_points_are_said_so():
    found = landscape_at(rank_one(2), data=sh.Frobenius(2), t00=1, t01=0, t11=1)
    assert found.infinite and found.on_discriminant
    assert landscape_at(rank_one(2), data=sh.Frobenius(2), t00=0, t01=0, t11=0).on_discriminant
    with pytest.raises(sh.InvalidProblem, match="wall"):
        critical_students(rank_one(2), data=sh.Frobenius(2), t00=1, t01=0, t11=1)


# -- binary forms ----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-6, 6), min_size=3, max_size=8))
def test_float_counts_are_exact_where_they_are_certain(form):
    assume(any(form))
    values = np.array(form, dtype=np.float64)[:, None]
    count, certain = count_zeros(values, np.abs(values))
    real, multiple = real_zeros([Fraction(v) for v in form])
    assume(certain[0])
    assert count[0] == real and multiple == 0


def test_float_counts_know_what_they_do_not_know():
    double = np.array([1.0, -2.0, 1.0])[:, None]  # (1 − z)²
    assert not count_zeros(double, np.abs(double))[1][0]
    nearly = np.array([1.0, -2.0, 1.0 - 1e-3])[:, None]
    assert count_zeros(nearly, np.abs(nearly))[1][0]
