"""The energy barrier in closed form (paper 001, Theorem 2.1), and what a barrier is.

For x ~ N(0, I) the loss of a student S = Σ aᵢwᵢwᵢᵀ against a teacher T is L = 2‖S − T‖² + tr(S − T)². If S has rank at
most r and s are the d−r eigenvalues of T that it leaves out, the minimum is

    min L = 2 Σs² + 2(Σs)²/(r+2),    S = Σ_kept (tᵢ + c) uᵢuᵢᵀ,  c = Σs/(r+2);

for r = d−1 and a positive definite T that is 2σ⁴(1 + 1/(d+1)), between the paper's 2σ⁴ (Theorem 2.1b) and 3σ⁴ (2.1c).
The best s are consecutive in sorted order: if a < b < c with a, c left out and b kept, and neither exchange (a for b,
c for b) lowered the minimum, then (1+κ)(a+b) + 2κ(Σs−a) ≥ 0 ≥ (1+κ)(b+c) + 2κ(Σs−c) with κ = 1/(r+2), whose
difference (1−κ)(a−c) ≥ 0 is false. So r+1 candidates decide, also for an indefinite T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.model.data.rotation_invariance import RotationInvariance
from shallows.model.network import Network
from shallows.questions.charts.closed_form.spectrum import Spectrum
from shallows.questions.quadratic.teachers import is_positive_semidefinite, network_of
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class Barrier:
    """The least loss over networks of rank at most `rank` (paper 001, Theorem 2.1 and Corollary 2.2).

    `lower` is the paper's bound, `example` the loss of the paper's example (the teacher without its smallest
    eigenvalues), `exact` the minimum and `network` a network that attains it. `method` says how `exact` was found:
    "closed form", "chart" (the best point of a chart, of the given `completeness`) or "numerical" (the lowest of many
    descents: an upper bound of the minimum).

    >>> barrier = sh.energy_barrier(np.diag([3.0, 2.0, 1.0]))   # d = 3, σ = 1
    >>> f"{barrier.lower:.6f}", f"{barrier.exact:.6f}", f"{barrier.example:.6f}"   # 2σ⁴, 2σ⁴(1 + 1/(d+1)), 3σ⁴
    ('2.000000', '2.500000', '3.000000')
    >>> abs(np.linalg.eigvalsh(barrier.network.tensor().to_matrix())).round(6).tolist()   # kept: 2 + ¼ and 3 + ¼
    [0.0, 2.25, 3.25]
    """

    lower: float
    exact: float
    example: float
    network: Network
    rank: int
    method: str
    completeness: str = "proved"

    def __repr__(self) -> str:
        how = self.method if self.method == "closed form" else f"{self.method}, {self.completeness}"
        return (
            f"Barrier(rank ≤ {self.rank}: minimum {self.exact:.10g} ({how}), bound {self.lower:.10g}, "
            f"example {self.example:.10g})"
        )


def natural_outer(T: Array) -> str:
    """The students of paper 001 where they suffice: positive semidefinite ones for a positive semidefinite teacher."""
    return "ones" if is_positive_semidefinite(T) else "free"


def standard_barrier(T: Array, rank: int) -> Barrier:
    """The barrier under N(0, I)."""
    spectrum = Spectrum.of(T, RotationInvariance("Gaussian", 2, 1.0))
    assert spectrum is not None
    return closed_form_barrier(spectrum, rank, natural_outer(T), rank)


def closed_form_barrier(spectrum: Spectrum, rank: int, outer: str, width: int) -> Barrier:
    """The barrier under a rotation-invariant metric: the best critical point of paper 000, Theorems 34 and 35."""
    sigma = spectrum.sigma
    kept = _best_kept(spectrum, rank, outer)
    loss, shift = _loss_and_shift(spectrum, kept)
    student = spectrum.matrix(kept, sigma[kept] + shift)
    dropped = sigma[left_out_by_the_example(sigma, rank, outer)]
    squares = float(np.sum(dropped**2))
    return Barrier(
        lower=spectrum.norm(0.0, squares),  # the weakest directions have no trace
        exact=loss,
        example=spectrum.norm(float(np.sum(dropped)), squares),
        network=network_of((student + student.T) / 2, width),
        rank=rank,
        method="closed form",
    )


def left_out_by_the_example(values: Array, rank: int, outer: str) -> np.ndarray:
    """What the paper's example leaves out: all but the r largest eigenvalues in size (the r largest positive ones)."""
    size = np.abs(values) if outer == "free" else np.maximum(values, 0.0)
    kept = np.argsort(size)[len(values) - rank :]
    return np.setdiff1d(np.arange(len(values)), kept[size[kept] > 0])


def _loss_and_shift(spectrum: Spectrum, kept: NDArray[np.intp]) -> tuple[float, float]:
    """The loss and c of the critical point that keeps these eigenvalues."""
    out = np.delete(spectrum.sigma, kept)
    total, squares = np.asarray(np.sum(out)), np.asarray(np.sum(out**2))
    return float(spectrum.loss(len(kept), total, squares)), float(spectrum.shift(len(kept), total))


def _best_kept(spectrum: Spectrum, rank: int, outer: str) -> NDArray[np.intp]:
    """Which eigenvalues (ascending) to keep: consecutive ones are left out.

    S ⪰ 0: the j ≤ r largest, j the largest number for which the last one, shifted, is positive.
    """
    sigma, d = spectrum.sigma, spectrum.n
    if outer == "ones":
        largest = (np.arange(d - j, d) for j in range(rank, 0, -1))
        positive = (kept for kept in largest if sigma[kept[0]] + _loss_and_shift(spectrum, kept)[1] > 0)
        return next(positive, np.zeros(0, np.intp))
    windows = [np.r_[0:i, i + d - rank : d] for i in range(rank + 1)]
    return min(windows, key=lambda kept: _loss_and_shift(spectrum, kept)[0])
