"""All block-symmetric critical points of the ReLU teacher-student problem: a complete list, by exclusion.

The teacher is Σᵢ ReLU(xᵢ) over k coordinates, the student has k neurons and outer weights one (paper 003). Networks
that are fixed by permuting neurons and coordinates together within blocks have a handful of values, whose lengths are
eliminated: one angle for [k], three for [1, k−1], four for [2, k−2]. By Palais' principle critical points among them
are critical points of the whole loss. Spectra are of the whole k²×k² Hessian, through its isotypic blocks or, where
rows are equal, through the narrower network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from flint import arb

from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.rounding import above, below, longest
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.result import Exclusion
from shallows.mathematics.exclusion.search import exclude
from shallows.questions.charts.exclusion.listed import Listed, chart_of_listed
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.result import Chart
from shallows.questions.relu.block_cell import entries_of
from shallows.questions.relu.block_form import BlockForm, checked_sizes
from shallows.questions.relu.block_system import TUBE, BlockSystem
from shallows.questions.relu.narrow import BITS, Line, NarrowPoint, equal_rows, narrow_point
from shallows.questions.relu.parallel_rows import parallel_directions, pull
from shallows.questions.relu.setting import relu_problem
from shallows.questions.relu.symmetric import critical_point
from shallows.support.checks import positive_integer
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.progress import Progress

#: Angles that are searched at most: five take days.
MOST_ANGLES = 4
#: Values of a proved zero are known to about 1e-13: closer to each other, or to integers, they are tried as equal.
EQUAL = 1e-7
METHOD = "interval exclusion over directions, Krawczyk, isotypic blocks in ball arithmetic"


@dataclass(frozen=True, eq=False)
class SymmetricPoint:
    """A block-symmetric critical point: its form, its loss in bounds (E, not ½E), and all k² Hessian eigenvalues.

    `spectrum` has (eigenvalue, multiplicity, representation), ascending; `rows` is the number of distinct rows.

    >>> for point in sh.relu.symmetric_chart(6, [6]).symmetric:     # αI + β11ᵀ: four, two of them with equal rows
    ...     print(f"{point.half_loss:.9f}", point.rows, point.signature)
    0.000000000 6 (36, 0, 0)
    0.055668581 6 (36, 0, 0)
    1.171273148 1 (6, 5, 25)
    3.708141487 1 (1, 5, 30)
    """

    form: BlockForm
    loss_bounds: tuple[float, float]
    spectrum: list[Line] = field(repr=False)
    signature: tuple[int, int, int]
    certificate: Certificate
    rows: int

    @property
    def half_loss(self) -> float:
        """½E(f−y)², as in paper 003."""
        return max(0.25 * (self.loss_bounds[0] + self.loss_bounds[1]), 0.0)


@dataclass(frozen=True, repr=False)
class SymmetricChart(Chart):
    """A chart of the networks that block permutations fix; `symmetric` has spectra, in the order of `chart.critical`.

    Signatures are of the Hessian in all k² weights.

    >>> chart = sh.relu.symmetric_chart(6, [6])
    >>> [f"{point.half_loss:.9f}" for point in chart.symmetric]
    ['0.000000000', '0.055668581', '1.171273148', '3.708141487']
    >>> chart.kinds(), chart.completeness, chart.scope
    ({'global minimum': 1, 'local minimum': 1, 'saddle': 2}, 'proved', 'networks fixed by S_6, without zero rows')
    """

    symmetric: tuple[SymmetricPoint, ...] = ()


def symmetric_chart(k: int, blocks: Sequence[int], *, progress: bool = False) -> SymmetricChart:
    """Every critical point fixed by the blocks' permutations, against the teacher Σᵢ ReLU(xᵢ), i ≤ k (paper 003).

    Zero rows are left out: the loss has no derivative there. With two blocks, networks whose rows are all within
    0.01 rad of each other are left out (`chart.scope`), but for those whose rows are exactly parallel: these are
    critical points of one neuron, split, and listed as families.

    >>> [f"{loss / 2:.6f}" for loss in sh.relu.symmetric_chart(100, [100]).losses]       # two have 100 equal rows
    ['0.000000', '0.142074', '470.746828', '630.698211']
    """
    sizes = checked_sizes(positive_integer("k", k, minimum=2), blocks)
    cells = list(_cells(sizes))
    angles = sum(len(entries_of(sizes, a)) - 1 for a in range(len(sizes)))
    if angles > MOST_ANGLES:
        raise InvalidProblem(
            f"The blocks {list(sizes)} leave {angles} angles; up to {MOST_ANGLES} are searched: one block, or two. "
            "Fix: coarser blocks, or symmetric_minimum for one point."
        )
    systems, searches = [], []
    with Progress(len(cells), "excluding directions", progress, "cells") as bar:
        for faces in cells:
            system = BlockSystem(sizes, faces)
            systems.append(system)
            searches.append(exclude(system, system.region(), progress=progress))
            bar.advance()
    points = [_point(system, search, i) for system, search, i in _distinct(systems, searches)]
    families, complete = _families(sizes) if len(sizes) > 1 else ([], True)
    return _chart(sizes, points, families, _scope(sizes, searches, complete), searches)


def _cells(sizes: Sequence[int]) -> Iterator[tuple[tuple[int, int], ...]]:
    faces = [
        [(i, sign) for i in range(len(entries_of(sizes, a))) for sign in (1, -1)] for a in range(len(sizes))
    ]
    yield from product(*faces)


def _distinct(
    systems: list[BlockSystem], searches: list[Exclusion]
) -> list[tuple[BlockSystem, Exclusion, int]]:
    """Zeros of all cells, each once."""
    kept: list[tuple[BlockSystem, Exclusion, int]] = []
    for system, search in zip(systems, searches, strict=True):
        for i in range(len(search.box)):
            if not any(_same(system, search.box[i], *other) for other in kept):
                kept.append((system, search, i))
    return kept


def _same(system: BlockSystem, box: Intervals, other: BlockSystem, search: Exclusion, i: int) -> bool:
    """Whether a zero of one cell is zero i of another."""
    there = system.moved(box, other)
    if there is None or np.any((there.lo > search.box.hi[i]) | (there.hi < search.box.lo[i])):
        return False
    if np.all(there.within(search.domain[i])):
        return True
    raise NotConverged(f"Two cells have zeros that may be the same: {there!r} and {search.box[i]!r}.")


def _point(system: BlockSystem, search: Exclusion, i: int) -> SymmetricPoint:
    """What a proved zero is: a permutation, a network with equal rows, or one with distinct rows."""
    form = BlockForm.of(system.sizes, system.table(search.box.mid[i]))
    whole = np.round(form.values)
    equal = [
        a for a, p in enumerate(form.sizes) if p > 1 and abs(form.values[a, a] - form.values[a, -1]) < EQUAL
    ]
    if np.abs(form.values - whole).max() < EQUAL:
        made = _isotypic(BlockForm.of(form.sizes, whole), exact=True)
    elif equal:
        made = _with_equal_rows(form, equal)
    else:
        made = _isotypic(form, exact=False)
    moved = system.coordinates(made.form.values)
    domain = search.domain[i]
    if not np.all((moved > domain.lo) & (moved < domain.hi)):
        raise NotConverged(f"The refined point {made.form!r} has left the box in which it is unique.")
    return made


def _isotypic(form: BlockForm, exact: bool) -> SymmetricPoint:
    """Distinct rows: Krawczyk in the fixed space, spectrum from the isotypic blocks."""
    found = critical_point(form, exact)
    positive = zero = negative = 0
    for part in found.isotypes:
        signs = inertia(part.matrix, BITS)
        positive += part.dimension * signs.positive
        negative += part.dimension * signs.negative
        zero += part.dimension * signs.undecided
    proof = Certificate(found.radius, zero == 0, True, METHOD)
    return SymmetricPoint(
        found.form, found.loss_bounds, found.spectrum(), (positive, zero, negative), proof, form.k
    )


def _with_equal_rows(form: BlockForm, equal: list[int]) -> SymmetricPoint:
    """Some blocks have equal rows: the narrower network."""
    if len(form.sizes) == 1:
        point = equal_rows(form.k, 1 if form.values[0, 0] > 0 else -1)
        return _of_narrow(form.sizes, point, [0], [form.k])
    W = form.network().W
    firsts, counts, at = [], [], 0
    for a, p in enumerate(form.sizes):
        firsts += [at] if a in equal else list(range(at, at + p))
        counts += [p] if a in equal else [1] * p
        at += p
    return _of_narrow(form.sizes, narrow_point(W[firsts], counts), firsts, counts)


def _of_narrow(
    sizes: tuple[int, ...], point: NarrowPoint, firsts: list[int], counts: list[int]
) -> SymmetricPoint:
    """The block table of a narrow network: values of the first row of each block."""
    starts = np.cumsum([0, *sizes]).tolist()
    table = np.zeros((len(sizes), len(sizes) + 1))
    gaps = []
    for a, start in enumerate(starts[:-1]):
        place = firsts.index(start)
        row = point.rows[place]
        for c, at in enumerate(starts[:-1]):
            table[a, c] = float(row[at].mid())
        table[a, -1] = float(row[start + 1].mid()) if sizes[a] > 1 else 0.0
        gaps += [arb(counts[place]).sqrt() * (x - arb(float(x.mid()))) for x in row]
    proof = Certificate(longest(gaps), point.certified, True, METHOD)
    bounds = (below(point.loss), above(point.loss))
    return SymmetricPoint(
        BlockForm.of(sizes, table), bounds, point.spectrum, point.signature, proof, len(counts)
    )


def _families(sizes: tuple[int, ...]) -> tuple[list[SymmetricPoint], bool]:
    """All rows parallel: the member whose rows are equal stands for the family."""
    directions, complete = parallel_directions(sizes)
    found = []
    for values in directions:
        length = 2 * pull(sizes, values) / sum(sizes)
        row = np.repeat(values * length, sizes)
        point = narrow_point(row[None, :], [sum(sizes)])
        full = NarrowPoint(
            point.rows * len(sizes), point.loss, point.spectrum, point.signature, point.certified
        )
        starts = np.cumsum([0, *sizes]).tolist()[:-1]
        made = _of_narrow(sizes, full, starts, [sum(sizes)] * len(sizes))
        found.append(
            SymmetricPoint(made.form, made.loss_bounds, made.spectrum, made.signature, made.certificate, 1)
        )
    return found, complete


def _scope(sizes: tuple[int, ...], searches: list[Exclusion], complete: bool) -> str:
    group = " × ".join(f"S_{p}" for p in sizes)
    scope = f"networks fixed by {group}, without zero rows"
    if len(sizes) > 1:
        scope += f", outside {TUBE} rad of all rows parallel"
    left = sum(len(s.undecided) + len(s.pending) for s in searches)
    if left:
        share = sum(s.share(s.undecided) + s.share(s.pending) for s in searches) / len(searches)
        scope += f", but for {left:,} boxes of directions ({share:.2g} of all)"
    return scope if complete else scope + ", parallel rows not complete"


def _chart(
    sizes: tuple[int, ...],
    points: list[SymmetricPoint],
    families: list[SymmetricPoint],
    scope: str,
    searches: list[Exclusion],
) -> SymmetricChart:
    k = sum(sizes)
    everything = sorted([*points, *families], key=lambda p: (p.half_loss, p.rows))
    listed = [
        Listed(
            p.form.network(),
            (max(p.loss_bounds[0], 0.0), p.loss_bounds[1]),
            p.rows,
            p.signature,
            p.certificate,
            dimension=len(sizes) - 1 if p in families else 0,
            description="all rows parallel: one neuron, its length shared out" if p in families else "",
        )
        for p in everything
    ]
    boxes = sum(search.boxes for search in searches)
    chart = chart_of_listed(
        relu_problem(k),
        listed,
        scope=scope,
        notes=(f"{boxes:,} boxes of directions; signatures are of the Hessian in all {k * k:,} weights",),
    )
    title = f"ReLU, k = {k}, blocks {list(sizes)}"
    given = {name: getattr(chart, name) for name in chart.__dataclass_fields__}
    return SymmetricChart(**{**given, "title": title}, symmetric=tuple(everything))
