"""Lifting a segment of symmetric matrices to networks: eigenpairs followed in closed form, through every crossing.

Paper 000, Theorem 12, lifts S(t) = (1−t)S₀ + tS₁ to parameters by following the eigenpairs of S(t), which are
continuous only while the eigenvalues are distinct. The eigenpairs of the *pencil* (B, Δ), Δ = S₁ − S₀ and B = S(b) a
non-singular matrix of the line, do not depend on t: with Δ p = μ B p, pᵀBp = ε = ±1 and x the dual vectors,

    S(t) = Σ_real ε (1 + (t−b)μ) x xᵀ + Σ_pairs 2 Re[(1 + (t−b)μ) x xᵀ].

A real μ is a neuron with w = x fixed and a linear in t: it passes through zero without notice. A complex pair, with
1 + (t−b)μ = ρ e^{iφ} and e^{iφ/2} x = y + iz, is 2ρ(yyᵀ − zzᵀ): two neurons whose w turn by φ/2; ρ never vanishes and φ
stays in (−π, π). So the lift is analytic in t whatever the eigenvalues of S(t) do; one eigenproblem serves all t.
It exists unless the pencil is singular or defective, which a detour over a nearby matrix avoids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.questions.geometry.escape.pencils import Eigenpairs, eigenpairs
from shallows.questions.geometry.fibers.components import Spectrum, invariant_of
from shallows.questions.geometry.fibers.motions import Rows
from shallows.questions.geometry.paths import Segment, State, quadratic_energy
from shallows.support.arguments import typed
from shallows.support.checks import Array

#: Positions b on the line at which S(b) is tried as the matrix B: the middle, one in no special position, and others.
MIDDLE, GENERIC = 0.5, 0.4142
BASES = (0.0, 1.0, 0.25, 0.75, GENERIC, -1.0, 2.0)
#: |μ| above this says that S(b) is within 1e-3 of a singular matrix of the line: another b may do better.
FAR = 1e3
#: min|λ|/max|λ| of S(b): above REGULAR it serves as B (the lift then loses eight digits at most, and is refined), at or
#: below SINGULAR it counts as singular.
REGULAR, SINGULAR = 1e-8, 1e-10
#: Eigenvalues and terms below this share of the matrices are rounding.
NOISE = 1e-13
#: A lift is taken when τ at its ends is that exact, relatively to its energy, and the energy at most so many times the
#: matrices' norms.
ACCURACY, LARGEST_ENERGY = 1e-13, 1e4


@dataclass(frozen=True, eq=False, repr=False)
class EigenPath(Segment):
    """Networks with τ = (1−t)S₀ + tS₁. Neuron i sits in row `rows[i]`, with w turned over where `flips[i]` is −1.

    `pairs` are the eigenpairs of the pencil (S(b), S₁ − S₀), b = `base`.
    """

    label: str
    base: float
    pairs: Eigenpairs
    width: int
    rows: Rows
    flips: Array

    @cached_property
    def start(self) -> State:  # type: ignore[override]
        """The network of S₀."""
        return self.at(0.0)

    @cached_property
    def end(self) -> State:  # type: ignore[override]
        """The network of S₁."""
        return self.at(1.0)

    @cached_property
    def energy(self) -> float:
        """The largest Σ|aᵢ|‖wᵢ‖² on the way: at an end, as every |1 + (t−b)μ| is convex in t."""
        return max(quadratic_energy(self.start), quadratic_energy(self.end))

    @property
    def size(self) -> int:
        """How many neurons it uses."""
        return len(self.rows)

    def at(self, t: float) -> State:
        """The parameters at t."""
        pairs, shift = self.pairs, t - self.base
        beta = 1 + shift * pairs.mu_pair
        turned = np.exp(0.5j * np.angle(beta))[:, None] * pairs.x_pair
        radius = 2 * np.abs(beta)
        a, W = np.zeros(self.width), np.zeros((self.width, pairs.x_real.shape[1]))
        a[self.rows] = np.concatenate([pairs.epsilon * (1 + shift * pairs.mu_real), radius, -radius])
        W[self.rows] = self.flips[:, None] * np.vstack([pairs.x_real, turned.real, turned.imag])
        return a, W

    def seated_like(self, state: State, spectrum: Spectrum) -> EigenPath:
        """The same lift with its neurons in the rows, and turned over, so that it starts in the component of `state`.

        Rows are chosen to agree with the signs of a; when rank S₀ = width, a disagreeing orientation is mended by
        turning one neuron of that sign over. When the rank is lower, the fiber is connected and any seating will do.
        """
        a, W = (part[self.rows] for part in self.start)
        terms = np.abs(a) * (W * W).sum(axis=1)
        signs = np.where(terms > NOISE * terms.sum(), np.sign(a), 0.0)
        rows = _seats(signs, np.sign(state[0]))
        flips = self.flips.copy()
        if spectrum.rank == self.width:
            order = np.argsort(rows)
            here, there = invariant_of(a[order], W[order], spectrum), invariant_of(*state, spectrum)
            for sign in here.opposite_orientations(there):
                flips[np.flatnonzero(signs == sign)[0]] *= -1.0
        return replace(self, rows=rows, flips=flips)


@typed
def eigen_path(S0: Array, S1: Array, width: int) -> EigenPath | None:
    """The lift of the segment from S₀ to S₁; None when the pencil is too close to singular or defective.

    It is checked before it is returned: τ at both ends agrees with S₀ and S₁ to 1e-13 of Σ|aᵢ|‖wᵢ‖², and that sum is
    at most 10⁴ times the norms.

    >>> lift = eigen_path(np.diag([1.0, 2.0]), np.diag([2.0, 1.0]), width=2)   # the eigenvalues cross
    >>> a, W = lift.at(0.5)
    >>> ((W.T * a) @ W).round(12).tolist()
    [[1.5, 0.0], [0.0, 1.5]]
    """
    middle = np.linalg.eigh(_between(S0, S1, MIDDLE))
    base, pairs = _on_the_line(S0, S1, middle)
    if base is None:
        frame = _common_range(S0, S1, middle)
        if frame.shape[1] == len(S0):
            return None
        inside = frame.T @ S0 @ frame, frame.T @ S1 @ frame
        base, pairs = _on_the_line(*inside, np.linalg.eigh(_between(*inside, MIDDLE)))
        pairs = pairs.embedded(frame) if pairs else None
    if base is None or pairs is None:
        return None
    lift = EigenPath("follow the eigenpairs", base, pairs, width, np.arange(pairs.size), np.ones(pairs.size))
    return lift if _faithful(lift, S0, S1) else None


def _seats(signs: Array, wanted: Array) -> Rows:
    """An injection of neurons into rows that agrees with the wanted signs as often as possible."""
    rows = np.full(len(signs), -1, dtype=np.intp)
    for sign in (1.0, -1.0, 0.0):
        neurons, places = np.flatnonzero(signs == sign), np.flatnonzero(wanted == sign)
        count = min(len(neurons), len(places))
        rows[neurons[:count]] = places[:count]
    unseated = rows < 0
    free = np.ones(len(wanted), dtype=bool)
    free[rows[~unseated]] = False
    rows[unseated] = np.flatnonzero(free)[: int(np.sum(unseated))]
    return rows


def _common_range(S0: Array, S1: Array, middle: tuple[Array, Array]) -> Array:
    """An orthonormal basis of range S₀ + range S₁: outside it the pencil vanishes and no neuron is needed.

    `middle` are the eigenpairs of S(½), whose null space contains the common one.
    """
    values, vectors = middle
    floor = NOISE * float(np.linalg.norm(S0) + np.linalg.norm(S1))
    zero = np.abs(values) <= floor
    _, sizes, right = np.linalg.svd(S0 @ vectors[:, zero], full_matrices=False)
    return np.hstack([vectors[:, ~zero], vectors[:, zero] @ right[sizes > floor].T])


def _on_the_line(S0: Array, S1: Array, middle: tuple[Array, Array]) -> tuple[float | None, Eigenpairs | None]:
    """b and the eigenpairs of (S(b), S₁ − S₀); no b when the pencil is singular, no eigenpairs when it is defective."""
    Delta = S1 - S0
    base, pairs = None, None
    for base, values, vectors in _bases(S0, S1, middle):  # noqa: B007 (the last base tried is the answer)
        largest, pairs = eigenpairs(values, vectors, Delta)
        if pairs is not None or largest <= FAR:
            break
    return base, pairs


def _bases(S0: Array, S1: Array, middle: tuple[Array, Array]) -> Iterator[tuple[float, Array, Array]]:
    """b = ½, then b with S(b) definite or else best conditioned; with the eigenpairs of S(b) (`middle` for ½).

    A condition number says little: it may be the frame's. But where S(b) is close to being singular, a neighbour
    S(b − 1/μ) is singular: a large μ says that another b may do better. No b when S(b) is singular for every b.
    """
    quality = _quality(middle[0])
    if quality > REGULAR:
        yield MIDDLE, *middle
    elif quality <= SINGULAR and _quality(np.linalg.eigvalsh(_between(S0, S1, GENERIC))) <= SINGULAR:
        return  # singular at two points, one of them in no special position: on the whole line
    spectra = np.linalg.eigvalsh(np.stack([_between(S0, S1, base) for base in BASES]))
    qualities = [_quality(values) for values in spectra]
    best = max(qualities)
    if best > max(quality, SINGULAR):
        base = next(b for b, q in zip(BASES, qualities, strict=True) if q >= best / 2)
        yield base, *np.linalg.eigh(_between(S0, S1, base))


def _between(S0: Array, S1: Array, t: float) -> Array:
    """S(t)."""
    return (1 - t) * S0 + t * S1


def _quality(values: NDArray[np.floating[Any]]) -> float:
    """min|λ|/max|λ| of a matrix, and one more if it is definite; 2 for the empty matrix."""
    if not len(values):
        return 2.0
    size = np.abs(values)
    largest = float(np.max(size))
    ratio = float(np.min(size)) / largest if largest > 0.0 else 0.0
    return ratio + (ratio > REGULAR and bool(values[0] > 0.0 or values[-1] < 0.0))


def _faithful(lift: EigenPath, S0: Array, S1: Array) -> bool:
    size = float(np.linalg.norm(S0) + np.linalg.norm(S1))
    if lift.energy > LARGEST_ENERGY * size:
        return False
    gaps = [np.max(np.abs((W.T * a) @ W - S)) for (a, W), S in ((lift.start, S0), (lift.end, S1))]
    return bool(max(gaps) <= ACCURACY * max(lift.energy, size))
