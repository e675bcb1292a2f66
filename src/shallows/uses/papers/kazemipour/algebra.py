"""Paper 002, appendix B: facts of optimisation and algebra that the proofs use."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import shallows as sh
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.kazemipour.instances import random_network, samples
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact


def _penalty(Q: Array) -> float:
    """‖QQᵀ − I‖², by the library: the loss of a quadratic problem with a penalty less the one without."""
    d = len(Q)
    net = sh.Network(Q.T)
    bare = sh.Problem(np.eye(d), sh.Gaussian(d), Q.shape[1])
    return sh.Problem(np.eye(d), sh.Gaussian(d), Q.shape[1], orthogonality=1.0).loss(net) - bare.loss(net)


@claim(
    "002",
    "Lemma B.1",
    "If (x₀, y₀) is a local minimum of f(x, y), then x₀ is one of f(·, y₀).",
    control=("a saddle instead of a minimum", {"deficit": 1}),
)
def lemma_b_1(trial: Trial, deficit: int = 0) -> Iterator[Outcome]:
    """At minima of quadratic problems every block of the Hessian (W alone, a alone) is positive semidefinite."""
    for d in (2, 3):
        for _ in trial.times(2, 10):
            problem = sh.Problem(None, samples(trial.rng, d, 20), d)
            net = (
                sh.Network(*_optimal(problem))
                if not deficit
                else sh.Network(np.zeros((d, d)), np.array([1.0, -1.0, 1.0])[:d])
            )
            hessian = problem.hessian(net)
            cut = d * d
            for name, block in (("W", hessian[:cut, :cut]), ("a", hessian[cut:, cut:])):
                lowest = float(np.linalg.eigvalsh(block)[0])
                yield at_least(lowest, -1e-9 * np.abs(hessian).max(), f"d={d}: the Hessian in {name} alone")


def _optimal(problem: sh.Problem) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(problem.target_tensor().to_matrix())
    return vectors.T, values


@claim(
    "002",
    "Lemma B.2",
    "An invertible affine change of variables preserves the landscape: critical points and signatures.",
    control=("a singular change", {"singular": True}),
)
def lemma_b_2(trial: Trial, singular: bool = False) -> Iterator[Outcome]:
    """Inputs changed by M, the target by M⁻ᵀ·M⁻¹: the charts agree point by point."""
    for d in (2, 3):
        for _ in trial.times(1, 6):
            M = trial.rng.standard_normal((d, d)) + 2 * np.eye(d)
            if singular:
                M[-1] = M[0]
            values = np.sort(trial.rng.uniform(1, 3, d)) * trial.rng.choice([-1, 1], d)
            here = sh.chart(sh.Problem(np.diag(values), sh.Gaussian(d), d - 1), certify=False)
            inverse = np.linalg.pinv(M)
            moved = sh.Problem(inverse.T @ np.diag(values) @ inverse, sh.Gaussian(d, M @ M.T), d - 1)
            there = sh.chart(moved, certify=False)
            same = len(here.points) == len(there.points)
            yield fact(same, f"d={d}: {len(here.points)} and {len(there.points)} critical points")
            for p, q in zip(here.points, there.points, strict=True):
                yield equal(
                    abs(p.loss - q.loss) / here.points[-1].loss, 1e-8, f"d={d}: the loss of a critical point"
                )
                yield fact(p.signature == q.signature, f"d={d}: signature {p.signature}")


@claim(
    "002",
    "Lemma B.3",
    "The roots of a polynomial are continuous in its coefficients.",
    control=("the leading coefficient goes to zero", {"leading": 0.0}),
)
def lemma_b_3(trial: Trial, leading: float = 1.0) -> Iterator[Outcome]:
    """How far roots move when coefficients move by ε, double roots included (then like √ε)."""
    for degree in (3, 4, 6):
        for _ in trial.times(3, 20):
            roots = trial.rng.standard_normal(degree)
            roots[1] = roots[0]
            base = np.poly(roots)
            moved = base + 1e-10 * trial.rng.standard_normal(degree + 1)
            if leading == 0.0:
                base, moved = np.append(0.0, base[1:]), np.append(1e-10, base[1:])
            first, second = np.roots(base), np.roots(moved)
            gap = max(min(abs(r - s) for s in first) for r in second)
            yield equal(
                float(gap), 1e-2, f"degree {degree}: a coefficient change of 1e-10 moves roots by {gap:.1g}"
            )


@claim(
    "002",
    "Corollary B.1",
    "Eigenvalues of a symmetric matrix are continuous in it; eigenvectors where eigenvalues are distinct.",
    control=("a jump of the matrix", {"jump": 1.0}),
    printed=("eigenvectors are continuous everywhere", {"repeated": True}),
)
def corollary_b_1(trial: Trial, jump: float = 0.0, repeated: bool = False) -> Iterator[Outcome]:
    """|λ(A) − λ(B)| ≤ ‖A − B‖ (Weyl), and projectors onto eigenvectors, near separated and near equal eigenvalues."""
    epsilon = 1e-8
    for d in (2, 4):
        for _ in trial.times(3, 20):
            values = np.arange(1.0, d + 1)
            if repeated:
                values[1] = values[0]
            Q, _ = np.linalg.qr(trial.rng.standard_normal((d, d)))
            A = (Q * values) @ Q.T
            E = trial.rng.standard_normal((d, d))
            B = A + epsilon * (E + E.T) + jump * np.diag(np.arange(d) + 1.0)
            change = np.abs(np.linalg.eigvalsh(A) - np.linalg.eigvalsh(B)).max()
            yield equal(float(change), 1e-6, f"d={d}: eigenvalues move by {change:.1g}")
            u, v = np.linalg.eigh(A)[1][:, 0], np.linalg.eigh(B)[1][:, 0]
            yield equal(
                float(1 - abs(u @ v)),
                1e-6,
                f"d={d}: the first eigenvector turns by 1 − |cos| = {1 - abs(u @ v):.1g}",
            )


@claim(
    "002",
    "Lemma B.4",
    "rank Q = r implies ‖QQᵀ − I‖² ≥ d − r.",
    control=("Q of full rank", {"deficit": 0}),
)
def lemma_b_4(trial: Trial, deficit: int = 1) -> Iterator[Outcome]:
    """Random Q of lower rank, and projectors, where it is an equality."""
    for d in (2, 4, 6):
        for missing in range(1, d):
            for _ in trial.times(2, 15):
                r = d - missing
                Q = trial.rng.standard_normal((d, r)) @ trial.rng.standard_normal((r, d))
                P, _ = np.linalg.qr(trial.rng.standard_normal((d, r)))
                pairs = (
                    [(Q, "random"), (P @ P.T, "a projector")] if deficit else [(np.eye(d), "the identity")]
                )
                for matrix, what in pairs:
                    yield at_least(_penalty(matrix) + 1e-9, missing, f"d={d}, rank {r}: {what}")


@claim(
    "002",
    "Lemma B.5",
    "A stationary point of ‖QQᵀ − I‖² has QQᵀ = I or a direction of negative curvature.",
    control=("semidefinite curvature claimed at projectors", {"claim_minimum": True}),
)
def lemma_b_5(trial: Trial, claim_minimum: bool = False) -> Iterator[Outcome]:
    """All stationary points have singular values 0 or 1; the Hessian at partial isometries of every rank."""
    for d in (2, 3, 4):
        zero = sh.Problem(np.eye(d) * 1e-300, sh.Gaussian(d), d, orthogonality=1.0)
        bare = sh.Problem(np.eye(d) * 1e-300, sh.Gaussian(d), d)
        for rank in range(d + 1):
            U, _ = np.linalg.qr(trial.rng.standard_normal((d, d)))
            V, _ = np.linalg.qr(trial.rng.standard_normal((d, d)))
            net = sh.Network((U * (np.arange(d) < rank)) @ V.T, np.zeros(d))
            slope = zero.gradient(net) - bare.gradient(net)
            yield equal(float(np.linalg.norm(slope)), 1e-9, f"d={d}, rank {rank}: stationary")
            cut = d * d
            curvature = (zero.hessian(net) - bare.hessian(net))[:cut, :cut]
            lowest = float(np.linalg.eigvalsh(curvature)[0])
            if rank == d or claim_minimum:
                yield at_least(lowest, -1e-9, f"d={d}, rank {rank}: smallest eigenvalue {lowest:.3g}")
            else:
                yield at_least(-1e-3, lowest, f"d={d}, rank {rank}: negative curvature {lowest:.3g}")


@claim(
    "002",
    "Lemma B.6",
    "Invertible linear maps preserve ratios of volumes.",
    control=("a map that is not linear", {"bend": 0.3}),
)
def lemma_b_6(trial: Trial, bend: float = 0.0) -> Iterator[Outcome]:
    """Volumes of two boxes and of their images under a product of maps, by determinants of their edges."""
    for d in (2, 3, 5):
        for _ in trial.times(5, 40):
            first, second = trial.rng.uniform(0.5, 2.0, (2, d))
            ratio = np.prod(first) / np.prod(second)
            images = []
            maps = [trial.rng.standard_normal((d, d)) for _ in range(3)]
            for sides in (first, second):
                edges = np.diag(sides)
                for A in maps:
                    edges = A @ edges + bend * (A @ edges) ** 2
                images.append(abs(np.linalg.det(edges)))
            yield equal(abs(images[0] / images[1] / ratio - 1), 1e-9, f"d={d}: the ratio of two volumes")


@claim(
    "002",
    "Lemma B.7",
    "Least squares in x with matrix A(θ), η‖A‖² < 1: descent maps x by an invertible map, so null sets stay null.",
    control=("a step with η‖A‖² = 1", {"step": lambda size: 1.0 / size}),
)
def lemma_b_7(trial: Trial, step: Callable[[float], float] = lambda size: 0.5 / size) -> Iterator[Outcome]:
    """The outer weights' step of gradient descent is I − ηAᵀA: its determinant along a trajectory of the inner ones."""
    for d in (2, 3):
        problem = sh.Problem(None, samples(trial.rng, d, 12), d)
        for _ in trial.times(3, 20):
            net = random_network(trial.rng, d, d)
            cut = d * d
            inner = problem.hessian(net)[cut:, cut:]
            eta = step(float(np.linalg.eigvalsh(inner)[-1]))
            determinant = float(np.linalg.det(np.eye(d) - eta * inner))
            yield at_least(determinant, 1e-12, f"d={d}: det(I − ηAᵀA) = {determinant:.3g}", strict=True)
