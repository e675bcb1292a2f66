"""Theorem 12 of paper 000 as a path: d = 2, width ≥ n, from any network to the global minimum.

In function space the way is the segment from S to the minimiser S*, along which a convex loss does not increase. The
network first moves inside its fiber to the start of the segment's lift (`shallows.geometry.eigenpaths`), whose rows
are seated so that both are in one component; then it follows the lift. Where the pencil (S, S*) is singular or
defective, the way is S → S′ → S* over a random S′ near the middle: the first leg is shortened until the loss falls
along it, and on the second it falls because S* is a minimiser.
"""

from __future__ import annotations

import numpy as np

from shallows._checks import Array
from shallows.coordinates import indices
from shallows.geometry.convex import Landscape
from shallows.geometry.eigenpaths import eigen_path
from shallows.geometry.fiber_path import join_in_fiber
from shallows.geometry.fibers import Spectrum
from shallows.geometry.paths import Segment, State
from shallows.tensors import SymmetricTensor

DETOURS = 40
LARGEST_NUDGE = 0.3
SMALLEST_NUDGE = 1e-3


def lifted_descent(
    landscape: Landscape,
    state: State,
    start: SymmetricTensor,
    goal: SymmetricTensor,
    rng: np.random.Generator,
) -> list[Segment] | None:
    """Segments from (a, W) to a network with tensor `goal` (or the lowest point towards it); None if all lifts fail."""
    goal = landscape.descend_to(start, goal)
    direct = lift(state, square(start), square(goal))
    if direct is not None:
        return direct
    nudge = LARGEST_NUDGE
    for _ in range(DETOURS):
        middle = _near_the_middle(start, goal, nudge, rng)
        if landscape.slope(middle, middle - start) > 0.0:
            nudge = max(nudge / 2, SMALLEST_NUDGE)
            continue
        first = lift(state, square(start), square(middle))
        if first is None:
            continue
        low = landscape.descend_to(middle, goal)
        second = lift(first[-1].end, square(middle), square(low))
        if second is not None:
            return [*first, *second]
    return None


def square(tensor: SymmetricTensor) -> Array:
    """The symmetric matrix of a tensor of degree 2, written straight from its entries."""
    rows, columns = indices(tensor.n, 2).T
    matrix = np.empty((tensor.n, tensor.n))
    matrix[rows, columns] = tensor.entries
    matrix[columns, rows] = tensor.entries
    return matrix


def lift(state: State, S0: Array, S1: Array) -> list[Segment] | None:
    """Segments from (a, W), with τ = S₀, over which τ stays S₀ and then runs along the segment to S₁."""
    path = eigen_path(S0, S1, len(state[0]))
    if path is None:
        return None
    energies = [float(np.sum(np.abs(a) * np.sum(W * W, axis=1))) for a, W in (state, path.start)]
    spectrum = Spectrum.of(S0, max(energies))
    seated = path.seated_like(state, spectrum)
    return [*join_in_fiber(state, seated.start, spectrum), seated]


def _near_the_middle(
    start: SymmetricTensor, goal: SymmetricTensor, nudge: float, rng: np.random.Generator
) -> SymmetricTensor:
    step = goal - start
    noise = rng.normal(size=len(step.entries))
    noise *= nudge * np.linalg.norm(step.entries) / np.linalg.norm(noise)
    return start + 0.5 * step + SymmetricTensor(noise, step.n, step.degree)
