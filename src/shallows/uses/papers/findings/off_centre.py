"""Finding 14: Eckart and Young's theorem for Gaussian data with a mean, and so for quadratic networks with biases.

For x ~ N(m, Σ), N = E xxᵀ and D = S − T, E(xᵀDx)² = 2 tr(DNDN) + (tr DN)² − 2(mᵀDm)² (Isserlis). In coordinates where
N = I and m = √h e this is 2‖D‖² + (tr D)² − 2h²(e·De)², with the slope 4D + 2(tr D)I − 4h²(e·De)eeᵀ. S is critical
among matrices of its rank exactly when the slope annihilates its range: with ρ = tr D/2 and δ = h² e·De

    (T + δ eeᵀ − ρI − S)S = 0,

so S = Σ_I (μᵢ − ρ)uᵢuᵢᵀ with eigenpairs of K(δ) = T + δ eeᵀ. Taking traces, ρ = (Σ_I μᵢ − tr T)/(r + 2), and what is
left is one equation in δ for each set I,

    F_I(δ) = δ/h² + e·Te − Σ_I (μᵢ − ρ)(e·uᵢ)² = 0.

*At least C(n, r) are real.* For a general T all eigenvalues are simple for real δ, so each F_I is continuous. As δ → ±∞
one eigenvalue goes like δ, with (e·u)² → 1; F_I/δ tends to 1/h² > 0 if it is not in I, and to 1/h² − 1 + 1/(r + 2) > 0
if it is, as h ≤ 1 (h = mᵀN⁻¹m; a bias has h = 1). So F_I changes its sign.

*There are C(n, r) + 2(n−1) C(n−2, r−1) complex ones.* Sets of r eigenvalues are a curve of degree C(n, r) over the line
of δ. F_I is a function on it with a simple pole on every sheet at δ = ∞ and, as (e·u)² = dμ/dδ, at each ramification
point: δ as a function of μ, det(T − μ)/det(T′ − μ) up to its sign, T′ the part of T across e, has degree n, so 2n − 2
of them, over each of which C(n−2, r−1) points of the curve have one of the two eigenvalues that meet. It has as many
zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np

import shallows as sh
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import MISSING_POINT, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, fact

#: Points are certified to ten digits; products of three matrices of them lose two.
ERROR = 1e-8


@finding(
    14,
    "Eckart and Young's theorem with a mean, or a bias",
    "Quadratic networks under N(m, Σ): every critical matrix of rank r keeps r eigenvectors of T + δ eeᵀ, e the "
    "mean's direction (white coordinates), δ a root of one equation a set of eigenvectors. At least C(n, r) are real, "
    "and C(n, r) + 2(n−1)C(n−2, r−1) complex, for general T. A bias is a mean, with one input more.",
    basis="proved",
    known="Theorem 35 of paper 000 is the centred case, δ = 0 with C(n, r) points; rank one is finding 9. The rest, "
    "and the reduction to one variable, are ours.",
    control=("Laplace data", {"gaussian": False}),
    tests={
        "shallows.chart": (
            MISSING_POINT,
            of_field("complex_count", Mutation("one fewer", lambda c: {r: x - 1 for r, x in c.items()})),
        )
    },
)
def off_centre(trial: Trial, gaussian: bool = True) -> Iterator[Outcome]:
    """Random targets and means, n = 3 and 4 (full: 5): eigenvectors at every point, complex points by homotopy, real
    ones by both ways."""
    sizes = ((3, 1), (3, 2), (4, 2)) if trial.effort == "quick" else ((3, 1), (3, 2), (4, 2), (4, 3), (5, 2))
    for n, rank in sizes:
        T, mean = trial.rng.standard_normal((n, n)), trial.rng.standard_normal(n)
        T = T + T.T
        data = sh.Gaussian(n, mean=mean) if gaussian else sh.IID.laplace(n)
        problem = sh.Problem(T, data, rank)
        chart, other = sh.chart(problem), sh.chart(problem, method="homotopy")
        points = [point for point in chart.points if point.rank == rank]
        worst = max((_error(point.tensor.to_matrix(), T, mean) for point in points), default=np.inf)
        yield fact(worst < ERROR, f"n={n}, rank {rank}: eigenvectors of T + δ eeᵀ, off by {worst:.1e}")
        expected = comb(n, rank) + 2 * (n - 1) * comb(n - 2, rank - 1)
        yield fact(
            other.complex_count.get(rank) == expected == chart.complex_count.get(rank),
            f"n={n}, rank {rank}: {other.complex_count.get(rank)} complex points by homotopy, {expected} by formula",
        )
        same = len(chart.losses) == len(other.losses) and np.allclose(chart.losses, other.losses)
        yield fact(
            bool(same) and len(points) >= comb(n, rank) and (expected - len(points)) % 2 == 0,
            f"n={n}, rank {rank}: {len(points)} real points, at least {comb(n, rank)}",
        )


def _error(S: Array, T: Array, mean: Array) -> float:
    """How far (T + δ eeᵀ − ρI − S)S is from zero in white coordinates, relatively."""
    root = np.linalg.cholesky(np.eye(len(mean)) + np.outer(mean, mean))
    S, T = root.T @ S @ root, root.T @ T @ root
    axis = np.linalg.solve(root, mean)
    h, D = float(axis @ axis), S - T
    lead = axis / np.sqrt(h)
    K = T + h**2 * float(lead @ D @ lead) * np.outer(lead, lead) - np.trace(D) / 2 * np.eye(len(mean))
    return float(np.abs((K - S) @ S).max() / np.abs(T).max() ** 2)
