"""Paper 002, section 2.3 and appendix C: spurious minima, optimality conditions, and the set M_Q."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.questions.quadratic.certificates import inspect, residual_matrices
from shallows.questions.quadratic.convex import convex_optimum
from shallows.questions.quadratic.equivalent import equivalent_set
from shallows.questions.quadratic.variants import plain
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.kazemipour.instances import (
    differences,
    low_rank_chart,
    random_network,
    samples,
    stationary_point,
    trapped_point,
)
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact


def _positive_target(trial: Trial, d: int) -> sh.Problem:
    A = trial.rng.standard_normal((d, d))
    return sh.Problem(A @ A.T + np.eye(d), sh.Gaussian(d), d)


@claim(
    "002",
    "Example 2.1",
    "A positive definite target: every (λ < 0, Q = 0) is a local minimum that is not global.",
    control=("λ > 0", {"sign": 1.0}),
)
def example_2_1(trial: Trial, sign: float = -1.0) -> Iterator[Outcome]:
    """Losses of random networks nearby, and the verdict of `inspect`."""
    for d in (2, 3, 5):
        problem = _positive_target(trial, d)
        net = sh.Network(np.zeros((d, d)), sign * trial.rng.uniform(0.5, 2.0, d))
        moves = trial.rng.standard_normal((len(trial.times(500, 5000)), problem.size))
        moves *= 0.3 / np.linalg.norm(moves, axis=1, keepdims=True)
        lowest = float(problem.value(problem.pack(net) + moves).min())
        yield at_least(lowest, problem.loss(net) * (1 - 1e-12), f"d={d}: nothing lower nearby")
        yield fact(inspect(problem, net).verdict == "trap", f"d={d}: {inspect(problem, net)!r}")


@claim(
    "002",
    "Lemma C.1",
    "For k ≥ d a point is global iff Σ rₙXₙ = 0.",
    control=("k < d, where the residual need not vanish at the minimum", {"narrower": 1}),
)
def lemma_c_1(trial: Trial, narrower: int = 0) -> Iterator[Outcome]:
    """The residual matrix at global minima, and losses where it does not vanish."""
    for d in (2, 3, 4):
        for _ in trial.times(2, 10):
            problem = sh.Problem(None, samples(trial.rng, d, 30), d - narrower)
            optimum = convex_optimum(problem)
            net = optimum.network() if not narrower else stationary_point(trial.rng, problem)
            R = residual_matrices(problem, net)
            yield equal(float(np.abs(R).max()), 1e-9, f"d={d}: Σ rX at the minimum of width {d - narrower}")
            other = random_network(trial.rng, problem.width, d)
            yield at_least(
                problem.loss(other), optimum.loss, f"d={d}: another network is above L*", strict=True
            )
            yield at_least(
                float(np.abs(residual_matrices(problem, other)).max()), 1e-9, f"d={d}: and has ΣrX ≠ 0"
            )


@claim(
    "002",
    "Lemma C.2",
    "First-order conditions: ΣrX QM = 0, QᵀΣrXQ = 0, ΣrX • I = 0; for full-rank M just ΣrX Q = 0.",
    control=("points that are not stationary", {"trained": False}),
)
def lemma_c_2(trial: Trial, trained: bool = True) -> Iterator[Outcome]:
    """The three products at stationary points; and as gradients, against differences, at any point."""
    for d in (2, 3):
        for _ in trial.times(2, 10):
            problem = sh.Problem(None, samples(trial.rng, d, 30), d, norm_neuron=True)
            start = problem.unpack(trial.rng.standard_normal(problem.size))
            net = stationary_point(trial.rng, problem) if trained else start
            R = residual_matrices(problem, net)[0]
            size = 1 + np.abs(net.W).max() ** 2 * (1 + np.abs(net.a).max())
            for name, product in (
                ("ΣrX QΛ", R @ net.W.T * net.a),
                ("QᵀΣrXQ", net.W @ R @ net.W.T),
                ("ΣrX • I", np.trace(R)),
            ):
                diagonal = np.diag(product) if name.startswith("Qᵀ") else product
                yield equal(float(np.abs(diagonal).max()) / size, 1e-7, f"d={d}: {name} = 0")
            other = residual_matrices(problem, start)[0]
            formula = np.concatenate([
                (-4 * (other @ start.W.T * start.a)).T.ravel(),
                -2 * np.diag(start.W @ other @ start.W.T),
                [-2 * np.trace(other)],
            ])  # fmt: skip
            error = np.abs(differences(problem, problem.pack(start)) - formula).max() / np.abs(formula).max()
            yield equal(float(error), 1e-6, f"d={d}: the gradient from ΣrX")


@claim(
    "002",
    "Lemma C.3",
    "A critical point that is not global has rank Q < d.",
    control=("global minima", {"at_global": True}),
)
def lemma_c_3(trial: Trial, at_global: bool = False) -> Iterator[Outcome]:
    """Critical points of every rank from the chart, and ends of descents."""
    for d in (2, 3):
        problem = sh.Problem(None, samples(trial.rng, d, 30), d)
        chart = low_rank_chart(problem, d - 1)
        for point in chart.points:
            rank = int(np.linalg.matrix_rank(point.network.W, tol=1e-6)) if point.rank else 0
            found = inspect(problem, _wide(point.network, d))
            yield fact(
                not found.is_global and found.rank < d and rank < d, f"d={d}: rank {rank}, {found.verdict}"
            )
        if at_global:
            found = inspect(problem, convex_optimum(problem).network())
            yield fact(found.rank < d, f"d={d}: {found!r}")


def _wide(net: sh.Network, width: int) -> sh.Network:
    spare = width - net.width
    return sh.Network(np.vstack([net.W, np.zeros((spare, net.n))]), np.append(net.a, np.zeros(spare)))


@claim(
    "002",
    "Lemma C.4",
    "Second-order condition: Σ(XQM • U)² − Σ rX • UMUᵀ ≥ 0 for all U at points without negative curvature.",
    control=("strict saddles", {"saddle": True}),
)
def lemma_c_4(trial: Trial, saddle: bool = False) -> Iterator[Outcome]:
    """The form against second differences in Q; its sign at minima, and a violating U at saddles."""
    for d in (2, 3):
        for _ in trial.times(2, 10):
            data = samples(trial.rng, d, 30)
            problem = sh.Problem(None, data, d)
            net = convex_optimum(problem).network()
            if saddle:
                net = sh.Network(np.zeros((d, d)), np.where(np.arange(d) % 2, -1.0, 1.0))
            R = residual_matrices(problem, net)[0]
            for _ in range(20):
                U = trial.rng.standard_normal((d, d))
                slopes = np.einsum("ni,ij,nj->n", data.X, (net.W.T * net.a) @ U.T, data.X)
                form = float(np.mean(4 * slopes**2) - 2 * np.sum(R * ((U * net.a) @ U.T)))
                direction = np.concatenate([U.T.ravel(), np.zeros(d)])
                measured = 0.5 * float(direction @ problem.hvp(net, direction))
                yield equal(
                    abs(form - measured),
                    1e-9 * (1 + abs(measured)),
                    f"d={d}: the form is half the second derivative",
                )
                yield at_least(form, -1e-9, f"d={d}: the form along a random U")


@claim(
    "002",
    "Lemma C.5",
    "From k = d on, the global minimum does not depend on k; with a penalty it has QQᵀ = I.",
    control=("k = d − 1", {"narrower": 1}),
)
def lemma_c_5(trial: Trial, narrower: int = 0) -> Iterator[Outcome]:
    """The least-squares optimum attained with d, d+1, … neurons, also with the penalty."""
    for d in (2, 3, 4):
        for _ in trial.times(2, 10):
            data = samples(trial.rng, d, 40)
            best = convex_optimum(plain(data, d))
            width = d - narrower
            if narrower:
                runs = sh.ensemble(
                    sh.Problem(None, data, width), runs=20, method="lm", rng=int(trial.rng.integers(2**31))
                )
                yield equal(
                    float(runs.losses.min()) - best.loss, 1e-9, f"d={d}: the best of 20 runs at k = {width}"
                )
            for k in (d, d + 1, 2 * d):
                loss = sh.Problem(None, data, k).loss(best.network(k))
                yield equal(abs(loss - best.loss), 1e-10, f"d={d}, k={k}: L*")
            penalised = sh.Problem(None, data, d, orthogonality=1.0)
            values, vectors = np.linalg.eigh(best.matrix)
            yield equal(
                abs(penalised.loss(sh.Network(vectors.T, values)) - best.loss),
                1e-10,
                f"d={d}: with QQᵀ = I and the penalty",
            )


@claim(
    "002",
    "Lemma C.6",
    "Allowing a full symmetric M for diag(λ) changes nothing: (M, Q) and (λ, QU) are equivalent points.",
    control=("U not orthogonal", {"stretch": 0.1}),
)
def lemma_c_6(trial: Trial, stretch: float = 0.0) -> Iterator[Outcome]:
    """Loss and curvature of QMQᵀ computed directly, against the network of the eigendecomposition of M."""
    for d in (2, 3, 4):
        for _ in trial.times(3, 20):
            data = samples(trial.rng, d, 30)
            problem = sh.Problem(None, data, d)
            Q, M = trial.rng.standard_normal((2, d, d))
            M = M + M.T
            values, U = np.linalg.eigh(M)
            net = sh.Network((1 + stretch) * U.T @ Q.T, values)
            direct = float(np.mean((np.einsum("ni,ij,nj->n", data.X, Q @ M @ Q.T, data.X) - data.y) ** 2))
            yield equal(abs(problem.loss(net) - direct), 1e-9 * (1 + direct), f"d={d}: the loss of (M, Q)")
            yield fact(
                int(np.sum(np.abs(values) > 1e-12)) == np.linalg.matrix_rank(M), f"d={d}: |supp λ| = rank M"
            )


@claim(
    "002",
    "Lemma C.7",
    "Without loss of generality Q is diagonal: rotate inputs and neurons.",
    control=("rotate only the inputs", {"inputs_only": True}),
)
def lemma_c_7(trial: Trial, inputs_only: bool = False) -> Iterator[Outcome]:
    """Loss and residual matrix of the rotated problem at the diagonal Q."""
    for d in (2, 3, 4):
        for _ in trial.times(3, 20):
            data = samples(trial.rng, d, 30)
            M = trial.rng.standard_normal((d, d))
            M = M + M.T
            Q = trial.rng.standard_normal((d, d))
            U, s, Vt = np.linalg.svd(Q)
            labels = np.asarray(data.y)
            here = _loss_of(data.X, labels, Q, M)
            turned = M if inputs_only else Vt @ M @ Vt.T
            there = _loss_of(data.X @ U, labels, np.diag(s), turned)
            yield equal(abs(here - there), 1e-9 * (1 + here), f"d={d}: the loss at a diagonal Q")


def _loss_of(X: np.ndarray, y: np.ndarray, Q: np.ndarray, M: np.ndarray) -> float:
    values, U = np.linalg.eigh(M)
    return sh.Problem(None, sh.Samples(X, y), len(M)).loss(sh.Network(U.T @ Q.T, values))


@claim(
    "002",
    "Lemma C.8",
    "All of M_Q has the same loss and is stationary when one point of it is.",
    control=("changes outside M_Q", {"inside": False}),
)
def lemma_c_8(trial: Trial, inside: bool = True) -> Iterator[Outcome]:
    """Random members of the set at low-rank stationary points."""
    for d in (3, 4):
        problem = sh.Problem(None, samples(trial.rng, d, 40), d)
        net = trapped_point(problem, zeros=2)
        base = problem.loss(net)
        for _ in trial.times(4, 30):
            member = equivalent_set(net).sample(trial.rng)
            if not inside:
                member = sh.Network(net.W, net.a + 0.1 * trial.rng.standard_normal(d))
            yield equal(abs(problem.loss(member) - base), 1e-9 * base, f"d={d}: the loss on M_Q")
            yield equal(float(np.linalg.norm(problem.gradient(member))), 1e-7, f"d={d}: the gradient on M_Q")


@claim(
    "002",
    "Corollary C.1",
    "M_Q is the union of its strict saddles and of its points without negative curvature.",
    control=("a set of points that are not stationary", {"stationary": False}),
)
def corollary_c_1(trial: Trial, stationary: bool = True) -> Iterator[Outcome]:
    """Every sampled member is one or the other by `inspect`, and both occur when ΣrX is semidefinite."""
    for d in (3, 4):
        problem = _positive_target(trial, d)
        net = trapped_point(problem, zeros=2)
        if not stationary:
            net = random_network(trial.rng, d, d)
        verdicts = {
            inspect(problem, equivalent_set(net).sample(trial.rng, 2.0)).verdict for _ in trial.times(20, 100)
        }
        yield fact(verdicts <= {"strict saddle", "trap"} and len(verdicts) == 2, f"d={d}: {sorted(verdicts)}")


@claim(
    "002",
    "Lemma C.9",
    "Either almost all of M_Q has negative curvature, or ΣrX is semidefinite.",
    control=("semidefinite ΣrX, claimed to leave no trap", {"claim_null": True}),
)
def lemma_c_9(trial: Trial, claim_null: bool = False) -> Iterator[Outcome]:
    """The share of traps in M_Q: none when ΣrX is indefinite, some when it is semidefinite."""
    for d in (3, 4):
        for problem in (_positive_target(trial, d), sh.Problem(None, samples(trial.rng, d, 40), d)):
            net = trapped_point(problem, zeros=d - 1)
            R = inspect(problem, net)
            traps = sum(
                inspect(problem, equivalent_set(net).sample(trial.rng)).is_trap for _ in trial.times(20, 100)
            )
            if R.definiteness == "indefinite" or claim_null:
                yield equal(float(traps), 0.0, f"d={d}: ΣrX {R.definiteness}, {traps} traps sampled")
            else:
                yield fact(
                    R.definiteness in ("positive", "negative"), f"d={d}: ΣrX {R.definiteness}, {traps} traps"
                )


@claim(
    "002",
    "Lemma C.10",
    "(β²λ, Q/β) is a stationary point of the same type, and descent from there follows with steps (η/β², β⁴η).",
    control=("the same step for both", {"rescale_steps": False}),
)
def lemma_c_10(trial: Trial, rescale_steps: bool = True) -> Iterator[Outcome]:
    """Two trajectories of plain descent in (λ, Q), one rescaled, step by step."""
    for d in (2, 3):
        problem = sh.Problem(None, samples(trial.rng, d, 30), d)
        for beta in (0.5, 2.0):
            W, a = 0.5 * trial.rng.standard_normal((d, d)), 0.5 * trial.rng.standard_normal(d)
            V, b, eta = W / beta, beta**2 * a, 1e-2
            inner, outer = (eta / beta**2, eta * beta**4) if rescale_steps else (eta, eta)
            for _ in range(50):
                first, second = problem.gradient(sh.Network(W, a)), problem.gradient(sh.Network(V, b))
                W, a = W - eta * first[: d * d].reshape(d, d), a - eta * first[d * d :]
                V, b = V - inner * second[: d * d].reshape(d, d), b - outer * second[d * d :]
            gap = max(np.abs(V - W / beta).max(), np.abs(b - beta**2 * a).max())
            yield equal(float(gap), 1e-9, f"d={d}, β={beta}: after 50 steps")


@claim(
    "002",
    "Corollary C.2",
    "A rescaled start (small λ, large Q, by β) makes any step short enough: η‖A‖² < 1 for the λ update.",
    control=("β = 1", {"beta": 1.0}),
)
def corollary_c_2(trial: Trial, beta: float = 1e-3) -> Iterator[Outcome]:
    """The largest curvature in λ after the rescaling, times the step that Lemma C.10 then prescribes."""
    for d in (2, 3):
        problem = sh.Problem(None, samples(trial.rng, d, 30), d)
        for _ in trial.times(3, 20):
            net = random_network(trial.rng, d, d)
            moved = sh.Network(net.W / beta, beta**2 * net.a)
            curvature = float(np.linalg.eigvalsh(problem.hessian(moved)[d * d :, d * d :])[-1])
            yield at_least(
                1.0, 1e3 * beta**6 * curvature, f"d={d}, β={beta:g}: η‖A‖² for η = 1000 β⁶", strict=True
            )


@claim(
    "002",
    "Lemma C.11",
    "At stationary points λ_max(ΣrX) is bounded by the data alone: by sup of λ_max(ΣzX) over ‖z‖ ≤ ‖y‖.",
    control=("points that are not stationary", {"trained": False}),
)
def lemma_c_11(trial: Trial, trained: bool = True) -> Iterator[Outcome]:
    """Stationary points have ‖r‖ ≤ ‖y‖; λ_max(ΣrX) ≤ ‖r‖·‖(xₙxₙᵀ)‖."""
    for d in (2, 3):
        for width in (1, d):
            data = samples(trial.rng, d, 30)
            problem = sh.Problem(None, data, width)
            bound = np.sqrt(problem.value(np.zeros(problem.size))) * np.sqrt(
                np.mean(np.sum(data.X**2, axis=1) ** 2)
            )
            for _ in trial.times(3, 20):
                net = stationary_point(trial.rng, problem)
                if not trained:
                    net = sh.Network(10 * trial.rng.standard_normal((width, d)), -10 * np.ones(width))
                top = float(np.linalg.eigvalsh(residual_matrices(problem, net)[0])[-1])
                yield at_least(bound, top, f"d={d}, width {width}: λ_max(ΣrX) = {top:.3g} ≤ {bound:.3g}")
