"""Networks of a problem that realise a given tensor, with idle neurons at zero."""

from __future__ import annotations

import numpy as np

from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.stratum import RealPoint
from shallows.support.checks import Array

#: How far apart neurons are that stand for merged ones, relatively: their sum is off by 10⁻⁸ of it, and rounding of
#: terms that are 10⁴ times as large by 10⁻¹².
APART = 1e-4
#: The same for three: their sum is off by 10⁻⁶ of it, and terms are 10⁶ times as large.
THREE_APART = 1e-3


def realise(problem: Problem, vectors: Array, signs: Array) -> Network:
    """A network of the problem with tensor Σ signsᵢ vectorsᵢ^⊗d; signs are ±1, the other neurons are zero.

    With trained outer weights neurons carry aᵢ = signᵢ and the idle ones a = 0, w = 0; with fixed ones each term
    goes to a neuron whose sign fits, w scaled by |a|^(−1/d) (and reflected for odd d).
    """
    d, k = problem.degree, problem.width
    W, a = np.zeros((k, problem.n)), np.zeros(k)
    if problem.outer is None:
        W[: len(vectors)], a[: len(vectors)] = vectors, signs
        return Network(W, a, Power(d))
    a = problem.outer[0].copy()
    free = [i for i in range(k) if a[i] != 0]
    for vector, sign in zip(vectors, signs, strict=True):
        fits = free if d % 2 else [i for i in free if np.sign(a[i]) == sign]
        place = fits[0]
        free.remove(place)
        turn = sign * np.sign(a[place]) if d % 2 else 1.0
        W[place] = turn * vector / np.abs(a[place]) ** (1 / d)
    return Network(W, a, Power(d))


def are_networks(found: RealPoint, degree: int, idle: int) -> bool:
    """Whether merged neurons are a network after all, with idle ones: w²v = ((w + v)³ − (w − v)³ − 2v³)/6.

    w^(d−1)v needs d neurons; above degree 3 no width that is charted has so many.
    """
    return degree == 3 and found.limit and not len(found.triples) and idle >= len(found.merged)


def with_idle(found: RealPoint) -> tuple[Array, Array]:
    """Vectors and signs of a cubic whose merged pairs are three neurons each."""
    vectors = list(found.vectors * found.signs[:, None])
    for w, v in found.merged:
        vectors += [np.cbrt(1 / 6) * (w + v), np.cbrt(1 / 6) * (v - w), -np.cbrt(1 / 3) * v]
    return np.array(vectors), np.ones(len(vectors))


def nearly(found: RealPoint, degree: int) -> tuple[Array, Array]:
    """Vectors and signs of a point; for merged neurons those of two, or three, that are about to merge.

    With v = αw + u, u ⟂ w, w^(d−1)v is the limit of a₊(w + tu)^d − a₋(w − tu)^d, a± = 1/(2dt) ± α/2, which differs from
    it by t² (d−1)(d−2)/6 w^(d−3)u³ + ….
    Three are (f(t) − 2f(0) + f(−t))/(d(d−1)t²), f(t) = (w + tv + t²z)^d (`inward`).
    """
    vectors, signs = list(found.vectors), list(found.signs)

    def add(weight: float, direction: Array) -> None:
        turn = float(np.sign(weight)) if degree % 2 else 1.0
        vectors.append(turn * abs(weight) ** (1 / degree) * direction)
        signs.append(1.0 if degree % 2 else float(np.sign(weight)))

    for w, v in found.merged:
        along = float(v @ w) / float(w @ w)
        across = v - along * w
        t = APART / max(float(np.linalg.norm(across) / np.linalg.norm(w)), degree * abs(along))
        for side in (1.0, -1.0):
            add(side * (1 / (2 * degree * t) + side * along / 2), w + side * t * across)
    for turn, (w, v, u) in zip(found.turns.tolist(), found.triples, strict=True):
        z, size = turn * (degree - 1) / 2 * u, float(np.linalg.norm(w))
        bend = max(float(np.linalg.norm(v)) / size, float(np.sqrt(np.linalg.norm(z) / size)))
        t = THREE_APART / bend
        for side, share in ((1.0, 1.0), (0.0, -2.0), (-1.0, 1.0)):
            add(turn * share / (degree * (degree - 1) * t * t), w + side * t * v + side * side * t * t * z)
    for jet in found.jets:
        for direction, weight in zip(*jet.neurons(), strict=True):
            add(float(weight), direction)
    shape = (len(vectors), found.vectors.shape[1])
    return np.array(vectors).reshape(shape), np.array(signs)


def spectral_terms(matrix: Array, rank: int) -> tuple[Array, Array]:
    """Vectors and signs with S = Σ signᵢ vᵢvᵢᵀ from the `rank` largest eigenvalues in absolute value."""
    values, vectors = np.linalg.eigh(matrix)
    chosen = np.argsort(-np.abs(values))[:rank]
    scaled = vectors[:, chosen] * np.sqrt(np.abs(values[chosen]))
    return np.asarray(scaled.T), np.sign(values[chosen])
