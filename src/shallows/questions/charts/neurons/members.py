"""Solved members that charts of neurons start from: generic metrics, or generic ones among rotation-invariant metrics.

Among rotation-invariant metrics the number of solutions is a theorem for some neurons; otherwise monodromy stays among
them, and a trace test that does not mind solutions at infinity tells whether all are found: on a pencil of members for
one neuron, that of rational functions of the target under one metric for several. (Neurons and targets that make them
critical are a vector bundle over an open set of neurons, also with fixed outer weights, so no subset has such a sum.)
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.mathematics.homotopy.rational_trace import rational_trace_test
from shallows.mathematics.homotopy.trace import TraceTest
from shallows.mathematics.same_points import PointSet
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import SolvedMember, family
from shallows.questions.charts.continuation.generic_members import (
    DIGITS,
    MOST,
    MOST_BY_TRACE,
    SPECIAL_SEEDS,
    generic_member,
    marked_trace_test,
    solved_once,
    special_member,
)
from shallows.questions.charts.continuation.lost_paths import SETTINGS
from shallows.questions.charts.continuation.metrics import OneMetric
from shallows.questions.charts.limits import most_points
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.filled import filled_member, is_direct
from shallows.questions.charts.neurons.metrics import RotationInvariantMetrics
from shallows.support.progress import Shown
from shallows.support.seeds import complex_normal

#: Members of more neurons are not trace-tested on a pencil, whose sections have many more points than members.
PENCIL_NEURONS = 1
#: Nodes of the graph where the number of solutions is not known.
NODES = 6


def start_for(
    equations: NeuronEquations, special: RotationInvariantMetrics | None, tell: Shown = False
) -> SolvedMember:
    """Where every problem with such neurons and metrics starts from; solved once a machine."""
    if is_direct(equations):
        return filled_member(equations, special, tell)
    if special is None:
        return generic_member(equations, tell)
    return solved_once(equations, special, lambda: _special(equations, special, tell))


def _special(equations: NeuronEquations, special: RotationInvariantMetrics, tell: Shown) -> SolvedMember:
    count = equations.special_count(special)
    found = [_by_monodromy(equations, special, seed, count, tell) for seed in SPECIAL_SEEDS[:1]]
    if found[0].completeness != "sampled":
        return found[0]
    found += [_by_monodromy(equations, special, seed, count, tell) for seed in SPECIAL_SEEDS[1:]]
    best = max(found, key=lambda member: (len(member.points), member.completeness != "sampled"))
    if best.completeness != "sampled":
        return best
    counted = special_member(equations, special, Detours, tell)
    return counted if len(counted.points) >= len(best.points) else best


def _by_monodromy(
    equations: NeuronEquations, special: RotationInvariantMetrics, seed: int, count: int | None, tell: Shown
) -> SolvedMember:
    rng = np.random.default_rng([seed, equations.unknowns, equations.entries])
    u = np.round(complex_normal(rng, special.parameters) * DIGITS) / DIGITS
    gram = special.at(u).high
    x, g = equations.first(gram, rng)

    def test(found: PointSet, generator: np.random.Generator) -> TraceTest:
        if len(found) > MOST_BY_TRACE:
            return TraceTest(False, np.inf, len(found), 0, found.points[:0])
        fixed = family(equations, OneMetric(gram))
        if equations.repeats:
            return marked_trace_test(equations, fixed, found.points, g, generator)
        return rational_trace_test(fixed, found.points, g, equations.tensors, generator, settings=SETTINGS)

    found = monodromy(
        family(equations, special),
        x[None, :],
        np.concatenate([u, g]),
        rng=seed,
        group=equations.orbit if count is None else None,
        invariants=None if count is None else equations.marks,
        target=count,
        trace=count is None if equations.r <= PENCIL_NEURONS else count is None and test,
        max_members=MOST if count is not None else NODES,
        limit=most_points(),
        settings=SETTINGS,
        progress=tell,
    )
    return SolvedMember(found.parameters, found.points, found.completeness)
