"""`outputs_chart`: every critical network with several outputs, rank by rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import numpy as np

from shallows.mathematics.same_points import is_among
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.algebraic import NO_TARGET
from shallows.questions.charts.closed_form.wide_binary import NO_LIMITS
from shallows.questions.charts.closure.closure import IN_ONE_PLACE, merging_kinds
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.limits import require_few
from shallows.questions.charts.neurons.apart import ApartStratum, apart_kind
from shallows.questions.charts.neurons.special_position import REGULAR
from shallows.questions.charts.outputs.assembly import assembled
from shallows.questions.charts.outputs.counts import one_neuron_count
from shallows.questions.charts.outputs.dual_limits import is_dual
from shallows.questions.charts.outputs.exact import exact_stratum
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.limits import output_limits
from shallows.questions.charts.outputs.merged_map import FAT
from shallows.questions.charts.outputs.point import OutputPoint, OutputStratum
from shallows.questions.charts.outputs.shared_outer import OWN_OUTER, has_shared_stratum, shared_stratum
from shallows.questions.charts.outputs.special_position import IN_A_PLANE, special_kinds, special_stratum
from shallows.questions.charts.outputs.stratum import output_stratum
from shallows.questions.charts.outputs.wide_binary import charted_rank, wide_stratum
from shallows.questions.charts.points.point import EXACT
from shallows.questions.charts.points.stratum import POINT_ERROR, Counts
from shallows.questions.charts.result import Chart
from shallows.questions.charts.visible import require_invisible
from shallows.support.errors import InvalidProblem
from shallows.support.progress import status_line

#: What is left out where not all limits are charted.
SCOPE = (
    "networks of width {width}, and limits in which {which}; other limits, in which neurons merge to no network of "
    "this width, are not charted, so no minimum is called global"
)

#: Of so many quadratic neurons all special positions are charted.
MOST_SPECIAL = 3


def outputs_chart(
    problem: Problem, certify: bool, seed: int, progress: bool = False, method: str = "homotopy"
) -> Chart:
    """The strata of 0, …, width neurons, a trained; `method` is "homotopy" or, for one neuron, "exact"."""
    loss, charted = _chartable(problem)
    size = problem.outputs * len(loss.gram)
    zero = OutputPoint(
        np.zeros((problem.outputs, 0)),
        np.zeros((0, problem.n)),
        np.zeros(size),
        (0, 0, 0),
        EXACT,
    )
    found, counts = [zero], {0: Counts(1, 1, "the zero tensors")}
    notes, levels = [], ["proved"]
    top = charted if loss.rank else 0
    if not top:
        notes.append(NO_TARGET)
    for rank in range(1, top + 1):
        with status_line(f"rank {rank} of {top}", progress) as tell:
            if method == "exact":
                stratum = exact_stratum(problem, loss, seed)
            else:
                stratum = output_stratum(problem, loss, rank, certify, seed, tell)
        found += stratum.found
        counts[rank] = stratum.counts
        notes += stratum.notes
        levels.append(stratum.completeness)
    apart = [OWN_OUTER] if problem.degree == 2 and top > 1 and loss.rank > 1 else []
    apart += [REGULAR] if _is_open(problem, loss, top) else []
    if method == "homotopy":
        for rank, part, is_new in _special(problem, loss, top, certify, seed, progress):
            found += _apart_points(problem, part, found)
            more = (part.count or 0) if is_new else 0
            counts[rank] = replace(counts[rank], complex=(counts[rank].complex or 0) + more)
            notes += part.notes
            levels.append(part.completeness)
            apart = apart if top > MOST_SPECIAL else []
    kinds, scope = _limits(problem, loss, top)
    if top and charted < problem.width:
        stratum = wide_stratum(problem, loss, charted)
        found += _new(problem, stratum, found)
        notes += stratum.notes
        levels.append(stratum.completeness)
        kinds, scope = [], NO_LIMITS
    for blocks in kinds if method == "homotopy" else []:
        with status_line(f"limits of {sum(map(abs, blocks))} neurons", progress) as tell:
            stratum = output_limits(problem, loss, blocks, certify, seed, tell)
        found += stratum.found
        notes += stratum.notes
        levels.append(stratum.completeness)
        if stratum.singular:
            scope = scope or SCOPE.format(width=problem.width, which="no others meet")
    level = weakest(levels)
    closed = not scope and level != "sampled"
    scope = "; ".join([*([scope] if scope else []), *apart])
    return assembled(problem, loss, found, counts, level, notes, method=method, closed=closed, scope=scope)


def _special(
    problem: Problem, loss: OutputsLoss, top: int, certify: bool, seed: int, progress: bool
) -> Iterator[tuple[int, ApartStratum, bool]]:
    """Quadratic neurons in special position, which paths do not lead to: how many they are, what was found, and whether
    functions are none of fewer neurons."""
    if top < 2 or problem.degree > 2 or not has_shared_stratum(problem, loss.rank, 2):
        return
    spaces = loss.spaces(problem)
    with status_line("parallel outer weights", progress) as tell:
        yield 2, shared_stratum(problem, spaces, spaces.independent, certify, seed, tell), True
    for kind in special_kinds(problem.n, loss.rank) if top > 2 else []:
        with status_line(kind.name, progress) as tell:
            part = special_stratum(problem, loss, kind, certify, seed, tell)
        yield 3, part, kind is not IN_A_PLANE or loss.rank > 2


def _apart_points(problem: Problem, part: ApartStratum, known: list[OutputPoint]) -> list[OutputPoint]:
    """Critical networks that paths do not lead to, those whose functions are new."""
    found = []
    for item in part.beside([point.entries for point in known if not point.limit]):
        point, family = item.point, item.family
        net = Network(item.W, item.A, problem.activation)
        idle = len(item.W) < problem.width  # its kind is that of an idle neuron
        inward = -inf if not idle and apart_kind(problem, item, net) == "saddle" else 0.0
        dimension, text = (0, "") if family is None else (family.dimension, family.description)
        found.append(
            OutputPoint(
                item.A,
                item.W,
                point.entries,
                point.signature,
                point.certificate,
                dimension,
                text,
                inward=inward,
            )
        )
    return found


def _new(problem: Problem, stratum: OutputStratum, found: list[OutputPoint]) -> list[OutputPoint]:
    """Those of a stratum whose functions are not among the found ones."""
    known = [point.entries for point in found]
    near = POINT_ERROR * float(np.abs(problem._optimum[0]).max())
    return [point for point in stratum.found if not is_among(point.entries, known, near)]


def _is_open(problem: Problem, loss: OutputsLoss, top: int) -> bool:
    """Whether three and more neurons can be in special position, where no path leads, for generic targets.

    Two are in none but that of parallel outer weights, at degree 2, where those of three are known (`_special`); in two
    inputs slopes have common roots, and that is all (`wide_binary`).
    """
    return top > 2 and loss.rank > 1 and problem.n > 2


def _limits(problem: Problem, loss: OutputsLoss, top: int) -> tuple[list[tuple[int, ...]], str]:
    """The kinds of limits that are charted, and what is said where there are others.

    Of one independent output at degree 2 there are none: networks are the forms of a rank and less. Three points of the
    plane come together along a curve or from two sides, beside two and one, and where such limits of three squares are
    in special position (an outer weight of wv or of v² + wu is parallel to another) they are networks. Beside a norm
    neuron limits are those under the quotient metric: no function of width below n is a multiple of ‖x‖².
    """
    if top < 2 or (problem.degree == 2 and loss.rank == 1):
        return [], ""
    if problem.norm_neuron and problem.constants:
        return [], SCOPE.format(width=problem.width, which="no neurons merge")
    if top == MOST_SPECIAL and is_dual(problem, loss.rank):
        return [(2,), (2, 1), (3,), (FAT,)], ""
    kinds: list[tuple[int, ...]] = merging_kinds(top, IN_ONE_PLACE) if problem.n == 2 else [(2,)]
    most = IN_ONE_PLACE if problem.n == 2 else 2
    which = "up to three merge in each place" if problem.n == 2 else "two merge and no others are left"
    return kinds, "" if top <= most else SCOPE.format(width=problem.width, which=which)


def _chartable(problem: Problem) -> tuple[OutputsLoss, int]:
    """The exact loss, and up to how many neurons there are equations; refused without a finite list, or a short one."""
    n, d, M = problem.n, problem.degree, problem.outputs
    require_invisible(problem, problem.gram())
    require_few(one_neuron_count(d, n, M), f"one neuron of degree {d} with {M} outputs at n = {n}")
    loss = OutputsLoss.of(problem)
    charted = charted_rank(problem, loss)
    if charted is None and problem.norm_neuron:
        n -= problem.constants
        raise InvalidProblem(
            f"Networks of {n} neurons and more see the norm ‖x‖² themselves, so that with a norm neuron their critical "
            f'points are not isolated. Use a width below {n}, or method="descent".'
        )
    if charted is None:
        raise InvalidProblem(
            f"Infinitely many networks of {problem.width} neurons of degree {d} with {n} inputs and {M} outputs have "
            'the same function, so their critical points are not isolated. Use a smaller width, or method="descent".'
        )
    return loss, charted
