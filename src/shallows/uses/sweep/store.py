"""The results of a sweep: a folder of Parquet files that is whole at every moment.

    results/plan.json           the plan of the last run: file, version, hashes
    results/part-….parquet      rows; of a key, the one with the highest turn counts
    results/.lock               held by the process that writes

A part is written under a temporary name, flushed to the disk and renamed, so that it is there whole or not at all.
Small parts are merged into larger ones; if the process dies in between, rows are there twice, and count once.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shallows.support.arguments import typed
from shallows.support.errors import InvalidProblem
from shallows.support.files import TEMPORARY, whole
from shallows.uses.sweep.cell import Row
from shallows.uses.sweep.columns import Columns
from shallows.uses.sweep.extra import need
from shallows.uses.sweep.faults import DamagedFile, StoreError
from shallows.uses.sweep.file import TURN
from shallows.uses.sweep.parts import next_serial, packed, parts, read_part, set_aside
from shallows.uses.sweep.plan import Plan

PLAN, LOCK, PROBE = "plan.json", ".lock", f"{TEMPORARY}probe"
#: Parts of about the same size (within a factor of 32) that may lie side by side before they are merged.
SIDE_BY_SIDE = 32
LEAST_FREE = 8 * 2**20


class Store:
    """The folder, open for writing by one process at a time: `with Store(path, plan, provenance) as store`."""

    def __init__(self, path: str | Path, plan: Plan, provenance: dict[str, Any]) -> None:
        need("pyarrow", "pandas")
        self.path = Path(path)
        self.plan = plan
        self.metadata = {b"shallows": json.dumps(provenance | {"plan": json.loads(plan.to_json())}).encode()}
        self._columns = Columns(plan.grid.labels(0))
        self._lock: Any = None
        self._parts: dict[str, int] = {}
        self._next = 1

    def __enter__(self) -> Store:
        self._prepare()
        try:
            self._refuse_other_sweeps()
            for left in self.path.glob(f"{TEMPORARY}*"):
                left.unlink()
            self._write_file(PLAN, lambda file: file.write_text(self.plan.to_json(), encoding="utf-8"))
            self._read_parts()
            self._next = next_serial(self.path)
        except BaseException:
            self._lock.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.close()

    def add(self, rows: list[Row]) -> None:
        """Write rows, to the disk, all or nothing."""
        if not rows:
            return
        import pyarrow as pa

        now = time.time()
        fitted = [self._columns.fitted(row) | {"written": now, TURN: self._next} for row in rows]
        names = list(dict.fromkeys(name for row in fitted for name in row))
        self._write_table(pa.table({name: _array([row.get(name) for row in fitted]) for name in names}))
        self._merge_where_crowded()

    def compact(self) -> None:
        """Merge all parts into one."""
        if len(self._parts) > 1:
            self._merge(list(self._parts))

    # -- writing ---------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Everything that can be wrong with the folder is found here, before any cell runs."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.path)
        except OSError as error:
            raise self._unusable(error) from None
        try:
            with whole(self.path / PROBE) as probe:
                probe.write_bytes(bytes(1024))
            (self.path / PROBE).unlink()
            free = shutil.disk_usage(self.path).free
        except OSError as error:
            self._lock.close()
            raise self._unusable(error) from None
        if free < LEAST_FREE:
            self._lock.close()
            raise StoreError(
                f"The disk of {self.path} has {free / 2**20:.1f} MiB left; a sweep wants {LEAST_FREE / 2**20:.0f} MiB "
                "at least. Fix: free some space, or --out another folder."
            )

    def _unusable(self, error: OSError) -> StoreError:
        return StoreError(
            f"Cannot write results into {self.path}: {error.strerror or error}. Fix: --out another folder."
        )

    def _refuse_other_sweeps(self) -> None:
        if not (self.path / PLAN).exists():
            return
        try:
            old = load_plan(self.path)
        except DamagedFile as error:
            set_aside(error.file)
            return
        for what, one, other in (
            ("axes", old.grid.columns, self.plan.grid.columns),
            ("quantities", _names(old), _names(self.plan)),
        ):
            if one != other:
                raise InvalidProblem(
                    f"{self.path} holds another sweep: its {what} are {', '.join(one) or 'none'}, not "
                    f"{', '.join(other) or 'none'}. Fix: --out another folder."
                )

    def _read_parts(self) -> None:
        """Every part is read, so that damage is found before cells are computed, and computed again what is lost."""
        for file in parts(self.path):
            try:
                table = read_part(file)
            except DamagedFile as error:
                set_aside(error.file)
                continue
            self._parts[file.name] = table.num_rows
            self._columns.learn(table.schema)

    def _write_table(self, table: Any) -> str:
        name, content = packed(table.replace_schema_metadata(self.metadata), self._next)
        self._next += 1
        self._write_file(name, lambda file: file.write_bytes(content))
        self._parts[name] = table.num_rows
        return name

    def _write_file(self, name: str, write: Callable[[Path], object]) -> None:
        """The file whole, or nothing and the reason."""
        try:
            with whole(self.path / name) as temporary:
                write(temporary)
        except OSError as error:
            raise StoreError(
                f"Cannot write {self.path / name}: {error.strerror or error}. Rows written before are safe: make room "
                "and run the same command again, and it goes on from there."
            ) from error

    def _merge_where_crowded(self) -> None:
        sizes = defaultdict(list)
        for name, count in self._parts.items():
            sizes[count.bit_length() // 5].append(name)
        for names in sizes.values():
            if len(names) > SIDE_BY_SIDE:
                self._merge(names)

    def _merge(self, names: list[str]) -> None:
        table = _table([self.path / name for name in sorted(names)])
        self._write_table(_latest(table))
        for name in names:
            (self.path / name).unlink()
            del self._parts[name]


@typed
def load_plan(path: str | Path) -> Plan:
    """The plan of the last run in a folder of results: its rows can be built again.

    >>> from tempfile import TemporaryDirectory
    >>> problem = {"width": 1, "target": {"diagonal": [2.0, 1.0]}, "data": {"law": "gaussian", "n": 2}}
    >>> document = {"problem": problem, "compute": {"what": "chart"}}
    >>> with TemporaryDirectory() as out:
    ...     run = sh.run_sweep(sh.sweep.Plan.from_document(document), out, engine="process")
    ...     plan = sh.sweep.load_plan(out)
    >>> plan.problem(plan.cell(0)).data
    Gaussian(2)
    """
    try:
        text = (Path(path) / PLAN).read_bytes()
    except OSError as error:
        raise InvalidProblem(
            f"{path} is no folder of sweep results: {PLAN} cannot be read ({error.strerror})."
        ) from None
    return Plan.from_json(text, Path(path) / PLAN)


def read_table(path: str | Path, columns: list[str] | None = None) -> Any:
    """All rows as an Arrow table, the latest one of each key; `columns` reads only these (with the key)."""
    need("pyarrow", "pandas")
    wanted = None if columns is None else ["key", "written", TURN, *columns]
    while True:
        files = parts(Path(path))
        try:
            return _latest(_table(files, wanted))
        except FileNotFoundError:
            continue  # a running sweep has merged parts since they were listed


def _table(files: list[Path], columns: list[str] | None = None) -> Any:
    import pyarrow as pa

    if not files:
        empty = {"key": pa.string(), "written": pa.float64(), TURN: pa.int64()}
        return pa.table({name: pa.array([], kind) for name, kind in empty.items()})
    try:
        return pa.concat_tables([read_part(file, columns) for file in files], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise StoreError(f"The parts of the results do not fit together: {error}.") from None


def _latest(table: Any) -> Any:
    """The row of every key that was written last: by its turn, which no clock can set back.

    Rows of earlier versions have none and come before; among them the time decides.
    """
    import numpy as np

    known = TURN in table.column_names
    turns = table[TURN].fill_null(0).to_numpy() if known else np.zeros(table.num_rows)
    order = np.lexsort((-table["written"].to_numpy(), -turns))
    keys = table["key"].to_numpy(zero_copy_only=False)[order]
    _, places = np.unique(keys, return_index=True)
    return table if len(places) == len(keys) else table.take(np.sort(order[places]))


def _array(values: list[Any]) -> Any:
    """An Arrow column; integers and floats side by side are floats."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    return pa.array([None if v is None else float(v) for v in values] if kinds == {int, float} else values)


def _names(plan: Plan) -> list[str]:
    return [section.name or section.what for section in plan.section.computations]


def _locked(path: Path) -> Any:
    """The open lock file; the lock goes with the process, however it ends."""
    import fcntl

    file = (path / LOCK).open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read().strip() or "another process"
        file.close()
        raise StoreError(f"{path} is being written by {owner}. Fix: wait, or --out another folder.") from None
    file.truncate(0)
    file.write(f"process {os.getpid()} on {os.uname().nodename}")
    file.flush()
    return file
