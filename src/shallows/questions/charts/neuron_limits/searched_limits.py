"""Critical limits of two and more trained polynomial neurons, with a bias or without: those that a search finds.

Strata are sums of `blocks`. A limit with an idle neuron is a saddle, as networks with one are. One that needs all
neurons is a local minimum if it is one on its stratum and the loss grows on all ways back to networks (`ways_back`).
Where a stratum has more parameters than its functions have dimensions (sums of squares) a limit has many ways to be
written, each with ways back of its own; some of them are tried, and what does not fall there is called degenerate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.same_points import is_among
from shallows.mathematics.signature import signature
from shallows.model.activations import polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.real_students import proved
from shallows.questions.charts.neuron_limits.block_map import BlockMap
from shallows.questions.charts.neuron_limits.blocks import Block
from shallows.questions.charts.neuron_limits.ends import ends
from shallows.questions.charts.neuron_limits.one_neuron_limits import Limits
from shallows.questions.charts.neuron_limits.search import critical_points, rescaled
from shallows.questions.charts.neuron_limits.sliced_map import sliced
from shallows.questions.charts.neuron_limits.strata import strata
from shallows.questions.charts.neuron_limits.ways_back import WaysBack
from shallows.questions.charts.neurons.balanced import second_moments, whitening
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.points.proved_signature import shown
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.support.checks import Array, counted
from shallows.support.progress import status_line

#: Random starts in each stratum, and in all of them: more than thirty kinds of three neurons share them.
STARTS, STARTS_IN_ALL = 960, 9000
#: Coordinates in each stratum, no two with the same entry v_c = 1: each start has those in which v_c is largest. Steps
#: of many runs at once take no longer than those of a few.
CHARTS = 3
#: Sizes of random neurons, in those at which inputs have length one: log-normal with this spread.
SPREAD = 1.5
#: A weight that adds a smaller share of the largest to the function is none.
NO_WEIGHT = 1e-8
#: So many ways to write a limit are tried, where there are infinitely many.
WRITTEN = 16
HOW = "Krawczyk, on limits of neurons"


@dataclass(frozen=True)
class Found:
    """A critical limit: its stratum's map and dimension, and the parameters of it that starts have come to."""

    map: BlockMap
    rank: int
    entries: Array
    ways: list[tuple[BlockMap, Array]]


def searched_limits(
    problem: Problem, space: PolynomialSpace, certify_points: bool, seed: int, progress: bool = False
) -> Limits:
    """Critical limits, marked, with their kinds; `closed` is never said, because a search may miss some."""
    p = tuple(polynomial_of(problem.activation).coefficients.tolist())
    rng = np.random.default_rng([seed, 11])
    placed: list[Placed] = []
    notes: list[str] = []
    ordered = _in_order(problem, space, strata(ends(problem), p, problem.width), rng)
    starts = min(STARTS, STARTS_IN_ALL // max(len(ordered), 1))
    for blocks, rank in ordered:
        words = " beside ".join(block.words for block in blocks)
        with status_line(f"limits: {words}", progress):
            known = [item.point.entries for item in placed]
            found = _searched(space, rank, known, drawn_starts(problem, space, blocks, starts, rng))
            made = [_placed(problem, space, limit, certify_points) for limit in found]
        listed = [item for item in made if item is not None]
        placed += listed
        notes.append(f"limits, {words}: {counted(len(listed), 'critical point')} found by a search")
        if len(made) > len(listed):
            notes.append(
                f"limits, {words}: {len(made) - len(listed)} more are not proved isolated, and not listed"
            )
    return Limits(placed, "sampled", notes, False, optional=True, searched=True)


def _in_order(
    problem: Problem, space: PolynomialSpace, those: list[tuple[Block, ...]], rng: np.random.Generator
) -> list[tuple[tuple[Block, ...], int]]:
    """Strata and their dimensions: of few neurons first, and then those that have no more parameters than that."""
    found = []
    for blocks in those:
        flags = sum(flag for block in blocks for flag in block.scaled)
        map_ = BlockMap(problem.n, space.degrees, problem.bias, blocks, (0,) * flags)
        rank = int(np.linalg.matrix_rank(map_.slopes(rng.standard_normal(map_.unknowns))))
        found.append((sum(block.neurons for block in blocks), map_.unknowns > rank, blocks, rank))
    return [(blocks, rank) for _, _, blocks, rank in sorted(found, key=lambda item: item[:2])]


def drawn_starts(
    problem: Problem,
    space: PolynomialSpace,
    blocks: tuple[Block, ...],
    count: int,
    rng: np.random.Generator,
) -> dict[BlockMap, list[Array]]:
    """Parameters with random vectors, by their coordinates."""
    scaled = np.array([flag for block in blocks for flag in block.scaled], bool)
    size = problem.n + problem.bias
    charts = np.array([rng.permutation(size) for _ in range(scaled.sum())], int).reshape(-1, size).T[:CHARTS]
    by_chart: dict[BlockMap, list[Array]] = {}
    for _ in range(count):
        vectors = [_drawn(problem, rng) for _ in scaled]
        own = np.abs([v / np.abs(v).max() for v in vectors])[scaled]
        shares = [own[np.arange(len(chart)), chart].min(initial=1.0) for chart in charts]
        chart = tuple(charts[int(np.argmax(shares))].tolist())
        map_ = BlockMap(problem.n, space.degrees, problem.bias, blocks, chart)
        by_chart.setdefault(map_, []).append(map_.start(vectors))
    return by_chart


def _searched(
    space: PolynomialSpace, rank: int, known: list[Array], by_chart: dict[BlockMap, list[Array]]
) -> list[Found]:
    """Where searches end, functions that are known left out."""
    found: list[Found] = []
    for map_, starts in by_chart.items():
        points = critical_points(map_, map_.linear, np.array(starts), space.gram, space.right, rank)
        for x in points:
            if not _is_whole(map_, x):
                continue
            entries = np.real(map_.tensors(x[None])[0])
            near = POINT_ERROR * float(np.abs(entries).max())
            same = next((item for item in found if is_among(entries, [item.entries], near)), None)
            if same is not None:
                same.ways.append((map_, x))
            elif not is_among(entries, known, near):
                found.append(Found(map_, rank, entries, [(map_, x)]))
    return found


def _is_whole(map_: BlockMap, x: Array) -> bool:
    """Whether no weight vanishes: then it is no limit of a lower stratum."""
    weights = [p for _, _, places in map_.layout for p in places if p >= 0]
    shares = np.abs(x[weights]) * np.abs(map_.slopes(x)[weights]).max(axis=1)
    return bool(np.all(shares > NO_WEIGHT * np.abs(map_.tensors(x[None])).max()))


def _drawn(problem: Problem, rng: np.random.Generator) -> Array:
    """A random neuron w, or (b, w)."""
    mean, square = second_moments(problem)
    spread = square - np.outer(mean, mean) if problem.bias else square
    w = np.exp(SPREAD * rng.standard_normal()) * (whitening(spread) @ rng.standard_normal(problem.n))
    return np.append(rng.standard_normal() - w @ mean, w) if problem.bias else w


def _placed(problem: Problem, space: PolynomialSpace, limit: Found, certify_points: bool) -> Placed | None:
    """A critical limit with its certificate and kind, and a network near it; None where none is proved isolated."""
    map_, x = limit.ways[0]
    part = sliced(map_, x, limit.rank)
    system = TermSystem(part, space.exact)
    root = certify(system, x[part.free][None].astype(np.complex128)).roots[0]
    if root is None or not root.real:
        return None
    root = shown(root)
    own = np.real(root.point)
    x, entries = part.all_of(own), np.real(part.tensors(own[None])[0])
    D, e = np.real(part.slopes(own)), space.gram @ entries - space.right
    hessian = rescaled(D @ space.gram @ D.T + part.curvature(own, e))
    seen = signature(np.linalg.eigvalsh(hessian), POINT_ERROR)
    certificate = None
    if certify_points:
        seen, certificate = proved(system, root, entries, seen, HOW)
    ways = WaysBack(problem, space, map_, x)
    kind = _kind(problem, space, limit, ways, seen)
    net = ways.network()
    used = sum(block.neurons for block in map_.blocks)
    W = net.W if net.bias is None else np.column_stack([net.bias, net.W])
    point = NeuronPoint(W[:used], np.ravel(net.a)[:used], entries, seen, certificate, True)
    return Placed(point, net, kind=kind)


def _kind(
    problem: Problem, space: PolynomialSpace, limit: Found, ways: WaysBack, seen: tuple[int, int, int]
) -> str:
    """By signature and slopes; an idle neuron decreases the loss to first order."""
    if seen[2] or sum(block.neurons for block in limit.map.blocks) < problem.width:
        return "saddle"
    many = limit.map.unknowns > limit.rank
    others = [WaysBack(problem, space, *way) for way in limit.ways[1:WRITTEN]] if many else []
    least = min(slope for way in [ways, *others] for slope in way.slopes())
    if least < -POINT_ERROR:
        return "saddle"
    return "local minimum" if least > POINT_ERROR and not many and not seen[1] else "degenerate"
