"""Charts of one ReLU neuron against Newton's method from many starts, mpmath, special teachers and sabotage."""

from __future__ import annotations

import dataclasses
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.questions.damped_newton import damped_newton

import shallows as sh
from shallows.mathematics.exclusion.result import Exclusion
from shallows.questions.charts.exclusion import one_neuron, relu_neuron
from shallows.questions.charts.exclusion.relu_target import ReLUTarget
from shallows.support.errors import InvalidProblem, NotConverged

#: How far a Newton iteration that ended at a gradient of 1e-11 may be from a listed point.
NEAR = 1e-6


def relu(V: Any, b: Any = None, covariance: Any = None, outer: Any = "free") -> sh.Problem:
    V = np.atleast_2d(np.asarray(V, dtype=float))
    teacher = sh.Network(V, b, sh.ReLU())
    return sh.Problem(teacher, sh.Gaussian(V.shape[1], covariance), width=1, outer=outer)


def newton_ends(problem: sh.Problem, starts: int, seed: int) -> np.ndarray:
    """Critical points that damped Newton iterations on the library's own gradient reach, whatever their kind."""
    rng = np.random.default_rng(seed)
    n = problem.n
    energy = float(problem.value(np.zeros((1, n)))[0])
    w = rng.standard_normal((starts, n)) * np.sqrt(energy)

    def gradient(points: np.ndarray) -> np.ndarray:
        return problem.value_and_gradient(points)[1]

    w = damped_newton(gradient, w)
    done = np.linalg.norm(gradient(w), axis=1) < 1e-10 * np.sqrt(energy)
    far = np.linalg.norm(w, axis=1) > 1e-4 * np.sqrt(energy)
    return w[done & far]


def missing(chart: sh.Chart, ends: np.ndarray) -> np.ndarray:
    """Those ends that are on no listed point and, by their loss, on no listed family."""
    assert chart.problem is not None
    points = np.array([p.network.W[0] for p in chart.points if p.rank]).reshape(-1, chart.problem.n)
    near = np.zeros(len(ends), bool)
    if len(points):
        near = np.min(np.linalg.norm(ends[:, None] - points[None], axis=2), axis=1) < NEAR
    losses = chart.problem.value(ends)
    for family in chart.families:
        near |= np.abs(losses - family.loss) < NEAR
    return ends[~near]


def teachers(seed: int) -> list[tuple[str, Any, Any, Any]]:
    """Special and random ones: (name, V, b, covariance)."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    hexagon = [[np.cos(a), np.sin(a)] for a in np.arange(6) * np.pi / 3]
    spread = rng.standard_normal((4, 4))
    return [
        ("one", [[1.0, 2.0]], None, None),
        ("opposite", [[1.0, 2.0, 0.0], [-1.0, -2.0, 0.0]], [1.0, 1.0], None),
        ("unequal opposite", [[1.0, 0.0], [-1.0, 0.0]], [1.0, 0.4], None),
        ("repeated", [[1.0, 0.5], [1.0, 0.5], [2.0, 1.0]], None, None),
        ("orthonormal", np.eye(3), None, None),
        ("orthonormal, signs", np.eye(3), [1.0, -1.0, 1.0], None),
        ("hexagon", hexagon, [1.0, -0.5, 1.0, -0.5, 1.0, -0.5], None),
        ("triangle in space", [[1, 0, 0], [-0.5, 0.8, 0], [-0.5, -0.8, 0]], None, None),
        ("random in the plane", rng.standard_normal((5, 2)), rng.standard_normal(5), None),
        ("random in space", rng.standard_normal((5, 3)), rng.standard_normal(5), None),
        ("random, wide", rng.standard_normal((6, 3)), None, None),
        (
            "plane in four dimensions",
            rng.integers(-3, 4, (5, 2)) @ np.array([[1, 2, 0, 1], [0, 1, -1, 3]]),
            None,
            None,
        ),
        ("covariance", rng.standard_normal((3, 4)), rng.standard_normal(3), spread @ spread.T),
        ("turned", turn[:3], [1.0, 1.0, -2.0], None),
    ]


@pytest.mark.parametrize("name", [entry[0] for entry in teachers(0)])
@pytest.mark.parametrize("outer", [1.0, -1.0])
def test_newton_finds_nothing_outside_the_list(name: str, outer: float) -> None:
    check_against_newton(name, outer, 0, 200)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [entry[0] for entry in teachers(0)])
@pytest.mark.parametrize("seed", [1, 2])
def test_ten_thousand_newton_starts(name: str, seed: int) -> None:
    for outer in (1.0, -1.0):
        check_against_newton(name, outer, seed, 10_000)


def check_against_newton(name: str, outer: float, seed: int, starts: int) -> None:
    (V, b, covariance) = next(entry[1:] for entry in teachers(seed) if entry[0] == name)
    chart = sh.chart(relu(V, b, covariance, [outer]))
    assert chart.completeness == "proved" and chart.method == "exclusion" and chart.scope == ""
    assert chart.problem is not None
    ends = newton_ends(chart.problem, starts, seed)
    assert len(ends) or not any(point.rank for point in chart.critical)
    assert not len(missing(chart, ends)), name
    for point in chart.critical:
        assert chart.problem.loss(point.network) == pytest.approx(point.loss, rel=1e-9, abs=1e-12)
        if point.rank:
            assert np.abs(chart.problem.gradient(point.network)).max() < 1e-9


def test_a_deleted_point_is_noticed_by_newton_and_by_the_euler_characteristic(monkeypatch: Any) -> None:
    problem = relu(np.eye(3), outer=[1.0])
    chart = sh.chart(problem)
    ends = newton_ends(problem, 100, 0)
    keep = np.ones(len(chart.critical), bool)
    keep[0] = False
    less = sh.Chart(**{**vars(chart), "critical": chart.critical.where(keep)})
    assert len(missing(less, ends))
    honest = one_neuron.exclude

    def forgetful(*arguments: Any, **options: Any) -> Exclusion:
        found = honest(*arguments, **options)
        return (
            Exclusion(
                found.region,
                found.box[:0],
                found.domain[:0],
                *[getattr(found, x) for x in ("undecided", "excused", "pending", "boxes", "split")],
            )
            if len(found.box) and found.box.lo[0, 0] > 0
            else found
        )

    monkeypatch.setattr(one_neuron, "exclude", forgetful)
    with pytest.raises(NotConverged, match="Euler characteristic"):
        sh.chart(problem)


def test_fifty_digits_agree_within_the_radius() -> None:
    rng = np.random.default_rng(5)
    V, b = rng.standard_normal((4, 3)), rng.standard_normal(4)
    chart = sh.chart(relu(V, b, outer=[1.0]))
    with mpmath.workdps(50):
        for point in chart.points:
            if not point.rank:
                continue
            start = [mpmath.mpf(float(x)) for x in point.network.W[0]]
            root = mpmath.findroot(lambda *w: gradient_in_digits(w, V, b), start)
            gap = mpmath.norm(root - mpmath.matrix(start))
            assert gap <= point.certificate.radius < 1e-12


def gradient_in_digits(w: Any, V: np.ndarray, b: np.ndarray) -> list[Any]:
    """w − (1/π) Σ b ((‖v‖ sin θ/‖w‖) w + (π − θ) v), paper 003's equation 5 doubled."""
    size = mpmath.sqrt(sum(x * x for x in w))
    total = list(w)
    for row, weight in zip(V, b, strict=True):
        v = [mpmath.mpf(float(x)) for x in row]
        length = mpmath.sqrt(sum(x * x for x in v))
        angle = mpmath.acos(sum(x * y for x, y in zip(w, v, strict=True)) / size / length)
        radial = length * mpmath.sin(angle) / size
        factor = mpmath.mpf(float(weight)) / mpmath.pi
        total = [
            t - factor * (radial * x + (mpmath.pi - angle) * y) for t, x, y in zip(total, w, v, strict=True)
        ]
    return total


@pytest.mark.parametrize("scale", [1e-120, 1e7])
def test_units_do_not_matter(scale: float) -> None:
    rng = np.random.default_rng(3)
    V, b = rng.standard_normal((4, 3)), rng.standard_normal(4)
    plain, scaled = sh.chart(relu(V, b)), sh.chart(relu(V * scale, b))
    assert plain.kinds() == scaled.kinds()
    assert np.allclose(scaled.losses / scale**2, plain.losses, rtol=1e-9)


def test_zero_functions_and_exact_cancellations() -> None:
    for V, b in (([[0.0, 0.0]], [1.0]), ([[1.0, 0.0], [1.0, 0.0]], [1.0, -1.0])):
        chart = sh.chart(relu(V, b))
        assert chart.kinds() == {"global minimum": 1} and chart.minimum.loss == 0.0
    # σ(v) − σ(−v) = v·x, and three vectors that add up to zero: y vanishes although no neuron cancels another
    V = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [-1.0, -1.0], [1.0, 1.0]])
    chart = sh.chart(relu(V, [1.0, -1.0] * 3))
    assert chart.kinds() == {"global minimum": 1} and chart.minimum.rank == 0


def test_a_linear_target_is_met_by_half() -> None:
    chart = sh.chart(relu([[3.0, 4.0], [-3.0, -4.0]], [1.0, -1.0]))
    assert [p.rank for p in chart.critical] == [1, 1, 0] and np.allclose(chart.losses, [12.5, 12.5, 25.0])


def test_even_targets_have_a_sphere_of_saddles() -> None:
    V = np.zeros((2, 5))
    V[:, 0] = [1.0, -1.0]
    chart = sh.chart(relu(V, [1.0, 1.0]))
    (family,) = chart.families
    assert family.dimension == 3 and family.kind == "saddle" and family.signature == (1, 3, 1)
    assert family.loss == pytest.approx(1 - 2 / np.pi**2)


def test_a_singular_covariance_leaves_fewer_directions() -> None:
    covariance = np.diag([1.0, 1.0, 0.0])
    chart = sh.chart(relu([[1.0, 0.0, 5.0], [0.0, 1.0, -3.0]], None, covariance))
    plain = sh.chart(relu(np.eye(2)))
    assert np.allclose(chart.losses, plain.losses) and chart.kinds() == plain.kinds()
    assert any("singular" in note for note in chart.notes)


def test_lines_and_ranks_are_exact() -> None:
    third = np.array([[1 / 3, 2 / 3, 1.0]])
    target = ReLUTarget.of(np.vstack([third, 3.0 * third, -2.0 * third]), np.ones(3), np.eye(3))
    assert target.rank == 2  # 3·fl(1/3) rounds to 1: only exact multiples are one line
    exact = ReLUTarget.of(np.vstack([third, 4.0 * third, -2.0 * third]), np.ones(3), np.eye(3))
    assert exact.rank == 1 and len(exact.weights) == 1


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (relu(np.eye(2), outer=[0.0]), "fixed to zero"),
        (sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), 3), "width is 3"),
        (
            sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2, mean=[1.0, 0.0]), 1),
            "centred",
        ),
        (sh.Problem(sh.Network(np.eye(2)), sh.Gaussian(2), 1), "is a power"),
    ],
)
def test_what_is_refused_says_why(problem: sh.Problem, reason: str) -> None:
    with pytest.raises(InvalidProblem, match=reason):
        sh.chart(problem, method="exclusion")


def test_teachers_of_high_rank_are_refused() -> None:
    with pytest.raises(InvalidProblem, match="span 6 dimensions"):
        sh.chart(relu(np.eye(6)))


def test_charts_are_saved_with_their_scope_and_families(tmp_path: Any) -> None:
    V = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    chart = sh.chart(relu(V, [1.0, 1.0]))
    again = sh.load_chart(chart.save(tmp_path / "chart"))
    assert again.scope == "" and again.families[0].description == chart.families[0].description


def test_a_search_that_leaves_boxes_open_proves_nothing(monkeypatch):
    found = relu_neuron.critical_directions

    def with_a_box_open(*given):
        directions = found(*given)
        return dataclasses.replace(directions, undecided=["3 boxes of directions"])

    problem = relu([[1.0, 0.2], [-0.3, 1.0]])
    whole = sh.chart(problem)
    monkeypatch.setattr(relu_neuron, "critical_directions", with_a_box_open)
    chart = sh.chart(problem)
    assert whole.completeness == "proved" and "global minimum" in whole.kinds()
    assert chart.completeness == "sampled" and "global minimum" not in chart.kinds()
    assert "3 boxes" in chart.scope
