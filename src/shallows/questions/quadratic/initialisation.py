"""Starting below the barrier: W₀ᵀW₀ = γI against a Gaussian teacher (paper 001, Theorem 2.5).

With λ the eigenvalues of W*ᵀW*, W* of m×d independent N(0, 1) entries, L(W₀) = 2Σ(γ−λ)² + (Σ(γ−λ))². Below the
barrier there are only full-rank points, so descent from W₀ ends at the global minimum (Theorem 2.3). The paper has
γ = m+4d; γ = m = E λ starts far lower. `init="barrier"` of `sh.ensemble` is γ = m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.support.checks import Array, finite_number, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator, seed_text

#: Wishart matrices drawn at once.
BATCH = 2_000
#: Halvings of an interval: until its ends are neighbouring doubles.
BISECTIONS = 200


@dataclass(frozen=True)
class StartProbability:
    """How often W₀ lies below the barrier, over `trials` random teachers (paper 001, Theorem 2.5).

    >>> sh.quadratic.start_probability(4, 64, trials=1000, rng=0)
    StartProbability(0.6790 ± 0.0148 below the paper barrier: d = 4, m = 64 = 4·d², γ = 64, 1000 teachers, seed 0)
    """

    probability: float
    error: float
    d: int
    m: int
    gamma: float
    barrier: str
    trials: int
    seed: str

    def __repr__(self) -> str:
        return (
            f"StartProbability({self.probability:.4f} ± {self.error:.4f} below the {self.barrier} barrier: "
            f"d = {self.d}, m = {self.m} = {self.m / self.d**2:.3g}·d², γ = {self.gamma:g}, {self.trials} teachers, "
            f"seed {self.seed})"
        )


def start_probability(
    d: int,
    m: int,
    gamma: float | str = "m",
    *,
    barrier: str = "paper",
    trials: int = 2_000,
    rng: int | np.random.Generator = 0,
) -> StartProbability:
    """The probability that W₀ with W₀ᵀW₀ = γI is below the barrier of a random teacher (paper 001, Theorem 2.5).

    L(W₀) = 2Σ(γ−λ)² + (Σ(γ−λ))², λ the eigenvalues of `W*ᵀW*`, `W*` of m×d independent N(0, 1) entries. `gamma`: "m",
    "m+4d" (the paper's) or a number; `barrier`: "paper" (2σ_min⁴) or "exact" (2σ_min⁴(1 + 1/(d+1))).

    >>> for gamma in ("m", "m+4d"):   # m = 8d²
    ...     print(gamma, sh.quadratic.start_probability(5, 200, gamma, trials=500, rng=0).probability)
    m 1.0
    m+4d 0.878
    """
    d, m, trials = positive_integer("d", d), positive_integer("m", m), positive_integer("trials", trials)
    if m < d:
        raise InvalidProblem(f"m is {m} and d is {d}; W₀ᵀW₀ = γI needs m ≥ d.")
    factors = {"paper": 2.0, "exact": 2.0 * (1 + 1 / (d + 1))}
    if barrier not in factors:
        raise InvalidProblem(f'barrier is {barrier!r}; expected "paper" or "exact".')
    level = _gamma(gamma, d, m)
    source, below = generator(rng), 0
    for begin in range(0, trials, BATCH):
        values = wishart_eigenvalues(d, m, min(BATCH, trials - begin), source)
        gap = level - values
        loss = 2 * np.sum(gap**2, axis=1) + np.sum(gap, axis=1) ** 2
        below += int(np.sum(loss < factors[barrier] * values[:, 0] ** 2))
    share = below / trials
    return StartProbability(
        share, float(np.sqrt(share * (1 - share) / trials)), d, m, level, barrier, trials, seed_text(rng)
    )


def _gamma(gamma: float | str, d: int, m: int) -> float:
    if isinstance(gamma, str):
        named = {"m": float(m), "m+4d": float(m + 4 * d)}
        if gamma not in named:
            raise InvalidProblem(f'gamma is {gamma!r}; expected "m", "m+4d" or a number.')
        return named[gamma]
    return finite_number("gamma", gamma, minimum=0.0)


def wishart_eigenvalues(d: int, m: int, count: int, source: np.random.Generator) -> Array:
    """Eigenvalues (ascending) of `count` matrices W*ᵀW*, without making W*: Bartlett's triangular factor.

    L lower triangular with L_ii = √χ²_{m−i} (i = 0, …) and N(0, 1) below the diagonal: LLᵀ has the law of W*ᵀW*.
    """
    L = np.zeros((count, d, d))
    below = np.tril_indices(d, -1)
    L[:, below[0], below[1]] = source.standard_normal((count, len(below[0])))
    L[:, np.arange(d), np.arange(d)] = np.sqrt(source.chisquare(m - np.arange(d), (count, d)))
    return np.asarray(np.linalg.svd(L, compute_uv=False)[:, ::-1] ** 2)


def sufficient_ratio() -> float:
    """The least C for which the proof of paper 001, Theorem 2.5, works with m > Cd² (for d large): about 268.4.

    The proof needs 33/C + 8/C^1.5 + 16/C² < 1/8; as printed, the last condition forgets the term 32md² and the
    factor of the barrier, and reads 1/C + 8/C^1.5 + 16/C² < 1/2.

    >>> C = sh.quadratic.sufficient_ratio()
    >>> round(C, 1), round(33 / C + 8 / C**1.5 + 16 / C**2, 6)
    (268.4, 0.125)
    """
    low, high = 1.0, 10_000.0  # where the sum is 57 and 0.0033
    for _ in range(BISECTIONS):
        C = (low + high) / 2
        if 33 / C + 8 / C**1.5 + 16 / C**2 < 1 / 8:
            high = C
        else:
            low = C
    return high
