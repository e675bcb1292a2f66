"""Fewer neurons than inputs: the best matrix of rank k found, and how much better any other could be.

With width k < D the network is A = Σ aᵢwᵢwᵢᵀ of rank at most k, and L(A) = L* + ⟨A − A*, G(A − A*)⟩ with A* the optimum
of the convex relaxation (the rank bound dropped, paper 002, equation 2.5). Two lower bounds hold for every such A:

- L ≥ L*, the relaxation itself;
- where G ≽ μH for the metric H(A) = ‖DAD‖² with a diagonal D, Eckart and Young give L ≥ L* + μ Σ_{i>k} σᵢ(DA*D)².

For whitened Gaussian data without constant term G ≽ 2‖·‖², and the second bound misses only the trace term of the exact
minimum 2Σs² + 2(Σs)²/(k+2), s the left-out eigenvalues. μ comes from a verified Cholesky factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows import coordinates
from shallows._checks import Array
from shallows.descent.progress import Progress
from shallows.learn.frame import to_matrix
from shallows.learn.rounding import SLACK, gamma, smallest_eigenvalue_bound
from shallows.learn.signed_factor import Factor, fit_factor

WEIGHTS_OF_CONSTANT = (1.0, 0.5, 0.2, 0.1)
SIGN_PATTERNS = 9
Start = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class LowRank:
    """A matrix of rank at most k, the norm neuron's weight, its excess over A* and a lower bound on any such excess."""

    matrix: Array
    norm: float
    excess: float
    least_excess: float
    starts: int
    agreeing: int

    def __repr__(self) -> str:
        return (
            f"LowRank(excess={self.excess:.6g} over the relaxation, at least {self.least_excess:.6g}; "
            f"{self.agreeing} of {self.starts} starts agree)"
        )


def best_low_rank(
    gram: Array,
    optimum: Array,
    width: int,
    affine: bool,
    norm_form: Array | None,
    random_starts: int,
    rng: np.random.Generator,
    count: int,
    movement: float,
) -> LowRank:
    """Start from the truncated spectra of A* with every sign pattern and from random points; keep the lowest.

    `gram` is the mean of ψψᵀ (plus the penalty), `optimum` the orthonormal coordinates of A*, `count` the number of
    samples that the Gram matrix was summed over and `movement` the rounding of their features (parts of the
    bound). `norm_form` is the matrix of the norm neuron ‖z‖² in this frame, None without one; its weight starts at a
    middle eigenvalue of A* relative to it.
    """
    full, centre = to_matrix(optimum, inputs_of(len(gram))), 0.0
    if norm_form is not None:
        centre = float(np.median(np.linalg.eigvals(np.linalg.solve(norm_form, full)).real))
    begin = _starts(full if norm_form is None else full - centre * norm_form, width, random_starts, rng)
    found: list[Factor] = []
    with Progress(len(begin), f"rank {width}") as progress:
        for done, (W, signs) in enumerate(begin, 1):
            found.append(fit_factor(gram, optimum, W, signs, norm_form, centre))
            progress.update(done)
    best = min(found, key=lambda factor: factor.excess)
    scale = float(optimum @ gram @ optimum)
    agreeing = sum(f.excess <= best.excess * (1 + 1e-6) + 1e-12 * scale for f in found)
    least = 0.0 if norm_form is not None else least_excess(gram, optimum, width, affine, count, movement)
    return LowRank(best.matrix, best.norm, best.excess, min(least, best.excess), len(begin), agreeing)


def inputs_of(features: int) -> int:
    """D with D(D+1)/2 features."""
    return round((np.sqrt(8 * features + 1) - 1) / 2)


def _starts(optimum: Array, k: int, random: int, rng: np.random.Generator) -> list[Start]:
    """p largest and k − p smallest eigenpairs of A*, for all p (thinned out when there are many), then random ones."""
    size = len(optimum)
    values, vectors = np.linalg.eigh(optimum)
    scale = float(np.abs(values).max()) or 1.0
    patterns = np.unique(np.linspace(0, k, min(k + 1, SIGN_PATTERNS)).astype(int))
    chosen = [np.concatenate([np.arange(size - p, size), np.arange(k - p)]).astype(int) for p in patterns]
    chosen.append(np.argsort(-np.abs(values))[:k])
    starts = []
    for places, p in zip(chosen, [*patterns, None], strict=True):
        signs = (
            np.where(values[places] >= 0, 1.0, -1.0) if p is None else np.where(np.arange(k) < p, 1.0, -1.0)
        )
        # an eigenvalue of the other sign starts small: it cannot be represented by this neuron
        length = np.sqrt(np.maximum(signs * values[places], 1e-3 * scale))
        starts.append((vectors[:, places].T * length[:, None], signs))
    for _ in range(random):
        W = rng.standard_normal((k, size)) * np.sqrt(scale / size)
        starts.append((W, rng.choice([-1.0, 1.0], size=k)))
    return starts


def least_excess(
    gram: Array, optimum: Array, width: int, affine: bool, count: int, movement: float = 0.0
) -> float:
    """max over D of μ Σ_{i>k} σᵢ(DA*D)², D = diag(1, …, 1, τ) when the last coordinate is the homogenising one.

    μ is reduced by the rounding of the Gram matrix of `count` samples and of its features (`movement`, Weyl).
    """
    size = inputs_of(len(gram))
    table = coordinates.exponents(size, 2)
    best = 0.0
    for tau in WEIGHTS_OF_CONSTANT if affine else WEIGHTS_OF_CONSTANT[:1]:
        weights = np.ones(size)
        if affine:
            weights[-1] = tau
        scale = np.prod(weights**table, axis=1)
        scaled = gram / np.outer(scale, scale)
        mu = smallest_eigenvalue_bound(scaled) - gamma(count + 6) * float(np.trace(scaled)) * SLACK
        slack = np.sqrt(max(mu, 0.0)) - movement / float(scale.min())
        if slack <= 0:
            continue
        mu = float(slack) ** 2
        singular = np.sort(np.abs(np.linalg.eigvalsh(weights[:, None] * to_matrix(optimum, size) * weights)))
        tail = np.maximum(singular[: size - width] - 1e-12 * singular[-1], 0.0)
        best = max(best, mu * float(np.sum(tail**2)) / SLACK)
    return best
