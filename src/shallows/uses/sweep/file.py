"""Sweep files: a problem template, axes, what to compute, seeds and repeats, in TOML.

A sweep file can name any importable function, so it is code, as a Makefile is: run only those you trust.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from shallows.support.errors import InvalidProblem
from shallows.support.tables import Section, checked, tables_of
from shallows.uses.sweep.axes import AxisSection, Grid, Group, ZipSection
from shallows.uses.sweep.documents import canonical, parts

#: Columns every row has; no axis and no quantity can take their names.
HEAD = ("key", "cell", "repeat", "seed", "status", "error", "seconds")
#: The column that orders rows of the same key: the number of the part that a row was first written in.
TURN = "turn"
RESERVED = (*HEAD, "written", TURN)


class ComputeSection(BaseModel):
    """What to compute in a cell: a quantity and its settings (every other key)."""

    model_config = ConfigDict(extra="allow")

    what: str
    name: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of the quantity."""
        return dict(self.__pydantic_extra__ or {})


class FigureSection(Section):
    """A figure of the results: `sweep.figures` has the kinds."""

    kind: Literal["line", "heat-map", "phase-diagram"]
    x: str
    y: str
    value: str | None = None
    by: str | None = None
    trials: str | None = None
    title: str = ""
    log_x: bool = False
    log_y: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> FigureSection:
        if (self.kind != "line") != (self.value is not None):
            raise ValueError("value goes with a heat map or a phase diagram, whose x and y are axes")
        if self.kind != "line" and self.by is not None:
            raise ValueError("by (a line each) goes with a line figure")
        return self


def _axis(entry: dict[str, Any]) -> AxisSection | ZipSection:
    return ZipSection.model_validate(entry) if "zip" in entry else AxisSection.model_validate(entry)


class SweepSection(Section):
    """A whole sweep file."""

    title: str = ""
    seed: int = Field(default=0, ge=0)
    repeats: int = Field(default=1, ge=1)
    seeds: Literal["independent", "common"] = "independent"
    problem: dict[str, Any] | None = None
    axes: list[AxisSection | ZipSection] = Field(default_factory=list)
    compute: ComputeSection | Annotated[list[ComputeSection], Field(min_length=1)]
    figures: list[FigureSection] = Field(default_factory=list)

    @field_validator("axes", mode="before")
    @classmethod
    def _axis_or_zip(cls, given: Any) -> Any:
        """Decide by the key `zip`, so that a mistake is reported once, for the right kind."""
        if not isinstance(given, list):
            return given
        return [_axis(entry) if isinstance(entry, dict) else entry for entry in given]

    @property
    def computations(self) -> list[ComputeSection]:
        """The quantities, one or several."""
        return self.compute if isinstance(self.compute, list) else [self.compute]

    def grid(self) -> Grid:
        """The product of the axes."""
        grid = Grid(tuple(Group.of(section) for section in self.axes))
        for path in grid.paths:
            if parts(path)[0] not in ("problem", "compute"):
                raise InvalidProblem(
                    f"The axis path {path!r} starts with neither problem nor compute: values go into one of the two."
                )
        taken = set(grid.columns) & set(RESERVED)
        if taken:
            raise InvalidProblem(
                f"An axis is called {', '.join(sorted(taken))}, a name of the results themselves. Fix: name it apart."
            )
        return grid

    def template(self) -> dict[str, Any]:
        """What the axes' paths lead into."""
        return {"problem": self.problem, "compute": _dumped(self.compute)}


def _dumped(compute: ComputeSection | list[ComputeSection]) -> Any:
    if isinstance(compute, list):
        return [_dumped(section) for section in compute]
    return compute.model_dump()


def computations(document: dict[str, Any]) -> list[ComputeSection]:
    """The quantities of a cell's document."""
    given = document["compute"]
    return [ComputeSection.model_validate(entry) for entry in (given if isinstance(given, list) else [given])]


def prefixes(sections: list[ComputeSection]) -> list[str]:
    """What stands before the columns of each quantity: nothing for a single one, `name.` for several."""
    if len(sections) == 1 and not sections[0].name:
        return [""]
    return [f"{section.name or section.what}." for section in sections]


def parse_sweep(text: str, source: str = "sweep file") -> SweepSection:
    """The sweep of a TOML text; all mistakes of its form come out as one `InvalidProblem`."""
    return validated(tables_of(text, source), source)


def validated(document: Any, source: str = "sweep") -> SweepSection:
    """The sweep of a document that has been read already."""
    canonical(document)
    return checked(SweepSection, document, f"{source} is not a sweep")
