"""Proofs start from the numbers given: the exact loss, and the equations in float64 balls against Arb's."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

import shallows as sh
from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.contraction import contract
from shallows.mathematics.balls.systems import precision
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.matrices.balls import LowRankSystem
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.questions.charts.matrices.hessian import half_hessian
from shallows.questions.charts.powers.balls import PowerSystem
from shallows.questions.charts.powers.equations import PowerEquations


def generic(size, rng):
    A = rng.standard_normal((size, size))
    return A @ A.T / size + np.eye(size) / 2, rng.standard_normal(size)


def low_rank(n, r, rng):
    equations = LowRankEquations(n, r)
    return LowRankSystem(equations, *generic(equations.entries, rng), rng.standard_normal((n, n)))


def powers(degree, n, r, rng):
    equations = PowerEquations(degree, n, r)
    signs = tuple(np.where(np.arange(r) % 2, -1.0, 1.0).tolist())
    return PowerSystem(equations, *generic(equations.entries, rng), signs)


SYSTEMS = {
    "rank 1 of 2": lambda rng: low_rank(2, 1, rng),
    "rank 2 of 3": lambda rng: low_rank(3, 2, rng),
    "rank 3 of 5": lambda rng: low_rank(5, 3, rng),
    "squares": lambda rng: powers(2, 3, 1, rng),
    "two cubes": lambda rng: powers(3, 3, 2, rng),
    "quintics": lambda rng: powers(5, 2, 2, rng),
}


def balls(x, radius, complex_ones):
    if complex_ones:  # the square in a disc
        return [acb(arb(z.real, 0.7 * radius), arb(z.imag, 0.7 * radius)) for z in x.tolist()]
    return [arb(z, radius) for z in x.tolist()]


def contains(ball, entries, k):
    """Whether balls of the batch contain the midpoints of Arb's, which are values at points of the box."""
    mids = np.array([complex(entry.mid()) for entry in entries]).reshape(ball.mid[k].shape)
    return bool((np.abs(mids - ball.mid[k]) <= ball.rad[k] * (1 + 1e-12)).all())


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("complex_ones", [False, True])
@pytest.mark.parametrize("radius", [0.0, 1e-9, 0.1])
def test_float64_balls_contain_the_values_that_arb_has(name, complex_ones, radius, rng):
    system = SYSTEMS[name](rng)
    size = system.equations.unknowns
    x = rng.standard_normal((4, size)) + (1j * rng.standard_normal((4, size)) if complex_ones else 0.0)
    value, slope = system.ball_batch()(Ball(x, np.full(x.shape, radius)))
    corner = x + radius * np.exp(2j * np.pi * rng.random(x.shape) if complex_ones else 0.0) * (1 - 1e-9)
    for k in range(4):
        for point in (x[k], corner[k]):
            with precision(128):
                exact = system.ball_evaluator(128)(balls(point, 0.0, complex_ones))
            assert contains(value, exact[0].entries(), k) and contains(slope, exact[1].entries(), k)
    if radius == 0:
        assert value.rad.max() < 1e-9 and slope.rad.max() < 1e-9


@pytest.mark.parametrize("n, r", [(2, 1), (3, 2), (5, 3)])
def test_the_hessians_of_the_batch_are_the_hessians(n, r, rng):
    system = low_rank(n, r, rng)
    x = rng.standard_normal((3, system.equations.unknowns))
    found = system.ball_batch().hessians(Ball.exact(x))
    for k in range(3):
        size = np.abs(found.mid[k]).max()
        np.testing.assert_allclose(found.mid[k], half_hessian(system, x[k])[0], rtol=0, atol=1e-12 * size)
        assert found.rad[k].max() < 1e-11 * size


@pytest.mark.parametrize("name", SYSTEMS)
def test_roots_are_proved_at_once_and_a_tampered_evaluator_proves_nothing(name, rng):
    """The target is of rank r but for rounding, so the critical point next to it is regular."""
    system = SYSTEMS[name](rng)
    x = rng.standard_normal((1, system.equations.unknowns)).astype(np.complex128)
    target = _tensor(system, x[0])
    system = replace(system, target=target)
    batch = system.ball_batch()
    found = contract(batch, x)
    assert found.proved.all()
    old = certify(_OneByOne(system), x)
    assert old.roots[0] is not None and (old.roots[0].real is True) == bool(found.real[0])
    assert (np.abs(old.roots[0].point - found.centre[0]) <= found.radius[0] + old.roots[0].radius).all()

    def moved(box):
        value, slope = batch(box)
        return value + Ball.exact(np.full(value.mid.shape, 1e-3)), slope

    def flat(box):
        value, slope = batch(box)
        return value, slope * Ball.exact(np.zeros(slope.mid.shape))

    for evaluate in (moved, flat):
        assert not contract(_Tampered(batch.n, evaluate), x).proved.any()


def _tensor(system, x):
    if isinstance(system, LowRankSystem):
        S = system.frame @ system.equations.matrix(x).real @ system.frame.T
        rows, columns = coordinates.indices(system.equations.n, 2).T
        return S[rows, columns]
    U = x.real.reshape(system.equations.r, -1)
    return np.array(system.signs) @ coordinates.monomials(U, system.equations.degree)


class _OneByOne:
    """A system without its batch evaluator."""

    def __init__(self, system):
        self.ball_evaluator = system.ball_evaluator


class _Tampered:
    is_real = True

    def __init__(self, n, evaluate):
        self.n, self.evaluate = n, evaluate

    def __call__(self, x):
        return self.evaluate(x)

    def values(self, x):
        return self.evaluate(x)[0]


def test_the_exact_loss_of_labels_is_the_mean_over_the_samples():
    X, y = [[1.5, 1.75], [0.1, -0.75], [-1.75, -0.3]], [3.0, 2.75, 0.1]
    loss = ExactLoss.of(sh.Problem(None, sh.Samples(X, y=y), width=1))
    x, labels = [[Fraction(c) for c in row] for row in X], [Fraction(c) for c in y]
    features = [[a * a, 2 * a * b, b * b] for a, b in x]
    for i in range(3):
        assert loss.right[i] == sum(c * f[i] for c, f in zip(labels, features, strict=True)) / 3
        for j in range(3):
            assert loss.gram[i, j] == sum(f[i] * f[j] for f in features) / 3


def test_the_exact_loss_of_a_teacher_is_that_of_its_weights():
    net = sh.Network([[0.1, 0.7], [1.3, -0.2]], a=[0.3, -1.1])
    loss = ExactLoss.of(sh.Problem(net, sh.Gaussian(2), width=1))
    a, b = (
        sum(Fraction(c) * Fraction(w[i]) * Fraction(w[j]) for c, w in zip(net.a, net.W, strict=True))
        for i, j in ((0, 0), (1, 1))
    )
    assert loss.right[0] == 3 * a + b


def test_a_frame_changes_the_exact_loss_as_it_changes_matrices(rng):
    n = 3
    G, t = generic(6, rng)
    frame, S = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    S = S + S.T
    rows, columns = coordinates.indices(n, 2).T
    there = ExactLoss.of_doubles(G, t).in_frame(frame)
    s, moved = S[rows, columns], (frame @ S @ frame.T)[rows, columns]
    gram, right = there.gram.astype(float), there.right.astype(float)
    np.testing.assert_allclose([s @ gram @ s, right @ s], [moved @ G @ moved, (G @ t) @ moved], rtol=1e-12)


def test_losses_where_doubles_cancel_are_exact():
    """Far out under a far moved Gaussian the terms of ‖s − t‖² are 10⁸ times its value."""
    target = [[-2.5, 1.75, 3.25], [1.75, -1.0, -4.0], [3.25, -4.0, -3.75]]
    mean = [97.33389346500259, -202.40550673727103, -198.89224224532256]
    chart = sh.chart(sh.Problem(np.array(target), sh.Gaussian(3, mean=mean), width=1))
    losses = chart.losses[np.abs(chart.losses / 3.5514180e11 - 1) < 1e-6]
    np.testing.assert_allclose(losses, 3.551418037e11, rtol=3e-10)
