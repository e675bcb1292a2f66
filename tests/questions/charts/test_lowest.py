"""Is it global? Charts, `inspect` and `explain_escape` give one answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import shallows as sh

TARGETS = {
    "distinct": np.diag([3.0, 2.0, 1.0]),
    "mixed signs": np.diag([2.0, -1.0, 0.5]),
    "repeated": np.diag([2.0, 2.0, 1.0]),
    "low rank": np.diag([1.0, 0.0, 0.0]),
    "tiny": np.diag([3e-9, 2e-9, 1e-9]),
}


@pytest.mark.parametrize(
    "metric", [sh.Gaussian(3), sh.Frobenius(3), sh.Gaussian(3, np.diag([1.0, 2.0, 5.0]))]
)
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_every_function_gives_the_charts_answer(target: str, width: int, metric: sh.Gaussian) -> None:
    problem = sh.Problem(TARGETS[target], metric, width=width)
    for point in sh.chart(problem).critical:
        found = sh.quadratic.inspect(problem, point.network)
        escape = sh.explain_escape(problem, point.network)
        assert found.is_global == (point.kind == "global minimum"), found
        if point.kind == "global minimum":
            assert not escape and "global minimum" in escape.reason
        elif point.kind == "local minimum":
            assert found.verdict == "trap"
            assert not escape and "above the global minimum" in escape.reason
        else:
            assert found.verdict in ("saddle", "strict saddle")
            assert escape, escape.reason
            losses = escape.path.losses(21)
            assert losses[-1] < losses[0]


def test_a_minimum_of_positive_neurons_is_no_trap() -> None:
    """−‖x‖² is best met by no positive neuron at all; ∇ℓ ≠ 0 there."""
    problem = sh.Problem(-np.eye(2), sh.Gaussian(2), width=2, outer="ones")
    assert sh.quadratic.inspect(problem, sh.Network(np.zeros((2, 2)))).verdict == "global minimum"


def test_where_nobody_knows_nobody_says_trap() -> None:
    """A metric without closed form: a local minimum of a narrow network may be the global one."""
    problem = sh.Problem([[3.0, 1.0], [1.0, 1.0]], sh.IID(2, [1.0, 0.0, 1.0, 0.0, 6.0]), width=1)
    found = sh.quadratic.inspect(problem, sh.chart(problem).minimum.network)
    assert found.verdict in ("trap or global minimum", "global minimum") and not found.is_trap


def test_vanishing_neurons_have_rank_zero() -> None:
    """W = 1e-12·I is W = 0 to every purpose: no stationary point of full rank (Lemma C.3)."""
    problem = sh.Problem(np.eye(3), sh.Gaussian(3), width=3)
    found = sh.quadratic.inspect(problem, sh.Network(1e-12 * np.eye(3), a=-np.ones(3)))
    assert (found.verdict, found.rank) == ("trap", 0)
    end = sh.descend(problem, sh.Network(1e-12 * np.eye(3), a=-np.ones(3)), method="lbfgs")
    assert end.loss == pytest.approx(
        problem.loss(sh.Network(np.zeros((3, 3)))), rel=1e-12
    )  # and there it stays
    start = sh.Network(1e-3 * np.eye(3), a=-np.ones(3))
    assert sh.quadratic.inspect(problem, start).verdict == "not stationary"
    assert sh.quadratic.full_rank_optimality(problem, sh.Network(1e-12 * np.eye(3), a=-np.ones(3))) is None
    assert sh.quadratic.inspect(problem, sh.Network(1e-12 * np.eye(3))).verdict == "strict saddle"


def test_a_strict_saddle_is_left_by_a_step() -> None:
    problem = sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=1)
    escape = sh.explain_escape(problem, sh.Network([[0.0, 1.0]]))
    assert escape.theorem == "strict saddle"
    assert np.all(np.diff(escape.path.losses(50)) <= 1e-14)


ATTAINED = {
    "linear, two outputs": sh.Problem(sh.Network(np.eye(2), np.eye(2), sh.Power(1)), sh.Gaussian(2), 1),
    "squares, two outputs": sh.Problem(sh.Network(np.eye(2), np.eye(2), sh.Power(2)), sh.Gaussian(2), 1),
    "norm neuron": sh.Problem(np.eye(3), sh.Gaussian(3), 1, norm_neuron=True),
    "penalty": sh.Problem(np.eye(2), sh.Gaussian(2), 2, orthogonality=0.5),
    "cubic with bias": sh.Problem(
        sh.Network([[1.0, 0.0]], activation=sh.Power(3), bias=[0.5]), sh.Gaussian(2), 1, bias=True
    ),
    "one ReLU": sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), 1),
    "two ReLUs": sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), 2),
    "tanh": sh.Problem(sh.Network([[1.0, 0.0]], activation=sh.Smooth("tanh")), sh.Gaussian(2), 1),
}


@pytest.mark.parametrize("kind", ATTAINED)
def test_a_global_minimum_that_is_a_network_attains_the_infimum(kind: str) -> None:
    """Whatever the kind of problem: `attained` was left open by charts of several outputs and of ReLU neurons."""
    problem = ATTAINED[kind]
    chart = sh.chart(problem)
    assert chart.minimum.kind == "global minimum" and not chart.minimum.limit
    assert chart.attained is True
    assert problem.loss(chart.minimum.network) == pytest.approx(chart.infimum, abs=1e-9)


ODD = sh.Polynomial([0.0, 1.0, 0.0, 1.0])


@pytest.mark.parametrize("outer", [[-1.0], [[-1.0], [2.0]]])
def test_the_zero_function_is_the_minimum_of_a_zero_target(outer: list[object]) -> None:
    """z + z³ with a fixed outer weight and a bias: w = b = 0 alone gives zero, and the target has no size."""
    cancel = np.vstack([np.eye(1), -np.eye(1)])
    a = np.ones(2) if np.ndim(outer) == 1 else np.ones((2, 2))
    teacher = sh.Network(cancel, a, ODD, bias=[0.0, 0.0])
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(1), 1, outer=outer, bias=True))
    assert chart.kinds() == {"global minimum": 1} and chart.attained
    assert chart.infimum == pytest.approx(0.0, abs=1e-12)
    assert np.abs(chart.minimum.network.W).max() < 1e-6 and np.abs(chart.minimum.network.bias).max() < 1e-6


def test_a_chart_without_points_says_so() -> None:
    chart = sh.chart(sh.Problem(np.eye(2), sh.Gaussian(2), 1))
    empty = replace(chart, critical=chart.critical.where(np.zeros(len(chart.losses), bool)), attained=None)
    for ask in ("minimum", "infimum"):
        with pytest.raises(sh.IncompleteChart, match="lists no critical point"):
            getattr(empty, ask)
