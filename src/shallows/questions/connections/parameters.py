"""The merge tree in parameter space: minima whose fibers are not connected are several, and meet where fibers are.

A sublevel set in parameter space is what networks of lower loss make of one in function space. Over functions of full
rank it is a covering whose sheets are the copies of `fiber_copies`; over a function of lower rank the fiber is in one
piece (Theorem 37, case 4), and all copies of the valley meet there. Two kinds of critical points join: those of index
one and full rank, copy by copy, and those of lower rank that are minima among their rank, all copies at once. The
lowest of the latter is the energy barrier of paper 001 when outer weights are one and the width is that of the data.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from shallows.questions.charts.orbits import Orbits
from shallows.questions.charts.points.point import CriticalFamily
from shallows.questions.connections.fiber_copies import WHOLE, Copy, Turn, copies, turn_between
from shallows.questions.connections.landscape import Hop, Landscape
from shallows.questions.connections.merging import Meeting, Merge, merged
from shallows.questions.connections.neuron_loss import Neurons
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Progress

#: A tensor that comes back to this share of itself has come back: turns of π are exact to rounding.
CAME_BACK = 1e-9


#: A leaf in parameter space: the row of its function, and the component of the fiber.
CopiedLeaf = tuple[int, Copy]


def parameter_merges(landscape: Landscape, progress: bool) -> tuple[list[CopiedLeaf], list[Merge], list[int]]:
    """The leaves, the merges between them, and the rows whose networks trap training without being leaves."""
    require_known_fibers(landscape)
    same: dict[CopiedLeaf, CopiedLeaf] = {}
    meetings: list[Meeting] = []
    traps: list[int] = []
    candidates = np.flatnonzero(landscape.chart.critical.table.signature[:, 2] <= 1).tolist()
    with Progress(len(candidates), "following paths down", progress, "critical points") as bar:
        for row in candidates:
            bar.advance()
            link, loss = landscape.link(row), landscape.excess(row)
            own = copies(landscape.problem, link.neurons)
            if landscape.is_leaf(row):
                same |= _distinct(landscape, row, own)
            elif link.apex:
                meetings.append(Meeting(loss, row, tuple(dict.fromkeys(same.values()))))
            elif own == [WHOLE] and landscape.chart.critical[row].index == 0:
                ends = [_below(landscape, hop)[0] for hop in landscape.hops(row)]
                met = tuple(dict.fromkeys(leaf for leaf in same.values() if leaf[0] in ends))
                meetings.append(Meeting(loss, row, met))
                if landscape.problem.outer is None and not link.touching and len(link.ways) == 1:
                    traps.append(
                        row
                    )  # P∇ℓP is definite: idle neurons of the other sign, at w = 0, see no way down
            elif link.pieces == 2:
                ways = [_below(landscape, hop) for hop in landscape.hops(row)]
                for copy in own:
                    met = tuple(_leaf(same, end, turn.of(copy)) for end, turn in ways)
                    meetings.append(Meeting(loss, row, met))
    leaves = list(dict.fromkeys(same.values()))
    return leaves, merged(leaves, meetings)[0], traps


def _leaf(same: dict[CopiedLeaf, CopiedLeaf], row: int, copy: Copy) -> CopiedLeaf:
    """That copy of a leaf; any where the path met a function of lower rank, at which all are one already."""
    return same.get((row, copy)) or next(leaf for leaf in same.values() if leaf[0] == row)


def _below(landscape: Landscape, hop: Hop) -> tuple[int, Turn]:
    """The leaf that a path and those after it lead to, and what becomes of orientations on the way."""
    turn = Turn()
    while True:
        assert hop.end is not None  # a closed set: every path ends at a listed point
        there, end = landscape.link(hop.end).neurons, hop.path.end
        full = there.rank == landscape.problem.width == end.rank
        point = landscape.chart.critical[hop.end]
        if full and not point.dimension:
            turn = turn.then(turn_between(landscape.problem.degree, there, end))
        elif not full:
            turn = turn.then(Turn(whole=True))
        if landscape.is_leaf(hop.end):
            return hop.end, turn
        hop = landscape.hops(hop.end)[0]


def _distinct(landscape: Landscape, row: int, own: list[Copy]) -> dict[CopiedLeaf, CopiedLeaf]:
    """Each copy of a minimum, and the leaf that it belongs to: going round a family can reverse an orientation."""
    same: dict[CopiedLeaf, CopiedLeaf] = {(row, copy): (row, copy) for copy in own}
    if not isinstance(landscape.chart.critical[row], CriticalFamily):
        return same
    for turn in _round_trips(landscape, landscape.link(row).neurons):
        for copy in own:
            first, second = same[row, copy], same[row, turn.of(copy)]
            same = {leaf: first if to == second else to for leaf, to in same.items()}
    return same


def _round_trips(landscape: Landscape, neurons: Neurons) -> list[Turn]:
    """What half a turn along each of the problem's symmetries does to a network, where its function comes back."""
    tensor, found = landscape.loss.tensor(neurons), []
    for generator in Orbits(landscape.problem).algebra:
        X = generator.astype(np.float64)
        rate = float(np.max(np.abs(np.linalg.eigvals(X).imag), initial=0.0))
        if rate:
            moved = neurons.at(neurons.vectors @ expm(np.pi / rate * X).T)
            gap = np.max(np.abs(landscape.loss.tensor(moved) - tensor))
            if gap <= CAME_BACK * np.max(np.abs(tensor)):
                found.append(turn_between(landscape.problem.degree, neurons, moved))
    return found


def require_known_fibers(landscape: Landscape) -> None:
    """Fibers are known at degree 2 (Theorem 37) with a trained or all ones, and for one neuron."""
    problem = landscape.problem
    if problem.degree > 2 and problem.width > 1:
        raise InvalidProblem(
            f"The fibers of networks of degree {problem.degree} and width {problem.width} are not known; parameter "
            'space is for degree 2 (Theorem 37) and for one neuron. Use space="function".'
        )
    if problem.outer is not None and not np.all(problem.outer == 1.0):
        raise InvalidProblem(
            "The fibers of networks with fixed outer weights other than 1 are not known (Theorem 37 is for trained "
            'ones). Use space="function", or outer="free" or "ones".'
        )
