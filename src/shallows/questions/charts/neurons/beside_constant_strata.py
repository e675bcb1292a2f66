"""The strata of trained neurons beside a constant, one number of neurons after the other (`beside_constant`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shallows.mathematics.same_points import is_among
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.beside_constant import (
    beside_constant,
    has_constants_beside,
    has_mirrored_beside,
    modulo_constants,
    without_constant,
)
from shallows.questions.charts.neurons.found import Found
from shallows.questions.charts.neurons.idle import network
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import NeuronFamily, examine_ends
from shallows.questions.charts.neurons.task import Task
from shallows.questions.charts.neurons.wide import charted_beside
from shallows.questions.charts.points.kinds import hessian_kind
from shallows.questions.charts.points.stratum import POINT_ERROR


def add_beside_constant(task: Task) -> None:
    """Critical networks of which one neuron is constant, or the mirror image of another but for a constant."""
    problem, space, found = task.problem, task.space, task.found
    others, own = without_constant(problem), modulo_constants(space)
    kinds = {"one neuron constant": has_constants_beside, "mirrored neurons": has_mirrored_beside}
    which = " or ".join(words for words, has in kinds.items() if has(problem))
    for r in range(1, 1 + charted_beside(problem)) if any(own.exact.right) else ():
        stratum = replace(task, problem=others).stratum(f"rank {r} beside a constant", r, own)
        head = f"rank {r + 1}, {which}"
        found.notes += [note.replace(f"rank {r}", head, 1) for note in stratum.notes]
        found.levels.append(stratum.completeness)
        found.escaped += stratum.escaped
        found.count(r + 1, stratum.count)
        examined = examine_ends(own, stratum.system, stratum.singular, stratum.found)
        found.count(r + 1, examined.regular)
        found.notes += [note.replace(f"rank {r}", head, 1) for note in examined.notes(r)]
        rows = [(point, None) for point in [*stratum.found, *examined.points]]
        for point, family in [*rows, *((family.point, family) for family in examined.families)]:
            ways = beside_constant(problem, space, point)
            if family is not None:
                samples = tuple(
                    beside_constant(problem, space, replace(point, entries=s))[0].entries
                    for s in family.samples
                )
                family = replace(family, point=ways[0], samples=samples)
            _place(problem, ways, family, found)


def _place(problem: Problem, ways: list[NeuronPoint], family: NeuronFamily | None, found: Found) -> None:
    """One function, and its networks: a saddle where one of them is. It is none of fewer neurons, listed already."""
    entries = ways[0].entries
    fewer = [item.point.entries for item in found.placed if item.point.rank < ways[0].rank]
    if is_among(entries, fewer, POINT_ERROR * float(np.abs(entries).max())):
        return
    nets = [network(problem, way.W, way.a) for way in ways]
    dimension = 0 if family is None else family.dimension
    kinds = (
        [hessian_kind(problem.hessian(net), dimension) for net in nets]
        if ways[0].W.any(axis=1).all()
        else [""]
    )
    at = kinds.index("saddle") if "saddle" in kinds else 0
    kind = kinds[at] if ways[at].rank == problem.width else ""
    found.placed.append(Placed(ways[at], nets[at], family, kind=kind))
