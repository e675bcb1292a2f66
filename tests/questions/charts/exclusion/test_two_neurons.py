"""Two ReLU neurons in the plane: against Newton's method from many starts, dense Hessians and sabotage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.questions.damped_newton import damped_newton

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.exclusion.system import check_enclosure
from shallows.questions.charts.exclusion import two_neurons
from shallows.questions.charts.exclusion.pair_system import NeuronPairs, PlanarTarget
from shallows.questions.charts.exclusion.relu_target import ReLUTarget
from shallows.support.errors import InvalidProblem, NotConverged

NEAR = 1e-6
RNG = np.random.default_rng(3)
HEXAGON = [[np.cos(a), np.sin(a)] for a in np.arange(6) * np.pi / 3]
TEACHERS: list[tuple[str, Any, Any, Any]] = [
    ("orthonormal", np.eye(2), None, None),
    ("repeated and opposite", [[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.3, 1.0]], None, None),
    ("signs", [[1.0, 0.0], [0.3, 1.0], [-1.0, 0.5]], [1.0, -1.0, 1.0], None),
    ("triangle", [[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.9]], None, None),
    ("random", RNG.standard_normal((4, 2)), RNG.standard_normal(4), [[2.0, 0.4], [0.4, 0.7]]),
    ("tiny", 1e-6 * RNG.standard_normal((3, 2)), None, None),
    ("huge", 1e6 * RNG.standard_normal((3, 2)), None, None),
]


def problem_of(V: Any, b: Any, covariance: Any, outer: Any) -> sh.Problem:
    return sh.Problem(sh.Network(V, b, sh.ReLU()), sh.Gaussian(2, covariance), width=2, outer=outer)


def newton_ends(problem: sh.Problem, starts: int, seed: int) -> list[sh.Network]:
    """Networks of two neurons that are not parallel, from damped Newton iterations on the library's gradient."""
    rng = np.random.default_rng(seed)
    size = 6 if problem.outer is None else 4
    scale = float(problem.value(np.zeros((1, size)))[0]) ** 0.5
    lengths = np.array([scale**0.5] * 6 if size == 6 else [scale] * 4)
    x = rng.standard_normal((starts, size))

    def gradient(points: np.ndarray) -> np.ndarray:
        return problem.value_and_gradient(points * lengths)[1] * lengths / scale**2

    x = damped_newton(gradient, x, 1e-8)
    nets = []
    for row in (x * lengths)[np.linalg.norm(gradient(x), axis=1) < 1e-10]:
        W, a = row[:4].reshape(2, 2), row[4:] if size == 6 else problem.outer[0]
        amplitude = np.abs(a) * np.linalg.norm(W, axis=1)
        if amplitude.min() < 1e-4 * scale or np.linalg.norm(row) > 50 * np.linalg.norm(lengths):
            continue
        unit = W / np.linalg.norm(W, axis=1)[:, None]
        if abs(unit[0] @ unit[1]) < np.cos(0.011) or unit[0] @ unit[1] < 0:
            nets.append(sh.Network(W, a, sh.ReLU()))
    return nets


def function(net: sh.Network) -> np.ndarray:
    """(sign of a, |a| w) of both neurons, in an order."""
    a = np.atleast_2d(net.a)[0]
    rows = np.column_stack([np.sign(a), np.abs(a)[:, None] * net.W])
    return np.asarray(rows[np.lexsort(np.round(rows / np.abs(rows[:, 1:]).max(), 6).T)])


def missing(chart: sh.Chart, nets: list[sh.Network]) -> int:
    listed = [function(p.network) for p in chart.points if p.rank == 2]
    if not listed:
        return len(nets)
    size = max(np.abs(rows[:, 1:]).max() for rows in listed)
    gaps = [
        min(np.abs(rows[order][:, 1:] - f[:, 1:]).max() / size + np.abs(rows[order][:, 0] - f[:, 0]).max()
            for rows in listed for order in ([0, 1], [1, 0]))
        for f in map(function, nets)
    ]  # fmt: skip
    return int(np.sum(np.array(gaps) > NEAR))


CASES = [(*teacher, outer) for teacher in TEACHERS for outer in ("free", "ones")]
CASES += [(*TEACHERS[i], [[1.0, -2.0]]) for i in (0, 2)]


@pytest.mark.parametrize(("name", "V", "b", "covariance", "outer"), CASES)
def test_newton_finds_no_pair_outside_the_list(
    name: str, V: Any, b: Any, covariance: Any, outer: Any
) -> None:
    problem = problem_of(V, b, covariance, outer)
    chart = sh.chart(problem)
    assert chart.method == "exclusion" and chart.completeness == "proved"
    assert "boxes" not in chart.scope and "may be zero" not in chart.scope
    scale = float(problem.value(np.zeros((1, problem.size)))[0])
    for point in chart.points:
        assert problem.loss(point.network) == pytest.approx(point.loss, abs=1e-10 * scale)
        if point.rank < 2:
            continue
        eigenvalues = np.linalg.eigvalsh(problem.hessian(point.network))
        cut = 1e-7 * np.abs(eigenvalues).max()
        assert np.sum(eigenvalues < -cut) == point.signature[2] and point.certificate.signature_certified
        assert (
            np.abs(problem.gradient(point.network)).max()
            < 1e-9 * np.abs(eigenvalues).max() * np.abs(point.network.W).max()
        )
    assert missing(chart, newton_ends(problem, 40, 0)) == 0


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "V", "b", "covariance"), TEACHERS[:5], ids=[t[0] for t in TEACHERS[:5]])
def test_ten_thousand_starts_find_none_either(name: str, V: Any, b: Any, covariance: Any) -> None:
    problem = problem_of(V, b, covariance, "free")
    nets = newton_ends(problem, 10_000, 1)
    assert len(nets) > 100 and missing(sh.chart(problem), nets) == 0


def test_a_deleted_zero_is_noticed_by_newton(monkeypatch: Any) -> None:
    def short(system: Any, region: Intervals, **options: Any) -> Any:
        found = exclude(system, region, **options)
        keep = np.argsort(found.box.mid[:, 3])[1:]
        return replace(found, box=found.box[keep], domain=found.domain[keep])

    problem = problem_of(*TEACHERS[3][1:], "free")
    nets = newton_ends(problem, 60, 0)
    assert missing(sh.chart(problem), nets) == 0
    monkeypatch.setattr(two_neurons, "exclude", short)
    assert missing(sh.chart(problem), nets) > 0


@pytest.mark.parametrize("wrong", [0, 1, 2, 3])
def test_a_wrong_slope_is_refused(wrong: int) -> None:
    class Sabotaged(NeuronPairs):
        def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
            values, slopes = super().__call__(box, derivative)
            if slopes is not None:
                slopes.lo[:, wrong, 3], slopes.hi[:, wrong, 3] = (
                    -slopes.hi[:, wrong, 3],
                    -slopes.lo[:, wrong, 3],
                )
            return values, slopes

    target = ReLUTarget.of(np.array(TEACHERS[2][1]), np.array(TEACHERS[2][2]), np.eye(2))
    check_enclosure(NeuronPairs(target), NeuronPairs(target).region())
    system = Sabotaged(target)
    with pytest.raises(NotConverged, match="wrong"):
        check_enclosure(system, system.region())


def test_the_pull_is_the_librarys_gradient() -> None:
    V, b = np.array(TEACHERS[2][1]), np.array(TEACHERS[2][2])
    target = ReLUTarget.of(V, b, np.eye(2))
    frame = np.array([[float(x.mid()) for x in row] for row in target.frame])
    problem = sh.Problem(sh.Network(V, b, sh.ReLU()), sh.Gaussian(2), width=1, outer="ones")
    for theta in np.linspace(0.1, 6.2, 9):
        u = np.array([np.cos(theta), np.sin(theta)]) @ frame
        pull = PlanarTarget(target)(Intervals.exact(np.array([theta])))
        correlation = (problem.loss(sh.Network(np.zeros((1, 2)), activation=sh.ReLU())) + 0.5 - problem.loss(
            sh.Network(u[None], activation=sh.ReLU()))) / 2  # fmt: skip
        assert pull.value.mid[0] / (2 * np.pi) * 2.0**target.exponent == pytest.approx(correlation, abs=1e-12)


def test_where_outer_weights_are_positive_the_lowest_is_global_and_nothing_is_left_out() -> None:
    chart = sh.chart(problem_of(*TEACHERS[3][1:], "ones"))
    assert chart.scope == "" and chart.minimum.kind == "global minimum" and chart.minimum.loss > 1e-3
    free = sh.chart(problem_of(*TEACHERS[2][1:], "free"))
    assert "0.01 rad" in free.scope and free.minimum.kind == "local minimum"  # a limit may be lower


@pytest.mark.parametrize("V", [[[1.0, 2.0]], [[1.0, 2.0], [-2.0, -4.0]]])
def test_teachers_on_one_line_are_refused(V: Any) -> None:
    with pytest.raises(InvalidProblem, match="span 1 of 2"):
        sh.chart(problem_of(V, None, None, "free"))


def test_three_neurons_and_three_inputs_are_refused() -> None:
    for n, width in ((2, 3), (3, 2)):
        with pytest.raises(InvalidProblem, match=f"width is {width} at n = {n}"):
            sh.chart(sh.Problem(sh.Network(np.eye(n), activation=sh.ReLU()), sh.Gaussian(n), width=width))
