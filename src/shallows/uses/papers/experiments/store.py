"""Finished cells on disk: one JSON line a cell, keyed by its settings, so that an interrupted run goes on.

The file is replaced as a whole (written beside it, synced, renamed), so that at any moment it holds complete lines: a
run that is killed loses the cell it was computing and nothing else. A file somebody damaged is refused, not repaired.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shallows.support.errors import InvalidProblem
from shallows.uses.papers.experiments.experiment import Row, Settings


@dataclass(frozen=True)
class Finished:
    """A cell's rows, and the processor time they took."""

    rows: list[Row]
    seconds: float


class Store:
    """The finished cells of one task: `store.get(settings)`, `store.put(settings, finished)`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, dict[str, Any]] = {}
        if path.exists():
            self._read()

    def get(self, settings: Settings) -> Finished | None:
        """What is stored for these settings, computed by this version of the package."""
        line = self.lines.get(key_of(settings))
        return None if line is None else Finished(line["rows"], line["seconds"])

    def put(self, settings: Settings, finished: Finished) -> None:
        """Add a cell; on return it is on disk."""
        line = {"version": version("shallows"), "settings": settings, "rows": finished.rows}
        self.lines[key_of(settings)] = {**line, "seconds": finished.seconds}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        with beside.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(each, ensure_ascii=False) + "\n" for each in self.lines.values())
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)

    def _read(self) -> None:
        for number, text in enumerate(self.path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                line = json.loads(text)
                key = key_of(line["settings"], line["version"])
                Finished(line["rows"], line["seconds"])
            except (ValueError, KeyError, TypeError) as error:
                raise InvalidProblem(
                    f"{self.path}, line {number}, is not a finished cell ({type(error).__name__}: {error}). "
                    "Fix: remove that line (its cell is computed again), or choose another --out."
                ) from None
            self.lines[key] = line


def key_of(settings: Settings, made_by: str | None = None) -> str:
    """The settings as one text, with the version of the package: another version computes again."""
    return json.dumps({"version": made_by or version("shallows"), **settings}, sort_keys=True)
