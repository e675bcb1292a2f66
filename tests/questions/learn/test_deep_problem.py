"""Deep problems: derivatives by finite differences and in many digits, scalings between layers, what is refused."""

import mpmath
import numpy as np
import pytest

import shallows as sh
from shallows.learn import DeepNetwork, DeepProblem, train_deep
from shallows.mathematics.balls.arrays import Ball
from shallows.questions.learn.deep.layers import Shape
from shallows.questions.learn.deep.scalings import aligned, tangents
from shallows.questions.learn.deep.second_order import SecondOrder


def problem_of(rng, hidden, outputs=1, penalty=0.7, n=2, count=25, affine=False):
    X, Y = rng.standard_normal((count, n)), rng.standard_normal((count, outputs))
    return DeepProblem(X, Y, hidden, penalty=penalty, affine=affine, sample_weight=rng.random(count) + 0.5)


SHAPES = [((), 1), ((1,), 1), ((4,), 2), ((3, 2), 1), ((1, 1), 2), ((2, 2, 2), 1)]


@pytest.mark.parametrize(("hidden", "outputs"), SHAPES)
def test_derivatives_by_finite_differences(rng, hidden, outputs):
    problem = problem_of(rng, hidden, outputs)
    theta = rng.standard_normal(problem.size) / 2
    step = 1e-6 * np.eye(problem.size)
    slopes = (problem.value(theta + step) - problem.value(theta - step)) / 2e-6
    gradient = problem.gradient(problem.unpack(theta))
    assert np.allclose(slopes, gradient, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())
    bends = (problem.value_and_gradient(theta + step)[1] - problem.value_and_gradient(theta - step)[1]) / 2e-6
    hessian = problem.hessian(problem.unpack(theta))
    assert np.allclose(bends, hessian, rtol=1e-5, atol=1e-6 * np.abs(hessian).max())
    assert np.array_equal(hessian, hessian.T)


def written_out(problem, theta):
    """The loss from its definition, in mpmath: layer by layer, sample by sample."""
    start, layers = 0, []
    for before, after in zip(problem.shape.sizes, problem.shape.sizes[1:], strict=False):
        forms = []
        for _ in range(after):
            A = mpmath.matrix(before, before)
            for i in range(before):
                for j in range(i, before):
                    A[i, j] = A[j, i] = theta[start] / (1 if i == j else mpmath.sqrt(2))
                    start += 1
            forms.append(A)
        layers.append(forms)
    total = mpmath.mpf(0)
    weight = mpmath.fsum(problem.weights.tolist())
    for z, y, w in zip(problem.Z.tolist(), problem.labels.tolist(), problem.weights.tolist(), strict=True):
        v = [mpmath.mpf(x) / problem.unit for x in z]
        for forms in layers:
            v = [
                mpmath.fsum(A[i, j] * v[i] * v[j] for i in range(len(v)) for j in range(len(v)))
                for A in forms
            ]
        total += w * mpmath.fsum((f - t) ** 2 for f, t in zip(v, y, strict=True)) / weight
    for forms in layers[:-1]:
        for i, A in enumerate(forms):
            for j, B in enumerate(forms):
                inner = mpmath.fsum(A[k, l] * B[k, l] for k in range(A.rows) for l in range(A.rows))
                total += problem.penalty * (inner - (i == j)) ** 2
    return total


@pytest.mark.parametrize("hidden", [(1,), (2,), (2, 1)])
def test_balls_hold_what_many_digits_give(rng, hidden):
    """Value by definition in 60 digits, derivatives by differences of step 1e-15 there: inside the balls, and tight."""
    problem = problem_of(rng, hidden, count=4)
    theta = rng.standard_normal(problem.size) / 2
    share = Ball.exact(problem.weights[:, None]) / Ball.exact(problem.weights[:, None]).sum()
    balls = SecondOrder(
        problem.shape,
        Ball.exact(problem.Z) / Ball.exact(np.array(problem.unit)),
        Ball.exact(problem.labels),
        share,
        Ball.exact(np.array(problem.penalty)),
        Ball.exact,
        Ball.rounded,
    )
    gradient, hessian = balls(Ball.exact(theta))
    with mpmath.workdps(60):
        point, h = [mpmath.mpf(x) for x in theta.tolist()], mpmath.mpf("1e-15")

        def moved(*places):
            there = list(point)
            for i, sign in places:
                there[i] += sign * h
            return written_out(problem, there)

        assert abs(written_out(problem, point) - problem.value(theta)) < 1e-12 * problem.value(theta)
        for i in range(problem.size):
            slope = (moved((i, 1)) - moved((i, -1))) / (2 * h)
            assert abs(slope - gradient.mid[i]) <= gradient.rad[i] + 1e-25
            j = (i + 1) % problem.size
            pairs = [(a, b) for a in (1, -1) for b in (1, -1)]
            bend = sum(a * b * moved((i, a), (j, b)) for a, b in pairs) / (4 * h * h)
            assert abs(bend - hessian.mid[i, j]) <= hessian.rad[i, j] + 1e-20
    assert gradient.rad.max() < 1e-11 and hessian.rad.max() < 1e-11


@pytest.mark.parametrize("hidden", [(1,), (3,), (2, 3)])
@pytest.mark.parametrize("orthogonal", [False, True])
def test_scalings_leave_the_loss_alone(rng, hidden, orthogonal):
    """g between two layers, written out on matrices: same outputs; its derivative at the identity is `tangents`."""
    problem = problem_of(rng, hidden, penalty=0.7 if orthogonal else 0.0)
    theta = rng.standard_normal(problem.size)
    generators = tangents(problem.shape, orthogonal)
    count = sum(h * (h - 1) // 2 if orthogonal else h * h for h in hidden)
    assert generators.shape == (count, problem.size, problem.size)
    slopes = problem.value_and_gradient(theta)[1] @ (generators @ theta).T
    assert np.allclose(slopes, 0.0, atol=1e-9 * np.abs(problem.value_and_gradient(theta)[1]).max())
    for l, h in enumerate(hidden):
        g = (
            np.linalg.qr(rng.standard_normal((h, h)))[0]
            if orthogonal
            else rng.standard_normal((h, h)) + 2 * np.eye(h)
        )
        layers = problem.shape.split(theta)
        A = DeepNetwork(problem.shape, theta).layers
        back = np.linalg.inv(g)
        moved = np.einsum("ji,kjl,lm->kim", back, A[l + 1], back)
        rows, columns = np.triu_indices(h)
        layers[l] = g @ layers[l]
        layers[l + 1] = moved[:, rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2))
        assert np.isclose(problem.value(problem.shape.join(layers)), problem.value(theta), rtol=1e-8)


def test_alignment_finds_a_turned_network(rng):
    shape = Shape.of(3, (2, 2), 1)
    theta = rng.standard_normal(shape.size)
    problem = problem_of(rng, (2, 2), n=3)
    turned = aligned(shape, rng.standard_normal(shape.size), theta)
    assert len(turned) == 4 and all(np.isclose(problem.value(t), problem.value(theta)) for t in turned)
    assert min(np.linalg.norm(t - theta) for t in aligned(shape, theta, turned[2])) < 1e-9


def test_runs_bring_their_problem_and_networks(rng):
    X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
    runs = train_deep(X, y, (2,), 3, affine=True, penalty=1.0, iterations=200)
    for net, loss, theta in zip(runs.networks, runs.losses, runs.thetas, strict=True):
        assert np.isclose(np.mean((net(X)[:, 0] - y) ** 2), loss) and np.array_equal(net.theta, theta)
        back = runs.problem.unpack(runs.problem.pack(net))
        assert np.allclose(back.theta, theta) and back.affine
    assert "3-2-1" in repr(runs.problem) and "affine" in repr(runs.networks[0])


def test_more_forms_than_there_are_cost_their_penalty(rng):
    problem = problem_of(rng, (5,), penalty=2.0)  # 3 forms in two inputs
    assert problem.floor == pytest.approx(problem.quadratic.floor + 4.0)
    for _ in range(20):
        assert problem.value(rng.standard_normal(problem.size)) > problem.floor


def test_what_is_refused(rng):
    problem = problem_of(rng, (2,))
    with pytest.raises(sh.InvalidProblem, match="DeepNetwork"):
        problem.pack(sh.Network(np.eye(2)))
    with pytest.raises(sh.InvalidProblem, match="sizes 2-2-1"):
        problem.pack(DeepNetwork(Shape.of(2, (3,), 1), np.zeros(15)))
    with pytest.raises(sh.InvalidProblem, match="theta has 3"):
        problem.unpack(np.zeros(3))
    with pytest.raises(sh.InvalidProblem, match="rows"):
        DeepProblem(np.eye(2), [1.0])
    with pytest.raises(sh.InvalidProblem, match="hidden"):
        DeepProblem(np.eye(2), [1.0, 2.0], hidden=3)
