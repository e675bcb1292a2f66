"""Tests of the oracle itself: it notices charts that were tampered with, and leaves right ones alone.

The thorough test runs 3,000 charts and wants none of them wrong.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.oracle import msolve, sturm
from tests.oracle.drawing import diagonal, rows
from tests.oracle.exact import GaussianLaw, Given, IIDLaw, MetricLaw, NamedLaw, RadialLaw, SamplesLaw
from tests.oracle.newton import Precise, number
from tests.oracle.problems import FAMILIES, draw
from tests.oracle.search import Units, critical, family_dimension
from tests.oracle.strata import Frames, Powers
from tests.oracle.verdict import judge

import shallows as sh

METRIC = MetricLaw(2, 2, rows([[5.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 3.0]]))
GENERIC = Given(GaussianLaw(3), 2, 2, matrix=rows([[3.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, -2.0]]))
TWO_MINIMA = Given(IIDLaw(2, (1.0, 0.0, 1.0, 0.0, 30.0)), 2, 1, matrix=rows([[2.0, 0.25], [0.25, 1.5]]))
CIRCLE = Given(GaussianLaw(3), 2, 1, matrix=diagonal(3.0, 1.0, 1.0))
RIGHT = {
    "Gaussian, two neurons": GENERIC,
    "two minima": TWO_MINIMA,
    "a family of saddles": CIRCLE,
    "metric": Given(METRIC, 2, 2, matrix=rows([[1.0, 0.5], [0.5, -2.0]])),
    "moved": Given(GaussianLaw(2, mean=(1.0, 0.5)), 2, 1, matrix=rows([[2.0, 0.5], [0.5, -1.0]])),
    "cubic": Given(NamedLaw(2, "laplace"), 3, 1, entries=(1.0, -2.0, 0.5, 3.0)),
    "fixed outer weights": Given(GaussianLaw(2), 2, 2, matrix=diagonal(2.0, -1.0), outer=(1.0, 1.0)),
}


def tampered(point: Any, **changes: Any) -> Any:
    """A point of a chart with some of its attributes changed."""
    names = ("loss", "rank", "signature", "kind", "tensor", "network", "certificate", "limit")
    return SimpleNamespace(**({name: getattr(point, name) for name in names} | changes))


def another(family: Any, **changes: Any) -> Any:
    """A family with some of its attributes changed."""
    names = ("rank", "dimension", "loss", "samples", "tensor", "signature", "certificate")
    return SimpleNamespace(**({name: getattr(family, name) for name in names} | changes))


def changed(chart: Any, points: list[Any] | None = None, families: Any = None, **more: Any) -> Any:
    """A chart with other points or families."""
    listed = list(chart.points) if points is None else points
    real = {rank: sum(p.rank == rank for p in listed) for rank in chart.real_count}
    parts = {
        "points": listed,
        "families": chart.families if families is None else families,
        "completeness": chart.completeness,
        "complex_count": chart.complex_count,
        "real_count": real,
        "notes": chart.notes,
        "minimum": min(listed, key=lambda p: p.loss),
        "attained": chart.attained,
    }
    return SimpleNamespace(**(parts | more))


def complaints(given: Given, tamper: Any) -> str:
    return "; ".join(judge(given, lambda problem: tamper(sh.chart(problem))).complaints)


# -- right charts and tampered ones --------------------------------------------------------------------------


@pytest.mark.parametrize("name", RIGHT)
def test_right_charts_are_left_alone(name: str) -> None:
    assert judge(RIGHT[name]).complaints == []


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_deleted_point_is_missed(place: int) -> None:
    def tamper(chart: Any) -> Any:
        return changed(chart, [p for i, p in enumerate(chart.points) if i != place])

    assert "missing" in complaints(TWO_MINIMA, tamper)


def test_a_deleted_point_of_rank_two_is_missed() -> None:
    assert "missing" in complaints(GENERIC, lambda chart: changed(chart, list(chart.points)[1:]))


@pytest.mark.parametrize("shift", [1e-12, 1e-9, 1e-3])
def test_a_point_outside_its_radius_is_noticed(shift: float) -> None:
    def tamper(chart: Any) -> Any:
        first = chart.points[0]
        d = first.tensor.degree
        net = sh.Network(first.network.W * (1 + shift), first.network.a, sh.Power(d))
        moved = tampered(first, tensor=net.tensor(), network=net)
        return changed(chart, [moved, *chart.points[1:]])

    assert "certificate radius" in complaints(GENERIC, tamper)


def test_a_radius_that_is_too_small_is_noticed() -> None:
    def tamper(chart: Any) -> Any:
        first = chart.points[0]
        tight = SimpleNamespace(radius=1e-30, signature_certified=True, rank_certified=True)
        return changed(chart, [tampered(first, certificate=tight), *chart.points[1:]])

    assert "certificate radius" in complaints(TWO_MINIMA, tamper)


@pytest.mark.parametrize(
    ("place", "kind"), [(0, "saddle"), (0, "local minimum"), (1, "global minimum"), (2, "local minimum")]
)
def test_a_wrong_kind_is_noticed(place: int, kind: str) -> None:
    def tamper(chart: Any) -> Any:
        return changed(
            chart, [tampered(p, kind=kind) if i == place else p for i, p in enumerate(chart.points)]
        )

    assert "called " + kind in complaints(TWO_MINIMA, tamper)


def test_a_wrong_signature_loss_or_count_is_noticed() -> None:
    def signature(chart: Any) -> Any:
        return changed(chart, [tampered(chart.points[0], signature=(1, 0, 1)), *chart.points[1:]])

    def loss(chart: Any) -> Any:
        first = chart.points[0]
        return changed(chart, [tampered(first, loss=first.loss * (1 - 1e-7)), *chart.points[1:]])

    def count(chart: Any) -> Any:
        return changed(chart, complex_count={0: 1, 1: 7})

    assert "signature (1, 0, 1), but it is (2, 0, 0)" in complaints(TWO_MINIMA, signature)
    assert "the loss there is" in complaints(TWO_MINIMA, loss)
    assert "complex_count says 7" in complaints(TWO_MINIMA, count)


def test_a_point_listed_twice_is_noticed() -> None:
    assert "listed twice" in complaints(TWO_MINIMA, lambda c: changed(c, [c.points[0], *c.points]))


def test_a_dropped_family_is_noticed() -> None:
    assert "family missing" in complaints(CIRCLE, lambda chart: changed(chart, families=()))


def test_a_wrong_family_is_noticed() -> None:
    def grown(chart: Any) -> Any:
        return changed(chart, families=[another(f, dimension=2) for f in chart.families])

    def moved(chart: Any) -> Any:
        return changed(
            chart, families=[another(f, samples=[1.001 * s for s in f.samples]) for f in chart.families]
        )

    def invented(chart: Any) -> Any:
        first = chart.points[0]
        family = SimpleNamespace(
            rank=1, dimension=1, loss=first.loss, samples=[first.tensor], certificate=None
        )
        return changed(chart, families=[family])

    assert "its dimension is 1" in complaints(CIRCLE, grown)
    assert "sample" in complaints(CIRCLE, moved)
    assert "no continuum" in complaints(TWO_MINIMA, invented)


def test_a_wrong_certificate_of_a_family_is_noticed() -> None:
    def renamed(chart: Any) -> Any:
        return changed(chart, families=[another(f, signature=(0, 1, 2)) for f in chart.families])

    def off(chart: Any) -> Any:
        return changed(chart, families=[another(f, tensor=(1 + 1e-9) * f.tensor) for f in chart.families])

    assert "certified signature" in complaints(CIRCLE, renamed)
    assert "away" in complaints(CIRCLE, off)


def test_the_kind_of_a_family_is_judged_where_it_has_one() -> None:
    """The circle of diag(3, 1, 1): one negative direction."""

    def named(kind: str, index: int) -> Any:
        return lambda chart: changed(
            chart, families=[another(f, kind=kind, index=index) for f in chart.families]
        )

    assert complaints(CIRCLE, named("saddle", 1)) == ""
    assert "called local minimum" in complaints(CIRCLE, named("local minimum", 1))
    assert "called global minimum" in complaints(CIRCLE, named("global minimum", 1))
    assert "index 0" in complaints(CIRCLE, named("saddle", 0))


def test_errors_and_numbers_that_are_not_finite_are_noticed() -> None:
    def broken(problem: Any) -> Any:
        raise ZeroDivisionError("one over nothing")

    def refused(problem: Any) -> Any:
        raise sh.InvalidProblem("no")

    def infinite(chart: Any) -> Any:
        return changed(chart, [tampered(p, loss=np.inf) for p in chart.points])

    assert "not typed" in judge(GENERIC, broken).complaints[0]
    assert judge(GENERIC, refused).complaints == ["refused: InvalidProblem: no"]
    assert judge(replace(GENERIC, may_refuse=True), refused).status == "refused"
    assert "a loss is inf" in complaints(GENERIC, infinite)


def test_a_chart_that_claims_little_may_miss_points() -> None:
    def tamper(chart: Any) -> Any:
        rest = [p for p in chart.points if p is not chart.points[2]]
        return changed(chart, rest, completeness="sampled")

    assert complaints(TWO_MINIMA, tamper) == ""


# -- the parts -----------------------------------------------------------------------------------------------


def test_moments_are_the_known_ones() -> None:
    gaussian = GaussianLaw(2, covariance=((2.0, 0.5), (0.5, 1.0)), mean=(1.0, -1.0))
    # E x²y² = (Σxx + m²)(Σyy + m²) + 2Σxy² + 4 Σxy mx my
    assert gaussian.moment((2, 2)) == Fraction(3 * 2) + 2 * Fraction(1, 4) - 4 * Fraction(1, 2)
    assert RadialLaw(3).moment((2, 2, 0)) == Fraction(1, 15)
    assert NamedLaw(2, "laplace").moment((4, 2)) == 6
    assert SamplesLaw(2, ((1.0, 2.0), (3.0, 0.5))).moment((1, 1)) == Fraction(7, 4)


#: Places in the list of families but that of zero targets, which may be refused.
DRAWN = [k for k in range(0, 2 * len(FAMILIES), 2) if list(FAMILIES)[k % len(FAMILIES)] != "zero_target"]


@pytest.mark.parametrize("k", DRAWN)
def test_exact_problems_are_those_of_the_library(k: int) -> None:
    """The Gram matrix and the loss of a network, by two codes."""
    drawn = (draw(k, seed)[1] for seed in range(99, 199))
    given = next(given for given in drawn if not given.may_refuse)
    problem = given.problem()
    gram = np.array([[float(x) for x in row] for row in given.gram])
    assert np.allclose(problem.gram(), gram, rtol=1e-12, atol=1e-13 * np.max(np.abs(gram)))
    rng = np.random.default_rng(k)
    a = np.ones(given.width) if given.outer is None else np.array(given.outer)
    size = float(max(abs(x) for x in given.target)) or 1.0
    net = sh.Network(
        size ** (1 / given.degree) * rng.standard_normal((given.width, given.n)), a, sh.Power(given.degree)
    )
    assert problem.loss(net) == pytest.approx(float(given.network_loss(net.W, net.a)), rel=1e-9)


@pytest.mark.parametrize(
    "stratum", [Powers(2, 3, (1, -1)), Powers(3, 2, (-1,)), Frames(3, (0, 2)), Frames(4, (1,))]
)
def test_derivatives_on_a_stratum_are_difference_quotients(stratum: Any, rng: np.random.Generator) -> None:
    p, h = rng.standard_normal(stratum.size), 1e-6
    value, J = stratum.evaluate(p)
    c = rng.standard_normal(len(value))
    bend = stratum.bend(p, c)
    for k in range(stratum.size):
        step = h * np.eye(stratum.size)[k]
        up, down = stratum.evaluate(p + step), stratum.evaluate(p - step)
        assert np.allclose((up[0] - down[0]) / (2 * h), J[:, k], atol=1e-7)
        assert np.allclose(c @ (up[1] - down[1]) / (2 * h), bend[k], atol=1e-6)


def test_sturm_knows_simple_double_and_all_directions() -> None:
    """diag(2, 1) under Gaussian data: losses 8/3 and 32/3 (Theorem 35); the identity: a circle of loss 8/3."""
    two = sturm.circle(Given(GaussianLaw(2), 2, 1, matrix=diagonal(2.0, 1.0)))
    assert [(float(x.loss), x.bend) for x in two.directions] == [
        (pytest.approx(8 / 3), 1),
        (pytest.approx(32 / 3), -1),
    ]
    everywhere = sturm.circle(Given(GaussianLaw(2), 2, 1, matrix=diagonal(1.0, 1.0)))
    assert float(everywhere.everywhere) == pytest.approx(8 / 3)
    # where the outer weight vanishes there is no point: cos^10 has its zero of order ten at π/2
    teacher = sturm.circle(Given(MetricLaw(2, 2, diagonal(1.0, 2.0, 1.0)), 2, 1, matrix=diagonal(1.0, 0.0)))
    assert [float(x.loss) for x in teacher.directions] == [0.0]
    # z³ − z² has a double root at 0: 2 distinct real roots
    assert [k for k, _ in sturm._square_free([0, 0, -1, 1])] == [1, 2]
    assert sturm.count_real_roots([-2, 0, 1], Fraction(-10), Fraction(10)) == 2


def test_newton_knows_a_circle_from_a_point() -> None:
    precise = Precise(CIRCLE)
    with mpmath.workdps(70):
        on_circle = (Powers(3, 2, (1,)), [0.0, (1 + 4 / 3) ** 0.5, 0.0])
        assert family_dimension(precise, *on_circle) == 1
        alone = precise.refine(Powers(3, 2, (1,)), [1.9, 0.01, 0.0])
        assert alone.converged and alone.signature == (3, 0, 0)
        assert abs(alone.entries[0] - (3 + number(Fraction(2, 3)))) < 1e-60


def test_the_search_finds_all_points_of_an_easy_problem() -> None:
    found = critical(Units.of(TWO_MINIMA), 1, np.random.default_rng(0))
    assert len(found) == len(sturm.circle(TWO_MINIMA).directions)


@pytest.mark.skipif(msolve.program() is None, reason="msolve is not installed")
def test_msolve_and_sturm_agree() -> None:
    for given in (TWO_MINIMA, RIGHT["cubic"]):
        neurons = msolve.real_neurons(given)
        assert neurons is not None and len(neurons.neurons) == len(sturm.circle(given).directions)


# -- many ----------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(30))
def test_no_chart_is_wrong(part: int) -> None:
    """3,000 charts of special problems, a hundred at a time; `make adversary N=…` runs more."""
    from tests.oracle.__main__ import run

    wrong = [
        (k, v.given.code(), v.complaints)
        for _, k, v in run(100, first=100 * part, loud=False)
        if v.complaints
    ]
    assert not wrong
