"""All block-symmetric critical points of the ReLU teacher-student problem: a complete list, by exclusion.

The teacher is Σᵢ ReLU(xᵢ) over k coordinates, the student has k neurons and outer weights one (paper 003). Networks
that are fixed by permuting neurons and coordinates together within blocks have a handful of values, whose lengths are
eliminated: one angle for [k] (`one_angle`), three for [1, k−1], four for [2, k−2]. By Palais' principle critical points
among them are critical points of the whole loss. Spectra are of the whole k²×k² Hessian, through its isotypic blocks
or, where rows are equal, through the narrower network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from shallows.mathematics.exclusion.result import Exclusion
from shallows.model.problem import Problem
from shallows.questions.charts.exclusion.listed import Listed, chart_of_listed
from shallows.questions.charts.file import FORMAT, chart_contents, chart_fields
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.result import Chart
from shallows.questions.relu.block_cell import entries_of
from shallows.questions.relu.block_form import BlockForm, checked_sizes
from shallows.questions.relu.block_orbits import alike, images
from shallows.questions.relu.block_search import BlockSearch, search_blocks
from shallows.questions.relu.block_system import TUBE, BlockSystem
from shallows.questions.relu.one_angle import Directions, critical_directions
from shallows.questions.relu.parallel_rows import parallel_directions
from shallows.questions.relu.setting import relu_problem
from shallows.questions.relu.symmetric_lists import StoredList, stored_list
from shallows.questions.relu.symmetric_point import SymmetricPoint, parallel_point, point_near
from shallows.support.arguments import typed
from shallows.support.checks import positive_integer
from shallows.support.errors import InvalidProblem, NotConverged

#: Angles that are searched at most: five take days.
MOST_ANGLES = 4
#: Boxes that a search examines at most: about a quarter of an hour of processor time. Three angles take half a million.
MOST_BOXES = 120_000_000
#: Problems that are kept for further charts: five matrices of 8 MB each at k = 1,000.
PROBLEMS = 4
#: Stored values are doubles of proved points: proving them anew moves nothing but the last digits.
MOVED = 1e-12


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

    def save(self, path: str | Path) -> Path:
        """Write `path`.json and `path`.npz, spectra included; `SymmetricChart.load` reads all of it."""
        document, arrays = chart_contents(self)
        document["symmetric"] = [
            {
                "sizes": list(p.form.sizes),
                "values": p.form.values.tolist(),
                "loss_bounds": list(p.loss_bounds),
                "spectrum": [list(line) for line in p.spectrum],
                "signature": list(p.signature),
                "certificate": asdict(p.certificate),
                "rows": p.rows,
            }
            for p in self.symmetric
        ]
        return FORMAT.save(path, document, arrays)

    @classmethod
    def load(cls, path: str | Path) -> SymmetricChart:
        """What `save` wrote.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = sh.relu.symmetric_chart(6, [6]).save(f"{folder}/six")
        ...     loaded = sh.relu.SymmetricChart.load(file)
        >>> [sum(times for _, times, _ in point.spectrum) for point in loaded.symmetric]
        [36, 36, 36, 36]
        """
        contents = FORMAT.load(path)
        fields = chart_fields(contents)
        with contents.reading():
            points = tuple(
                SymmetricPoint(
                    BlockForm.of(entry["sizes"], entry["values"]),
                    (float(entry["loss_bounds"][0]), float(entry["loss_bounds"][1])),
                    [(float(value), int(times), str(name)) for value, times, name in entry["spectrum"]],
                    (int(entry["signature"][0]), int(entry["signature"][1]), int(entry["signature"][2])),
                    Certificate(**entry["certificate"]),
                    int(entry["rows"]),
                )
                for entry in contents.document["symmetric"]
            )
        return cls(**fields, symmetric=points)


@typed
def symmetric_chart(
    k: int,
    blocks: Sequence[int],
    *,
    search: bool = False,
    workers: int = 1,
    progress: bool = False,
    keep: str | Path | None = None,
    most: int = MOST_BOXES,
) -> SymmetricChart:
    """Every critical point fixed by the blocks' permutations, against the teacher Σᵢ ReLU(xᵢ), i ≤ k (paper 003).

    Zero rows are left out: the loss has no derivative there. With two blocks, networks whose rows are all within
    0.01 rad of each other are left out (`chart.scope`), but for those whose rows are exactly parallel: these are
    critical points of one neuron, split, and listed as families.

    Lists for [1, k−1], k = 3 to 20, and [2, k−2], k = 4 to 8, are stored: their points are proved anew when asked for,
    and that none is missing was proved by the search whose number of boxes is in `chart.notes`. `search=True` searches
    again: three seconds for [1, k−1]; [2, k−2] has four angles, and takes minutes. A search is written to the folder
    `keep` as it goes; one that was stopped goes on from there.

    Where a search stops after `most` boxes, `chart.scope` says which share of the directions is open, and
    `chart.completeness` is not "proved". Points there are found by Newton's method from the open boxes, and each of
    them is proved.

    >>> [f"{loss / 2:.6f}" for loss in sh.relu.symmetric_chart(100, [100]).losses]       # two have 100 equal rows
    ['0.000000', '0.142074', '470.746828', '630.698211']
    >>> chart = sh.relu.symmetric_chart(6, [1, 5])
    >>> len(chart.points), len(chart.families), chart.completeness
    (12, 2, 'proved')
    """
    sizes = checked_sizes(positive_integer("k", k, minimum=2), blocks)
    angles = sum(len(entries_of(sizes, a)) - 1 for a in range(len(sizes)))
    if angles > MOST_ANGLES:
        raise InvalidProblem(
            f"The blocks {list(sizes)} leave {angles} angles; up to {MOST_ANGLES} are searched: one block, or two. "
            "Fix: coarser blocks, or symmetric_minimum for one point."
        )
    known = None if search else stored_list(sizes)
    if known is not None:
        return _of_stored(known)
    if len(sizes) == 1 and not search and keep is None:
        directions = critical_directions(sizes[0])
        if not directions.undecided:
            return _of_directions(sizes, directions)
    return chart_of_search(sizes, search_blocks(sizes, most, workers, progress, keep))


def chart_of_search(sizes: tuple[int, ...], search: BlockSearch) -> SymmetricChart:
    """The chart, once all cells have been searched."""
    points: list[SymmetricPoint] = []
    for system, cell, i in search.distinct():
        _add_orbit(points, _point(system, cell, i))
    certain = len(points)
    for table in search.in_open_boxes():
        try:
            _add_orbit(points, point_near(BlockForm.of(sizes, table)))
        except NotConverged:  # (nearly) degenerate: its box stays open, and the scope says so
            continue
    families, complete = _families(sizes) if len(sizes) > 1 else ([], True)
    note = f"{search.boxes:,} boxes of directions; {_signatures(sizes)}"
    if not search.complete:
        note += f"; {len(points) - certain} of the points were found by Newton's method from open boxes, and proved"
    searched = complete and search.complete
    return _chart(sizes, points, families, _scope(sizes, search, complete), note, searched)


def _add_orbit(points: list[SymmetricPoint], point: SymmetricPoint) -> None:
    """The point and what permuting neurons makes of it, each proved, where they are not there yet."""
    sizes = point.form.sizes
    for table in images(sizes, point.form.values):
        if not any(alike(table, other.form.values) for other in points):
            same = np.array_equal(table, point.form.values)
            points.append(point if same else point_near(BlockForm.of(sizes, table)))


def _of_directions(sizes: tuple[int, ...], directions: Directions) -> SymmetricChart:
    """One block: the critical directions of its rows, each proved anew to be a critical point, and the one it was."""
    points = []
    for i, values in enumerate(directions.values()):
        points.append(point_near(BlockForm.of(sizes, values[None])))
        if not directions.holds(i, points[-1].form.values[0]):
            raise NotConverged(
                f"The refined point {points[-1].form!r} has left the box in which it is unique."
            )
    note = f"{directions.boxes:,} intervals of one angle; {_signatures(sizes)}"
    return _chart(sizes, points, [], _scope(sizes, None, True), note, True)


def _of_stored(known: StoredList) -> SymmetricChart:
    """The stored list: every point proved anew, none of them twice."""
    sizes = known.sizes
    points = [point_near(BlockForm.of(sizes, values)) for values in known.values]
    for i, (point, values) in enumerate(zip(points, known.values, strict=True)):
        near = np.abs(point.form.values - values).max() < MOVED * np.abs(values).max()
        if not near or any(np.array_equal(point.form.values, other.form.values) for other in points[:i]):
            raise NotConverged(f"The stored list of {list(sizes)} is wrong: point {i} is not where it says.")
    families, complete = _families(sizes)
    again = f"sh.relu.symmetric_chart({sum(sizes)}, {list(sizes)}, search=True)"
    note = (
        f"stored list, its points proved anew; the search had {known.boxes:,} boxes and left none open: {again} "
        f"repeats it; {_signatures(sizes)}"
    )
    return _chart(sizes, points, families, _scope(sizes, None, complete), note, complete)


def _signatures(sizes: tuple[int, ...]) -> str:
    return f"signatures are of the Hessian in all {sum(sizes) ** 2:,} weights"


def _point(system: BlockSystem, search: Exclusion, i: int) -> SymmetricPoint:
    """What a proved zero is; it must not leave the box in which it is the only one."""
    made = point_near(BlockForm.of(system.sizes, system.table(search.box.mid[i])))
    moved = system.coordinates(made.form.values)
    domain = search.domain[i]
    if not np.all((moved > domain.lo) & (moved < domain.hi)):
        raise NotConverged(f"The refined point {made.form!r} has left the box in which it is unique.")
    return made


def _families(sizes: tuple[int, ...]) -> tuple[list[SymmetricPoint], bool]:
    """All rows parallel: the member whose rows are equal stands for the family."""
    directions, complete = parallel_directions(sizes)
    return [parallel_point(sizes, values) for values in directions], complete


def _scope(sizes: tuple[int, ...], search: BlockSearch | None, complete: bool) -> str:
    group = " × ".join(f"S_{p}" for p in sizes)
    scope = f"networks fixed by {group}, without zero rows"
    if len(sizes) > 1:
        scope += f", outside {TUBE} rad of all rows parallel"
    if search is not None and not search.complete:
        left, share = search.open
        scope += f", but for {left:,} boxes of directions ({share:.2g} of all)"
    return scope if complete else scope + ", parallel rows not complete"


@lru_cache(PROBLEMS)
def _problem(k: int) -> Problem:
    """The problem of a width: at k = 1,000 it takes longer than all of its symmetric points."""
    return relu_problem(k)


def _chart(
    sizes: tuple[int, ...],
    points: list[SymmetricPoint],
    families: list[SymmetricPoint],
    scope: str,
    note: str,
    searched: bool,
) -> SymmetricChart:
    k = sum(sizes)
    everything = sorted([*points, *families], key=lambda p: (p.half_loss, p.rows))
    listed = [
        Listed(
            p.form,
            (max(p.loss_bounds[0], 0.0), p.loss_bounds[1]),
            p.rows,
            p.signature,
            p.certificate,
            dimension=len(sizes) - 1 if p in families else 0,
            description="all rows parallel: one neuron, its length shared out" if p in families else "",
        )
        for p in everything
    ]
    chart = chart_of_listed(_problem(k), listed, scope=scope, notes=(note,), searched=searched)
    title = f"ReLU, k = {k}, blocks {list(sizes)}"
    given = {name: getattr(chart, name) for name in chart.__dataclass_fields__}
    return SymmetricChart(**{**given, "title": title}, symmetric=tuple(everything))
