"""A plan: a checked sweep with everything a worker needs, as one JSON text; cells by number, with keys and seeds.

The key of a row is a hash of (problem, settings, seed, repeat, version of shallows, content of the named functions'
and data files). What is stored under a key is never computed again; what has another key is another result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from shallows.support.errors import InvalidProblem
from shallows.uses.sweep.axes import Grid, Label
from shallows.uses.sweep.documents import canonical, pieces, replaced
from shallows.uses.sweep.file import SweepSection, parse_sweep, read_text, validated
from shallows.uses.sweep.functions import Function, find_function

FORMAT = "shallows-sweep-1"


@dataclass(frozen=True)
class Cell:
    """One row to be: where it stands, its key and seed, and the document with the axes' values put in."""

    number: int
    repeat: int
    key: str
    seed: int
    labels: dict[str, Label]
    document: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Plan:
    """A sweep, checked and ready to run; rows are numbered cell by cell, the repeats of a cell in a row.

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

    section: SweepSection
    version: str
    digests: dict[str, str]
    folder: str
    source: str = ""

    @classmethod
    def from_file(cls, path: str | Path) -> Plan:
        """Read and check a sweep file: its form, its functions, its axes' values. Nothing is computed."""
        from shallows.uses.sweep.check import checked_plan

        text = read_text(path)
        return checked_plan(parse_sweep(text, str(path)), str(Path(path).resolve().parent), text)

    @classmethod
    def from_document(cls, document: dict[str, Any], folder: str | Path = "") -> Plan:
        """The same from a document (nested dicts and lists) instead of a file."""
        from shallows.uses.sweep.check import checked_plan

        return checked_plan(validated(document), str(folder), "")

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """A plan that was written by `to_json`; nothing is imported or checked again."""
        stored = json.loads(text)
        if stored.get("format") != FORMAT:
            raise InvalidProblem(
                f"The plan has format {stored.get('format')!r}; this version of shallows reads {FORMAT!r}."
            )
        section = validated(stored["sweep"])
        return cls(section, stored["version"], stored["digests"], stored["folder"], stored["source"])

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
        return json.dumps(document, ensure_ascii=False)

    def to_json(self) -> str:
        """The plan as text: what workers get, and what the results' folder keeps."""
        return self._json

    @cached_property
    def grid(self) -> Grid:
        """The product of the axes."""
        return self.section.grid()

    @cached_property
    def _template(self) -> dict[str, Any]:
        return self.section.template()

    @property
    def cells(self) -> int:
        """How many cells the grid has."""
        return len(self.grid)

    def __len__(self) -> int:
        """The number of rows: cells times repeats."""
        return self.cells * self.section.repeats

    def __repr__(self) -> str:
        axes, repeats = ", ".join(self.grid.columns) or "no axes", self.section.repeats
        times = "" if repeats == 1 else f" × {repeats} repeats"
        return f"Plan({axes}: {self.cells} cells{times}, seed {self.section.seed})"

    def with_seed(self, seed: int) -> Plan:
        """The same sweep with another seed: all its rows are other rows."""
        if seed < 0:
            raise InvalidProblem(f"seed is {seed}; expected a whole number of at least 0.")
        return replace(self, section=self.section.model_copy(update={"seed": seed}))

    def split(self, row: int) -> tuple[int, int]:
        """Cell and repeat of a row."""
        return divmod(row, self.section.repeats)

    def document(self, cell: int) -> dict[str, Any]:
        """The template with the cell's values put in."""
        document: dict[str, Any] = self._template
        for path, value in self.grid.values(cell).items():
            document = replaced(document, path, value)
        return document

    def cell(self, row: int) -> Cell:
        """Everything about one row."""
        cell, repeat = self.split(row)
        text = self._text(cell)
        return Cell(
            cell,
            repeat,
            self._key(text, repeat),
            self._seed(text, repeat),
            self.grid.labels(cell),
            self.document(cell),
        )

    def keys(self) -> Iterator[str]:
        """The keys of all rows, in order."""
        for cell in range(self.cells):
            text = self._text(cell)
            for repeat in range(self.section.repeats):
                yield self._key(text, repeat)

    def function(self, target: str) -> Function:
        """A function the sweep names, as it was when the plan was made."""
        return find_function(target, self.folder, self.digests.get(target, ""))

    # -- the text that is hashed -----------------------------------------------------------------------------

    @cached_property
    def _pieces(self) -> tuple[list[str], list[int]]:
        return pieces(self._template, self.grid.paths)

    @cached_property
    def _value_texts(self) -> list[dict[int, list[str]]]:
        """Canonical texts of all values, by group and by the number of their path."""
        numbers = {path: i for i, path in enumerate(self.grid.paths)}
        return [
            {
                numbers[path]: [self._value_text(path, v) for v in values]
                for path, values in group.values.items()
            }
            for group in self.grid.groups
        ]

    def _value_text(self, path: str, value: Any) -> str:
        return canonical(value) + (self.digests.get(f"file {value}", "") if path.endswith(".file") else "")

    def _text(self, cell: int) -> str:
        """The canonical text of the cell's document."""
        texts: dict[int, str] = {}
        for group, place in zip(self._value_texts, self.grid.places(cell), strict=True):
            for number, values in group.items():
                texts[number] = values[place]
        between, order = self._pieces
        return "".join(
            part for i, number in enumerate(order) for part in (between[i], texts[number])
        ) + between[-1]  # fmt: skip

    @cached_property
    def _stamp(self) -> str:
        """What belongs to every key of this plan."""
        named = {name: value for name, value in self.digests.items() if not name.startswith("file ")}
        return canonical({"seed": self.section.seed, "version": self.version, "digests": named})

    def _key(self, text: str, repeat: int) -> str:
        return hashlib.sha256(f"{self._stamp}\n{text}\n{repeat}".encode()).hexdigest()[:32]

    def _seed(self, text: str, repeat: int) -> int:
        """63 bits of (seed, problem, settings, repeat), or of (seed, repeat) when all cells share their seeds."""
        own = text if self.section.seeds == "independent" else ""
        data = hashlib.sha256(f"{self.section.seed}\n{own}\n{repeat}".encode()).digest()
        return int.from_bytes(data[:8], "big") >> 1


@lru_cache(maxsize=4)
def cached_plan(text: str) -> Plan:
    """The plan of a text, kept by the worker from chunk to chunk."""
    return Plan.from_json(text)
