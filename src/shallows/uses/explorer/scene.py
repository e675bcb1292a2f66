"""What a view shows for a state: figures with captions, facts, a table, and the problem behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shallows.model.problem import Problem
from shallows.support.budget import require
from shallows.uses.explorer.fields import Field, State
from shallows.uses.explorer.sketch import Sketch

#: What the answer to a page may take: others wait for it. SHALLOWS_SECONDS sets another limit.
LONGEST_SECONDS = 5.0


def require_time(seconds: float, advice: str) -> None:
    """Refuse what takes too long before it starts."""
    require("This", seconds=seconds, limit=LONGEST_SECONDS, fix=advice)


@dataclass(frozen=True)
class Scene:
    """One state, drawn. `facts` are (value, label); `code` is the Python that computes the same.

    `remark`: what is to be said beside the picture.
    `landscape`: the picture of `uses.landscape`, whose points are the rows of the table.
    """

    figures: Sequence[Sketch]
    facts: Sequence[tuple[str, str]]
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    code: str
    problem: Problem | None = None
    remark: str = ""
    landscape: dict[str, Any] | None = None


@dataclass(frozen=True)
class Step:
    """A step of a guided opening: what to see, at which values, and a slider that Play moves (field, from, to)."""

    title: str
    text: str
    values: Mapping[str, str]
    play: tuple[str, float, float] | None = None


@dataclass(frozen=True)
class Preset:
    """A state worth seeing; of another view when it names one. Without values the page draws random ones."""

    label: str
    values: Mapping[str, str]
    view: str = ""


@dataclass(frozen=True)
class View:
    """A page of the explorer: its controls, how a state is drawn, and what that costs.

    `captions`: one a figure. `seconds`: the processor time that drawing a state will take, known before it starts;
    `advice`: what to change when it is too much. `live`: the view computes step by step (Run, Split).
    `report`: the report of a state, None for a view without a training problem. `pictured`: the caption of the
    landscape, for a view that has one; `tour` and `presets`: what a newcomer is shown.
    """

    name: str
    title: str
    lead: str
    fields: tuple[Field, ...]
    captions: tuple[str, ...]
    draw: Callable[[State], Scene]
    seconds: Callable[[State], float]
    advice: str = "Reset the view by its name in the menu."
    live: bool = False
    report: Report | None = None
    pictured: str = ""
    tour: tuple[Step, ...] = ()
    presets: tuple[Preset, ...] = ()


@dataclass(frozen=True)
class Report:
    """The report of a view's problem: how it is written, and the processor time it will take."""

    write: Callable[[State], str]
    seconds: Callable[[State], float]
    advice: str = "Ask for fewer descents in the report."
