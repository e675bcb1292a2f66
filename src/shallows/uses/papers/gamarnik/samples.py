"""Paper 001, section 2.3: how many samples determine a quadratic network, and the two theorems it quotes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

import shallows as sh
from shallows.mathematics.exact.linear_algebra import integer_rank
from shallows.mathematics.tensors import coordinates
from shallows.questions.quadratic.interpolation import bad_interpolator
from shallows.questions.quadratic.sample_span import prime_points, sample_threshold, spans_symmetric
from shallows.support.checks import Array
from shallows.support.errors import NotConverged
from shallows.uses.papers.arjevani.fibers import stays_inside, straight_line
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.gamarnik.population import ROTATION, gaussian_risk, planted
from shallows.uses.papers.mutations import DOUBLED, OFF_BY_ONE, OPPOSITE, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof

#: How far from QW* some of the trainings begin.
NEAR = 0.2
#: The largest condition number of the samples' xxᵀ for training to tell: at 3·10⁵ (Corollary 2.7, seed 148) descent in
#: function space, whose equations square it, was at 10⁻¹⁴ of the energy after 10⁵ steps, and WᵀW a tenth off.
CONDITION = 1e3
SPAN = "shallows.questions.quadratic.sample_span.spans_symmetric"
THRESHOLD = "shallows.questions.quadratic.sample_span.sample_threshold"
BAD = "shallows.questions.quadratic.interpolation.bad_interpolator"
WRONG_INTERPOLATORS = (
    of_field("network", Mutation("larger", lambda net: sh.Network(1.1 * net.W, net.a))),
    Mutation("the teacher", lambda found: _the_teacher(found)),
)


def _the_teacher(found: Any) -> Any:
    """The interpolator without its wrong part: WᵀW − δM, from the loss and the bound that were given."""
    from dataclasses import replace

    V = np.sqrt(found.network.a)[:, None] * found.network.W
    S = V.T @ V - np.sqrt(found.bound / 2) * found.direction
    values, vectors = np.linalg.eigh(S)
    W = np.zeros_like(V)
    W[: len(S)] = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    return replace(found, network=sh.Network(W))


def _products(X: Any) -> np.ndarray:
    """The entries of xxᵀ on and above the diagonal, a row a sample, as exact integers."""
    d = X.shape[1]
    rows = [[int(x[i]) * int(x[j]) for i in range(d) for j in range(i, d)] for x in X.tolist() or [[0] * d]]
    return np.array(rows, dtype=object)


def _exact_span(X: Any) -> int:
    """The rank over Q of the matrices xxᵀ of integer samples."""
    return integer_rank(_products(X))


def _spanning_integers(trial: Trial, d: int) -> np.ndarray:
    """d(d+1)/2 integer samples whose outer products are independent, exactly, and not nearly dependent."""
    for _ in range(200):
        X = np.asarray(trial.rng.integers(-5, 6, size=(d * (d + 1) // 2, d)))
        if _exact_span(X) == len(X) and np.linalg.cond(_products(X).astype(float)) < CONDITION:
            return X
    raise NotConverged("200 draws of integer samples did not span the symmetric matrices well.")


def _interpolators(trial: Trial, W: Array, X: Array, count: int) -> list[sh.Network]:
    """Networks trained from random starts, and from starts near QW*, that fit all samples exactly; where the samples
    leave room, a constructed one."""
    m, d = W.shape
    problem = sh.Problem(sh.Network(W), sh.Samples(X.astype(float)), m, outer="ones")
    energy = float(problem.value(np.zeros(problem.size)))
    Q, _ = np.linalg.qr(trial.rng.standard_normal((m, m)))
    starts = [sh.Network(trial.rng.standard_normal((m, d))) for _ in range(count)]
    starts += [sh.Network(Q @ (W + NEAR * trial.rng.standard_normal((m, d)))) for _ in range(count)]
    runs = [sh.descend(problem, start, method="lm", tolerance=None) for start in starts]
    fits = [run.network for run in runs if run.loss < 1e-16 * energy]
    if _exact_span(X) < d * (d + 1) // 2:
        fits.append(bad_interpolator(sh.Network(W), X.astype(float)).network)
    return fits


def _gap(net: sh.Network, W: Array) -> float:
    """How far Σ a wwᵀ is from W*ᵀW*, over its largest entry."""
    S = (net.W.T * net.a) @ net.W
    return float(np.abs(S - W.T @ W).max() / np.abs(W.T @ W).max())


@claim(
    "001",
    "Theorem 2.6",
    "For samples xᵢ in R^d: if the xᵢxᵢᵀ span the symmetric matrices, every W with the outputs of W* on "
    "them is QW* with Q orthogonal; if they do not, then for every W* of rank d some W has those outputs, "
    "WᵀW ≠ W*ᵀW*, and positive risk.",
    control=("one sample fewer than the span needs, said to span", {"missing": 1}),
    tests={
        SPAN: (of_field("full", OPPOSITE), of_field("rank", OFF_BY_ONE)),
        BAD: WRONG_INTERPOLATORS,
        "shallows.descend": (
            of_field("network", Mutation("larger", lambda net: sh.Network(1.1 * net.W, net.a))),
        ),
    },
)
def theorem_2_6(trial: Trial, missing: int = 0) -> Iterator[Outcome]:
    """d = 2, 3, 4, m = d + 1, random W*; integer samples that span, exactly: trained interpolators have WᵀW = W*ᵀW*.
    With one sample fewer: `bad_interpolator` has the teacher's outputs and another function."""
    for d in (2, 3, 4):
        X = _spanning_integers(trial, d)
        W = planted(trial.rng, d + 1, d)
        given = X[: len(X) - missing]
        for samples in (X, X[:-1]):
            span = spans_symmetric(samples)
            yield proof(
                span.rank == _exact_span(samples) and bool(span) == (len(samples) == len(X)),
                f"d={d}: {span!r}",
            )
        fits = _interpolators(trial, W, given, len(trial.times(3, 10)))
        yield fact(bool(fits), f"d={d}: {len(fits)} interpolators were found")
        for net in fits:
            yield equal(_gap(net, W), 1e-5, f"d={d}: WᵀW of an interpolator of {len(given)} samples")
        yield from _bad(W, np.ones(d + 1), X[:-1], f"d={d}")


def _bad(W: Array, a: Array, X: Array, what: str) -> Iterator[Outcome]:
    """A network with positive outer weights, the teacher's outputs on the samples, and another function."""
    teacher = sh.Network(W, a)
    found = bad_interpolator(teacher, X.astype(float)).network
    outputs = ((X @ W.T) ** 2) @ a
    residual = np.abs(((X @ found.W.T) ** 2) @ found.a - outputs).max() / np.abs(outputs).max()
    yield fact(bool(np.all(found.a > 0)), f"{what}: positive outer weights")
    yield equal(float(residual), 1e-9, f"{what}: it has the teacher's outputs")
    V, U = np.sqrt(a)[:, None] * W, np.sqrt(found.a)[:, None] * found.W
    share = gaussian_risk(U, V) / gaussian_risk(0 * V, V)
    yield at_least(share, 1e-12, f"{what}: its risk is {share:.2g} of E y²")


@claim(
    "001",
    "Corollary 2.7",
    "Theorem 2.6 for pairs (a, W) with positive outer weights: (a) if the xᵢxᵢᵀ span, any interpolating "
    "pair computes the teacher's function; (b) if they do not and W* has rank d, some interpolating pair "
    "has positive risk.",
    control=("one sample fewer than (a) needs", {"missing": 1}),
    printed=("(b) for every teacher: W* = 0 and d samples that span R^d", {"zero_teacher": True}),
    tests={
        BAD: WRONG_INTERPOLATORS,
        SPAN: (of_field("full", OPPOSITE),),
        "shallows.descend": (
            of_field("network", Mutation("larger", lambda net: sh.Network(1.1 * net.W, net.a))),
        ),
    },
)
def corollary_2_7(trial: Trial, missing: int = 0, zero_teacher: bool = False) -> Iterator[Outcome]:
    """d = 2, 3, 4, m = d + 1, random positive a* and W*: (a) trained interpolators of spanning integer samples,
    their weights shared anew between a and W; (b) constructed ones. The printed case: (a, W) fits zero outputs only
    if Wxᵢ = 0 for all i."""
    for d in (2, 3, 4):
        a = trial.rng.uniform(0.5, 2.0, d + 1)
        W = planted(trial.rng, d + 1, d)
        V = np.sqrt(a)[:, None] * W
        X = _spanning_integers(trial, d)
        if zero_teacher:
            rank = integer_rank(X[:-1].astype(object))
            yield proof(
                rank < d, f"d={d}: {len(X) - 1} samples of rank {rank}: Wxᵢ = 0 for all i leaves W = 0 only"
            )
        yield proof(bool(spans_symmetric(X)) and not spans_symmetric(X[:-1]), f"d={d}: {len(X)} samples span")
        fits = _interpolators(trial, V, X[: len(X) - missing], len(trial.times(3, 10)))
        yield fact(bool(fits), f"d={d}: {len(fits)} interpolators were found")
        for net in fits:
            other = trial.rng.uniform(0.5, 2.0, d + 1)
            pair = sh.Network(net.W / np.sqrt(other)[:, None], other)
            yield equal(_gap(pair, V), 1e-5, f"d={d}: Σ a wwᵀ of an interpolating pair")
        yield from _bad(W, a, X[:-1], f"d={d}")


@claim(
    "001",
    "Theorem 2.8",
    "n* = d(d+1)/2: for n ≥ n* samples with a jointly continuous law the xᵢxᵢᵀ span the symmetric matrices "
    "with probability one; for n < n* they never do.",
    control=("samples on a hyperplane", {"on_plane": True}),
    tests={
        SPAN: (of_field("full", OPPOSITE), of_field("rank", OFF_BY_ONE)),
        THRESHOLD: (OFF_BY_ONE, DOUBLED),
        "shallows.questions.quadratic.sample_span.prime_points": (
            Mutation("the first point twice", lambda points: np.vstack([points[:1], points[:-1]])),
        ),
    },
)
def theorem_2_8(trial: Trial, on_plane: bool = False) -> Iterator[Outcome]:
    """d = 2 to 5: exact ranks at n* and n* − 1 random integer samples, and at the prime points of the proof, whose
    determinant is not zero: so that it is no zero polynomial, and its zeros have measure zero."""
    for d in (2, 3, 4, 5):
        n_star = d * (d + 1) // 2
        yield proof(sample_threshold(d) == n_star, f"d={d}: n* = {n_star}")
        for _ in trial.times(3, 20):
            X = trial.rng.integers(-10_000, 10_001, size=(n_star, d))
            if on_plane:
                X[:, 0] = X[:, 1]
            span = spans_symmetric(X)
            yield proof(
                bool(span) and span.rank == n_star == _exact_span(X),
                f"d={d}: {n_star} random integer samples",
            )
            yield proof(not spans_symmetric(X[:-1]), f"d={d}: {n_star - 1} never span")
        points = prime_points(d)
        span = spans_symmetric(points.tolist())
        yield proof(
            bool(span) and _exact_span(points) == n_star, f"d={d}: the prime points of the proof, {span!r}"
        )


@claim(
    "001",
    "Theorem 2.9",
    "For W* of rank d and n* = d(d+1)/2: (a) with n ≥ n* samples of a jointly continuous law, with "
    "probability one every interpolator computes W*'s function; (b) with n < n* samples of N(0, I_d), some "
    "interpolator has risk ≥ 2σ_min(W*)⁴.",
    control=("below the threshold, claimed to generalise", {"fewer": 1}),
    tests={
        BAD: WRONG_INTERPOLATORS,
        "shallows.descend": (
            of_field("network", Mutation("larger", lambda net: sh.Network(1.1 * net.W, net.a))),
        ),
    },
)
def theorem_2_9(trial: Trial, fewer: int = 0) -> Iterator[Outcome]:
    """d = 2, 3, 4, m = d + 1, random W*: interpolators trained on n* normal samples (rounded to 1/64, so that their
    span is exact); constructed ones for every smaller number of samples."""
    for d in (2, 3, 4):
        n_star = d * (d + 1) // 2
        W = planted(trial.rng, d + 1, d)
        X = np.round(64 * trial.rng.standard_normal((n_star, d))).astype(int)
        energy, sigma = gaussian_risk(0 * W, W), float(np.linalg.svd(W, compute_uv=False)[-1]) ** 4
        fits = _interpolators(trial, W, X[: n_star - fewer], len(trial.times(3, 10)))
        yield fact(bool(fits), f"d={d}: {len(fits)} interpolators were found")
        for net in fits:
            risk = gaussian_risk(net.W, W) / energy
            yield equal(risk, 1e-8, f"d={d}, {n_star - fewer} samples: the risk of an interpolator")
        for count in range(1, n_star):
            samples = X[:count] / 64
            found = bad_interpolator(sh.Network(W), samples).network
            gap = np.abs(np.sum((samples @ found.W.T) ** 2 - (samples @ W.T) ** 2, axis=1)).max()
            yield equal(
                float(gap / np.abs(samples @ W.T).max() ** 2), 1e-8, f"d={d}: it fits {count} samples"
            )
            yield at_least(
                gaussian_risk(found.W, W) / sigma, 2.0 - 1e-6, f"d={d}, {count} samples: the risk over σ⁴"
            )


@claim(
    "001",
    "Theorem 3.1",
    "For every polynomial P on R^ℓ: P is zero, or its zeros have measure zero.",
    control=("the zero polynomial", {"zero": True}),
    tests={"shallows.SymmetricTensor.__call__": (Mutation("always zero", lambda values: 0 * values),)},
)
def theorem_3_1(trial: Trial, zero: bool = False) -> Iterator[Outcome]:
    """Random integer forms, (ℓ, degree) = (2,3), (3,2), (3,4): on a grid of 11^ℓ points at most degree·11^(ℓ−1) are
    zeros (Schwartz and Zippel), in integers."""
    for n, d in ((2, 3), (3, 2), (3, 4)):
        for _ in trial.times(3, 20):
            entries = trial.rng.integers(-9, 10, coordinates.dimension(n, d)) | 1
            form = sh.SymmetricTensor((0 * entries if zero else entries).astype(float), n, d)
            side = np.arange(1, 12)
            grid = np.array(list(product(side, repeat=n)), dtype=float)
            zeros = int(np.sum(form(grid) == 0))
            yield proof(
                zeros <= d * len(side) ** (n - 1), f"n={n}, d={d}: {zeros} zeros among {len(grid)} points"
            )


@claim(
    "001",
    "Theorem 3.2",
    "For all A, B in R^{m×d}: AᵀA = BᵀB iff A = QB with Q in R^{m×m} orthogonal.",
    control=("different Gram matrices", {"stretch": 1.25}),
    tests={
        "shallows.fiber_path": (
            Mutation("a straight line", lambda path: straight_line(path.start, path.end)),
        ),
        "shallows.Network.tensor": (Mutation("the wrong sign", lambda tensor: tensor * -1.0),),
    },
)
def theorem_3_2(trial: Trial, stretch: float = 1.0) -> Iterator[Outcome]:
    """m = 4, d = 2, 3, 4, random integer B: A = QB with Q half a Hadamard matrix has BᵀB, exactly, and is the same
    network; from BᵀB alone, Q by a polar decomposition; for m > d a path in the fiber joins A and B."""
    for d in (2, 3, 4):
        for _ in trial.times(2, 15):
            B = np.vstack([trial.rng.integers(-5, 6, (3, d)), np.arange(1, d + 1)]).astype(float)
            A = stretch * ROTATION @ B
            tensor = sh.Network(A).tensor().to_matrix()
            yield proof(
                np.array_equal(A.T @ A, B.T @ B) and np.array_equal(tensor, B.T @ B), f"d={d}: AᵀA = BᵀB"
            )
            root = np.linalg.svd(B, full_matrices=False)
            C = np.vstack([(root[1][:, None] * root[2]), np.zeros((4 - d, d))])  # another factor of BᵀB
            U, _, R = np.linalg.svd(C @ B.T)
            yield equal(
                float(np.abs(U @ R @ B - C).max()), 1e-9, f"d={d}: C = QB for another factor C of BᵀB"
            )
            if d < 4:
                path = sh.fiber_path(sh.Network(A), sh.Network(B))
                yield from stays_inside(path, sh.Network(A), sh.Network(B), B.T @ B, f"d={d}")
