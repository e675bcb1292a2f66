"""Finding 8: the exact energy barrier of paper 001, by duality.

Let E = S − T, rank S ≤ r, x ~ N(0, I_d), L = 2‖E‖² + (tr E)². For every real c, (tr E)² ≥ −4c tr E − 4c², so

    L ≥ 2‖E‖² − 4c tr E − 4c² = 2‖S − (T + cI)‖² − 2c²(d + 2),

and by Eckart and Young ‖S − (T + cI)‖² is at least the sum of the d − r smallest (tᵢ + c)². Let T ⪰ 0, s its d − r
smallest eigenvalues, and c = Σs/(r+2) ≥ 0: these are the smallest of T + cI too, and

    L ≥ 2Σ(s + c)² − 2c²(d + 2) = 2Σs² + 4cΣs − 2c²(r + 2) = 2Σs² + 2(Σs)²/(r + 2),

with equality at S = Σ_kept (tᵢ + c)uᵢuᵢᵀ, whose E has trace rc − Σs = −2c. S is the only one where the smallest kept
eigenvalue is larger than the largest left out.

Activation αz² + βz + γ, student W and teacher W*: L = α²(2‖E‖² + (tr E)²) + β²‖Wᵀ1 − b‖², b = W*ᵀ1. For r = d − 1 and
a simple σ², the minimum is α²·2σ⁴(1 + 1/(d+1)) if and only if some W has WᵀW = S and Wᵀ1 = b: b must lie in the range
of S, that is W*u ⊥ 1 for the eigenvector u of σ²; then bᵀS⁺b ≤ bᵀT⁻¹b ≤ m, which is enough. Otherwise it is larger.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import fmpq, fmpq_mat

import shallows as sh
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import DOUBLED, of_field
from shallows.uses.papers.outcome import Outcome, at_least, proof

#: The library's minimum against the rational one, relatively: sums of a few squares round to 10⁻¹⁵ or so.
CLOSE = 1e-12
#: How much larger a minimum with a linear part is, at least: 2 % is measured in these instances.
LARGER = 1e-3
#: A minimum that is found numerically against a closed form, relatively: descents stop at 1e-12 of the gradient.
NUMERICAL = 1e-6


@finding(
    8,
    "The exact energy barrier",
    "x ~ N(0, I_d), T ⪰ 0: the least L over students of rank ≤ r is 2Σs² + 2(Σs)²/(r+2), s the d−r smallest "
    "eigenvalues of T; for r = d − 1, T = W*ᵀW*, it is 2σ⁴(1 + 1/(d+1)), σ = σ_min(W*) (paper 001: 2σ⁴ to 3σ⁴). With "
    "αz² + βz + γ, β ≠ 0 and σ simple it is α² times that iff W*u ⊥ 1, u the eigenvector of σ², and more otherwise.",
    basis="proved",
    known="Paper 001 has the bounds 2σ⁴ and 3σ⁴ and the rank d − 1; a shifted Eckart–Young theorem is Theorem 35 of "
    "paper 000. The duality argument and the condition for β ≠ 0 are ours.",
    control=("r + 1 in place of r + 2", {"denominator": 1}),
    tests={"shallows.energy_barrier": (of_field("exact", DOUBLED), of_field("lower", DOUBLED))},
)
def barrier(trial: Trial, denominator: int = 2) -> Iterator[Outcome]:
    """Integer spectra, d = 2 to 6, every rank, in rational arithmetic: random S of that rank are above the number, S_I
    has it, and so has `energy_barrier`; with β ≠ 0, two teachers in two inputs, W*u ⊥ 1 and not."""
    for d in (2, 3, 4, 6):
        values = sorted(int(t) for t in trial.rng.choice(np.arange(1, 30), d, replace=False))
        for r in range(1, d):
            s, kept = values[: d - r], values[d - r :]
            least = 2 * fmpq(sum(x * x for x in s)) + 2 * fmpq(sum(s) ** 2, r + denominator)
            shift = fmpq(sum(s), r + 2)
            best = _diagonal([fmpq(0)] * (d - r) + [t + shift for t in kept])
            what = f"d={d}, r={r}, T = diag{tuple(values)}"
            yield proof(_loss(best, values) == least, f"{what}: S_I has L = {least}")
            for _ in trial.times(3, 40):
                B = fmpq_mat(r, d, [fmpq(int(x), 7) for x in trial.rng.integers(-30, 31, r * d)])
                signs = _diagonal([fmpq(int(x)) for x in trial.rng.choice([-1, 1, 2], r)])
                found = _loss(B.transpose() * signs * B, values)
                yield proof(found >= least, f"{what}: a random S of rank {r} has L = {float(found):.4g}")
            own = sh.energy_barrier(np.diag(np.array(values, dtype=float)), rank=r)
            bounds = 2 * fmpq(sum(x * x for x in s))
            close = abs(own.exact / float(least) - 1) + abs(own.lower / float(bounds) - 1) < CLOSE
            yield proof(close, f"{what}: energy_barrier has {own.exact:.6g}")
    yield from _linear_part()


def _loss(S: fmpq_mat, values: list[int]) -> fmpq:
    """2‖S − T‖² + tr(S − T)²."""
    E = S - _diagonal([fmpq(t) for t in values])
    trace = sum((E[i, i] for i in range(len(values))), fmpq(0))
    return 2 * sum((x * x for x in E.entries()), fmpq(0)) + trace * trace


def _diagonal(entries: list[fmpq]) -> fmpq_mat:
    n = len(entries)
    return fmpq_mat(n, n, [entries[i] if i == j else fmpq(0) for i in range(n) for j in range(n)])


def _linear_part() -> Iterator[Outcome]:
    """W* with columns of length² 4 and 25 (rows 3 × 2): σ² = 4, u = e₁; the first column sums to zero, or not."""
    for column, orthogonal in (((np.sqrt(2), -np.sqrt(2), 0.0), True), ((2.0, 0.0, 0.0), False)):
        second = np.array([1.0, 1.0, -1.0]) if orthogonal else np.array([0.0, 3.0, 4.0])
        W = np.column_stack([column, 5 * second / np.linalg.norm(second)])
        teacher = sh.Network(W, activation=sh.Polynomial([0.3, 0.8, 0.5]))
        ratio = sh.energy_barrier(teacher).exact / (0.25 * 2 * 16 * (1 + 1 / 3))
        if orthogonal:
            yield at_least(
                NUMERICAL, abs(ratio - 1), f"W*u ⊥ 1: {ratio:.8f} times the barrier without a linear part"
            )
        else:
            yield at_least(ratio, 1 + LARGER, f"W*u not ⊥ 1: {ratio:.4f} times it")
