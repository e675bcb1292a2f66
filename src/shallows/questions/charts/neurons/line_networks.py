"""Which critical functions of one direction are critical networks of two neurons a ⊗ p(t₁u·x) + b ⊗ p(t₂u·x).

At a critical function Σ C_j z^j, z = u·x, all e_m(z^j) vanish, e half the gradient of the loss. What is left are the
slopes of the neurons across u: with K_mj(y) = j e_m(z^(j−1) y) for y ⟂ u and p = Σ c_j z^j,

    Σ_j c_j t₁^(j−1) a·K_j(y) = 0 = Σ_j c_j t₂^(j−1) b·K_j(y),      C_j = c_j (a t₁^j + b t₂^j).

- *Two powers j < k, C of rank two*: a and b are determined by s_i = t_i^(k−j), and both equations are one, linear in
  s₁s₂ and s₁ + s₂:  c_k² (C_j·K_k) s₁s₂ − c_j c_k (C_k·K_k)(s₁ + s₂) − c_j² (C_k·K_j) = 0 for each y. In two inputs a
  curve of networks has this function, in three a pair; with j = 0 a constant beside a neuron always does.
- *One output*: t₁ and t₂ are common zeros of Σ c_j K_j(y) t^(j−1), and C is a combination of their powers.

Networks beside these have the same function and a slope unless all K vanish: critical ones are saddles then.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Numbers below this share of what they are differences of are zero: points are known to about 1e-10.
NOTHING = 1e-7
#: Scales t at which pairs are looked for when any will do.
SCALES = (0.5, 2.0, -1.0, 3.0, -0.5, 0.25)
#: Roots with an imaginary part below this share are real: double roots of slopes known to about 1e-10.
REAL_ROOT = 1e-5


@dataclass(frozen=True)
class Pair:
    """The scales and outer weights (M, 2) of two neurons; `still` says that no network of the function has a slope."""

    scales: tuple[float, float]
    outer: Array
    still: bool


def critical_pair(c: Array, degrees: tuple[int, ...], C: Array, K: Array, size: float) -> Pair | None:
    """A pair of real neurons for the function C (M, J), |u| = 1, with slopes K (n − 1, M, J), or none.

    `size` is what entries of K are differences of.
    """
    U, values, V = np.linalg.svd(C)
    still = bool(np.abs(K).max(initial=0.0) <= NOTHING * size)
    if len(values) > 1 and values[1] > NOTHING * values[0]:
        return _of_rank_two(c, degrees, C, K, size, still) if len(degrees) == 2 else None
    gamma = V[0] * values[0]
    pair = _of_rank_one(c, degrees, gamma, np.einsum("m,ymj->yj", U[:, 0], K), size, still)
    return None if pair is None else Pair(pair.scales, np.outer(U[:, 0], pair.outer[0]), pair.still)


def _outer(c: Array, degrees: tuple[int, ...], C: Array, scales: tuple[float, float]) -> Array | None:
    """a and b as columns; None where these neurons do not make C, or one is idle."""
    basis = np.array([c * np.array([t**j for j in degrees]) for t in scales])
    outer = np.linalg.lstsq(basis.T, C.T)[0].T
    parts = np.abs(outer).max(axis=0) * np.abs(basis).max(axis=1)
    off = float(np.abs(outer @ basis - C).max())
    if off > NOTHING * float(np.abs(C).max()) or parts.min() <= NOTHING * parts.max():
        return None
    return np.asarray(outer)


def _of_rank_two(
    c: Array, degrees: tuple[int, ...], C: Array, K: Array, size: float, still: bool
) -> Pair | None:
    (j, k), (first, second) = degrees, c
    A, B = C[:, 0], C[:, 1]
    unit = float(np.linalg.norm(B) / np.linalg.norm(A) * abs(first / second))
    rows = np.stack(
        [
            second**2 * (K[:, :, 1] @ A) * unit**2,
            -first * second * (K[:, :, 1] @ B) * unit,
            -(first**2) * (K[:, :, 0] @ B),
        ],
        axis=1,
    )
    scale = first**2 * size * float(np.linalg.norm(B))
    even = (k - j) % 2 == 0
    if j == 0:
        places = [(0.0, 1.0)]
    elif still:
        places = [(0.5, 2.0)]
    else:
        _, values, V = np.linalg.svd(rows)
        rank = int(np.count_nonzero(values > NOTHING * scale))
        places = _on_line(V[0], even) if rank <= 1 else _at_point(V[-1], even) if rank == 2 else []
    for pair in places:
        scales = tuple(float(np.sign(s)) * float(abs(s) * unit) ** (1 / (k - j)) for s in pair)
        outer = _outer(c, degrees, C, (scales[0], scales[1]))
        if outer is not None:
            return Pair((scales[0], scales[1]), outer, still)
    return None


def _on_line(row: Array, even: bool) -> list[tuple[float, float]]:
    """Pairs (s₁, s₂), s₁ ≠ s₂, with row·(s₁s₂, s₁ + s₂, 1) = 0: one of each interval of s₁ in which s₂ has one sign."""
    alpha, beta, gamma = row.tolist()
    breaks = [0.0]
    breaks += [-gamma / beta] if abs(beta) > TINY else []
    breaks += [-beta / alpha] if abs(alpha) > TINY else []
    turns = np.roots([alpha, 2 * beta, gamma]) if abs(alpha) > TINY else np.zeros(0)
    breaks += [float(z.real) for z in turns if abs(z.imag) <= REAL_ROOT * abs(z)]
    edges = sorted(breaks)
    middles = [(a + b) / 2 for a, b in pairwise(edges)]
    found = []
    for s in [*middles, edges[-1] + 1.0, edges[0] - 1.0]:
        below = alpha * s + beta
        if abs(below) <= TINY:
            continue
        other = -(beta * s + gamma) / below
        if s and other and s != other and not (even and (s < 0 or other < 0)):
            found.append((s, other))
    return sorted(found, key=lambda pair: abs(np.log(abs(pair[0] * pair[1]))))


def _at_point(point: Array, even: bool) -> list[tuple[float, float]]:
    """The pair with (s₁s₂, s₁ + s₂, 1) along `point`, if it is real."""
    product, total, one = point.tolist()
    if abs(one) <= NOTHING:
        return []
    product, total = product / one, total / one
    root = total**2 - 4 * product
    if root <= NOTHING * max(total**2, abs(product)):
        return []
    pair = ((total + np.sqrt(root)) / 2, (total - np.sqrt(root)) / 2)
    return [] if even and min(pair) <= 0 else [pair]


def _of_rank_one(
    c: Array, degrees: tuple[int, ...], gamma: Array, K: Array, size: float, still: bool
) -> Pair | None:
    """One output γ: pairs of zeros of the slopes, or any pair that makes γ where there are no slopes."""
    unit = _scale(c, degrees, gamma)
    if _is_one_neuron(c, degrees, gamma):
        return None
    if still or bool(np.abs(K).max(initial=0.0) <= NOTHING * size):
        candidates = [(t, s) for t in SCALES for s in _partners(c, degrees, gamma, t * unit)]
        pairs = [(t * unit, s) for t, s in candidates]
    else:
        scales = _common_zeros(c, degrees, K, size, unit)
        pairs = list(combinations(scales, 2))
    for pair in pairs:
        outer = _outer(c, degrees, gamma[None], pair)
        if outer is not None:
            return Pair(pair, outer, still)
    return None


def _scale(c: Array, degrees: tuple[int, ...], gamma: Array) -> float:
    """The t at which the powers of p are about as large as those of γ."""
    low, high = np.abs(gamma[[0, -1]] / c[[0, -1]]).tolist()
    if min(low, high) <= NOTHING * max(low, high):
        return 1.0
    return float((high / low) ** (1 / (degrees[-1] - degrees[0])))


def _is_one_neuron(c: Array, degrees: tuple[int, ...], gamma: Array) -> bool:
    """Whether γ = a p(tz) for real a and t."""
    t = _scale(c, degrees, gamma)
    for scale in (t, -t):
        row = c * np.array([scale**j for j in degrees])
        off = gamma - row * float(gamma @ row) / float(row @ row)
        if float(np.abs(off).max()) <= NOTHING * float(np.abs(gamma).max()):
            return True
    return False


def _partners(c: Array, degrees: tuple[int, ...], gamma: Array, t: float) -> list[float]:
    """Scales s for which γ is a combination of the powers at t and s."""
    if len(degrees) == 2:
        return [-t if (degrees[1] - degrees[0]) % 2 else 2.0 * t]
    normal = np.cross(gamma, c * np.array([t**j for j in degrees]))
    return _real_zeros(normal * c, degrees)


def _common_zeros(c: Array, degrees: tuple[int, ...], K: Array, size: float, unit: float) -> list[float]:
    """Zeros t of Σ c_j K_j(y) t^(j−1) for all y, and t = 0 where p is flat there and not zero."""
    own = [place for place, j in enumerate(degrees) if j]
    powers = tuple(degrees[place] - 1 for place in own)
    rows = K[:, own] * c[own]
    lead = rows[int(np.argmax(np.abs(rows).max(axis=1)))]
    sizes = size * np.abs(c[own])
    found = [0.0] if degrees[0] == 0 and 1 not in degrees else []
    for t in _real_zeros(lead, powers):
        scale = float(sizes @ np.array([abs(t) ** q for q in powers]))
        if np.abs(rows @ np.array([t**q for q in powers])).max() <= NOTHING * scale:
            found.append(t)
    return sorted(found, key=lambda t: abs(t - unit))


def _real_zeros(values: Array, powers: tuple[int, ...]) -> list[float]:
    """The real zeros but 0 of Σ values·t^powers."""
    full = np.zeros(powers[-1] - powers[0] + 1)
    full[np.array(powers) - powers[0]] = values
    roots = np.polynomial.polynomial.polyroots(np.trim_zeros(full, "b")) if full.any() else np.zeros(0)
    return [float(z.real) for z in roots if abs(z.imag) <= REAL_ROOT * abs(z) and z.real]
