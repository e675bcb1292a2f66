"""What is checked before anything runs: form, paths, functions and their settings, and that problems can be built.

Every value of every axis is tried once, the other axes at their first value (on an axis of more than 500 values, 500
evenly spaced ones). A combination of values that cannot be built becomes a row with its error; it stops nothing.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from shallows.support.errors import InvalidProblem, ShallowsError
from shallows.support.version import __version__
from shallows.uses.sweep.documents import pieces
from shallows.uses.sweep.file import SweepSection, computations, prefixes
from shallows.uses.sweep.functions import check_call, digest, importable, resolve
from shallows.uses.sweep.plan import Plan
from shallows.uses.sweep.problems import MAKERS, build_problem, maker_of
from shallows.uses.sweep.quantities import QUANTITIES

TRIED = 500
FILE = "problem.data.file"


def checked_plan(section: SweepSection, folder: str, source: str) -> Plan:
    """The plan of a sweep, or `InvalidProblem` with the first thing that is wrong."""
    importable(folder)
    plan = Plan(section, __version__, _digests(section, folder), folder, source)
    pieces(section.template(), plan.grid.paths)
    _check_figures(section)
    _check_names(section)
    for cell in _tried(plan):
        try:
            _check_cell(plan, cell)
        except ShallowsError as error:
            labels = plan.grid.labels(cell)
            where = ", ".join(f"{name} = {value}" for name, value in labels.items()) or "the only cell"
            raise InvalidProblem(f"At {where}: {error}") from error
    _check_distinct(plan)
    return plan


def _tried(plan: Plan) -> list[int]:
    chosen = plan.grid.one_at_a_time()
    return chosen[:: max(1, -(-len(chosen) // TRIED))]


def _check_cell(plan: Plan, cell: int) -> None:
    document = plan.document(cell)
    problem = document["problem"]
    offered: dict[str, Any] = {"rng": None, "seed": None}
    if problem is not None:
        maker = maker_of(problem)
        if maker is not None:
            check_call(plan.function(maker[0]), *maker, offered)
        build_problem(problem, plan.folder, plan.cell(cell * plan.section.repeats).seed, plan.function)
        offered["problem"] = None
    for section in computations(document):
        target = resolve(section.what, QUANTITIES, "quantity")
        check_call(plan.function(target), target, section.settings, offered)


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


def _check_distinct(plan: Plan) -> None:
    first: dict[str, int] = {}
    for row, key in enumerate(plan.keys()):
        if key in first:
            one, other = plan.split(first[key])[0], plan.split(row)[0]
            raise InvalidProblem(
                f"Cells {plan.grid.labels(one)} and {plan.grid.labels(other)} are the same problem with the same "
                "settings. Fix: an axis without path belongs into a zip; more runs of a cell are repeats."
            )
        first[key] = row


def _digests(section: SweepSection, folder: str) -> dict[str, str]:
    """Hashes of the files that results depend on: users' functions, and data beside the sweep file."""
    grid, template = section.grid(), section.template()
    values = {path: group.values[path] for group in grid.groups for path in group.values}
    found: dict[str, str] = {}
    names = [(s.what, QUANTITIES, "quantity") for s in section.computations]
    names += [(what, QUANTITIES, "quantity") for path in values if _is(path, "what") for what in values[path]]
    if section.problem is not None and "make" in section.problem:
        makers = [section.problem["make"], *values.get("problem.make", [])]
        names += [(make, MAKERS, "problem") for make in makers]
    for name, built_in, kind in names:
        target = resolve(str(name), built_in, kind)
        mark = digest(target, folder)
        if mark:
            found[target] = mark
    data = (template["problem"] or {}).get("data")
    if FILE not in values and isinstance(data, dict) and isinstance(data.get("file"), str):
        found[f"data {data['file']}"] = _file_digest(folder, data["file"])
    for name in values.get(FILE, []):
        found[f"file {name}"] = _file_digest(folder, name)
    return found


def _is(path: str, last: str) -> bool:
    return path.startswith("compute") and path.split(".")[-1] == last


def _file_digest(folder: str, name: Any) -> str:
    try:
        return hashlib.sha256((Path(folder) / str(name)).read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise InvalidProblem(f"Cannot read the data file {name}: {error.strerror}.") from None
