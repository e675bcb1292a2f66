"""Critical tensors by least squares from many starts, and networks of low loss by descent.

All starts go at once, in floats and in units in which the inputs and the target are of size one. `critical` makes the
gradient of the loss in the neurons small (Levenberg-Marquardt), so it finds saddles as well as minima. `lowest` goes
down. Both only propose: `newton` decides what is a true critical point, `exact` what a network's loss is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import frexp
from typing import Any

import mpmath
import numpy as np
from tests.oracle.exact import Given, exponents
from tests.oracle.strata import Frames, Powers, Stratum

Array = Any
STARTS, ITERATIONS = 48, 80
#: A gradient below this, relative to its terms, is zero; a term below this, relative to the target, is no term.
SMALL, IDLE = 1e-9, 1e-5


@cache
def _raising(n: int, degree: int) -> Array:
    """R[x] maps the monomials of degree d−1 to the derivatives ∂_x of those of degree d: shape (n, N_{d−1}, N_d)."""
    upper, lower = exponents(n, degree), exponents(n, degree - 1)
    place = {e: k for k, e in enumerate(lower)}
    result = np.zeros((n, len(lower), len(upper)))
    for k, e in enumerate(upper):
        for x, power in enumerate(e):
            if power:
                result[x, place[tuple(p - (i == x) for i, p in enumerate(e))], k] = power
    return result


def monomials(V: Array, degree: int) -> Array:
    """The entries of v^⊗d, (…, n) → (…, N)."""
    table = np.array(exponents(V.shape[-1], degree)).reshape(-1, V.shape[-1])
    return np.prod(V[..., None, :] ** table, axis=-1)


@dataclass(frozen=True)
class Units:
    """The problem in floats, inputs and target of size one: s_I = scale^I · size · s′_I."""

    given: Given
    gram: Array
    target: Array
    scale: Array
    size: float

    @classmethod
    def of(cls, given: Given) -> Units:
        """Scales are powers of two, so that nothing is lost but the last rounding."""
        n, d = given.n, given.degree
        table = exponents(n, d)
        pure = [next(k for k, e in enumerate(table) if e[i] == d) for i in range(n)]
        # G ~ scale^(−2d)
        shift = [round(-_log2(given.gram[k][k]) / (2 * d)) for k in pure]
        weights = [sum(s * e for s, e in zip(shift, row, strict=True)) for row in table]
        two = Fraction(2)
        gram = [
            [x * two ** (weights[i] + weights[j]) for j, x in enumerate(row)]
            for i, row in enumerate(given.gram)
        ]
        target = [x / two ** weights[i] for i, x in enumerate(given.target)]
        largest = max((abs(x) for x in target), default=Fraction(0))
        power = round(_log2(largest)) if largest else 0
        return cls(
            given,
            np.array([[float(x) for x in row] for row in gram]),
            np.array([float(x / two**power) for x in target]),
            np.array([two**s for s in shift], dtype=object),
            float(power),
        )

    def restore(self, v: Array) -> Array:
        """A neuron v′ (outer weight ±1) in the problem's own units."""
        d = self.given.degree
        whole, part = divmod(self.size, d)
        factor = 2.0 ** (part / d)
        return np.array(
            [float(x) * factor * float(s) * 2.0**whole for x, s in zip(v, self.scale, strict=True)]
        )

    def derivatives(self, V: Array, signs: Array) -> tuple[Array, Array, Array, Array]:
        """Loss above the floor, gradient, Hessian and the size of the gradient's terms, at V of shape (B, r, n)."""
        n, d = self.given.n, self.given.degree
        B, r, _ = V.shape
        value = np.einsum("br,brN->bN", signs, monomials(V, d))
        gap = value - self.target
        c = gap @ self.gram
        loss = np.einsum("bN,bN->b", gap, c)
        first = np.einsum("brM,xMN->brxN", monomials(V, d - 1), _raising(n, d)) * signs[:, :, None, None]
        J = first.reshape(B, r * n, -1)
        gradient = 2 * np.einsum("bpN,bN->bp", J, c)
        terms = 2 * np.einsum(
            "bpN,bN->bp", np.abs(J), np.abs(gap) @ np.abs(self.gram) + np.abs(self.target) @ np.abs(self.gram)
        )
        hessian = 2 * np.einsum("bpN,NM,bqM->bpq", J, self.gram, J, optimize=True)
        second = np.einsum("yLM,xMN->xyLN", _raising(n, d - 1), _raising(n, d)) if d > 1 else None
        low = monomials(V, d - 2)
        bend = 2 * np.einsum("brL,xyLN,bN->brxy", low, second, c, optimize=True) * signs[:, :, None, None]
        for i in range(r):
            hessian[:, i * n : (i + 1) * n, i * n : (i + 1) * n] += bend[:, i]
        return loss, gradient, hessian, terms


def _log2(x: Any) -> float:
    """log₂ of a positive rational of any size."""
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    rest = x / 2**shift if shift >= 0 else x * 2**-shift
    return shift + frexp(float(rest))[1] - 1


def _patterns(given: Given, rank: int) -> list[tuple[int, ...]]:
    """Sign patterns of terms, up to their order; for odd degrees signs are part of the neurons."""
    if given.degree % 2:
        return [(1,) * rank]
    found = [tuple([1] * k + [-1] * (rank - k)) for k in range(rank + 1)]
    return [s for s in found if given.realisable(s.count(1), s.count(-1))]


@dataclass(frozen=True)
class Candidate:
    """A tensor that is critical to rounding: its coordinates in the problem's units, and its loss in `Units`."""

    stratum: Stratum
    p: Array
    entries: Array
    loss: float


def critical(units: Units, rank: int, rng: np.random.Generator, starts: int = STARTS) -> list[Candidate]:
    """Different critical tensors of one rank, lowest first."""
    given = units.given
    n = given.n
    patterns = _patterns(given, rank)
    if not patterns or not np.any(units.target):
        return []
    signs = np.array([patterns[i % len(patterns)] for i in range(starts)], float)
    V = _starts(units, rank, rng, starts)
    damping = np.full(starts, 1e-3)
    _, gradient, hessian, terms = units.derivatives(V, signs)
    unit = np.eye(rank * n)
    with np.errstate(all="ignore"):
        for _ in range(ITERATIONS):
            square = hessian @ hessian
            scale = np.einsum("bii->b", square) / (rank * n) + 1e-300
            left = square + (damping * scale)[:, None, None] * unit
            step = -_solve(left, np.einsum("bpq,bq->bp", hessian, gradient))
            trial = V + step.reshape(V.shape)
            new = units.derivatives(trial, signs)
            better = np.sum(new[1] ** 2, axis=1) < np.sum(gradient**2, axis=1)
            V = np.where(better[:, None, None], trial, V)
            gradient = np.where(better[:, None], new[1], gradient)
            hessian = np.where(better[:, None, None], new[2], hessian)
            terms = np.where(better[:, None], new[3], terms)
            damping = np.clip(np.where(better, damping / 5, damping * 4), 1e-18, 1e8)
    return _distinct(units, V, signs, gradient, terms)


def _solve(left: Array, right: Array) -> Array:
    try:
        return np.linalg.solve(left, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.array([np.linalg.lstsq(A, b, rcond=None)[0] for A, b in zip(left, right, strict=True)])


def _starts(units: Units, rank: int, rng: np.random.Generator, count: int) -> Array:
    n, d = units.given.n, units.given.degree
    V = rng.standard_normal((count, rank, n)) * 10 ** rng.uniform(-0.6, 0.3, (count, rank, 1))
    V[: count // 4] = rng.integers(-1, 2, (count // 4, rank, n)) * 0.8 + 0.02 * V[: count // 4]
    return V * float(np.max(np.abs(units.target))) ** (1 / d)


def _distinct(units: Units, V: Array, signs: Array, gradient: Array, terms: Array) -> list[Candidate]:
    d = units.given.degree
    length = np.sqrt(units.target @ units.gram @ units.target)
    found: list[Candidate] = []
    for v, sign, g, size in zip(V, signs, gradient, terms, strict=True):
        if not np.all(np.isfinite(v)) or not np.max(np.abs(g)) <= SMALL * np.max(size):
            continue
        powers = monomials(v, d)
        entries = sign @ powers
        if _collapsed(units, v, powers, entries, length):
            continue
        gap = entries - units.target
        loss = float(gap @ units.gram @ gap)
        near = [c for c in found if _length(units, c.entries - entries) < 1e-6 * length]
        if near:
            continue
        stratum, p = _coordinates(units, v, sign)
        found.append(Candidate(stratum, p, entries, loss))
    return sorted(found, key=lambda c: c.loss)


def _length(units: Units, s: Array) -> float:
    return float(np.sqrt(max(s @ units.gram @ s, 0.0)))


def _collapsed(units: Units, v: Array, powers: Array, entries: Array, length: float) -> bool:
    """Whether the tensor is of lower rank, or not told from it."""
    if _length(units, entries) < IDLE * length or any(
        _length(units, power) < IDLE * length for power in powers
    ):
        return True
    if len(v) == 1:
        return False
    if units.given.degree == 2:
        values = np.abs(np.linalg.eigvalsh(_matrix(entries, units.given.n)))
        return bool(
            np.sort(values)[::-1][len(v) - 1] < IDLE * max(values.max(), np.max(np.abs(units.target)))
        )
    unit = v / np.linalg.norm(v, axis=1, keepdims=True)
    cosines = np.abs(unit @ unit.T)[np.triu_indices(len(v), 1)]
    largest = max(_length(units, power) for power in powers)
    return bool(np.max(cosines) > 1 - 1e-4) or largest > 1e4 * length


def _matrix(entries: Array, n: int) -> Array:
    S = np.zeros((n, n))
    S[np.triu_indices(n)] = entries
    return S + np.triu(S, 1).T


def _coordinates(units: Units, v: Array, sign: Array) -> tuple[Stratum, Array]:
    given = units.given
    rows = np.array([units.restore(x) for x in v])
    if given.degree > 2 or len(v) == 1:
        return Powers(given.n, given.degree, tuple(int(s) for s in sign)), rows.ravel()
    scale = float(np.max(np.abs(rows)))
    S = np.einsum("r,ri,rj->ij", sign, rows / scale, rows / scale)
    frame, p = Frames.at(S, len(v))
    p[: len(v) * (len(v) + 1) // 2] *= scale * scale
    return frame, p


def lowest(
    units: Units, rng: np.random.Generator, starts: int = 24, iterations: int = 120
) -> tuple[Array, Array] | None:
    """(W, a) of the lowest network that descents of full width find, in the problem's own units."""
    given = units.given
    total = given.signs[2]
    patterns = _patterns(given, total) if total else []
    if not patterns:
        return None
    signs = np.array([patterns[i % len(patterns)] for i in range(starts)], float)
    V = _starts(units, total, rng, starts)
    radius = np.full(starts, 1.0)
    loss, gradient, hessian, _ = units.derivatives(V, signs)
    with np.errstate(all="ignore"):
        for _ in range(iterations):
            values, vectors = np.linalg.eigh(np.where(np.isfinite(hessian), hessian, 0.0))
            floor = 1e-10 * np.max(np.abs(values), axis=1, keepdims=True) + 1e-300
            along = np.einsum("bpq,bp->bq", vectors, gradient) / np.maximum(np.abs(values), floor)
            step = -np.einsum("bpq,bq->bp", vectors, along)
            length = np.linalg.norm(step, axis=1)
            step *= np.minimum(1.0, radius / np.maximum(length, 1e-300))[:, None]
            trial = V + step.reshape(V.shape)
            new = units.derivatives(trial, signs)
            better = new[0] < loss
            V = np.where(better[:, None, None], trial, V)
            loss = np.where(better, new[0], loss)
            gradient = np.where(better[:, None], new[1], gradient)
            hessian = np.where(better[:, None, None], new[2], hessian)
            radius = np.clip(np.where(better, radius * 2, radius / 4), 1e-12, 1e3)
    best = int(np.nanargmin(loss))
    rows = np.array([units.restore(x) for x in V[best]])
    if given.outer is None:
        return rows, signs[best]
    W, a = np.zeros((given.width, given.n)), np.array(given.outer, float)
    free = [i for i in range(given.width) if a[i]]
    for row, sign in zip(rows, signs[best], strict=True):
        place = next(i for i in free if given.degree % 2 or np.sign(a[i]) == sign)
        free.remove(place)
        turn = sign * np.sign(a[place]) if given.degree % 2 else 1.0
        W[place] = turn * row / abs(a[place]) ** (1 / given.degree)
    return W, a


def family_dimension(
    precise: Any, stratum: Stratum, p: Array, limit: float = 1e-11, step: float = 1e-2
) -> int:
    """In how many directions one can walk and stay critical (to `limit`): 0 for a point that is only degenerate.

    From p, a step along each null direction of the Hessian, then Newton steps that leave those directions out. Where
    that fails curves may cross at p: then steps in other null directions, and Newton steps that may go anywhere.
    """
    p0 = settled(precise, stratum, np.array([mpmath.mpf(x) for x in p]), 0)
    _, M, scales = _whitened(precise, stratum, p0)
    values, vectors = np.linalg.eigh(M)
    null = int(np.sum(np.abs(values) <= 1e-7 * max(1.0, np.max(np.abs(values)))))
    if not null or _folded(precise, stratum, p0, scales):
        return 0
    basis = vectors[:, np.argsort(np.abs(values))[:null]]
    length = step * float(max(abs(x / d) for x, d in zip(p0, scales, strict=True)))
    went = [u for u in basis.T if _walk(precise, stratum, p0, u * length, scales, null, limit) is not None]
    if len(went) == null or null == 1:
        return len(went)
    rng = np.random.default_rng(11)
    for _ in range(8):
        u = basis @ rng.standard_normal(null)
        q = _walk(precise, stratum, p0, u * (length / np.linalg.norm(u)), scales, 0, limit)
        if q is None:
            continue
        half = _walk(precise, stratum, p0, q / 2, scales, 0, limit)
        if half is not None and np.linalg.norm(half - q / 2) < 0.3 * np.linalg.norm(q):
            went.append(q / np.linalg.norm(q))
    return int(np.linalg.matrix_rank(basis.T @ np.array(went).T, tol=0.2)) if went else 0


def _folded(precise: Any, stratum: Stratum, p: Array, scales: Array) -> bool:
    """Whether coordinates change and the tensor does not: neurons that are parallel, a matrix of lower rank."""
    J = stratum.evaluate(p)[1] * scales
    metric = J.T.dot(precise.gram.dot(J))
    return bool(np.linalg.eigvalsh(np.array([[float(x) for x in row] for row in metric]))[0] < 1e-6)


def _walk(
    precise: Any, stratum: Stratum, p0: Array, u: Array, scales: Array, null: int, limit: float
) -> Array | None:
    """The step that was made in direction u and stays critical, or None."""
    q = settled(precise, stratum, p0 + np.array([mpmath.mpf(float(x)) for x in u]) * scales, null)
    went = np.array([float((x - y) / d) for x, y, d in zip(q, p0, scales, strict=True)])
    size = np.linalg.norm(u)
    far = abs(went @ u) > size**2 / 3 if null else size / 3 < np.linalg.norm(went) < 3 * size
    return went if far and precise.cosine(stratum, q) < limit else None


def settled(precise: Any, stratum: Stratum, q: Array, null: int) -> Array:
    """Newton steps that leave out the `null` flattest directions, or those that are flat."""
    for _ in range(12):
        g, M, scales = _whitened(precise, stratum, q)
        left, s, right = np.linalg.svd(M)
        keep = s > 1e-6 * max(s[0], 1.0)
        keep[len(s) - null :] = False
        change = -(right.T[:, keep] / s[keep]) @ (left.T[keep] @ g)
        q = q + np.array([mpmath.mpf(float(x)) for x in change]) * scales
    return q


def _whitened(precise: Any, stratum: Stratum, p: Array) -> tuple[Array, Array, Array]:
    """Gradient and Hessian in floats, in coordinates whose tangents have unit length (one by one)."""
    _, J, gradient, hessian = precise.derivatives(stratum, p)
    lengths = [column.dot(precise.gram.dot(column)) for column in J.T]
    scales = np.array([1 / mpmath.sqrt(x) if x > 0 else mpmath.mpf(1) for x in lengths])
    size = range(len(scales))
    M = np.array([[float(hessian[i, j] * scales[i] * scales[j]) for j in size] for i in size])
    return np.array([float(x) for x in gradient * scales]), M, scales
