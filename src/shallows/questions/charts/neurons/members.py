"""Solved members that charts of neurons start from: generic metrics, or generic ones among rotation-invariant metrics.

Among rotation-invariant metrics the number of solutions is a theorem for some neurons; otherwise monodromy stays among
them, and the trace test on a pencil of members, which does not mind solutions at infinity, tells whether all are found.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import SolvedMember, family
from shallows.questions.charts.continuation.generic_members import (
    DIGITS,
    MOST,
    SPECIAL_SEEDS,
    generic_member,
    solved_once,
    special_member,
)
from shallows.questions.charts.continuation.lost_paths import SETTINGS
from shallows.questions.charts.limits import most_points
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.metrics import RotationInvariantMetrics
from shallows.support.progress import Shown
from shallows.support.seeds import complex_normal

#: Members of more neurons are not trace-tested on a pencil: its sections have many more points than members.
PENCIL_NEURONS = 1
#: Nodes of the graph where the number of solutions is not known.
NODES = 6


def start_for(
    equations: NeuronEquations, special: RotationInvariantMetrics | None, tell: Shown = False
) -> SolvedMember:
    """Where every problem with such neurons and metrics starts from; solved once a machine."""
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
    x, g = equations.first(special.at(u).high, rng)
    found = monodromy(
        family(equations, special),
        x[None, :],
        np.concatenate([u, g]),
        rng=seed,
        group=equations.orbit if count is None else None,
        invariants=None if count is None else equations.tensors,
        target=count,
        trace=count is None and equations.r <= PENCIL_NEURONS,
        max_members=MOST if count is not None else NODES,
        limit=most_points(),
        settings=SETTINGS,
        progress=tell,
    )
    return SolvedMember(found.parameters, found.points, found.completeness)
