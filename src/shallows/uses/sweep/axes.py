"""Axes: lists, ranges, linear and logarithmic spacings, zips; the product of all axes is the grid of a sweep."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from shallows.support.budget import ENDLESS, READING, require
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem
from shallows.support.tables import Section, require_one

Label = int | float | bool | str
#: (stop − start)/step of numbers as people write them is off by three roundings, 3·2⁻⁵³ of itself; a stop that is
#: further than this from a whole number of steps is not on the axis.
ROUNDING = 1e-12
#: Seconds and bytes for each value, or row: its text, its key, and its place among the others; measured.
PLANNING_SECONDS, PLANNING_BYTES = 4e-6, 250.0


def require_values(count: int, of: str = "value") -> None:
    """Refuse to list so many values of an axis, or rows of a sweep."""
    require(
        f"Planning {counted(count, of)}",
        seconds=PLANNING_SECONDS * float(min(count, ENDLESS)),
        size=PLANNING_BYTES * float(min(count, ENDLESS)),
        limit=READING,
        fix="Split the sweep.",
    )


class RangeSection(Section):
    """start, start + step, … up to and including stop."""

    start: int | float
    stop: int | float
    step: int | float = 1

    def values(self) -> list[Any]:
        """The values; integers when start and step are."""
        if self.step == 0 or (self.stop - self.start) / self.step < 0:
            raise ValueError(f"from {self.start} in steps of {self.step} one never gets to {self.stop}")
        count = math.floor((self.stop - self.start) / self.step * (1 + ROUNDING)) + 1
        require_values(count)
        values = [self.start + i * self.step for i in range(count)]
        # 0.1, 0.2, 0.3 as one would write them, not 0.30000000000000004
        return [float(f"{value:.12g}") if isinstance(value, float) else value for value in values]


class SpacingSection(Section):
    """`count` values from start to stop, both included."""

    start: float
    stop: float
    count: int = Field(ge=1)
    integer: bool = False

    def linear(self) -> list[Any]:
        """Equal differences."""
        require_values(self.count)
        return self._rounded(np.linspace(self.start, self.stop, self.count))

    def logarithmic(self) -> list[Any]:
        """Equal ratios; start and stop are the values themselves, not exponents."""
        if self.start <= 0 or self.stop <= 0:
            raise ValueError(f"a logarithmic axis from {self.start} to {self.stop}: both must be positive")
        require_values(self.count)
        return self._rounded(np.geomspace(self.start, self.stop, self.count))

    def _rounded(self, values: np.ndarray) -> list[Any]:
        if not self.integer:
            return [float(value) for value in values]
        return list(dict.fromkeys(int(value) for value in np.rint(values)))


class AxisSection(Section):
    """One axis: where its values go (`path`), what its column is called (`name`), and the values.

    Values that are tables or lists are written as JSON in the results, unless `labels` gives them names. An axis
    with a name and no path is a column only: in a zip it names the combination.
    """

    name: str = ""
    path: str | list[str] = Field(default_factory=list)
    values: list[Any] | None = None
    range: RangeSection | None = None
    linspace: SpacingSection | None = None
    logspace: SpacingSection | None = None
    labels: list[Label] | None = None

    @field_validator("values", "labels")
    @classmethod
    def _not_empty(cls, given: list[Any] | None) -> list[Any] | None:
        if given is not None and not given:
            raise ValueError("an empty list: an axis has at least one value")
        return given

    @model_validator(mode="after")
    def _consistent(self) -> AxisSection:
        require_one(self, "values", "range", "linspace", "logspace")
        if not self.paths and not self.name:
            raise ValueError("give path (where the values go), or name (a column only), or both")
        count = len(self.expanded)
        if self.labels is not None and len(self.labels) != count:
            raise ValueError(f"{len(self.labels)} labels for {count} values")
        return self

    @property
    def paths(self) -> list[str]:
        """All places the values go."""
        return [self.path] if isinstance(self.path, str) else self.path

    @property
    def column(self) -> str:
        """The name, or the last step of the path that is no number."""
        steps = [step for step in (self.paths or [""])[0].split(".") if not step.isdigit()]
        return self.name or steps[-1]

    @property
    def expanded(self) -> list[Any]:
        """All values."""
        if self.values is not None:
            return self.values
        if self.range is not None:
            return self.range.values()
        if self.linspace is not None:
            return self.linspace.linear()
        assert self.logspace is not None
        return self.logspace.logarithmic()

    @property
    def shown(self) -> list[Label]:
        """The values as they stand in the results."""
        shown = self.labels if self.labels is not None else [_shown(value) for value in self.expanded]
        return shown if len({_kind(label) for label in shown}) == 1 else [str(label) for label in shown]


class ZipSection(Section):
    """Axes that move together: as many cells as each of them has values."""

    zip: list[AxisSection] = Field(min_length=1)

    @model_validator(mode="after")
    def _same_length(self) -> ZipSection:
        lengths = {axis.column: len(axis.expanded) for axis in self.zip}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"axes of a zip have the same number of values; these have {lengths}")
        return self


@dataclass(frozen=True)
class Group:
    """Axes that move together, with their values: `columns[name][i]` and `values[path][i]`."""

    columns: dict[str, list[Label]]
    values: dict[str, list[Any]]
    length: int

    @classmethod
    def of(cls, section: AxisSection | ZipSection) -> Group:
        """The group of one axis, or of one zip."""
        axes = section.zip if isinstance(section, ZipSection) else [section]
        columns: dict[str, list[Label]] = {}
        values: dict[str, list[Any]] = {}
        for axis in axes:
            _new(axis.column, columns)
            columns[axis.column] = axis.shown
            for path in axis.paths:
                _new(path, values)
                values[path] = axis.expanded
        return cls(columns, values, len(axes[0].expanded))


@dataclass(frozen=True)
class Grid:
    """The product of groups; cells are numbered with the last group moving fastest."""

    groups: tuple[Group, ...]

    def __post_init__(self) -> None:
        columns: dict[str, Literal[True]] = {}
        paths: dict[str, Literal[True]] = {}
        for group in self.groups:
            for name in group.columns:
                _new(name, columns)
                columns[name] = True
            for path in group.values:
                _new(path, paths)
                paths[path] = True

    @property
    def size(self) -> int:
        """How many cells there are, also where that is more than Python's `len` can say."""
        return math.prod(group.length for group in self.groups)

    def __len__(self) -> int:
        return self.size

    @property
    def columns(self) -> list[str]:
        """The names of all axes."""
        return [name for group in self.groups for name in group.columns]

    @property
    def paths(self) -> list[str]:
        """All places that axes change."""
        return [path for group in self.groups for path in group.values]

    def places(self, number: int) -> list[int]:
        """Where the cell stands on each group."""
        found = []
        for group in reversed(self.groups):
            number, place = divmod(number, group.length)
            found.append(place)
        return found[::-1]

    def number(self, places: list[int]) -> int:
        """The number of the cell that stands there."""
        number = 0
        for group, place in zip(self.groups, places, strict=True):
            number = number * group.length + place
        return number

    def labels(self, number: int) -> dict[str, Label]:
        """The cell's columns."""
        return {
            name: shown[place]
            for group, place in zip(self.groups, self.places(number), strict=True)
            for name, shown in group.columns.items()
        }

    def values(self, number: int) -> dict[str, Any]:
        """What the cell puts at each path."""
        return {
            path: values[place]
            for group, place in zip(self.groups, self.places(number), strict=True)
            for path, values in group.values.items()
        }

    def one_at_a_time(self) -> list[int]:
        """The first cell, and every cell that differs from it along one group: each value of each axis once."""
        first = [0] * len(self.groups)
        found = [0]
        for i, group in enumerate(self.groups):
            found += [self.number([*first[:i], place, *first[i + 1 :]]) for place in range(1, group.length)]
        return found


def _new(name: str, known: dict[str, Any]) -> None:
    if name in known:
        raise InvalidProblem(f"Two axes are called {name!r}. Fix: give one of them another name or path.")


def _kind(label: Label) -> str:
    return (
        "number" if isinstance(label, (int, float)) and not isinstance(label, bool) else type(label).__name__
    )


def _shown(value: Any) -> Label:
    if isinstance(value, (bool, int, float, str)):
        return value
    return json.dumps(value, ensure_ascii=False)
