"""Solved members that charts of neurons start from: generic metrics, or generic ones among rotation-invariant metrics.

Among rotation-invariant metrics the number of solutions is a theorem for some neurons; otherwise monodromy stays among
them, and a trace test that does not mind solutions at infinity tells whether all are found: on a pencil of members for
one neuron, that of rational functions of the target under one metric for several. (Neurons and targets that make them
critical are a vector bundle over an open set of neurons, also with fixed outer weights, so no subset has such a sum.)
"""

from __future__ import annotations

from dataclasses import replace

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
from shallows.questions.charts.continuation.kept_members import is_solved
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
#: Random members of one neuron that are tried, by seed. Of 1 + z + z² + z³ with a bias one has a solution 10⁴ times as
#: far out as others, known to 10⁻⁸ only: it came twice, and could not be kept on disk.
ONE_NEURON_SEEDS = (*SPECIAL_SEEDS, 0, 1)
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
    return solved_once(equations, special, lambda: solve_invariant(equations, special, tell))


def solve_invariant(
    equations: NeuronEquations, special: RotationInvariantMetrics, tell: Shown = False
) -> SolvedMember:
    """A member among rotation-invariant metrics, solved now.

    Of one neuron another where some solution is so badly conditioned that it could not be kept, or was taken for two.
    """
    count, one = equations.special_count(special), equations.r == 1
    found, sound = list[SolvedMember](), list[SolvedMember]()
    for seed in ONE_NEURON_SEEDS if one else SPECIAL_SEEDS:
        found.append(_by_monodromy(equations, special, seed, count, tell))
        if not one:
            sound.append(found[-1])
        elif is_solved(equations, special, found[-1]):
            sound.append(_by_targets(equations, special, found[-1]))
        best = max(sound or found, key=lambda member: (len(member.points), member.completeness != "sampled"))
        if sound and best.completeness != "sampled" and (one or len(found) == 1):
            return best
    if best.completeness != "sampled":
        return best
    counted = special_member(equations, special, Detours, tell)
    return counted if len(counted.points) >= len(best.points) else best


def _by_targets(
    equations: NeuronEquations, special: RotationInvariantMetrics, member: SolvedMember
) -> SolvedMember:
    """The same, trace-tested on a line of targets under its metric where the test on a pencil did not pass."""
    if member.completeness != "sampled" or len(member.points) > MOST_BY_TRACE:
        return member
    u, g = member.parameters[: special.parameters], member.parameters[special.parameters :]
    fixed, rng = family(equations, OneMetric(special.at(u).high)), np.random.default_rng(0)
    test = rational_trace_test(fixed, member.points, g, equations.tensors, rng, settings=SETTINGS)
    return replace(member, completeness="trace-tested") if test.passed else member


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
