"""What an experiment is: cells to compute, and a way to present them beside what the paper printed.

A cell is a plain function of plain settings (numbers and text, the seed among them) that returns rows of plain values.
So it is a cell of a sweep (`uses.sweep`): stored under its settings, computed in another process, found again after an
interruption; experiments that need the same trainings (Figures 2 and 3 of paper 002) share their cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.uses.report.page import Picture

Scale = Literal["quick", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "paper")
Value = float | int | str | bool | None
Settings = dict[str, Any]
Row = dict[str, Value]
T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """How large, from which seed, and on which images (see `images.load`)."""

    scale: Scale = "quick"
    seed: int = 0
    data: str = "digits"

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise InvalidProblem(f"scale is {self.scale!r}; expected {' or '.join(map(repr, SCALES))}.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InvalidProblem(f"seed is {self.seed!r}; expected a non-negative integer.")

    def pick(self, quick: T, paper: T) -> T:
        """The one of the two that belongs to the scale."""
        return quick if self.scale == "quick" else paper


@dataclass(frozen=True)
class Comparison:
    """A number or statement beside ours: `published` by the source, unless `source` says that another program found it.

    `agrees` is None where there is nothing to decide.
    """

    quantity: str
    published: str
    ours: str
    agrees: bool | None = None
    source: str = "paper"

    @property
    def mark(self) -> str:
        """✓, ✗ or nothing."""
        return "" if self.agrees is None else "✓" if self.agrees else "✗"


@dataclass(frozen=True, eq=False)
class Presentation:
    """What a reader sees: sentences, figures with captions, and the published numbers beside ours."""

    sentences: Sequence[str]
    pictures: Sequence[Picture]
    comparisons: Sequence[Comparison]


@dataclass(frozen=True)
class Experiment:
    """One table, figure or experiment of a paper; `shallows reproduce NAME` runs it."""

    name: str
    item: str
    shows: str
    cells: Callable[[Plan], list[Settings]] = field(repr=False)
    compute: Callable[[Settings], list[Row]] = field(repr=False)
    present: Callable[[list[Row], Plan], Presentation] = field(repr=False)

    @property
    def paper(self) -> str:
        """The paper's number: "000" to "003"."""
        return self.name[:3]

    @property
    def task(self) -> str:
        """The name of the computation, under which cells are stored."""
        return f"{self.compute.__module__.rsplit('.', 1)[-1]}.{self.compute.__name__}"


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """An experiment that was run: its rows, its presentation, and what it took (seconds of all cells, on one core)."""

    experiment: Experiment
    plan: Plan
    rows: list[Row]
    presentation: Presentation
    cells: int
    reused: int
    seconds: float
    files: tuple[Path, ...] = ()

    @property
    def disagreements(self) -> list[Comparison]:
        """Comparisons that were decided against us (or against the paper)."""
        return [c for c in self.presentation.comparisons if c.agrees is False]

    def summary(self) -> str:
        """One line."""
        decided = [c for c in self.presentation.comparisons if c.agrees is not None]
        verdict = f"{sum(bool(c.agrees) for c in decided)} of {len(decided)} comparisons agree"
        reused = f", {self.reused} kept from before" if self.reused else ""
        return f"{self.experiment.name}: {verdict}; {self.cells} cells{reused}, {self.seconds:.1f} s of computing"

    def __repr__(self) -> str:
        lines = [f"Result({self.summary()}; scale {self.plan.scale}, seed {self.plan.seed})"]
        lines += [
            f"  {c.mark or '·'} {c.quantity}: {c.published} | {c.ours}" for c in self.presentation.comparisons
        ]
        return "\n".join(lines)

    def table(self) -> Any:
        """A rich table: the numbers compared with, and ours."""
        from rich.table import Table

        table = Table(title=f"{self.experiment.item} of paper {self.experiment.paper}", title_justify="left")
        for heading in ("quantity", "compared with", "ours", "source"):
            table.add_column(heading)
        table.add_column("")
        for c in self.presentation.comparisons:
            table.add_row(c.quantity, c.published, c.ours, c.source, c.mark)
        return table

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        return {
            "name": self.experiment.name,
            "item": self.experiment.item,
            "scale": self.plan.scale,
            "seed": self.plan.seed,
            "cells": self.cells,
            "reused": self.reused,
            "seconds": self.seconds,
            "comparisons": [asdict(c) for c in self.presentation.comparisons],
            "rows": self.rows,
            "files": [str(path) for path in self.files],
        }
