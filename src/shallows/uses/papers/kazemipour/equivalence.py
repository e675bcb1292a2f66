"""Paper 002, appendix C.2: diagonal Q, the set M_Q, and rescaled starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from flint import fmpq, fmpq_mat

import shallows as sh
from shallows.questions.quadratic.certificates import inspect, residual_matrices
from shallows.questions.quadratic.equivalent import equivalent_set
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.kazemipour.exact import exact_matrix, integer_data, near, trace
from shallows.uses.papers.kazemipour.instances import (
    random_network,
    samples,
    stationary_point,
    trapped_point,
)
from shallows.uses.papers.mutations import DOUBLED, DROPPED, NEGATED, NOTHING, OFF_BY_ONE, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof


def _loss_of(X: Array, y: Array, A: Array) -> float:
    """mean (yₙ − xₙᵀAxₙ)², by its definition."""
    return float(np.mean((np.einsum("ni,ij,nj->n", X, A, X) - y) ** 2))


@claim(
    "002",
    "Lemma C.7",
    "Every local minimum (M, Q), Q = UΣVᵀ, corresponds to (VᵀMV, Σ) on the inputs Uᵀx: without loss of generality Q"
    " is diagonal.",
    control=("rotate only the inputs", {"inputs_only": True}),
    tests={"shallows.Problem.loss": (DOUBLED, NEGATED), "shallows.Problem.gradient": (DOUBLED, NEGATED)},
)
def lemma_c_7(trial: Trial, inputs_only: bool = False) -> Iterator[Outcome]:
    """The library's loss and gradient of the rotated problem at the diagonal Q against those at Q, by the
    definition."""
    for d in (2, 3, 4):
        for _ in trial.times(3, 20):
            data = samples(trial.rng, d, 30)
            y, Q = np.asarray(data.y), trial.rng.standard_normal((d, d))
            values = trial.rng.standard_normal(d)
            U, s, Vt = np.linalg.svd(Q)
            here = _loss_of(data.X, y, (Q * values) @ Q.T)
            turned = sh.Problem(None, sh.Samples(data.X @ U, y), d)
            net = sh.Network((np.diag(s) if inputs_only else np.diag(s) @ Vt).T, values)
            yield equal(abs(turned.loss(net) - here), 1e-9 * (1 + here), f"d={d}: the loss at a diagonal Q")
            R = np.einsum(
                "n,ni,nj->ij",
                y - np.einsum("ni,ij,nj->n", data.X, (Q * values) @ Q.T, data.X),
                data.X,
                data.X,
            )
            expected = (U.T @ (-4 * (R / len(y)) @ Q * values)).T
            error = np.abs(turned.gradient(net)[: d * d].reshape(d, d) - expected).max()
            yield equal(float(error), 1e-9 * (1 + np.abs(expected).max()), f"d={d}: the gradient there")


@claim(
    "002",
    "Lemma C.8",
    "All of M_Q, which has dimension (k−r)(k−r+1)/2, r = rank Q, has the same loss, and is stationary when one "
    "point of it is.",
    control=("changes outside M_Q", {"inside": False}),
    tests={
        "shallows.quadratic.EquivalentSet.dimension": (DOUBLED, OFF_BY_ONE),
        "shallows.quadratic.EquivalentSet.member": (
            Mutation("outer weights doubled", lambda net: sh.Network(net.W, 2 * net.a)),
            Mutation("a neuron dropped", lambda net: sh.Network(net.W[1:], net.a[1:])),
        ),
        "shallows.Problem.gradient": (OFF_BY_ONE,),
    },
)
def lemma_c_8(trial: Trial, inside: bool = True) -> Iterator[Outcome]:
    """Random members of the set at low-rank stationary points: loss, function, gradient and dimension."""
    for d in (3, 4):
        problem = sh.Problem(None, samples(trial.rng, d, 40), d)
        net = trapped_point(problem, zeros=2)
        base, members, A = problem.loss(net), equivalent_set(net), (net.W.T * net.a) @ net.W
        yield fact(members.dimension == 3, f"d={d}: rank Q = {d - 2}, dimension {members.dimension}")
        for _ in trial.times(4, 30):
            member = members.sample(trial.rng)
            if not inside:
                member = sh.Network(net.W, net.a + 0.1 * trial.rng.standard_normal(d))
            gap = float(np.abs((member.W.T * member.a) @ member.W - A).max())
            yield equal(gap, 1e-9 * (1 + np.abs(A).max()), f"d={d}: the function on M_Q")
            moved = float(np.abs(np.sort(member.a) - np.sort(net.a)).max())
            yield at_least(moved, 1e-6, f"d={d}: another member of M_Q")
            yield equal(abs(problem.loss(member) - base), 1e-9 * base, f"d={d}: the loss on M_Q")
            yield equal(float(np.linalg.norm(problem.gradient(member))), 1e-7, f"d={d}: the gradient on M_Q")


def _positive_target(trial: Trial, d: int) -> sh.Problem:
    A = trial.rng.standard_normal((d, d))
    return sh.Problem(A @ A.T + np.eye(d), sh.Gaussian(d), d)


def _checked(problem: sh.Problem, net: sh.Network) -> tuple[str, bool]:
    """The verdict of `inspect`, and whether it is borne out: a strict saddle's direction lowers the loss."""
    found = inspect(problem, net)
    if found.direction is None:
        return found.verdict, found.verdict != "strict saddle"
    theta, base = problem.pack(net), problem.loss(net)
    lower = min(float(problem.value(theta + t * found.direction.direction)) for t in (-1e-2, 1e-2))
    return found.verdict, lower < base


_NO_WAY_DOWN = of_field("direction", NOTHING)


@claim(
    "002",
    "Corollary C.1",
    "M_Q of any stationary point is the disjoint union of its strict saddles and of its points without negative "
    "curvature; at the traps of a positive definite target both occur.",
    control=("a set of points that are not stationary", {"stationary": False}),
    tests={
        "shallows.quadratic.inspect": (
            _NO_WAY_DOWN,
            Mutation("never stationary", lambda f: replace(f, stationary=False)),
        )
    },
)
def corollary_c_1(trial: Trial, stationary: bool = True) -> Iterator[Outcome]:
    """Every sampled member is one or the other by `inspect`, whose directions do lower the loss, and both occur."""
    for d in (3, 4):
        problem = _positive_target(trial, d)
        net = trapped_point(problem, zeros=2) if stationary else random_network(trial.rng, d, d)
        members = equivalent_set(net)
        found = [_checked(problem, members.sample(trial.rng, 2.0)) for _ in trial.times(30, 100)]
        verdicts = {verdict for verdict, _ in found}
        yield fact(all(right for _, right in found), f"d={d}: directions lower the loss")
        yield fact(verdicts == {"strict saddle", "trap"}, f"d={d}: {sorted(verdicts)}")


@claim(
    "002",
    "Lemma C.9",
    "At every stationary point either almost all of M_Q has negative curvature, or R = mean rₙXₙ is semidefinite.",
    control=("semidefinite R, claimed to leave no trap", {"claim_null": True}),
    tests={"shallows.quadratic.inspect": (_NO_WAY_DOWN,)},
)
def lemma_c_9(trial: Trial, claim_null: bool = False) -> Iterator[Outcome]:
    """Rank-one stationary points of targets with eigenvalues of both signs, where R is indefinite: every sampled
    member is a strict saddle whose direction lowers the loss. And of positive targets, where R is semidefinite:
    traps occur."""
    for d in (3, 4):
        values = np.concatenate([[3.0], trial.rng.uniform(0.5, 1.5, d - 2), [-trial.rng.uniform(0.5, 1.5)]])
        Q, _ = np.linalg.qr(trial.rng.standard_normal((d, d)))
        mixed = sh.Problem((Q * values) @ Q.T, sh.Frobenius(d), d)
        for name, problem in (("indefinite", mixed), ("semidefinite", _positive_target(trial, d))):
            net = trapped_point(problem, zeros=d - 1)
            signs = np.linalg.eigvalsh(residual_matrices(problem, net)[0])
            indefinite = bool(signs[0] < -1e-6 and signs[-1] > 1e-6)
            yield fact(
                indefinite == (name == "indefinite"), f"d={d}: R with eigenvalues {signs.round(3).tolist()}"
            )
            members = equivalent_set(net)
            found = [_checked(problem, members.sample(trial.rng)) for _ in trial.times(20, 100)]
            held = sum(verdict != "strict saddle" for verdict, _ in found)
            if indefinite or claim_null:
                yield equal(
                    float(held), 0.0, f"d={d}: R {name}, {held} members without negative curvature sampled"
                )
            yield fact(all(right for _, right in found), f"d={d}: R {name}, directions lower the loss")


@claim(
    "002",
    "Lemma C.10",
    "γ = 0, all β > 0: (β²λ, Q/β) is the same function, and descent from there with steps (η_Q/β², β⁴η_λ) follows "
    "descent from (λ, Q) with steps (η_Q, η_λ), rescaled.",
    control=("the same step for both", {"rescale_steps": False}),
    tests={"shallows.Problem.gradient": (DOUBLED, NEGATED, DROPPED)},
)
def lemma_c_10(trial: Trial, rescale_steps: bool = True) -> Iterator[Outcome]:
    """Two trajectories of 50 steps, one with gradients from R by its definition, the rescaled one with the
    library's."""
    for d in (2, 3):
        data = samples(trial.rng, d, 30)
        problem, y = sh.Problem(None, data, d), np.asarray(data.y)
        for beta in (0.5, 2.0):
            W, a = 0.5 * trial.rng.standard_normal((d, d)), 0.5 * trial.rng.standard_normal(d)
            V, b, eta = W / beta, beta**2 * a, 1e-2
            inner, outer = (eta / beta**2, eta * beta**4) if rescale_steps else (eta, eta)
            for _ in range(50):
                r = y - np.einsum("ni,ij,nj->n", data.X, (W.T * a) @ W, data.X)
                R = np.einsum("n,ni,nj->ij", r, data.X, data.X) / len(r)
                second = problem.gradient(sh.Network(V, b))
                W, a = W + 4 * eta * a[:, None] * (W @ R), a + 2 * eta * np.diag(W @ R @ W.T)
                V, b = V - inner * second[: d * d].reshape(d, d), b - outer * second[d * d :]
            gap = max(np.abs(V - W / beta).max(), np.abs(b - beta**2 * a).max())
            yield equal(float(gap), 1e-9, f"d={d}, β={beta}: after 50 steps")


@claim(
    "002",
    "Corollary C.2",
    "For every step η there is h_η > 0 such that ‖Q₀‖ ≤ h_η meets η‖A_Q‖² < 1, whatever λ₀ is: ‖A_Q‖² grows like "
    "‖Q‖⁴. Large Q₀ and small λ₀, as printed, break it, and under Lemma C.10's step β⁴η it does not change.",
    control=("h_η of a step a hundred times shorter", {"shorter": 100}),
    printed=("‖λ₀‖ ≤ g_η and ‖Q₀‖ ≥ h_η", {"large": True}),
    verdict="false as printed",
    tests={"shallows.Problem.hessian": (DOUBLED, NEGATED)},
)
def corollary_c_2(trial: Trial, shorter: int = 1, large: bool = False) -> Iterator[Outcome]:
    """Integer data and networks: A has the entries (wⱼ·xₙ)², and 2AᵀA/N is the library's Hessian in λ. With Q₀
    scaled by h, h⁴ < 1/(η tr 2AᵀA/N), the condition holds exactly; Q/β has β⁻⁴ times it, so that β⁴η·‖A‖² stays."""
    for d in (2, 3):
        data = integer_data(trial.rng, d, 30)
        problem = sh.Problem(None, data.samples, d)
        for eta in (fmpq(1, 100), fmpq(1), fmpq(1000)):
            W = trial.rng.integers(1, 4, (d, d)) * trial.rng.choice([-1, 1], (d, d))
            A = exact_matrix(((data.X @ W.T) ** 2).tolist())
            gram = A.transpose() * A * fmpq(2, len(data.y))
            net = sh.Network(W.astype(float), trial.rng.standard_normal(d))
            own = near(problem.hessian(net)[d * d :, d * d :], gram, 1e-7)
            scale = _fourth_root_below(1 / (eta * trace(gram)) * shorter**4)
            if large:
                scale = _fourth_root_below(eta * trace(gram)) ** -1 + 10**3
            small = identity_minus(gram * (eta * scale**4))
            low = all(small_minor > 0 for small_minor in _minors(small))
            beta = fmpq(1, 3)
            moved = problem.hessian(sh.Network(3.0 * net.W, net.a / 9))[d * d :, d * d :]
            same = near(moved / 81, gram, 1e-7) and beta**4 * 81 == 1
            yield proof(
                own and same and low,
                f"d={d}, η={eta}: I − ηAᵀA {'>' if low else 'not >'} 0 at h = {float(int(scale.p) / int(scale.q)):.3g}",
            )


def identity_minus(matrix: fmpq_mat) -> fmpq_mat:
    """I − matrix."""
    d = matrix.nrows()
    return fmpq_mat(d, d, [int(i == j) - matrix[i, j] for i in range(d) for j in range(d)])


def _minors(matrix: fmpq_mat) -> list[fmpq]:
    """Leading principal minors: all positive exactly when the matrix is positive definite."""
    rows = matrix.tolist()
    return [fmpq_mat([row[:k] for row in rows[:k]]).det() for k in range(1, len(rows) + 1)]


def _fourth_root_below(value: fmpq) -> fmpq:
    """A rational h > 0 with h⁴ < value, within a few percent."""
    root = fmpq(*float((int(value.p) / int(value.q)) ** 0.25 * 0.99).as_integer_ratio())
    assert root**4 < value
    return root


@claim(
    "002",
    "Lemma C.11",
    "At every stationary point λ_max(R) ≤ sup over ‖z‖ ≤ ‖y‖ of λ_max(mean zₙXₙ) = ‖y‖ max_u (mean (u·xₙ)⁴)^½, a "
    "number of the data alone (‖·‖² a mean); attained at Q = 0 where y = (u·x)² with the best u.",
    control=("points that are not stationary", {"trained": False}),
    tests={"shallows.quadratic.residual_matrices": (DOUBLED, NEGATED, DROPPED)},
)
def lemma_c_11(trial: Trial, trained: bool = True) -> Iterator[Outcome]:
    """Stationary points of every width: R against its definition, ‖r‖ ≤ ‖y‖, and λ_max(R) against ‖y‖(mean ‖x‖⁴)^½,
    an upper bound of the supremum; and d = 1 with y = x², where the two sides are equal at Q = 0."""
    for d in (1, 2, 3):
        for width in (1, d):
            data = samples(trial.rng, d, 30)
            if d == 1:
                data = sh.Samples(data.X, data.X[:, 0] ** 2)
            problem, y = sh.Problem(None, data, width), np.asarray(data.y)
            bound = float(np.sqrt(np.mean(y**2) * np.mean(np.sum(data.X**2, axis=1) ** 2)))
            for number in trial.times(2, 15):
                net = stationary_point(trial.rng, problem)
                if number == 0:
                    net = sh.Network(np.zeros((width, d)), -np.ones(width))
                if not trained:
                    net = sh.Network(10 * trial.rng.standard_normal((width, d)), -10 * np.ones(width))
                r = y - net(data.X)
                R = np.einsum("n,ni,nj->ij", r, data.X, data.X) / len(r)
                own = residual_matrices(problem, net)[0]
                top, what = float(np.linalg.eigvalsh(own)[-1]), f"d={d}, width {width}"
                yield equal(float(np.abs(own - R).max()), 1e-8, f"{what}: R by its definition")
                yield at_least(np.mean(y**2) + 1e-9, float(np.mean(r**2)), f"{what}: ‖r‖ ≤ ‖y‖")
                yield at_least(bound + 1e-9, top, f"{what}: λ_max(R) = {top:.3g} ≤ {bound:.3g}")
                if d == 1 and number == 0:
                    yield equal(abs(top - bound), 1e-9, f"{what}: attained at Q = 0")
