"""Paper 000, appendix: fibers of quadratic networks (Theorem 37, Lemma 38) and spectral coordinates (Prop. 39)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from math import comb

import numpy as np

import shallows as sh
from shallows.questions.geometry.manifolds.spectral_map import spectral_differential
from shallows.support.checks import Array
from shallows.uses.papers.arjevani.instances import separated, symmetric
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, equal, fact


def _expected_components(positive: int, negative: int, width: int) -> int:
    """Theorem 37: none, two, 4·C(r, s₊), or one."""
    rank = positive + negative
    if rank > width:
        return 0
    if rank < width:
        return 1
    return 2 if 0 in (positive, negative) else 4 * comb(width, positive)


def _random_point_of_fiber(trial: Trial, S: Array, width: int) -> sh.Network:
    """A network with Σ a w wᵀ = S: spectral neurons in random order, moved by O(s₊) × O(s₋) with random signs."""
    values, vectors = np.linalg.eigh(S)
    kept = np.abs(values) > 1e-9
    values, vectors = values[kept], vectors[:, kept]
    rows, signs = [], []
    for sign in (1.0, -1.0):
        chosen = np.sign(values) == sign
        D = np.sqrt(np.abs(values[chosen]))[:, None] * vectors[:, chosen].T
        if len(D):
            Q, _ = np.linalg.qr(trial.rng.standard_normal((len(D), len(D))))
            rows.append((Q * trial.rng.choice([-1.0, 1.0], len(D))) @ D)
            signs += [sign] * len(D)
    W = np.vstack([*rows, np.zeros((width - len(signs), len(S)))])
    order = trial.rng.permutation(width)
    return sh.Network(W[order], np.array(signs + [0.0] * (width - len(signs)))[order])


@claim(
    "000",
    "Theorem 37",
    "The fiber over S has 0, 2, 4·C(r, s₊) or 1 components: rank above, at (semidefinite or not), below the width.",
    control=("one neuron more than the count is for", {"spare": 1}),
)
def theorem_37(trial: Trial, spare: int = 0) -> Iterator[Outcome]:
    """Components met by random points of the fiber, and a path inside it whenever two are in the same one."""
    for positive, negative in product(range(3), range(3)):
        rank = positive + negative
        if not rank:
            continue
        n = rank + 1
        signs = np.array([1.0] * positive + [-1.0] * negative)
        S = symmetric(trial.rng, np.append(separated(trial.rng, rank, signs), 0.0))
        for width in (rank - 1, rank, rank + 1):
            if width < 1:
                continue
            expected = _expected_components(positive, negative, width)
            found = sh.fiber_components(S, width)
            yield fact(
                found == expected,
                f"n={n}, signature ({positive}, {negative}), width {width}: {found} components",
            )
            if width >= rank:
                yield from _walk(trial, S, width + spare, expected)


def _walk(trial: Trial, S: Array, width: int, expected: int) -> Iterator[Outcome]:
    """Random pairs: joined exactly when their invariants agree; enough points meet every component."""
    count = len(trial.times(10 * expected, 30 * expected))
    points = [_random_point_of_fiber(trial, S, width) for _ in range(count)]
    met = {repr(sh.fiber_invariant(net)) for net in points}
    yield fact(
        len(met) == expected, f"width {width}: {count} random points meet {len(met)} of {expected} components"
    )
    for first, second in pairwise(points[:5]):
        same = repr(sh.fiber_invariant(first)) == repr(sh.fiber_invariant(second))
        try:
            drift = sh.fiber_path(first, second).drift(200)
        except sh.DifferentComponents as error:
            yield fact(not same, f"width {width}: no path, {error.invariant}")
        else:
            yield equal(drift, 1e-10, f"width {width}: a path inside the fiber")


@claim(
    "000",
    "Lemma 38",
    "If Σ αᵢwᵢwᵢᵀ = S, at least s₊ of the αᵢ are positive and at least s₋ negative.",
    control=("an outer weight with the wrong sign", {"flip": True}),
)
def lemma_38(trial: Trial, flip: bool = False) -> Iterator[Outcome]:
    """Random networks of random signs; the eigenvalues' signs are counted with a margin."""
    for n in (2, 3, 4, 6):
        for _ in trial.times(10, 200):
            width = int(trial.rng.integers(1, 2 * n))
            W, a = trial.rng.standard_normal((width, n)), trial.rng.choice([-1.0, 1.0], width)
            values = np.linalg.eigvalsh(sh.Network(W, a).tensor().to_matrix())
            large = 1e-9 * np.abs(values).max()
            plus, minus = int(np.sum(values > large)), int(np.sum(values < -large))
            signs = -a if flip else a
            enough = np.sum(signs > 0) >= plus and np.sum(signs < 0) >= minus
            yield fact(
                bool(enough),
                f"n={n}, width {width}: signature ({plus}, {minus}), signs {signs.astype(int).tolist()}",
            )


@claim(
    "000",
    "Proposition 39",
    "The differential of (α, U) ↦ Uᵀdiag(α)U has nullity #{i<j : αᵢ = αⱼ} + (n−r)·#{αᵢ = 0}.",
    control=("nullity 0 always", {"count_pairs": False}),
    printed=("nullity #{i<j : αᵢ = αⱼ}", {"count_zeros": False}),
)
def proposition_39(trial: Trial, count_pairs: bool = True, count_zeros: bool = True) -> Iterator[Outcome]:
    """Numerical rank of the differential at random frames, with repeated and with zero αᵢ."""
    for n, r in ((3, 2), (4, 2), (4, 3), (5, 3)):
        for _ in trial.times(4, 40):
            alpha = trial.rng.choice([-1.0, 0.0, 1.0, 2.0], r)
            Q, _ = np.linalg.qr(trial.rng.standard_normal((n, n)))
            J = spectral_differential(alpha, Q[:r])
            nullity = J.shape[1] - int(np.linalg.matrix_rank(J, tol=1e-9))
            pairs = sum(alpha[i] == alpha[j] for i in range(r) for j in range(i)) if count_pairs else 0
            zeros = (n - r) * int(np.sum(alpha == 0)) if count_zeros else 0
            yield fact(nullity == pairs + zeros, f"n={n}, r={r}, α = {alpha.tolist()}: nullity {nullity}")
