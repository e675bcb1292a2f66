"""Paper 002, section 2.3 and appendix C.1: a spurious minimum, and optimality conditions.

The instances have integer data, so that the paper's side is decided in rational arithmetic; the library's numbers are
compared with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

import shallows as sh
from shallows.questions.quadratic.certificates import inspect, residual_matrices
from shallows.questions.quadratic.convex import convex_optimum
from shallows.questions.quadratic.variants import plain
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.kazemipour.exact import (
    IntegerData,
    diagonal,
    doubles,
    exact_matrix,
    identity,
    inner,
    integer_data,
    near,
    outer,
    product,
    reflection,
    trace,
)
from shallows.uses.papers.kazemipour.instances import differences, samples, stationary_point
from shallows.uses.papers.mutations import DOUBLED, DROPPED, NEGATED, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, equal, fact, proof

RESIDUAL = {"shallows.quadratic.residual_matrices": (DOUBLED, NEGATED, DROPPED)}


def _gaussian_loss(B: Any) -> Any:
    """E(xᵀBx)² under N(0, I): 2‖B‖² + (tr B)²."""
    return 2 * inner(B, B) + trace(B) ** 2


def _small_network(trial: Trial, width: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Integer neurons, and outer weights that are not zero."""
    W = trial.rng.integers(-2, 3, (width, d))
    W[:d] += 4 * np.eye(min(width, d), d, dtype=int)  # of full rank
    return W, trial.rng.integers(1, 4, width) * trial.rng.choice([-1, 1], width)


def _library(W: np.ndarray, a: np.ndarray) -> sh.Network:
    return sh.Network(W.astype(float), a.astype(float))


@claim(
    "002",
    "Example 2.1",
    "A positive definite target, any d and k: every (λ < 0, Q = 0) is a local minimum that is not global.",
    control=("λ > 0", {"sign": 1}),
    tests={
        "shallows.Problem.loss": (DOUBLED, NEGATED),
        "shallows.quadratic.inspect": (
            Mutation("always global", lambda found: replace(found, definiteness="zero")),
            Mutation("a direction down", lambda found: replace(found, direction=found, idle=False)),
        ),
    },
)
def example_2_1(trial: Trial, sign: int = -1) -> Iterator[Outcome]:
    """Integer targets under N(0, I), loss 2‖B‖² + (tr B)²: every rational network with λ < 0 has a loss of at least
    that at Q = 0, exactly; the library's losses beside it, and the verdict of `inspect`."""
    for d in (2, 3, 5):
        C = exact_matrix(trial.rng.integers(-2, 3, (d, d)).tolist())
        target = C * C.transpose() + identity(d)
        problem = sh.Problem(doubles(target), sh.Gaussian(d), d)
        a = sign * trial.rng.integers(1, 4, d)
        for _ in trial.times(20, 200):
            W = trial.rng.integers(-9, 10, (d, d))
            exact = _gaussian_loss(target - product(exact_matrix(W.tolist()) * fmpq(1, 40), a.tolist()))
            own = near(problem.loss(sh.Network(W / 40, a.astype(float))), exact)
            yield proof(own and exact >= _gaussian_loss(target), f"d={d}: a network next to (λ, 0)")
        origin = sh.Network(np.zeros((d, d)), a.astype(float))
        yield proof(inspect(problem, origin).verdict == "trap", f"d={d}: {inspect(problem, origin)!r}")


@claim(
    "002",
    "Lemma C.1",
    "k ≥ d: a network is a global minimum if and only if R = mean rₙXₙ is zero; always L − L* = R • (A* − A).",
    control=("the best networks of k = d − 1 neurons", {"narrower": 1}),
    tests={
        **RESIDUAL,
        "shallows.quadratic.convex_optimum": (of_field("matrix", DOUBLED), of_field("loss", DOUBLED)),
        "shallows.Problem.loss": (DOUBLED, NEGATED),
    },
)
def lemma_c_1(trial: Trial, narrower: int = 0) -> Iterator[Outcome]:
    """Integer data: R and the optimum exactly, zero at the optimum and not elsewhere, L − L* = R • (A* − A) at random
    networks; the library's R, loss and optimum beside them."""
    for d in (2, 3, 4):
        for _ in trial.times(2, 10):
            data = integer_data(trial.rng, d, 30)
            problem, best = sh.Problem(None, data.samples, d - narrower), data.optimum()
            if narrower:
                net = stationary_point(trial.rng, problem)
                R = residual_matrices(problem, net)
                yield fact(float(np.abs(R).max()) < 1e-7, f"d={d}: R at a minimum of k={d - 1} neurons")
            found = convex_optimum(problem)
            same = near(found.matrix, best, 1e-7) and near(found.loss, data.loss(best), 1e-7)
            zero = float(np.abs(residual_matrices(problem, found.network())).max()) < 1e-8
            yield proof(
                not any(data.residual_matrix(best).entries()) and same and zero, f"d={d}: R = 0 at A*"
            )
            yield _loss_identity(trial, data, problem, best)


def _loss_identity(trial: Trial, data: IntegerData, problem: sh.Problem, best: Any) -> Outcome:
    W, a = _small_network(trial, problem.width, problem.n)
    A, net = product(exact_matrix(W.tolist()), a.tolist()), _library(W, a)
    R, excess = data.residual_matrix(A), data.loss(A) - data.loss(best)
    own = near(residual_matrices(problem, net)[0], R, 1e-7) and near(problem.loss(net), data.loss(A), 1e-7)
    holds = excess == inner(R, best - A) and (excess > 0) == any(R.entries())
    return proof(holds and own, f"d={problem.n}: another network, excess {excess}")


@claim(
    "002",
    "Lemma C.2",
    "Any k: the gradient in Q, λ and α is −4RQΛ, −2diag(QᵀRQ) and −2tr R, zero at every stationary point; where no "
    "outer weight is zero, stationarity in (λ, Q) is RQ = 0 alone.",
    control=("points that are not stationary", {"trained": False}),
    tests={"shallows.Problem.gradient": (DOUBLED, NEGATED, DROPPED), **RESIDUAL},
)
def lemma_c_2(trial: Trial, trained: bool = True) -> Iterator[Outcome]:
    """Integer networks, against the library's gradient and R; stationary points of every width by descent; and for
    the clause on full rank, integer networks of one neuron on data with Rq = 0 exactly."""
    for d in (2, 3):
        for _ in trial.times(2, 10):
            data = integer_data(trial.rng, d, 30)
            problem = sh.Problem(None, data.samples, d, norm_neuron=True)
            W, a = _small_network(trial, d, d)
            exact = exact_matrix(W.tolist())
            R = data.residual_matrix(product(exact, a.tolist()) + identity(d) * 2)
            net = sh.Network(W.astype(float), a.astype(float), norm=2.0)
            gradient = [*(exact * R * -4).entries()]
            gradient = [entry * int(a[i // d]) for i, entry in enumerate(gradient)]
            forms = exact * R * exact.transpose()
            gradient += [forms[i, i] * -2 for i in range(d)] + [trace(R) * -2]
            row = fmpq_mat([gradient])
            own = near(problem.gradient(net), row, 1e-7) and near(residual_matrices(problem, net)[0], R, 1e-7)
            slopes = differences(problem, problem.pack(net))
            yield fact(
                own and near(slopes, row, 1e-4),
                f"d={d}: the gradient from R, by the library and by differences",
            )
        for width in (1, d):
            yield from _stationary(trial, d, width, trained)
        yield _full_rank_clause(trial, d)


def _stationary(trial: Trial, d: int, width: int, trained: bool) -> Iterator[Outcome]:
    """The three products at a stationary point, and RQ = 0 where no outer weight is zero."""
    problem = sh.Problem(None, samples(trial.rng, d, 30), width, norm_neuron=True)
    net = problem.unpack(trial.rng.standard_normal(problem.size))
    if trained:
        net = stationary_point(trial.rng, problem)
    R = residual_matrices(problem, net)[0]
    size = 1 + np.abs(net.W).max() ** 2 * (1 + np.abs(net.a).max())
    for name, product_ in (
        ("RQΛ", R @ net.W.T * net.a),
        ("diag QᵀRQ", np.diag(net.W @ R @ net.W.T)),
        ("tr R", np.trace(R)),
    ):
        yield equal(float(np.abs(product_).max()) / size, 1e-7, f"d={d}, k={width}: {name} = 0")
    if np.abs(net.a).min() > 1e-3:
        yield equal(float(np.abs(R @ net.W.T).max()) / size, 1e-4, f"d={d}, k={width}: RQ = 0")


def _full_rank_clause(trial: Trial, d: int) -> Outcome:
    """One neuron q = c e₁ on data whose other labels make R e₁ = 0 exactly: stationary in (λ, q) with R ≠ 0."""
    c = int(trial.rng.integers(1, 4))
    eye = np.eye(d, dtype=int)
    X = np.vstack([eye[0], *(eye[i] + s * eye[0] for i in range(1, d) for s in (1, -1)), *eye[1:]])
    y = np.array([c * c] + [c * c] * (2 * (d - 1)) + [1 + i for i in range(d - 1)])
    data, W = IntegerData(X, y), np.array([[c] + [0] * (d - 1)])
    R = data.residual_matrix(product(exact_matrix(W.tolist()), [1]))
    slope = sh.Problem(None, data.samples, 1).gradient(_library(W, np.ones(1, dtype=int)))
    flat = float(np.abs(slope).max()) < 1e-9
    holds = not any((R * exact_matrix(W.tolist()).transpose()).entries()) and any(R.entries())
    return fact(holds and flat, f"d={d}, q={c}e₁: RQ = 0, R ≠ 0, stationary")


@claim(
    "002",
    "Lemma C.3",
    "Any k and α: a critical point of L(M, Q), M any symmetric matrix, that is not global has rank Q < d. For "
    "networks (M = Λ) it needs that no outer weight is zero: W = I, a = 0 is critical for the target [[0, 1], [1, "
    "0]].",
    control=("that network, a = 0", {"zero": True}),
    tests={"shallows.Problem.gradient": (DOUBLED, NEGATED)},
)
def lemma_c_3(trial: Trial, zero: bool = False) -> Iterator[Outcome]:
    """Integer points with rank Q = d that are not global: QᵀRQ ≠ 0, and for networks without zero outer weights RQΛ
    ≠ 0, exactly, the library's gradient beside it."""
    if zero:
        yield _swap_is_critical(claimed=False)
    for d in (2, 3, 4):
        for width in (d, d + 1):
            for _ in trial.times(2, 15):
                data = integer_data(trial.rng, d, 25)
                W, a = _small_network(trial, width, d)
                exact = exact_matrix(W.tolist())
                R = data.residual_matrix(product(exact, a.tolist()))
                if exact.rank() < d or not any(R.entries()):
                    continue
                in_m, in_q = exact * R * exact.transpose(), diagonal(a.tolist()) * exact * R * -4
                slope = sh.Problem(None, data.samples, width).gradient(_library(W, a))[: width * d]
                holds = any(in_m.entries()) and any(in_q.entries())
                yield proof(
                    holds and near(slope.reshape(width, d), in_q, 1e-7),
                    f"d={d}, k={width}: rank Q = {d}, not critical",
                )


def _swap_is_critical(claimed: bool) -> Outcome:
    """W = I, a = 0 and the target T = [[0, 1], [1, 0]] under N(0, I): R = 2T, RQΛ = 0, diag QᵀRQ = 0 and QᵀRQ ≠ 0."""
    T = exact_matrix([[0, 1], [1, 0]])
    R = T * 2 + identity(2) * trace(T)
    problem = sh.Problem(doubles(T), sh.Gaussian(2), 2)
    net = sh.Network(np.eye(2), np.zeros(2))
    critical = R[0, 0] == 0 and R[1, 1] == 0 and float(np.abs(problem.gradient(net)).max()) == 0.0
    return proof(
        critical == claimed and any(R.entries()), "W = I, a = 0, T = [[0, 1], [1, 0]]: critical, R = 2T"
    )


@claim(
    "002",
    "Lemma C.4",
    "At every local minimum or saddle without negative curvature 2 mean(Xₙ•QMUᵀ)² − R • UMUᵀ ≥ 0 for all U; twice "
    "that form is half the second derivative of L along U at every point.",
    control=("a strict saddle", {"saddle": True}),
    printed=("(C.15): mean(Xₙ•QMUᵀ)² − R • UMUᵀ ≥ 0", {"factor": 1}),
    tests={**RESIDUAL, "shallows.Problem.hvp": (DOUBLED, NEGATED)},
)
def lemma_c_4(trial: Trial, saddle: bool = False, factor: int = 2) -> Iterator[Outcome]:
    """The rank-one trap a = (13/10, −1), W = (e₁, 0) of diag(1, 9/10) under N(0, I), a local minimum, at rational
    U; and at random integer networks on integer data the form against the library's Hessian products."""
    target, a = diagonal([1, fmpq(9, 10)]), [fmpq(13, 10), fmpq(1 if saddle else -1)]
    W = exact_matrix([[1, 0], [0, 0]])
    B = target - product(W, a)
    R = B * 2 + identity(2) * trace(B)
    problem = sh.Problem(doubles(target), sh.Gaussian(2), 2)
    net = sh.Network(doubles(W), [float(x.p) / float(x.q) for x in a])
    yield proof(not any((R * W.transpose()).entries()), f"the trap is critical, R = {R.tolist()[1][1]} e₂e₂ᵀ")
    for number in trial.times(20, 200):
        U = exact_matrix(trial.rng.integers(-3, 4, (2, 2)).tolist())
        if number < 2:  # turn the neuron, or move the idle one
            U = outer([0, 1], [1 - number, number])
        S = W.transpose() * diagonal(a) * U.transpose()
        S = (S + S.transpose()) / fmpq(2)
        square, linear = _gaussian_loss(S), inner(R, U * diagonal(a) * U.transpose())
        flat = np.append(doubles(U).T.ravel(), np.zeros(2))
        own = near(float(flat @ problem.hvp(net, flat)) / 4, 2 * square - linear)
        same = near(residual_matrices(problem, net)[0], R)
        yield proof(
            own and same and factor * square - linear >= 0, f"U = {U.tolist()}: {factor * square - linear}"
        )
    for d in (2, 3):
        yield _random_form(trial, d)


def _random_form(trial: Trial, d: int) -> Outcome:
    """Half the second derivative along U is 4 mean(X•QΛUᵀ)² − 2R•UΛUᵀ, on integer data at an integer network."""
    data = integer_data(trial.rng, d, 20)
    W, a = _small_network(trial, d, d)
    U = trial.rng.integers(-2, 3, (d, d))
    exact, left = exact_matrix(W.tolist()), exact_matrix(U.tolist())
    R = data.residual_matrix(product(exact, a.tolist()))
    S = exact.transpose() * diagonal(a.tolist()) * left.transpose()
    slopes = [inner(S, outer(row, row)) for row in data.X.tolist()]
    square = sum((s * s for s in slopes), fmpq(0)) / len(slopes)
    form = 4 * square - 2 * inner(R, left * diagonal(a.tolist()) * left.transpose())
    flat = np.append(U.T.ravel(), np.zeros(d)).astype(float)
    problem = sh.Problem(None, data.samples, d)
    own = float(flat @ problem.hvp(_library(W, a), flat)) / 2
    same = near(residual_matrices(problem, _library(W, a))[0], R, 1e-7)
    return proof(near(own, form, 1e-7) and same, f"d={d}: half the second derivative is {form}")


@claim(
    "002",
    "Lemma C.5",
    "For all k ≥ d the global minimum is that of least squares, whatever k is; with a penalty γ > 0 it has the same"
    " value and QQᵀ = I (k = d).",
    control=("k = d − 1", {"narrower": 1}),
    tests={
        "shallows.Problem.loss": (DOUBLED, NEGATED),
        "shallows.quadratic.convex_optimum": (of_field("matrix", DOUBLED), of_field("loss", DOUBLED)),
    },
)
def lemma_c_5(trial: Trial, narrower: int = 0) -> Iterator[Outcome]:
    """The exact least-squares loss of integer data, attained with d, d+1, … neurons; with the penalty it is
    attained where QQᵀ = I, and stretching Q costs γ‖QQᵀ − I‖² exactly."""
    for d in (2, 3, 4):
        for _ in trial.times(2, 10):
            data = integer_data(trial.rng, d, 40)
            exact, found = data.loss(data.optimum()), convex_optimum(plain(data.samples, d))
            if narrower:
                narrow = sh.Problem(None, data.samples, d - 1)
                runs = sh.ensemble(narrow, runs=20, method="lm", rng=int(trial.rng.integers(2**31)))
                yield fact(
                    near(float(runs.losses.min()), exact), f"d={d}: the best of 20 runs at k = {d - 1}"
                )
            for k in (d, d + 1, 2 * d):
                loss = sh.Problem(None, data.samples, k).loss(found.network(k))
                yield fact(
                    near(loss, exact, 1e-8) and near(found.loss, exact, 1e-8),
                    f"d={d}, k={k}: L* = {loss:.6g}",
                )
            penalised = sh.Problem(None, data.samples, d, orthogonality=1.0)
            values, vectors = np.linalg.eigh(doubles(data.optimum()))
            for stretch, cost in ((1.0, 0.0), (2.0, 9.0 * d)):
                loss = penalised.loss(sh.Network(stretch * vectors.T, values / stretch**2))
                yield fact(near(loss - cost, exact, 1e-8), f"d={d}: ‖QQᵀ − I‖² = {cost:g} costs as much")


@claim(
    "002",
    "Lemma C.6",
    "M = UΛUᵀ any symmetric matrix: (M, Q) and the network (λ, QU) have the same loss, |supp λ| = rank M, and the "
    "network's gradient is (∇_Q U, diag Uᵀ∇_M U): if (M, Q) is stationary, so is the network. The converse fails.",
    control=("U not orthogonal", {"stretch": 1}),
    printed=("stationary if and only if; W = I, a = 0, target [[0, 1], [1, 0]]", {"converse": True}),
    tests={
        "shallows.Problem.loss": (DOUBLED, NEGATED),
        "shallows.Problem.gradient": (DOUBLED, NEGATED, DROPPED),
    },
)
def lemma_c_6(trial: Trial, stretch: int = 0, converse: bool = False) -> Iterator[Outcome]:
    """Rational U, integer Q, λ and data: loss and gradients of L(M, Q) exactly, against the library's at the
    network."""
    if converse:
        yield _swap_is_critical(claimed=False)
    for d in (2, 3, 4):
        for _ in trial.times(2, 15):
            data, U = integer_data(trial.rng, d, 30), reflection(trial.rng, d)
            values = trial.rng.integers(-2, 3, d).tolist()
            Q = exact_matrix(trial.rng.integers(-2, 3, (d, d)).tolist())
            M = U * diagonal(values) * U.transpose()
            A = Q * M * Q.transpose()
            R, problem = data.residual_matrix(A), sh.Problem(None, data.samples, d)
            in_q, in_m = R * Q * M * U * -4, U.transpose() * Q.transpose() * R * Q * U * -2
            net = sh.Network((1 + stretch) * doubles(Q * U).T, [float(x) for x in values])
            slope = problem.gradient(net)
            expected = [*in_q.transpose().entries(), *(in_m[i, i] for i in range(d))]
            own = near(slope, fmpq_mat([expected]), 1e-7) and near(problem.loss(net), data.loss(A), 1e-7)
            yield proof(
                own and M.rank() == sum(v != 0 for v in values),
                f"d={d}: loss, gradient and support of (M, Q)",
            )
