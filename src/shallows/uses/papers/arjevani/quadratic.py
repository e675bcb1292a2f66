"""Paper 000, section 4: critical points of quadratic networks, and how many there are.

Theorems 34 to 36 are what the library's closed forms implement, so they are checked against homotopy, which solves the
critical equations and knows nothing of eigenvectors; teachers are diagonal matrices of integers, for which the points
of the theorems are known exactly and criticality is decided in rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb
from types import SimpleNamespace
from typing import Any

import numpy as np

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.model.data.base import InnerProduct
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.rank_manifolds import MatricesOfRank
from shallows.uses.papers.arjevani.instances import (
    gradient_matrix,
    laws,
    random_metric,
    separated,
    symmetric,
)
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import DOUBLED, DROPPED, MISSING_POINT, NEGATED, Mutation
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof

#: Doubles are to agree with exact values to this share.
ROUNDING = Fraction(1, 10**12)
LOCAL = "shallows.questions.geometry.manifolds.local_geometry.LocalGeometry"
Exact = list[list[Fraction]]


def _scaled_points(chart: sh.Chart) -> Any:
    """Something with the chart's points, each tensor and network a little larger."""
    points = [
        SimpleNamespace(
            rank=p.rank,
            tensor=p.tensor * 1.01,
            network=sh.Network(1.01 * p.network.W, p.network.a, p.network.activation),
        )
        for p in chart.points
    ]
    return SimpleNamespace(points=points)


MOVED_POINTS = Mutation("moved points", _scaled_points)


@claim(
    "000",
    "Proposition 29",
    "For every smooth ℓ on Sym²(Rⁿ): S of rank r is a critical point of ℓ on the matrices of rank r iff ∇ℓ(S)·S = 0.",
    control=("matrices near critical ones", {"move": 1e-3}),
    tests={f"{LOCAL}.gradient": (DOUBLED, NEGATED, DROPPED), "shallows.chart": (MOVED_POINTS,)},
)
def proposition_29(trial: Trial, move: float = 0.0) -> Iterator[Outcome]:
    """n = 2, 3 and ranks below n under three laws: at all points of a chart both vanish; at random matrices neither
    does, and the gradient along the stratum is ⟨∇ℓ, ·⟩ on central differences of its parametrisation."""
    for n in (2, 3):
        for data in (sh.Gaussian(n), sh.IID.laplace(n), random_metric(trial.rng, n, 2)):
            for _ in trial.times(1, 5):
                problem = sh.Problem(symmetric(trial.rng, separated(trial.rng, n)), data, n - 1)
                target = problem.target_tensor().entries
                for point in sh.chart(problem, certify=False).points:
                    if point.rank:
                        S = point.tensor.to_matrix() * (1 + move)
                        what = f"n={n}, {data!r}, rank {point.rank}"
                        G = gradient_matrix(problem, S)
                        error = np.linalg.norm(G @ S) / (np.linalg.norm(G) * np.linalg.norm(S) + 1e-300)
                        yield equal(float(error), 1e-8, f"{what}: ∇ℓ·S = 0")
                        here = LocalGeometry(MatricesOfRank(S, point.rank), problem.gram())
                        slope = np.linalg.norm(here.gradient(target)) / np.linalg.norm(
                            problem.gram() @ target
                        )
                        yield equal(float(slope), 1e-7, f"{what}: it is critical on its stratum")
                yield from _not_critical(trial, problem, f"n={n}, {data!r}")


def _not_critical(trial: Trial, problem: sh.Problem, what: str) -> Iterator[Outcome]:
    W = trial.rng.standard_normal((problem.n - 1, problem.n))
    S, target = W.T @ W, problem.target_tensor().entries
    here = LocalGeometry(MatricesOfRank(S, problem.n - 1), problem.gram())
    slope = here.gradient(target)
    steps = 1e-6 * np.eye(len(slope))
    tangents = [
        (here.chart.value(here.chart.base + h) - here.chart.value(here.chart.base - h)) / 2e-6 for h in steps
    ]
    expected = 2 * np.array(tangents) @ problem.gram() @ (here.point - target)
    error = np.linalg.norm(slope - expected) / np.linalg.norm(expected)
    yield equal(float(error), 1e-6, f"{what}: the gradient along the stratum at a random matrix")
    yield at_least(float(np.linalg.norm(slope)), 1e-6, f"{what}: it is not critical")
    yield at_least(float(np.linalg.norm(gradient_matrix(problem, S) @ S)), 1e-6, f"{what}: and ∇ℓ·S ≠ 0")


def _frobenius_gradient(problem: sh.Problem, net: sh.Network) -> Exact:
    """∇ℓ(S) of ℓ(S) = (s − t)ᵀG(s − t) at a network of integers, exactly: 2G(s − t) over the entries'
    multiplicities."""
    n = problem.n
    table = coordinates.indices(n, 2).tolist()
    W, a = net.W.astype(int).tolist(), net.a.astype(int).tolist()
    s = [sum(alpha * w[i] * w[j] for alpha, w in zip(a, W, strict=True)) for i, j in table]
    gap = [
        Fraction(x) - Fraction(t) for x, t in zip(s, problem.target_tensor().entries.tolist(), strict=True)
    ]
    gram = [[Fraction(g) for g in row] for row in problem.data.exact_gram(2).tolist()]
    slope = {
        (i, j): 2 * sum((g * x for g, x in zip(row, gap, strict=True)), Fraction(0))
        for (i, j), row in zip(table, gram, strict=True)
    }
    return [[slope[min(i, j), max(i, j)] / (1 if i == j else 2) for j in range(n)] for i in range(n)]


def _times(G: Exact, w: list[int]) -> list[Fraction]:
    return [sum((g * x for g, x in zip(row, w, strict=True)), Fraction(0)) for row in G]


@claim(
    "000",
    "Proposition 30",
    "For every smooth ℓ with Frobenius gradient ∇ℓ and S = τ(α, W): ∇_W L = 2 diag(α) W ∇ℓ(S) and ∇_α L = "
    "Diag(W ∇ℓ(S) Wᵀ); so (α, W) is critical iff ∇ℓ(S)wᵢ = 0 wherever αᵢ ≠ 0 and wᵢᵀ∇ℓ(S)wᵢ = 0 wherever αᵢ = 0.",
    control=("∇ℓ without the factor of the off-diagonal entries", {"halved": True}),
    printed=("factors 4 and 2", {"factors": (4, 2)}),
    tests={"shallows.Problem.gradient": (DOUBLED, NEGATED, DROPPED), "shallows.Problem.value": (DOUBLED,)},
)
def proposition_30(
    trial: Trial, factors: tuple[int, int] = (2, 1), halved: bool = False
) -> Iterator[Outcome]:
    """Random integer networks and targets, (n, r) = (2,1), (3,2), (3,4), three laws with rational moments: the formula
    in exact arithmetic, against the library's gradient and a difference of its loss; and critical networks whose idle
    neurons are isotropic for ∇ℓ, beside some that are not."""
    for n, r in ((2, 1), (3, 2), (3, 4)):
        for data in laws(n)[:3]:
            for _ in trial.times(1, 10):
                T = trial.rng.integers(-5, 6, (n, n))
                problem = sh.Problem((T + T.T).astype(float), data, r)
                W = trial.rng.integers(1, 5, (r, n)).astype(float)
                net = sh.Network(W, trial.rng.choice([-2.0, -1.0, 1.0, 3.0], r))
                what = f"n={n}, r={r}, {data!r}"
                formula = _formula(problem, net, factors, halved)
                largest = max(abs(x) for x in formula)
                found = [Fraction(float(x)) for x in problem.gradient(net)]
                close = all(abs(x - y) <= ROUNDING * largest for x, y in zip(found, formula, strict=True))
                yield proof(close, f"{what}: the gradient, largest entry {float(largest):.4g}")
                yield proof(_difference(problem, net, formula), f"{what}: a difference of the loss")
    yield from _idle_criterion()


def _formula(problem: sh.Problem, net: sh.Network, factors: tuple[int, int], halved: bool) -> list[Fraction]:
    G = _frobenius_gradient(problem, net)
    if halved:
        G = [[x if i == j else x / 2 for j, x in enumerate(row)] for i, row in enumerate(G)]
    rows = [(int(alpha), w) for alpha, w in zip(net.a, net.W.astype(int).tolist(), strict=True)]
    inner = [factors[0] * alpha * x for alpha, w in rows for x in _times(G, w)]
    outer = [factors[1] * sum(x * y for x, y in zip(w, _times(G, w), strict=True)) for _, w in rows]
    return inner + outer


def _difference(problem: sh.Problem, net: sh.Network, formula: list[Fraction]) -> bool:
    """(L(θ + h) − L(θ − h))/2h along the last outer weight, in which L is quadratic: exact but for the rounding of
    L."""
    theta = problem.pack(net)
    step = np.eye(1, problem.size, problem.size - 1)[0]
    up, down = (Fraction(float(problem.value(theta + sign * step))) for sign in (1, -1))
    return abs((up - down) / 2 - formula[-1]) <= ROUNDING * (abs(up) + abs(down) + 1)


def _idle_criterion() -> Iterator[Outcome]:
    """T = diag(5, 1, −1), S = 5e₁e₁ᵀ under Frobenius: ∇ℓ = −2 diag(0, 1, −1), isotropic along (0, 1, ±1)."""
    problem = sh.Problem(np.diag([5.0, 1.0, -1.0]), sh.Frobenius(3), 2)
    for idle, alpha, critical in (
        ([0, 1, 1], 0.0, True),
        ([0, 1, 0], 0.0, False),
        ([3, 1, -1], 0.0, True),
        ([0, 1, 1], 1.0, False),
        ([0, 0, 0], 1.0, True),
    ):
        net = sh.Network(np.array([[1, 0, 0], idle], dtype=float), [5.0, alpha])
        zero = not np.any(problem.gradient(net))
        yield proof(zero == critical, f"α₂ = {alpha:g}, w₂ = {idle}: critical {zero}")


@claim(
    "000",
    "Corollary 31",
    "For every smooth ℓ on Sym²(Rⁿ) and every r: the functions of the critical parameters of ℓ∘τ_r are "
    "exactly the critical points of ℓ on the matrices of rank r′, for all r′ ≤ r.",
    control=("networks beside the chart's", {"move": 1e-3}),
    tests={
        "shallows.chart": (
            MOVED_POINTS,
            Mutation("no lowest point", lambda c: SimpleNamespace(points=c.points[1:])),
        ),
        "shallows.Problem.gradient": (Mutation("one more", lambda g: g + 1),),
        "shallows.ensemble": (Mutation("the starts moved", lambda runs: _moved_ends(runs)),),
    },
)
def corollary_31(trial: Trial, move: float = 0.0) -> Iterator[Outcome]:
    """n = 3, r = 2 under three laws: every point of a chart is realised by a critical network; every descent (20 random
    starts) ends at a point of the chart."""
    for data in (sh.Gaussian(3), sh.IID.laplace(3), random_metric(trial.rng, 3, 2)):
        for _ in trial.times(1, 5):
            problem = sh.Problem(symmetric(trial.rng, separated(trial.rng, 3)), data, 2)
            chart = sh.chart(problem)
            scale = float(np.linalg.norm(problem.gram()) * np.linalg.norm(problem.target_tensor().entries))
            for point in chart.points:
                net = point.network
                moved = sh.Network(net.W * (1 + move), net.a, net.activation)
                size = float(np.linalg.norm(problem.gradient(moved)) / scale)
                yield equal(size, 1e-8, f"{data!r}, rank {point.rank}")
            runs = sh.ensemble(problem, runs=20, rng=trial.rng.integers(2**31).item())
            tensors = np.array([point.tensor.entries for point in chart.points])
            yield fact(bool(np.any(runs.converged)), f"{data!r}: descents end")
            for theta in runs.thetas[runs.converged]:
                S = problem.unpack(theta).tensor().entries
                gap = float(np.abs(tensors - S).max(axis=1).min())
                yield equal(gap, 1e-5, f"{data!r}: a descent ends on the chart")


def _moved_ends(runs: sh.Ensemble) -> Any:
    return SimpleNamespace(thetas=runs.thetas + 0.1, converged=runs.converged)


def _eckart_young(
    sigma: list[int], data: InnerProduct, divisor: Callable[[int], int | None]
) -> Iterator[Outcome]:
    """The theorem's points S_I, exactly critical, are the certified points that homotopy finds, and all of them."""
    n = len(sigma)
    problem = sh.Problem(np.diag([float(s) for s in sigma]), data, n - 1)
    found = sh.chart(problem, method="homotopy")
    quick = (
        sh.chart(problem, method="closed-form", certify=False)
        if problem.data.rotation_invariance(2)
        else found
    )
    gram = [[Fraction(g) for g in row] for row in data.exact_gram(2).tolist()]
    for r in range(1, n):
        points = [p for p in found.points if p.rank == r]
        what = f"σ = {sigma}, {data!r}, rank {r}"
        complete = found.completeness != "sampled" and all(p.certificate is not None for p in points)
        count = f"{len(points)} points ({found.completeness}), C({n},{r}) = {comb(n, r)}"
        yield fact(complete and len(points) == comb(n, r), f"{what}: {count}")
        yield proof(quick.real_count.get(r) == comb(n, r), f"{what}: as many in the closed form")
        for chosen in combinations(range(n), r):
            rest = [j for j in range(n) if j not in chosen]
            share = divisor(r)
            c = Fraction(sum(sigma[j] for j in rest), share) if share else Fraction(0)
            S = [sigma[i] + c if i in chosen else Fraction(0) for i in range(n)]
            yield proof(_is_critical(S, sigma, gram), f"{what}: S_I for I = {chosen} is critical")
            index = sum(0 <= (sigma[i] + c) / (sigma[j] + c) <= 1 for i in chosen for j in rest)
            yield proof(
                _is_found(S, index, points),
                f"{what}: I = {chosen}, index {index}, among the certified points",
            )
            close = any(_close(p, S) and p.index == index for p in quick.points if p.rank == r)
            yield proof(close, f"{what}: I = {chosen} in the closed form")


def _is_critical(S: list[Fraction], sigma: list[int], gram: Exact) -> bool:
    """∇ℓ(S)·S = 0 for diagonal S and T: row i of ∇ℓ vanishes wherever S_ii ≠ 0 (Prop. 29)."""
    n = len(sigma)
    table = coordinates.indices(n, 2).tolist()
    gap = [S[i] - sigma[i] if i == j else Fraction(0) for i, j in table]
    slope = {
        (i, j): sum(g * x for g, x in zip(row, gap, strict=True))
        for (i, j), row in zip(table, gram, strict=True)
    }
    return all(slope[min(i, j), max(i, j)] == 0 for i in range(n) if S[i] for j in range(n))


def _is_found(S: list[Fraction], index: int, points: list[Any]) -> bool:
    """Whether S lies in the box of a certified point, which holds one critical point only, with this index."""
    for point in points:
        certificate = point.certificate
        radius = Fraction(certificate.radius) if certificate else Fraction(0)
        M = point.tensor.to_matrix()
        inside = all(
            abs(Fraction(float(M[i, j])) - (S[i] if i == j else 0)) <= radius
            for i in range(len(S))
            for j in range(len(S))
        )
        if inside and point.index == index and certificate.signature_certified:
            return True
    return False


def _close(point: Any, S: list[Fraction]) -> bool:
    """Whether a point is S to rounding, decided exactly."""
    M = point.tensor.to_matrix()
    largest = max(abs(s) for s in S)
    return all(
        abs(Fraction(float(M[i, j])) - (S[i] if i == j else 0)) <= ROUNDING * largest
        for i in range(len(S))
        for j in range(len(S))
    )


def _teachers(trial: Trial) -> list[list[int]]:
    """Distinct non-zero integers of both signs, n = 2 and 3 (full: 4)."""
    sizes = (2, 3) if trial.effort == "quick" else (2, 3, 4)
    drawn = [[int(s) for s in trial.rng.choice(np.arange(1, 10), n, replace=False)] for n in sizes]
    return [
        [s * int(sign) for s, sign in zip(row, trial.rng.choice([-1, 1], len(row)), strict=True)]
        for row in drawn
    ]


WRONG_CHARTS = {
    "shallows.questions.charts.algebraic.algebraic_chart": (MISSING_POINT,),
    "shallows.questions.charts.closed_form.rotation_invariant.spectral_chart": (
        Mutation(
            "no point of rank one",
            lambda chart: replace(chart, critical=chart.critical.where(chart.critical.table.rank != 1)),
        ),
        MISSING_POINT,
    ),
}


@claim(
    "000",
    "Theorem 34",
    "Frobenius norm, T = UΣUᵀ of full rank with distinct eigenvalues, all r ≤ n: exactly C(n, r) critical "
    "points of rank r, S_I = UΣ_IUᵀ with #I = r, of index #{(i,j) ∈ I×Iᶜ : 0 ≤ σᵢ/σⱼ ≤ 1}.",
    control=("the Laplace metric", {"law": sh.IID.laplace}),
    tests=WRONG_CHARTS,
)
def theorem_34(trial: Trial, law: Callable[[int], InnerProduct] = sh.Frobenius) -> Iterator[Outcome]:
    """Diagonal teachers of random distinct integers (rotations leave the norm alone), n = 2, 3 (full: 4), every r <
    n: S_I is critical in exact arithmetic; homotopy's certified points, proved to be all, are those, with their
    indices."""
    for sigma in _teachers(trial):
        yield from _eckart_young(sigma, law(len(sigma)), lambda r: None)


@claim(
    "000",
    "Theorem 35",
    "Gaussian norm, T of full rank with distinct eigenvalues, all r ≤ n: as Theorem 34 with σ + c_I for σ, "
    "c_I = Σ_{j∉I}σⱼ/(r+2), where no σᵢ + c_I is zero for i in I (S_I has lower rank otherwise).",
    control=("the Laplace metric", {"law": sh.IID.laplace}),
    printed=("for every teacher of full rank with distinct eigenvalues", {"teachers": ((-1, 3),)}),
    tests=WRONG_CHARTS,
)
def theorem_35(
    trial: Trial, law: Callable[[int], InnerProduct] = sh.Gaussian, teachers: tuple[tuple[int, ...], ...] = ()
) -> Iterator[Outcome]:
    """As for Theorem 34; teachers with some σᵢ + c_I = 0 are drawn again; the printed case is T = diag(−1, 3), where
    I = {1} gives S = 0."""
    for values in teachers:
        yield from _eckart_young(list(values), law(len(values)), lambda r: r + 2)
    for sigma in _teachers(trial):
        while _loses_rank(sigma):
            sigma = [s + 1 + (s == -1) for s in sigma]
        yield from _eckart_young(sigma, law(len(sigma)), lambda r: r + 2)


def _loses_rank(sigma: list[int]) -> bool:
    """Whether σᵢ + c_I = 0 for some I and some i; adding a number to all σ ends that, since all are positive then."""
    n = len(sigma)
    sets = [set(chosen) for r in range(1, n) for chosen in combinations(range(n), r)]
    sums = [(I, sum(sigma[j] for j in range(n) if j not in I)) for I in sets]
    repeated = len(set(sigma)) < n or 0 in sigma
    return repeated or any((len(I) + 2) * sigma[i] + total == 0 for I, total in sums for i in range(n))


@claim(
    "000",
    "Theorem 36",
    "For every n there are laws with i.i.d. coordinates and an open set of diagonal teachers for which the "
    "loss has (3ⁿ − 1)/2 real critical points of rank one; by the proof, μ₄ ≥ 10nμ₂² and max t ≤ 2 min t suffice.",
    control=("nearly Gaussian tails, μ₄ = 3.25", {"fourth": lambda n: 3.25}),
    tests={
        "shallows.questions.charts.algebraic.algebraic_chart": (
            MISSING_POINT,
            Mutation("sampled", lambda chart: replace(chart, completeness="sampled")),
        ),
        "shallows.questions.charts.closed_form.iid_diagonal.iid_diagonal_chart": (MISSING_POINT,),
    },
)
def theorem_36(trial: Trial, fourth: Callable[[int], float] = lambda n: 10.0 * n) -> Iterator[Outcome]:
    """n = 2, 3, 4 (full: 5), diagonals of random dyadic numbers in [1, 2], μ₂ = 1 and μ₄ = 10n: homotopy's real
    points of rank one, all certified, with nothing missing; and the closed form has as many."""
    for n in (2, 3, 4) if trial.effort == "quick" else (2, 3, 4, 5):
        for _ in trial.times(1, 4):
            t = np.sort(1 + trial.rng.choice(np.arange(1, 64), n, replace=False) / 64)
            data = sh.IID(n, [1, 0, 1, 0, fourth(n)])
            problem = sh.Problem(np.diag(t), data, width=1)
            expected = (3**n - 1) // 2
            chart = sh.chart(problem, method="homotopy")
            points = [p for p in chart.points if p.rank == 1]
            sure = chart.completeness == "proved" and all(p.certificate is not None for p in points)
            what = f"n={n}: {len(points)} real critical points, expected {expected}, {chart.completeness}"
            yield proof(sure and len(points) == expected, what)
            closed = sh.chart(problem, method="closed-form")
            certified = sum(p.rank == 1 and p.certificate is not None for p in closed.points)
            yield proof(certified == expected, f"n={n}: {certified} of them in the closed form")
