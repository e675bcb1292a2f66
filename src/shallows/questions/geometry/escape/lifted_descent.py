"""Theorem 12 of paper 000 as a path: d = 2, width ≥ n, from any network to the global minimum.

In function space the way is the segment from S to the minimiser S*, along which a convex loss does not increase. The
network first moves inside its fiber to the start of the segment's lift (`escape.eigenpaths`), whose rows
are seated so that both are in one component; then it follows the lift. Where the pencil (S, S*) is singular, or so
nearly defective that the lift leads through large networks, a alone is moved first, to an S′ of lower loss
(`escape.outer_descent`), and the segment from S′ is lifted.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.questions.geometry.escape.convex_losses import Landscape
from shallows.questions.geometry.escape.eigenpaths import EigenPath, eigen_path
from shallows.questions.geometry.escape.outer_descent import OuterDescent
from shallows.questions.geometry.fibers.components import Spectrum, matrix_of, tensor_of
from shallows.questions.geometry.fibers.fiber_path import join_in_fiber
from shallows.questions.geometry.paths import Segment, State, quadratic_energy

#: Lines in a that are tried before the best lift found is taken.
LINES = 12
#: A lift whose energy is below CALM √n (‖S‖ + ‖S*‖) is taken at once: its rounding is that of the matrices.
CALM = 8.0


def lifted_descent(
    landscape: Landscape,
    state: State,
    value: float,
    start: SymmetricTensor,
    goal: SymmetricTensor,
    rng: np.random.Generator,
) -> list[Segment] | None:
    """Segments from (a, W) to a network with tensor `goal` (or the lowest point towards it); None if all lifts fail.

    `value` and `start` are the loss and the tensor of (a, W).
    """
    width, S, low = len(state[0]), start.to_matrix(), landscape.descend_to(start, goal).to_matrix()
    direct = eigen_path(S, low, width)
    calm = CALM * np.sqrt(start.n) * float(np.linalg.norm(S) + np.linalg.norm(low))
    if direct is not None and direct.energy <= calm:
        return seated(state, direct)
    best: tuple[list[Segment], EigenPath] | None = None if direct is None else ([], direct)
    outer = OuterDescent(landscape, state, value, float(np.linalg.norm((goal - start).entries)), rng)
    for _ in range(LINES):
        line = outer.line()
        if line is None:
            break
        S = matrix_of(*line.end)
        if not landscape.exact:
            low = landscape.descend_to(tensor_of(S), goal).to_matrix()
        path = eigen_path(S, low, width)
        if path is not None and (best is None or path.energy < best[1].energy):
            best = [*outer.trail.segments, line], path
            if path.energy <= calm:
                break
    if best is None:
        return None
    segments, path = best
    return [*segments, *seated(segments[-1].end if segments else state, path)]


def seated(state: State, path: EigenPath) -> list[Segment]:
    """Segments inside the fiber from (a, W) to the lift, in the rows that suit (a, W), and then the lift."""
    spectrum = Spectrum.of(matrix_of(*state), max(quadratic_energy(state), path.energy))
    lift = path.seated_like(state, spectrum)
    return [*join_in_fiber(state, lift.start, spectrum), lift]
