"""Paper 001, section 2.1: the population risk and its barrier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import shallows as sh
from shallows.questions.quadratic.barrier import energy_barrier
from shallows.questions.quadratic.certificates import full_rank_optimality
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import DOUBLED, NEGATED, NOTHING, OPPOSITE, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof

BARRIER = "shallows.questions.quadratic.barrier.energy_barrier"
#: Orthogonal, and exact in binary: a Hadamard matrix of order 4, halved.
ROTATION = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2


def planted(rng: np.random.Generator, m: int, d: int) -> Array:
    """Weights W* of rank d with different singular values."""
    return np.asarray(rng.standard_normal((m, d)) + np.eye(m, d))


def _risk(W: Array, width: int, data: sh.Gaussian | sh.IID | None = None) -> sh.Problem:
    return sh.Problem(sh.Network(W), data or sh.Gaussian(W.shape[1]), width, outer="ones")


def gaussian_risk(W: Array, teacher: Array) -> float:
    """L(W) = 2 tr A² + (tr A)² with A = WᵀW − W*ᵀW*, for N(0, I)."""
    A = W.T @ W - teacher.T @ teacher
    return float(2 * np.sum(A * A) + np.trace(A) ** 2)


def _smallest(W: Array) -> float:
    return float(np.linalg.svd(W, compute_uv=False)[-1])


@claim(
    "001",
    "Theorem 2.1a",
    "For W* in R^{m×d} of rank d and every jointly continuous law of X: L(W) = 0 iff W = QW* with Q orthogonal.",
    control=("Q not orthogonal", {"stretch": 1.25}),
    tests={"shallows.Problem.loss": (DOUBLED, NEGATED, Mutation("one more", lambda loss: loss + 1))},
)
def theorem_2_1_a(trial: Trial, stretch: float = 1.0) -> Iterator[Outcome]:
    """m = 4, d = 2, 3, random integer W* and W under N(0, I), Laplace and uniform coordinates, all in exact
    arithmetic: L(QW*) = 0; the Gram matrix of the law is positive definite, so that L(W) = 0 only where WᵀW = W*ᵀW*;
    and L of other W."""
    for d in (2, 3):
        for data in (sh.Gaussian(d), sh.IID.laplace(d), sh.IID.uniform(d)):
            gram = _fractions(data.exact_gram(2))
            yield proof(_positive_definite(gram), f"d={d}, {data!r}: L is positive where A ≠ 0")
            for _ in trial.times(2, 10):
                W = np.vstack([trial.rng.integers(-3, 4, (3, d)), np.ones(d, int)]).astype(float)
                problem = _risk(W, 4, data)
                turned = stretch * ROTATION @ W  # halves of integers: exact
                same = np.array_equal(turned.T @ turned, W.T @ W)
                loss, energy = problem.loss(sh.Network(turned)), problem.loss(sh.Network(0 * W))
                yield proof(same and abs(loss) <= 1e-12 * energy, f"d={d}, {data!r}: L(QW*) = {loss:.2g}")
                other = trial.rng.integers(-3, 4, (4, d)).astype(float)
                exact = _exact_risk(other, W, gram)
                found = Fraction(float(problem.loss(sh.Network(other))))
                yield proof(
                    abs(found - exact) <= exact / 10**9 + Fraction(1, 10**6),
                    f"d={d}, {data!r}: L(W) = {float(exact):.4g}",
                )


def _fractions(table: Any) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in table.tolist()]


def _positive_definite(gram: list[list[Fraction]]) -> bool:
    """By Gaussian elimination: all pivots are positive."""
    rows = [row[:] for row in gram]
    for k in range(len(rows)):
        if rows[k][k] <= 0:
            return False
        for i in range(k + 1, len(rows)):
            share = rows[i][k] / rows[k][k]
            rows[i] = [x - share * y for x, y in zip(rows[i], rows[k], strict=True)]
    return True


def _exact_risk(W: Array, teacher: Array, gram: list[list[Fraction]]) -> Fraction:
    """aᵀGa for the entries a of A = WᵀW − W*ᵀW*, in integers."""
    A = (W.T @ W - teacher.T @ teacher).astype(int)
    a = [int(A[i, j]) for i in range(len(A)) for j in range(i, len(A))]
    return sum(
        (x * g * y for x, row in zip(a, gram, strict=True) for g, y in zip(row, a, strict=True)), Fraction(0)
    )


@claim(
    "001",
    "Theorem 2.1b",
    "For W* of rank d and X ~ N(0, I_d): every W of rank < d has L(W) ≥ 2σ_min(W*)⁴. Sharper: the minimum over them is "
    "2σ_min(W*)⁴(1 + 1/(d+1)).",
    control=("W of full rank", {"rank_of": lambda d: d}),
    printed=("L(W) ≥ 2σ_min(W*)⁴", {"sharp": False}),
    verdict="sharpened",
    tests={
        BARRIER: (
            of_field("exact", DOUBLED),
            of_field("lower", DOUBLED),
            of_field("network", Mutation("twice as large", lambda net: sh.Network(2 * net.W, net.a))),
        ),
        "shallows.ensemble": (of_field("losses", Mutation("half", lambda losses: losses / 2)),),
    },
)
def theorem_2_1_b(
    trial: Trial, rank_of: Callable[[int], int] = lambda d: d - 1, sharp: bool = True
) -> Iterator[Outcome]:
    """Random W*, d = 2, 3, 4: the best of ten descents over W of that many rows, and the network of
    `energy_barrier`, of rank d − 1, against the two constants."""
    for d in (2, 3, 4):
        for _ in trial.times(1, 5):
            W = planted(trial.rng, d + 1, d)
            sigma = _smallest(W) ** 4
            seed = int(trial.rng.integers(2**31))
            runs = sh.ensemble(_risk(W, rank_of(d)), runs=len(trial.times(10, 60)), tolerance=1e-9, rng=seed)
            best = float(runs.losses.min()) / sigma
            yield at_least(
                best, 2.0, f"d={d}: the best of {len(runs.losses)} descents at rank {rank_of(d)}, over σ⁴"
            )
            if not sharp:
                continue
            factor = 2 * (1 + 1 / (d + 1))
            yield equal(abs(best - factor), 1e-6, f"d={d}: {best:.8f} σ⁴ against {factor:.8f} σ⁴")
            barrier = energy_barrier(sh.Network(W))
            yield equal(abs(barrier.exact / sigma / factor - 1), 1e-9, f"d={d}: `energy_barrier`, exact")
            yield equal(abs(barrier.lower / sigma / 2 - 1), 1e-9, f"d={d}: `energy_barrier`, lower")
            S = barrier.network.W
            rank = int(np.linalg.matrix_rank(S, tol=1e-8 * np.abs(S).max()))
            gap = abs(gaussian_risk(S, W) / sigma - factor)
            yield fact(
                rank == d - 1 and gap < 1e-8 * factor, f"d={d}: its network has rank {rank} and that loss"
            )


@claim(
    "001",
    "Theorem 2.1c",
    "For W* in R^{m×d} of rank d, every m ≥ d, and X ~ N(0, I_d): some W in R^{m×d} of rank ≤ d − 1 has "
    "L(W) = 3σ_min(W*)⁴.",
    control=("the direction of the largest singular value left out", {"leave": -1}),
    tests={"shallows.Problem.loss": (DOUBLED, NEGATED), BARRIER: (of_field("example", DOUBLED),)},
)
def theorem_2_1_c(trial: Trial, leave: int = 0) -> Iterator[Outcome]:
    """m = d and m = d + 2, d = 2, 3, 5, W* with orthogonal columns of integers (N(0, I) does not see rotations): W*
    without its smallest singular direction, in integers; the example of `energy_barrier`. The paper's own W needs m
    > d."""
    for d in (2, 3, 5):
        for m in (d, d + 2):
            sizes = np.sort(trial.rng.choice(np.arange(1, 12), d, replace=False))
            rows, columns = trial.rng.permutation(m)[:d], trial.rng.permutation(d)
            W = np.zeros((m, d))
            W[rows, columns] = sizes * trial.rng.choice([-1, 1], d)
            student = W.copy()
            student[rows[leave]] = 0.0
            loss, sigma = _risk(W, m).loss(sh.Network(student)), int(sizes[0])
            yield proof(loss == 3 * sigma**4, f"d={d}, m={m}, σ = {sigma}: L = {loss:g}")
            example = energy_barrier(sh.Network(W)).example
            yield proof(abs(example / (3 * sigma**4) - 1) < 1e-9, f"d={d}, m={m}: `energy_barrier` says so")


@claim(
    "001",
    "Corollary 2.2",
    "For W* of rank d, activation αz² + βz + γ and X ~ N(0, I_d): every W of rank < d has L(W) ≥ "
    "2α²σ_min(W*)⁴. Sharper: the minimum is 2α²σ_min(W*)⁴(1 + 1/(d+1)) for β = 0, and more than that for "
    "generic W* and β ≠ 0.",
    control=("W of full rank", {"full_rank": True}),
    printed=("L(W) ≥ 2α²σ_min(W*)⁴", {"sharp": False}),
    verdict="sharpened",
    tests={
        BARRIER: (
            of_field("exact", DOUBLED),
            of_field("exact", Mutation("half", lambda loss: loss / 2)),
            of_field(
                "network", Mutation("larger", lambda net: sh.Network(1.1 * net.W, net.a, net.activation))
            ),
        ),
        "shallows.Problem.loss": (DOUBLED,),
    },
)
def corollary_2_2(trial: Trial, full_rank: bool = False, sharp: bool = True) -> Iterator[Outcome]:
    """Random W*, d = 2, 3, m = d + 1, (α, β, γ) = (1.5, 0, 0.3), (0.7, 0.8, −0.2): `energy_barrier` against a
    minimisation over W = AB of rank d − 1 of α²(2 tr A² + (tr A)²) + β²‖Wᵀ1 − W*ᵀ1‖², written here."""
    for d in (2, 3):
        W = planted(trial.rng, d + 1, d)
        for alpha, beta, gamma in ((1.5, 0.0, 0.3), (0.7, 0.8, -0.2)):
            activation = sh.Polynomial([gamma, beta, alpha])
            teacher = sh.Network(W, activation=activation)
            problem = sh.Problem(teacher, sh.Gaussian(d), d + 1, outer="ones")
            bound, what = 2 * alpha**2 * _smallest(W) ** 4, f"d={d}, α={alpha}, β={beta}"
            if full_rank:
                yield at_least(_affine_risk(W, W, alpha, beta), bound, f"{what}: at W*")
            found = energy_barrier(teacher, rng=trial.rng)
            S = found.network.W
            yield at_least(found.exact, bound, f"{what}: {found!r}")
            own = _affine_risk(S, W, alpha, beta)
            yield equal(abs(own / found.exact - 1), 1e-6, f"{what}: its network has that loss")
            energy = _affine_risk(0 * W, W, alpha, beta)  # of which the loss is a small difference
            gap = abs(problem.loss(sh.Network(S, activation=activation)) - own)
            yield equal(gap / energy, 1e-12, f"{what}: and `loss`")
            rank = int(np.linalg.matrix_rank(S, tol=1e-6 * np.abs(S).max()))
            yield fact(rank < d, f"{what}: it has rank {rank}")
            if sharp:
                best = _least_of_low_rank(trial, W, alpha, beta)
                yield equal(
                    abs(best / found.exact - 1), 1e-4, f"{what}: minimising over rank d − 1 finds {best:.6g}"
                )
                excess = found.exact / bound / (1 + 1 / (d + 1)) - 1
                yield (
                    equal(abs(excess), 1e-6, what) if beta == 0 else at_least(excess, 0.0, what, strict=True)
                )


def _affine_risk(W: Array, teacher: Array, alpha: float, beta: float) -> float:
    gap = W.sum(axis=0) - teacher.sum(axis=0)
    return alpha**2 * gaussian_risk(W, teacher) + beta**2 * float(gap @ gap)


def _least_of_low_rank(trial: Trial, teacher: Array, alpha: float, beta: float) -> float:
    """The least `_affine_risk` of W = AB with d − 1 columns in A, from random starts; its gradient in W, with
    D = WᵀW − W*ᵀW*, is α²(8WD + 4 tr(D) W) + 2β² 1(Wᵀ1 − W*ᵀ1)ᵀ."""
    from scipy.optimize import minimize

    m, d = teacher.shape
    cut = m * (d - 1)

    def loss(theta: Array) -> tuple[float, Array]:
        A, B = theta[:cut].reshape(m, d - 1), theta[cut:].reshape(d - 1, d)
        W = A @ B
        D = W.T @ W - teacher.T @ teacher
        gap = W.sum(axis=0) - teacher.sum(axis=0)
        slope = alpha**2 * (8 * W @ D + 4 * np.trace(D) * W) + 2 * beta**2 * gap
        return _affine_risk(W, teacher, alpha, beta), np.append(slope @ B.T, A.T @ slope)

    starts = trial.rng.standard_normal((12, cut + (d - 1) * d))
    runs = [minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-7}) for start in starts]
    return float(min(run.fun for run in runs))


@claim(
    "001",
    "Theorem 2.3",
    "For W* of rank d and X ~ N(0, I_d): every stationary W of rank d is a global minimum, W = QW* with Q "
    "orthogonal; so no saddle point has full rank.",
    control=("stationary points of deficient rank", {"deficient": True}),
    printed=("after the theorem: “no rank-deficient saddle points”", {"deficient_saddles": True}),
    tests={
        "shallows.questions.quadratic.certificates.full_rank_optimality": (OPPOSITE, NOTHING),
        "shallows.descend": (
            of_field("network", Mutation("larger", lambda net: sh.Network(1.1 * net.W, net.a))),
            of_field("loss", Mutation("one more", lambda loss: loss + 1)),
        ),
    },
)
def theorem_2_3(trial: Trial, deficient: bool = False, deficient_saddles: bool = False) -> Iterator[Outcome]:
    """Random W*, d = 2, 3, 4, m = d + 1: descents from random starts end at full rank and at loss 0. The printed
    sentence: at the points of rank 1 to d − 1 of the chart, the spectrum of the Hessian has both signs (at W = 0 one
    sign only)."""
    for d in (2, 3, 4):
        W = planted(trial.rng, d + 1, d)
        problem = _risk(W, d + 1)
        energy = float(problem.value(np.zeros(problem.size)))
        if deficient_saddles:
            yield from _deficient_saddles(W, problem)
        at_zero = np.linalg.eigvalsh(problem.hessian(sh.Network(0 * W)))
        yield fact(
            bool(at_zero[-1] < 0),
            f"d={d}: W = 0 is a strict local maximum, eigenvalues up to {at_zero[-1]:.3g}",
        )
        starts = [sh.Network(trial.rng.standard_normal((d + 1, d))) for _ in trial.times(3, 20)]
        if deficient:
            starts = [sh.Network(np.vstack([net.W[:-1] * 0, net.W[:1]])) for net in starts]
        for start in starts:
            run = sh.descend(problem, start, method="gd", tolerance=1e-9 * energy)
            S = run.network.W
            rank = int(np.linalg.matrix_rank(S, tol=1e-4 * np.abs(W).max()))
            what = f"d={d}: a stationary point of rank {rank} and loss {run.loss / energy:.1g} of E y²"
            yield equal(run.loss / energy, 1e-12, what)
            yield equal(gaussian_risk(S, W) / energy, 1e-12, f"{what}: WᵀW = W*ᵀW*")
            yield fact(full_rank_optimality(problem, run.network, tolerance=1e-6) is True, what)


def _deficient_saddles(W: Array, problem: sh.Problem) -> Iterator[Outcome]:
    m, d = W.shape
    for point in sh.chart(sh.Problem(W.T @ W, sh.Gaussian(d), d - 1), certify=False).points:
        values, vectors = np.linalg.eigh(point.tensor.to_matrix())
        if point.rank == 0 or values[0] < -1e-9 * values[-1]:
            continue
        S = np.zeros((m, d))
        S[:d] = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
        net = sh.Network(S)
        slope = float(np.linalg.norm(problem.gradient(net)))
        spectrum = np.linalg.eigvalsh(problem.hessian(net))
        saddle = spectrum[0] < -1e-6 * spectrum[-1] and slope < 1e-6 * spectrum[-1]
        yield fact(
            not saddle,
            f"d={d}: a saddle of rank {point.rank}, Hessian from {spectrum[0]:.3g} to {spectrum[-1]:.3g}",
        )


@claim(
    "001",
    "Remark 2.3",
    "Main conclusion of section 2.1: for W* of rank d and X ~ N(0, I_d), gradient descent from any W₀ with "
    "L(W₀) below the least risk of rank-deficient matrices stays at full rank and converges to a global optimum.",
    control=("starts of deficient rank, above the barrier", {"deficient": True}),
    tests={
        BARRIER: (of_field("exact", DOUBLED), of_field("exact", Mutation("half", lambda loss: loss / 2))),
        "shallows.descend": (
            of_field("loss", Mutation("one more", lambda loss: loss + 1)),
            of_field("network", Mutation("the zero network", lambda net: sh.Network(0 * net.W))),
        ),
    },
)
def remark_2_3(trial: Trial, deficient: bool = False) -> Iterator[Outcome]:
    """Random W*, d = 2, 3, 5, m = d + 1: starts Q(W* + E) with E random, scaled so that L(W₀) is 99% of the barrier;
    the loss falls along a recorded descent, every iterate has rank d, and the end has loss 0."""
    for d in (2, 3, 5):
        for _ in trial.times(2, 10):
            W = 0.4 * trial.rng.standard_normal((d + 1, d)) + 2 * np.eye(d + 1, d)  # σ_min is not small
            barrier = energy_barrier(sh.Network(W)).exact
            expected = 2 * _smallest(W) ** 4 * (1 + 1 / (d + 1))
            yield equal(abs(barrier / expected - 1), 1e-9, f"d={d}: the barrier is {barrier:.4g}")
            start = _below(trial, W, 0.99 * barrier)
            if deficient:
                start = start * (np.arange(d) > 0)
            problem = _risk(W, d + 1)
            run = sh.descend(problem, sh.Network(start), method="gd", record=1, tolerance=1e-8)
            what = f"d={d}: from L = {gaussian_risk(start, W) / barrier:.3f} of the barrier"
            assert run.trajectory is not None
            iterates = [problem.unpack(theta).W for theta in run.trajectory.thetas]
            losses = np.array([gaussian_risk(at, W) for at in iterates])
            yield equal(
                float(np.maximum(np.diff(losses), 0).max(initial=0.0) / barrier),
                1e-9,
                f"{what}: the loss falls",
            )
            thinnest = min(_smallest(at) for at in iterates)
            yield at_least(
                thinnest, 1e-9 * np.abs(W).max(), f"{what}: rank d all the way, σ_min ≥ {thinnest:.3g}"
            )
            yield equal(run.loss / barrier, 1e-10, f"{what}: the end has loss {run.loss:.2g}")
            yield equal(gaussian_risk(run.network.W, W) / barrier, 1e-10, f"{what}: and is QW*")


def _below(trial: Trial, W: Array, level: float) -> Array:
    """Q(W* + sE) with L = level, s by bisection."""
    Q, _ = np.linalg.qr(trial.rng.standard_normal((len(W), len(W))))
    E = trial.rng.standard_normal(W.shape)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_risk(W + middle * E, W) < level else (low, middle)
    return np.asarray(Q @ (W + low * E))
