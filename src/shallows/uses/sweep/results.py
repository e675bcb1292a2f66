"""Results read back: `load_sweep` as a DataFrame, `sweep_status` as counts and errors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shallows.support.arguments import typed
from shallows.uses.sweep.cell import DONE, FAILED, SET_ASIDE
from shallows.uses.sweep.extra import need
from shallows.uses.sweep.file import RESERVED, TURN
from shallows.uses.sweep.parts import ASIDE, parts
from shallows.uses.sweep.store import load_plan, read_table

SHOWN = 8


@typed
def load_sweep(path: str | Path, everything: bool = False) -> Any:
    """The rows of a sweep as a pandas DataFrame, in the order of the grid, whatever order they were computed in.

    Axes first, then what was computed, then `seed`, `status`, `error`, `seconds`, `written` and `key`. Rows of an
    earlier version of the sweep (other settings, other axes' values) stay in the folder; `everything=True` appends
    them. The frame's `attrs` say where it comes from.

    >>> from tempfile import TemporaryDirectory
    >>> axes = [{"path": "compute.ratio", "values": [1, 4, 8]}]
    >>> compute = {"what": "barrier-start-probability", "d": 5, "gamma": "m", "trials": 500}
    >>> with TemporaryDirectory() as out:
    ...     run = sh.run_sweep(sh.sweep.Plan.from_document({"axes": axes, "compute": compute}), out, engine="process")
    ...     frame = sh.load_sweep(out)
    >>> frame.columns.tolist()[:7], frame["m"].tolist(), frame["status"].unique().tolist()
    (['cell', 'ratio', 'repeat', 'm', 'teachers', 'probability', 'seed'], [25, 100, 200], ['done'])
    """
    need("pyarrow", "pandas")
    import pandas

    plan = load_plan(path)
    frame = read_table(path).to_pandas()
    order = {key: row for row, key in enumerate(plan.keys())}
    place = frame["key"].map(order)
    frame = frame.assign(_row=place, written=pandas.to_datetime(frame["written"], unit="s", utc=True))
    current = frame[place.notna()].sort_values("_row")
    current = current.assign(cell=current["_row"].astype(int) // plan.section.repeats)
    chosen = pandas.concat([current, frame[place.isna()]]) if everything else current
    columns = _ordered(list(chosen.columns.drop(["_row", TURN], errors="ignore")), plan.grid.columns)
    frame = chosen[columns].reset_index(drop=True)
    frame.attrs = {"title": plan.section.title, "version": plan.version, "seed": plan.section.seed}
    return frame


def _ordered(columns: list[str], axes: list[str]) -> list[str]:
    first = ["cell", *axes, "repeat"]
    last = ["seed", "status", "error", "seconds", "written", "key"]
    computed = [name for name in columns if name not in first and name not in last]
    return [name for name in (*first, *computed, *last) if name in columns]


@dataclass(frozen=True)
class Trouble:
    """Cells that failed or were set aside with the same message."""

    status: str
    message: str
    count: int
    example: str


@dataclass(frozen=True)
class SweepStatus:
    """How far a sweep is: rows by status, what went wrong, what lies on the disk, and which
    files were found damaged.

    >>> from tempfile import TemporaryDirectory
    >>> axes = [{"path": "compute.ratio", "values": [0.1, 1, 4]}]   # m = 2 is less than d: that cell fails
    >>> compute = {"what": "barrier-start-probability", "d": 5, "gamma": "m", "trials": 500}
    >>> with TemporaryDirectory() as out:
    ...     run = sh.run_sweep(sh.sweep.Plan.from_document({"axes": axes, "compute": compute}), out, engine="process")
    >>> trouble = run.status.troubles[0]
    >>> print(f"{trouble.status} × {trouble.count} at {trouble.example}: {trouble.message}")
    error × 1 at ratio = 0.1, repeat 0: InvalidProblem: m is 2 and d is 5; W₀ᵀW₀ = γI needs m ≥ d. ...
    """

    path: Path
    title: str
    version: str
    rows: int
    done: int
    failed: int
    set_aside: int
    earlier: int
    seconds: float
    files: int
    bytes: int
    troubles: tuple[Trouble, ...]
    damaged: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """Rows that have not been computed."""
        return self.rows - self.done - self.failed - self.set_aside

    @property
    def complete(self) -> bool:
        """Whether every row was computed without an error."""
        return self.done == self.rows

    def __repr__(self) -> str:
        lines = [
            f"Sweep: {self.title or self.path.name}",
            f"  {self.done} of {self.rows} rows done, {self.failed} with an error, {self.set_aside} set aside, "
            f"{self.missing} missing",
            f"  {self.path}: {self.files} files, {self.bytes / 1024:.0f} KiB; shallows {self.version}",
        ]
        if self.done:
            lines.append(f"  {self.seconds / self.done:.3g} s a row on average, {self.seconds:.3g} s in all")
        if self.earlier:
            lines.append(
                f"  {self.earlier} rows of earlier settings or versions (load_sweep(everything=True))"
            )
        for name in self.damaged:
            lines.append(f"  {name} was set aside; its rows are computed again, and it can be deleted")
        for trouble in self.troubles[:SHOWN]:
            lines.append(
                f"  {trouble.status} × {trouble.count}: {trouble.message}  [first at {trouble.example}]"
            )
        if len(self.troubles) > SHOWN:
            lines.append(f"  … and {len(self.troubles) - SHOWN} other errors: load_sweep(path) has them all")
        return "\n".join(lines)


@typed
def sweep_status(path: str | Path) -> SweepStatus:
    """How far the sweep in a folder is, also while it runs.

    >>> from tempfile import TemporaryDirectory
    >>> axes = [{"path": "compute.ratio", "values": [0.1, 1, 4]}]   # m = 2 is less than d: that cell fails
    >>> compute = {"what": "barrier-start-probability", "d": 5, "gamma": "m", "trials": 500}
    >>> with TemporaryDirectory() as out:
    ...     run = sh.run_sweep(sh.sweep.Plan.from_document({"axes": axes, "compute": compute}), out, engine="process")
    ...     status = sh.sweep_status(out)
    >>> status.rows, status.done, status.failed, status.missing, status.complete
    (3, 2, 1, 0, False)
    """
    plan = load_plan(path)
    table = read_table(path)
    files = parts(Path(path))
    keys = set(plan.keys())
    current = np.array([key in keys for key in table["key"].to_pylist()], dtype=bool)
    mine = table.filter(current) if len(current) else table
    statuses: Counter[str] = Counter(mine["status"].to_pylist() if mine.num_rows else [])
    seconds = float(np.sum(mine["seconds"].to_numpy())) if mine.num_rows else 0.0
    return SweepStatus(
        Path(path),
        plan.section.title,
        plan.version,
        len(plan),
        statuses[DONE],
        statuses[FAILED],
        statuses[SET_ASIDE],
        int(np.count_nonzero(~current)),
        seconds,
        len(files),
        sum(file.stat().st_size for file in files if file.exists()),
        _troubles(mine, plan.grid.columns) if mine.num_rows else (),
        tuple(sorted(file.name for file in Path(path).glob(f"{ASIDE}*"))),
    )


def _troubles(table: Any, axes: list[str]) -> tuple[Trouble, ...]:
    """Errors by message, the most frequent first."""
    chosen = [name for name in (*RESERVED, *axes) if name in table.column_names]
    bad = table.select(chosen).filter(np.array([s != DONE for s in table["status"].to_pylist()]))
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in bad.to_pylist():
        groups.setdefault((row["status"], row["error"] or ""), []).append(row)
    found = []
    for (status, message), rows in groups.items():
        first = min(rows, key=lambda row: (row["cell"], row["repeat"]))
        where = ", ".join(f"{name} = {first.get(name)}" for name in axes)
        found.append(
            Trouble(status, message, len(rows), f"{where or 'the only cell'}, repeat {first['repeat']}")
        )
    return tuple(sorted(found, key=lambda trouble: (-trouble.count, trouble.message)))
