"""Charts of one smooth neuron against Newton's method from many starts, special teachers, sabotage, and balls."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_series, ctx

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.result import Exclusion
from shallows.questions.charts.exclusion import smooth_neuron, smooth_system
from shallows.questions.charts.exclusion.smooth_form import (
    COARSE,
    FINE,
    FORMS,
    LOGISTIC_BOUNDS,
    Logistic,
    named_form,
)
from shallows.questions.charts.exclusion.smooth_neuron import _searched
from shallows.questions.charts.exclusion.smooth_setting import setting_of
from shallows.questions.charts.exclusion.smooth_system import SmoothSystem
from shallows.support.errors import InvalidProblem, NotConverged

#: How far a Newton iteration that has ended may be from a listed point: flat directions have eigenvalues of 1e-4.
NEAR = 1e-4
CUBIC = sh.Polynomial([0.3, 1.0, -0.5, 0.2])


def problem_of(name: str, V: Any, b: Any = None, outer: Any = "free", covariance: Any = None) -> sh.Problem:
    V = np.atleast_2d(np.asarray(V, dtype=float))
    activation = CUBIC if name == "cubic" else sh.Smooth(name)
    teacher = sh.Network(V, b, activation)
    return sh.Problem(teacher, sh.Gaussian(V.shape[1], covariance), width=1, outer=outer)


class Grid:
    """L and its derivatives by the trapezoidal rule: errors fall like exp(−π²/(h‖w‖)) for poles at iπ/2."""

    def __init__(self, problem: sh.Problem) -> None:
        n = problem.n
        self.h = {1: 0.02, 2: 0.12, 3: 0.3}[n]
        side = np.arange(-7.0, 7.0 + self.h / 2, self.h)
        grid = np.stack(np.meshgrid(*[side] * n, indexing="ij"), axis=-1).reshape(-1, n)
        mass = np.exp(-np.sum(grid**2, axis=1) / 2)
        kept = mass > 1e-13
        self.x, self.mass = grid[kept], mass[kept] / mass[kept].sum()
        self.sigma = problem.activation
        self.outer = None if problem.outer is None else float(problem.outer[0, 0])
        self.y = np.asarray(problem.target(self.x)).ravel()

    def loss(self, theta: np.ndarray) -> float:
        n = self.x.shape[1]
        a = theta[n] if self.outer is None else self.outer
        return float(self.mass @ (a * self.sigma.derivative(self.x @ theta[:n], 0) - self.y) ** 2)

    def step(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gradient and the Hessian at one (w, a)."""
        n = self.x.shape[1]
        w, a = theta[:n], theta[n] if self.outer is None else self.outer
        z = self.x @ w
        s0, s1, s2 = (self.sigma.derivative(z, k) for k in range(3))
        gap = a * s0 - self.y
        first = 2 * a * self.mass * s1 * gap
        bend = 2 * a * self.mass * (a * s1**2 + s2 * gap)
        gradient, hessian = self.x.T @ first, (self.x * bend[:, None]).T @ self.x
        if self.outer is not None:
            return gradient, hessian
        mixed = self.x.T @ (2 * self.mass * s1 * (gap + a * s0))
        corner = 2 * self.mass @ s0**2
        gradient = np.append(gradient, 2 * self.mass @ (s0 * gap))
        return gradient, np.block([[hessian, mixed[:, None]], [mixed[None], np.array([[corner]])]])


def newton_ends(problem: sh.Problem, starts: int, seed: int, reach: float) -> np.ndarray:
    """Zeros (w, or w and a) that damped Newton iterations reach within the ball, where the grid is fine enough."""
    rng, grid = np.random.default_rng(seed), Grid(problem)
    n = problem.n
    size = n + int(problem.outer is None)
    reach = min(reach, np.pi**2 / (20 * grid.h))
    ends = []
    for _ in range(starts):
        theta = rng.standard_normal(size) * rng.uniform(0.1, 2.5)
        for _ in range(40):
            gradient, hessian = grid.step(theta)
            shift = -np.linalg.pinv(hessian, rcond=1e-9) @ gradient
            length = np.linalg.norm(shift)
            theta = theta + shift * min(1.0, 0.5 / max(length, 1e-300))
            if length < 1e-11 or np.linalg.norm(theta[:n]) > 3 * reach:
                break
        if np.linalg.norm(theta[:n]) < reach and np.linalg.norm(grid.step(theta)[0]) < 1e-10:
            ends.append(theta)
    return np.array(ends).reshape(-1, size)


def missing(chart: sh.Chart, ends: np.ndarray) -> np.ndarray:
    """Those that are on no listed point, and are neither the zero function nor on a family, by their loss."""
    problem = chart.problem
    assert problem is not None
    n = problem.n
    near = np.zeros(len(ends), bool)
    signs = (1.0, -1.0) if problem.outer is None else (1.0,)
    for point in chart.critical:
        if point.limit:
            continue
        if point.rank == 0 or point.dimension:
            grid = Grid(problem)
            near |= np.array([abs(grid.loss(end) - point.loss) < 1e-7 for end in ends], dtype=bool)
            continue
        place = (
            np.concatenate([point.network.W[0], point.network.a])
            if problem.outer is None
            else point.network.W[0]
        )
        for sign in signs:
            near |= np.linalg.norm(ends - sign * place, axis=1) < NEAR * (1 + np.linalg.norm(place))
    if problem.outer is None:
        near |= (np.abs(ends[:, n]) > 1e3) | (np.linalg.norm(ends[:, :n], axis=1) < 1e-3)
    return ends[~near]


def teachers(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n + 1, n)), rng.standard_normal(n + 1)


@pytest.mark.parametrize("name", [*FORMS, "cubic"])
@pytest.mark.parametrize("outer", [[1.0], "free"])
def test_newton_finds_nothing_outside_the_list(name: str, outer: Any) -> None:
    check_against_newton(name, outer, 1, 1, 40)
    if name in ("erf", "gelu", "cubic"):
        check_against_newton(name, outer, 2, 1, 10)


def check_against_newton(name: str, outer: Any, n: int, seed: int, starts: int) -> None:
    problem = problem_of(name, *teachers(n, seed), outer=outer)
    chart = sh.chart(problem, method="exclusion")
    assert chart.completeness == "proved" and chart.method == "exclusion"
    assert (chart.scope == "") == (outer != "free" or name == "cubic")
    reach = setting_of(problem).reach
    ends = newton_ends(problem, starts, seed, reach)
    assert not len(missing(chart, ends)), (name, outer)
    for point in chart.critical:
        if not point.limit and 0 < np.linalg.norm(point.network.W) < 3:  # the library's own series ends there
            assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-6, abs=1e-7)
            assert np.abs(problem.gradient(point.network)).max() < 1e-6


@pytest.mark.parametrize("name", FORMS)
def test_a_student_that_is_the_teacher_has_loss_zero(name: str) -> None:
    v = np.array([0.8, -0.5])
    for outer in ([2.0], "free"):
        chart = sh.chart(problem_of(name, [v], [2.0], outer))
        assert chart.completeness == "proved"
        assert chart.minimum.loss == 0.0 and chart.minimum.kind == "global minimum"
        assert np.allclose(chart.minimum.network.W[0], v, atol=1e-6) and np.isclose(
            chart.minimum.network.a[0], 2.0
        )


@pytest.mark.parametrize("name", FORMS)
def test_special_teachers(name: str) -> None:
    odd = name in ("erf", "tanh")
    zero = sh.chart(problem_of(name, [[1.0, 0.0], [1.0, 0.0]], [1.0, -1.0]))
    assert zero.kinds() == {"global minimum": 1} and zero.minimum.loss == 0.0
    still = sh.chart(problem_of(name, [[1.0, 0.0], [1.0, 0.0]], [1.0, -1.0], [1.0]))
    assert len(still.points) == 1 and np.all(still.points[0].network.W == 0)
    twice = sh.chart(problem_of(name, [[1.0, 0.0], [1.0, 0.0]], [0.5, 0.5], [1.0]))
    assert twice.minimum.loss == 0.0
    mirrored = sh.chart(problem_of(name, [[1.0, 0.0], [-1.0, 0.0]], [1.0, 1.0], [1.0]))
    assert mirrored.completeness == "proved"
    if odd:
        assert np.all(mirrored.points[0].network.W == 0)  # erf(z) + erf(−z) = 0
        assert sh.chart(problem_of(name, [[1.0, 0.0], [-1.0, 0.0]], [0.5, -0.5], [1.0])).minimum.loss == 0.0
    else:
        losses = mirrored.losses
        assert np.all(losses > 0)


@pytest.mark.thorough
def test_neurons_outside_the_teachers_span_are_found() -> None:
    chart = sh.chart(problem_of("gelu", [[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]], [1.0, 1.0], [1.0]))
    assert chart.completeness == "proved"
    ends = newton_ends(chart.problem, 100, 0, 8.0)
    assert len(ends) and not len(missing(chart, ends))


def test_a_covariance_is_a_change_of_coordinates() -> None:
    V, b = teachers(2, 3)
    root = np.array([[2.0, 0.0], [0.5, 1.0]])
    plain = sh.chart(problem_of("erf", V @ root, b, [1.0]))
    other = sh.chart(problem_of("erf", V, b, [1.0], root @ root.T))
    assert np.allclose(plain.losses, other.losses, atol=1e-9) and plain.kinds() == other.kinds()
    assert np.allclose(plain.minimum.network.W, other.minimum.network.W @ root, atol=1e-7)


def test_a_deleted_zero_is_noticed(monkeypatch: Any) -> None:
    problem = problem_of("erf", [[1.5, 0.2], [-0.4, 1.0]], [1.0, -2.0], [1.0])
    chart = sh.chart(problem)
    less = sh.Chart(**{**vars(chart), "critical": chart.critical.where(np.arange(len(chart.critical)) > 0)})
    assert len(missing(less, newton_ends(problem, 30, 0, 5.0)))
    honest = smooth_neuron.exclude

    def forgetful(*arguments: Any, **options: Any) -> Exclusion:
        found = honest(*arguments, **options)
        return dataclasses.replace(found, box=found.box[1:], domain=found.domain[1:])

    monkeypatch.setattr(smooth_neuron, "exclude", forgetful)
    with pytest.raises(NotConverged, match="Euler"):
        sh.chart(problem)


@pytest.mark.parametrize("wrong", ["s", "c", "cc", "sc"])
def test_a_tampered_enclosure_is_noticed(monkeypatch: Any, wrong: str) -> None:
    problem = problem_of("gelu", *teachers(2, 0), outer=[1.0])
    setting = setting_of(problem)
    honest = type(setting.fine).cross

    def bent(self: Any, *given: Any) -> Any:
        pair = honest(self, *given)
        return dataclasses.replace(pair, **{wrong: getattr(pair, wrong) * 1.02})

    monkeypatch.setattr(type(setting.fine), "cross", bent)
    if wrong in ("s", "c"):  # values and slopes no longer fit each other
        with pytest.raises(NotConverged, match="enclosure"):
            _searched(setting, False, False)
    else:
        with pytest.raises(NotConverged, match="enclosure"):
            sh.chart(problem)


def test_a_box_left_open_proves_nothing(monkeypatch: Any) -> None:
    problem = problem_of("erf", *teachers(2, 0))
    honest = smooth_neuron.exclude

    def open_ended(*arguments: Any, **options: Any) -> Exclusion:
        found = honest(*arguments, **options)
        region = Intervals(found.region.lo[None], found.region.hi[None])
        return dataclasses.replace(found, undecided=region)

    monkeypatch.setattr(smooth_neuron, "exclude", open_ended)
    chart = sh.chart(problem)
    assert (
        chart.completeness == "sampled" and "global minimum" not in chart.kinds() and "boxes" in chart.scope
    )


@pytest.mark.parametrize("name", [*FORMS, "cubic"])
@pytest.mark.parametrize("outer", [0.7, None])
def test_equations_and_hessians_are_those_of_the_library(name: str, outer: float | None) -> None:
    V, b = teachers(3, 5)
    problem = problem_of(name, V, b, "free" if outer is None else [outer])
    setting = setting_of(problem)
    system = SmoothSystem(setting.fine, setting.target, outer)
    frame = np.array([[float(x.mid()) for x in row] for row in setting.target.frame])
    u = np.random.default_rng(1).standard_normal((3, 3))
    values, _ = system(Intervals.exact(u), True)
    z = system.state(Intervals.exact(u))
    for i in range(3):
        a = float(z.a.mid[i])
        net = sh.Network((u[i] @ frame)[None], [a], problem.activation)
        assert np.allclose(problem.gradient(net)[:3] / (2 * a), values.mid[i] @ frame, atol=1e-9)
        half = system.hessian(Intervals.exact(u[i : i + 1]), z.a[i : i + 1], outer is None).mid[0]
        turn = np.eye(len(half))
        turn[:3, :3] = frame
        assert np.allclose(problem.hessian(net) / 2, turn.T @ half @ turn, atol=1e-9)


@pytest.mark.parametrize("law", [COARSE, FINE])
def test_the_mixtures_are_as_near_as_they_say(law: Logistic) -> None:
    """|s⁽ᵏ⁾ − s̃⁽ᵏ⁾| over the line, by Taylor polynomials of degree 20 on cells and their remainders, in balls."""
    before, ctx.prec = ctx.prec, 200
    old_cap, ctx.cap = ctx.cap, 26
    try:
        for cell in range(384):
            check_cell(law, (arb(cell) + arb(1) / 2) / 32, arb(1) / 64)
        for cell in range(48, 160):
            check_cell(law, arb(cell) / 4 + arb(1) / 8, arb(1) / 8)
        beyond = arb(40)  # from there on all derivatives decrease: |He_k(u)| ≤ u^k, |s⁽ᵏ⁾| ≤ e^{−z}
        for k in range(5):
            tail = (-beyond).exp()
            for a, w in zip(law.weights, law.widths, strict=True):
                u = beyond / arb(w)
                tail += arb(a) * u ** max(k - 1, 0) * (-u * u / 2).exp() / arb(w) ** k
            off = abs(sum((arb(a) for a in law.weights), arb(0)) - 1) / 2 if k == 0 else arb(0)
            assert off + tail < law.errors[k]
        middle = sum((arb(a) * arb(w) for a, w in zip(law.weights, law.widths, strict=True)), arb(0))
        assert abs(middle / (2 * arb.pi()).sqrt() - arb(2).log()) < law.constant
    finally:
        ctx.prec, ctx.cap = before, old_cap


def check_cell(law: Logistic, centre: Any, radius: Any) -> None:
    def both(place: Any) -> tuple[Any, Any]:
        z = arb_series([place, 1])
        logistic = 1 / (1 + (-z).exp()) - arb(1) / 2
        mixture = arb_series([0])
        for a, w in zip(law.weights, law.widths, strict=True):
            mixture = mixture + (z / (arb(w) * arb(2).sqrt())).erf() * (arb(a) / 2)
        return logistic, mixture

    order = 20
    exact, near = both(centre)
    wide, broad = both(centre + arb(0, 1) * radius)
    for k in range(5):
        factor, difference, size = arb(1), arb(0), arb(0)
        power = arb(1)
        for j in range(order - k):
            factor = falling(j + k, k)
            difference += abs(exact[j + k] - near[j + k]) * factor * power
            size += abs(exact[j + k]) * factor * power
            power *= radius
        rest = falling(order, k) * power
        remainder = (abs(wide[order]) + abs(broad[order])) * rest
        assert difference + remainder < law.errors[k], (k, centre)
        if k in (0, 1):
            assert abs(wide[k]) * falling(k, k) <= LOGISTIC_BOUNDS[k] + arb(2) ** -30 or centre < 1


def falling(n: int, k: int) -> Any:
    value = arb(1)
    for i in range(k):
        value *= n - i
    return value


def test_bounds_of_the_logistic_function() -> None:
    """Its derivatives are polynomials of t = tanh(z/2) on [−1, 1]: largest at ends or where the next one vanishes."""
    from numpy.polynomial import Polynomial

    p = Polynomial([0.0, 0.5])
    for bound in LOGISTIC_BOUNDS:
        places = [r.real for r in p.deriv().roots() if abs(r.imag) < 1e-12 and abs(r.real) <= 1] + [-1.0, 1.0]
        assert max(abs(p(np.array(places)))) <= bound
        p = p.deriv() * Polynomial([0.5, 0.0, -0.5])


def test_what_is_refused_says_why() -> None:
    for problem, reason in (
        (sh.Problem(sh.Network(np.eye(2), activation=sh.Smooth(np.sin)), sh.Gaussian(2), 1), "none of erf"),
        (sh.Problem(sh.Network(np.eye(2), activation=sh.Smooth("erf")), sh.Gaussian(2), 2), "width is 2"),
        (sh.Problem(sh.Network(np.eye(4), activation=sh.Smooth("erf")), sh.Gaussian(4), 1), "unknowns"),
        (problem_of("erf", np.eye(2), outer=[0.0]), "fixed to zero"),
        (
            sh.Problem(
                sh.Network(np.eye(2), activation=sh.Smooth("tanh")),
                sh.Gaussian(2),
                1,
                activation=sh.Smooth("erf"),
            ),
            "two different",
        ),
    ):
        with pytest.raises(InvalidProblem, match=reason):
            sh.chart(problem)


@pytest.mark.thorough
def test_limits_that_no_network_has_are_named() -> None:
    steep = sh.chart(problem_of("gelu", *teachers(2, 2)))
    assert steep.attained is False and steep.minimum.limit and "‖w‖ → ∞" in " ".join(steep.notes)
    assert "global minimum" not in steep.kinds()
    assert smooth_system.SmoothSystem is SmoothSystem


def test_the_gate_of_gelu_against_quadrature() -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    x, y = np.meshgrid(nodes, nodes)
    w, v = np.array([0.7, 0.4]), np.array([-0.3, 0.9])
    from scipy.special import ndtr

    p, q = w[0] * x + w[1] * y, v[0] * x + v[1] * y
    exact = float(np.sum(np.outer(weights, weights) * p * ndtr(p) * q * ndtr(q)))
    S, T, C = (Intervals.exact(np.array([value])) for value in (w @ w, v @ v, w @ v))
    X = Intervals.exact(np.array([(w[0] * v[1] - w[1] * v[0]) ** 2]))
    found = named_form("gelu", True).cross(S, T[0], C, X).value
    assert found.lo[0] - 1e-12 <= exact <= found.hi[0] + 1e-12


@pytest.mark.thorough
def test_charts_are_saved_loaded_and_reported(tmp_path: Any) -> None:
    steep = sh.chart(problem_of("gelu", *teachers(2, 2)))
    again = sh.load_chart(steep.save(tmp_path / "steep"))
    assert again.attained is False and again.minimum.limit and again.scope == steep.scope
    assert np.array_equal(again.losses, steep.losses) and again.kinds() == steep.kinds()
    assert "ReLU functions" in steep.report(tmp_path / "steep.html", train=8).read_text()


@pytest.mark.parametrize("name", FORMS)
def test_charts_load_without_being_told_their_problem(name: str, tmp_path: Any) -> None:
    chart = sh.chart(problem_of(name, [[1.0]], [1.0], [1.0]))
    again = sh.load_chart(chart.save(tmp_path / "chart"))
    assert again.problem is not None and again.problem.activation == sh.Smooth(name)
    assert np.array_equal(again.losses, chart.losses)
