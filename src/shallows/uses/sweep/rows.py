"""The rows of a sweep by number: the document, the key and the seed of each.

The key of a row is a hash of (problem, settings, seed, repeat, version of shallows, content of the named functions'
and data files). What is stored under a key is never computed again; what has another key is another result.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shallows.model.problem import Problem
from shallows.uses.sweep.axes import Grid, Label
from shallows.uses.sweep.documents import canonical, pieces, replaced
from shallows.uses.sweep.file import SweepSection
from shallows.uses.sweep.functions import Function, find_function
from shallows.uses.sweep.inputs import ON_AN_AXIS, content_of, files_at
from shallows.uses.sweep.problems import build_problem


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
class Rows:
    """The rows of a sweep, numbered cell by cell, the repeats of a cell in a row."""

    section: SweepSection
    version: str
    digests: dict[str, str]
    folder: str

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

    def problem(self, cell: Cell) -> Problem | None:
        """The problem of a row, built from its document; None where the sweep has no problems."""
        if cell.document["problem"] is None:
            return None
        return build_problem(cell.document["problem"], self.read, cell.seed, self.function)

    def keys(self) -> Iterator[str]:
        """The keys of all rows, in order."""
        for cell in range(self.cells):
            text = self._text(cell)
            for repeat in range(self.section.repeats):
                yield self._key(text, repeat)

    def function(self, target: str) -> Function:
        """A function the sweep names, as it was when the plan was made."""
        return find_function(target, self.folder, self.digests.get(target, ""))

    def read(self, name: str) -> bytes:
        """A data file beside the sweep file, as it was when the plan was made."""
        return content_of(name, self.folder, self.digests)

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
        return canonical(value) + "".join(
            self.digests.get(ON_AN_AXIS + name, "") for name in files_at(path, value)
        )

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
        named = {name: value for name, value in self.digests.items() if not name.startswith(ON_AN_AXIS)}
        return canonical({"seed": self.section.seed, "version": self.version, "digests": named})

    def _key(self, text: str, repeat: int) -> str:
        return hashlib.sha256(f"{self._stamp}\n{text}\n{repeat}".encode()).hexdigest()[:32]

    def _seed(self, text: str, repeat: int) -> int:
        """63 bits of (seed, problem, settings, repeat), or of (seed, repeat) when all cells share their seeds."""
        own = text if self.section.seeds == "independent" else ""
        data = hashlib.sha256(f"{self.section.seed}\n{own}\n{repeat}".encode()).digest()
        return int.from_bytes(data[:8], "big") >> 1
