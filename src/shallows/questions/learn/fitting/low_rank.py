"""Fewer neurons than inputs: the best matrix of rank k found, from the truncated spectra of A* and random starts.

With width k < D the network is A = Σ aᵢwᵢwᵢᵀ of rank at most k, and L(A) = L* + ⟨A − A*, G(A − A*)⟩ with A* the optimum
of the convex relaxation (the rank bound dropped, paper 002, equation 2.5). How much better any other such matrix could
be is bounded in `rank_bound`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.solvers.levenberg_marquardt import gram_root
from shallows.mathematics.tensors.coordinates import inputs_of
from shallows.questions.learn.fitting.frame import from_matrix, to_matrix
from shallows.questions.learn.fitting.projected_rank import projected_rank, step_length
from shallows.questions.learn.fitting.signed_factor import Factor, fit_factors
from shallows.support.checks import Array
from shallows.support.progress import Progress

#: Sign patterns tried at most, of the k + 1.
SIGN_PATTERNS = 9
#: Ends are equal when their excess is within this share of the least and of the size of A*: what is left where
#: Levenberg-Marquardt steps stop.
EQUAL, EQUAL_SIZE = 1e-6, 1e-12
#: A neuron of the wrong sign starts with this share of the largest eigenvalue: not zero, where its slope is.
SMALL = 1e-3
#: Parameters of a factor up to which it is fitted: a step with 1,000 takes a second where D = 50.
LARGEST_FACTOR = 200
Start = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class LowRank:
    """A matrix of rank at most k, the norm neuron's weight, and the excess over A* in floating point."""

    matrix: Array
    norm: float
    excess: float
    starts: int
    agreeing: int

    def __repr__(self) -> str:
        return (
            f"LowRank(excess={self.excess:.6g} over the relaxation; "
            f"{self.agreeing} of {self.starts} starts agree)"
        )


def best_low_rank(
    gram: Array,
    optimum: Array,
    width: int,
    norm_form: Array | None,
    random_starts: int,
    rng: np.random.Generator,
    centre: float = 0.0,
) -> LowRank:
    """Start from the truncated spectra of A* with every sign pattern and from random points; keep the lowest.

    Of ends that are equal to rounding the one of smallest norm is kept.

    `gram` is the mean of ψψᵀ (plus the penalty), `optimum` the orthonormal coordinates of A*. `norm_form` is the matrix
    of the norm neuron ‖z‖² in this frame, None without one; with one A* − `centre`‖z‖² is truncated too. Without one
    matrices of more than `LARGEST_FACTOR` parameters are not fitted as factors but projected (`projected_rank`).
    """
    full = to_matrix(optimum, inputs_of(len(gram)))
    begin = _starts(full, width, random_starts, rng)
    if norm_form is not None:
        begin += _starts(full - centre * norm_form, width, random_starts, rng)
    if norm_form is None and width * len(full) > LARGEST_FACTOR:
        found = _projected(gram, optimum, width, begin)
    else:
        found = fit_factors(gram_root(gram), optimum, begin, norm_form)
    least = min(factor.excess for factor in found)
    level = least * (1 + EQUAL) + EQUAL_SIZE * float(optimum @ gram @ optimum)
    equal = [factor for factor in found if factor.excess <= level]
    best = min(equal, key=_squared_norm)  # several exact fits: the choice of minimum norm, as at full width
    return LowRank(best.matrix, best.norm, best.excess, len(begin), len(equal))


def _projected(gram: Array, optimum: Array, width: int, begin: list[Start]) -> list[Factor]:
    found, step = [], step_length(gram)
    with Progress(len(begin), f"rank {width}") as progress:
        for done, (W, signs) in enumerate(begin, 1):
            found.append(projected_rank(gram, optimum, width, from_matrix((W.T * signs) @ W), step))
            progress.update(done)
    return found


def _squared_norm(factor: Factor) -> float:
    return float(np.sum(factor.matrix**2) + factor.norm**2)


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
        length = np.sqrt(np.maximum(signs * values[places], SMALL * scale))
        starts.append((vectors[:, places].T * length[:, None], signs))
    for _ in range(random):
        W = rng.standard_normal((k, size)) * np.sqrt(scale / size)
        starts.append((W, rng.choice([-1.0, 1.0], size=k)))
    return starts
