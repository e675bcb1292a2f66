"""Paper 001, section 2.3: how many samples determine a quadratic network, and the two theorems it quotes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.questions.quadratic.interpolation import bad_interpolator
from shallows.questions.quadratic.sample_span import prime_points, sample_threshold, spans_symmetric
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.gamarnik.population import planted
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof


@claim(
    "001",
    "Theorem 2.6",
    "If the xᵢxᵢᵀ span the symmetric matrices, every interpolator is QW*; if not, some interpolator is not.",
    control=("one sample fewer than the span needs", {"missing": 1}),
)
def theorem_2_6(trial: Trial, missing: int = 0) -> Iterator[Outcome]:
    """Trained interpolators on exactly spanning integer samples; constructed ones on samples that do not span."""
    for d in (2, 3, 4):
        X = _spanning_integers(trial, d)[: sample_threshold(d) - missing]
        W = planted(trial.rng, d + 1, d)
        span = spans_symmetric(X)
        yield proof(bool(span) == (missing == 0), f"d={d}: {span!r}")
        problem = sh.Problem(sh.Network(W), sh.Samples(X.astype(float)), d + 1, outer="ones")
        energy = float(problem.value(np.zeros(problem.size)))
        for _ in trial.times(2, 10):
            start = sh.Network(trial.rng.standard_normal((d + 1, d)))
            run = sh.descend(problem, start, method="lm", tolerance=1e-10 * energy)
            if run.loss < 1e-20 * energy:
                error = np.abs(run.network.W.T @ run.network.W - W.T @ W).max() / np.abs(W.T @ W).max()
                yield equal(float(error), 1e-5, f"d={d}: WᵀW of a trained interpolator")
        found = bad_interpolator(sh.Network(W), X[:-1].astype(float))
        yield equal(
            found.largest_residual / np.abs(sh.Network(W)(X)).max(), 1e-9, f"d={d}: {found!r} interpolates"
        )
        yield at_least(found.population_loss, 0.0, f"d={d}: and does not generalise", strict=True)


def _spanning_integers(trial: Trial, d: int) -> np.ndarray:
    """d(d+1)/2 integer samples whose outer products are independent (exactly)."""
    while True:
        X = trial.rng.integers(-5, 6, size=(sample_threshold(d), d))
        if spans_symmetric(X):
            return np.asarray(X)


@claim(
    "001",
    "Corollary 2.7",
    "Theorem 2.6 with positive outer weights; part (b) needs a teacher of rank d.",
    control=("an indefinite teacher", {"sign": -1.0}),
    printed=("(b) for every teacher: W* = 0", {"teacher_rank": 0}),
)
def corollary_2_7(trial: Trial, sign: float = 1.0, teacher_rank: int | None = None) -> Iterator[Outcome]:
    """Constructed interpolators with the teacher's positive outer weights."""
    for d in (2, 3, 4):
        for _ in trial.times(2, 10):
            m = d + 2
            a = trial.rng.uniform(0.5, 2.0, m)
            a[0] *= sign
            W = planted(trial.rng, m, d) * (1.0 if teacher_rank is None else 0.0)
            X = trial.rng.standard_normal((sample_threshold(d) - 1, d))
            found = bad_interpolator(sh.Network(W, a), X)
            positive = bool(np.all(found.network.a > 0))
            yield fact(positive, f"d={d}: positive outer weights")
            scale = float(np.abs(sh.Network(W, a)(X)).max())
            yield equal(found.largest_residual / scale, 1e-9, f"d={d}: {found!r} interpolates")
            yield at_least(found.population_loss, 0.0, f"d={d}: generalisation error", strict=True)
            full = np.vstack([X, trial.rng.standard_normal((1, d))])
            yield fact(bool(spans_symmetric(full)), f"d={d}: one sample more determines the function")


@claim(
    "001",
    "Theorem 2.8",
    "d(d+1)/2 samples with a density span the symmetric matrices almost surely; fewer never do.",
    control=("samples on a quadric: unit vectors and one more form", {"on_quadric": True}),
)
def theorem_2_8(trial: Trial, on_quadric: bool = False) -> Iterator[Outcome]:
    """Exact ranks on random rational samples and on the proof's prime points."""
    for d in (2, 3, 4, 5):
        n_star = sample_threshold(d)
        for _ in trial.times(3, 20):
            X = trial.rng.integers(-10_000, 10_001, size=(n_star, d))
            if on_quadric:
                X[:, 0] = X[:, 1]
            yield proof(bool(spans_symmetric(X)), f"d={d}: {n_star} random integer samples")
            yield proof(not spans_symmetric(X[:-1]), f"d={d}: {n_star - 1} never span")
        span = spans_symmetric(prime_points(d).tolist())
        yield proof(bool(span), f"d={d}: the prime points of the proof, {span!r}")


@claim(
    "001",
    "Theorem 2.9",
    "n ≥ d(d+1)/2: interpolators generalise; below, one has L(W) ≥ 2σ_min(W*)⁴ (Gaussian data).",
    control=("below the threshold, claimed to generalise", {"fewer": 1}),
)
def theorem_2_9(trial: Trial, fewer: int = 0) -> Iterator[Outcome]:
    """Trained interpolators at the threshold, constructed ones for every smaller number of samples."""
    for d in (2, 3, 4):
        n_star = sample_threshold(d)
        W = planted(trial.rng, d + 1, d)
        X = trial.rng.standard_normal((n_star, d))
        population = sh.Problem(sh.Network(W), sh.Gaussian(d), d + 1, outer="ones")
        problem = sh.Problem(sh.Network(W), sh.Samples(X[: n_star - fewer]), d + 1, outer="ones")
        energy = float(population.value(np.zeros(population.size)))
        for _ in trial.times(2, 10):
            start = sh.Network(trial.rng.standard_normal((d + 1, d)))
            run = sh.descend(problem, start, method="lm", tolerance=1e-11 * energy)
            if run.loss < 1e-20 * energy:
                error = population.loss(run.network) / energy
                yield equal(
                    error, 1e-8, f"d={d}, {n_star - fewer} samples: generalisation error of an interpolator"
                )
        sigma = float(np.linalg.svd(W, compute_uv=False)[-1]) ** 4
        for count in range(1, n_star):
            found = bad_interpolator(sh.Network(W), X[:count])
            yield at_least(
                population.loss(found.network) / sigma, 2.0 - 1e-9, f"d={d}, {count} samples: {found!r}"
            )


@claim(
    "001",
    "Theorem 3.1",
    "A polynomial is identically zero, or its zero set has measure zero.",
    control=("the zero polynomial", {"zero": True}),
)
def theorem_3_1(trial: Trial, zero: bool = False) -> Iterator[Outcome]:
    """Random integer points are no zeros, and on a grid of L^n points at most d·L^(n−1) are (Schwartz and Zippel)."""
    for n, d in ((2, 3), (3, 2), (3, 4)):
        for _ in trial.times(3, 20):
            entries = trial.rng.integers(-9, 10, coordinates.dimension(n, d)).astype(float) * (
                0.0 if zero else 1.0
            )
            form = sh.SymmetricTensor(entries, n, d)
            side = np.arange(1, 12)
            grid = np.array(list(product(side, repeat=n)), dtype=float)
            zeros = int(np.sum(np.abs(form(grid)) < 1e-9))
            yield at_least(
                d * len(side) ** (n - 1), zeros, f"n={n}, d={d}: {zeros} zeros among {len(grid)} points"
            )


@claim(
    "001",
    "Theorem 3.2",
    "AᵀA = BᵀB iff A = QB with Q orthogonal.",
    control=("different Gram matrices", {"stretch": 1e-2}),
)
def theorem_3_2(trial: Trial, stretch: float = 0.0) -> Iterator[Outcome]:
    """The rotation found by `fiber_path`'s networks (outer weights one), and by a polar decomposition."""
    for m, d in ((3, 3), (4, 2), (5, 3)):
        for _ in trial.times(2, 15):
            B = trial.rng.standard_normal((m, d))
            Q, _ = np.linalg.qr(trial.rng.standard_normal((m, m)))
            A = (1 + stretch) * Q @ B
            same = np.abs(A.T @ A - B.T @ B).max() < 1e-9
            U, _, R = np.linalg.svd(A @ B.T)
            rotation = U @ R
            yield fact(bool(same), f"m={m}, d={d}: the Gram matrices agree")
            yield equal(
                float(np.abs(rotation @ B - A).max()),
                1e-9,
                f"m={m}, d={d}: A = QB by the polar decomposition",
            )
            if m > d:
                drift = sh.fiber_path(sh.Network(A), sh.Network(B)).drift(50)
                yield equal(drift, 1e-10, f"m={m}, d={d}: a path in the fiber joins them")
