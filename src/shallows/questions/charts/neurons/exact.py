"""One neuron by msolve, which isolates every real root symbolically: the second engine, which shares no path tracking.

The equations are ψ(w)·e = 0 (a trained) and ∂ψ(w)·e = 0, e = aGψ(w) − b, as exact polynomials in (a, w). msolve works
modulo random primes and does not prove its own answer, so the list is called count-matched.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import BITS
from shallows.mathematics.exact.msolve import real_roots
from shallows.mathematics.exact.polynomials import Polynomial, scaled, times, total
from shallows.mathematics.same_points import is_among
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.completeness import by_isolation
from shallows.questions.charts.exact.engine import MET, TIMEOUT
from shallows.questions.charts.neurons.balanced import BalancedNeurons
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.real import sort_neurons
from shallows.questions.charts.neurons.stratum import NeuronStratum, own_neuron, still_solutions
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown
from shallows.support.tolerances import SQRT_EPSILON


def exact_stratum(
    problem: Problem,
    space: PolynomialSpace,
    r: int,
    outer: Array | None,
    certify_points: bool,
    seed: int,
    tell: Shown = False,
) -> NeuronStratum:
    """All critical networks of one neuron; those that are constant, and stay so, are left to others."""
    if r > 1:
        raise InvalidProblem(
            'method="exact" is for one neuron with a polynomial activation: the equations of several have spurious '
            'positive-dimensional components, where neurons coincide. Use method="homotopy".'
        )
    fixed = None if outer is None else ((float(outer[0]),),)
    equations = NeuronEquations(own_neuron(problem), 1, outer=fixed)
    roots = real_roots(_equations(equations, space), bits=2 * BITS, timeout=TIMEOUT)
    if roots.boxes is None:
        raise InvalidProblem(
            'The critical points are not isolated, so msolve cannot list them. Use method="homotopy", which reports '
            "them as a family."
        )
    rows = roots.points.reshape(-1, equations.unknowns)
    points = _distinct(equations, rows[~_still(equations.neuron, rows[:, equations.lead :], problem.bias)])
    system = NeuronSystem(equations, space.exact)
    result = sort_neurons(system, points.astype(np.complex128), certify_points, tell)
    whole = roots.distinct == roots.degree
    moved = NeuronEquations(BalancedNeurons.of(problem, space).neuron, 1, outer=fixed)  # about its centre
    count = ((roots.degree or 0) - still_solutions(equations, problem.bias)) // len(moved.turns)
    notes = [f"rank 1: {roots.degree} complex solutions, counted by msolve"]
    notes += [] if whole else [f"rank 1: {MET}"]
    return NeuronStratum(system, result.found, count, None, notes, by_isolation(whole))


def _still(neuron: Neuron, W: Array, bias: bool) -> NDArray[np.bool_]:
    """Which neurons are constant whatever the target is: w = 0 and ∂ψ = 0, where p has no slope.

    With a slope w = 0 is a neuron like others, which is critical for some targets, such as even ones.
    """
    slopes, sizes = (np.abs(neuron.slopes(V)).max(axis=(-2, -1)) for V in (W, np.abs(W) + 1.0))
    return np.asarray(np.all(W[:, int(bias) :] == 0.0, axis=1) & (slopes <= SQRT_EPSILON * sizes))


def _distinct(equations: NeuronEquations, rows: Array) -> Array:
    """One network a function: of (a, w) and (±a, −w) the first."""
    kept: list[Array] = []
    seen: list[Array] = []
    for row in rows:
        function = equations.tensors(row[None].astype(np.complex128))[0].real
        if not is_among(function, seen, SQRT_EPSILON * float(np.abs(function).max())):
            kept.append(row)
            seen.append(function)
    return np.array(kept).reshape(len(kept), equations.unknowns)


def _entries(neuron: Neuron, lead: int, along: tuple[int, ...] = ()) -> list[Polynomial]:
    """ψ, or its derivative, as polynomials in (a, w)."""
    entries: list[Polynomial] = [{} for _ in range(neuron.size)]
    for entry, coefficient, row in neuron.terms:
        left, factor = list(row), Fraction(coefficient)
        for x in along:
            factor *= left[x]
            left[x] -= 1
        if factor:
            entries[entry] = total([entries[entry], {(0,) * lead + tuple(left): factor}])
    return entries


def _equations(equations: NeuronEquations, space: PolynomialSpace) -> list[Polynomial]:
    neuron, lead = equations.neuron, equations.lead
    gram, right = space.exact.gram, space.exact.right
    psi = _entries(neuron, lead)
    one = (1,) + (0,) * neuron.n
    weight = Fraction(1) if equations.outer is None else Fraction(equations.outer[0][0])
    parts = [times({one: Fraction(1)}, p) if lead else scaled(p, weight) for p in psi]
    none = (0,) * equations.unknowns
    gaps = [
        total([*(scaled(p, g) for p, g in zip(parts, gram[k], strict=True)), {none: -right[k]}])
        for k in range(neuron.size)
    ]
    directions = [psi] if lead else []
    directions += [_entries(neuron, lead, (x,)) for x in range(neuron.n)]
    return [total([times(p, e) for p, e in zip(d, gaps, strict=True)]) for d in directions]
