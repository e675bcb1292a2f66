"""Neurons whose trained outer weight is 0, under the orthogonality penalty: the penalty sees them, the loss does not.

Beside a critical pair of neurons that span R, m neurons of weight 0 are critical when (P − I)V = 0 on their span V, and
tr_V E = 0, after a rotation among them. P then is the projection onto V beside what it is on R, V is orthogonal to R
(or the pair is one without them, `trained`): any V in R^⊥ on which E has trace 0, a hypersurface of a Grassmannian,

    dimension m(n − r − m) − 1,   real where the m smallest eigenvalues of E on R^⊥ sum to less than 0 and the m largest
                                  to more.

Where these sums vanish V is spanned by eigenvectors; where E vanishes on R^⊥ it is any subspace.

Second derivatives on the stratum, δ the common weight: beside those of the pair, rm + m(m+1)/2 positive ones of the
penalty, zeros along the hypersurface, and δ with the direction across it, 4δ⟨E, V dV⟩: one of each sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.real import seen_point, sort_neurons
from shallows.questions.charts.penalty.loss import PenalisedLoss
from shallows.questions.charts.penalty.students import PenalisedEquations, grouped, zero_diagonal
from shallows.questions.charts.penalty.trained import network_of, neurons_of, pair_of
from shallows.questions.charts.points.rows import FoundRow
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.support.checks import Array, counted

#: Zeros of a Hessian at points that are known to about this.
FLAT = 1e-6


def with_zero_weights(loss: PenalisedLoss, row: FoundRow, certify: bool) -> Iterator[FoundRow]:
    """The families and points with neurons of weight 0 beside a critical pair whose neurons all have others."""
    problem, r = loss.problem, row.rank
    n, top = problem.n, min(problem.width, problem.n)
    if r >= top:
        return
    complement = np.linalg.svd(neurons_of(row))[2][r:].T if r else np.eye(n)
    E = loss.slope(row.entries)
    none = POINT_ERROR * float(np.abs(loss.gram @ loss.target).max())
    values, vectors = np.linalg.eigh(complement.T @ E @ complement)
    values, frame = np.where(np.abs(values) <= none, 0.0, values), complement @ vectors
    for m in range(1, top - r + 1):
        low, high = float(values[:m].sum()), float(values[-m:].sum())
        if not values.any():
            yield from _anywhere(loss, row, frame, m, bool(np.abs(E).max() <= none), certify)
        elif low < -none and high > none:
            yield from _across(loss, row, frame, values, m, certify)
        else:
            ends = [(frame, values)] if abs(low) <= none else []
            ends += [(frame[:, ::-1], values[::-1])] if abs(high) <= none and m < len(values) else []
            yield from (_extreme(loss, row, *end, m) for end in ends)


def zero_weight_lines(loss: PenalisedLoss, points: int, rows: Sequence[FoundRow]) -> int:
    """How many isolated pairs have one neuron of weight 0, over the complex numbers: `points` are of rank n − 2.

    Beside each of these R^⊥ is a plane, on which E vanishes along two lines; where it vanishes on all of the plane, at
    some of the real ones, `rows`, any line will do.
    """
    if loss.problem.width < loss.problem.n - 1:
        return 0
    everywhere = sum(
        any(new.dimension for new in with_zero_weights(loss, row, False))
        for row in rows
        if row.rank == loss.problem.n - 2 and not row.dimension
    )
    return 2 * (points - everywhere)


def _added(loss: PenalisedLoss, row: FoundRow, V: Array) -> tuple[Array, Array]:
    """Outer weights and neurons with the rows of V, rotated until each zero weight is critical."""
    V = zero_diagonal(V, loss.slope(row.entries))
    a = row.network.a[np.any(row.network.W != 0, axis=1)]
    return np.concatenate([a, np.zeros(len(V))]), np.concatenate([neurons_of(row), V])


def _made(
    loss: PenalisedLoss,
    row: FoundRow,
    V: Array,
    signature: tuple[int, int, int] | None,
    dimension: int,
    kind: str = "saddle",
) -> FoundRow:
    a, W = _added(loss, row, V)
    m, total = len(V), dimension + row.dimension
    text = f"{counted(m, 'neuron')} of outer weight 0 on which the slope has trace 0, beside rank {row.rank}"
    return FoundRow(
        pair_of(a, W),
        network_of(loss, a, W),
        len(W),
        _seen(loss, a, W) if signature is None else signature,
        kind,
        None,
        total,
        (
            text if row.family is None else f"{text}: {row.family[0]}",
            () if row.family is None else row.family[1],
        )
        if total
        else None,
    )


def _seen(loss: PenalisedLoss, a: Array, W: Array) -> tuple[int, int, int]:
    """The signature on the stratum, from eigenvalues."""
    groups, x = grouped(a, W)
    system = NeuronSystem(PenalisedEquations.of(W.shape[1], groups), loss.exact)
    positive, zero, negative = seen_point(system, x, FLAT).signature
    return positive + int(loss.problem.norm_neuron), zero, negative


def _proved(loss: PenalisedLoss, row: FoundRow, certify: bool) -> FoundRow:
    """An isolated pair with a certificate, where Krawczyk's test gives one."""
    used = np.any(row.network.W != 0, axis=1)
    if not certify or row.dimension:
        return row
    groups, x = grouped(row.network.a[used], row.network.W[used])
    system = NeuronSystem(PenalisedEquations.of(loss.problem.n, groups), loss.exact)
    found = sort_neurons(system, x[None].astype(np.complex128), True).found
    proof = found[0].certificate if found else None
    return replace(row, certificate=None if proof is None else replace(proof, rank_certified=False))


def _across(
    loss: PenalisedLoss, row: FoundRow, frame: Array, values: Array, m: int, certify: bool
) -> Iterator[FoundRow]:
    """V between the smallest and the largest eigenvalues: a hypersurface, or two lines of a plane."""
    r, z = row.rank, len(values)
    dimension = m * (z - m) - 1
    positive, zero, negative = row.signature
    seen = (positive + r * m + m * (m + 1) // 2 + 1, zero + dimension, negative + 1)
    if not dimension:
        weights = np.sqrt(np.array([values[1], -values[0]]) / (values[1] - values[0]))
        for side in (1.0, -1.0):
            V = (frame @ (weights * [1.0, side]))[None]
            yield _proved(loss, _made(loss, row, V, seen, 0), certify)
        return
    yield _made(loss, row, _of_trace_zero(frame, values, m), seen, dimension)


def _of_trace_zero(frame: Array, values: Array, m: int) -> Array:
    """Rows of a V that is no special one: on the way from a random one to that of the extreme eigenvalues."""
    from scipy.optimize import brentq

    z = len(values)
    start = np.linalg.qr(np.random.default_rng([z, m]).standard_normal((z, m)))[0]

    def trace(V: Array) -> float:
        return float(np.sum(values[:, None] * V**2))

    end = np.eye(z)[:, :m] if trace(start) > 0 else np.eye(z)[:, z - m :]
    left, _, right = np.linalg.svd(end.T @ start)
    end = end @ left @ right

    def between(t: float) -> Array:
        return np.asarray(np.linalg.qr((1 - t) * start + t * end)[0])

    t = brentq(lambda t: trace(between(t)), 0.0, 1.0)
    return np.asarray((frame @ between(float(t))).T)


def _anywhere(
    loss: PenalisedLoss, row: FoundRow, frame: Array, m: int, flat: bool, certify: bool
) -> Iterator[FoundRow]:
    """E vanishes on R^⊥: any subspace of it. Where E = 0 all pairs on R ⊕ V count, and the widest are global minima."""
    n, r = loss.problem.n, row.rank
    used = r + m
    if flat and loss.problem.norm_neuron and used == n:
        return  # the target itself, listed already
    z = frame.shape[1]
    turned = np.linalg.qr(np.random.default_rng([z, m]).standard_normal((z, z)))[0]
    V = (frame @ turned[:, :m]).T
    dimension = m * (z - m)
    kind = "global minimum" if flat and used == min(loss.problem.width, n) else "saddle"
    seen = None
    if flat:
        positive = used * (used + 1) + r * (n - used) + int(loss.problem.norm_neuron)
        seen = (positive, dimension + row.dimension, 0)
    yield _proved(loss, _made(loss, row, V, seen, dimension, kind), certify)


def _extreme(loss: PenalisedLoss, row: FoundRow, frame: Array, values: Array, m: int) -> FoundRow:
    """V of the first m eigenvalues, which sum to 0: alone, but for eigenvalues equal to the last of them."""
    cut = np.isclose(values, values[m - 1], rtol=FLAT, atol=FLAT * float(np.abs(values).max()))
    dimension = int(cut[:m].sum() * cut[m:].sum())
    return _made(loss, row, frame[:, :m].T, None, dimension)
