"""Kernels: exact losses without moment tensors, and ReLU gradients in one fused pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import shallows as sh
from bench.report import Row, compare, show_time, side_by_side
from shallows.support.checks import Array


def run() -> list[Row]:
    """The promises of the foundation."""
    rng = np.random.default_rng(0)
    return [
        relu_gradient(rng),
        *smooth_gradients(rng),
        *iid_kernel(rng),
        iid_growth(rng),
        *quadratic_statistics(rng),
    ]


def relu_gradient(rng: np.random.Generator) -> Row:
    """n = k = 20, 100 networks, orthonormal teacher; the peer is vectorised NumPy, one network a call."""
    n = k = 20
    teacher = sh.Network(np.eye(n), activation=sh.ReLU())
    problem = sh.Problem(teacher, sh.Gaussian(n), k, outer="ones")
    thetas = rng.standard_normal((100, problem.size)) / np.sqrt(n)
    students = thetas.reshape(100, k, n)
    ours = problem.value_and_gradient(thetas)[1]
    theirs = np.array([plain_relu_gradient(W, teacher.W).ravel() for W in students])
    assert np.max(np.abs(ours - theirs)) < 1e-12
    return compare(
        "ReLU gradient, n=k=20, batch of 100, against NumPy point by point",
        lambda: problem.value_and_gradient(thetas),
        lambda: [plain_relu_gradient(W, teacher.W) for W in students],
        target=10,
    )


def smooth_gradients(rng: np.random.Generator) -> list[Row]:
    """Gradients and Hessians at n = 4, width 3 against ReLU's, at weights not seen before: at most 5 times as long."""
    rows = []
    for name, order in [("tanh", 1), ("gelu", 1), ("erf", 2), ("softplus", 2)]:
        activations = {"ours": sh.Smooth(name), "theirs": sh.ReLU()}
        teacher = rng.standard_normal((3, 4))
        calls = {}
        for side, activation in activations.items():
            problem = sh.Problem(sh.Network(teacher, activation=activation), sh.Gaussian(4), 3)
            calls[side] = fresh_derivatives(problem, order, np.random.default_rng(1))
        what = "gradient" if order == 1 else "Hessian"
        rows.append(
            compare(
                f"{what} of {name}, n=4, width 3, against ReLU's", calls["ours"], calls["theirs"], target=0.2
            )
        )
    return rows


def fresh_derivatives(problem: sh.Problem, order: int, rng: np.random.Generator) -> Callable[[], object]:
    """A call that takes the derivative at another network each time."""
    derivative = problem.gradient if order == 1 else problem.hessian
    return lambda: derivative(problem.unpack(rng.standard_normal(problem.size)))


def plain_relu_gradient(W: Array, V: Array) -> Array:
    """The closed-form gradient of E(f − y)² as one would write it down in NumPy."""
    w_norm, v_norm = np.linalg.norm(W, axis=1), np.linalg.norm(V, axis=1)

    def part(norms: Array, X: Array) -> Array:
        cosine = np.clip(W @ X.T / np.outer(w_norm, norms), -1, 1)
        theta = np.arccos(cosine)
        radial = np.sum(np.sin(theta) * norms, axis=1) / w_norm
        return (radial[:, None] * W + (np.pi - theta) @ X) / (2 * np.pi)

    return 2 * (part(w_norm, W) - part(v_norm, V))


def iid_kernel(rng: np.random.Generator) -> list[Row]:
    """d = 3, n = 12, 50×50 pairs, against the moment tensor contracted at once and pair by pair."""
    n, d, data = 12, 3, sh.IID.laplace(12)
    W, V = rng.standard_normal((50, n)), rng.standard_normal((50, n))
    ours = data.kernel(sh.Power(d), sh.Power(d))
    moments = data.moment_matrix(d)

    def power(X: Array) -> Array:
        return np.einsum("ia,ib,ic->iabc", X, X, X).reshape(len(X), -1)

    def at_once() -> Array:
        return power(W) @ moments @ power(V).T

    def one_pair() -> float:
        return float(power(W[:1])[0] @ moments @ power(V[:1])[0])

    assert np.allclose(at_once(), ours.value(W, V), rtol=1e-10)
    time_ours, time_once, time_one = side_by_side(lambda: ours.value(W, V), at_once, one_pair)
    time_pair = 2500 * time_one
    return [
        Row("i.i.d. kernel, d=3, n=12, 50×50, against one moment-matrix product", show_time(time_ours),
            show_time(time_once), time_once / time_ours, 15),
        Row("the same, against the contraction pair by pair", show_time(time_ours), show_time(time_pair),
            time_pair / time_ours, 1000, "2,500 × the time of one pair"),
    ]  # fmt: skip


def iid_growth(rng: np.random.Generator) -> Row:
    """Ten times the dimension should cost at most ten times as much."""

    def at(n: int) -> Callable[[], Array]:
        W, V = rng.standard_normal((50, n)), rng.standard_normal((50, n))
        k = sh.IID.laplace(n).kernel(sh.Power(3), sh.Power(3))
        return lambda: k.value(W, V)

    small, large = side_by_side(at(100), at(1000))
    note = f"time grew {large / small:.1f}× for 10× the dimension; linear is 10×"
    return Row(
        "i.i.d. kernel from n=100 to n=1000", show_time(large), show_time(small), 10 * small / large, 1, note
    )


def quadratic_statistics(rng: np.random.Generator) -> list[Row]:
    """Labelled samples, d = k = 20: after gathering, the cost does not depend on the sample count."""

    def both(count: int) -> tuple[Callable[[], Array], Callable[[], Array]]:
        X, y = rng.standard_normal((count, 20)), rng.standard_normal(count)
        problem = sh.Problem(None, sh.Samples(X, y), width=20)
        theta = rng.standard_normal(problem.size) / 20
        net = problem.unpack(theta)

        def direct() -> Array:
            z = X @ net.W.T
            residual = z**2 @ net.a - y
            inner = 4 * (residual[:, None] * z * net.a).T @ X / count
            return np.concatenate([inner.ravel(), 2 * (z**2).T @ residual / count])

        def ours() -> Array:
            return problem.value_and_gradient(theta)[1]

        assert np.max(np.abs(direct() - ours())) < 1e-10 * np.max(np.abs(direct()))
        return ours, direct

    (few, _), (many, direct) = both(20_000), both(100_000)
    time_few, time_many, time_direct = side_by_side(few, many, direct)
    return [
        Row(
            "quadratic loss and gradient, 100,000 samples, d=k=20, against the direct pass",
            show_time(time_many),
            show_time(time_direct),
            time_direct / time_many,
            200,
        ),
        Row(
            "the same, 100,000 samples against 20,000",
            show_time(time_many),
            show_time(time_few),
            time_few / time_many,
            0.8,
            "1 means independent of the sample count",
        ),
    ]
