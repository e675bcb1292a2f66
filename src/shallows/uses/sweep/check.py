"""What is checked before anything runs: form, paths, functions and their settings, and that problems can be built.

Every value of every axis is tried once, the other axes at their first value (on an axis of more than 500 values, 500
evenly spaced ones). A combination of values that cannot be built becomes a row with its error; it stops nothing.
"""

from __future__ import annotations

from typing import Any

from shallows.support.errors import InvalidProblem, ShallowsError
from shallows.uses.sweep.documents import pieces
from shallows.uses.sweep.file import SweepSection, computations, prefixes
from shallows.uses.sweep.functions import check_call, resolve
from shallows.uses.sweep.problems import maker_of
from shallows.uses.sweep.quantities import QUANTITIES
from shallows.uses.sweep.rows import Rows

TRIED = 500


def check(rows: Rows) -> None:
    """Raise `InvalidProblem` with the first thing that is wrong, if anything is."""
    pieces(rows.section.template(), rows.grid.paths)
    _check_figures(rows.section)
    _check_names(rows.section)
    for cell in _tried(rows):
        try:
            _check_cell(rows, cell)
        except ShallowsError as error:
            labels = rows.grid.labels(cell)
            where = ", ".join(f"{name} = {value}" for name, value in labels.items()) or "the only cell"
            raise InvalidProblem(f"At {where}: {error}") from error
    _check_distinct(rows)


def _tried(rows: Rows) -> list[int]:
    chosen = rows.grid.one_at_a_time()
    return chosen[:: max(1, -(-len(chosen) // TRIED))]


def _check_cell(rows: Rows, cell: int) -> None:
    document = rows.document(cell)
    problem = document["problem"]
    offered: dict[str, Any] = {"rng": None, "seed": None}
    if problem is not None:
        maker = maker_of(problem)
        if maker is not None:
            check_call(rows.function(maker[0]), *maker, offered)
        rows.problem(rows.cell(cell * rows.section.repeats))
        offered["problem"] = None
    for section in computations(document):
        target = resolve(section.what, QUANTITIES, "quantity")
        check_call(rows.function(target), target, section.settings, offered)


def _check_names(section: SweepSection) -> None:
    names = prefixes(section.computations)
    if len(set(names)) < len(names):
        raise InvalidProblem(
            "Two quantities have the same name. Fix: give each [[compute]] table its own name = '…'."
        )


def _check_figures(section: SweepSection) -> None:
    axes = section.grid().columns
    for figure in section.figures:
        for key in ("x", "by") if figure.kind == "line" else ("x", "y"):
            name = getattr(figure, key)
            if name is not None and name not in axes:
                raise InvalidProblem(
                    f"A {figure.kind} figure has {key} = {name!r}; the axes are {', '.join(axes)}."
                )


def _check_distinct(rows: Rows) -> None:
    first: dict[str, int] = {}
    for row, key in enumerate(rows.keys()):
        if key in first:
            one, other = rows.split(first[key])[0], rows.split(row)[0]
            raise InvalidProblem(
                f"Cells {rows.grid.labels(one)} and {rows.grid.labels(other)} are the same problem with the same "
                "settings. Fix: an axis without path belongs into a zip; more runs of a cell are repeats."
            )
        first[key] = row
