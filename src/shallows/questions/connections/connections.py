"""`connections`: the merge tree of a chart, in function space."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from shallows.model.activations import Power
from shallows.model.problem import Problem
from shallows.questions.charts.result import Chart
from shallows.questions.connections.landscape import Landscape
from shallows.questions.connections.merging import Meeting, Merge, Valleys, merged
from shallows.questions.connections.parameters import parameter_merges
from shallows.questions.connections.tree import Edge, Leaf, MergeTree
from shallows.questions.connections.verification import Verification
from shallows.support.checks import counted
from shallows.support.errors import IncompleteChart, InvalidProblem
from shallows.support.progress import Progress

SPACES = ("function", "parameters")


def connections(chart: Chart, space: str = "function", *, progress: bool = False) -> MergeTree:
    """The merge tree of a chart's loss; see `Chart.connections`."""
    if space not in SPACES:
        raise InvalidProblem(f"space is {space!r}; expected one of {', '.join(SPACES)}.")
    landscape = Landscape.of(chart, _problem(chart))
    return (
        parameter_tree(landscape, progress) if space == "parameters" else function_tree(landscape, progress)
    )


def function_tree(landscape: Landscape, progress: bool) -> MergeTree:
    """The tree in function space: each function once."""
    leaves: list[Hashable] = []
    meetings: list[Meeting] = []
    candidates = np.flatnonzero(landscape.chart.critical.table.signature[:, 2] <= 1).tolist()
    with Progress(len(candidates), "following paths down", progress, "critical points") as bar:
        for row in candidates:
            bar.advance()
            _require_decided(landscape, row)
            if landscape.is_leaf(row):
                leaves.append(row)
            elif landscape.link(row).apex:
                meetings.append(Meeting(landscape.excess(row), row, tuple(leaves)))
            elif landscape.link(row).pieces != 1:
                reached = tuple(_valley(landscape, hop.end) for hop in landscape.hops(row))
                meetings.append(Meeting(landscape.excess(row), row, reached))
    if any(None in meeting.leaves for meeting in meetings):
        leaves.append(None)
    merges, valleys = merged(leaves, meetings)
    reasons = Verification(landscape).reasons([meeting.row for meeting in meetings])
    notes = [*_notes(landscape, valleys), *(f"not proved: {reason}" for reason in reasons)]
    return assembled(landscape, leaves, merges, "function", "numerical" if reasons else "proved", notes)


def parameter_tree(landscape: Landscape, progress: bool) -> MergeTree:
    """The tree in parameter space: each component of a minimum's fiber is a leaf."""
    function_tree(landscape, progress)  # refuses what is degenerate or incomplete
    leaves, merges, traps = parameter_merges(landscape, progress)
    notes = ["not proved: orientations of fibers are signs of determinants in floating point"]
    if traps:
        losses = ", ".join(f"{landscape.chart.critical.table.loss[row]:.8g}" for row in traps)
        notes.append(
            f"networks of lower rank and loss {losses} can trap training (Example 15) and are no leaves: an idle "
            "neuron of the wrong sign changes it at no cost, a barrier of 0"
        )
    return assembled(landscape, leaves, merges, "parameters", "numerical", notes, traps)


def _valley(landscape: Landscape, row: int | None) -> int | None:
    return None if row is None else landscape.leaf(row)


def assembled(
    landscape: Landscape,
    leaves: Sequence[Any],
    merges: Sequence[Merge],
    space: str,
    known: str,
    notes: Sequence[str],
    traps: Sequence[int] = (),
) -> MergeTree:
    """The tree with its leaves numbered by loss."""
    critical = landscape.chart.critical
    number = {leaf: i for i, leaf in enumerate(leaves)}
    made: list[Leaf] = []
    for leaf, i in number.items():
        if leaf is not None:
            row = leaf[0] if isinstance(leaf, tuple) else leaf
            copy = sum(other.row == row for other in made)
            made.append(Leaf(i, critical[row].loss, row, critical[row], copy))
        else:
            lowest = min(landscape.loss.value(path.end) for path in landscape.runaways)
            made.append(Leaf(i, lowest + landscape.problem.floor, None, None))
    edges = []
    for merge in merges:
        row = merge.meeting.row
        reached = tuple(dict.fromkeys(number[leaf] for leaf in merge.meeting.leaves))
        sides = tuple(tuple(number[leaf] for leaf in side) for side in merge.sides)
        edges.append(Edge(critical[row].loss, row, critical[row], reached, sides))
    return MergeTree(landscape.chart, tuple(made), tuple(edges), space, known, tuple(notes), tuple(traps))


def _notes(landscape: Landscape, valleys: Valleys) -> list[str]:
    notes = []
    if not landscape.closed:
        notes.append(
            "at degree 3 and above neurons can merge, so that an infimum may not be attained. The limits of networks "
            "of this width are not all among these points: barriers are upper bounds"
        )
    if landscape.runaways:
        notes.append(
            f"{counted(len(landscape.runaways), 'path')} down end at no network: a valley without a minimum"
        )
    apart = len(valleys.together)
    if apart > 1:
        notes.append(f"no listed point joins {apart} valleys")
    return notes


def _require_decided(landscape: Landscape, row: int) -> None:
    """A degenerate point at which valleys may meet: what it joins is not known."""
    link = landscape.link(row)
    if link.pieces is None and not link.apex:
        raise IncompleteChart(
            f"{landscape.chart.critical[row]!r} is degenerate ({link.reason}): whether valleys meet there is "
            "not known. Fix: another target or law nearby, at which critical points are apart."
        )


def _problem(chart: Chart) -> Problem:
    """The chart's problem on which tensors live, refused where there is no complete list in function space."""
    problem = chart.problem
    if problem is None:
        raise InvalidProblem(
            "This chart was loaded without its problem. Fix: sh.load_chart(path, problem=…)."
        )
    if not isinstance(problem.activation, Power) or problem.norm_neuron or problem.orthogonality:
        raise IncompleteChart(
            f"Merge trees are of losses of powers, without norm neuron and penalty; this is {problem!r}. Fix: "
            "sh.connect(problem, networks), which looks for saddles between given minima and says that it samples."
        )
    if chart.completeness == "sampled":
        raise IncompleteChart(
            f"The chart is {chart.completeness!r}: a tree of it would be a guess, since joins may be missing. Fix: "
            "sh.connect(problem, networks), which looks for saddles between given minima and says that it samples."
        )
    return problem.homogeneous()
