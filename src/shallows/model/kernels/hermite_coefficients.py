"""The Hermite coefficients c_j(α, s) = E[σ(α + s z) h_j(z)] of any activation.

By the trapezoidal rule on Hermite functions, which converges geometrically for analytic σ (Trefethen and Weideman
2014) and needs no more nodes for high j. Terms are computed a block at a time, until the last of them and what
Parseval says is missing are down to rounding.

At α = 0 they depend on the length s alone, and analytically so on s > 0 for the usual activations: on each octave
[2^e, 2^(e+1)] they are computed at Chebyshev points once, and interpolated. The last coefficients of the Chebyshev
series bound what interpolation leaves out; where that is more than rounding, every neuron gets its own quadrature.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from shallows.model.activations import Activation
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON

#: The most terms of a series. Measured for nine digits of a kernel: tanh needs 56, 384 and 930 at neurons of length 1,
#: 3 and 5, the logistic function 992 at length 12; derivatives need more. Longer neurons are refused.
TERMS = 2000
#: Where a series may stop: after so many terms, by doubling.
BLOCKS = (64, 128, 256, 512, 1024, TERMS)
#: Terms beyond the last that derivatives of order up to four take.
MARGIN = 4
#: The trapezoidal rule's nodes: √φ is 3e-19 at the ends, and the step resolves frequencies up to 2π/0.02 = 314, seven
#: times the highest, √2004, of the Hermite functions of these degrees.
STEP, REACH = 0.02, 13.0
#: A series has ended when the last quarter of its terms is below this, relative to √Eσ²: their rounding (a few 1e-17
#: each, measured) is all that further terms would add.
ENDED = 1e-15
#: …and Parseval misses no more than this of Eσ²: the rounding of two sums of some thousand terms. A part that is
#: smaller and of higher degree than any of the terms is not seen; in a kernel it weighs at most as much.
NOTHING_MISSING = 64 * EPSILON
#: Chebyshev points of an octave. Coefficients are analytic on Re s > 0 (tanh) or |arg s| < π/4 (erf): the series decays
#: at least like 4.5^−m there, 2e-21 at the end.
POINTS = 32
#: The last Chebyshev coefficients of an octave may be this much of √Eσ²: rounding of the 32 values (measured: 1e-15).
INTERPOLATED = 1e-14
#: Octaves that are tabulated; beyond them the activation is a line or a step, and few networks have such neurons.
OCTAVES = range(-10, 10)


class Coefficients(NamedTuple):
    """c_j, E σ², and a bound on the error of the c_j beyond rounding: quadrature and interpolation."""

    values: Array
    energy: Array
    error: Array


def coefficients(activation: Activation, shift: Array, scale: Array) -> Coefficients:
    """The series of a batch of neurons, by table where there is one."""
    exponents = np.frexp(scale)[1] - 1
    present = [int(e) for e in np.unique(exponents)]
    if np.any(shift) or not np.all(scale > 0) or any(e not in OCTAVES for e in present):
        return by_quadrature(activation, shift, scale)
    tables = {e: octave(activation, e) for e in present}
    if any(table is None for table in tables.values()):
        return by_quadrature(activation, shift, scale)
    return _joined(
        [(exponents == e, table(scale[exponents == e])) for e, table in tables.items() if table], scale.shape
    )


def _joined(parts: list[tuple[Array, Coefficients]], shape: tuple[int, ...]) -> Coefficients:
    """One batch from those of several octaves; shorter series end in zeros."""
    if len(parts) == 1:
        (_, only) = parts[0]
        return Coefficients(
            only.values.reshape(*shape, -1), only.energy.reshape(shape), only.error.reshape(shape)
        )
    longest = max(part.values.shape[-1] for _, part in parts)
    values, energy, error = np.zeros((*shape, longest)), np.empty(shape), np.empty(shape)
    for where, part in parts:
        padded = np.zeros((*part.energy.shape, longest))
        padded[..., : part.values.shape[-1]] = part.values
        values[where], energy[where], error[where] = padded, part.energy, part.error
    return Coefficients(values, energy, error)


class Octave:
    """c_j(s) on 2^e ≤ s ≤ 2^(e+1), through its values at Chebyshev points."""

    def __init__(self, nodes: Array, at_nodes: Coefficients, error: float) -> None:
        self.nodes = nodes
        self.weights = np.where(np.arange(POINTS) % 2, -1.0, 1.0) * np.where(
            np.isin(np.arange(POINTS), (0, POINTS - 1)), 0.5, 1.0
        )
        self.table = np.concatenate([at_nodes.values, at_nodes.energy[:, None]], axis=-1)
        self.error = error

    def __call__(self, scale: Array) -> Coefficients:
        """The barycentric formula (Berrut and Trefethen 2004)."""
        distance = scale[..., None] - self.nodes
        hit = distance == 0
        ratio = self.weights / np.where(hit, 1.0, distance)
        ratio = np.where(np.any(hit, axis=-1, keepdims=True), hit, ratio)
        values = (ratio / np.sum(ratio, axis=-1, keepdims=True)) @ self.table
        return Coefficients(values[..., :-1], values[..., -1], np.full(scale.shape, self.error))


@lru_cache(maxsize=128)
def octave(activation: Activation, exponent: int) -> Octave | None:
    """The table of an octave, or None where the coefficients are not analytic enough to be interpolated."""
    angles = np.pi * np.arange(POINTS) / (POINTS - 1)
    nodes = 2.0**exponent * (1.5 + 0.5 * np.cos(angles))
    at_nodes = by_quadrature(activation, np.zeros(POINTS), nodes)
    size = float(np.sqrt(np.max(at_nodes.energy)))
    last = _last_chebyshev_coefficients(at_nodes.values, angles)
    if last > INTERPOLATED * size:
        return None
    return Octave(nodes, at_nodes, float(np.max(at_nodes.error)) + last)


def _last_chebyshev_coefficients(values: Array, angles: Array) -> float:
    """The largest of the last three coefficients of the series Σ a_m T_m through the values at cos(angles)."""
    ends = np.where(np.isin(np.arange(len(angles)), (0, len(angles) - 1)), 0.5, 1.0)
    cosines = np.cos(np.outer(np.arange(len(angles) - 3, len(angles)), angles)) * ends
    return float(np.max(np.abs(cosines @ values))) * 2 / (len(angles) - 1)


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, list[tuple[Array, Array]]]:
    """Nodes z, and for each block of degrees j the even and the odd rows of weight·√φ(z)·ψ_j(z), ψ_j = h_j √φ."""
    z = np.arange(-REACH, REACH + STEP / 2, STEP)
    root = np.exp(-(z**2) / 4) / (2 * np.pi) ** 0.25
    functions = np.empty((TERMS + MARGIN, len(z)))
    functions[0], functions[1] = root, z * root
    for j in range(1, TERMS + MARGIN - 1):
        functions[j + 1] = (z * functions[j] - np.sqrt(j) * functions[j - 1]) / np.sqrt(j + 1)
    matrix = (STEP * root * functions).T
    ends = [count + MARGIN for count in BLOCKS]
    pieces = [matrix[:, start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return z, [(np.ascontiguousarray(piece[::2]), np.ascontiguousarray(piece[1::2])) for piece in pieces]


def by_quadrature(activation: Activation, shift: Array, scale: Array) -> Coefficients:
    """Terms until the series has ended; the error is the change when every second node is left out."""
    z, blocks = _rule()
    values = activation(shift[..., None] + scale[..., None] * z)
    if not np.all(np.isfinite(values)):
        raise InvalidProblem(f"{activation!r} is not finite on the range of w·x; a kernel needs E σ² < ∞.")
    first, second = np.ascontiguousarray(values[..., ::2]), np.ascontiguousarray(values[..., 1::2])
    even, odd = blocks[0]
    energy = first**2 @ even[:, 0] + second**2 @ odd[:, 0]
    terms, error = np.empty((*energy.shape, 0)), np.zeros(energy.shape)
    for even, odd in blocks:
        half, rest = first @ even, second @ odd
        terms = np.concatenate([terms, half + rest], axis=-1)
        error = np.maximum(error, np.max(np.abs(half - rest), axis=-1, initial=0.0))
        if _ended(terms, energy):
            break
    return Coefficients(terms, energy, error)


def _ended(terms: Array, energy: Array) -> bool:
    """The last quarter of the terms is rounding, and so is what Parseval misses."""
    last = np.max(np.abs(terms[..., -terms.shape[-1] // 4 :]), axis=-1)
    missing = energy - np.sum(terms**2, axis=-1)
    return bool(np.all(last <= ENDED * np.sqrt(energy)) and np.all(missing <= NOTHING_MISSING * energy))
