"""The critical networks of r neurons, all of them different and in use: solved, sorted, proved."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.same_points import most_real
from shallows.model.activations import polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.continuation.lost_paths import FROM_GENERIC, UNCERTIFIED, Settled, settle
from shallows.questions.charts.neurons.balanced import BalancedNeurons, affine_neuron
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.filled import without_folds
from shallows.questions.charts.neurons.members import start_for
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.real import NeuronPoint, SortedNeurons, sort_neurons
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: A neuron that adds less than this share of the largest to the function is none: the rank is lower.
NO_NEURON = 1e-10


@dataclass(frozen=True)
class NeuronStratum:
    """What was found: real networks, the number of functions over C (None where they were not counted), notes, and
    singular ends in the problem's own coordinates."""

    system: NeuronSystem
    found: list[NeuronPoint]
    count: int | None
    bound: int | None
    notes: list[str]
    completeness: str
    singular: Complex = field(default_factory=lambda: np.zeros((0, 0), np.complex128))
    escaped: int = 0


def own_neuron(problem: Problem, space: PolynomialSpace | None = None) -> Neuron:
    """ψ with the activation's own coefficients: neurons w, or (b, w) with a bias; modulo constants in such a space."""
    c = polynomial_of(problem.activation).coefficients
    if problem.bias:
        return affine_neuron(c, problem.n, space is not None and 0 not in space.degrees)
    degrees = np.flatnonzero(c).tolist()
    plain = Neuron.of_degrees(degrees, problem.n)
    terms = tuple((entry, float(c[sum(row)]), row) for entry, _, row in plain.terms)
    return Neuron(plain.n, plain.size, terms, plain.turns, plain.lowest)


def neuron_stratum(
    problem: Problem,
    space: PolynomialSpace,
    r: int,
    outer: Array | None,
    certify_points: bool,
    seed: int,
    tell: Shown = False,
    patient: bool = True,
) -> NeuronStratum:
    """All critical networks of r neurons, with a trained or fixed to `outer`; for lost paths see `settle`."""
    even = BalancedNeurons.of(problem, space, 1.0 if outer is None else float(outer[0]))
    ratios = None if outer is None else tuple((float(a / outer[0]),) for a in outer)
    equations = NeuronEquations(even.neuron, r, outer=ratios)
    given = None if outer is None else tuple((float(a),) for a in outer)
    own = NeuronEquations(own_neuron(problem, space), r, outer=given)
    system = NeuronSystem(own, space.exact)

    def regular(ends: Complex) -> tuple[Complex, NDArray[np.bool_]]:
        """Ends that look singular for being far out, but are proved regular."""
        roots = certify(system, restored_points(even, equations, own, ends)).roots
        return ends, np.array([root is not None for root in roots])

    start = start_for(equations, even.special, tell)
    run = settle(Detours(equations, start, even.member, seed, tell, regular), patient)
    run, how = without_folds(own, run, _how(even))
    points = restored_points(even, equations, own, _whole(equations, run.finite.points))
    points = most_real(points, own.tensors)  # p(b) = c has real and complex b for one constant
    result = sort_neurons(system, points, certify_points, tell)
    bound = bezout(equations, problem.bias)
    if bound is None:
        bound = equations.count if even.special is None else equations.special_count(even.special)
    whole = bound is not None and result.proved == bound and not run.singular.count
    return NeuronStratum(
        system,
        result.found,
        len(points),
        bound,
        _notes(r, how, run, result),
        "proved" if whole else run.completeness,
        restored_points(even, equations, own, run.singular.points),
        run.at_infinity + run.lost,
    )


def bezout(equations: NeuronEquations, bias: bool) -> int | None:
    """How many functions one neuron with a fixed can have: (2d−1)^m solutions in m weights by Bézout, less those with
    w = 0, in orbits of the turns.

    w = 0 solves the equations where b is a zero of p′, and without bias, if p has no linear part, as often as the
    lowest of its powers but the constant says.
    """
    neuron = equations.neuron
    if equations.outer is None or equations.r > 1:
        return None
    whole = (2 * neuron.degree - 1) ** neuron.n
    return int((whole - still_solutions(equations, bias)) // len(equations.turns))


def still_solutions(equations: NeuronEquations, bias: bool) -> int:
    """How often w = 0 solves the equations of one neuron: constants (and, a trained, not where their value is 0)."""
    neuron = equations.neuron
    if bias:
        return neuron.degree - 1
    lowest = min((sum(row) for _, _, row in neuron.terms if sum(row)), default=1)
    constant = any(not sum(row) for _, _, row in neuron.terms)
    return int((lowest - 1) ** neuron.n) if constant or equations.outer is not None else 0


def restored_points(
    even: BalancedNeurons, equations: NeuronEquations, own: NeuronEquations, points: Complex
) -> Complex:
    """Points in the problem's coordinates."""
    return own.join(*even.restored(*equations.split(points)))


def _whole(equations: NeuronEquations, points: Complex) -> Complex:
    """Those whose neurons all add something to the function."""
    A, W = equations.split(points)
    if equations.outer is not None:
        return points  # w = 0 is a neuron like any other
    terms = np.abs(equations.neuron.values(W)).max(axis=-1) * np.abs(A).max(axis=-1)
    return np.asarray(points[terms.min(axis=1, initial=np.inf) > NO_NEURON * terms.max(axis=1, initial=0.0)])


def _how(even: BalancedNeurons) -> str:
    return FROM_GENERIC + ("" if even.special is None else f" among {even.special.kind} metrics")


def _notes(r: int, how: str, run: Settled, result: SortedNeurons) -> list[str]:
    paired = (result.paired, "real functions whose neurons are not real: no real networks")
    return run.notes(f"rank {r}", how, paired, (result.undecided, UNCERTIFIED))
