"""Paper 002, section 3 and appendix D: the norm neuron, the orthogonality penalty, and their remarks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.questions.quadratic.certificates import inspect
from shallows.questions.quadratic.convex import convex_optimum
from shallows.questions.quadratic.eigendecomposition import eigendecompose
from shallows.questions.quadratic.orthogonality import fit_orthogonal
from shallows.questions.quadratic.training import train
from shallows.questions.quadratic.variants import plain, with_norm, with_orthogonality
from shallows.support.errors import NotConverged
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.kazemipour.instances import samples
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact


def _all_escape(trial: Trial, problem: sh.Problem, what: str) -> Iterator[Outcome]:
    """Every end point of random descents is global, or has a direction of negative curvature."""
    runs = sh.ensemble(
        problem, runs=len(trial.times(12, 100)), method="lm", rng=int(trial.rng.integers(2**31))
    )
    for theta in runs.thetas[runs.converged]:
        found = inspect(problem, problem.unpack(theta), tolerance=1e-6)
        yield fact(not found.is_trap, f"{what}: {found!r}")


@claim(
    "002",
    "Theorem D.1.1",
    "With a norm neuron and k ≥ d, random starts end at a global minimum or at a strict saddle (also Theorem 3.1).",
    control=("without the norm neuron", {"norm": False}),
)
def theorem_d_1_1(trial: Trial, norm: bool = True) -> Iterator[Outcome]:
    """Descents on independent labels, and on a positive target, where the plain network has traps."""
    for d in (2, 3):
        data = samples(trial.rng, d, 30)
        yield from _all_escape(trial, with_norm(data, d) if norm else plain(data, d), f"d={d}, samples")
        target = np.diag(np.arange(1.0, d + 1))
        yield from _all_escape(
            trial, sh.Problem(target, sh.Gaussian(d), d, norm_neuron=norm), f"d={d}, positive target"
        )


@claim(
    "002",
    "Theorem D.1.2",
    "Penalty γ ≥ mean y², start (0, I): descent ends at a global minimum with QQᵀ = I, unless it stays put.",
    control=("γ = 0 from a start of the losing sign", {"penalty": False}),
    printed=("from (0, I) always: A = [[0, 1], [1, 0]]", {"repair": False}),
)
def theorem_d_1_2(trial: Trial, penalty: bool = True, repair: bool = True) -> Iterator[Outcome]:
    """End points from (0, I) on samples and on the matrix that stays put; `repair` turns its Q a little."""
    if not penalty:
        problem = sh.Problem(np.eye(3), sh.Gaussian(3), 3)
        run = sh.descend(
            problem, sh.Network(0.1 * trial.rng.standard_normal((3, 3)), -np.ones(3)), method="lbfgs"
        )
        yield fact(inspect(problem, run.network).is_global, f"{inspect(problem, run.network)!r}")
    swap = sh.Problem([[0.0, 1.0], [1.0, 0.0]], sh.Frobenius(2), width=2, orthogonality=2.0)
    problems = [swap] + [
        with_orthogonality(samples(trial.rng, d, 40), d) for d in (2, 3, 5) for _ in trial.times(1, 6)
    ]
    for problem in problems:
        found = fit_orthogonal(problem, repair=repair, rng=trial.rng)
        yield fact(found.inspection.is_global, f"d={problem.n}: {found!r}")
        yield equal(found.defect, 1e-5, f"d={problem.n}: ‖QQᵀ − I‖")


@claim(
    "002",
    "Theorem D.1.3",
    "For γ large enough every stationary point reached is global or a strict saddle, from any start.",
    control=("γ tiny", {"gamma": 1e-9}),
)
def theorem_d_1_3(trial: Trial, gamma: float = 50.0) -> Iterator[Outcome]:
    """Random starts under a heavy penalty, on a positive target whose plain landscape has traps."""
    for d in (2, 3):
        problem = sh.Problem(np.diag(np.arange(1.0, d + 1)), sh.Gaussian(d), d, orthogonality=gamma)
        starts = sh.starts(problem, len(trial.times(10, 80)), "xavier", int(trial.rng.integers(2**31)))
        if gamma < 1:
            starts[:, d * d :] = -np.abs(starts[:, d * d :]) - 1
        for theta in starts:
            run = sh.descend(problem, theta, method="lbfgs", tolerance=1e-8)
            found = inspect(problem, run.network, tolerance=1e-5)
            yield fact(not found.is_trap, f"d={d}, γ={gamma:g}: {found!r}")


@claim(
    "002",
    "Corollary D.1",
    "Theorem D.1 for the population risk.",
    control=("without norm neuron and penalty", {"bare": True}),
)
def corollary_d_1(trial: Trial, bare: bool = False) -> Iterator[Outcome]:
    """Gaussian and heavy-tailed populations: norm neuron from random starts, penalty from (0, I)."""
    for data in (sh.Gaussian(3), sh.IID.laplace(3)):
        target = sh.Network(np.eye(3) + 0.3 * trial.rng.standard_normal((3, 3)))
        yield from _all_escape(
            trial, sh.Problem(target, data, 3, norm_neuron=not bare), f"{data!r}, norm neuron"
        )
        energy = sh.Problem(target, data, 3).value(np.zeros(12))
        found = fit_orthogonal(sh.Problem(target, data, 3, orthogonality=float(energy)), rng=trial.rng)
        yield fact(found.inspection.is_global, f"{data!r}, penalty: {found!r}")


@claim(
    "002",
    "Remark D.1-1",
    "Bad stationary points of the plain network have a singular ΣrX: ranks 1 and more occur.",
    control=("global minima", {"at_global": True}),
    printed=("almost all have rank ΣrX = 1", {"only_one": True}),
)
def remark_d_1_1(trial: Trial, at_global: bool = False, only_one: bool = False) -> Iterator[Outcome]:
    """Ranks of ΣrX over the traps that random starts of the plain network fall into."""
    d = 5
    problem = sh.Problem(np.diag(np.arange(1.0, d + 1)), sh.Gaussian(d), d)
    runs = train(problem, len(trial.times(100, 400)), epochs=4000, step=3e-3, rng=trial.rng)
    ranks = []
    for theta in runs.thetas:
        found = inspect(problem, problem.unpack(theta), tolerance=1e-4)
        if found.is_trap or (at_global and found.is_global):
            rank = int(np.sum(np.abs(found.eigenvalues) > 1e-3 * np.sqrt(found.scale)))
            ranks.append(rank)
            yield fact(1 <= rank <= d, f"a bad stationary point with rank ΣrX = {rank}")
    yield fact(len(ranks) > 0, f"{len(ranks)} traps among {len(runs.thetas)} runs")
    share = float(np.mean(np.array(ranks) == 1)) if ranks else 0.0
    yield fact(
        share > 0.95 if only_one else max(ranks, default=0) > 1,
        f"ranks {sorted(set(ranks))}, {share:.0%} of rank one",
    )


@claim(
    "002",
    "Remark D.1-2",
    "Theorem D.1.2 does not depend on the step, as long as the objective falls.",
    control=("a step at which it does not fall", {"steps": (5.0,)}),
)
def remark_d_1_2(trial: Trial, steps: tuple[float, ...] = (0.02, 0.05, 0.1)) -> Iterator[Outcome]:
    """Gradient descent from (0, I) at several fixed steps ends at the same global minimum."""
    problem = with_orthogonality(samples(trial.rng, 3, 60), 3)
    best = convex_optimum(problem).loss
    start = sh.Network(np.eye(3), np.zeros(3))
    for step in steps:
        run = sh.descend(problem, start, step=step, tolerance=1e-6)
        yield equal(run.loss - best, 1e-6, f"step {step:g}: {run.message} Excess {run.loss - best:.1g}")


@claim(
    "002",
    "Remark D.1-3",
    "Theorem D.1.1 holds with any positive definite D in place of I in the norm neuron.",
    control=("no norm neuron", {"norm": False}),
)
def remark_d_1_3(trial: Trial, norm: bool = True) -> Iterator[Outcome]:
    """xᵀDx is ‖x‖² of inputs changed by D^{1/2}: the same check in those inputs."""
    for d in (2, 3):
        A = trial.rng.standard_normal((d, d))
        root = np.linalg.cholesky(A @ A.T + np.eye(d))
        target = np.linalg.inv(root) @ np.diag(np.arange(1.0, d + 1)) @ np.linalg.inv(root).T
        problem = sh.Problem((target + target.T) / 2, sh.Gaussian(d, root.T @ root), d, norm_neuron=norm)
        yield from _all_escape(trial, problem, f"d={d}, a random D")


@claim(
    "002",
    "Remark D.1-4",
    "For large γ the landscape near a rank-deficient Q is the penalty's: it has negative curvature there.",
    control=("γ = 0", {"gamma": 0.0}),
)
def remark_d_1_4(trial: Trial, gamma: float = 50.0) -> Iterator[Outcome]:
    """The lowest eigenvalue of the Hessian in Q at traps of the plain network, with the penalty added."""
    for d in (2, 3, 4):
        problem = sh.Problem(np.diag(np.arange(1.0, d + 1)), sh.Gaussian(d), d, orthogonality=gamma)
        Q, _ = np.linalg.qr(trial.rng.standard_normal((d, d)))
        net = sh.Network(np.vstack([Q[: d - 1], np.zeros((1, d))]), -np.ones(d))
        lowest = float(np.linalg.eigvalsh(problem.hessian(net)[: d * d, : d * d])[0])
        yield at_least(-1.0, lowest, f"d={d}, γ={gamma:g}: lowest curvature {lowest:.3g}")


@claim(
    "002",
    "Corollary D.2",
    "With the penalty, descent from (0, I) finds an eigendecomposition of the least-squares optimum.",
    control=("without a penalty", {"penalty": False}),
)
def corollary_d_2(trial: Trial, penalty: bool = True) -> Iterator[Outcome]:
    """λ against the eigenvalues of A*, and the neurons against its eigenvectors."""
    for d in (2, 3, 5):
        problem = with_orthogonality(samples(trial.rng, d, 20 * d), d)
        optimum = convex_optimum(problem).matrix
        net = fit_orthogonal(problem, rng=trial.rng).network
        if not penalty:
            net = sh.descend(
                plain(problem.data, d), sh.Network(np.eye(d), 0.1 * np.ones(d)), method="lbfgs"
            ).network
        error = np.abs(np.sort(net.a) - np.linalg.eigvalsh(optimum)).max() / np.abs(optimum).max()
        yield equal(float(error), 1e-4, f"d={d}: λ against the eigenvalues of A*")
        turned = net.W @ optimum @ net.W.T
        off = np.abs(turned - np.diag(np.diag(turned))).max() / np.abs(optimum).max()
        yield equal(float(off), 1e-4, f"d={d}: Q diagonalises A*")


@claim(
    "002",
    "Corollary D.3",
    "min ‖A − QΛQᵀ‖² + γ‖QQᵀ − I‖² from (0, I) gives an eigendecomposition of A, unless it stays put.",
    control=("a matrix that is not symmetric", {"skew": 0.5}),
    printed=("for every A: [[0, 1], [1, 0]] stays put", {"repair": False}),
)
def corollary_d_3(trial: Trial, repair: bool = True, skew: float = 0.0) -> Iterator[Outcome]:
    """Random symmetric matrices, and the one that the printed statement forgets."""
    matrices = [np.array([[0.0, 1.0], [1.0, 0.0]])]
    for d in (2, 3, 5):
        for _ in trial.times(1, 8):
            A = trial.rng.standard_normal((d, d))
            matrices.append((A + A.T) / 2 + skew * (A - A.T))
    for A in matrices[1:] + matrices[:1]:
        try:
            found = eigendecompose(A, repair=repair, rng=trial.rng)
        except NotConverged as error:
            yield fact(False, f"{A.tolist()}: {error}")
            return
        yield equal(float(np.abs(found.values - np.linalg.eigvalsh(A)).max()), 1e-5, f"d={len(A)}: {found!r}")
