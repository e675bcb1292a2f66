"""Paper 000, appendix: fibers of quadratic networks (Theorem 37, Lemma 38) and spectral coordinates (Prop. 39)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise, product
from math import comb

import flint
import numpy as np

import shallows as sh
from shallows.questions.geometry.fibers.components import Spectrum
from shallows.questions.geometry.manifolds.spectral_map import spectral_differential, spectral_nullity
from shallows.questions.geometry.paths import Straight
from shallows.support.checks import Array
from shallows.uses.papers.arjevani.instances import integer_network, separated, symmetric
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import DOUBLED, NEGATED, OFF_BY_ONE, Mutation
from shallows.uses.papers.outcome import Outcome, equal, fact, proof


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


def _component(net: sh.Network, S: Array) -> tuple[object, ...]:
    """Where rank = width, what no path in the fiber can change: the signs of a, and the orientation of each block.

    W₊ and W₋ are the rows of each sign, P₊ and P₋ the eigenvectors of S of that sign: det(W₊P₊) ≠ 0 on the fiber, since
    v = P₊x with W₊v = 0 would give vᵀSv ≤ 0.
    """
    values, vectors = np.linalg.eigh(S)
    blocks = []
    for sign in (1.0, -1.0):
        frame = vectors[:, values * sign > 1e-9]
        blocks.append(float(np.sign(np.linalg.det(net.W[net.a * sign > 0] @ frame))) if frame.size else 0.0)
    return (*np.sign(net.a), *blocks)


@claim(
    "000",
    "Theorem 37",
    "For every S in Sym²(Rⁿ) of signature (s₊, s₋) and every width r: the fiber τ_r⁻¹(S) has no component "
    "if rk S > r, one if rk S < r, two if rk S = r and S is semidefinite, 4·C(r, s₊) if rk S = r and S is not.",
    control=("one neuron more than the count is for", {"spare": 1}),
    tests={
        "shallows.fiber_components": (DOUBLED, OFF_BY_ONE),
        "shallows.fiber_invariant": (Mutation("all the same", lambda invariant: None),),
        "shallows.fiber_path": (
            Mutation("a straight line", lambda path: straight_line(path.start, path.end)),
            Mutation("only half of it", lambda path: straight_line(path.start, path(0.5))),
        ),
    },
)
def theorem_37(trial: Trial, spare: int = 0) -> Iterator[Outcome]:
    """Random S of every signature with s₊, s₋ ≤ 2, widths rk S − 1, rk S, rk S + 1: components met by random points of
    the fiber, told apart by signs and orientations; a path inside the fiber exactly where two points share them."""
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
            what = f"n={n}, signature ({positive}, {negative}), width {width}"
            yield fact(found == expected, f"{what}: {found} components")
            if width >= rank:
                yield from _walk(trial, S, width + spare, expected, width + spare == rank, what)


def _walk(trial: Trial, S: Array, width: int, expected: int, tight: bool, what: str) -> Iterator[Outcome]:
    """Random points meet every component; two of them are joined inside the fiber exactly when in the same one."""
    count = len(trial.times(15 * expected, 40 * expected))
    points = [_random_point_of_fiber(trial, S, width) for _ in range(count)]
    ours = [_component(net, S) if tight else () for net in points]
    frame = Spectrum.of(S)  # orientations are relative to one eigenbasis
    theirs = [repr(sh.fiber_invariant(net, frame)) for net in points]
    yield fact(
        len(set(ours)) == expected, f"{what}: {count} random points meet {len(set(ours))} of {expected}"
    )
    same = len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs))
    yield fact(same, f"{what}: `fiber_invariant` tells the same components apart")
    pairs = [*pairwise(range(3)), *_twins(ours)]
    for i, j in pairs:
        try:
            path = sh.fiber_path(points[i], points[j])
        except sh.DifferentComponents as error:
            yield fact(ours[i] != ours[j], f"{what}: no path, {error.invariant}")
        else:
            yield from stays_inside(path, points[i], points[j], S, what)


def _twins(components: list[tuple[object, ...]]) -> list[tuple[int, int]]:
    """The first two points of a common component."""
    return [
        pair for pair in combinations(range(len(components)), 2) if components[pair[0]] == components[pair[1]]
    ][:1]


def stays_inside(
    path: sh.Path, first: sh.Network, second: sh.Network, S: Array, what: str
) -> Iterator[Outcome]:
    """The path leads from one network to the other, in small steps, over the same matrix."""
    nets = [path(t) for t in np.linspace(0.0, 1.0, 101)]
    thetas = np.array([np.append(net.W.ravel(), net.a) for net in nets])
    ends = max(np.abs(nets[0].W - first.W).max(), np.abs(nets[-1].W - second.W).max(),
               np.abs(nets[0].a - first.a).max(), np.abs(nets[-1].a - second.a).max())  # fmt: skip
    yield equal(float(ends), 1e-9, f"{what}: the path has these ends")
    steps = np.linalg.norm(np.diff(thetas, axis=0), axis=1)
    length = max(float(steps.sum()), 1e-9)  # of two points that are one, the path stays there, to rounding
    yield equal(float(steps.max()) / length, 0.1, f"{what}: it has no jump")
    drift = max(float(np.abs((net.W.T * net.a) @ net.W - S).max()) for net in nets)
    yield equal(drift, 1e-9, f"{what}: it stays in the fiber")


def straight_line(start: sh.Network, end: sh.Network) -> sh.Path:
    """The line between two networks, which leaves the fiber."""
    return sh.Path([Straight("a line", (start.a, start.W), (end.a, end.W))], start.activation, 0.0)


@claim(
    "000",
    "Lemma 38",
    "For all (α, W) in the fiber of S, of signature (s₊, s₋): at least s₊ of the αᵢ are positive and at "
    "least s₋ negative.",
    control=("the outer weights with the wrong sign", {"flip": True}),
    tests={"shallows.Network.tensor": (Mutation("the wrong sign", lambda tensor: tensor * -1.0),)},
)
def lemma_38(trial: Trial, flip: bool = False) -> Iterator[Outcome]:
    """Random integer networks, n = 2, 3, 4, 6 and width below 2n; signs of eigenvalues from the exact characteristic
    polynomial, all of whose roots are real (Descartes' rule is then an equality)."""
    for n in (2, 3, 4, 6):
        for _ in trial.times(10, 200):
            net = integer_network(trial.rng, int(trial.rng.integers(1, 2 * n)), n, 2)
            plus, minus = _signature(net.tensor().to_matrix())
            signs = -net.a if flip else net.a
            enough = np.sum(signs > 0) >= plus and np.sum(signs < 0) >= minus
            what = f"n={n}, width {net.width}: signature ({plus}, {minus}), signs {np.sign(signs).astype(int).tolist()}"
            yield proof(bool(enough), what)


def _signature(S: Array) -> tuple[int, int]:
    """Numbers of positive and negative eigenvalues of a matrix of integers, exactly."""
    table = flint.fmpz_mat(len(S), len(S), [int(x) for x in S.ravel()])
    coefficients = [int(c) for c in table.charpoly().coeffs()]
    mirrored = [c * (-1) ** k for k, c in enumerate(coefficients)]
    return _sign_changes(coefficients), _sign_changes(mirrored)


def _sign_changes(coefficients: list[int]) -> int:
    signs = [c > 0 for c in coefficients if c]
    return sum(first != second for first, second in pairwise(signs))


@claim(
    "000",
    "Proposition 39",
    "For all α in R^r and orthonormal U in R^{r×n}: the differential of (α, U) ↦ Uᵀdiag(α)U has nullity "
    "#{i<j : αᵢ = αⱼ} + (n−r)·#{αᵢ = 0}.",
    control=("nullity 0 always", {"count_pairs": False}),
    printed=("nullity #{i<j : αᵢ = αⱼ}, also where some αᵢ = 0 and r < n", {"count_zeros": False}),
    tests={
        "shallows.questions.geometry.manifolds.spectral_map.spectral_differential": (
            DOUBLED,
            Mutation("the first column dropped", lambda J: J * (np.arange(J.shape[1]) > 0)),
        ),
        "shallows.questions.geometry.manifolds.spectral_map.spectral_nullity": (OFF_BY_ONE, NEGATED),
    },
)
def proposition_39(trial: Trial, count_pairs: bool = True, count_zeros: bool = True) -> Iterator[Outcome]:
    """Random frames, n ≤ 5, α with repeated entries, with zeros, and with neither: the rank of the differential, and
    the length of its first column, the unit tensor u₁ ⊗ u₁."""
    for n, r in ((3, 2), (4, 2), (4, 3), (5, 3)):
        Q, _ = np.linalg.qr(trial.rng.standard_normal((n, n)))
        U = Q[:r]
        for values in (
            [1.0] * r,
            [0.0] * r,
            list(range(1, r + 1)),
            *trial.rng.choice([-1.0, 0.0, 1.0, 2.0], (4, r)),
        ):
            alpha = np.array(values, dtype=float)
            J = spectral_differential(alpha, U)
            nullity = J.shape[1] - int(np.linalg.matrix_rank(J, tol=1e-9))
            pairs = sum(x == y for x, y in combinations(alpha, 2)) if count_pairs else 0
            zeros = (n - r) * int(np.sum(alpha == 0)) if count_zeros else 0
            what = f"n={n}, r={r}, α = {alpha.tolist()}: nullity {nullity}"
            yield fact(nullity == pairs + zeros, what)
            yield fact(spectral_nullity(alpha, n) == nullity, f"{what}, as `spectral_nullity` says")
            yield equal(
                float(abs(np.linalg.norm(J[:, 0]) - 1)), 1e-12, f"{what}: ∂/∂α₁ is the unit tensor u₁ ⊗ u₁"
            )
