"""One cell: build its problem, compute its quantities, and give the row; an error becomes a row that names it."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from shallows.support.cores import one_thread
from shallows.support.errors import InvalidProblem
from shallows.support.progress import silent
from shallows.support.version import __version__
from shallows.uses.sweep.faults import InputChanged
from shallows.uses.sweep.file import HEAD, RESERVED, computations, prefixes
from shallows.uses.sweep.functions import asked_for, importable, resolve
from shallows.uses.sweep.inputs import EVERYWHERE, ON_AN_AXIS, require_unchanged
from shallows.uses.sweep.interrupts import given_up
from shallows.uses.sweep.plan import Plan, cached_plan
from shallows.uses.sweep.quantities import QUANTITIES
from shallows.uses.sweep.rows import Cell

Row = dict[str, Any]

DONE, FAILED, SET_ASIDE = "done", "error", "set aside"


def compute_rows(plan: Plan, rows: Sequence[int]) -> list[Row]:
    """The rows of these numbers, one after the other, on one thread; none if a file has changed that they depend on."""
    importable(plan.folder)
    with one_thread(), silent():
        computed = [compute_row(plan, row) for row in rows]
    cells = {plan.split(row)[0] for row in rows}
    require_unchanged((plan.document(cell) for cell in cells), plan.folder, plan.digests)
    return computed


def compute_chunk(text: str, rows: Sequence[int]) -> list[Row]:
    """What a worker does: the rows of a plan that came as text, if it is able to at all."""
    plan = cached_plan(text)
    if __version__ != plan.version:
        raise InvalidProblem(
            f"this worker has shallows {__version__}, the sweep was started with {plan.version}"
        )
    importable(plan.folder)
    for target in plan.digests:
        if ":" in target and not target.startswith((EVERYWHERE, ON_AN_AXIS)):
            plan.function(target)
    return compute_rows(plan, rows)


def compute_row(plan: Plan, row: int) -> Row:
    """One row. Only what the cell itself raises is recorded; Ctrl-C and the end of the process go through."""
    cell = plan.cell(row)
    begin = time.perf_counter()
    try:
        with given_up():
            columns, status, message = _quantities(plan, cell), DONE, None
    except InputChanged:
        raise
    except Exception as error:
        columns, status, message = {}, FAILED, _sentence(error)
    return head(cell, status, message, time.perf_counter() - begin) | columns


def head(cell: Cell, status: str, message: str | None, seconds: float) -> Row:
    """The columns that every row has, and those of the axes."""
    fixed = (cell.key, cell.number, cell.repeat, cell.seed, status, message, seconds)
    return dict(zip(HEAD, fixed, strict=True)) | cell.labels


def _quantities(plan: Plan, cell: Cell) -> Row:
    offered: dict[str, Any] = {"rng": np.random.default_rng(cell.seed), "seed": cell.seed}
    problem = plan.problem(cell)
    if problem is not None:
        offered["problem"] = problem
    sections = computations(cell.document)
    columns: Row = {}
    for section, prefix in zip(sections, prefixes(sections), strict=True):
        target = resolve(section.what, QUANTITIES, "quantity")
        function = plan.function(target)
        result = function(**asked_for(function, offered), **section.settings)
        columns |= {f"{prefix}{name}": value for name, value in flat(result, target).items()}
    taken = (set(cell.labels) | set(RESERVED)) & set(columns)
    if taken:
        raise InvalidProblem(
            f"The result has a column {', '.join(sorted(taken))}, which is an axis or a column of every row. Fix: "
            "name = '…' in [compute] puts a name before the columns."
        )
    return columns


def flat(result: Any, target: str) -> Row:
    """A number, or a mapping of names to numbers, text and booleans, as columns of plain Python values.

    Lists and tables of them are written as JSON, as those of an axis are.

    >>> flat(np.float64(0.5), "module:function"), flat([{"k": 6}], "module:function")
    ({'value': 0.5}, {'value': '[{"k": 6}]'})
    """
    given = result if isinstance(result, Mapping) else {"value": result}
    return {str(name): _scalar(value, str(name), target) for name, value in given.items()}


def _scalar(value: Any, name: str, target: str) -> bool | int | float | str | None:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.bool_, np.number)) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, (bool, float, str)) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    if isinstance(value, (list, tuple, dict)):
        with suppress(TypeError):  # something in it is no plain value
            return json.dumps(value, ensure_ascii=False)
    raise InvalidProblem(
        f"{target!r} returned {name} = {type(value).__name__}; expected a number, text or a boolean, or lists and "
        "dicts of them."
    )


def _sentence(error: Exception) -> str:
    """The error and where it was raised, on one line."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:1000]}{place}"
