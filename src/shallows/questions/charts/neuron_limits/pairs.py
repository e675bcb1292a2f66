"""Critical limits of two trained polynomial neurons, with a bias or without: those that a search finds.

Strata are sums of `blocks`. A limit is a local minimum if it is one on its stratum and the loss grows on all ways back
to networks (`ways_back`).
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.same_points import is_among
from shallows.mathematics.signature import signature
from shallows.model.activations import PolynomialActivation
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.real_students import proved
from shallows.questions.charts.neuron_limits.block_map import BlockMap
from shallows.questions.charts.neuron_limits.blocks import Block, strata
from shallows.questions.charts.neuron_limits.ends import ends
from shallows.questions.charts.neuron_limits.one_neuron_limits import Limits
from shallows.questions.charts.neuron_limits.search import critical_points, rescaled
from shallows.questions.charts.neuron_limits.ways_back import WaysBack
from shallows.questions.charts.neurons.balanced import second_moments, whitening
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.points.proved_signature import shown
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.support.checks import Array, counted
from shallows.support.progress import status_line

#: Random starts in each stratum.
STARTS = 480
#: Sizes of random neurons, in those at which inputs have length one: log-normal with this spread.
SPREAD = 1.5
#: A weight that adds a smaller share of the largest to the function is none.
NO_WEIGHT = 1e-8
HOW = "Krawczyk, on the limits of two neurons"
#: A critical limit: its stratum's map, and parameters.
Point = tuple[BlockMap, Array]


def pair_limits(
    problem: Problem, space: PolynomialSpace, certify_points: bool, seed: int, progress: bool = False
) -> Limits:
    """Critical limits, marked, with their kinds; `closed` is never said, because a search may miss some."""
    assert isinstance(problem.activation, PolynomialActivation)
    p = tuple(problem.activation.coefficients.tolist())
    rng = np.random.default_rng([seed, 11])
    placed: list[Placed] = []
    notes: list[str] = []
    for blocks in strata(ends(problem), p):
        words = " beside ".join(block.words for block in blocks)
        with status_line(f"limits: {words}", progress):
            found = _searched(problem, space, blocks, rng)
            fresh = _different(found, [item.point.entries for item in placed])
            made = [_placed(problem, space, map_, x, certify_points) for map_, x in fresh]
        listed = [item for item in made if item is not None]
        placed += listed
        notes.append(f"limits, {words}: {counted(len(listed), 'critical point')} found by a search")
        if len(made) > len(listed):
            notes.append(
                f"limits, {words}: {len(made) - len(listed)} more are not proved isolated, and not listed"
            )
    return Limits(placed, "sampled", notes, False, optional=True, searched=True)


def _searched(
    problem: Problem, space: PolynomialSpace, blocks: tuple[Block, ...], rng: np.random.Generator
) -> list[Point]:
    """Where searches end; none in strata that have fewer dimensions than parameters: others have their limits."""
    by_chart: dict[BlockMap, list[Array]] = {}
    scaled = [flag for block in blocks for flag in block.scaled]
    for _ in range(STARTS):
        vectors = [_drawn(problem, rng) for _ in scaled]
        chart = tuple(int(np.argmax(np.abs(v))) for v, flag in zip(vectors, scaled, strict=True) if flag)
        map_ = BlockMap(problem.n, space.degrees, problem.bias, blocks, chart)
        by_chart.setdefault(map_, []).append(map_.start(vectors))
    found = []
    for map_, starts in by_chart.items():
        if np.linalg.matrix_rank(map_.slopes(rng.standard_normal(map_.unknowns))) < map_.unknowns:
            return []
        points = critical_points(map_, map_.linear, np.array(starts), space.gram, space.right)
        found += [(map_, x) for x in points if _is_whole(map_, x)]
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


def _different(points: list[Point], known: list[Array]) -> list[Point]:
    """One of each function, those that are known left out."""
    fresh: list[Point] = []
    seen = list(known)
    for map_, x in points:
        entries = np.real(map_.tensors(x[None])[0])
        if not is_among(entries, seen, POINT_ERROR * float(np.abs(entries).max())):
            seen.append(entries)
            fresh.append((map_, x))
    return fresh


def _placed(
    problem: Problem, space: PolynomialSpace, map_: BlockMap, x: Array, certify_points: bool
) -> Placed | None:
    """A critical limit with its certificate and kind, and a network near it; None where none is proved isolated."""
    system = TermSystem(map_, space.exact)
    root = certify(system, x[None].astype(np.complex128)).roots[0]
    if root is None or not root.real:
        return None
    root = shown(root)
    x = np.real(root.point)
    entries = np.real(map_.tensors(x[None])[0])
    D, e = np.real(map_.slopes(x)), space.gram @ entries - space.right
    hessian = rescaled(D @ space.gram @ D.T + map_.curvature(x, e))
    seen = signature(np.linalg.eigvalsh(hessian), POINT_ERROR)
    certificate = None
    if certify_points:
        seen, certificate = proved(system, root, entries, seen, HOW)
    ways = WaysBack(problem, space, map_, x)
    slopes = ways.slopes()
    kind = "local minimum" if min(slopes) > POINT_ERROR else "degenerate"
    kind = "degenerate" if seen[1] else kind
    kind = "saddle" if seen[2] or min(slopes) < -POINT_ERROR else kind
    net = ways.network()
    W = net.W if net.bias is None else np.column_stack([net.bias, net.W])
    return Placed(NeuronPoint(W, np.ravel(net.a), entries, seen, certificate, True), net, kind=kind)
