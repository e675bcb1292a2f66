"""Escaping a point of the landscape: a path along which a convex loss never increases and at whose end it is lower.

Paper 000, section 2.2, for L = ℓ∘τ with ℓ convex and a trained:

- Theorem 12 (d = 2, width ≥ n): to the global minimum, by lifting the segment from S to the minimiser of ℓ;
- Theorem 9 (width ≥ dim Sym^d): to the global minimum, by linear algebra;
- Lemma 14: an idle neuron, or two parallel ones, lower the loss; Finding 4: so do dependent powers, and d + 1 neurons
  in a plane (`escape.dependent_neurons`), which at n = d = 3 is every critical point from width 4 on;
- Theorem 11 (n = 2, width ≥ ⌈(d+1)/2⌉): Lemma 14 at critical points; at all others dτ is onto, and the loss falls
  along lines in coordinates that do not degenerate on the way to infinity (`escape.merging_descent`);
- Theorem 37 with Lemma 14 (d = 2, rank S < width): the fiber is connected and contains a network with an idle neuron;
- any other point that is not critical: a straight step down, along −∇L or towards the minimiser;
- a strict saddle: a straight step along the Hessian's lowest eigenvector.

Elsewhere the theory is silent, and so is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.lowest import lowest_loss
from shallows.questions.geometry.escape.convex_losses import (
    ConvexLoss,
    GaussianLandscape,
    Landscape,
    LossLandscape,
    ProblemLandscape,
)
from shallows.questions.geometry.escape.dependent_neurons import free_by_relation, free_by_turning
from shallows.questions.geometry.escape.idle_neuron_descent import (
    free_a_neuron,
    rest_smallest_neuron,
    spend_idle_neuron,
)
from shallows.questions.geometry.escape.lifted_descent import lifted_descent
from shallows.questions.geometry.escape.merging_descent import merging_descent
from shallows.questions.geometry.escape.spanning_descent import spanning_descent
from shallows.questions.geometry.escape.straight_descent import best_step_down, step_along
from shallows.questions.geometry.fibers.components import Spectrum, matrix_of, tensor_of
from shallows.questions.geometry.fibers.spectral_form import to_spectral_form
from shallows.questions.geometry.paths import Path, Segment, State, Trail, energy
from shallows.support.checks import Array, describe
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator
from shallows.support.tolerances import EPSILON, SAME_LOSS

#: Values that agree to this share are equal to rounding: sums of a few dozen terms are exact to 50 ε or so.
ROUNDING = 1e-14
#: At a critical point found in floating point, neurons that are parallel (or idle) are so only to the square root
#: of what is left of the gradient, 1e-10 or so.
NEARLY_PARALLEL = NEARLY_IDLE = 1e-5
#: Points of a path at which the loss is checked not to rise, and how many roundings count as a rise (or a fall).
CHECKS, SURE = 200, 8.0
#: Eigenvalues of a Hessian above minus this share of the largest are not called negative. Measured in charts of 40
#: random matrices: minima have −4e-16 at the lowest, or −4e-10 where they are critical to 1e-9 of E y²; the mildest of
#: 59 saddles has −9e-3.
SADDLE = 1e-7


@dataclass(frozen=True)
class Escape:
    """A path and the theorem that gives it, or None and the reason; true when there is a path.

    >>> problem = sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), width=2)
    >>> saddle = sh.chart(problem).points[2]                    # rank one, a neuron is idle
    >>> escape = sh.explain_escape(problem, saddle.network)
    >>> escape.theorem, escape.path.labels
    ('Lemma 14', ('point the idle neuron', 'raise its weight'))
    """

    path: Path | None
    theorem: str
    reason: str

    def __bool__(self) -> bool:
        return self.path is not None

    def __repr__(self) -> str:
        if self.path is None:
            return f"Escape(none: {self.reason})"
        return f"Escape({self.theorem}: {self.reason}; {self.path!r})"


def escape_path(
    problem: Problem | ConvexLoss, net: Network, rng: int | np.random.Generator = 0
) -> Path | None:
    """A path from `net` along which the loss never increases and at whose end it is lower, or None.

    For convex ℓ and L = ℓ∘τ with a trained (paper 000, section 2.2): to the global minimum for d = 2 and width ≥ n
    (Theorem 12) or width ≥ dim Sym^d (Theorem 9); somewhere lower for n = 2 and width ≥ ⌈(d+1)/2⌉ (Theorem 11), from a
    network with an idle neuron or two parallel ones (Lemma 14), or with dependent powers or d + 1 neurons in a plane
    (Finding 4: every critical point for n = d = 3 and width ≥ 4), for d = 2 and rank < width (Theorem 37), and from any
    point that is not critical. Elsewhere the theory is silent, and the answer is None.

    `problem` is a Problem, or any convex loss on tensors: an object with value(tensor) and gradient(tensor), the
    Frobenius gradient. `explain_escape` also tells the theorem, or the reason for None.

    >>> problem = sh.Problem(np.eye(2), sh.Gaussian(2), width=2)
    >>> bad = sh.Network(np.zeros((2, 2)), a=[-1.0, -1.0])      # Example 15: a local minimum, but escapable
    >>> path = sh.escape_path(problem, bad)
    >>> f"{path.losses(5)[0]:.6f} {path.losses(5)[-1]:.6f}"
    '8.000000 0.000000'
    """
    return explain_escape(problem, net, rng).path


def explain_escape(problem: Problem | ConvexLoss, net: Network, rng: int | np.random.Generator = 0) -> Escape:
    """`escape_path` with the theorem that was used, or the reason why there is no path (paper 000, section 2.2).

    >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=2)
    >>> sh.explain_escape(problem, sh.Network([[1.0, 1.0], [1.0, -1.0]])).theorem
    'Theorem 12'
    >>> fixed = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=2, outer="ones")
    >>> sh.explain_escape(fixed, sh.Network([[1.0, 1.0], [1.0, -1.0]]))
    Escape(none: The outer weights are fixed; the theorems move a.)
    """
    source = generator(rng)
    refusal = _outside_the_theory(problem, net)
    if refusal:
        return Escape(None, "", refusal)
    tensor = tensor_of(matrix_of(net.a, net.W)) if net.activation == Power(2) else net.tensor()
    try:
        landscape = _landscape(problem, tensor)
    except InvalidProblem as error:
        if not isinstance(problem, Problem):
            raise
        return Escape(None, "", f"The loss has no minimiser in Sym^d(R^n) that is known here: {error}")
    if tensor.degree == 2 and net.width >= net.n:
        return _to_global_minimum(landscape, net, tensor, source, "Theorem 12")
    if net.width >= coordinates.dimension(net.n, tensor.degree):
        return _to_global_minimum(landscape, net, tensor, source, "Theorem 9")
    found = _somewhere_lower(landscape, net, tensor, source)
    if found.reason == SILENT and isinstance(problem, Problem):
        return _at_critical_point(problem, landscape, net, tensor)
    return found


# -- what the theory covers ------------------------------------------------------------------------------------


def _outside_the_theory(problem: Any, net: Any) -> str:
    """Why no theorem of section 2.2 applies, or an empty string; a typed error when the input makes no sense."""
    if not isinstance(net, Network):
        raise InvalidProblem(f"net is {describe(net)}; expected a Network.")
    if not isinstance(problem, Problem):
        if not isinstance(problem, ConvexLoss):
            raise InvalidProblem(
                f"problem is {describe(problem)}; expected a Problem, or an object with value(tensor) and "
                "gradient(tensor)."
            )
        if not isinstance(net.activation, Power) or net.a.ndim != 1 or np.any(net.norm):
            raise InvalidProblem(
                f"{net!r} is not a sum Σ a w^⊗d: a loss on tensors needs one output, a Power activation and no norm "
                "neuron."
            )
        return ""
    problem.pack(net)
    if problem.outer is not None:
        return "The outer weights are fixed; the theorems move a."
    if problem.orthogonality:
        return "The loss has an orthogonality penalty: it is not a function of the tensor alone."
    if problem.norm_neuron:
        return "The norm neuron is trained too: the theorems are about Σ a w^⊗d alone."
    if not isinstance(problem.activation, Power):
        return f"The activation is {problem.activation!r}; the theorems are about powers."
    if problem.outputs != 1:
        return f"There are {problem.outputs} outputs; the theorems are about one."
    return ""


def _landscape(problem: Problem | ConvexLoss, tensor: SymmetricTensor) -> Landscape:
    if not isinstance(problem, Problem):
        return LossLandscape(problem, tensor)
    return GaussianLandscape(problem) if GaussianLandscape.applies(problem) else ProblemLandscape(problem)


AT_THE_BOTTOM = "The network is a global minimum: the loss cannot be lowered (to rounding)."
SILENT = (
    "The network is critical, no neuron is idle, no two are parallel and no direction of negative curvature was found: "
    "the theory is silent here (it may be a global minimum, or a bad local one, Prop. 10)."
)
BAD_MINIMUM = (
    "The network is critical with a loss above the global minimum, and no direction of negative curvature was found: "
    "the theory is silent here (Prop. 10: there are bad local minima)."
)
BELOW_ROUNDING = (
    "Theorem 11 gives a path, but the loss falls along it by less than the rounding errors of a network in double "
    "precision: this is the minimum to rounding, or the neurons are so large that they cancel (a minimum at infinity, "
    "Example 19 and Remark 13)."
)
TOO_LARGE = (
    "The loss falls, but not beyond the rounding errors of a network in double precision: the neurons are so large "
    "that they cancel (a minimum at infinity, Example 19). Fix: train from a smaller start."
)


def _lowered(landscape: Landscape, net: Network, before: float, segments: list[Segment]) -> Path | None:
    """The path, if its end is lower than its start by more than rounding."""
    path = Path(segments, net.activation, 0.0, landscape.loss)
    after = landscape.loss(path.end)
    return path if before - after > ROUNDING * max(abs(before), abs(after)) else None


# -- wide networks: all the way down ------------------------------------------------------------------------


def _to_global_minimum(
    landscape: Landscape, net: Network, tensor: SymmetricTensor, rng: np.random.Generator, theorem: str
) -> Escape:
    state: State = (net.a, net.W)
    goal = landscape.minimiser(tensor)
    if _same_function(net, tensor, goal):
        return Escape(None, "", AT_THE_BOTTOM)
    before = landscape.loss(net)
    if theorem == "Theorem 12":
        segments = lifted_descent(landscape, state, before, tensor, goal, rng)
        how = f"d = 2 and width {net.width} ≥ n = {net.n}: the segment to the minimiser is lifted"
    else:
        segments = spanning_descent(state, landscape.descend_to(tensor, goal), rng)
        size = coordinates.dimension(net.n, tensor.degree)
        how = f"width {net.width} ≥ dim Sym^{tensor.degree}(R^{net.n}) = {size}: a line in a, once the powers span"
    if segments is None:
        return Escape(
            None, "", f"{theorem} applies, but the lift is too ill-conditioned for double precision."
        )
    path = _lowered(landscape, net, before, segments)
    return Escape(path, theorem, how) if path else Escape(None, "", AT_THE_BOTTOM)


def _same_function(net: Network, tensor: SymmetricTensor, goal: SymmetricTensor) -> bool:
    """Whether S is the minimiser up to the rounding of τ."""
    gap = float(np.max(np.abs(tensor.entries - goal.entries)))
    return gap <= ROUNDING * max(energy(net), float(np.max(np.abs(goal.entries))))


# -- narrow networks: one step down -------------------------------------------------------------------------


def _somewhere_lower(
    landscape: Landscape, net: Network, tensor: SymmetricTensor, rng: np.random.Generator
) -> Escape:
    """A way along which the loss as computed falls and never rises: an exact one, else the one that ends lowest."""
    slope = landscape.gradient(tensor).entries
    at_zero = landscape.gradient(0.0 * tensor).entries
    if np.max(np.abs(slope)) <= ROUNDING * np.max(np.abs(at_zero)):
        return Escape(None, "", AT_THE_BOTTOM)
    covered = net.n == 2 and net.width >= (tensor.degree + 2) // 2
    before, sure = landscape.tensor_loss(net), SURE * _noise(landscape, net, slope)
    uneven = False
    best: tuple[float, Escape] | None = None
    for segments, theorem, how, exact in _ways(landscape, net, tensor, rng, covered):
        path = Path(segments, net.activation, 0.0, landscape.tensor_loss)
        end = landscape.tensor_loss(path.end)
        if end >= before - sure:
            continue
        if not _never_rises(path, landscape, slope):
            uneven = True
        elif exact:
            return Escape(path, theorem, how)
        elif best is None or end < best[0]:
            best = end, Escape(path, theorem, how)
    if best is not None:
        return best[1]
    return Escape(None, "", BELOW_ROUNDING if covered else TOO_LARGE if uneven else SILENT)


def _at_critical_point(
    problem: Problem, landscape: Landscape, net: Network, tensor: SymmetricTensor
) -> Escape:
    """A step along negative curvature, or whether the loss is the lowest one (`lowest_loss`)."""
    values, vectors = np.linalg.eigh(problem.hessian(net))
    if values[0] < -SADDLE * np.abs(values).max():
        way = problem.unpack(vectors[:, 0])
        for turn in (1.0, -1.0):
            line = step_along(landscape, net, (turn * way.a, turn * way.W))
            if line is not None:
                how = f"the Hessian's lowest eigenvalue is {values[0]:.3g}: a straight step along its eigenvector"
                path = Path([line], net.activation, 0.0, landscape.tensor_loss)
                slope = landscape.gradient(tensor).entries
                if _never_rises(path, landscape, slope):
                    return Escape(path, "strict saddle", how)
    lowest = lowest_loss(problem)
    if lowest is None:
        return Escape(None, "", SILENT)
    zero = landscape.loss(Network(0.0 * net.W, net.a, net.activation))
    above = landscape.loss(net) - lowest
    return Escape(None, "", AT_THE_BOTTOM if above <= SAME_LOSS * zero else BAD_MINIMUM)


def _ways(
    landscape: Landscape, net: Network, tensor: SymmetricTensor, rng: np.random.Generator, covered: bool
) -> Iterator[tuple[list[Segment], str, str, bool]]:
    """Segments, the theorem that gives them, a sentence, and whether its hypothesis holds exactly; exact ways first."""
    name = "Theorem 11" if covered else "Lemma 14"
    state: State = (net.a, net.W)
    trail = Trail(state)
    if _spend(trail, landscape, tensor.degree, rng):
        yield trail.segments, name, "an idle neuron, or one of two parallel ones, is spent", True
    if tensor.degree == 2:
        spectrum = Spectrum.of(matrix_of(*state), energy(net))
        if spectrum.rank < net.width:
            trail = to_spectral_form(state, spectrum)
            _spend(trail, landscape, 2, rng)
            how = f"rank S = {spectrum.rank} < width = {net.width}: the fiber holds a network with an idle neuron"
            yield trail.segments, "Theorem 37 and Lemma 14", how, True
    elif not trail.segments:
        yield from _freed(landscape, state, tensor.degree, rng)
    yield from _steps(landscape, net, tensor, covered)
    trail = Trail(state)
    row = rest_smallest_neuron(trail, tensor.degree, landscape, NEARLY_IDLE)
    if row is not None:
        spend_idle_neuron(trail, row, tensor.degree, landscape, rng)
    if trail.segments:
        yield trail.segments, name, "a neuron is idle to 1e-5: it is spent", False
    trail = Trail(state)
    if _spend(trail, landscape, tensor.degree, rng, tolerance=NEARLY_PARALLEL):
        # at a numerically critical point parallel neurons are parallel only to the root of the rounding error
        yield trail.segments, name, "two neurons are parallel to 1e-5: one of them is spent", False


def _freed(
    landscape: Landscape, state: State, degree: int, rng: np.random.Generator
) -> Iterator[tuple[list[Segment], str, str, bool]]:
    """A neuron that is made idle on a way on which τ does not change, though none is idle and no two are parallel."""
    trail, how = (
        Trail(state),
        "the powers of the neurons are dependent: a moves until one is idle, which is spent",
    )
    row = free_by_relation(trail, degree)
    if row is None:
        how = f"{degree + 1} neurons lie in a plane: they turn until one is idle, which is spent"
        row = free_by_turning(trail, degree, rng)
    if row is not None:
        spend_idle_neuron(trail, row, degree, landscape, rng)
        yield trail.segments, "Finding 4 and Lemma 14", how, True


def _steps(
    landscape: Landscape, net: Network, tensor: SymmetricTensor, covered: bool
) -> Iterator[tuple[list[Segment], str, str, bool]]:
    """Descent at a point that is not critical."""
    if covered and np.all(net.a != 0.0) and np.all(np.any(net.W != 0.0, axis=1)):
        lines = merging_descent(landscape, (net.a, net.W), tensor)
        if lines:
            yield lines, "Theorem 11", "∇L ≠ 0: lines in angles and divided differences", False
    elif not covered:
        line = best_step_down(landscape, net, tensor)
        if line is not None:
            yield [line], "not critical", "∇L ≠ 0: a straight step down", False


def _spend(trail: Trail, landscape: Landscape, degree: int, rng: np.random.Generator, **how: float) -> bool:
    row = free_a_neuron(trail, degree, **how)
    if row is None:
        return False
    spend_idle_neuron(trail, row, degree, landscape, rng)
    return True


def _noise(landscape: Landscape, net: Network, slope: Array) -> float:
    """How far one rounding of (a, W) moves the loss: ε(|L| + Σ|aᵢ|‖wᵢ‖^d ‖∇ℓ‖)."""
    size = energy(net) * float(np.linalg.norm(slope))
    return EPSILON * (abs(landscape.tensor_loss(net)) + size)


def _never_rises(path: Path, landscape: Landscape, slope: Array) -> bool:
    """Whether no step of many along the path goes up by more than the rounding of its ends."""
    nets = path.networks(CHECKS)
    losses = np.array([landscape.tensor_loss(net) for net in nets])
    allowed = np.array([SURE * _noise(landscape, net, slope) for net in nets])
    return bool(np.all(np.diff(losses) <= np.maximum(allowed[1:], allowed[:-1])))
