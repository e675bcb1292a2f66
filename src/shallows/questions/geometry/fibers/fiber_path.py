"""Paths inside a fiber of quadratic networks (paper 000, Theorem 37, made explicit).

Both networks go to a spectral form (`fibers.spectral_form`); the two forms are then joined: neurons change
places through an idle one until the signs of a agree, a reflection is undone by turning one neuron over while an idle
one carries its term, and a rotation in SO(s₊) × SO(s₋) does the rest. Where rank S = n = width the element of O(p, q)
that joins them is unique and is used directly. The printed path (35) does not keep the sum;
here two parallel neurons share one term as (1−t)α and tα with w fixed, which does.
"""

from __future__ import annotations

import numpy as np

from shallows.model.network import Network
from shallows.questions.geometry.fibers.components import (
    DifferentComponents,
    Spectrum,
    invariant_of,
    matrix_of,
    quadratic_parameters,
)
from shallows.questions.geometry.fibers.motions import PlaneMotion, Rescale, Rows, in_rows, rotation_planes
from shallows.questions.geometry.fibers.spectral_form import boost_planes, to_spectral_form
from shallows.questions.geometry.paths import (
    ROUNDING_GAP,
    Path,
    Segment,
    State,
    Straight,
    Trail,
    distance,
    energy,
    quadratic_energy,
)
from shallows.support.checks import Array, finite_number
from shallows.support.errors import InvalidProblem, NotConverged

#: Networks whose matrices differ by more, relatively to Σ|aᵢ|‖wᵢ‖², are not in one fiber: given ones agree to 1e-13.
SAME_FUNCTION = 1e-10
#: The square of the gap that a straight line may close, relatively to Σ|aᵢ|‖wᵢ‖²: a quarter of it leaves the fiber, and
#: `drift` stays below 1e-10.
CLOSE = 1e-11


def fiber_path(net0: Network, net1: Network, tolerance: float = SAME_FUNCTION) -> Path:
    """A path from net0 to net1 along which τ(a, W) = Σᵢ aᵢ wᵢwᵢᵀ is constant (paper 000, Theorem 37).

    Networks that differ in τ by more than `tolerance` · Σ|aᵢ|‖wᵢ‖² raise InvalidProblem; networks in different
    components of the fiber raise `DifferentComponents`, which names the invariant that separates them. Along the path
    Σ|aᵢ|‖wᵢ‖² is never larger than at the ends, so rounding never exceeds that of the end points.

    >>> W = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> path = fiber_path(Network(W), Network(W[::-1]))
    >>> path.drift() < 1e-10
    True
    """
    first, second = quadratic_parameters(net0, "net0"), quadratic_parameters(net1, "net1")
    _require_one_fiber(net0, net1, finite_number("tolerance", tolerance, minimum=0.0))
    scale = max(energy(net0), energy(net1))
    calmer = first if energy(net0) <= energy(net1) else second
    spectrum = Spectrum.of(matrix_of(*calmer), scale)
    if spectrum.rank == net0.width:
        here, there = invariant_of(*first, spectrum), invariant_of(*second, spectrum)
        if here != there:
            raise DifferentComponents(here, there)
    segments = join_in_fiber(first, second, spectrum)
    return Path(segments or [Straight("stay", first, second)], net0.activation, float(net0.norm))


def join_in_fiber(first: State, second: State, spectrum: Spectrum) -> list[Segment]:
    """The segments from one point of the fiber to another in the same component."""
    if spectrum.rank == len(first[0]) == first[1].shape[1]:
        return _join_full_rank(first, second)
    trail, other = to_spectral_form(first, spectrum), to_spectral_form(second, spectrum)
    _match_signs(trail, np.sign(other.state[0]))
    _match_orientation(trail, other.state, spectrum)
    _rest(trail)
    _rotate(trail, other.state, spectrum)
    _close(trail, other.state, max(quadratic_energy(first), quadratic_energy(second)))
    return [*trail.segments, *(segment.reversed() for segment in reversed(other.segments))]


def _join_full_rank(first: State, second: State) -> list[Segment]:
    """rank S = n = width: W′ = M W with M ∈ O(p, q) unique. M = exp(P) K: rotate by K, then boost by P.

    ‖exp(tP)x‖² is convex in t, so Σ|aᵢ|‖wᵢ‖² is nowhere larger than at the ends.
    """
    trail, other = Trail(first), Trail(second)
    for half in (trail, other):
        half.add(Rescale.to_signs(half.state))
    a, W = trail.state
    M: Array = np.linalg.solve(W.T, other.state[1].T).T.astype(float, copy=False)
    plus, minus = np.flatnonzero(a > 0), np.flatnonzero(a < 0)
    if len(plus) and len(minus):
        boost = boost_planes(M[plus][:, minus], M[minus][:, minus], plus, minus, len(a))
        other.add(
            PlaneMotion.of("boost positive against negative neurons", other.state, *boost, hyperbolic=True)
        )
        M = PlaneMotion.of("", (a, M), *boost, hyperbolic=True).end[1]
    _turn_rows(trail, [(rows, M[rows][:, rows]) for rows in (plus, minus)])
    _close(trail, other.state, max(quadratic_energy(first), quadratic_energy(second)))
    return [*trail.segments, *(segment.reversed() for segment in reversed(other.segments))]


def _close(trail: Trail, target: State, scale: float) -> None:
    """A line over the rounding gap δ that is left; it leaves the fiber by at most |δ|²/4, far below `scale`."""
    gap = distance(trail.state, target)
    if gap**2 > CLOSE * scale:
        raise NotConverged(
            f"The two halves of the fiber path end {gap:.3g} apart: the networks are too unbalanced for double "
            "precision (Σ|a|‖w‖² is many orders of magnitude above the nuclear norm of S)."
        )
    trail.go(ROUNDING_GAP, *target)


def _require_one_fiber(net0: Network, net1: Network, tolerance: float) -> None:
    if (net0.width, net0.n) != (net1.width, net1.n):
        raise InvalidProblem(
            f"net0 has width {net0.width} and {net0.n} inputs, net1 width {net1.width} and {net1.n} inputs; a fiber "
            "holds networks of one shape. Fix: add idle neurons (a = 0) to the narrower one."
        )
    if net0.norm != net1.norm:
        raise InvalidProblem(f"The norm neurons differ ({net0.norm} and {net1.norm}); expected equal ones.")
    gap = float(np.max(np.abs(matrix_of(net0.a, net0.W) - matrix_of(net1.a, net1.W))))
    scale = max(energy(net0), energy(net1))
    if gap > tolerance * scale:
        raise InvalidProblem(
            f"The networks are not in one fiber: their matrices Σ a w wᵀ differ by up to {gap:.3g}, more than "
            f"{tolerance:g} · Σ|a|‖w‖² = {tolerance * scale:.3g}. A fiber path joins networks with the same function."
        )


# -- exchanging neurons through an idle one ----------------------------------------------------------------


def _lend(trail: Trail, source: int, hole: int, sign: float = 1.0, words: str = "exchange neurons") -> None:
    """w of the idle neuron becomes ± the source's (a = 0 there), then a moves over: (1−t)α and tα, w fixed."""
    a, W = trail.state
    W = W.copy()
    W[hole] = sign * W[source]
    trail.go(words, W=W)
    a = a.copy()
    a[hole], a[source] = a[source], 0.0
    trail.go(words, a=a)


def _turn_over(trail: Trail, row: int, hole: int) -> None:
    """w → −w for one neuron, an idle one carrying its term meanwhile."""
    _lend(trail, row, hole)
    _lend(trail, hole, row, -1.0, "turn a neuron over")


def _rest(trail: Trail) -> None:
    """w → 0 for every neuron with a = 0."""
    a, W = trail.state
    trail.go("let idle neurons rest", W=np.where((a == 0.0)[:, None], 0.0, W))


def _match_signs(trail: Trail, wanted: Array) -> None:
    """Move neurons through idle ones until the signs of a are the wanted ones (both have as many of each)."""
    while True:
        signs = np.sign(trail.state[0])
        wrong = signs != wanted
        if not np.any(wrong):
            return
        holes = np.flatnonzero(signs == 0)
        useful = holes[wanted[holes] != 0]
        if len(useful):
            hole = int(useful[0])
            source = int(np.flatnonzero(wrong & (signs == wanted[hole]))[0])
        else:
            hole = int(holes[0])
            source = int(np.flatnonzero(wrong & (signs != 0))[0])
        _lend(trail, source, hole)


# -- rotations -------------------------------------------------------------------------------------------


def _relative_rotation(state: State, target: State, spectrum: Spectrum, sign: int) -> tuple[Rows, Array]:
    """The rows of one sign, and R ∈ O with R W = W′ on them (W = K D, W′ = K′ D, R = K′Kᵀ)."""
    rows = np.flatnonzero(np.sign(state[0]) == sign)
    factor = spectrum.factor(sign)
    K, K_target = state[1][rows] @ factor, target[1][rows] @ factor
    left, _, right = np.linalg.svd(K_target @ K.T)
    return rows, left @ right


def _match_orientation(trail: Trail, target: State, spectrum: Spectrum) -> None:
    """Turn one neuron of a sign over when the rotation still to be made has determinant −1 there."""
    if not np.any(trail.state[0] == 0.0):
        return
    for sign in (1, -1):
        rows, R = _relative_rotation(trail.state, target, spectrum, sign)
        if len(rows) and np.linalg.det(R) < 0:
            _turn_over(trail, int(rows[0]), int(np.flatnonzero(trail.state[0] == 0.0)[0]))


def _rotate(trail: Trail, target: State, spectrum: Spectrum) -> None:
    """One rotation in SO(s₊) × SO(s₋) onto the target."""
    _turn_rows(trail, [_relative_rotation(trail.state, target, spectrum, sign) for sign in (1, -1)])


def _turn_rows(trail: Trail, rotations: list[tuple[Rows, Array]]) -> None:
    """Turn the neurons of each sign by a rotation of their rows, both at once."""
    width = len(trail.state[0])
    planes = []
    for rows, R in rotations:
        if len(rows) > 1:
            U, V, angles = rotation_planes(R)
            planes.append((in_rows(U, rows, width), in_rows(V, rows, width), angles))
    if planes:
        U, V = (np.hstack([plane[k] for plane in planes]) for k in (0, 1))
        angles = np.concatenate([plane[2] for plane in planes])
        trail.add(PlaneMotion.of("rotate within each sign", trail.state, U, V, angles))
