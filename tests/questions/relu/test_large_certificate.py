"""Proofs in doubles: Hessian, gradient and loss against Arb's balls, minima against other proofs, and sabotage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.systems import precision
from shallows.questions.certificates import minimum as certificate
from shallows.questions.relu import large_certificate as large
from shallows.questions.relu.balls import ReLUBalls


def drawn(seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((4, 3)),
        rng.choice([-1.0, 1.0], 4),
        rng.standard_normal((5, 3)),
        rng.standard_normal(5),
    )


@pytest.mark.parametrize("radius", [0.0, 1e-9])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_arb_is_inside_the_bounds(seed: int, radius: float) -> None:
    W, a, V, b = drawn(seed)
    rng = np.random.default_rng(9)
    moved = W + radius * rng.uniform(-1, 1, W.shape)  # any network of the box must be inside
    with precision(128):
        balls = ReLUBalls(W.shape, a, V, b)
        from flint import arb

        x = [arb(float(w)) for w in moved.ravel()]
        slope, hessian = balls(x)
        exact = np.array([float(e.mid()) for e in hessian.entries()]).reshape(12, 12)
        gradient = np.array([float(e.mid()) for e in slope.entries()]).reshape(W.shape)
        loss = balls.loss(x)
    box = Ball(W, np.full(W.shape, radius))
    H, rest = large._hessian(box, a, V, b)
    H = np.tril(H) + np.tril(H, -1).T
    assert np.linalg.norm(H - exact, 2) <= rest < (1e-12 if radius == 0 else 1e-5)
    found = large._gradient(box, a, V, b)
    assert np.all(np.abs(found.mid - gradient) <= found.rad)
    if radius == 0:
        value = large._loss(W, a, V, b)
        assert value.lower <= float(loss.mid()) <= value.upper and value.rad < 1e-12


@pytest.mark.parametrize("k", [7, 10])
def test_both_proofs_agree(k: int, monkeypatch: Any) -> None:
    problem, net = sh.relu_problem(k), sh.symmetric_minimum(k, [1, k - 1]).network()
    known = sh.certify_minimum(problem, net)
    monkeypatch.setattr(certificate, "LARGEST_RELU", 10)
    found = sh.certify_minimum(problem, net)
    assert found.bits == 53 and known.bits == 128
    assert 0.85 * known.eigenvalue_bound < found.eigenvalue_bound <= known.eigenvalue_bound
    assert found.loss_bounds[0] <= known.loss_bounds[0] and known.loss_bounds[1] <= found.loss_bounds[1]
    assert found.is_local and found.radius < 1e-9


def test_fifty_neurons_are_proved() -> None:
    point = sh.symmetric_minimum(50, [1, 49])
    proof = sh.certify_minimum(sh.relu_problem(50), point.network())
    assert (
        proof.is_local and proof.eigenvalue_bound < point.smallest_eigenvalue < 1.2 * proof.eigenvalue_bound
    )
    assert proof.loss_bounds[0] <= point.loss_bounds[0] and point.loss_bounds[1] <= proof.loss_bounds[1]


def test_what_is_no_minimum_is_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr(certificate, "LARGEST_RELU", 10)
    problem, net = sh.relu_problem(7), sh.symmetric_minimum(7, [1, 6]).network()
    with pytest.raises(sh.NotConverged, match="proved"):
        sh.certify_minimum(problem, sh.Network(net.W + 1e-4, activation=sh.ReLU()))
    saddle = next(p for p in sh.relu.symmetric_chart(6, [1, 5]).symmetric if p.rows == 6 and p.signature[2])
    with pytest.raises(sh.NotConverged, match="eigenvalue"):
        sh.certify_minimum(sh.relu_problem(6), saddle.form.network())


def test_a_shift_above_the_smallest_eigenvalue_proves_nothing() -> None:
    matrix = np.diag([1.0, 2.0, 3.0])
    assert (
        large._definite(matrix.copy(), 0.9) == pytest.approx(0.9)
        and large._definite(matrix.copy(), 0.9) < 0.9
    )
    assert large._definite(matrix.copy(), 1.1) == -np.inf


def test_more_than_ten_thousand_weights_are_refused() -> None:
    with pytest.raises(sh.InvalidProblem, match="10,000 weights"):
        sh.certify_minimum(sh.relu_problem(101), sh.Network(np.eye(101), activation=sh.ReLU()))
