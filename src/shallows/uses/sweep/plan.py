"""A plan: a checked sweep with everything a worker needs, as one JSON text."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from shallows.support.errors import InvalidProblem
from shallows.support.tables import text_of
from shallows.support.version import __version__
from shallows.uses.sweep.axes import require_values
from shallows.uses.sweep.check import check
from shallows.uses.sweep.documents import canonical
from shallows.uses.sweep.faults import DamagedFile
from shallows.uses.sweep.file import SweepSection, parse_sweep, validated
from shallows.uses.sweep.functions import importable
from shallows.uses.sweep.inputs import digests
from shallows.uses.sweep.rows import Rows

FORMAT = "shallows-sweep-1"
#: The key of the hash of all the others.
MARK = "sha256"


@dataclass(frozen=True, eq=False)
class Plan(Rows):
    """A sweep, checked and ready to run.

    >>> document = {
    ...     "problem": {
    ...         "width": 1,
    ...         "target": {"diagonal": [2.0, 1.0]},
    ...         "data": {"law": "iid", "n": 2, "moments": [1, 0, 1, 0, 3]},
    ...     },
    ...     "axes": [{"name": "kurtosis", "path": "problem.data.moments.4", "values": [2.0, 3.0, 9.0]}],
    ...     "compute": {"what": "chart"},
    ... }
    >>> plan = sh.sweep.Plan.from_document(document)
    >>> plan
    Plan(kurtosis: 3 cells, seed 0)
    >>> len(plan), plan.cell(2).labels, plan.cell(2).document["problem"]["data"]["moments"]
    (3, {'kurtosis': 9.0}, [1, 0, 1, 0, 9.0])
    """

    source: str = ""

    @classmethod
    def from_file(cls, path: str | Path) -> Plan:
        """Read and check a sweep file: its form, its functions, its axes' values. Nothing is computed."""
        text = text_of(path)
        return cls._checked(parse_sweep(text, str(path)), str(Path(path).resolve().parent), text)

    @classmethod
    def from_document(cls, document: dict[str, Any], folder: str | Path = "") -> Plan:
        """The same from a document (nested dicts and lists) instead of a file."""
        return cls._checked(validated(document), str(folder))

    @classmethod
    def _checked(cls, section: SweepSection, folder: str, source: str = "") -> Plan:
        importable(folder)
        require_values(section.grid().size * section.repeats, "row")
        plan = cls(section, __version__, digests(section, folder), folder, source)
        check(plan)
        return plan

    @classmethod
    def from_json(cls, text: str | bytes, file: str | Path = "the plan") -> Plan:
        """A plan that was written by `to_json`; nothing is imported or checked again. `file` is its name in errors."""
        try:
            stored = json.loads(text)
            known = stored.get("format")
        except (ValueError, RecursionError, AttributeError):
            raise DamagedFile(file, "it is not JSON, or no table") from None
        if known != FORMAT:
            raise InvalidProblem(f"{file} has format {known!r}; this version of shallows reads {FORMAT!r}.")
        mark = stored.pop(MARK, None)  # the first versions wrote none
        if mark is not None and mark != _mark(stored):
            raise DamagedFile(file, "its content does not have the hash that stands in it")
        try:
            section = validated(stored["sweep"])
            return cls(
                section, stored["version"], dict(stored["digests"]), stored["folder"], stored["source"]
            )
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(file, f"{type(error).__name__}: {error}".rstrip(".")) from None

    @cached_property
    def _json(self) -> str:
        document = {
            "format": FORMAT,
            "sweep": self.section.model_dump(exclude_defaults=True) | {"compute": self._template["compute"]},
            "version": self.version,
            "digests": self.digests,
            "folder": self.folder,
            "source": self.source,
        }
        return json.dumps(document | {MARK: _mark(document)}, ensure_ascii=False)

    def to_json(self) -> str:
        """The plan as text: what workers get, and what the results' folder keeps."""
        return self._json

    def __repr__(self) -> str:
        axes, repeats = ", ".join(self.grid.columns) or "no axes", self.section.repeats
        times = "" if repeats == 1 else f" × {repeats} repeats"
        return f"Plan({axes}: {self.cells} cells{times}, seed {self.section.seed})"

    def with_seed(self, seed: int) -> Plan:
        """The same sweep with another seed: all its rows are other rows."""
        if seed < 0:
            raise InvalidProblem(f"seed is {seed}; expected a whole number of at least 0.")
        return replace(self, section=self.section.model_copy(update={"seed": seed}))


def _mark(document: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(document).encode()).hexdigest()


@lru_cache(maxsize=4)
def cached_plan(text: str) -> Plan:
    """The plan of a text, kept by the worker from chunk to chunk."""
    return Plan.from_json(text)
