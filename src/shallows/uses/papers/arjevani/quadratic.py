"""Paper 000, section 4: critical points of quadratic networks, and how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import comb

import numpy as np

import shallows as sh
from shallows.model.data.base import InnerProduct
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.rank_manifolds import MatricesOfRank
from shallows.support.checks import Array
from shallows.uses.papers.arjevani.instances import (
    gaussian_network,
    gradient_matrix,
    laws,
    random_metric,
    separated,
    symmetric,
)
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof


@claim(
    "000",
    "Proposition 29",
    "A matrix S of rank r is critical for ℓ on its stratum iff ∇ℓ(S)·S = 0.",
    control=("matrices near critical ones", {"move": 1e-3}),
)
def proposition_29(trial: Trial, move: float = 0.0) -> Iterator[Outcome]:
    """∇ℓ·S at all points of charts (found without it, by homotopy), and the tangent gradient where ∇ℓ·S ≠ 0."""
    for n in (2, 3):
        for data in (sh.Gaussian(n), sh.IID.laplace(n), random_metric(trial.rng, n, 2)):
            for _ in trial.times(1, 5):
                problem = sh.Problem(symmetric(trial.rng, separated(trial.rng, n)), data, n - 1)
                for point in sh.chart(problem, certify=False).points:
                    if point.rank:
                        S = point.tensor.to_matrix() * (1 + move)
                        G = gradient_matrix(problem, S)
                        error = float(
                            np.linalg.norm(G @ S) / (np.linalg.norm(G) * np.linalg.norm(S) + 1e-300)
                        )
                        yield equal(error, 1e-8, f"n={n}, {data!r}, rank {point.rank}")
                W = trial.rng.standard_normal((n - 1, n))
                S = W.T @ W
                here = LocalGeometry(MatricesOfRank(S, n - 1), problem.gram())
                slope = float(np.linalg.norm(here.gradient(problem.target_tensor().entries)))
                yield at_least(slope, 1e-6, f"n={n}, {data!r}: a random matrix is not critical, and ∇ℓ·S ≠ 0")
                yield at_least(float(np.linalg.norm(gradient_matrix(problem, S) @ S)), 1e-6, "∇ℓ·S ≠ 0 there")


@claim(
    "000",
    "Proposition 30",
    "∇_W L = 2 diag(α) W ∇ℓ(S) and ∇_α L = Diag(W ∇ℓ(S) Wᵀ), with ∇ℓ the Frobenius gradient.",
    control=("∇ℓ without the factor of the off-diagonal entries", {"halved": True}),
    printed=("factors 4 and 2", {"factors": (4.0, 2.0)}),
)
def proposition_30(
    trial: Trial, factors: tuple[float, float] = (2.0, 1.0), halved: bool = False
) -> Iterator[Outcome]:
    """Central differences of the loss, under several laws."""
    for n, r in ((2, 1), (3, 2), (3, 4)):
        for data in laws(n):
            for _ in trial.times(1, 10):
                problem = sh.Problem(symmetric(trial.rng, separated(trial.rng, n)), data, r)
                net = gaussian_network(trial.rng, r, n, 2)
                G = gradient_matrix(problem, net.tensor().to_matrix())
                if halved:
                    G = (G + np.diag(np.diag(G))) / 2
                W = factors[0] * net.a[:, None] * (net.W @ G)
                a = factors[1] * np.einsum("ij,jk,ik->i", net.W, G, net.W)
                formula = np.concatenate([W.ravel(), a])
                theta, h = problem.pack(net), 1e-5
                steps = h * np.eye(problem.size)
                slope = (problem.value(theta + steps) - problem.value(theta - steps)) / (2 * h)
                yield equal(
                    float(np.abs(slope - formula).max() / np.abs(slope).max()),
                    1e-6,
                    f"n={n}, r={r}, {data!r}",
                )


@claim(
    "000",
    "Corollary 31",
    "The functions of critical parameters are exactly the critical points of all strata of rank ≤ r.",
    control=("networks beside the chart's", {"move": 1e-3}),
)
def corollary_31(trial: Trial, move: float = 0.0) -> Iterator[Outcome]:
    """Every point of a chart is realised by a critical network; every descent ends at a point of the chart."""
    for data in (sh.Gaussian(3), sh.IID.laplace(3), random_metric(trial.rng, 3, 2)):
        for _ in trial.times(1, 5):
            problem = sh.Problem(symmetric(trial.rng, separated(trial.rng, 3)), data, 2)
            chart = sh.chart(problem, certify=False)
            scale = float(np.linalg.norm(problem.gram()) * np.linalg.norm(problem.target_tensor().entries))
            for point in chart.points:
                net = point.network
                moved = sh.Network(net.W * (1 + move), net.a, net.activation)
                yield equal(
                    float(np.linalg.norm(problem.gradient(moved)) / scale),
                    1e-8,
                    f"{data!r}, rank {point.rank}",
                )
            runs = sh.ensemble(problem, runs=20, rng=trial.rng.integers(2**31).item())
            tensors = np.array([point.tensor.entries for point in chart.points])
            for theta in runs.thetas[runs.converged]:
                S = problem.unpack(theta).tensor().entries
                gap = float(np.abs(tensors - S).max(axis=1).min())
                yield equal(gap, 1e-5, f"{data!r}: a descent ends on the chart")


def _eckart_young(
    trial: Trial, data: InnerProduct, eigenvalues: Array, shift: Callable[[Array, int], float]
) -> Iterator[Outcome]:
    """Count, points and indices of the chart against the theorem's formulas, for every rank."""
    n = len(eigenvalues)
    T = symmetric(trial.rng, eigenvalues)
    problem = sh.Problem(T, data, n - 1)
    chart = sh.chart(problem, certify=False)
    sigma, U = np.linalg.eigh(T)
    for r in range(1, n):
        points = [p for p in chart.points if p.rank == r]
        yield fact(
            len(points) == comb(n, r),
            f"n={n}, {data!r}, rank {r}: {len(points)} points, C({n},{r}) = {comb(n, r)}",
        )
        for chosen in combinations(range(n), r):
            rest = [j for j in range(n) if j not in chosen]
            c = shift(sigma[rest], r)
            kept = list(chosen)
            S = (U[:, kept] * (sigma[kept] + c)) @ U[:, kept].T
            index = sum(0 <= (sigma[i] + c) / (sigma[j] + c) <= 1 for i in chosen for j in rest)
            gaps = [float(np.abs(p.tensor.to_matrix() - S).max()) for p in points]
            nearest = int(np.argmin(gaps))
            yield equal(gaps[nearest], 1e-7, f"n={n}, {data!r}: the point of I = {chosen}")
            here = LocalGeometry(MatricesOfRank(S, r), problem.gram())
            signature = here.signature(problem.target_tensor().entries)
            yield fact(
                signature[2] == index == points[nearest].index,
                f"n={n}, {data!r}, I = {chosen}: index {index}, Hessian {signature}",
            )


@claim(
    "000",
    "Theorem 34",
    "Frobenius: C(n, r) critical points S_I = UΣ_IUᵀ at rank r, of index #{(i,j) ∈ I×Iᶜ : 0 ≤ σᵢ/σⱼ ≤ 1}.",
    control=("the Laplace metric", {"law": sh.IID.laplace}),
)
def theorem_34(trial: Trial, law: Callable[[int], InnerProduct] = sh.Frobenius) -> Iterator[Outcome]:
    """Charts of random teachers, and Hessians in a chart of the stratum."""
    for n in (2, 3, 4):
        for _ in trial.times(1, 8):
            yield from _eckart_young(trial, law(n), separated(trial.rng, n), lambda rest, r: 0.0)


@claim(
    "000",
    "Theorem 35",
    "Gaussian: as Theorem 34 with σ + c_I for σ, c_I = Σ_{j∉I}σⱼ/(r+2), unless some σᵢ + c_I = 0.",
    control=("the Laplace metric", {"law": sh.IID.laplace}),
    printed=("for every teacher of full rank with distinct eigenvalues", {"teachers": ((-1.0, 3.0),)}),
)
def theorem_35(
    trial: Trial,
    law: Callable[[int], InnerProduct] = sh.Gaussian,
    teachers: tuple[tuple[float, ...], ...] = (),
) -> Iterator[Outcome]:
    """As for Theorem 34; the printed case is T = diag(−1, 3), where I = {1} gives S = 0."""
    for values in teachers:
        yield from _eckart_young(
            trial, law(len(values)), np.array(values), lambda rest, r: float(rest.sum() / (r + 2))
        )
    for n in (2, 3, 4):
        for _ in trial.times(1, 8):
            yield from _eckart_young(
                trial, law(n), separated(trial.rng, n), lambda rest, r: float(rest.sum() / (r + 2))
            )


@claim(
    "000",
    "Theorem 36",
    "Heavy-tailed i.i.d. data, rank one, an open set of diagonal teachers: (3ⁿ−1)/2 real critical points.",
    control=("nearly Gaussian tails, μ₄ = 3.3", {"fourth": lambda n: 3.3}),
)
def theorem_36(trial: Trial, fourth: Callable[[int], float] = lambda n: 10.0 * n) -> Iterator[Outcome]:
    """μ₄ ≥ 10nμ₂² and 1 ≤ max t/min t ≤ 2, as in the proof; all points certified as real and different."""
    for n in range(2, 6 if trial.effort == "quick" else 8):
        for _ in trial.times(1, 4):
            t = np.sort(trial.rng.uniform(1.0, 2.0, n))
            data = sh.IID(n, [1, 0, 1, 0, fourth(n)])
            problem = sh.Problem(np.diag(t), data, width=1)
            chart = sh.chart(problem, certify=n <= 4)
            expected = (3**n - 1) // 2
            ok = chart.real_count[1] == expected and chart.completeness == "proved"
            yield proof(
                ok,
                f"n={n}: {chart.real_count[1]} real critical points, expected {expected}, {chart.completeness}",
            )
            worst = 0.0
            for point in chart.points:
                S = point.tensor.to_matrix()
                if point.rank:
                    worst = max(worst, float(np.linalg.norm(gradient_matrix(problem, S) @ S)))
            yield equal(worst / fourth(n), 1e-9, f"n={n}: ∇ℓ(S)·S = 0 at all of them (Prop. 29)")
